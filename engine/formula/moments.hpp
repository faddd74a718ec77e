// Variances and normalisations of any finite elements.
#pragma once

#include <array>
#include <optional>

#include "formula/value.hpp"

namespace oriel::api {

/// A power of two for each result over `axes`, which keep extent 1: with this factor the squares of x and their sum are
/// in the range of its dtype, float32 or float64.
Value squares_factor(const Value& x, const Ints& axes);

/// The sum of the squares of x over `axes`, which keep extent 1, and what follows from it. x is float32 or float64.
///
/// Sums of float32 are float64 where the device computes with it, in one pass: they hold all squares, and the mean of
/// equal elements is theirs. Squares from the mean are then a difference of two sums, with an error of float64 beside
/// mean(x)^2: less than that of squares of differences in float32. Elsewhere the mean of the deviations is subtracted
/// once more, and float32 is scaled by a power of two that keeps squares in its range.
class Moments {
 public:
  enum class From : std::uint8_t { Mean, Zero };  ///< squares of x - mean(x), or of x

  /// `eps`: what `normalised` adds to the mean of the squares.
  Moments(const Value& x, const Ints& axes, From from, double eps = 0);

  /// The mean of x, in a dtype that is at least as wide as that of x. From the mean only.
  Value mean() const;
  /// The sum of the squares divided by a number or a size, in the same dtype.
  template <class Divisor>
  Value variance(const Divisor& divisor) const {
    const Value v = sum().binary(Op::Div, divisor);
    return scale_ ? v / *scale_ / *scale_ : v;
  }
  /// The root of it, which has a larger range.
  template <class Divisor>
  Value deviation(const Divisor& divisor) const {
    const Value v = sqrt(sum().binary(Op::Div, divisor));
    return scale_ ? v / *scale_ : v;
  }
  /// x, less its mean where squares are from the mean, divided by the root of the mean of the squares + eps. In the
  /// dtype of x.
  Value normalised() const;

 private:
  /// The sum of the squares; 0 where it is less than the error of a difference.
  Value sum() const;

  Value x_;                                     // scaled
  std::optional<Value> scale_;                  // a power of two for each result
  std::optional<Value> mean_;                   // of x_
  std::array<std::optional<Value>, 2> centre_;  // numbers in the dtype of x whose sum is the mean
  Value squares_;                               // their sum; once: that of x^2
  bool once_ = false;                           // in one pass
  SymInt count_;
  double eps_;
};

}  // namespace oriel::api
