#include "api/number_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace oriel::api {

namespace {

constexpr std::size_t kLongest = 512;  // 309 digits before the point, 64 after it, and some spare

template <class... Args>
std::string chars(double magnitude, Args... args) {
  std::array<char, kLongest> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), magnitude, args...);
  return {text.data(), end};
}

double rounded(double x, DType dtype) {
  switch (dtype) {
    case DType::float16:
      return float16_t(static_cast<float>(x));
    case DType::bfloat16:
      return bfloat16_t(static_cast<float>(x));
    case DType::float32:
      return static_cast<float>(x);
    default:
      return x;
  }
}

// "d.ddde+XX" with the fewest digits that distinguish the number from the dtype's other numbers.
std::string shortest_scientific(double magnitude, DType dtype) {
  if (dtype == DType::float64) return chars(magnitude, std::chars_format::scientific);
  if (dtype == DType::float32) {
    std::array<char, 64> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(magnitude),
                                            std::chars_format::scientific);
    return {text.data(), end};
  }
  for (int digits = 0;; ++digits) {
    std::string text = chars(magnitude, std::chars_format::scientific, digits);
    if (digits >= 10 || rounded(std::strtod(text.c_str(), nullptr), dtype) == magnitude) return text;
  }
}

struct Decimal {
  std::string digits;  // the first digit is before the point
  int exponent = 0;
};

Decimal decimal(const std::string& scientific) {
  const std::size_t e = scientific.find('e');
  Decimal out{scientific.substr(0, 1), std::atoi(scientific.c_str() + e + 1)};
  if (e > 2) out.digits += scientific.substr(2, e - 2);
  return out;
}

// Always with a point.
std::string laid_out(const Decimal& d) {
  const auto count = static_cast<int>(d.digits.size());
  if (d.exponent < 0) return "0." + std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  if (d.exponent + 1 >= count)
    return d.digits + std::string(static_cast<std::size_t>(d.exponent + 1 - count), '0') + ".";
  return d.digits.substr(0, static_cast<std::size_t>(d.exponent) + 1) + "." +
         d.digits.substr(static_cast<std::size_t>(d.exponent) + 1);
}

void strip_zeros(std::string& text) {
  while (text.back() == '0') text.pop_back();
}

void pad_zeros(std::string& text, int least) {
  const std::size_t have = text.size() - text.find('.') - 1;
  if (have < static_cast<std::size_t>(least)) text.append(static_cast<std::size_t>(least) - have, '0');
}

std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos) text += '.';
  return text;
}

std::string sign_of(double x, char sign) { return std::signbit(x) ? "-" : sign == '+' ? "+" : ""; }

// The digits of a positive number: at most `precision` after the point (-1: no limit) and at least `least`. Digits
// beyond those that distinguish it from its neighbours are those of its exact value.
std::string positional_digits(double magnitude, DType dtype, bool unique, int precision, int least = 0) {
  if (unique) {
    const Decimal d = magnitude == 0 ? Decimal{"0", 0} : decimal(shortest_scientific(magnitude, dtype));
    const int fraction = std::max(0, static_cast<int>(d.digits.size()) - 1 - d.exponent);
    if (fraction < least) return chars(magnitude, std::chars_format::fixed, least);
    if (precision < 0 || fraction <= precision) return laid_out(d);
  }
  return with_point(chars(magnitude, std::chars_format::fixed, precision));
}

// The mantissa "d.ddd", and the exponent with its sign.
struct Scientific {
  std::string mantissa;
  std::string exponent;
};

Scientific scientific_digits(double magnitude, DType dtype, bool unique, int precision, int least = 0) {
  std::string text = magnitude == 0 ? "0e+00" : unique ? shortest_scientific(magnitude, dtype) : "";
  const int fraction = std::max(0, static_cast<int>(text.find('e')) - 2);
  if (unique && fraction < least)
    text = chars(magnitude, std::chars_format::scientific, least);
  else if (!unique || (precision >= 0 && fraction > precision))
    text = chars(magnitude, std::chars_format::scientific, std::max(precision, 0));
  const std::size_t e = text.find('e');
  return {with_point(text.substr(0, e)), text.substr(e + 1)};
}

int decimal_digits(DType dtype) { return dtype == DType::float64 ? 15 : dtype == DType::float32 ? 6 : 3; }

}  // namespace

FloatFormat::FloatFormat(const std::vector<double>& elements, DType dtype, const PrintOptions& options)
    : dtype_(dtype), options_(options), precision_(options.precision) {
  using Mode = PrintOptions::FloatMode;
  const Mode mode = options.float_mode;
  if (mode == Mode::unique) precision_ = -1;
  std::vector<double> finite;
  double most = 0;
  double least = std::numeric_limits<double>::infinity();
  bool negative = false;
  bool minus_infinity = false;
  for (const double x : elements) {
    minus_infinity = minus_infinity || (std::isinf(x) && x < 0);
    if (!std::isfinite(x)) continue;
    finite.push_back(x);
    negative = negative || std::signbit(x);
    if (x == 0) continue;
    most = std::max(most, std::abs(x));
    least = std::min(least, std::abs(x));
  }
  // As in NumPy, compared in the dtype of the elements.
  scientific_ =
      most != 0 && (most >= std::pow(10.0, std::min(8, decimal_digits(dtype))) ||
                    (!options.suppress && (least < rounded(0.0001, dtype) || rounded(most / least, dtype) > 1000)));
  const bool fixed = mode == Mode::fixed;
  if (!finite.empty()) unique_ = !fixed;
  std::size_t fraction = 0;
  std::size_t exponent = 0;
  for (const double x : finite) {
    std::string text;
    if (scientific_) {
      Scientific s = scientific_digits(std::abs(x), dtype, unique_, precision_);
      if (unique_) strip_zeros(s.mantissa);
      exponent = std::max(exponent, s.exponent.size() - 1);
      text = std::move(s.mantissa);
    } else {
      text = positional_digits(std::abs(x), dtype, unique_, precision_);
      if (unique_) strip_zeros(text);
    }
    const std::size_t point = text.find('.');
    fraction = std::max(fraction, text.size() - point - 1);
    left_ = std::max(left_, sign_of(x, options.sign).size() + point);
  }
  if (!finite.empty() && scientific_) {
    exponent_ = exponent;
    keep_zeros_ = true;
    precision_ = static_cast<int>(fraction);
    least_ = precision_;
    right_ = exponent_ + 2 + fraction;
  } else if (!finite.empty()) {
    right_ = fraction;
    if (fixed || mode == Mode::maxprec_equal) {
      keep_zeros_ = true;
      precision_ = static_cast<int>(fraction);
      least_ = precision_;
    }
  }
  if (options.sign == ' ' && !negative) ++left_;
  if (finite.size() != elements.size()) {
    const std::size_t offset = right_ + 1;
    const std::size_t longest =
        std::max(options.nan.size(), options.inf.size() + (options.sign != '-' || minus_infinity ? 1 : 0));
    if (longest > offset) left_ = std::max(left_, longest - offset);
  }
}

std::string FloatFormat::operator()(double x) const {
  if (std::isfinite(x)) return scientific_ ? scientific(x) : positional(x);
  const std::string plus = options_.sign == '+' ? "+" : "";
  const std::string text =
      std::isnan(x) ? plus + options_.nan : (std::signbit(x) ? std::string("-") : plus) + options_.inf;
  const std::size_t width = left_ + right_ + 1;
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string FloatFormat::positional(double x) const {
  std::string text = positional_digits(std::abs(x), dtype_, unique_, precision_, least_);
  if (keep_zeros_)
    pad_zeros(text, least_);
  else
    strip_zeros(text);
  text.insert(0, sign_of(x, options_.sign));
  const std::size_t point = text.find('.');
  const std::size_t fraction = text.size() - point - 1;
  if (fraction < right_) text.append(right_ - fraction, ' ');
  if (point < left_) text.insert(0, left_ - point, ' ');
  return text;
}

std::string FloatFormat::scientific(double x) const {
  Scientific s = scientific_digits(std::abs(x), dtype_, unique_, precision_, least_);
  pad_zeros(s.mantissa, least_);
  std::string text = sign_of(x, options_.sign) + s.mantissa;
  const std::size_t point = text.find('.');
  if (point < left_) text.insert(0, left_ - point, ' ');
  const std::size_t digits = s.exponent.size() - 1;
  return text + "e" + s.exponent.substr(0, 1) + std::string(exponent_ > digits ? exponent_ - digits : 0, '0') +
         s.exponent.substr(1);
}

std::string scalar_text(double x, DType dtype, const PrintOptions& options) {
  if (std::isnan(x)) return options.nan;
  if (std::isinf(x)) return (x < 0 ? "-" : "") + options.inf;
  const double magnitude = std::abs(x);
  const std::string sign = sign_of(x, '-');
  const double most = std::pow(10.0, dtype == DType::float64 ? 16 : decimal_digits(dtype));
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < most)) {
    std::string text = positional_digits(magnitude, dtype, true, -1);
    pad_zeros(text, 1);
    return sign + text;
  }
  return sign + shortest_scientific(magnitude, dtype);
}

std::string complex_text(double re, double im, DType dtype, const PrintOptions& options) {
  const auto part = [&](double x) {
    std::string text = scalar_text(x, dtype, options);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  };
  std::string second = part(im) + "j";
  if (re == 0 && !std::signbit(re)) return second;
  const bool plus = std::isnan(im) || !std::signbit(im);
  return "(" + part(re) + (plus ? "+" : "") + second + ")";
}

}  // namespace oriel::api
