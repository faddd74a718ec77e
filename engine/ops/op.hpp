// The ops of the graph: one row for each. What an op means on single elements is written in functions/, as a functor
// that has the name of the op. Names, dtype rules, folding, tables of loops, renderers, docs and tests read the rows.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "oriel/dtype.hpp"

namespace oriel::ops {

/// What the scheduler needs to know about an op.
enum class OpClass : std::uint8_t {
  Leaf,
  Movement,
  Write,
  Gather,
  Transfer,
  Sort,
  Scan,
  Scatter,
  Host,
  Elementwise,
  Reduce
};

/// How the result's dtype follows from the (already promoted, equal) operand dtypes.
enum class DTypeRule : std::uint8_t {
  None,       // leaves and movements: carried along
  Same,       // any dtype, result the same
  Numeric,    // any but bool; result the same
  Floating,   // floats only; result the same (the API casts integers to float32 first)
  Integral,   // integers and bool; result the same
  Integer,    // integers only; result the same
  Word,       // uint64 only; result the same
  Compare,    // any dtype; result bool
  FloatTest,  // any dtype; result bool (integers are never NaN or infinite)
  Select,     // (bool, T, T) -> T
  Convert,    // the node names the target
};

/// How the functor of an elementwise op is called.
enum class FunctorKind : std::uint8_t {
  None,      // there is no functor: leaves, movements, conversions
  Element,   // of(element, ...): IEEE operations, with the same bits on every instruction set
  Quick,     // the same for floats, with quick(x, y, sure) beside it, which has no branch and is right where `sure`
  Function,  // floats: of(packet, ...). The last places depend on the instruction set
};

/// What a reduction of no elements gives.
enum class Identity : std::uint8_t { None, Zero, One, Ones, Lowest, Highest };

/// How the vector loops of a reduction of floats combine. In a functor of IEEE operations `packets` is the operation on
/// vectors.
enum class Packets : std::uint8_t {
  None,      // element by element
  All,       // by `packets`
  NanApart,  // by `packets`, which may lose a NaN, so NaNs are gathered beside it
};

/// The largest error of an op on floats, in units in the last place. 0: the result is correctly rounded.
struct ErrorBounds {
  double float32 = 0;  // on any instruction set
  double avx = 0;      // float32 with AVX2 or AVX-512
  double float64 = 0;
  double avx_float64 = 0;  // float64 with AVX2 or AVX-512; 0: as on any
};

/// What the argument of a movement looks like.
enum class Takes : std::uint8_t {
  None,     // no movement
  Target,   // nothing: the result's shape says it
  Extents,  // the same, one extent for each axis of the source
  Order,    // Ints: each axis once
  Axes,     // Ints: some axes, ascending
  Numbers,  // Ints: one for each axis
  Slices,   // Ranges: {lo, hi} for each axis
  Pads,     // Ranges: {before, after} for each axis
  Format,   // Ints: {MemoryFormat}, or preserve and one stride for each axis
  View,     // a View over the row-major elements
};

/// What a movement makes of the elements.
enum class Elements : std::uint8_t {
  Renamed,   // each is one element of the result
  Some,      // some of them
  Repeated,  // all of them, perhaps several times
  Padded,    // all of them, beside zeros
  Any,
};

/// The layout of a movement's result.
enum class LayoutRule : std::uint8_t {
  Same,     // of the source's class
  Ordered,  // at least Ordered
  Stored,   // that of an elementwise result
  Any,
};

// clang-format off
// X(op, arity, class, dtype rule, f(0,..,0)=+0 in every dtype, cost per element in units of an add, line of doc, what
// else a class has: members of OpRow)
#define ORIEL_LEAVES(X) \
  X(Buffer,    0, Leaf,        None,      true,  0,  "elements of a buffer, row-major") \
  X(Const,     0, Leaf,        None,      false, 0,  "one number, everywhere") \
  X(Iota,      0, Leaf,        None,      false, 1,  "the row-major position of each element, int64")
#define ORIEL_MOVEMENTS(X) \
  X(Reshape,   1, Movement,    None,      true,  0,  "same elements in row-major order, another shape", .takes = Takes::Target, .elements = Elements::Renamed, .layout = LayoutRule::Same) \
  X(Permute,   1, Movement,    None,      true,  0,  "axes in another order", .takes = Takes::Order, .elements = Elements::Renamed, .layout = LayoutRule::Any) \
  X(Expand,    1, Movement,    None,      true,  0,  "axes of extent 1 repeated", .takes = Takes::Extents, .elements = Elements::Repeated, .layout = LayoutRule::Ordered) \
  X(Shrink,    1, Movement,    None,      true,  0,  "a box cut out", .takes = Takes::Slices, .elements = Elements::Some, .layout = LayoutRule::Ordered) \
  X(Pad,       1, Movement,    None,      true,  0,  "zeros around", .takes = Takes::Pads, .elements = Elements::Padded, .layout = LayoutRule::Stored) \
  X(Flip,      1, Movement,    None,      true,  0,  "axes reversed", .takes = Takes::Axes, .elements = Elements::Renamed, .layout = LayoutRule::Ordered) \
  X(Format,    1, Movement,    None,      true,  0,  "the same elements in another order of memory: what a user sees, and how they are stored", .takes = Takes::Format, .elements = Elements::Renamed, .layout = LayoutRule::Any) \
  X(RawView,   1, Movement,    None,      true,  0,  "any view over the row-major elements of the source", .takes = Takes::View, .elements = Elements::Any, .layout = LayoutRule::Any) \
  X(Mark,      1, Movement,    None,      true,  0,  "the same elements, told apart from the source: what derivatives are taken of, and where they end", .takes = Takes::Target, .elements = Elements::Renamed, .layout = LayoutRule::Same) \
  X(Every,     1, Movement,    None,      true,  0,  "every n-th element along each axis, from the first one on", .takes = Takes::Numbers, .elements = Elements::Some, .layout = LayoutRule::Ordered)
#define ORIEL_OTHER_OPS(X) \
  X(Assign,    2, Write,       None,      true,  0,  "the first source, with the second in place of the elements that the write reaches") \
  X(Gather,    2, Gather,      None,      false, 4,  "elements of the first source at the row-major positions that the second, int64, holds; 0 where one is outside. A device that cannot refuses its Gather instruction with a DeviceError") \
  X(Copy,      1, Transfer,    None,      true,  0,  "the same elements on another device, the node's") \
  X(Sort,      1, Sort,        None,      false, 0,  "elements along the last axis in order; NaN is the largest, -0 comes before 0") \
  X(ArgSort,   1, Sort,        None,      false, 0,  "int64 positions along the last axis in the order of their elements; equal ones, zeros of both signs and NaNs keep theirs") \
  X(CumSum,    1, Scan,        None,      false, 0,  "sums of the elements up to each one along an axis: floats in the source's dtype (halves in float32), integers in int64 (uint64 in uint64), wrapping. A device whose Capabilities::scans is false refuses it", .combination = Op::Add) \
  X(CumProd,   1, Scan,        None,      false, 0,  "products of the elements up to each one along an axis, in the dtypes of CumSum", .combination = Op::Mul) \
  X(CumMax,    1, Scan,        None,      false, 0,  "the largest of the elements up to each one, NaN if any is, in the dtypes of CumSum", .combination = Op::Max) \
  X(CumMin,    1, Scan,        None,      false, 0,  "the smallest of these elements, NaN if any is", .combination = Op::Min) \
  X(Recurrence, 2, Scan,       None,      false, 0,  "y of each element along an axis, which is the second source's plus the first source's times the y before it; the first y is the second source's. In the dtypes of CumSum, which both sources have", .combination = Op::Add) \
  X(ScatterSum,  2, Scatter,   Numeric,   false, 0,  "for each entry along an axis, the sum of the elements of the second source whose positions, the first source, int64, name it, in their order; 0 of none. A device whose Capabilities::scatters is false refuses it", .combination = Op::Add, .identity = Identity::Zero) \
  X(ScatterProd, 2, Scatter,   Numeric,   false, 0,  "the product of these elements; 1 of none", .combination = Op::Mul, .identity = Identity::One) \
  X(ScatterMax,  2, Scatter,   Same,      false, 0,  "the largest of these elements, NaN if any is; the dtype's lowest of none", .combination = Op::Max, .identity = Identity::Lowest) \
  X(ScatterMin,  2, Scatter,   Same,      false, 0,  "the smallest of these elements, NaN if any is; the dtype's highest of none", .combination = Op::Min, .identity = Identity::Highest) \
  X(ScatterLast, 1, Scatter,   None,      false, 0,  "for each entry along an axis, the number of the last position that names it, int64; -1 of none") \
  X(HostCall,  1, Host,        None,      false, 0,  "what a function of host memory makes of the source. A device whose Capabilities::hosts is false refuses it") \
  X(HostCall2, 2, Host,        None,      false, 0,  "the same of two sources") \
  X(HostCall3, 3, Host,        None,      false, 0,  "the same of three sources")
#define ORIEL_ELEMENTWISE_OPS(X) \
  X(Neg,       1, Elementwise, Numeric,   false, 1,  "-x; wraps for integers", .functor = FunctorKind::Element, .keeps_half = true) \
  X(Abs,       1, Elementwise, Same,      true,  1,  "absolute value; the smallest signed integer stays itself", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "fabs") \
  X(Sign,      1, Elementwise, Same,      true,  1,  "-1, 0 or 1; NaN for NaN", .functor = FunctorKind::Element, .keeps_half = true) \
  X(Exp,       1, Elementwise, Floating,  false, 8,  "e^x", .functor = FunctorKind::Function, .error = {1.3, 0.95, 1.7}, .c_function = "exp") \
  X(Exp2,      1, Elementwise, Floating,  false, 8,  "2^x", .functor = FunctorKind::Function, .error = {1.3, 0.95, 1.7}, .c_function = "exp2") \
  X(Log,       1, Elementwise, Floating,  false, 8,  "natural logarithm", .functor = FunctorKind::Function, .error = {1.5, 1.5, 1.6}, .c_function = "log") \
  X(Log2,      1, Elementwise, Floating,  false, 8,  "logarithm to base 2", .functor = FunctorKind::Function, .error = {2, 2, 1.8}, .c_function = "log2") \
  X(Sqrt,      1, Elementwise, Floating,  true,  4,  "square root", .functor = FunctorKind::Element, .c_function = "sqrt") \
  X(Rsqrt,     1, Elementwise, Floating,  false, 5,  "1/sqrt(x)", .functor = FunctorKind::Element, .error = {1.5, 1.5, 1.5}) \
  X(Sin,       1, Elementwise, Floating,  true,  10, "sine, radians", .functor = FunctorKind::Function, .error = {1.6, 1.6, 0.6}, .c_function = "sin") \
  X(Cos,       1, Elementwise, Floating,  false, 10, "cosine, radians", .functor = FunctorKind::Function, .error = {1.6, 1.6, 0.6}, .c_function = "cos") \
  X(Tan,       1, Elementwise, Floating,  true,  16, "tangent, radians", .functor = FunctorKind::Function, .error = {2.6, 2.6, 2.3, 1.2}, .c_function = "tan") \
  X(Tanh,      1, Elementwise, Floating,  true,  8,  "hyperbolic tangent", .functor = FunctorKind::Function, .error = {1.6, 1.1, 2.2}, .c_function = "tanh") \
  X(Erf,       1, Elementwise, Floating,  true,  10, "error function", .functor = FunctorKind::Function, .error = {1.63, 1.02, 1.1}, .c_function = "erf") \
  X(Expm1,     1, Elementwise, Floating,  true,  16, "e^x - 1, without the loss of places near 0", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "expm1") \
  X(Log1p,     1, Elementwise, Floating,  true,  16, "log(1 + x), without the loss of places near 0", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "log1p") \
  X(Log10,     1, Elementwise, Floating,  false, 16, "logarithm to base 10", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "log10") \
  X(Asin,      1, Elementwise, Floating,  true,  32, "arc sine, in [-pi/2, pi/2]", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "asin") \
  X(Acos,      1, Elementwise, Floating,  false, 32, "arc cosine, in [0, pi]", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "acos") \
  X(Atan,      1, Elementwise, Floating,  true,  28, "arc tangent, in [-pi/2, pi/2]", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "atan") \
  X(Sinh,      1, Elementwise, Floating,  true,  20, "hyperbolic sine", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "sinh") \
  X(Cosh,      1, Elementwise, Floating,  false, 18, "hyperbolic cosine", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "cosh") \
  X(Asinh,     1, Elementwise, Floating,  true,  24, "inverse hyperbolic sine", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "asinh") \
  X(Acosh,     1, Elementwise, Floating,  false, 24, "inverse hyperbolic cosine; NaN below 1", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "acosh") \
  X(Atanh,     1, Elementwise, Floating,  true,  24, "inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond", .functor = FunctorKind::Function, .error = {0.51, 0.51, 2}, .c_function = "atanh") \
  X(Erfc,      1, Elementwise, Floating,  false, 32, "1 - erf(x), without the loss of places for large x", .functor = FunctorKind::Function, .error = {0.51, 0.51, 5}, .c_function = "erfc") \
  X(Floor,     1, Elementwise, Same,      true,  1,  "towards minus infinity", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "floor") \
  X(Ceil,      1, Elementwise, Same,      true,  1,  "towards plus infinity", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "ceil") \
  X(Round,     1, Elementwise, Same,      true,  1,  "to nearest, halves to even", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "rint") \
  X(Trunc,     1, Elementwise, Same,      true,  1,  "towards zero", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "trunc") \
  X(IsNan,     1, Elementwise, FloatTest, true,  1,  "true for NaN", .functor = FunctorKind::Element) \
  X(IsInf,     1, Elementwise, FloatTest, true,  1,  "true for an infinity", .functor = FunctorKind::Element) \
  X(Not,       1, Elementwise, Integral,  false, 1,  "bitwise complement; logical for bool", .functor = FunctorKind::Element) \
  X(Cast,      1, Elementwise, Convert,   true,  1,  "to another dtype: integers wrap, floats to integers saturate and NaN gives 0, bool is x != 0") \
  X(Bitcast,   1, Elementwise, Convert,   true,  1,  "same bits, another dtype of the same width") \
  X(Add,       2, Elementwise, Same,      true,  1,  "x + y; or for bool", .functor = FunctorKind::Element, .packets = Packets::All) \
  X(Sub,       2, Elementwise, Numeric,   true,  1,  "x - y", .functor = FunctorKind::Element) \
  X(Mul,       2, Elementwise, Same,      true,  1,  "x * y; and for bool", .functor = FunctorKind::Element, .packets = Packets::All) \
  X(Div,       2, Elementwise, Floating,  false, 4,  "x / y", .functor = FunctorKind::Element) \
  X(FloorDiv,  2, Elementwise, Numeric,   false, 8,  "quotient towards minus infinity: by what x - y*q is Remainder; integers by 0 give 0", .functor = FunctorKind::Quick) \
  X(TruncDiv,  2, Elementwise, Numeric,   false, 8,  "quotient towards zero, of floats the rounded one; integers by 0 give 0", .functor = FunctorKind::Element) \
  X(Remainder, 2, Elementwise, Numeric,   false, 10, "x - y*floor(x/y): sign of y; integers by 0 give 0", .functor = FunctorKind::Quick) \
  X(Fmod,      2, Elementwise, Numeric,   false, 10, "x - y*trunc(x/y): sign of x; integers by 0 give 0", .functor = FunctorKind::Quick) \
  X(Pow,       2, Elementwise, Numeric,   false, 20, "x^y; integers wrap, a negative exponent gives the quotient towards zero, 0 for base 0", .functor = FunctorKind::Function, .error = {0.9, 0.95, 0.9}, .c_function = "pow") \
  X(Atan2,     2, Elementwise, Floating,  true,  24, "angle of the point whose height is the first and whose length is the second, in [-pi, pi]", .functor = FunctorKind::Function, .error = {1.5, 1.5, 1.9, 0.98}, .c_function = "atan2") \
  X(Hypot,     2, Elementwise, Floating,  true,  12, "sqrt(x^2 + y^2), without overflow; infinite if either is, even beside NaN", .functor = FunctorKind::Function, .error = {0.51, 0.51, 1}, .c_function = "hypot") \
  X(Copysign,  2, Elementwise, Floating,  true,  1,  "the magnitude of x with the sign of y", .functor = FunctorKind::Element, .keeps_half = true, .c_function = "copysign") \
  X(AbsAdd,    2, Elementwise, Floating,  true,  2,  "|x| + |y|", .functor = FunctorKind::Element) \
  X(Min,       2, Elementwise, Same,      true,  1,  "smaller; NaN if either is", .functor = FunctorKind::Element, .keeps_half = true, .packets = Packets::NanApart) \
  X(Max,       2, Elementwise, Same,      true,  1,  "larger; NaN if either is", .functor = FunctorKind::Element, .keeps_half = true, .packets = Packets::NanApart) \
  X(And,       2, Elementwise, Integral,  true,  1,  "bitwise and", .functor = FunctorKind::Element) \
  X(Or,        2, Elementwise, Integral,  true,  1,  "bitwise or", .functor = FunctorKind::Element) \
  X(Xor,       2, Elementwise, Integral,  true,  1,  "bitwise exclusive or", .functor = FunctorKind::Element) \
  X(Shl,       2, Elementwise, Integer,   true,  1,  "x * 2^y, wrapping; 0 where y is negative or at least the width", .functor = FunctorKind::Element) \
  X(Shr,       2, Elementwise, Integer,   true,  1,  "floor(x / 2^y); y negative or at least the width: the sign fill", .functor = FunctorKind::Element) \
  X(Philox,    2, Elementwise, Word,      false, 32, "words 0 and 1 of Philox 4x32-10 for the counter x < 2^63 and the key y; words 2 and 3 if bit 63 of x is set too", .functor = FunctorKind::Element) \
  X(Eq,        2, Elementwise, Compare,   false, 1,  "x == y", .functor = FunctorKind::Element) \
  X(Ne,        2, Elementwise, Compare,   true,  1,  "x != y", .functor = FunctorKind::Element) \
  X(Lt,        2, Elementwise, Compare,   true,  1,  "x < y", .functor = FunctorKind::Element) \
  X(Le,        2, Elementwise, Compare,   false, 1,  "x <= y", .functor = FunctorKind::Element) \
  X(Where,     3, Elementwise, Select,    true,  1,  "c ? x : y", .functor = FunctorKind::Element, .keeps_half = true)
#define ORIEL_REDUCTIONS(X) \
  X(Sum,       1, Reduce,      Numeric,   false, 1,  "sum over axes; 0 when empty", .combination = Op::Add, .identity = Identity::Zero, .windows = true, .starts = true) \
  X(SumAbs,    1, Reduce,      Floating,  false, 1,  "sum of absolute values over axes; 0 when empty", .combination = Op::AbsAdd, .identity = Identity::Zero, .starts = true) \
  X(Prod,      1, Reduce,      Numeric,   false, 1,  "product over axes; 1 when empty", .combination = Op::Mul, .identity = Identity::One) \
  X(ReduceMax, 1, Reduce,      Same,      false, 1,  "largest over axes; NaN if any is; the dtype's lowest when empty", .combination = Op::Max, .identity = Identity::Lowest, .windows = true) \
  X(ReduceMin, 1, Reduce,      Same,      false, 1,  "smallest over axes; NaN if any is; the dtype's highest when empty", .combination = Op::Min, .identity = Identity::Highest, .windows = true) \
  X(ReduceOr,  1, Reduce,      Integral,  false, 1,  "bitwise or over axes; 0 when empty", .combination = Op::Or, .identity = Identity::Zero) \
  X(ReduceAnd, 1, Reduce,      Integral,  false, 1,  "bitwise and over axes; all bits set when empty", .combination = Op::And, .identity = Identity::Ones)
#define ORIEL_OPS(X) ORIEL_LEAVES(X) ORIEL_MOVEMENTS(X) ORIEL_OTHER_OPS(X) ORIEL_ELEMENTWISE_OPS(X) ORIEL_REDUCTIONS(X)

// Where the functor has another name than the op. X(op, kind of dtype, functor)
#define ORIEL_OTHER_FUNCTORS(X) \
  X(Add, Bool,    Or) \
  X(Mul, Bool,    And) \
  X(Not, Bool,    LogicalNot) \
  X(Pow, Integer, IntegerPow)
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
  // Movements. What else they are is in graph/movements.hpp.
  Takes takes = Takes::None;
  Elements elements = Elements::Any;
  LayoutRule layout = LayoutRule::Any;
  // Elementwise.
  FunctorKind functor = FunctorKind::None;
  bool keeps_half = false;  // computed in float32, the result on halves is a half
  ErrorBounds error = {};
  std::string_view c_function = {};  // C's and OpenCL's function of floats with this meaning
  Packets packets = Packets::None;   // in the loops of reductions that combine by it
  // Reductions and scatters: of two values, and of none. Scans: of two values.
  Op combination = Op::Buffer;
  Identity identity = Identity::None;
  bool windows = false;  // backends have loops for it over overlapping windows
  bool starts = false;   // of floats: the identity changes some elements (0 + -0 is 0), so each is combined with it
};

inline constexpr OpRow kOpTable[] = {
#define ORIEL_OP_ROW(op_, arity_, class_, rule_, zero_, cost_, doc_, ...) \
  {.op = Op::op_,                                                         \
   .name = #op_,                                                          \
   .arity = arity_,                                                       \
   .op_class = OpClass::class_,                                           \
   .rule = DTypeRule::rule_,                                              \
   .keeps_zero = zero_,                                                   \
   .cost = cost_,                                                         \
   .doc = doc_ __VA_OPT__(, ) __VA_ARGS__},
    ORIEL_OPS(ORIEL_OP_ROW)
#undef ORIEL_OP_ROW
};
inline constexpr int kOpCount = static_cast<int>(std::size(kOpTable));

constexpr const OpRow& row(Op op) noexcept { return kOpTable[static_cast<int>(op)]; }
constexpr std::string_view name(Op op) noexcept { return row(op).name; }
constexpr bool is_movement(Op op) noexcept { return row(op).op_class == OpClass::Movement; }
constexpr bool is_elementwise(Op op) noexcept { return row(op).op_class == OpClass::Elementwise; }
constexpr bool is_sort(Op op) noexcept { return row(op).op_class == OpClass::Sort; }
constexpr bool is_scan(Op op) noexcept { return row(op).op_class == OpClass::Scan; }
constexpr bool is_host(Op op) noexcept { return row(op).op_class == OpClass::Host; }
/// Elements of a run: a scan combines the elements of a run one after the other, and each run with what is before it.
inline constexpr std::int64_t kScanRun = 128;
constexpr bool is_scatter(Op op) noexcept { return row(op).op_class == OpClass::Scatter; }
/// Sorts, scans, scatters and calls of the host: a kernel of this op has no other, and reads memory.
constexpr bool runs_alone(Op op) noexcept { return is_sort(op) || is_scan(op) || is_scatter(op) || is_host(op); }
constexpr bool is_reduce(Op op) noexcept { return row(op).op_class == OpClass::Reduce; }

/// Is the result bool, whatever the operands are?
constexpr bool gives_bool(Op op) noexcept {
  return row(op).rule == DTypeRule::Compare || row(op).rule == DTypeRule::FloatTest;
}

enum class Kind : std::uint8_t { Bool, Integer, Float };
constexpr Kind kind(DType dtype) noexcept {
  switch (dtype) {
    case DType::bool_:
      return Kind::Bool;
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
      return Kind::Float;
    default:
      return Kind::Integer;
  }
}

/// Does the op take operands of this kind of dtype? (Where: its branches.)
constexpr bool takes(Op op, Kind kind) noexcept {
  switch (row(op).rule) {
    case DTypeRule::Numeric:
      return kind != Kind::Bool;
    case DTypeRule::Floating:
      return kind == Kind::Float;
    case DTypeRule::Integral:
      return kind != Kind::Float;
    case DTypeRule::Integer:
    case DTypeRule::Word:
      return kind == Kind::Integer;
    default:
      return true;
  }
}
constexpr bool takes(Op op, DType dtype) noexcept {
  return row(op).rule == DTypeRule::Word ? dtype == DType::uint64 : takes(op, kind(dtype));
}

/// The name of the functor of an elementwise op.
constexpr std::string_view functor(Op op, DType dtype) noexcept {
#define ORIEL_OTHER_FUNCTOR(op_, kind_, functor_) \
  if (op == Op::op_ && kind(dtype) == Kind::kind_) return #functor_;
  ORIEL_OTHER_FUNCTORS(ORIEL_OTHER_FUNCTOR)
#undef ORIEL_OTHER_FUNCTOR
  return name(op);
}

/// The identity of a reduction. Bool has no other numbers than 0 and 1.
constexpr Identity identity(Op op, DType dtype) noexcept {
  const Identity identity = row(op).identity;
  if (dtype != DType::bool_) return identity;
  return identity == Identity::Lowest                                  ? Identity::Zero
         : identity == Identity::Highest || identity == Identity::Ones ? Identity::One
                                                                       : identity;
}
constexpr std::string_view name(Identity identity) noexcept {
  constexpr std::string_view kNames[] = {"None", "Zero", "One", "Ones", "Lowest", "Highest"};
  return kNames[static_cast<int>(identity)];
}

/// The number of a reduction among the reductions: 0, 1, ...; they are the last rows.
inline constexpr int kReduceCount = [] {
  int count = 0;
  for (const OpRow& r : kOpTable) count += r.op_class == OpClass::Reduce ? 1 : 0;
  return count;
}();
constexpr int reduce_index(Op op) noexcept { return static_cast<int>(op) - (kOpCount - kReduceCount); }

// A row without a part that its class needs does not compile.
constexpr bool complete() noexcept {
  for (const OpRow& r : kOpTable) {
    const bool conversion = r.rule == DTypeRule::Convert;
    if ((r.op_class == OpClass::Elementwise && !conversion) != (r.functor != FunctorKind::None)) return false;
    if ((r.op_class == OpClass::Movement) != (r.takes != Takes::None)) return false;
    const bool combines = r.op_class == OpClass::Reduce || (r.op_class == OpClass::Scatter && r.arity == 2);
    if (combines != (r.identity != Identity::None)) return false;
    if (r.op_class == OpClass::Reduce && (reduce_index(r.op) < 0 || !is_elementwise(r.combination))) return false;
    if (r.starts && r.identity != Identity::Zero) return false;
    if ((r.op_class == OpClass::Scan || (r.op_class == OpClass::Scatter && combines)) && !is_elementwise(r.combination))
      return false;
    if (r.functor == FunctorKind::Function && (r.error.float32 == 0 || r.error.float64 == 0)) return false;
  }
  return true;
}
static_assert(complete());

}  // namespace oriel::ops
