// The adjoint of a view, decided by how its axes overlap.
//
// A view shows element offset + sum of stride[k] * i[k] at index i, inside a box of indices. Its adjoint gives each
// element the sum of the cotangent over all indices that show it. Along one axis of the source, axes of the view with
// steps t1 > t2 > .. and counts n1, n2, .. *nest* if each step is larger than all smaller ones reach together: then no
// element is shown twice, and the adjoint is the cotangent itself with zeros between and around. Axes that do not nest
// make a *fibre*: for each index along them the nested ones are shifted, so the adjoint is a sum over the fibre of views
// that are shifted and padded. An axis whose step divides a larger one is split there first, so that only what truly
// overlaps is summed: a window of 3 every 2 elements has 2 terms, a window of 3 every 3 has 1. So the number of terms
// depends on how the windows overlap, and not on the sizes of the source.
//
// The cotangent of a view is often a sum of products: that of a convolution's input is one over the channels. The sum
// is taken last, and each factor is moved by itself, so the whole adjoint is one reduction over products of views, as
// the convolution was. A factor that does not depend on an axis needs no zeros there, because another one has them.
#include <algorithm>
#include <numeric>

#include "grad/rules.hpp"
#include "graph/movements.hpp"
#include "sym/decide.hpp"

namespace oriel::derive {

namespace {

constexpr std::size_t kMostFactors = 4;

/// Does x have the same elements for all indices along an axis, as its movements say?
bool is_constant_along(const NodePtr& x, std::size_t axis) {
  if (x->op == Op::Const && !x->realized()) return true;
  std::vector<NodePtr> chain;
  for (NodePtr node = x; graph::is_movement(node->op) && !node->realized();) {
    auto sources = node->lazy_sources();
    if (sources.empty()) break;
    chain.push_back(std::move(node));
    node = std::move(sources[0]);
  }
  if (chain.empty()) return false;
  const auto sources = chain.back()->lazy_sources();
  if (sources.empty()) return false;
  ShapeTracker map(sources[0]->shape);
  for (std::size_t k = chain.size(); k-- > 0;) map = graph::moved(map, *chain[k]);
  map = map.simplify();
  const View& top = map.views().back();
  return identical(top.strides[axis], 0) && (!top.masked() || sym::known(top.mask[axis].extent() == top.shape[axis]).value_or(false));
}

/// A sum over the last `summed` axes of a product of factors, all of one shape.
class SumOfProducts {
 public:
  explicit SumOfProducts(const Value& x) { take(x, 0, false); }

  const Shape& shape() const { return factors_.front().shape(); }
  std::size_t rank() const { return shape().size() - summed_; }

  /// A movement of each factor, which says the same of all of them.
  template <class F>
  void move(F&& f) {
    for (Value& factor : factors_) factor = f(factor);
  }
  /// The axis with zeros before and behind.
  void pad(std::size_t axis, SymInt before, SymInt behind) {
    const SymInt n = before + shape()[axis] + behind;
    on_those_along(axis, [&](const Value& x) { return padded(x, axis, before, behind); }, n);
  }
  /// One more axis to sum over: moves it behind all others.
  void sum_over(std::size_t axis) {
    Ints order;
    for (std::size_t d = 0; d < shape().size(); ++d)
      if (d != axis) order.push_back(d);
    order.push_back(axis);
    move([&](const Value& x) { return x.permute(order); });
    ++summed_;
  }
  /// f of the factors that depend on the axis, at least one; the others are repeated along it to the extent n.
  template <class F>
  void on_those_along(std::size_t axis, F&& f, SymInt n) {
    std::vector<bool> along;
    for (const Value& x : factors_) along.push_back(!is_constant_along(x.node(), axis));
    if (std::none_of(along.begin(), along.end(), [](bool a) { return a; })) along[0] = true;
    for (std::size_t k = 0; k < factors_.size(); ++k) factors_[k] = along[k] ? f(factors_[k]) : repeated(factors_[k], axis, n);
  }

  Value value() const {
    Value product = factors_.front();
    for (std::size_t k = 1; k < factors_.size(); ++k) product = product * factors_[k];
    if (summed_ == 0) return product;
    const Ints axes = api::axes_from(rank(), shape().size());
    return product.reduce(Op::Sum, axes).drop(axes);
  }

 private:
  /// The factors of x, and the axes of its sum. Below a product only further factors are looked for.
  void take(const Value& x, std::size_t depth, bool factor) {
    constexpr std::size_t kDeepest = 64;
    const Node& node = *x.node();
    const auto sources = depth < kDeepest && !node.realized() ? node.lazy_sources() : Node::Sources{};
    const Call& call = x.call();
    if (!sources.empty() && node.op == Op::Sum && !factor) {
      take_sum(node, Value(call, sources[0]), depth);
    } else if (!sources.empty() && node.op == Op::Mul && factors_.size() < kMostFactors) {
      for (const NodePtr& source : sources) take(Value(call, source), depth + 1, true);
    } else if (!sources.empty() && !factor && (node.op == Op::Reshape || node.op == Op::Permute)) {
      take_moved(node, Value(call, sources[0]), depth);
    } else {
      factors_.push_back(x);
    }
  }
  void take_sum(const Node& node, const Value& of, std::size_t depth) {
    const Ints& axes = std::get<Ints>(node.arg);
    take(of, depth + 1, false);
    Ints order;
    Shape kept;
    for (std::size_t d = 0; d < of.shape().size(); ++d) {
      if (std::find(axes.begin(), axes.end(), SymInt(d)) != axes.end()) continue;
      order.push_back(d);
      kept.push_back(of.shape()[d]);
    }
    order.insert(order.end(), axes.begin(), axes.end());
    for (std::size_t k = 0; k < summed_; ++k) order.push_back(of.shape().size() + k);
    Shape with_units = node.shape;
    for (const SymInt axis : axes) with_units.push_back(of.shape()[static_cast<std::size_t>(axis.value())]);
    const Shape& inner = shape();
    with_units.insert(with_units.end(), inner.end() - static_cast<std::ptrdiff_t>(summed_), inner.end());
    move([&](const Value& x) { return x.permute(order).reshape(with_units); });
    summed_ += axes.size();
  }
  void take_moved(const Node& node, const Value& of, std::size_t depth) {
    take(of, depth + 1, false);
    const Shape inner = shape();
    if (node.op == Op::Reshape) {
      Shape target = node.shape;
      target.insert(target.end(), inner.end() - static_cast<std::ptrdiff_t>(summed_), inner.end());
      return move([&](const Value& x) { return x.reshape(target); });
    }
    Ints order = std::get<Ints>(node.arg);
    for (std::size_t k = 0; k < summed_; ++k) order.push_back(node.shape.size() + k);
    move([&](const Value& x) { return x.permute(order); });
  }
  static Value repeated(const Value& x, std::size_t axis, SymInt n) {
    Shape wide = x.shape();
    wide[axis] = n;
    return Value(x.call(), graph::expand(x.shrink(axis, 0, 1).node(), wide, x.call().origin()));
  }

  std::vector<Value> factors_;
  std::size_t summed_ = 0;
};

/// An axis of the view that moves along an axis of the source by `step` for each index.
struct Mover {
  std::size_t axis = 0;  // of the cotangent
  SymInt step = 0;
  SymInt reach(SymInt count) const { return step * (count - 1); }
};

/// Positions of a view along the axes of its source.
struct Placement {
  Shape from;
  std::vector<SymInt> offset;               // for each axis of the source
  std::vector<std::vector<Mover>> movers;  // likewise
};

bool surely(SymBool condition) { return sym::known(condition).value_or(false); }
std::int64_t weight(SymInt n) { return sym::hint(n).value_or(1 << 20); }

/// Tells the axes of the source that each axis of the view moves along. Nothing if one moves along several, as a
/// diagonal does. The strides are positive.
std::optional<Placement> placed(const View& view, const Shape& from, const std::vector<std::size_t>& moving) {
  Placement out{from, std::vector<SymInt>(from.size(), 0), std::vector<std::vector<Mover>>(from.size())};
  const Ints strides = contiguous_strides(from);
  SymInt rest = view.offset;
  std::vector<SymInt> reach(from.size(), 0);
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (surely(from[d] == 1)) continue;
    out.offset[d] = identical(strides[d], 1) ? rest : rest / strides[d];
    rest = rest - out.offset[d] * strides[d];
  }
  if (!surely(rest == 0)) return std::nullopt;
  for (const std::size_t k : moving) {
    bool found = false;
    for (std::size_t d = 0; d < from.size() && !found; ++d) {
      if (surely(from[d] <= 1)) continue;
      const SymInt step = view.strides[k] / strides[d];
      if (!surely(step * strides[d] == view.strides[k]) || !surely(step >= 1)) continue;
      const SymInt more = step * (view.shape[k] - 1);
      if (!surely(out.offset[d] + reach[d] + more < from[d])) continue;
      reach[d] = reach[d] + more;
      out.movers[d].push_back({k, step});
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return out;
}

class ViewAdjoint {
 public:
  ViewAdjoint(const Shape& from, const Value& cotangent) : from_(from), terms_(cotangent) {}

  Value of(View view) {
    inside(view);
    std::vector<std::size_t> moving;
    for (std::size_t k = view.strides.size(); k-- > 0;) {
      if (surely(view.shape[k] == 1) || identical(view.strides[k], 0)) continue;
      if (view.strides[k] < 0) {
        view.offset = view.offset + view.strides[k] * (view.shape[k] - 1);
        view.strides[k] = -view.strides[k];
        terms_.move([&](const Value& x) { return flipped(x, k); });
      }
      moving.push_back(k);
    }
    std::optional<Placement> placement = placed(view, from_, moving);
    if (!placement) {  // along the source as one axis
      placement = Placement{{numel(from_)}, {view.offset}, std::vector<std::vector<Mover>>(1)};
      for (const std::size_t k : moving) placement->movers[0].push_back({k, view.strides[k]});
    }
    line_up(view, moving, *placement);
    for (std::size_t d = 0; d < placement->from.size(); ++d) one_axis(d, *placement);
    return terms_.value().reshape(from_);
  }

 private:
  /// The box of valid indices alone.
  void inside(View& view) {
    if (!view.masked()) return;
    const std::size_t summed = terms_.shape().size() - terms_.rank();
    Ranges box = view.mask;
    for (std::size_t k = 0; k < summed; ++k) box.push_back({0, terms_.shape()[view.shape.size() + k]});
    terms_.move([&](const Value& x) { return x.shrink(box); });
    for (std::size_t k = 0; k < view.shape.size(); ++k) {
      view.offset = view.offset + view.strides[k] * view.mask[k].lo;
      view.shape[k] = view.mask[k].extent();
    }
    view.mask.clear();
  }

  /// The cotangent's axes in this order: for each axis of the source an axis of its own, of extent 1, and then those
  /// that move along it; then those that are summed: repeated ones, and those of the sum.
  void line_up(const View& view, const std::vector<std::size_t>& moving, Placement& placement) {
    Ints order;
    Shape shape;
    for (std::vector<Mover>& movers : placement.movers) {
      shape.push_back(1);
      for (Mover& mover : movers) {
        order.push_back(mover.axis);
        mover.axis = shape.size();
        shape.push_back(view.shape[static_cast<std::size_t>(order.back().value())]);
      }
    }
    const std::size_t lined_up = shape.size();
    for (std::size_t k = 0; k < terms_.shape().size(); ++k) {
      if (std::find(moving.begin(), moving.end(), k) != moving.end()) continue;
      order.push_back(k);
      shape.push_back(terms_.shape()[k]);
    }
    terms_.move([&](const Value& x) { return x.permute(order).reshape(shape); });
    while (terms_.rank() > lined_up) terms_.sum_over(lined_up);
  }

  void insert(Placement& placement, std::size_t axis) {
    for (std::vector<Mover>& movers : placement.movers)
      for (Mover& mover : movers)
        if (mover.axis >= axis) ++mover.axis;
  }

  /// Splits an axis whose step divides that of another one, where it reaches beyond that step.
  void split(std::vector<Mover>& movers, Placement& placement) {
    for (std::size_t j = 0; j < movers.size(); ++j) {
      for (std::size_t i = 0; i < movers.size(); ++i) {
        const Mover small = movers[j];
        const SymInt large = movers[i].step, n = terms_.shape()[small.axis];
        if (i == j || large.is_symbolic() || small.step.is_symbolic() || n.is_symbolic()) continue;
        const SymInt ratio = large / small.step;
        if (large % small.step != 0 || ratio <= 1 || n <= ratio) continue;
        const SymInt parts = (n + ratio - 1) / ratio;
        if (parts * ratio != n) terms_.pad(small.axis, 0, parts * ratio - n);
        Shape shape = terms_.shape();
        shape[small.axis] = parts;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(small.axis) + 1, ratio);
        terms_.move([&](const Value& x) { return x.reshape(shape); });
        insert(placement, small.axis + 1);
        movers[j].step = large;
        movers.push_back({small.axis + 1, small.step});
        return split(movers, placement);
      }
    }
  }

  /// Takes axes out of `movers`, which are in the order of their steps, until the rest nests. Those taken out are few:
  /// of two that overlap the one of fewer indices.
  std::vector<Mover> fibre_of(std::vector<Mover>& movers) {
    std::vector<Mover> fibre;
    const auto count = [&](const Mover& m) { return terms_.shape()[m.axis]; };
    for (std::size_t k = movers.size(); k-- > 1;) {
      SymInt reach = 0;
      for (std::size_t i = k; i < movers.size(); ++i) reach = reach + movers[i].reach(count(movers[i]));
      if (surely(reach < movers[k - 1].step)) continue;
      std::size_t out = k - 1;
      for (std::size_t i = k; i < movers.size(); ++i)
        if (weight(count(movers[i])) < weight(count(movers[out]))) out = i;
      fibre.push_back(movers[out]);
      movers.erase(movers.begin() + static_cast<std::ptrdiff_t>(out));
      k = movers.size();
    }
    return fibre;
  }

  /// Replaces the axes of one axis of the source, [own, movers...], by one of its extent.
  void one_axis(std::size_t d, Placement& placement) {
    std::vector<Mover>& movers = placement.movers[d];
    split(movers, placement);
    std::stable_sort(movers.begin(), movers.end(),
                     [](const Mover& a, const Mover& b) { return weight(a.step) > weight(b.step); });
    std::vector<Mover> fibre = fibre_of(movers);
    const SymInt span = join(movers, fibre, placement, d);
    shift(fibre, placement, d, span);
    movers.clear();
  }

  /// The nested axes as one, at the place of the source's axis: its elements `step` apart, from the first to the last.
  SymInt join(std::vector<Mover>& nested, std::vector<Mover>& fibre, Placement& placement, std::size_t d) {
    // All axes between this place and the next axis of the source: the nested ones in order, then the fibre's.
    Ints order;
    const std::size_t own = d;  // axes of the source before it are joined already
    for (std::size_t k = 0; k <= own; ++k) order.push_back(k);
    for (Mover& mover : nested) order.push_back(mover.axis);
    for (Mover& mover : fibre) order.push_back(mover.axis);
    const std::size_t next = order.size();
    for (std::size_t k = next; k < terms_.shape().size(); ++k) order.push_back(k);
    terms_.move([&](const Value& x) { return x.permute(order); });
    SymInt span = 1;
    // From the innermost one: each index of an axis becomes a block of `step` elements.
    SymInt length = 1;
    for (std::size_t k = nested.size(); k-- > 0;) {
      const std::size_t axis = own + 1 + k;
      const SymInt step = nested[k].step, count = terms_.shape()[axis];
      span = span + nested[k].reach(count);
      if (k + 1 == nested.size()) {  // an axis of blocks of one element
        Shape shape = terms_.shape();
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, SymInt(1));
        terms_.move([&](const Value& x) { return x.reshape(shape); });
      }
      if (!surely(length == step)) {
        if (surely(length < step))
          terms_.pad(axis + 1, 0, step - length);
        else
          terms_.move([&](const Value& x) { return x.shrink(axis + 1, 0, step); });
      }
      Shape shape = terms_.shape();
      shape[axis] = length = count * step;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
      terms_.move([&](const Value& x) { return x.reshape(shape); });
    }
    if (!nested.empty()) {
      // [own of extent 1, joined] -> [joined]
      Shape shape = terms_.shape();
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(own));
      terms_.move([&](const Value& x) { return x.reshape(shape); });
      if (!surely(length == span)) terms_.move([&](const Value& x) { return x.shrink(own, 0, span); });
    }
    for (std::size_t k = 0; k < fibre.size(); ++k) fibre[k].axis = own + 1 + k;
    // What comes behind has moved to the front by the nested axes.
    for (std::size_t e = d + 1; e < placement.movers.size(); ++e)
      for (Mover& mover : placement.movers[e]) mover.axis -= nested.size();
    return span;
  }

  /// The sum over the fibre of the axis `own`, `span` elements, shifted to where each index of the fibre begins.
  void shift(const std::vector<Mover>& fibre, Placement& placement, std::size_t own, SymInt span) {
    const SymInt n = placement.from[own], offset = placement.offset[own];
    SymInt reach = 0;
    for (const Mover& mover : fibre) reach = reach + mover.reach(terms_.shape()[mover.axis]);
    for (const Mover& mover : fibre) terms_.move([&](const Value& x) { return flipped(x, mover.axis); });
    if (fibre.empty() && surely(span == n)) return;
    const auto moved = [&](const Value& x) {
      const Value wide = padded(x, own, offset + reach, n - offset - span);
      if (fibre.empty()) return wide;
      // Index i of the axis reads i + step * j for index j along the fibre.
      View view = View::contiguous(wide.shape());
      view.shape[own] = n;
      for (const Mover& mover : fibre)
        view.strides[mover.axis] = view.strides[mover.axis] + mover.step * view.strides[own];
      return Value(x.call(), graph::view_inside(wide.node(), view, x.call().origin()));
    };
    terms_.on_those_along(own, moved, n);
    for (std::size_t k = 0; k < fibre.size(); ++k) terms_.sum_over(own + 1);
    for (std::size_t e = own + 1; e < placement.movers.size(); ++e)
      for (Mover& mover : placement.movers[e]) mover.axis -= fibre.size();
  }

  Shape from_;
  SumOfProducts terms_;
};

}  // namespace

Value view_adjoint(const View& view, const Shape& from, const Value& cotangent) {
  return ViewAdjoint(from, cotangent).of(view);
}

}  // namespace oriel::derive
