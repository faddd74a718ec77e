#include "lang/statement_space.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lang/index/access.hpp"
#include "oriel/inline_vector.hpp"
#include "sym/build.hpp"

namespace oriel::lang {

using graph::NodePtr;
using sym::Kind;

namespace {

/// An index: a constant and a coefficient for each loop, made of sizes.
struct LoopTerms {
  sym::Expr constant;
  std::vector<std::pair<std::size_t, sym::Expr>> loops;
};

// nullopt if a term is neither made of sizes nor a loop times sizes.
std::optional<LoopTerms> loop_terms(sym::Expr e) {
  sym::Pool& pool = *e->pool;
  const sym::Terms sum = sym::terms_of(e);
  LoopTerms out{pool.constant(sum.constant), {}};
  for (const auto& [term, coefficient] : sum.terms) {
    sym::Expr factor = pool.constant(coefficient);
    sym::Expr loop = nullptr;
    for (const sym::Expr part : sym::factors(term)) {
      if (has_only_sizes(part)) {
        factor = sym::mul(factor, part);
      } else if (part->kind == Kind::loop && loop == nullptr) {
        loop = part;
      } else {
        return {};
      }
    }
    if (loop == nullptr) {
      out.constant = sym::add(out.constant, factor);
    } else {
      out.loops.emplace_back(static_cast<std::size_t>(loop->value), factor);
    }
  }
  return out;
}

}  // namespace

SizeValues::SizeValues(const Inference& inference, const std::unordered_map<std::string, SymInt>& sizes,
                       sym::Environment& trace)
    : pool_(trace.pool) {
  for (const sym::Expr symbol : inference.symbols)
    symbols_.emplace(symbol, sym::expression_in(trace, sizes.at(std::string(symbol->name))));
  for (const SizePrecondition& precondition : inference.preconditions) facts_.assume(precondition.condition);
}

StatementSpace::StatementSpace(const Program& program, const Inference& inference, std::size_t statement,
                               SizeValues* values, const graph::Origin& origin)
    : p_(program),
      s_(program.statements[statement]),
      inference_(inference),
      ranges_(inference.statements[statement]),
      values_(values),
      origin_(origin) {
  for (std::size_t k = 0; k < s_.accesses.size(); ++k) first_use_.emplace(s_.accesses[k].expr, k);
}

StatementSpace::Axis StatementSpace::axis_of(IndexRange range) const {
  if (is_number(range)) return {range.lo->value, extent(numbers(range))};
  return {value(range.lo), value(sym::sub(range.end, range.lo))};
}

std::optional<NodePtr> StatementSpace::read(ExprId access, const NodePtr& tensor) const {
  const auto use = first_use_.find(access);
  if (use == first_use_.end()) return {};
  return inference_.symbolic() ? read_symbols(use->second, tensor) : read_numbers(use->second, tensor);
}

bool StatementSpace::proved(ExprId access, std::size_t dimension) const {
  return std::ranges::none_of(ranges_.conditions, [&](const Condition& condition) {
    return s_.accesses[condition.access].expr == access && condition.dimension == dimension &&
           (condition.status == AccessStatus::Guarded || condition.status == AccessStatus::DataDependent);
  });
}

std::optional<NodePtr> StatementSpace::read_numbers(std::size_t use, const NodePtr& tensor) const {
  const Expr& access = p_.definition[s_.accesses[use].expr];
  InlineVector<Interval, 4> box;
  for (const IndexRange range : inference_.boxes[static_cast<std::size_t>(access.id)]) box.push_back(numbers(range));
  InlineVector<sym::Expr, 4> indices;
  bool linear = std::ranges::none_of(ranges_.box, &Interval::empty);
  for (std::size_t k = ranges_.first[use]; linear && k < ranges_.first[use + 1]; ++k) {
    indices.push_back(ranges_.conditions[k].index);
    linear = is_linear(indices.back());
  }
  if (linear)  // the common case: linear expressions, as inference has computed them
    return read_linear(tensor, {box.data(), box.size()}, {indices.data(), indices.size()}, ranges_.box, origin_);
  IndexBuilder builder;  // not that of the inference, which other threads may use
  std::vector<sym::Expr> sizes, made;
  for (const sym::Expr size : inference_.sizes) sizes.push_back(builder.constant(size->value));
  for (const ExprId index : access.args) made.push_back(builder.number(p_, index, sizes));
  return read_affine(builder, tensor, {box.begin(), box.end()}, std::move(made), ranges_.box, origin_);
}

// One raw view of the tensor. Only along dimensions that a conditional guards can an index leave it; there the tensor
// is padded with zeros.
std::optional<NodePtr> StatementSpace::read_symbols(std::size_t use, NodePtr x) const {
  const Expr& access = p_.definition[s_.accesses[use].expr];
  const std::vector<IndexRange>& box = inference_.boxes[static_cast<std::size_t>(access.id)];
  std::vector<LoopTerms> indices;
  Ranges around(box.size(), Range{0, 0});
  bool padded = false;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const sym::Expr index = ranges_.conditions[ranges_.first[use] + d].index;
    std::optional<LoopTerms> terms = loop_terms(index);
    if (!terms) return {};
    indices.push_back(std::move(*terms));
    if (proved(s_.accesses[use].expr, d)) continue;
    const ExprBounds bounds = enclose(index, ranges_.ranges, values_->facts());
    const auto excess = [&](sym::Expr e) { return value(sym::max(e, e->pool->constant(0))); };
    around[d] = {excess(sym::sub(box[d].lo, bounds.lo)), excess(sym::sub(sym::add(bounds.hi, 1), box[d].end))};
    padded = true;
  }
  if (padded) x = graph::pad(std::move(x), around, origin_);
  View view;
  for (std::size_t v = 0; v < ranges_.ranges.size(); ++v) view.shape.push_back(loop(v).size);
  view.strides.resize(view.shape.size(), 0);
  SymInt stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    SymInt at = value(sym::sub(indices[d].constant, box[d].lo)) + around[d].lo;
    for (const auto& [v, coefficient] : indices[d].loops) {
      at += value(sym::mul(coefficient, ranges_.ranges[v].lo));
      view.strides[v] += value(coefficient) * stride;
    }
    view.offset += at * stride;
    stride *= x->shape[d];
  }
  return graph::view_inside(std::move(x), view, origin_);
}

}  // namespace oriel::lang
