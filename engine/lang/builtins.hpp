// The functions of floats that expressions may call. The result is float, or double if an argument is double.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "ops/op.hpp"

namespace oriel::lang {

// Each has the meaning of C's function of that name: rint rounds ties to even, round away from zero. X(name, op) is one
// op of the graph, whose row has its arity; Y(name, arity) is composed of several (call_values.cpp).
// clang-format off
#define ORIEL_LANG_BUILTINS(X, Y) \
  X(exp, Exp) X(exp2, Exp2) Y(exp10, 1) X(expm1, Expm1) X(log, Log) X(log2, Log2) X(log10, Log10) X(log1p, Log1p) \
  X(sqrt, Sqrt) X(rsqrt, Rsqrt) Y(cbrt, 1) Y(rcbrt, 1) X(sin, Sin) X(cos, Cos) X(tan, Tan) Y(sinpi, 1) Y(cospi, 1) \
  X(asin, Asin) X(acos, Acos) X(atan, Atan) X(sinh, Sinh) X(cosh, Cosh) X(tanh, Tanh) \
  X(asinh, Asinh) X(acosh, Acosh) X(atanh, Atanh) X(erf, Erf) X(erfc, Erfc) \
  X(floor, Floor) X(ceil, Ceil) X(rint, Round) Y(round, 1) X(trunc, Trunc) X(fabs, Abs) \
  Y(fmin, 2) Y(fmax, 2) X(pow, Pow) X(atan2, Atan2) X(fmod, Fmod) Y(remainder, 2) X(hypot, Hypot) \
  X(copysign, Copysign) Y(fdim, 2) Y(nextafter, 2) X(fdivide, Div) Y(fma, 3)
// clang-format on

enum class Builtin : std::uint8_t {
#define ORIEL_LANG_BUILTIN_ENUM(name, detail) name##_,
  ORIEL_LANG_BUILTINS(ORIEL_LANG_BUILTIN_ENUM, ORIEL_LANG_BUILTIN_ENUM)
#undef ORIEL_LANG_BUILTIN_ENUM
};

struct BuiltinRow {
  Builtin id;
  std::string_view name;
  std::size_t arity;
  std::optional<ops::Op> op;  // that it is; none if it is composed
};
inline constexpr BuiltinRow kBuiltins[] = {
#define ORIEL_LANG_OP_ROW(name, op) {Builtin::name##_, #name, ops::row(ops::Op::op).arity, ops::Op::op},
#define ORIEL_LANG_COMPOSED_ROW(name, arity) {Builtin::name##_, #name, arity, std::nullopt},
    ORIEL_LANG_BUILTINS(ORIEL_LANG_OP_ROW, ORIEL_LANG_COMPOSED_ROW)
#undef ORIEL_LANG_OP_ROW
#undef ORIEL_LANG_COMPOSED_ROW
};

/// The function of that name, or null.
constexpr const BuiltinRow* find_builtin(std::string_view name) noexcept {
  for (const BuiltinRow& row : kBuiltins) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace oriel::lang
