#include "oriel/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <vector>

#include "api/number_text.hpp"
#include "api/print_options.hpp"
#include "base/context.hpp"
#include "base/element_types.hpp"
#include "base/fork_lock.hpp"
#include "oriel/complex.hpp"
#include "oriel/comprehension.hpp"
#include "oriel/error.hpp"
#include "oriel/explain.hpp"
#include "oriel/iterate.hpp"
#include "oriel/movement.hpp"
#include "oriel/profile.hpp"
#include "oriel/view.hpp"

namespace oriel {

namespace {

using Write = std::function<std::string(std::size_t)>;  // the text of the element at a row-major position

void check(const PrintOptions& options, std::string_view operation = "print") {
  if (options.precision < 0 || options.precision > 64)
    throw ArgumentError(operation, fmt::format("a precision of {}; give 0 to 64 digits", options.precision));
  if (options.edge_items < 1 || options.threshold < 0 || options.line_width < 0) {
    throw ArgumentError(operation,
                        fmt::format("threshold {}, edge_items {}, line_width {}; none may be negative, and a "
                                    "summary has at least one entry at each end",
                                    options.threshold, options.edge_items, options.line_width));
  }
  if (options.sign != '-' && options.sign != '+' && options.sign != ' ')
    throw ArgumentError(operation, fmt::format("sign '{}'; give '-', '+' or ' '", options.sign));
}

// Keeps the first and last `edge` entries of every axis that is longer than 2 * edge.
Tensor ends(const Tensor& x, std::int64_t edge) {
  Tensor out = x;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    const std::int64_t n = x.shape()[d].value();
    if (n <= 2 * edge) continue;
    const auto axis = static_cast<std::int64_t>(d);
    out = concat({shrink(out, {{0, edge}}, axis), shrink(out, {{n - edge, n}}, axis)}, axis);
  }
  return out;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

template <class T>
Write integers(const Tensor& x, const PrintOptions& options) {
  const std::vector<T> elements = x.to_vector<T>(Site::unknown());
  // The blank in place of a sign is used only if no element is negative.
  const bool negative = std::any_of(elements.begin(), elements.end(), [](T n) { return n < T{0}; });
  const std::string sign =
      x.rank() == 0 || options.sign == '-' || (options.sign == ' ' && negative) ? "" : std::string(1, options.sign);
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const T n : elements) {
    texts.push_back((n < T{0} ? "" : sign) + fmt::format("{}", n));
    width = std::max(width, texts.back().size());
  }
  return [texts, width](std::size_t i) { return padded(texts[i], width); };
}

template <class T>
Write floats(const Tensor& x, const PrintOptions& options) {
  const std::vector<T> values = x.to_vector<T>(Site::unknown());
  const std::vector<double> elements(values.begin(), values.end());
  const DType dtype = x.dtype();
  if (x.rank() == 0) return [=, &options](std::size_t i) { return api::scalar_text(elements[i], dtype, options); };
  return [elements, format = api::FloatFormat(elements, dtype, options)](std::size_t i) { return format(elements[i]); };
}

Write writer(const Tensor& x, const PrintOptions& options) {
  return base::with_element_type(x.dtype(), [&]<class T>() -> Write {
    if constexpr (std::same_as<T, bool>) {
      const std::vector<bool> elements = x.to_vector<bool>();
      const std::string yes = x.rank() == 0 ? "True" : " True";
      return [=](std::size_t i) { return elements[i] ? yes : std::string("False"); };
    } else if constexpr (std::integral<T>) {
      return integers<T>(x, options);
    } else {
      return floats<T>(x, options);
    }
  });
}

/// NumPy's ComplexFloatingFormat: the imaginary part with its sign, and "j" before the blanks behind it.
template <class T>
Write complex_numbers(const Complex& z, const PrintOptions& options) {
  const auto doubles = [](const Tensor& x) {
    const std::vector<T> values = x.to_vector<T>(Site::unknown());
    return std::vector<double>(values.begin(), values.end());
  };
  const std::vector<double> re = doubles(z.real()), im = doubles(z.imag());
  const DType dtype = z.real().dtype();
  if (z.rank() == 0) return [=](std::size_t i) { return api::complex_text(re[i], im[i], dtype, options); };
  const auto with_sign = std::make_shared<PrintOptions>(options);
  with_sign->sign = '+';
  return [re, im, with_sign, real = api::FloatFormat(re, dtype, options),
          imag = api::FloatFormat(im, dtype, *with_sign)](std::size_t i) {
    std::string text = imag(im[i]);
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return real(re[i]) + text;
  };
}

/// Arranges rows and brackets: NumPy's _formatArray.
class Brackets {
 public:
  Brackets(const Shape& shape, const Shape& shown, Write write)
      : shape_(shape), shown_(shown), strides_(contiguous_strides(shown)), write_(std::move(write)) {}

  // The text of the elements from position `first`, along the axes from d on; `indent` blanks precede the bracket.
  std::string text(std::size_t d, std::size_t first, std::size_t indent, std::int64_t width) const {
    if (d == shape_.size()) return write_(first);
    const auto count = static_cast<std::size_t>(shown_[d].value());
    const bool cut = shown_[d] != shape_[d];
    const std::size_t leading = cut ? count / 2 : 0;
    const auto entry = [&](std::size_t k) {
      return text(d + 1, first + k * static_cast<std::size_t>(strides_[d].value()), indent + 1, width - 1);
    };
    std::string out;
    const std::string hanging(indent, ' ');
    if (d + 1 == shape_.size()) {
      std::string line = hanging;
      const auto add = [&](const std::string& word) {
        const bool wraps = static_cast<std::int64_t>(line.size() + word.size()) > width - 1;
        if (wraps && line.size() > indent) {
          line.erase(line.find_last_not_of(' ') + 1);
          out += line + "\n";
          line = hanging;
        }
        line += word;
      };
      for (std::size_t k = 0; k < count; ++k) {
        if (cut && k == leading) {
          add("...");
          line += ' ';
        }
        add(entry(k));
        if (k + 1 < count) line += ' ';
      }
      out += line;
    } else {
      const std::string between(shape_.size() - d - 1, '\n');
      for (std::size_t k = 0; k < count; ++k) {
        if (cut && k == leading) {
          out += hanging;
          out += "...";
          out += between;
        }
        out += hanging;
        out += entry(k);
        if (k + 1 < count) out += between;
      }
    }
    return "[" + out.substr(std::min(indent, out.size())) + "]";
  }

 private:
  const Shape& shape_;
  const Shape& shown_;
  Ints strides_;
  Write write_;
};

/// A context's own options. Guarded by ForkLock::settings.
struct ContextPrintOptions : base::ContextPart {
  PrintOptions options;
};

ContextPrintOptions& options_of(base::ContextState& context) {
  return context.part<ContextPrintOptions>(base::ContextSlot::print,
                                           [] { return std::make_unique<ContextPrintOptions>(); });
}

}  // namespace

namespace api {

void set_print_options(base::ContextState& context, const PrintOptions& options, std::string_view operation) {
  check(options, operation);
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  options_of(context).options = options;
}

}  // namespace api

PrintOptions print_options() {
  base::ContextState& context = base::current_context_state();
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  return options_of(context).options;
}

void set_print_options(const PrintOptions& options) {
  api::set_print_options(base::current_context_state(), options, "print");
}

std::string to_string(const Tensor& x, const PrintOptions& options) {
  check(options);
  if (x.numel() == 0) return "[]";
  Tensor shown = x;
  if (x.numel() > options.threshold) shown = ends(x.realize(), options.edge_items);
  const Brackets brackets(x.shape(), shown.shape(), writer(shown, options));
  return brackets.text(0, 0, 1, options.line_width);
}

std::string to_string(const Complex& z, const PrintOptions& options) {
  check(options);
  if (z.numel() == 0) return "[]";
  Complex shown = z.realize();
  if (z.numel() > options.threshold) shown = z.each_part([&](const Tensor& x) { return ends(x, options.edge_items); });
  const Write write = z.dtype() == ComplexDType::complex128 ? complex_numbers<double>(shown, options)
                                                            : complex_numbers<float>(shown, options);
  return Brackets(z.shape(), shown.shape(), write).text(0, 0, 1, options.line_width);
}
std::string to_string(const Complex& z) { return to_string(z, print_options()); }
std::ostream& operator<<(std::ostream& out, const Complex& z) { return out << to_string(z); }

std::string to_string(const Tensor& x) { return to_string(x, print_options()); }

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

std::string to_string(DType dtype) { return std::string(name(dtype)); }
std::string to_string(Device device) { return device.str(); }
std::string to_string(MemoryFormat format) { return std::string(name(format)); }
std::string to_string(const Layout& layout) { return layout.str(); }
std::string to_string(const View& view) { return view.str(); }
std::string to_string(const ShapeTracker& views) { return views.str(); }
std::string to_string(const Iteration& iteration) { return iteration.str(); }
std::string to_string(const Explanation& explanation) { return explanation.str(); }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }
std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, MemoryFormat format) { return out << name(format); }
std::ostream& operator<<(std::ostream& out, SymInt n) { return out << to_string(n); }
std::ostream& operator<<(std::ostream& out, const Ints& shape) { return out << to_string(shape); }
std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.str(); }
std::ostream& operator<<(std::ostream& out, const View& view) { return out << view.str(); }
std::ostream& operator<<(std::ostream& out, const ShapeTracker& views) { return out << views.str(); }
std::ostream& operator<<(std::ostream& out, const Iteration& iteration) { return out << iteration.str(); }
std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << explanation.str(); }
std::ostream& operator<<(std::ostream& out, const Profile& profile) { return out << profile.str(); }
std::ostream& operator<<(std::ostream& out, const ComprehensionRanges& ranges) { return out << ranges.str(); }

}  // namespace oriel
