#include "lang/index/index.hpp"

#include <algorithm>
#include <string>

#include "sym/build.hpp"

namespace oriel::lang {

using sym::Kind;

namespace {

constexpr std::size_t kMaxSteps = 4096;

Interval range_of(DType dtype) {
  const auto bits = static_cast<int>(8 * itemsize(dtype));
  if (dtype == DType::bool_) return Interval::truth();
  if (is_unsigned(dtype)) {
    return {0, bits == 64 ? Interval::kInfinity : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)};
  }
  if (bits == 64) return {};
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return {-half, half - 1};
}

class Translator {
 public:
  Translator(IndexBuilder& builder, const Program& program, std::span<const sym::Expr> sizes)
      : b_(builder), pool_(builder.pool()), p_(program), sizes_(sizes) {}

  sym::Expr number(ExprId id) {
    const sym::Expr e = run(id);
    return e->is_condition() ? sym::select(e, pool_.constant(1), pool_.constant(0)) : e;
  }
  sym::Expr condition(ExprId id) {
    const sym::Expr e = run(id);
    return e->is_condition() ? e : sym::ne(e, pool_.constant(0));
  }

 private:
  // A number, or a condition for some expressions of dtype bool.
  sym::Expr run(ExprId id) {
    const Expr& expr = p_.definition[id];
    if (++steps_ > kMaxSteps) fail(p_.source(), ErrorKind::Parse, expr.span, "the index expression is too long");
    if (is_floating(expr.dtype)) return b_.read({});
    switch (expr.kind) {
      case ExprKind::Integer:
        return pool_.constant(expr.integer);
      case ExprKind::Size:
        return sizes_[static_cast<std::size_t>(expr.id)];
      case ExprKind::Index:
        return b_.loop(static_cast<std::size_t>(expr.id));
      case ExprKind::Let:
        return run(expr.args[0]);
      case ExprKind::Select:
        return select(expr);
      case ExprKind::Cast:
        return cast(expr);
      case ExprKind::Operation:
        return operation(expr);
      default:
        return b_.read(range_of(expr.dtype));
    }
  }

  sym::Expr select(const Expr& expr) {
    const sym::Expr c = condition(expr.args[0]);
    if (expr.dtype != DType::bool_) {
      const sym::Expr yes = number(expr.args[1]);
      return sym::select(c, yes, number(expr.args[2]));
    }
    const sym::Expr yes = condition(expr.args[1]);
    return sym::logical_and(sym::logical_or(sym::logical_not(c), yes), sym::logical_or(c, condition(expr.args[2])));
  }

  sym::Expr cast(const Expr& expr) {
    const DType from = p_.definition[expr.args[0]].dtype;
    if (is_floating(from)) return b_.read(range_of(expr.dtype));
    if (expr.dtype == DType::bool_) return condition(expr.args[0]);
    const sym::Expr value = number(expr.args[0]);
    if (itemsize(expr.dtype) >= 4 && !is_unsigned(expr.dtype)) return value;  // indices are far smaller than 32 bits
    if (itemsize(expr.dtype) == 8) return value;
    const Interval range = range_of(expr.dtype);
    const sym::Expr period = pool_.constant(range.hi - range.lo + 1);
    return sym::add(sym::mod(sym::add(value, -range.lo), period), range.lo);
  }

  sym::Expr operation(const Expr& expr) {
    if (expr.op == Operator::Not) return sym::logical_not(condition(expr.args[0]));
    if (expr.op == Operator::Neg) return sym::neg(number(expr.args[0]));
    for (const ExprId argument : expr.args) {
      if (is_floating(p_.definition[argument].dtype)) return b_.read(Interval::truth());  // a comparison of floats
    }
    if (expr.op == Operator::And || expr.op == Operator::Or) {
      const sym::Expr a = condition(expr.args[0]);
      const sym::Expr b = condition(expr.args[1]);
      return expr.op == Operator::And ? sym::logical_and(a, b) : sym::logical_or(a, b);
    }
    const sym::Expr x = number(expr.args[0]);
    const sym::Expr y = number(expr.args[1]);
    switch (expr.op) {
      case Operator::Add:
        return sym::add(x, y);
      case Operator::Sub:
        return sym::sub(x, y);
      case Operator::Mul:
        return x->is_constant() || y->is_constant() ? sym::mul(x, y) : sym::product_of(x, y);
      case Operator::Div:
        check_divisor(expr, y);
        return quotient(x, y);
      case Operator::Mod:
        check_divisor(expr, y);
        return sym::mod(x, sym::max(sym::max(y, sym::neg(y)), pool_.constant(0)));
      case Operator::Min:
        return sym::min(x, y);
      case Operator::Max:
        return sym::max(x, y);
      case Operator::Lt:
        return sym::lt(x, y);
      case Operator::Gt:
        return sym::gt(x, y);
      case Operator::Le:
        return sym::le(x, y);
      case Operator::Ge:
        return sym::ge(x, y);
      case Operator::Eq:
        return sym::eq(x, y);
      default:
        return sym::ne(x, y);
    }
  }

  void check_divisor(const Expr& expr, sym::Expr divisor) const {
    if (divisor->is_constant(0)) {
      fail(p_.source(), ErrorKind::Overflow, expr.span, "an index expression divides by zero");
    }
  }

  // Where a divisor is 0 the index has no value, which is an error. So only divisors that are numbers, or sizes of
  // at least 1, may cancel.
  static sym::Expr quotient(sym::Expr x, sym::Expr y) {
    const auto cancels = [](sym::Expr e) { return e->is_constant() || (is_size_symbol(e) && e->bounds.lo >= 1); };
    const auto kept = [&](sym::Expr e) { return e->kind == sym::Kind::floor_div && !cancels(e->args[1]); };
    const bool inner = kept(x) || (x->kind == sym::Kind::sum && std::ranges::any_of(x->args, kept));
    return cancels(y) && !inner ? sym::floor_div(x, y) : sym::written_floor_div(x, y);
  }

  IndexBuilder& b_;
  sym::Pool& pool_;
  const Program& p_;
  std::span<const sym::Expr> sizes_;
  std::size_t steps_ = 0;
};

}  // namespace

bool is_linear(sym::Expr e) noexcept {
  if (e->kind == Kind::constant || e->kind == Kind::loop) return true;
  return e->kind == Kind::sum && std::ranges::all_of(e->args, [](sym::Expr arg) { return arg->kind == Kind::loop; });
}

std::int64_t Linear::coefficient(std::int32_t loop) const noexcept {
  for (const auto [variable, coefficient] : *this) {
    if (variable == loop) return coefficient;
  }
  return 0;
}

IndexVariables index_variables(sym::Expr e) {
  IndexVariables out;
  if (is_linear(e)) {
    for (const auto [variable, coefficient] : Linear(e)) out.loops.push_back(variable);
    return out;
  }
  sym::visit(e, [&](sym::Expr node) {
    if (node->kind == Kind::loop) out.loops.push_back(static_cast<std::int32_t>(node->value));
    out.reads = out.reads || (node->kind == Kind::symbol && !is_size_symbol(node));
  });
  std::ranges::sort(out.loops);
  return out;
}

std::optional<Interval> differences(Kind comparison) noexcept {
  switch (comparison) {
    case Kind::lt:
      return Interval::at_least(1);
    case Kind::le:
      return Interval::at_least(0);
    case Kind::gt:
      return -Interval::at_least(1);
    case Kind::ge:
      return -Interval::at_least(0);
    case Kind::eq:
      return Interval::point(0);
    default:
      return {};
  }
}

Interval range_over(sym::Expr e, std::span<const Interval> box) {
  if (is_linear(e)) {
    const Linear linear(e);
    Interval sum = Interval::point(linear.constant());
    for (const auto [variable, coefficient] : linear) {
      sum = sum + Interval::point(coefficient) * box[static_cast<std::size_t>(variable)];
    }
    return sum;
  }
  sym::Program program(e);
  std::vector<Interval> ranges;
  for (const sym::Expr variable : program.variables()) {
    ranges.push_back(variable->kind == Kind::loop ? box[static_cast<std::size_t>(variable->value)] : variable->bounds);
  }
  return program.ranges(ranges, true)[0];
}

sym::Outcome IndexValues::outcome(std::span<const std::int64_t> point) {
  const std::vector<sym::Expr>& variables = program_.variables();
  for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = point[static_cast<std::size_t>(variables[k]->value)];
  return program_.run(values_)[0];
}

std::int64_t IndexValues::at(std::span<const std::int64_t> point) {
  const sym::Outcome found = outcome(point);
  if (found.fault != sym::Outcome::Fault::none) throw detail::ArithmeticOverflow();
  return found.value;
}

sym::Expr IndexBuilder::loop(std::size_t number) {
  while (loops_.size() <= number) {
    loops_.push_back(pool_.loop("i" + std::to_string(loops_.size()), {}, static_cast<std::int64_t>(loops_.size())));
  }
  return loops_[number];
}

sym::Expr IndexBuilder::read(Interval range) { return pool_.symbol("read", range, reads_++); }

sym::Expr IndexBuilder::size_symbol(std::string_view name, Interval range) { return pool_.symbol(name, range, -1); }

sym::Expr IndexBuilder::number(const Program& program, ExprId expression, std::span<const sym::Expr> sizes) {
  return Translator(*this, program, sizes).number(expression);
}

sym::Expr IndexBuilder::condition(const Program& program, ExprId expression, std::span<const sym::Expr> sizes) {
  return Translator(*this, program, sizes).condition(expression);
}

}  // namespace oriel::lang
