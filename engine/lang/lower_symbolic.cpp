#include "lang/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "lang/statement_space.hpp"
#include "oriel/comprehension.hpp"
#include "sym/decide.hpp"

namespace oriel::lang {

using graph::NodePtr;

namespace {

// The shapes for inference. `sizes` receives the symbolic ones by name: a name is the text of an expression.
std::vector<ArgumentShape> argument_shapes(std::span<const NodePtr> arguments,
                                           std::unordered_map<std::string, SymInt>& sizes, sym::Environment*& trace) {
  std::vector<ArgumentShape> shapes;
  for (const NodePtr& argument : arguments) {
    std::vector<ArgumentSize> shape;
    for (const SymInt size : argument->shape) {
      ArgumentSize& out = shape.emplace_back();
      if (!size.is_symbolic()) {
        out.value = size.value();
        continue;
      }
      trace = &sym::environment_of(size.node());
      const sym::Expr simple = trace->knowledge.simplify(size.node());
      if (simple->is_constant()) {
        out.value = simple->value;
        continue;
      }
      out.name = to_string(size);
      out.range = sym::intersect(simple->bounds, Interval::at_least(0));
      sizes.emplace(out.name, size);
    }
    shapes.emplace_back(std::move(shape));
  }
  return shapes;
}

// The shapes with sizes of at least 1. `changed` receives those that might be 0.
std::vector<ArgumentShape> without_empty(std::vector<ArgumentShape> shapes,
                                         const std::unordered_map<std::string, SymInt>& sizes,
                                         std::vector<SymInt>& changed) {
  for (ArgumentShape& shape : shapes) {
    for (ArgumentSize& size : *shape) {
      if (size.value >= 0 || size.range.lo >= 1) continue;
      size.range = sym::intersect(size.range, Interval::at_least(1));
      changed.push_back(sizes.at(size.name));
    }
  }
  return shapes;
}

}  // namespace

std::optional<Lowered> lower_symbolic(const Program& program, std::span<const NodePtr> arguments, Device device,
                                      const graph::Origin& origin, bool zero_origin, Bounds bounds) {
  const auto symbolic = [](const NodePtr& argument) {
    return std::ranges::any_of(argument->shape, [](SymInt size) { return size.is_symbolic(); });
  };
  if (std::ranges::none_of(arguments, symbolic) || arguments.size() != program.definition.parameters.size()) return {};
  std::unordered_map<std::string, SymInt> sizes;
  sym::Environment* trace = nullptr;
  const std::vector<ArgumentShape> shapes = argument_shapes(arguments, sizes, trace);
  if (trace == nullptr) return {};
  const bool hints = std::ranges::all_of(sizes, [](const auto& size) { return sym::hint(size.second).has_value(); });
  Inference inference;
  std::vector<SymInt> not_empty;  // sizes that depend on data, and have to be at least 1
  try {
    inference = infer_symbolic(program, shapes);
  } catch (const ComprehensionError&) {
    if (hints) return {};
    // Some formulas need a divisor that is not 0. No coordinate of an empty tensor is ever read, but it has a range.
    const std::vector<ArgumentShape> filled = without_empty(shapes, sizes, not_empty);
    if (not_empty.empty()) throw;
    inference = infer_symbolic(program, filled);
  }
  SizeValues values(inference, sizes, *trace);
  std::vector<std::pair<SymBool, Site>> conditions;
  for (const SizePrecondition& precondition : inference.preconditions) {
    const SymBool condition = values.condition(precondition.condition);
    if (!sym::hint(condition).value_or(true)) return {};
    if (condition.is_symbolic() && sym::known(condition) == false) {  // there are no hints
      fail(program.source(), ErrorKind::PreconditionViolated, precondition.span,
           fmt::format("{}, which no sizes satisfy: it needs {}", precondition.reason, to_string(condition)));
    }
    conditions.emplace_back(condition, program.site(program.statements[precondition.statement], origin.site));
  }
  if (zero_origin) {
    for (const std::int32_t id : program.results) {
      for (const IndexRange range : inference.boxes[static_cast<std::size_t>(id)])
        if (!range.lo->is_constant(0)) return {};
    }
  }
  for (const SymInt size : not_empty)
    trace->expect(sym::expression_in(*trace, size >= 1), origin.site, origin.operation);
  for (const auto& [condition, site] : conditions) {
    if (condition.is_symbolic()) trace->expect(condition.node(), site, origin.operation);
  }
  return lower(program, inference, arguments, device, origin, bounds, &values);
}

}  // namespace oriel::lang
