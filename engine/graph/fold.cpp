#include "graph/fold.hpp"

#include <bit>
#include <string>
#include <type_traits>

#include "base/element_types.hpp"
#include "ops/functions/functors.hpp"
#include "oriel/error.hpp"

// Functions over packets have no functor here; only their names are declared.
namespace oriel::ops {
namespace {
#define ORIEL_ELEMENTWISE(op, ...) struct op;
ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE
}  // namespace
}  // namespace oriel::ops

namespace oriel::graph {

namespace {

[[noreturn]] void no_meaning(Op op, DType dtype) {
  throw InternalError("fold", std::string(name(op)) + " has no meaning for " + std::string(oriel::name(dtype)));
}

template <class T>
T number(const Scalar& x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x.f);
  } else {
    return static_cast<T>(x.i);  // wraps back to the value
  }
}

template <class R>
Scalar scalar(DType dtype, R value) {
  if constexpr (std::is_floating_point_v<R>) {
    return Scalar::of_float(dtype, value);
  } else {
    return Scalar::of_int(dtype, static_cast<std::int64_t>(value));
  }
}

/// Applies the functor of an op to the operands, converted to T. Functions whose last digits depend on the instruction
/// set are left to kernels.
template <Op kOp, ops::Kind kKind, class T, class Named>
Scalar apply(DType result, std::span<const Scalar> x) {
  constexpr OpRow r = row(kOp);
  using F = typename ops::FunctorOf<kOp, kKind, Named>::type;
  if constexpr (r.functor == ops::FunctorKind::None || !ops::takes(kOp, kKind) ||
                (r.functor == ops::FunctorKind::Function && std::is_floating_point_v<T>)) {
    no_meaning(kOp, x.back().dtype);
  } else if constexpr (r.arity == 1) {
    return scalar(result, F::of(number<T>(x[0])));
  } else if constexpr (r.arity == 2) {
    return scalar(result, F::of(number<T>(x[0]), number<T>(x[1])));
  } else {
    return scalar(result, F::of(static_cast<std::uint8_t>(x[0].i), number<T>(x[1]), number<T>(x[2])));
  }
}

/// T is the type in which registers hold the operands' dtype.
template <ops::Kind kKind, class T>
Scalar evaluate_as(Op op, DType result, std::span<const Scalar> x) {
  switch (op) {
#define ORIEL_ELEMENTWISE(op_, ...) \
  case Op::op_:                     \
    return apply<Op::op_, kKind, T, ops::op_>(result, x);
    ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE
    default:
      no_meaning(op, x.back().dtype);
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
  if (op == Op::Cast) return operands[0].cast(result);
  if (op == Op::Bitcast) return from_bits(result, bits_of(operands[0]));
  return base::with_element_type(operands.back().dtype, [&]<class T>() {
    using ops::Kind;
    if constexpr (std::same_as<T, bool>)
      return evaluate_as<Kind::Bool, std::uint8_t>(op, result, operands);
    else if constexpr (std::integral<T>)
      return evaluate_as<Kind::Integer, T>(op, result, operands);
    else  // halves compute in float32
      return evaluate_as<Kind::Float, std::conditional_t<Half<T>, float, T>>(op, result, operands);
  });
}

}  // namespace oriel::graph
