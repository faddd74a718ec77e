#include "lang/index/index.hpp"

#include <algorithm>

namespace oriel::lang {

using sym::Kind;

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

}  // namespace oriel::lang
