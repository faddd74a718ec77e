#include "lang/derive_expression.hpp"

#include <utility>

#include "lang/builtins.hpp"
#include "lang/syntax/program.hpp"
#include "ops/partials.hpp"

namespace oriel::lang {

ExprId Maker::add(Expr expr) {
  for (const ExprId argument : expr.args) expr.reads = expr.reads || d_[argument].reads;
  d_.pool.push_back(std::move(expr));
  return static_cast<ExprId>(d_.pool.size() - 1);
}

std::optional<double> Maker::value(ExprId id) const {
  const Expr& expr = d_[id];
  if (expr.kind == ExprKind::Float) return expr.number;
  if (expr.kind == ExprKind::Integer && expr.dtype != DType::bool_) return static_cast<double>(expr.integer);
  return std::nullopt;
}

ExprId Maker::number(double value) {
  if (value < 0) return negative(number(-value));
  Expr expr;
  expr.kind = ExprKind::Float;
  expr.dtype = DType::float32;
  expr.number = value;
  return add(std::move(expr));
}

ExprId Maker::name(std::string text) {
  Expr expr;
  expr.kind = ExprKind::Name;
  expr.name = keep(std::move(text));
  return add(std::move(expr));
}

ExprId Maker::call(std::string_view function, std::initializer_list<ExprId> args) {
  Expr expr;
  expr.kind = ExprKind::Call;
  expr.name = function;
  expr.args = args;
  expr.dtype = DType::float32;
  for (const ExprId argument : args) expr.dtype = promote_values(expr.dtype, dtype(argument));
  return add(std::move(expr));
}

ExprId Maker::read(std::string tensor, const InlineVector<ExprId, 3>& args, DType dtype) {
  Expr expr;
  expr.kind = ExprKind::Apply;
  expr.name = keep(std::move(tensor));
  expr.args = args;
  expr.dtype = dtype;
  expr.reads = true;
  return add(std::move(expr));
}

ExprId Maker::select(ExprId condition, ExprId yes, ExprId no) {
  if (is_number(yes, 0) && is_number(no, 0)) return yes;
  if (const Expr& test = d_[condition]; test.kind == ExprKind::Operation && test.op == Operator::Eq) {
    const std::optional<double> a = value(test.args[0]), b = value(test.args[1]);
    if (a && b) return *a == *b ? yes : no;
  }
  Expr expr;
  expr.kind = ExprKind::Select;
  expr.args = {condition, yes, no};
  expr.dtype = promote_values(dtype(yes), dtype(no));
  return add(std::move(expr));
}

ExprId Maker::cast(DType dtype, ExprId x) {
  Expr expr;
  expr.kind = ExprKind::Cast;
  expr.dtype = dtype;
  expr.args = {x};
  return add(std::move(expr));
}

ExprId Maker::negative(ExprId x) {
  if (d_[x].kind == ExprKind::Operation && d_[x].op == Operator::Neg) return d_[x].args[0];
  Expr expr;
  expr.kind = ExprKind::Operation;
  expr.op = Operator::Neg;
  expr.args = {x};
  expr.dtype = dtype(x);
  return add(std::move(expr));
}

ExprId Maker::operation(Operator op, ExprId a, ExprId b) {
  const auto minus = [&](ExprId id) { return d_[id].kind == ExprKind::Operation && d_[id].op == Operator::Neg; };
  if (op == Operator::Mul || op == Operator::Div) {
    if (is_number(b, 1)) return a;
    if (minus(b)) return negative(operation(op, a, d_[b].args[0]));
    if (minus(a)) return negative(operation(op, d_[a].args[0], b));
    if (const InlineVector<ExprId, 3> args = d_[a].args; d_[a].kind == ExprKind::Select) {
      if (is_number(args[2], 0)) return select(args[0], operation(op, args[1], b), args[2]);
      if (is_number(args[1], 0)) return select(args[0], args[1], operation(op, args[2], b));
    }
  }
  if (op == Operator::Mul && is_number(a, 1)) return b;
  if (op == Operator::Sub && value(a) && value(b)) return number(*value(a) - *value(b));
  const Expr& right = d_[b];
  if (op == Operator::Mul && right.kind == ExprKind::Operation && right.op == Operator::Div &&
      is_number(right.args[0], 1)) {
    return operation(Operator::Div, a, right.args[1]);
  }
  Expr expr;
  expr.kind = ExprKind::Operation;
  expr.op = op;
  expr.args = {a, b};
  const bool condition = (op >= Operator::Lt && op <= Operator::Or);
  expr.dtype = condition ? DType::bool_ : promote_values(dtype(a), dtype(b));
  return add(std::move(expr));
}

namespace {

using ops::kLn10;
using ops::kLn2;
using ops::kTwoOverSqrtPi;
using ops::Op;

/// An expression in the arithmetic that rows of partial derivatives are written in.
struct Partial {
  Maker* make;
  ExprId id;
};

template <class T>
concept Numeric = std::is_arithmetic_v<T>;

ExprId id_of(Maker&, Partial x) { return x.id; }
template <Numeric T>
ExprId id_of(Maker& make, T x) {
  return make.number(static_cast<double>(x));
}

#define ORIEL_LANG_TERM_OPERATOR(symbol, op)                                                            \
  Partial operator symbol(Partial a, Partial b) { return {a.make, a.make->operation(op, a.id, b.id)}; } \
  template <Numeric T>                                                                                  \
  Partial operator symbol(Partial a, T b) {                                                             \
    return a symbol Partial{a.make, id_of(*a.make, b)};                                                 \
  }                                                                                                     \
  template <Numeric T>                                                                                  \
  Partial operator symbol(T a, Partial b) {                                                             \
    return Partial{b.make, id_of(*b.make, a)} symbol b;                                                 \
  }
ORIEL_LANG_TERM_OPERATOR(+, Operator::Add)
ORIEL_LANG_TERM_OPERATOR(-, Operator::Sub)
ORIEL_LANG_TERM_OPERATOR(*, Operator::Mul)
ORIEL_LANG_TERM_OPERATOR(/, Operator::Div)
ORIEL_LANG_TERM_OPERATOR(==, Operator::Eq)
ORIEL_LANG_TERM_OPERATOR(<, Operator::Lt)
ORIEL_LANG_TERM_OPERATOR(>, Operator::Gt)
ORIEL_LANG_TERM_OPERATOR(>=, Operator::Ge)
ORIEL_LANG_TERM_OPERATOR(&, Operator::And)
#undef ORIEL_LANG_TERM_OPERATOR
Partial operator-(Partial x) { return {x.make, x.make->negative(x.id)}; }

#define ORIEL_LANG_TERM_FUNCTION(name) \
  Partial name(Partial x) { return {x.make, x.make->call(#name, {x.id})}; }
ORIEL_LANG_TERM_FUNCTION(exp)
ORIEL_LANG_TERM_FUNCTION(log)
ORIEL_LANG_TERM_FUNCTION(sqrt)
ORIEL_LANG_TERM_FUNCTION(sin)
ORIEL_LANG_TERM_FUNCTION(cos)
ORIEL_LANG_TERM_FUNCTION(sinh)
ORIEL_LANG_TERM_FUNCTION(cosh)
ORIEL_LANG_TERM_FUNCTION(floor)
ORIEL_LANG_TERM_FUNCTION(trunc)
ORIEL_LANG_TERM_FUNCTION(rint)
ORIEL_LANG_TERM_FUNCTION(fabs)
ORIEL_LANG_TERM_FUNCTION(sinpi)
ORIEL_LANG_TERM_FUNCTION(cospi)
#undef ORIEL_LANG_TERM_FUNCTION
template <class T>
Partial pow(Partial x, T y) {
  return {x.make, x.make->call("pow", {x.id, id_of(*x.make, y)})};
}
template <class A, class B>
Partial where(Partial condition, A yes, B no) {
  Maker& make = *condition.make;
  return {&make, make.select(condition.id, id_of(make, yes), id_of(make, no))};
}
Partial sign(Partial x) { return where(x > 0, 1, where(x < 0, -1, 0)); }
Partial finite(Partial x) { return x; }

std::optional<ExprId> of_op(Maker& make, Op op, std::size_t operand, Partial a, Partial b, Partial y) {
  switch (op) {
#define ORIEL_LANG_UNARY_PARTIAL(name, by) \
  case Op::name:                           \
    return id_of(make, by);
#define ORIEL_LANG_BINARY_PARTIAL(name, by_a, by_b) \
  case Op::name:                                    \
    return operand == 0 ? id_of(make, by_a) : id_of(make, by_b);
#define ORIEL_LANG_NO_PARTIAL(name, why) \
  case Op::name:                         \
    return kNoExpr;
    // NOLINTBEGIN(bugprone-branch-clone): rows of a table
    ORIEL_UNARY_PARTIALS(ORIEL_LANG_UNARY_PARTIAL)
    ORIEL_BINARY_PARTIALS(ORIEL_LANG_BINARY_PARTIAL)
    ORIEL_WITHOUT_PARTIALS(ORIEL_LANG_NO_PARTIAL)
    // NOLINTEND(bugprone-branch-clone)
#undef ORIEL_LANG_UNARY_PARTIAL
#undef ORIEL_LANG_BINARY_PARTIAL
#undef ORIEL_LANG_NO_PARTIAL
    case Op::Sqrt:
      return id_of(make, 0.5 / y);
    case Op::Min:  // where both are equal each has half
      return operand == 0 ? where(a < b, 1, where(a == b, 0.5, 0)).id : where(b < a, 1, where(a == b, 0.5, 0)).id;
    case Op::Max:
      return operand == 0 ? where(a > b, 1, where(a == b, 0.5, 0)).id : where(b > a, 1, where(a == b, 0.5, 0)).id;
    default:
      return std::nullopt;
  }
}

// Of functions of several ops (call_values.cpp).
std::optional<ExprId> of_composed(Maker& make, Builtin function, std::size_t operand, Partial a, Partial b, Partial y) {
  constexpr double kPi = std::numbers::pi;
  switch (function) {
    case Builtin::exp10_:
      return id_of(make, y * kLn10);
    case Builtin::cbrt_:
      return id_of(make, 1 / (y * y * 3));
    case Builtin::rcbrt_:
      return id_of(make, y / (a * -3));
    case Builtin::sinpi_:
      return id_of(make, cospi(a) * kPi);
    case Builtin::cospi_:
      return id_of(make, sinpi(a) * -kPi);
    case Builtin::round_:
      return kNoExpr;
    case Builtin::fmin_:
      return of_op(make, Op::Min, operand, a, b, y);
    case Builtin::fmax_:
      return of_op(make, Op::Max, operand, a, b, y);
    case Builtin::remainder_:
      return operand == 0 ? make.number(1) : id_of(make, -rint(a / b));
    case Builtin::fdim_: {
      const Partial kept = where(a > b, 1, where(a == b, 0.5, 0));
      return operand == 0 ? kept.id : (-kept).id;
    }
    case Builtin::fma_:
      return operand == 0 ? b.id : operand == 1 ? a.id : make.number(1);
    default:
      return std::nullopt;
  }
}

std::optional<Op> op_of(Operator op) {
  switch (op) {
    case Operator::Neg:
      return Op::Neg;
    case Operator::Add:
      return Op::Add;
    case Operator::Sub:
      return Op::Sub;
    case Operator::Mul:
      return Op::Mul;
    case Operator::Div:
      return Op::Div;
    case Operator::Min:
      return Op::Min;
    case Operator::Max:
      return Op::Max;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ExprId> partial(Maker& make, const Definition& definition, ExprId id, std::size_t operand) {
  const Expr expr = definition[id];  // NOLINT(performance-unnecessary-copy-initialization): what is made may move it
  const Partial a{&make, expr.args[0]}, b{&make, expr.args[expr.args.size() > 1 ? 1 : 0]}, y{&make, id};
  if (expr.kind == ExprKind::Operation) {
    if (expr.op == Operator::Mod)  // Euclidean: the remainder by the divisor's size
      return operand == 0 ? make.number(1) : id_of(make, -(floor(a / fabs(b)) * sign(b)));
    const std::optional<Op> op = op_of(expr.op);
    return op ? of_op(make, *op, operand, a, b, y) : std::nullopt;
  }
  const BuiltinRow& row = kBuiltins[static_cast<std::size_t>(expr.id)];
  return row.op ? of_op(make, *row.op, operand, a, b, y) : of_composed(make, row.id, operand, a, b, y);
}

}  // namespace oriel::lang
