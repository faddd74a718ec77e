#include "lang/index/access.hpp"

#include <algorithm>
#include <utility>

#include "oriel/inline_vector.hpp"
#include "sym/build.hpp"

namespace oriel::lang {

using detail::Int;
using graph::NodePtr;
using sym::Kind;

namespace {

Shape extents(std::span<const Interval> box) {
  Shape shape;
  for (const Interval range : box) shape.push_back(extent(range));
  return shape;
}

NodePtr zeros(const graph::Node& like, const Shape& shape, const graph::Origin& origin) {
  return graph::constant(graph::Scalar::of_int(like.dtype, 0), shape, like.device, origin);
}

// An atom is a quotient or a remainder by a positive number.
bool is_atom(sym::Expr e) {
  if (e->kind != Kind::floor_div && e->kind != Kind::mod) return false;
  return e->args[1]->kind == Kind::constant && e->args[1]->value > 0;
}

// Repeats axis `axis` of x: each position `times` times in a row (inner), or the whole axis `times` times.
NodePtr repeat(NodePtr x, std::size_t axis, std::int64_t times, bool inner, const graph::Origin& origin) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  Shape split = x->shape;
  split.insert(split.begin() + at + (inner ? 1 : 0), SymInt(1));
  Shape grown = split;
  grown[axis + (inner ? 1 : 0)] = times;
  Shape joined = x->shape;
  joined[axis] *= times;
  x = graph::reshape(std::move(x), split, origin);
  return graph::reshape(graph::expand(std::move(x), grown, origin), joined, origin);
}

/// One step of read_affine: an operand is read at axes of its own, one for each loop that occurs outside of atoms and
/// one for each atom.
struct AffineStep {
  std::vector<Interval> axes;
  std::vector<sym::Expr> at;        // what is read along each axis: loops, then atoms
  std::vector<sym::Expr> operands;  // the index expressions over the axes
  std::size_t loops = 0;            // axes that are loops
};

// False if an expression has another form.
bool make_step(IndexBuilder& builder, std::span<const sym::Expr> expressions, std::span<const Interval> box,
               AffineStep& step) {
  std::vector<sym::Terms> sums;
  for (const sym::Expr e : expressions) {
    sums.push_back(sym::terms_of(e));
    for (const auto& [term, coefficient] : sums.back().terms) {
      if (term->kind == Kind::loop) {
        if (std::ranges::find(step.at, term) == step.at.end()) step.at.push_back(term);
      } else if (!is_atom(term)) {
        return false;
      }
    }
  }
  step.loops = step.at.size();
  for (const sym::Terms& sum : sums) {
    sym::Expr over = builder.pool().constant(sum.constant);
    for (const auto& [term, coefficient] : sum.terms) {
      auto axis = step.at.size();
      if (term->kind == Kind::loop) {
        axis = static_cast<std::size_t>(std::ranges::find(step.at, term) - step.at.begin());
      } else {
        step.at.push_back(term);
      }
      over = sym::add(over, sym::mul(builder.loop(axis), coefficient));
    }
    step.operands.push_back(over);
  }
  for (const sym::Expr term : step.at) step.axes.push_back(range_over(term, box));
  return true;
}

}  // namespace

View linear_view(const Shape& shape, std::span<const std::int64_t> lows, std::span<const sym::Expr> expressions,
                 std::span<const Interval> box) {
  View view;
  view.shape = extents(box);
  view.strides.resize(box.size(), 0);
  Int stride = 1;
  Int offset = 0;
  for (std::size_t d = expressions.size(); d-- > 0;) {
    const Linear linear(expressions[d]);
    Int at = Int(linear.constant()) - lows[d];
    for (const auto [variable, coefficient] : linear) {
      const auto v = static_cast<std::size_t>(variable);
      at += Int(coefficient) * box[v].lo;
      view.strides[v] += (Int(coefficient) * stride).value();
    }
    offset += at * stride;
    stride *= std::max<std::int64_t>(shape[d].value(), 1);
  }
  view.offset = offset.value();
  return view;
}

NodePtr read_linear(NodePtr x, std::span<const Interval> coordinates, std::span<const sym::Expr> expressions,
                    std::span<const Interval> box, const graph::Origin& origin) {
  Ranges around;
  InlineVector<std::int64_t, 4> lows;
  bool padded = false;
  for (std::size_t d = 0; d < expressions.size(); ++d) {
    const Linear linear(expressions[d]);
    Int least = linear.constant();
    Int most = linear.constant();
    for (const auto [variable, coefficient] : linear)
      add_term(least, most, coefficient, box[static_cast<std::size_t>(variable)]);
    const Int before = std::max(Int(coordinates[d].lo) - least, Int(0));
    const Int after = std::max(most - coordinates[d].hi, Int(0));
    padded = padded || before > 0 || after > 0;
    around.push_back({before.value(), after.value()});
    lows.push_back((Int(coordinates[d].lo) - before).value());
  }
  if (padded) x = graph::pad(std::move(x), around, origin);
  const View view = linear_view(x->shape, {lows.data(), lows.size()}, expressions, box);
  return graph::raw_view(std::move(x), view, origin);
}

std::optional<NodePtr> read_affine(IndexBuilder& builder, NodePtr x, std::vector<Interval> coordinates,
                                   std::vector<sym::Expr> expressions, std::span<const Interval> box,
                                   const graph::Origin& origin) {
  for (const Interval range : box) {
    if (range.empty()) return zeros(*x, extents(box), origin);
  }
  while (!std::ranges::all_of(expressions, is_linear)) {
    AffineStep step;
    if (!make_step(builder, expressions, box, step)) return {};
    std::vector<Interval> inner(step.at.size());  // the dividends of the atoms
    for (std::size_t k = step.loops; k < step.at.size(); ++k) {
      inner[k] = range_over(step.at[k]->args[0], box);
      if (!bounded(step.axes[k]) || !bounded(inner[k])) throw detail::ArithmeticOverflow();
    }
    x = read_linear(std::move(x), coordinates, step.operands, step.axes, origin);
    coordinates = step.axes;
    expressions = step.at;
    for (std::size_t k = step.loops; k < step.at.size(); ++k) {
      const Int m = step.at[k]->args[1]->value;
      const Interval range = step.axes[k];
      expressions[k] = step.at[k]->args[0];
      if (step.at[k]->kind == Kind::floor_div) {
        x = repeat(std::move(x), k, m.value(), true, origin);
        coordinates[k] = {(m * range.lo).value(), (m * range.hi + m - 1).value()};
      } else {
        // A remainder that wraps around has all of its values as an axis.
        const Int first = Int(inner[k].lo) / m;
        const Int last = Int(inner[k].hi) / m;
        if (first != last) x = repeat(std::move(x), k, (last - first + 1).value(), false, origin);
        coordinates[k] = {(first * m + range.lo).value(), (last * m + range.hi).value()};
      }
    }
  }
  return read_linear(std::move(x), coordinates, expressions, box, origin);
}

}  // namespace oriel::lang
