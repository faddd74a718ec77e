#include "lang/open_lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "lang/open_ranges.hpp"
#include "oriel/comprehension.hpp"
#include "sym/build.hpp"
#include "sym/decide.hpp"
#include "sym/environment.hpp"

namespace oriel::lang {

using graph::NodePtr;
using sym::Kind;

namespace {

/// The values of an inference's formulas as sizes of a trace.
class OpenValues {
 public:
  OpenValues(const OpenInference& inference, std::unordered_map<std::string, SymInt> sizes, sym::Environment& trace)
      : inference_(inference), pool_(trace.pool) {
    for (const sym::Expr symbol : inference_.open)
      made_.emplace(symbol, sym::expression_in(trace, sizes.at(std::string(symbol->name))));
  }

  SymInt number(sym::Expr e) { return SymInt(moved(e)); }
  SymBool condition(sym::Expr e) { return sym::make_condition(moved(e)); }
  StatementSpace::Axis axis(OpenRange range) { return {number(range.lo), number(sym::sub(range.end, range.lo))}; }

 private:
  // The same expression in the trace's pool.
  sym::Expr moved(sym::Expr e) {
    sym::visit(e, [&](sym::Expr node) {
      if (made_.contains(node)) return;
      made_.emplace(node, rebuilt(node));
    });
    return made_.at(e);
  }
  sym::Expr rebuilt(sym::Expr node) {
    if (node->kind == Kind::constant) return pool_.constant(node->value);
    if (node->kind == Kind::truth) return pool_.truth(node->value != 0);
    std::vector<sym::Expr> args;
    for (const sym::Expr arg : node->args) args.push_back(made_.at(arg));
    if (node->kind != Kind::sum) return sym::rebuild(node, args);
    sym::Expr sum = pool_.constant(node->value);
    for (std::size_t k = 0; k < args.size(); ++k) sum = sym::add(sum, sym::mul(args[k], node->coefficients[k]));
    return sum;
  }

  const OpenInference& inference_;
  sym::Pool& pool_;
  std::unordered_map<sym::Expr, sym::Expr> made_;
};

/// A statement whose sizes are symbols.
class OpenSpace : public StatementSpace {
 public:
  OpenSpace(const Program& program, const OpenInference& inference, std::size_t statement, OpenValues& values,
            OpenFacts& facts, const graph::Origin& origin)
      : p_(program),
        s_(program.statements[statement]),
        inference_(inference),
        ranges_(inference.statements[statement]),
        values_(values),
        facts_(facts),
        origin_(origin) {}

  Axis loop(std::size_t variable) const override { return values_.axis(ranges_.ranges[variable]); }
  SymInt size(std::size_t number) const override { return values_.number(inference_.sizes[number]); }
  Axis axis(std::size_t tensor, std::size_t dimension) const override {
    return values_.axis(inference_.boxes[tensor][dimension]);
  }

  std::optional<NodePtr> read(ExprId id, const NodePtr& tensor) const override {
    std::size_t use = 0;
    while (use < s_.accesses.size() && s_.accesses[use].expr != id) ++use;
    if (use == s_.accesses.size()) return {};
    std::vector<Terms> indices;
    for (std::size_t k = ranges_.first[use]; k < ranges_.first[use + 1]; ++k) {
      std::optional<Terms> terms = linear(ranges_.conditions[k].index);
      if (!terms) return {};
      indices.push_back(std::move(*terms));
    }
    return view(tensor, use, indices);
  }

  bool proved(ExprId id, std::size_t dimension) const override {
    return std::ranges::none_of(ranges_.conditions, [&](const OpenCondition& condition) {
      return s_.accesses[condition.access].expr == id && condition.dimension == dimension &&
             (condition.status == AccessStatus::Guarded || condition.status == AccessStatus::DataDependent);
    });
  }

 private:
  /// An index: a constant and a coefficient for each loop, made of sizes.
  struct Terms {
    sym::Expr constant;
    std::vector<std::pair<std::int64_t, sym::Expr>> loops;
  };

  // nullopt if a term is neither made of sizes nor a loop times sizes.
  static std::optional<Terms> linear(sym::Expr e) {
    sym::Pool& pool = *e->pool;
    const sym::Terms sum = sym::terms_of(e);
    Terms out{pool.constant(sum.constant), {}};
    for (const auto& [term, coefficient] : sum.terms) {
      sym::Expr factor = pool.constant(coefficient);
      std::int64_t loop = -1;
      for (const sym::Expr part : sym::factors(term)) {
        if (has_only_sizes(part)) {
          factor = sym::mul(factor, part);
        } else if (part->kind == Kind::loop && loop < 0) {
          loop = part->value;
        } else {
          return {};
        }
      }
      if (loop < 0) {
        out.constant = sym::add(out.constant, factor);
      } else {
        out.loops.emplace_back(loop, factor);
      }
    }
    return out;
  }

  // One raw view of the tensor. Only along dimensions that a conditional guards can an index leave it; there the tensor
  // is padded with zeros.
  NodePtr view(NodePtr x, std::size_t use, const std::vector<Terms>& indices) const {
    Ranges around(indices.size(), Range{0, 0});
    bool padded = false;
    const std::vector<OpenRange>& box =
        inference_.boxes[static_cast<std::size_t>(p_.definition[s_.accesses[use].expr].id)];
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const OpenCondition& condition = ranges_.conditions[ranges_.first[use] + d];
      if (proved(s_.accesses[use].expr, d)) continue;
      const OpenBounds bounds = enclose(condition.index, ranges_.ranges, facts_);
      const auto excess = [&](sym::Expr e) { return sym::max(e, e->pool->constant(0)); };
      around[d] = {values_.number(excess(sym::sub(box[d].lo, bounds.lo))),
                   values_.number(excess(sym::sub(sym::add(bounds.hi, 1), box[d].end)))};
      padded = true;
    }
    if (padded) x = graph::pad(std::move(x), around, origin_);
    View view;
    for (std::size_t v = 0; v < ranges_.ranges.size(); ++v) view.shape.push_back(loop(v).size);
    view.strides.resize(view.shape.size(), 0);
    SymInt stride = 1;
    for (std::size_t d = indices.size(); d-- > 0;) {
      SymInt at = values_.number(sym::sub(indices[d].constant, box[d].lo)) + around[d].lo;
      for (const auto& [variable, coefficient] : indices[d].loops) {
        const auto v = static_cast<std::size_t>(variable);
        at += values_.number(sym::mul(coefficient, ranges_.ranges[v].lo));
        view.strides[v] += values_.number(coefficient) * stride;
      }
      view.offset += at * stride;
      stride *= x->shape[d];
    }
    return graph::view_inside(std::move(x), view, origin_);
  }

  const Program& p_;
  const CheckedStatement& s_;
  const OpenInference& inference_;
  const OpenStatement& ranges_;
  OpenValues& values_;
  OpenFacts& facts_;
  graph::Origin origin_;
};

// The shapes for inference. `sizes` receives the open ones by name: a name is the text of an expression.
std::vector<OpenShape> open_shapes(std::span<const NodePtr> arguments, std::unordered_map<std::string, SymInt>& sizes,
                                   sym::Environment*& trace) {
  std::vector<OpenShape> shapes;
  for (const NodePtr& argument : arguments) {
    std::vector<OpenSize> shape;
    for (const SymInt size : argument->shape) {
      OpenSize& out = shape.emplace_back();
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
std::vector<OpenShape> without_empty(std::vector<OpenShape> shapes,
                                     const std::unordered_map<std::string, SymInt>& sizes,
                                     std::vector<SymInt>& changed) {
  for (OpenShape& shape : shapes) {
    for (OpenSize& size : *shape) {
      if (size.value >= 0 || size.range.lo >= 1) continue;
      size.range = sym::intersect(size.range, Interval::at_least(1));
      changed.push_back(sizes.at(size.name));
    }
  }
  return shapes;
}

}  // namespace

std::optional<Lowered> lower_open(const Program& program, std::span<const NodePtr> arguments, Device device,
                                  const graph::Origin& origin, bool zero_origin) {
  const auto symbolic = [](const NodePtr& argument) {
    return std::ranges::any_of(argument->shape, [](SymInt size) { return size.is_symbolic(); });
  };
  if (std::ranges::none_of(arguments, symbolic) || arguments.size() != program.definition.parameters.size()) return {};
  std::unordered_map<std::string, SymInt> sizes;
  sym::Environment* trace = nullptr;
  const std::vector<OpenShape> shapes = open_shapes(arguments, sizes, trace);
  if (trace == nullptr) return {};
  const bool hints = std::ranges::all_of(sizes, [](const auto& size) { return sym::hint(size.second).has_value(); });
  OpenInference inference;
  std::vector<SymInt> not_empty;  // sizes that depend on data, and have to be at least 1
  try {
    inference = infer_open(program, shapes);
  } catch (const ComprehensionError&) {
    if (hints) return {};
    // Some formulas need a divisor that is not 0. No coordinate of an empty tensor is ever read, but it has a range.
    const std::vector<OpenShape> filled = without_empty(shapes, sizes, not_empty);
    if (not_empty.empty()) throw;
    inference = infer_open(program, filled);
  }
  OpenValues values(inference, std::move(sizes), *trace);
  std::vector<std::pair<SymBool, Site>> conditions;
  for (const OpenPrecondition& precondition : inference.preconditions) {
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
      for (const OpenRange range : inference.boxes[static_cast<std::size_t>(id)])
        if (!range.lo->is_constant(0)) return {};
    }
  }
  for (const SymInt size : not_empty)
    trace->expect(sym::expression_in(*trace, size >= 1), origin.site, origin.operation);
  for (const auto& [condition, site] : conditions) {
    if (condition.is_symbolic()) trace->expect(condition.node(), site, origin.operation);
  }
  OpenFacts facts;
  for (const OpenPrecondition& precondition : inference.preconditions) facts.assume(precondition.condition);
  return lower_program(program, arguments, device, origin, [&](std::size_t s) {
    const graph::Origin here{origin.operation, program.site(program.statements[s], origin.site)};
    return std::make_unique<OpenSpace>(program, inference, s, values, facts, here);
  });
}

}  // namespace oriel::lang
