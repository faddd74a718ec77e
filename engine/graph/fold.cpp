#include "graph/fold.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "graph/division.hpp"
#include "oriel/error.hpp"

namespace oriel::graph {

namespace {

[[noreturn]] void no_meaning(Op op, DType dtype) {
  throw InternalError("fold", std::string(name(op)) + " has no meaning for " + std::string(oriel::name(dtype)));
}

template <class F>
F float_unary(Op op, F x) {
  switch (op) {
    case Op::Neg:
      return -x;
    case Op::Abs:
      return std::fabs(x);
    case Op::Sign:
      return std::isnan(x) ? x : static_cast<F>((x > 0) - (x < 0));
    case Op::Exp:
      return std::exp(x);
    case Op::Exp2:
      return std::exp2(x);
    case Op::Log:
      return std::log(x);
    case Op::Log2:
      return std::log2(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Rsqrt:
      return 1 / std::sqrt(x);
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Erf:
      return std::erf(x);
    case Op::Floor:
      return std::floor(x);
    case Op::Ceil:
      return std::ceil(x);
    case Op::Round:
      return std::nearbyint(x);
    case Op::Trunc:
      return std::trunc(x);
    default:
      no_meaning(op, dtype_of<F>);
  }
}

template <class F>
F float_binary(Op op, F x, F y) {
  switch (op) {
    case Op::Add:
      return x + y;
    case Op::Sub:
      return x - y;
    case Op::Mul:
      return x * y;
    case Op::Div:
      return x / y;
    case Op::FloorDiv:
      return FloorDiv::of(x, y);
    case Op::TruncDiv:
      return TruncDiv::of(x, y);
    case Op::Remainder:
      return Remainder::of(x, y);
    case Op::Fmod:
      return Fmod::of(x, y);
    case Op::Pow:
      return std::pow(x, y);
    case Op::Atan2:
      return std::atan2(x, y);
    case Op::Min:
      return std::isnan(x) || x < y ? x : y;
    case Op::Max:
      return std::isnan(x) || x > y ? x : y;
    default:
      no_meaning(op, dtype_of<F>);
  }
}

// Integers as their 64-bit patterns: U arithmetic wraps, and Scalar::of_int wraps to the dtype. `Signed` says how to
// order and divide.
template <class T>
T divide(Op op, T x, T y) {
  switch (op) {
    case Op::FloorDiv:
      return FloorDiv::of(x, y);
    case Op::TruncDiv:
      return TruncDiv::of(x, y);
    case Op::Remainder:
      return Remainder::of(x, y);
    default:
      return Fmod::of(x, y);
  }
}

std::int64_t power(DType dtype, std::int64_t x, std::int64_t y, bool is_signed) {
  if (is_signed && y < 0) {
    // 1 / x^-y towards zero: nothing but 1 and -1 keeps a size of 1 or more.
    if (x == 1) return 1;
    if (x == -1) return (y & 1) != 0 ? -1 : 1;
    return 0;
  }
  std::uint64_t out = 1;
  auto base = static_cast<std::uint64_t>(x);
  for (auto e = static_cast<std::uint64_t>(y); e != 0; e >>= 1) {
    if ((e & 1) != 0) out *= base;
    base *= base;
  }
  return Scalar::of_int(dtype, static_cast<std::int64_t>(out)).i;
}

std::int64_t shift(Op op, DType dtype, std::int64_t x, std::int64_t y, bool is_signed) {
  const auto width = static_cast<std::uint64_t>(8 * itemsize(dtype));
  const bool outside = static_cast<std::uint64_t>(y) >= width;  // negative ones are large
  if (op == Op::Shl) return outside ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << y);
  if (outside) return is_signed && x < 0 ? -1 : 0;
  return is_signed ? x >> y : static_cast<std::int64_t>(static_cast<std::uint64_t>(x) >> y);
}

bool less(std::int64_t x, std::int64_t y, bool is_signed) {
  return is_signed ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
}

std::int64_t integer_unary(Op op, DType dtype, std::int64_t x) {
  switch (op) {
    case Op::Neg:
      return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    case Op::Abs:
      return is_unsigned(dtype) || x >= 0 ? x : static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    case Op::Sign:
      return is_unsigned(dtype) ? (x != 0) : (x > 0) - (x < 0);
    case Op::Not:
      return dtype == DType::bool_ ? x == 0 : ~x;
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc:
      return x;
    default:
      no_meaning(op, dtype);
  }
}

std::int64_t integer_binary(Op op, DType dtype, std::int64_t x, std::int64_t y) {
  const bool is_signed = !is_unsigned(dtype);
  const bool logical = dtype == DType::bool_;
  const auto ux = static_cast<std::uint64_t>(x);
  const auto uy = static_cast<std::uint64_t>(y);
  switch (op) {
    case Op::Add:
      return logical ? x | y : static_cast<std::int64_t>(ux + uy);
    case Op::Sub:
      return static_cast<std::int64_t>(ux - uy);
    case Op::Mul:
      return static_cast<std::int64_t>(ux * uy);
    case Op::FloorDiv:
    case Op::TruncDiv:
    case Op::Remainder:
    case Op::Fmod:
      return is_signed ? divide(op, x, y) : static_cast<std::int64_t>(divide(op, ux, uy));
    case Op::Pow:
      return power(dtype, x, y, is_signed);
    case Op::Min:
      return less(y, x, is_signed) ? y : x;
    case Op::Max:
      return less(x, y, is_signed) ? y : x;
    case Op::And:
      return x & y;
    case Op::Or:
      return x | y;
    case Op::Xor:
      return x ^ y;
    case Op::Shl:
    case Op::Shr:
      return shift(op, dtype, x, y, is_signed);
    default:
      no_meaning(op, dtype);
  }
}

bool compare(Op op, const Scalar& x, const Scalar& y) {
  const bool floats = is_floating(x.dtype);
  const bool is_signed = !is_unsigned(x.dtype);
  const bool equal = floats ? x.f == y.f : x.i == y.i;
  const bool below = floats ? x.f < y.f : less(x.i, y.i, is_signed);
  switch (op) {
    case Op::Eq:
      return equal;
    case Op::Ne:
      return !equal;
    case Op::Lt:
      return below;
    default:
      return below || equal;
  }
}

std::uint64_t bits_of(const Scalar& x) {
  switch (x.dtype) {
    case DType::float16:
      return float16_t(static_cast<float>(x.f)).bits;
    case DType::bfloat16:
      return bfloat16_t(static_cast<float>(x.f)).bits;
    case DType::float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(x.f));
    default:
      return static_cast<std::uint64_t>(x.i);  // float64 shares the storage of `i`
  }
}

Scalar from_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::float16: {
      float16_t half;
      half.bits = static_cast<std::uint16_t>(bits);
      return Scalar::of_float(dtype, static_cast<float>(half));
    }
    case DType::bfloat16: {
      bfloat16_t half;
      half.bits = static_cast<std::uint16_t>(bits);
      return Scalar::of_float(dtype, static_cast<float>(half));
    }
    case DType::float32:
      return Scalar::of_float(dtype, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DType::float64:
      return Scalar::of_float(dtype, std::bit_cast<double>(bits));
    default:
      return Scalar::of_int(dtype, static_cast<std::int64_t>(bits));
  }
}

}  // namespace

Scalar evaluate(Op op, DType result, std::span<const Scalar> operands) {
  const Scalar& x = operands[0];
  switch (op) {
    case Op::Cast:
      return x.cast(result);
    case Op::Bitcast:
      return from_bits(result, bits_of(x));
    case Op::Where:
      return x.i != 0 ? operands[1] : operands[2];
    case Op::IsNan:
      return Scalar::of_int(result, is_floating(x.dtype) && std::isnan(x.f));
    case Op::IsInf:
      return Scalar::of_int(result, is_floating(x.dtype) && std::isinf(x.f));
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
      return Scalar::of_int(result, compare(op, x, operands[1]));
    default:
      break;
  }
  const bool unary = operands.size() == 1;
  if (!is_floating(x.dtype)) {
    return Scalar::of_int(result,
                          unary ? integer_unary(op, x.dtype, x.i) : integer_binary(op, x.dtype, x.i, operands[1].i));
  }
  if (x.dtype == DType::float64) {
    return Scalar::of_float(result, unary ? float_unary(op, x.f) : float_binary(op, x.f, operands[1].f));
  }
  const auto narrow = static_cast<float>(x.f);
  const float out = unary ? float_unary(op, narrow) : float_binary(op, narrow, static_cast<float>(operands[1].f));
  return Scalar::of_float(result, out);
}

}  // namespace oriel::graph
