#include "sym/program.hpp"

#include <algorithm>
#include <string>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/polynomial_range.hpp"
#include "sym/size_arithmetic.hpp"

namespace oriel::sym {
namespace {

using Fault = Outcome::Fault;
using arithmetic::Size;

/// The arguments of a step, as sizes.
struct StepArguments {
  const Outcome* outcomes;
  const std::uint32_t* arguments;
  Size operator[](int k) const noexcept {
    const Outcome& outcome = outcomes[arguments[k]];
    return {outcome.value, outcome.fault == Fault::none};
  }
};

// A size without a value whose arguments have values does not fit.
Outcome outcome_of(Size size) noexcept { return {size.value, size.known ? Fault::none : Fault::overflow}; }

Interval compared(Kind kind, Interval a, Interval b) noexcept {
  const std::optional<bool> known = known_relation(kind, a, b);
  return known ? Interval::point(*known ? 1 : 0) : Interval::truth();
}

void sort_variables(std::vector<Expr>& variables) {
  std::ranges::sort(variables, [](Expr a, Expr b) { return compare(a, b) < 0; });
}

}  // namespace

std::vector<Expr> variables_of(std::span<const Expr> roots) {
  std::vector<Expr> found;
  visit(roots, [&](Expr node) {
    if (node->is_variable()) found.push_back(node);
  });
  sort_variables(found);
  return found;
}

Expr substitute(Expr root, const Replacements& replacements) {
  NodeTable<Expr> made;
  std::vector<Expr> args;
  visit(root, [&](Expr node) {
    if (const auto found = replacements.find(node); found != replacements.end()) {
      made.insert(node, found->second);
      return;
    }
    args.clear();
    bool changed = false;
    for (const Expr arg : node->args) {
      args.push_back(*made.find(arg));
      changed |= args.back() != arg;
    }
    made.insert(node, changed ? rebuild(node, args) : node);
  });
  return *made.find(root);
}

Expr moved(Expr root, Pool& into, const Replacements& variables) {
  NodeTable<Expr> made;
  std::vector<Expr> args;
  visit(root, [&](Expr node) {
    args.clear();
    for (const Expr arg : node->args) args.push_back(*made.find(arg));
    made.insert(node, node->is_variable()            ? variables.at(node)
                      : node->kind == Kind::constant ? into.constant(node->value)
                      : node->kind == Kind::truth    ? into.truth(node->value != 0)
                                                     : rebuild(node, args));
  });
  return *made.find(root);
}

Program::Program(std::span<const Expr> roots) {
  NodeTable<std::uint32_t> index;
  visit(roots, [&](Expr node) {
    const Instruction step{node, static_cast<std::uint32_t>(arguments_.size())};
    for (const Expr arg : node->args) arguments_.push_back(*index.find(arg));
    index.insert(node, static_cast<std::uint32_t>(steps_.size()));
    steps_.push_back(step);
    if (node->is_variable()) variables_.push_back(node);
  });
  sort_variables(variables_);
  for (const Expr variable : variables_) variable_steps_.push_back(*index.find(variable));
  for (const Expr root : roots) roots_.push_back(*index.find(root));
  outcomes_.resize(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Node& node = *steps_[k].node;
    if (node.is_constant()) {
      outcomes_[k] = {node.value, Fault::none};
    } else if (!node.is_variable()) {
      computed_.push_back(static_cast<std::uint32_t>(k));
    }
  }
  results_.resize(roots.size());
  result_ranges_.resize(roots.size());
}

std::span<const Outcome> Program::run(std::span<const std::int64_t> values) {
  compute_all(values, outcomes_.data(), results_);
  return results_;
}

void Program::run(std::span<const std::int64_t> values, std::span<Outcome> work, std::span<Outcome> out) const {
  std::ranges::copy(outcomes_, work.begin());  // for the constants
  compute_all(values, work.data(), out);
}

void Program::compute_all(std::span<const std::int64_t> values, Outcome* outcomes, std::span<Outcome> out) const {
  for (std::size_t k = 0; k < variables_.size(); ++k) outcomes[variable_steps_[k]] = {values[k], Fault::none};
  for (const std::uint32_t k : computed_) outcomes[k] = compute(steps_[k], outcomes);
  for (std::size_t k = 0; k < roots_.size(); ++k) out[k] = outcomes[roots_[k]];
}

Outcome Program::compute(const Instruction& step, const Outcome* outcomes) const {
  const Node& node = *step.node;
  const std::size_t count = node.args.size();
  const int n = static_cast<int>(count);
  const auto arg = [&](std::size_t k) { return outcomes[arguments_[step.first + k]]; };
  const StepArguments sizes{outcomes, arguments_.data() + step.first};
  if (node.kind == Kind::logical_and || node.kind == Kind::logical_or) {
    const Size result = arithmetic::any_or_all(sizes, n, node.kind == Kind::logical_or ? 1 : 0);
    if (result.known) return outcome_of(result);
  }
  if (node.kind == Kind::select && arg(0).fault == Fault::none) return arg(arg(0).value != 0 ? 1 : 2);
  for (std::size_t k = 0; k < count; ++k) {
    if (arg(k).fault != Fault::none) return arg(k);
  }
  switch (node.kind) {
    case Kind::floor_div:
    case Kind::mod:
      if (arg(1).value == 0) return {0, Fault::zero_divisor};
      return outcome_of(node.kind == Kind::mod ? arithmetic::mod(sizes[0], sizes[1])
                                               : arithmetic::floor_div(sizes[0], sizes[1]));
    case Kind::min:
      return outcome_of(arithmetic::least_size(sizes, n));
    case Kind::max:
      return outcome_of(arithmetic::largest_size(sizes, n));
    case Kind::product:
      return outcome_of(arithmetic::product(sizes, n));
    case Kind::sum:
      return outcome_of(arithmetic::sum(node.value, node.coefficients.data(), sizes, n));
    case Kind::predicate:
    case Kind::not_predicate: {
      std::vector<std::int64_t> values;
      for (std::size_t k = 0; k < count; ++k) values.push_back(arg(k).value);
      return {node.function(values) == (node.kind == Kind::predicate) ? 1 : 0, Fault::none};
    }
    default:
      return {holds(node.kind, arg(0).value, arg(1).value) ? 1 : 0, Fault::none};
  }
}

std::span<const Interval> Program::ranges(std::span<const Interval> ranges, bool zero_divisors) {
  ranges_.resize(steps_.size());
  for (std::size_t k = 0; k < variables_.size(); ++k) ranges_[variable_steps_[k]] = ranges[k];
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (!steps_[k].node->is_variable()) ranges_[k] = enclose(steps_[k], zero_divisors);
  }
  for (std::size_t k = 0; k < roots_.size(); ++k) result_ranges_[k] = ranges_[roots_[k]];
  return result_ranges_;
}

Interval Program::enclose(const Instruction& step, bool zero_divisors) const {
  const Node& node = *step.node;
  const std::size_t count = node.args.size();
  const auto arg = [&](std::size_t k) { return ranges_[arguments_[step.first + k]]; };
  switch (node.kind) {
    case Kind::constant:
    case Kind::truth:
      return node.bounds;
    case Kind::floor_div:
      return floor_div(arg(0), zero_divisors ? arg(1) : nonzero(arg(1)));
    case Kind::mod:
      if (zero_divisors && arg(1).contains(0)) {
        const Interval zero = Interval::point(0);
        return arg(1) == zero ? zero : hull(mod(arg(0), nonzero(arg(1))), zero);
      }
      return mod(arg(0), nonzero(arg(1)));
    case Kind::min:
    case Kind::max: {
      Interval result = arg(0);
      for (std::size_t k = 1; k < count; ++k)
        result = node.kind == Kind::min ? min(result, arg(k)) : max(result, arg(k));
      return result;
    }
    case Kind::select: {
      const Interval condition = arg(0);
      return condition.is_point() ? arg(condition.lo != 0 ? 1 : 2) : hull(arg(1), arg(2));
    }
    case Kind::product: {
      Interval result = Interval::point(1);
      for (std::size_t k = 0; k < count;) {
        std::size_t end = k;
        while (end < count && node.args[end] == node.args[k]) ++end;
        result = result * power(arg(k), std::int64_t(end - k));
        k = end;
      }
      return result;
    }
    case Kind::sum: {
      Interval result = Interval::point(node.value);
      for (std::size_t k = 0; k < count; ++k) result = result + Interval::point(node.coefficients[k]) * arg(k);
      return result;
    }
    case Kind::logical_and:
    case Kind::logical_or: {
      Interval result = arg(0);
      for (std::size_t k = 1; k < count; ++k) {
        result = node.kind == Kind::logical_and ? min(result, arg(k)) : max(result, arg(k));
      }
      return result;
    }
    case Kind::predicate:
    case Kind::not_predicate:
      return Interval::truth();
    default:
      return compared(node.kind, arg(0), arg(1));
  }
}

std::int64_t evaluate(Expr expr, const std::function<std::optional<std::int64_t>(Expr variable)>& value_of) {
  Program program(expr);
  std::vector<std::int64_t> values;
  for (const Expr variable : program.variables()) {
    const std::optional<std::int64_t> value = value_of(variable);
    if (!value) throw ArgumentError("evaluate", "no value was given for " + std::string(variable->name));
    values.push_back(*value);
  }
  const Outcome outcome = program.run(values)[0];
  if (outcome.fault == Fault::overflow) {
    throw OverflowError("evaluate", "a symbolic size does not fit a signed 64-bit integer");
  }
  if (outcome.fault == Fault::zero_divisor) {
    throw ArgumentError("evaluate", "a symbolic size divides by zero; the divisor must not be 0");
  }
  return outcome.value;
}

Interval range(Expr expr, const std::function<std::optional<Interval>(Expr variable)>& range_of) {
  Program program(expr);
  std::vector<Interval> ranges;
  for (const Expr variable : program.variables()) ranges.push_back(range_of(variable).value_or(variable->bounds));
  return program.ranges(ranges)[0];
}

}  // namespace oriel::sym
