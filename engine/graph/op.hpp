// The ops of the graph. One table holds them; everything else (names, dtype rules, folding, renderers, docs) reads its
// rows.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace oriel::graph {

/// What an op is made of, as far as the scheduler cares.
enum class OpClass : std::uint8_t { Leaf, Movement, Write, Gather, Transfer, Sort, Elementwise, Reduce };

/// How the result's dtype follows from the (already promoted, equal) operand dtypes.
enum class DTypeRule : std::uint8_t {
  None,       // leaves and movements: carried along
  Same,       // any dtype, result the same
  Numeric,    // any but bool; result the same
  Floating,   // floats only; result the same (the API casts integers to float32 first)
  Integral,   // integers and bool; result the same
  Integer,    // integers only; result the same
  Compare,    // any dtype; result bool
  FloatTest,  // any dtype; result bool (integers are never NaN or infinite)
  Select,     // (bool, T, T) -> T
  Convert,    // the node names the target
};

// clang-format off
// X(op, arity, class, dtype rule, f(0,..,0)=+0 in every dtype, cost per element in units of an add, line of doc)
#define ORIEL_OPS(X) \
  X(Buffer,    0, Leaf,        None,      true,  0, "elements of a buffer, row-major") \
  X(Const,     0, Leaf,        None,      false, 0, "one number, everywhere") \
  X(Iota,      0, Leaf,        None,      false, 1, "the row-major position of each element, int64") \
  X(Reshape,   1, Movement,    None,      true,  0, "same elements in row-major order, another shape") \
  X(Permute,   1, Movement,    None,      true,  0, "axes in another order") \
  X(Expand,    1, Movement,    None,      true,  0, "axes of extent 1 repeated") \
  X(Shrink,    1, Movement,    None,      true,  0, "a box cut out") \
  X(Pad,       1, Movement,    None,      true,  0, "zeros around") \
  X(Flip,      1, Movement,    None,      true,  0, "axes reversed") \
  X(Format,    1, Movement,    None,      true,  0, "the same elements in another order of memory: what a user sees, and how they are stored") \
  X(RawView,   1, Movement,    None,      true,  0, "any view over the row-major elements of the source") \
  X(Assign,    2, Write,       None,      true,  0, "the first source, with the second in place of the elements that the write reaches") \
  X(Gather,    2, Gather,      None,      false, 4, "elements of the first source at the row-major positions that the second, int64, holds; 0 where one is outside. A device that cannot refuses its Gather instruction with a DeviceError") \
  X(Copy,      1, Transfer,    None,      true,  0, "the same elements on another device, the node's") \
  X(Sort,      1, Sort,        None,      false, 0, "elements along the last axis in order; NaN is the largest, -0 comes before 0. A device whose Capabilities::sorts is false refuses it") \
  X(ArgSort,   1, Sort,        None,      false, 0, "int64 positions along the last axis in the order of their elements; equal ones, zeros of both signs and NaNs keep theirs") \
  X(Neg,       1, Elementwise, Numeric,   false, 1, "-x; wraps for integers") \
  X(Abs,       1, Elementwise, Same,      true,  1, "absolute value; the smallest signed integer stays itself") \
  X(Sign,      1, Elementwise, Same,      true,  1, "-1, 0 or 1; NaN for NaN") \
  X(Exp,       1, Elementwise, Floating,  false, 8, "e^x") \
  X(Exp2,      1, Elementwise, Floating,  false, 8, "2^x") \
  X(Log,       1, Elementwise, Floating,  false, 8, "natural logarithm") \
  X(Log2,      1, Elementwise, Floating,  false, 8, "logarithm to base 2") \
  X(Sqrt,      1, Elementwise, Floating,  true,  4, "square root") \
  X(Rsqrt,     1, Elementwise, Floating,  false, 5, "1/sqrt(x)") \
  X(Sin,       1, Elementwise, Floating,  true,  10, "sine, radians") \
  X(Cos,       1, Elementwise, Floating,  false, 10, "cosine, radians") \
  X(Tan,       1, Elementwise, Floating,  true,  16, "tangent, radians") \
  X(Tanh,      1, Elementwise, Floating,  true,  8, "hyperbolic tangent") \
  X(Erf,       1, Elementwise, Floating,  true,  10, "error function") \
  X(Floor,     1, Elementwise, Same,      true,  1, "towards minus infinity") \
  X(Ceil,      1, Elementwise, Same,      true,  1, "towards plus infinity") \
  X(Round,     1, Elementwise, Same,      true,  1, "to nearest, halves to even") \
  X(Trunc,     1, Elementwise, Same,      true,  1, "towards zero") \
  X(IsNan,     1, Elementwise, FloatTest, true,  1, "true for NaN") \
  X(IsInf,     1, Elementwise, FloatTest, true,  1, "true for an infinity") \
  X(Not,       1, Elementwise, Integral,  false, 1, "bitwise complement; logical for bool") \
  X(Cast,      1, Elementwise, Convert,   true,  1, "to another dtype: integers wrap, floats to integers saturate and NaN gives 0, bool is x != 0") \
  X(Bitcast,   1, Elementwise, Convert,   true,  1, "same bits, another dtype of the same width") \
  X(Add,       2, Elementwise, Same,      true,  1, "x + y; or for bool") \
  X(Sub,       2, Elementwise, Numeric,   true,  1, "x - y") \
  X(Mul,       2, Elementwise, Same,      true,  1, "x * y; and for bool") \
  X(Div,       2, Elementwise, Floating,  false, 4, "x / y") \
  X(FloorDiv,  2, Elementwise, Numeric,   false, 8, "quotient towards minus infinity: by what x - y*q is Remainder; integers by 0 give 0") \
  X(TruncDiv,  2, Elementwise, Numeric,   false, 8, "quotient towards zero, of floats the rounded one; integers by 0 give 0") \
  X(Remainder, 2, Elementwise, Numeric,   false, 10, "x - y*floor(x/y): sign of y; integers by 0 give 0") \
  X(Fmod,      2, Elementwise, Numeric,   false, 10, "x - y*trunc(x/y): sign of x; integers by 0 give 0") \
  X(Pow,       2, Elementwise, Numeric,   false, 20, "x^y; integers wrap, a negative exponent gives the quotient towards zero, 0 for base 0") \
  X(Atan2,     2, Elementwise, Floating,  true,  24, "angle of the point whose height is the first and whose length is the second, in [-pi, pi]") \
  X(Min,       2, Elementwise, Same,      true,  1, "smaller; NaN if either is") \
  X(Max,       2, Elementwise, Same,      true,  1, "larger; NaN if either is") \
  X(And,       2, Elementwise, Integral,  true,  1, "bitwise and") \
  X(Or,        2, Elementwise, Integral,  true,  1, "bitwise or") \
  X(Xor,       2, Elementwise, Integral,  true,  1, "bitwise exclusive or") \
  X(Shl,       2, Elementwise, Integer,   true,  1, "x * 2^y, wrapping; 0 where y is negative or at least the width") \
  X(Shr,       2, Elementwise, Integer,   true,  1, "floor(x / 2^y); y negative or at least the width: the sign fill") \
  X(Eq,        2, Elementwise, Compare,   false, 1, "x == y") \
  X(Ne,        2, Elementwise, Compare,   true,  1, "x != y") \
  X(Lt,        2, Elementwise, Compare,   true,  1, "x < y") \
  X(Le,        2, Elementwise, Compare,   false, 1, "x <= y") \
  X(Where,     3, Elementwise, Select,    true,  1, "c ? x : y") \
  X(Sum,       1, Reduce,      Numeric,   false, 1, "sum over axes; 0 when empty") \
  X(Prod,      1, Reduce,      Numeric,   false, 1, "product over axes; 1 when empty") \
  X(ReduceMax, 1, Reduce,      Same,      false, 1, "largest over axes; NaN if any is; the dtype's lowest when empty") \
  X(ReduceMin, 1, Reduce,      Same,      false, 1, "smallest over axes; NaN if any is; the dtype's highest when empty")
// clang-format on

enum class Op : std::uint8_t {
#define ORIEL_OP_ENUM(op, ...) op,
  ORIEL_OPS(ORIEL_OP_ENUM)
#undef ORIEL_OP_ENUM
};

/// One row of the table.
struct OpRow {
  Op op;
  std::string_view name;
  std::uint8_t arity;
  OpClass op_class;
  DTypeRule rule;
  bool keeps_zero;
  std::uint8_t cost;
  std::string_view doc;
};

inline constexpr OpRow kOpTable[] = {
#define ORIEL_OP_ROW(op, arity, op_class, rule, zero, cost, doc) \
  {Op::op, #op, arity, OpClass::op_class, DTypeRule::rule, zero, cost, doc},
    ORIEL_OPS(ORIEL_OP_ROW)
#undef ORIEL_OP_ROW
};
inline constexpr int kOpCount = static_cast<int>(std::size(kOpTable));

constexpr const OpRow& row(Op op) noexcept { return kOpTable[static_cast<int>(op)]; }
constexpr std::string_view name(Op op) noexcept { return row(op).name; }
constexpr bool is_movement(Op op) noexcept { return row(op).op_class == OpClass::Movement; }
constexpr bool is_elementwise(Op op) noexcept { return row(op).op_class == OpClass::Elementwise; }
constexpr bool is_sort(Op op) noexcept { return row(op).op_class == OpClass::Sort; }
constexpr bool is_reduce(Op op) noexcept { return row(op).op_class == OpClass::Reduce; }

}  // namespace oriel::graph
