// The partial derivatives of elementwise ops, one row for each: expressions over the operands `a` and `b` and the
// result `y`, of which derivatives are graphs (grad/elementwise.cpp).
#pragma once

#include <numbers>
#include <string_view>

#include "ops/op.hpp"

namespace oriel::ops {

inline constexpr double kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
inline constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

// clang-format off
// X(op, by the operand). Where two definitions are in use it is that of PyTorch: 0 for abs at 0. finite(y) is y, or the
// largest number for infinity, so that nothing times it is nothing.
#define ORIEL_UNARY_PARTIALS(X) \
  X(Neg,   -1) \
  X(Abs,   sign(a)) \
  X(Exp,   finite(y)) \
  X(Exp2,  finite(y) * kLn2) \
  X(Log,   1 / a) \
  X(Log2,  1 / (a * kLn2)) \
  X(Log10, 1 / (a * kLn10)) \
  X(Log1p, 1 / (a + 1)) \
  X(Expm1, finite(y) + 1) \
  X(Rsqrt, y * y * y * -0.5) \
  X(Sin,   cos(a)) \
  X(Cos,   -sin(a)) \
  X(Tan,   y * y + 1) \
  X(Tanh,  1 - y * y) \
  X(Erf,   exp(-(a * a)) * kTwoOverSqrtPi) \
  X(Erfc,  exp(-(a * a)) * -kTwoOverSqrtPi) \
  X(Asin,  1 / sqrt(1 - a * a)) \
  X(Acos,  -1 / sqrt(1 - a * a)) \
  X(Atan,  1 / (a * a + 1)) \
  X(Sinh,  cosh(a)) \
  X(Cosh,  sinh(a)) \
  X(Asinh, 1 / sqrt(a * a + 1)) \
  X(Acosh, 1 / (sqrt(a - 1) * sqrt(a + 1))) \
  X(Atanh, 1 / (1 - a * a))
// X(op, by the first operand, by the second). pow: 0 for the base where the exponent is 0, and for the exponent where the
// base is 0 and the exponent is not negative. copysign, atan2 and hypot: 0 at 0.
#define ORIEL_BINARY_PARTIALS(X) \
  X(Add,       1, 1) \
  X(Sub,       1, -1) \
  X(Mul,       b, a) \
  X(Div,       1 / b, -(y / b)) \
  X(Remainder, 1, -floor(a / b)) \
  X(Fmod,      1, -trunc(a / b)) \
  X(Pow,       where(b == 0, 0, b * pow(a, b - 1)), where((a == 0) & (b >= 0), 0, y * log(a))) \
  X(Atan2,     where(a * a + b * b == 0, 0, b / (a * a + b * b)), where(a * a + b * b == 0, 0, -a / (a * a + b * b))) \
  X(Hypot,     where(y == 0, 0, a / y), where(y == 0, 0, b / y)) \
  X(Copysign,  where(a == 0, 0, y / a), 0) \
  X(AbsAdd,    sign(a), sign(b))
// X(op, why its derivative is 0 or there is none)
#define ORIEL_WITHOUT_PARTIALS(X) \
  X(Sign,     "is a step") \
  X(Floor,    "is a step") \
  X(Ceil,     "is a step") \
  X(Round,    "is a step") \
  X(Trunc,    "is a step") \
  X(FloorDiv, "is a step") \
  X(TruncDiv, "is a step") \
  X(IsNan,    "gives bool") \
  X(IsInf,    "gives bool") \
  X(Eq,       "gives bool") \
  X(Ne,       "gives bool") \
  X(Lt,       "gives bool") \
  X(Le,       "gives bool") \
  X(Not,      "takes integers") \
  X(And,      "takes integers") \
  X(Or,       "takes integers") \
  X(Xor,      "takes integers") \
  X(Shl,      "takes integers") \
  X(Shr,      "takes integers") \
  X(Philox,   "takes integers") \
  X(Bitcast,  "looks at bits")
// clang-format on

}  // namespace oriel::ops
