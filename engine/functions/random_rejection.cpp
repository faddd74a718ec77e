// Distributions by rejection, with a fixed number of attempts for each element, and by inversion.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>

#include "base/parts.hpp"
#include "formula/refusal.hpp"
#include "functions/random.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::Access;
using api::Domain;
using api::Draw;
using api::Op;
using api::Value;
using api::Words;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A shape parameter: which attempt is accepted depends on it, so the derivative of the accepted number by it is not
/// that of the distribution.
Value shape_parameter(const Value& a) {
  static const auto& refusal = *new auto(std::make_shared<const api::Refusal>(
      "the numbers of gamma and beta are drawn by rejection, and no derivative goes through their parameters a and b; "
      "keep these out by stop_gradient, or draw from normal, uniform or exponential"));
  return api::refused(a, refusal);
}

/// Attempts along a new last axis, each with a counter of its own, and the first one that is accepted.
class Attempts {
 public:
  Attempts(const Draw& draw, std::int64_t count) : count_(count), shape_(draw.shape()) {
    shape_.push_back(1);
    const Value positions = draw.positions().reshape(shape_);
    first_ = positions * integer_like(positions, static_cast<std::uint64_t>(count));
    rounds_ = Value(draw.call(), graph::iota(row(), draw.device(), draw.call().origin()));
  }

  /// The counters of all attempts.
  Value counters() const { return *first_ + rounds_->to(DType::uint64); }
  /// The counter of the first attempt for which `accepted` holds; of the first one if none does.
  Value chosen(const Value& accepted) const {
    const Value rounds = rounds_->broadcast(accepted.shape());
    const Value round = where(accepted, rounds, static_cast<double>(count_)).reduce(Op::ReduceMin, {shape_.size() - 1});
    return *first_ + where(round < static_cast<double>(count_), round, 0).to(DType::uint64);
  }
  /// A parameter beside the attempts.
  Value beside(const Value& parameter) const { return parameter.reshape(shape_); }

 private:
  Shape row() const {
    Shape shape(shape_.size(), SymInt(1));
    shape.back() = count_;
    return shape;
  }

  std::int64_t count_;
  Shape shape_;
  std::optional<Value> first_, rounds_;
};

/// A polynomial; the coefficients from the highest power down.
Value polynomial(std::initializer_list<double> coefficients, const Value& x) {
  const double* c = coefficients.begin();
  Value y = x.like(*c);
  while (++c != coefficients.end()) y = y * x + *c;
  return y;
}

/// A gamma number of parameter a: d v w, where v = (1 + t)^3. The method of Marsaglia and Tsang; numbers of a < 1 are
/// those of a + 1 times w = u^(1/a), `power` is log(u), else 0. For large a, v is so close to 1 that t alone has
/// digits.
struct GammaNumber {
  Value t, power, a;

  static Value d_of(const Value& a) { return where(a < 1, a + 1, a) - 1.0 / 3; }
  Value d() const { return d_of(a); }
  Value log_v() const { return log1p(t) * 3; }
  Value log_w() const { return power / a; }
  Value number() const {
    const Value from_1 = d() + d() * polynomial({1, 3, 3, 0}, t), v = t + 1;
    return where(a < 1, exp(log(d()) + log_v() + log_w()), where(abs(t) < 0.25, from_1, d() * (v * v * v)));
  }
};

/// log(1 + t) - t + t^2 / 2 - t^3 / 3 for t >= -1, without cancellation where t is small.
Value log1p_rest(const Value& t) {
  const Value square = t * t;
  const Value series = polynomial({1.0 / 11, -1.0 / 10, 1.0 / 9, -1.0 / 8, 1.0 / 7, -1.0 / 6, 1.0 / 5, -1.0 / 4}, t);
  return where(abs(t) < 0.125, series * square * square, log(t + 1) - t + square * (0.5 - t * (1.0 / 3)));
}

GammaNumber gamma_numbers(const Draw& draw, const Value& parameter, DType wide, Words stream) {
  constexpr std::int64_t attempts = 16;  // at a = 1, the worst case, 0.049 of them are rejected
  const Attempts tries(draw, attempts);
  const Value d = GammaNumber::d_of(tries.beside(parameter)), c = rsqrt(d) * (1.0 / 3);
  const auto at = [&](const Value& counter) {
    return counter | integer_like(counter, static_cast<std::uint64_t>(stream));
  };
  const auto t_at = [&](const Value& counter) { return max(c * normals(draw, counter, wide), -1); };
  const Value counters = at(tries.counters());
  const Value t = t_at(counters);
  const Value u =
      api::unit_above_zero(draw.words(counters, wide == DType::float64 ? Words::Third : Words::Second), wide);
  // log(u) < x^2 / 2 + d - d v + d log(v), where x^2 / 2 = 4.5 d t^2
  const Value accepted = (t > -1) & (log(u) < d * (log1p_rest(t) * 3));
  const Value counter = at(tries.chosen(accepted));
  const Value more =
      api::unit_above_zero(draw.words(counter | integer_like(counter, static_cast<std::uint64_t>(Words::Power))), wide);
  const auto out = [&](const Value& each) { return each.reshape(draw.shape()); };
  return {out(t_at(counter)), out(where(tries.beside(parameter) < 1, log(more), 0)), parameter};
}

/// z log(z / mean) - (z - mean) in float64, without cancellation where z is near the mean: the deviance of Loader
/// ("Fast and accurate computation of binomial probabilities", 2000).
Value deviance(const Value& z, const Value& mean) {
  const Value apart = z - mean, v = apart / (z + mean), square = v * v;
  const Value rest =
      square * polynomial({1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}, square);
  return where(abs(v) < 0.1, apart * v + z * v * rest * 2, z * log(z / mean) - apart);
}

/// The logarithm of the probability of k >= 0 in a Poisson distribution, in float64. log(k!) is Stirling's series at
/// z = k + 8, and of k log(mean) - mean - z log(z) + z the deviance is left, so that large terms cancel in exact
/// arithmetic.
Value log_probability(const Value& k, const Value& mean) {
  Value product = k + 1;
  for (int i = 2; i <= 7; ++i) product = product * (k + i);
  const Value z = k + 8, inverse = 1 / z, square = inverse * inverse;
  const Value series = inverse * (((square * (-1.0 / 1680) + 1.0 / 1260) * square - 1.0 / 360) * square + 1.0 / 12);
  return log(z) * 0.5 - log(mean) * 8 + log(product) - deviance(z, mean) - series -
         0.5 * std::log(2 * std::numbers::pi);
}

/// Poisson numbers of a mean of at least 10, as Hörmann's PTRS: "The transformed rejection method for generating
/// Poisson random variables" (1993). Its squeezes, which only save time, are left out.
Value large_poisson(const Draw& draw, const Value& parameter) {
  constexpr std::int64_t attempts = 32;  // at a mean of 10, the worst case, 0.248 of them are rejected
  const Attempts tries(draw, attempts);
  const Value mean = tries.beside(parameter);
  const Value b = sqrt(mean) * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  const auto u_at = [&](const Value& counter) {
    return api::unit(draw.words(counter), DType::float64, DType::float64) - 0.5;
  };
  const auto number = [&](const Value& u) { return ((a * 2 / (0.5 - abs(u)) + b) * u + mean + 0.43).unary(Op::Floor); };
  const Value counters = tries.counters();
  const Value u = u_at(counters), us = 0.5 - abs(u), k = number(u);
  const Value v = api::unit_above_zero(draw.words(counters, Words::Second), DType::float64);
  const Value inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
  const Value bound = log_probability(max(k, 0), mean);
  const Value accepted = (k >= 0) & (log(v * inverse_alpha / (a / (us * us) + b)) <= bound);
  return max(number(u_at(tries.chosen(accepted))), 0).reshape(draw.shape());
}

/// Poisson numbers of a mean below 10: how many of the sums of probabilities are at most u.
Value small_poisson(const Draw& draw, const Value& mean) {
  const Value u = api::unit(draw.words(), DType::float64, DType::float64);
  Value probability = exp(-mean), sum = probability, count = u.like(0);
  for (int k = 1; k <= 53; ++k) {
    count = count + (sum <= u).to(DType::float64);
    probability = probability * (mean * (1.0 / k));
    sum = sum + probability;
  }
  return count;
}

/// The number below which the share p of a normal distribution lies, in float64: algorithm AS 241 of Wichura (1988),
/// PPND16.
Value normal_quantile(const Value& p) {
  const Value q = p - 0.5, middle = 0.180625 - q * q;
  const Value centre =
      q *
      polynomial({2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
                  1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.387132872796366608e0},
                 middle) /
      polynomial({5.226495278852545925e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
                  5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1},
                 middle);
  const Value r = sqrt(-log(min(p, 1 - p)));
  const Value near = r - 1.6, far = r - 5;
  const Value tail =
      where(r <= 5,
            polynomial({7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                        1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
                        4.63033784615654529590e0, 1.42343711074968357734e0},
                       near) /
                polynomial({1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                            1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
                            2.05319162663775882187e0, 1},
                           near),
            polynomial({2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                        5.46378491116411436990e0, 6.65790464350110377720e0},
                       far) /
                polynomial({2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                            7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                            5.99832206555887937690e-1, 1},
                           far));
  return where(abs(q) <= 0.425, centre, where(q < 0, -tail, tail));
}

constexpr double kFar = 37;  // deviations behind which shares of a normal distribution have few digits left, or none

/// Normal numbers between `least` and `most`, which is below -kFar. At a distance t below `most` the share is that at
/// `most` times exp(-e), where e = a t + t^2 / 2 + log(1 + t / a) with a = -most, up to terms of a^-4.
Value far_below(const Value& u, const Value& least, const Value& most) {
  constexpr double most_wide = 8;  // exp(-reach) is 0 there, and stays so without an infinity
  const Value a = max(-most, kFar), wide = min(most - least, most_wide);
  const Value reach = wide * (a + wide * 0.5) + log1p(wide / a);
  const Value e = -log1p(u * expm1(-reach));
  const auto distance = [&](const Value& of) { return of * 2 / (a + sqrt(a * a + of * 2)); };
  return most - distance(e - log1p(distance(e) / a));
}

/// The share of a normal distribution below x.
Value normal_share(const Value& x) { return (x * -std::numbers::sqrt2 * 0.5).unary(Op::Erfc) * 0.5; }

}  // namespace

Tensor truncated_normal(const Key& key, const Shape& shape, const Operand& low, const Operand& high, DType dtype) {
  base::need<base::kRandom>("truncated_normal");
  const Draw draw("truncated_normal", key, shape, Access::site(low), {&low, &high});
  (void)draw.computed(dtype);
  const auto bound = [&](const Operand& x, const char* what) {
    return draw.parameter(x, DType::float64, what, Domain::Any);
  };
  const Value from = bound(low, "low"), to = bound(high, "high");
  // Shares near 1 have no digits to spare, so an interval above 0 is computed as its mirror image.
  const Value mirrored = from > 0;
  const Value least = where(mirrored, -to, from), most = where(mirrored, -from, to);
  const Value u = api::unit(draw.words(), DType::float64, DType::float64);
  const auto inner = [&](const Value& lowest, const Value& highest) {
    const Value below = normal_share(lowest), above = normal_share(highest);
    return normal_quantile(below + u * (above - below));
  };
  const auto known = [](const Operand& x) { return Access::tensor(x) == nullptr && !Access::is_symbolic(x); };
  const auto number = [&] {
    if (!known(low) || !known(high)) {
      // A formula that is not chosen gets bounds for which it is made: its derivative is then finite, and times 0 is 0.
      const Value far = most < -kFar;
      const Value there = far_below(u, where(far, least, -kFar - 2), where(far, most, -kFar - 1));
      return where(far, there, inner(where(far, -1, least), where(far, 1, most)));
    }
    const bool far = Access::value(low) > kFar || Access::value(high) < -kFar;
    return far ? far_below(u, least, most) : inner(least, most);
  };
  const Value x = max(min(number(), most), least);
  return where(from <= to, where(mirrored, -x, x), kNan).to(dtype).tensor();
}

Tensor gamma(const Key& key, const Shape& shape, const Operand& a, const Operand& scale, DType dtype) {
  base::need<base::kRandom>("gamma");
  const Draw draw("gamma", key, shape, Access::site(a), {&a, &scale});
  const DType wide = draw.computed(dtype);
  const Value parameter = shape_parameter(draw.parameter(a, wide, "a", Domain::Positive));
  const Value numbers = gamma_numbers(draw, parameter, wide, Words::First).number();
  if (Access::tensor(scale) == nullptr && Access::value(scale) == 1) return numbers.to(dtype).tensor();
  return (numbers * draw.parameter(scale, wide, "scale", Domain::NotNegative)).to(dtype).tensor();
}

Tensor beta(const Key& key, const Shape& shape, const Operand& a, const Operand& b, DType dtype) {
  base::need<base::kRandom>("beta");
  const Draw draw("beta", key, shape, Access::site(a), {&a, &b});
  const DType wide = draw.computed(dtype);
  const Value first = shape_parameter(draw.parameter(a, wide, "a", Domain::Positive));
  const Value second = shape_parameter(draw.parameter(b, wide, "b", Domain::Positive));
  const GammaNumber x = gamma_numbers(draw, first, wide, Words::First);
  const GammaNumber y = gamma_numbers(draw, second, wide, Words::Other);
  const Value apart = log(y.d() / x.d()) + (y.log_v() - x.log_v());
  // Where both are -infinity, the smaller parameter divides last: the quotients before it are in range.
  const Value difference = apart + (y.log_w() - x.log_w()), least = min(min(first, second), 1);
  const Value scaled = (y.power * (least / second) - x.power * (least / first)) / least + apart;
  return (1 / (exp(where(isnan(difference), scaled, difference)) + 1)).to(dtype).tensor();
}

Tensor poisson(const Key& key, const Shape& shape, const Operand& mean) {
  base::need<base::kRandom>("poisson");
  const Draw draw("poisson", key, shape, Access::site(mean), {&mean});
  const Value m = draw.parameter(mean, DType::float64, "mean", Domain::Mean);
  const bool known = Access::tensor(mean) == nullptr && !Access::is_symbolic(mean);
  if (known)
    return (Access::value(mean) < 10 ? small_poisson(draw, m) : large_poisson(draw, m)).to(DType::int64).tensor();
  const Value numbers = where(m < 10, small_poisson(draw, min(m, 10)), large_poisson(draw, max(m, 10)));
  return where(isnan(m), 0, numbers).to(DType::int64).tensor();
}

}  // namespace oriel
