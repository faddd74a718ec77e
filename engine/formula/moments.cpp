#include "formula/moments.hpp"

#include <limits>

#include "backend/backend.hpp"

namespace oriel::api {

namespace {

// Elements beyond these are scaled. Sums of 2^50 of their squares stay in the range of float32.
constexpr double kLarge = 0x1p50, kSmall = 0x1p-50, kDown = 0x1p-75, kUp = 0x1p75;
// Squares of small elements count only beside a smaller eps.
constexpr double kSmallEps = 1e-20;
// The error of a difference of squares in one pass, beside the squares.
constexpr double kOnceError = 0x1p-48;

}  // namespace

Value squares_factor(const Value& x, const Ints& axes) {
  const bool wide = x.dtype() == DType::float64;
  const Value largest = abs(x).reduce(Op::ReduceMax, axes);
  const Value grown = where(largest < (wide ? 0x1p-400 : 0x1p-50), wide ? 0x1p600 : 0x1p90, largest.like(1));
  return where(largest > (wide ? 0x1p400 : 0x1p50), wide ? 0x1p-540 : 0x1p-75, grown);
}

Moments::Moments(const Value& x, const Ints& axes, From from, double eps)
    : x_(x), squares_(x), count_(x.call().count(x.shape(), axes)), eps_(eps) {
  const bool narrow = x.dtype() == DType::float32;
  const bool widens = narrow && backend::backend_for(x.device()).capabilities().float64;
  if (narrow && !widens) {
    const Value largest = abs(x).reduce(Op::ReduceMax, axes);
    Value scale = largest.like(1);
    if (eps < kSmallEps) scale = where(largest < kSmall, kUp, scale);
    scale_ = where(largest > kLarge, kDown, scale);
    x_ = x * *scale_;
  }
  const auto mean = [&](const Value& v) { return v.reduce(Op::Sum, axes).binary(Op::Div, count_); };
  Value v = widens ? x.to(DType::float64) : x_;
  if (from != From::Zero) {
    mean_ = mean(v);
    centre_[0] = mean_->to(x.dtype());
    once_ = widens;
    if (!once_) {
      v = v - *mean_;
      centre_[1] = mean(v);
      v = v - *centre_[1];
      mean_ = *mean_ + *centre_[1];
    }
  }
  squares_ = (v * v).reduce(Op::Sum, axes);
}

Value Moments::mean() const { return scale_ ? *mean_ / *scale_ : *mean_; }

Value Moments::sum() const {
  if (!once_) return squares_;
  const Value beside = mean_->binary(Op::Mul, *mean_).binary(Op::Mul, count_);
  const Value difference = squares_ - beside;
  return where(difference <= beside * kOnceError, 0, difference);
}

Value Moments::normalised() const {
  Value squares = squares_.binary(Op::Div, count_);
  if (once_) squares = max(squares - *mean_ * *mean_, 0);
  if (scale_) {
    const double least = eps_ > 0 ? static_cast<double>(std::numeric_limits<float>::min()) : 0;
    squares = squares + max(*scale_ * eps_ * *scale_, least);
  } else {
    squares = squares + eps_;
  }
  Value out = x_;
  for (const auto& part : centre_)
    if (part) out = out - *part;
  return out * rsqrt(squares).to(out.dtype());
}

}  // namespace oriel::api
