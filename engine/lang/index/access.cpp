#include "lang/index/access.hpp"

#include <algorithm>
#include <utility>

namespace oriel::lang {

using detail::Int;
using graph::NodePtr;

namespace {

Shape extents(std::span<const Interval> box) {
  Shape shape;
  for (const Interval range : box) shape.push_back(range.hi - range.lo);
  return shape;
}

NodePtr zeros(const graph::Node& like, const Shape& shape, const graph::Origin& origin) {
  return graph::constant(graph::Scalar::of_int(like.dtype, 0), shape, like.device, origin);
}

/// A sum of the form linear + sum of factor * atom, where an atom is a quotient or a remainder.
struct Sum {
  struct Atom {
    std::int32_t node;
    std::int64_t factor;
  };
  Linear linear;
  std::vector<Atom> atoms;
};

// Decomposes the tree into such a sum. False if it has another form.
bool decompose(const IndexTree& tree, std::int32_t id, std::int64_t factor, Sum& out) {
  const IndexNode& node = tree.at(id);
  const auto constant = [&](std::int32_t child) -> std::optional<std::int64_t> {
    const IndexNode& n = tree.at(child);
    if (n.kind != IndexKind::Linear || !n.linear.terms.empty()) return {};
    return n.linear.constant;
  };
  switch (node.kind) {
    case IndexKind::Linear:
      out.linear = add(out.linear, node.linear, factor);
      return true;
    case IndexKind::Add:
      return decompose(tree, node.left, factor, out) && decompose(tree, node.right, factor, out);
    case IndexKind::Mul: {
      if (const auto c = constant(node.left)) return decompose(tree, node.right, (Int(*c) * factor).value(), out);
      if (const auto c = constant(node.right)) return decompose(tree, node.left, (Int(*c) * factor).value(), out);
      return false;
    }
    case IndexKind::Div:
    case IndexKind::Mod: {
      const auto divisor = constant(node.right);
      if (!divisor || *divisor <= 0) return false;
      out.atoms.push_back({id, factor});
      return true;
    }
    default:
      return false;
  }
}

// The subtree below `id` plus a constant.
IndexTree part(const IndexTree& tree, std::int32_t id, std::int64_t shift) {
  IndexTree out;
  out.nodes.assign(tree.nodes.begin(), tree.nodes.begin() + id + 1);
  IndexNode& root = out.nodes.back();
  if (root.kind == IndexKind::Linear) {
    root.linear.constant = (Int(root.linear.constant) + shift).value();
    return out;
  }
  if (shift == 0) return out;
  IndexNode number;
  number.linear.constant = shift;
  out.nodes.push_back(std::move(number));
  IndexNode sum;
  sum.kind = IndexKind::Add;
  sum.left = id;
  sum.right = id + 1;
  out.nodes.push_back(std::move(sum));
  return out;
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

}  // namespace

NodePtr read_linear(NodePtr x, std::span<const Linear> expressions, std::span<const Interval> box,
                    const graph::Origin& origin) {
  Ranges around;
  bool padded = false;
  for (std::size_t d = 0; d < expressions.size(); ++d) {
    Int least = expressions[d].constant;
    Int most = expressions[d].constant;
    for (const auto& [variable, coefficient] : expressions[d].terms) {
      const Interval range = box[static_cast<std::size_t>(variable)];
      least += Int(coefficient) * (coefficient > 0 ? range.lo : range.hi - 1);
      most += Int(coefficient) * (coefficient > 0 ? range.hi - 1 : range.lo);
    }
    const Int before = least < 0 ? -least : Int(0);
    const Int after = std::max(most + 1 - x->shape[d].value(), Int(0));
    padded = padded || before > 0 || after > 0;
    around.push_back({before.value(), after.value()});
  }
  if (padded) x = graph::pad(std::move(x), around, origin);
  View view;
  view.shape = extents(box);
  view.strides.resize(box.size(), 0);
  Int stride = 1;
  Int offset = 0;
  for (std::size_t d = expressions.size(); d-- > 0;) {
    Int at = Int(expressions[d].constant) + around[d].lo.value();
    for (const auto& [variable, coefficient] : expressions[d].terms) {
      const auto v = static_cast<std::size_t>(variable);
      at += Int(coefficient) * box[v].lo;
      view.strides[v] += (Int(coefficient) * stride).value();
    }
    offset += at * stride;
    stride *= x->shape[d].value();
  }
  view.offset = offset.value();
  return graph::raw_view(std::move(x), view, origin);
}

std::optional<NodePtr> read_affine(NodePtr x, std::vector<IndexTree> expressions, std::span<const Interval> box,
                                   const graph::Origin& origin) {
  for (const Interval range : box) {
    if (range.empty()) return zeros(*x, extents(box), origin);
  }
  for (;;) {
    if (std::all_of(expressions.begin(), expressions.end(), [](const IndexTree& e) { return e.is_linear(); })) {
      std::vector<Linear> linear;
      for (const IndexTree& e : expressions) linear.push_back(e.linear());
      return read_linear(std::move(x), linear, box, origin);
    }
    // Each atom, and each loop that occurs outside the atoms, becomes an axis of an operand that is read at these axes.
    std::vector<Linear> outer;
    std::vector<Interval> axes;
    std::vector<IndexTree> next;
    std::vector<std::int32_t> axis_of(box.size(), -1);
    struct Found {
      const IndexTree* tree;
      std::int32_t node;
    };
    std::vector<Found> atoms;
    std::vector<Sum> sums(expressions.size());
    for (std::size_t d = 0; d < expressions.size(); ++d) {
      if (!decompose(expressions[d], expressions[d].root(), 1, sums[d])) return {};
      for (const Linear::Term& term : sums[d].linear.terms) {
        const auto v = static_cast<std::size_t>(term.first);
        if (axis_of[v] >= 0) continue;
        axis_of[v] = static_cast<std::int32_t>(axes.size());
        axes.push_back(box[v]);
        IndexTree same;
        same.nodes.emplace_back();
        same.nodes.back().linear.terms.emplace_back(term.first, 1);
        next.push_back(part(same, 0, (-Int(box[v].lo)).value()));
      }
    }
    const std::size_t plain = axes.size();
    for (std::size_t d = 0; d < expressions.size(); ++d) {
      Linear over;
      over.constant = sums[d].linear.constant;
      for (const auto& [variable, coefficient] : sums[d].linear.terms) {
        Linear term;
        term.terms.emplace_back(axis_of[static_cast<std::size_t>(variable)], coefficient);
        over = add(over, term);
      }
      for (const Sum::Atom& atom : sums[d].atoms) {
        Linear term;
        if (atom.factor != 0) term.terms.emplace_back(static_cast<std::int32_t>(axes.size()), atom.factor);
        over = add(over, term);
        atoms.push_back({&expressions[d], atom.node});
        axes.push_back(expressions[d].bounds(atom.node, box));
      }
      outer.push_back(std::move(over));
    }
    // A remainder that wraps around takes all of its values as an axis.
    const auto inner_bounds = [&](const Found& atom) { return atom.tree->bounds(atom.tree->at(atom.node).left, box); };
    const auto divisor = [&](const Found& atom) {
      return atom.tree->at(atom.tree->at(atom.node).right).linear.constant;
    };
    const auto wraps = [&](const Found& atom) {
      const Interval inner = inner_bounds(atom);
      return Int(inner.lo) / Int(divisor(atom)) != Int(inner.hi - 1) / Int(divisor(atom));
    };
    for (std::size_t k = 0; k < atoms.size(); ++k) {
      if (!axes[plain + k].bounded() || !inner_bounds(atoms[k]).bounded()) throw detail::ArithmeticOverflow();
      if (atoms[k].tree->at(atoms[k].node).kind == IndexKind::Mod && wraps(atoms[k])) {
        axes[plain + k] = {0, divisor(atoms[k])};
      }
    }
    x = read_linear(std::move(x), outer, axes, origin);
    for (std::size_t k = 0; k < atoms.size(); ++k) {
      const Found& atom = atoms[k];
      const IndexNode& node = atom.tree->at(atom.node);
      const Interval range = axes[plain + k];
      const Int m = divisor(atom);
      if (node.kind == IndexKind::Div) {
        x = repeat(std::move(x), plain + k, m.value(), true, origin);
        next.push_back(part(*atom.tree, node.left, (-(m * range.lo)).value()));
      } else {
        const Interval inner = inner_bounds(atom);
        const Int first = Int(inner.lo) / m;
        const Int last = Int(inner.hi - 1) / m;
        if (first != last) x = repeat(std::move(x), plain + k, (last - first + 1).value(), false, origin);
        next.push_back(part(*atom.tree, node.left, (-(first * m) - range.lo).value()));
      }
    }
    expressions = std::move(next);
  }
}

}  // namespace oriel::lang
