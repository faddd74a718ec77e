// The adjoint of a view, decided by how its axes overlap.
//
// A view shows element offset + sum of stride[k] * i[k] at index i, inside a box of indices. Its adjoint gives each
// element the sum of the cotangent over all indices that show it. Along one axis of the source, axes of the view with
// steps t1 > t2 > .. and counts n1, n2, .. *nest* if each step is larger than all smaller ones reach together: then no
// element is shown twice, and the adjoint is the cotangent itself with zeros between and around. Axes that do not nest
// make a *fibre*: for each index along them the nested ones are shifted, so the adjoint is a sum over the fibre of
// views that are shifted and padded. An axis whose step divides a larger one is split there first, so that only what
// truly overlaps is summed: a window of 3 every 2 elements has 2 terms, a window of 3 every 3 has 1. So the number of
// terms depends on how the windows overlap, and not on the sizes of the source. proofs/PROOF.md proves this (T).
#include <algorithm>

#include "grad/rules.hpp"
#include "grad/sum_of_products.hpp"
#include "graph/movements.hpp"
#include "sym/decide.hpp"

namespace oriel::derive {

namespace {

std::int64_t weight(SymInt n) { return sym::hint(n).value_or(1 << 20); }

/// An axis of the view that moves along an axis of the source by `step` for each index.
struct Mover {
  std::size_t axis = 0;  // of the cotangent
  SymInt step = 0;
  SymInt reach(SymInt count) const { return step * (count - 1); }
};

/// Positions of a view along the axes of its source.
struct Placement {
  Shape from;
  std::vector<SymInt> offset;              // for each axis of the source
  std::vector<std::vector<Mover>> movers;  // likewise
};

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
  ViewAdjoint(Shape from, const Value& cotangent) : from_(std::move(from)), terms_(cotangent) {}

  Value of(View view) {
    inside(view);
    std::vector<std::size_t> moving;
    for (std::size_t k = view.strides.size(); k-- > 0;) {
      if (surely(view.shape[k] == 1) || identical(view.strides[k], 0)) continue;
      if (view.strides[k] < 0) {
        view.offset = view.offset + view.strides[k] * (view.shape[k] - 1);
        view.strides[k] = -view.strides[k];
        terms_.flip(k);
      }
      moving.push_back(k);
    }
    std::optional<Placement> placement = placed(view, from_, moving);
    if (!placement) {  // along the source as one axis
      placement = Placement{{numel(from_)}, {view.offset}, std::vector<std::vector<Mover>>(1)};
      for (const std::size_t k : moving) placement->movers[0].push_back({k, view.strides[k]});
    }
    line_up(moving, *placement);
    for (std::size_t d = 0; d < placement->from.size(); ++d) one_axis(d, *placement);
    shift_all();
    return unblocked();
  }

 private:
  /// The box of valid indices alone.
  void inside(View& view) {
    if (!view.masked()) return;
    for (std::size_t k = 0; k < view.shape.size(); ++k) {
      terms_.shrink(k, view.mask[k].lo, view.mask[k].hi);
      view.offset = view.offset + view.strides[k] * view.mask[k].lo;
      view.shape[k] = view.mask[k].extent();
    }
    view.mask.clear();
  }

  /// The cotangent's axes in this order: for each axis of the source an axis of its own, of extent 1, and then those
  /// that move along it; then those that are summed: repeated ones, and those of the sum.
  void line_up(const std::vector<std::size_t>& moving, Placement& placement) {
    Ints order;
    std::size_t place = 0;
    for (std::vector<Mover>& movers : placement.movers)
      for (const Mover& mover : movers) order.push_back(mover.axis);
    const std::size_t lined_up = order.size();
    for (std::size_t k = 0; k < terms_.shape().size(); ++k)
      if (std::find(moving.begin(), moving.end(), k) == moving.end()) order.push_back(k);
    terms_.permute(order);
    while (terms_.rank() > lined_up) terms_.sum_over(lined_up);
    for (std::vector<Mover>& movers : placement.movers) {
      terms_.insert(place++);
      for (Mover& mover : movers) mover.axis = place++;
    }
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
        // Of more parts than the other axis has indices that other axis is the fibre anyway.
        if (weight(parts) >= weight(terms_.shape()[movers[i].axis])) continue;
        if (parts * ratio != n) terms_.pad(small.axis, 0, parts * ratio - n);
        terms_.split(small.axis, parts);
        insert(placement, small.axis + 1);
        movers[j].step = large;
        movers.push_back({small.axis + 1, small.step});
        return split(movers, placement);
      }
    }
  }

  /// Takes axes out of `movers`, which are in the order of their steps, until the rest nests. Where a step is too small
  /// for what the smaller ones reach, the axis of fewest indices goes without which it is not.
  std::vector<Mover> fibre_of(std::vector<Mover>& movers) {
    std::vector<Mover> fibre;
    const auto count = [&](const Mover& m) { return terms_.shape()[m.axis]; };
    for (std::size_t k = movers.size(); k-- > 1;) {
      SymInt reach = 0;
      for (std::size_t i = k; i < movers.size(); ++i) reach = reach + movers[i].reach(count(movers[i]));
      if (surely(reach < movers[k - 1].step)) continue;
      std::size_t out = k - 1;
      for (std::size_t i = k; i < movers.size(); ++i) {
        const bool enough = surely(reach - movers[i].reach(count(movers[i])) < movers[k - 1].step);
        if (enough && weight(count(movers[i])) < weight(count(movers[out]))) out = i;
      }
      fibre.push_back(movers[out]);
      movers.erase(movers.begin() + static_cast<std::ptrdiff_t>(out));
      k = movers.size();
    }
    return fibre;
  }

  /// Makes of the axes of one axis of the source, [own, movers...], those of its elements: one, or a block and the
  /// places in it.
  void one_axis(std::size_t d, Placement& placement) {
    std::vector<Mover>& movers = placement.movers[d];
    split(movers, placement);
    std::stable_sort(movers.begin(), movers.end(),
                     [](const Mover& a, const Mover& b) { return weight(a.step) > weight(b.step); });
    std::vector<Mover> fibre = fibre_of(movers);
    const std::size_t taken = 1 + movers.size() + fibre.size();
    gather_axes(movers, fibre);
    if (movers.empty()) {
      terms_.pad(at_, placement.offset[d], placement.from[d] - placement.offset[d] - 1);
      groups_.push_back({1, 0, placement.from[d], placement.from[d]});
    } else {
      const SymInt block = in_blocks(movers, fibre) ? movers.front().step : SymInt(1);
      const std::size_t places = identical(block, 1) ? (join(movers), 1) : fill(movers);
      widen(fibre, placement.from[d], placement.offset[d], block, places);
    }
    const std::size_t left = groups_.back().axes + fibre.size();
    at_ += left;
    for (std::size_t e = d + 1; e < placement.movers.size(); ++e)
      for (Mover& mover : placement.movers[e]) mover.axis = mover.axis + left - taken;
  }

  /// [own, nested in order, fibre], and takes `own` away where there is a nested one.
  void gather_axes(std::vector<Mover>& nested, std::vector<Mover>& fibre) {
    Ints order;
    for (std::size_t k = 0; k < at_; ++k) order.push_back(k);
    for (const Mover& mover : nested) order.push_back(mover.axis);
    if (nested.empty()) order.push_back(at_);
    for (const Mover& mover : fibre) order.push_back(mover.axis);
    if (!nested.empty()) order.push_back(at_);
    for (std::size_t k = order.size(); k < terms_.shape().size(); ++k) order.push_back(k);
    terms_.permute(order);
    if (!nested.empty()) terms_.drop(at_ + nested.size() + fibre.size());
  }

  /// Does each step divide the one before it, and the first one those of the fibre? Then positions are a block and
  /// places in it, and no factor needs to know how these are joined.
  static bool in_blocks(const std::vector<Mover>& nested, const std::vector<Mover>& fibre) {
    for (const Mover& mover : nested)
      if (mover.step.is_symbolic()) return false;
    for (std::size_t k = 1; k < nested.size(); ++k)
      if (nested[k - 1].step % nested[k].step != 0) return false;
    for (const Mover& mover : fibre)
      if (mover.step.is_symbolic() || mover.step % nested.front().step != 0) return false;
    return true;
  }

  /// The places of a block, those without an element too. Returns the number of axes, that of blocks included.
  std::size_t fill(const std::vector<Mover>& nested) {
    for (std::size_t k = 1; k < nested.size(); ++k) {
      const SymInt places = nested[k - 1].step / nested[k].step, count = terms_.shape()[at_ + k];
      if (!surely(count == places)) terms_.pad(at_ + k, 0, places - count);
    }
    if (nested.back().step == 1) return nested.size();
    terms_.insert(at_ + nested.size());
    terms_.pad(at_ + nested.size(), 0, nested.back().step - 1);
    return nested.size() + 1;
  }

  /// The nested axes as one, with zeros between the elements, as far as the last one.
  void join(const std::vector<Mover>& nested) {
    SymInt span = 1, length = 1;
    terms_.insert(at_ + nested.size());
    for (std::size_t k = nested.size(); k-- > 0;) {  // each index becomes a block of `step` elements
      const std::size_t axis = at_ + k;
      const SymInt step = nested[k].step, count = terms_.shape()[axis];
      span = span + nested[k].reach(count);
      if (surely(length < step))
        terms_.pad(axis + 1, 0, step - length);
      else if (!surely(length == step))
        terms_.shrink(axis + 1, 0, step);
      terms_.join(axis);
      length = count * step;
    }
    if (!surely(length == span)) terms_.shrink(at_, 0, span);
  }

  /// Zeros around the axis `at_`, for the fibre whose axes come behind `places` axes. The axis counts blocks of `block`
  /// elements, of which the elements [offset, n) of the source are a part.
  void widen(const std::vector<Mover>& fibre, SymInt n, SymInt offset, SymInt block, std::size_t places) {
    const SymInt front = (offset + block - 1) / block, blocks = front + (n - 1 - offset) / block + 1;
    const std::size_t first = at_ + places;
    groups_.push_back({places, front * block - offset, n, blocks * block});
    SymInt reach = 0;
    Shift shift{at_, blocks, first, {}};
    for (std::size_t k = 0; k < fibre.size(); ++k) {
      shift.steps.push_back(fibre[k].step / block);
      reach = reach + shift.steps.back() * (terms_.shape()[first + k] - 1);
      terms_.flip(first + k);
    }
    if (fibre.empty() && surely(terms_.shape()[at_] == blocks)) return;
    terms_.pad(at_, front + reach, blocks - front - terms_.shape()[at_]);
    if (!fibre.empty()) shifts_.push_back(std::move(shift));
  }

  /// An axis of blocks that starts elsewhere for each index along its fibre.
  struct Shift {
    std::size_t axis;
    SymInt blocks;
    std::size_t first;  // axis of the fibre
    std::vector<SymInt> steps;
  };

  /// Index i of each shifted axis reads i + step * j for index j along its fibre: one view for all of them, over the
  /// zeros around all axes, as the windows of a convolution are.
  void shift_all() {
    if (shifts_.empty()) return;
    for (Value& x : terms_.factors()) {
      View view{x.shape(), contiguous_strides(x.shape()), 0, {}};
      for (const Shift& shift : shifts_) {
        if (identical(x.shape()[shift.axis], 1)) continue;
        view.shape[shift.axis] = shift.blocks;
        for (std::size_t k = 0; k < shift.steps.size(); ++k) {
          const std::size_t d = shift.first + k;
          const SymInt own = identical(x.shape()[d], 1) ? SymInt(0) : view.strides[d];
          view.strides[d] = own + shift.steps[k] * view.strides[shift.axis];
          view.shape[d] = terms_.shape()[d];
        }
      }
      x = Value(x.call(), graph::view_inside(x.node(), view, x.call().origin()));
    }
    for (const Shift& shift : shifts_) terms_.set_extent(shift.axis, shift.blocks);
    for (std::size_t s = shifts_.size(); s-- > 0;)
      for (std::size_t k = shifts_[s].steps.size(); k-- > 0;) terms_.sum_over(shifts_[s].first + k);
  }

  /// The elements of the source from their blocks.
  Value unblocked() const {
    Value x = terms_.value();
    Shape joined;
    Ranges inside;
    for (const Group& group : groups_) {
      joined.push_back(group.length);
      inside.push_back({group.start, group.start + group.extent});
    }
    return x.reshape(joined).shrink(inside).reshape(from_);
  }

  /// What is left of the axes of one axis of the source: so many, as one of `length` elements, of which those from
  /// `start` on are the source's `extent`.
  struct Group {
    std::size_t axes;
    SymInt start, extent, length;
  };
  std::size_t at_ = 0;  // the first axis that is not yet one of elements
  std::vector<Group> groups_;
  std::vector<Shift> shifts_;
  Shape from_;
  SumOfProducts terms_;
};

}  // namespace

Value view_adjoint(const View& view, const Shape& from, const Value& cotangent) {
  if (surely(numel(view.shape) == 0) || surely(numel(from) == 0))
    return {cotangent.call(), graph::constant(graph::Scalar::of_float(cotangent.dtype(), 0), from, cotangent.device(),
                                              cotangent.call().origin())};
  return ViewAdjoint(from, cotangent).of(view);
}

}  // namespace oriel::derive
