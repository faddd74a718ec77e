// The functions of floats that expressions may call. The result is float, or double if an argument is double.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace oriel::lang {

// X(name, arity). Each has the meaning of C's function of that name: rint rounds ties to even, round away from zero.
// clang-format off
#define ORIEL_LANG_BUILTINS(X) \
  X(exp, 1) X(exp2, 1) X(exp10, 1) X(expm1, 1) X(log, 1) X(log2, 1) X(log10, 1) X(log1p, 1) \
  X(sqrt, 1) X(rsqrt, 1) X(cbrt, 1) X(rcbrt, 1) X(sin, 1) X(cos, 1) X(tan, 1) X(sinpi, 1) X(cospi, 1) \
  X(asin, 1) X(acos, 1) X(atan, 1) X(sinh, 1) X(cosh, 1) X(tanh, 1) X(asinh, 1) X(acosh, 1) X(atanh, 1) \
  X(erf, 1) X(erfc, 1) X(floor, 1) X(ceil, 1) X(rint, 1) X(round, 1) X(trunc, 1) X(fabs, 1) \
  X(fmin, 2) X(fmax, 2) X(pow, 2) X(atan2, 2) X(fmod, 2) X(remainder, 2) X(hypot, 2) X(copysign, 2) X(fdim, 2) \
  X(nextafter, 2) X(fdivide, 2) X(fma, 3)
// clang-format on

enum class Builtin : std::uint8_t {
#define ORIEL_LANG_BUILTIN_ENUM(name, arity) name##_,
  ORIEL_LANG_BUILTINS(ORIEL_LANG_BUILTIN_ENUM)
#undef ORIEL_LANG_BUILTIN_ENUM
};

struct BuiltinRow {
  Builtin id;
  std::string_view name;
  std::size_t arity;
};
inline constexpr BuiltinRow kBuiltins[] = {
#define ORIEL_LANG_BUILTIN_ROW(name, arity) {Builtin::name##_, #name, arity},
    ORIEL_LANG_BUILTINS(ORIEL_LANG_BUILTIN_ROW)
#undef ORIEL_LANG_BUILTIN_ROW
};

/// The function of that name, or null.
constexpr const BuiltinRow* find_builtin(std::string_view name) noexcept {
  for (const BuiltinRow& row : kBuiltins) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace oriel::lang
