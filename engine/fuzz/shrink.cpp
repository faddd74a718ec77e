#include "fuzz/shrink.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "fuzz/generate_moves.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/positions.hpp"

namespace oriel::fuzz {

using graph::Takes;

namespace {

// The most entries of a table in a candidate.
constexpr std::int64_t kMostEntries = 20'000;

double bits(SymInt n) {
  const std::int64_t value = n.value();
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return static_cast<double>(std::bit_width(magnitude)) + (value < 0 ? .5 : 0) + static_cast<double>(magnitude) * 1e-18;
}

double weight(const View& view) {
  // Contiguous strides follow from the shape and do not count.
  const bool plain = view == View::contiguous(view.shape);
  double sum = bits(view.offset);
  for (std::size_t d = 0; d < view.rank(); ++d) {
    sum += 20 + 4 * bits(view.shape[d]) + (plain ? 0 : 1 + bits(view.strides[d]));
    if (view.mask.empty() || view.mask[d] == Range{0, view.shape[d]}) continue;
    sum += 4 + bits(view.mask[d].lo) / 2 + bits(view.shape[d] - view.mask[d].hi) / 2;
  }
  return sum;
}

double weight(const Movement& movement) {
  double sum = 0;
  const Takes takes = graph::row(movement.kind).takes;
  if (takes == Takes::Target || takes == Takes::Extents || takes == Takes::Numbers) {
    for (const SymInt n : movement.ints) sum += 2 + bits(n);
  } else {
    for (std::size_t d = 0; d < movement.ints.size(); ++d) sum += 2 + (movement.ints[d] != d ? 1 : 0);
  }
  for (const Range& range : movement.ranges) sum += 2 + bits(range.lo) + bits(range.hi);
  return sum;
}

/// Makes the movements legal again after an earlier part of the case changed; false if that is impossible.
bool repair(Case& c) {
  Shape shape = c.start.back().shape;
  for (Movement& movement : c.movements) {
    switch (graph::row(movement.kind).takes) {
      case Takes::Target: {
        const SymInt wanted = numel(shape);
        if (numel(movement.ints) == wanted) break;
        // One entry of the target absorbs the change.
        bool fitted = false;
        for (std::size_t d = 0; d < movement.ints.size() && !fitted; ++d) {
          SymInt others = 1;
          for (std::size_t k = 0; k < movement.ints.size(); ++k) others *= k == d ? SymInt(1) : movement.ints[k];
          if (others == 0 || wanted % others != 0) continue;
          movement.ints[d] = wanted / others;
          fitted = true;
        }
        if (!fitted) return false;
        break;
      }
      case Takes::Order:
        if (movement.ints.size() != shape.size()) return false;
        break;
      case Takes::Extents:
      case Takes::Numbers:
        if (movement.ints.size() != shape.size()) return false;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          const auto [least, most] = graph::movement(movement.kind).numbers(shape[d]);
          movement.ints[d] = std::clamp(movement.ints[d], least, most);
        }
        break;
      case Takes::Slices:
        if (movement.ranges.size() != shape.size()) return false;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          movement.ranges[d].hi = std::min(movement.ranges[d].hi, shape[d]);
          movement.ranges[d].lo = std::min(movement.ranges[d].lo, movement.ranges[d].hi);
        }
        break;
      case Takes::Pads:
        if (movement.ranges.size() != shape.size()) return false;
        break;
      default:  // axes
        for (const SymInt axis : movement.ints) {
          if (axis >= shape.size()) return false;
        }
    }
    shape = moved_shape(shape, movement);
    if (numel(shape) > kMostEntries * 1'000'000) return false;
  }
  return true;
}

/// True if the engine accepts the case and the oracle can judge it.
bool legal(Case& c) {
  try {
    if (!repair(c)) return false;
    ShapeTracker tracker = start_of(c);
    for (const Movement& movement : c.movements) tracker = apply(tracker, movement);
    const auto range = detail::position_range(c.start[0]);
    return !range || range->least >= 0;
  } catch (const Error&) {
    return false;
  }
}

using Try = std::function<bool(Case)>;

/// Simpler numbers to try in place of n, the smallest first.
InlineVector<SymInt, 6> smaller(SymInt n, SymInt least) {
  InlineVector<SymInt, 6> list;
  for (const SymInt candidate : {least, SymInt(n.value() / 2), SymInt(n.value() - (n.value() > 0 ? 1 : -1))}) {
    if (candidate != n && (n < 0 || candidate >= least) && (list.empty() || list.back() != candidate)) {
      list.push_back(candidate);
    }
  }
  if (n < 0) list.push_back(-n);
  return list;
}

bool try_without_axis(const Case& c, std::size_t k, std::size_t d, const Try& accept) {
  Case next = c;
  View& view = next.start[k];
  view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(d));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(d));
  if (!view.mask.empty()) view.mask.erase(view.mask.begin() + static_cast<std::ptrdiff_t>(d));
  return accept(std::move(next));
}

bool try_view(const Case& c, std::size_t k, const Try& accept) {
  const View& view = c.start[k];
  const auto with = [&](auto change) {
    Case next = c;
    change(next.start[k]);
    return accept(std::move(next));
  };
  if (view != View::contiguous(view.shape) && with([](View& v) { v = View::contiguous(v.shape); })) return true;
  if (view.masked() && with([](View& v) { v.mask.clear(); })) return true;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    if (try_without_axis(c, k, d, accept)) return true;
    for (const SymInt extent : smaller(view.shape[d], 1)) {
      const bool plain = view == View::contiguous(view.shape);
      const auto shorten = [&](View& v) {
        v.shape[d] = extent;
        if (plain) v = View::contiguous(v.shape);
        if (v.mask.empty()) return;
        v.mask[d].hi = std::min(v.mask[d].hi, extent);
        v.mask[d].lo = std::min(v.mask[d].lo, v.mask[d].hi);
      };
      if (with(shorten)) return true;
    }
    for (const SymInt stride : smaller(view.strides[d], 0)) {
      if (with([&](View& v) { v.strides[d] = stride; })) return true;
    }
    if (!view.masked()) continue;
    if (with([&](View& v) { v.mask[d] = {0, v.shape[d]}; })) return true;
    if (view.mask[d].lo > 0 && with([&](View& v) { v.mask[d].lo -= 1; })) return true;
    if (view.mask[d].hi < view.shape[d] && with([&](View& v) { v.mask[d].hi += 1; })) return true;
  }
  for (const SymInt offset : smaller(view.offset, 0)) {
    if (with([&](View& v) { v.offset = offset; })) return true;
  }
  return false;
}

void erase(Ints& ints, std::size_t d) { ints.erase(ints.begin() + static_cast<std::ptrdiff_t>(d)); }
void erase(Ranges& ranges, std::size_t d) { ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(d)); }

/// Removes axis d, of the shape on which the movements from `first` on start, from these movements up to the next
/// reshape.
void drop_axis(Case& c, std::size_t first, std::size_t d) {
  for (std::size_t k = first; k < c.movements.size(); ++k) {
    Movement& movement = c.movements[k];
    switch (graph::row(movement.kind).takes) {
      case Takes::Target:
        return;
      case Takes::Order: {
        const auto at = std::find(movement.ints.begin(), movement.ints.end(), SymInt(d));
        const auto place = static_cast<std::size_t>(at - movement.ints.begin());
        erase(movement.ints, place);
        for (SymInt& axis : movement.ints) axis -= axis > d ? 1 : 0;
        d = place;
        break;
      }
      case Takes::Extents:
      case Takes::Numbers:
        erase(movement.ints, d);
        break;
      case Takes::Slices:
      case Takes::Pads:
        erase(movement.ranges, d);
        break;
      default: {
        Ints axes;
        for (const SymInt axis : movement.ints) {
          if (axis != d) axes.push_back(axis > d ? axis - 1 : axis);
        }
        movement.ints = axes;
      }
    }
  }
}

/// Tries the case with one axis of the tensor removed.
bool try_without_base_axis(const Case& c, std::size_t d, const Try& accept) {
  if (c.start.size() != 1 || c.start[0].masked()) return false;
  Case next = c;
  erase(next.start[0].shape, d);
  next.start[0] = View::contiguous(next.start[0].shape);
  drop_axis(next, 0, d);
  return accept(std::move(next));
}

/// Tries the case with one extent of a reshape removed.
bool try_without_extent(const Case& c, std::size_t k, std::size_t d, const Try& accept) {
  Case next = c;
  erase(next.movements[k].ints, d);
  drop_axis(next, k + 1, d);
  return accept(std::move(next));
}

bool try_movement(const Case& c, std::size_t k, const Try& accept) {
  const Movement& movement = c.movements[k];
  const auto with = [&](auto change) {
    Case next = c;
    change(next.movements[k]);
    return accept(std::move(next));
  };
  const Takes takes = graph::row(movement.kind).takes;
  if (takes == Takes::Order) {
    for (std::size_t d = 0; d + 1 < movement.ints.size(); ++d) {
      if (movement.ints[d] > movement.ints[d + 1] && with([&](Movement& m) { std::swap(m.ints[d], m.ints[d + 1]); })) {
        return true;
      }
    }
    return false;
  }
  for (std::size_t d = 0; d < movement.ints.size(); ++d) {
    if (takes == Takes::Target && try_without_extent(c, k, d, accept)) return true;
    if (takes == Takes::Axes && with([d](Movement& m) { erase(m.ints, d); })) return true;
    if (takes == Takes::Axes) continue;
    for (const SymInt n : smaller(movement.ints[d], 1)) {
      if (with([&](Movement& m) { m.ints[d] = n; })) return true;
    }
  }
  for (std::size_t d = 0; d < movement.ranges.size(); ++d) {
    for (const SymInt lo : smaller(movement.ranges[d].lo, 0)) {
      if (with([&](Movement& m) { m.ranges[d].lo = lo; })) return true;
    }
    for (const SymInt hi : smaller(movement.ranges[d].hi, 0)) {
      if (with([&](Movement& m) { m.ranges[d].hi = hi; })) return true;
    }
  }
  return false;
}

/// One step of shrinking: tries candidates until one is accepted.
bool step(const Case& c, const Try& accept) {
  for (std::size_t k = 0; k < c.movements.size(); ++k) {
    Case next = c;
    next.movements.erase(next.movements.begin() + static_cast<std::ptrdiff_t>(k));
    if (accept(std::move(next))) return true;
  }
  for (std::size_t k = 0; c.start.size() > 1 && k < c.start.size(); ++k) {
    Case next = c;
    next.start.erase(next.start.begin() + static_cast<std::ptrdiff_t>(k));
    if (accept(std::move(next))) return true;
  }
  // Tries to drop the first movements: the case then starts from a plain tensor of their resulting shape, or from the
  // stack they give.
  ShapeTracker tracker = start_of(c);
  for (std::size_t k = 0; k < c.movements.size(); ++k) {
    tracker = apply(tracker, c.movements[k]);
    const std::vector<Movement> rest(c.movements.begin() + static_cast<std::ptrdiff_t>(k + 1), c.movements.end());
    if (accept({{View::contiguous(tracker.shape())}, rest})) return true;
    if (accept({{tracker.views().begin(), tracker.views().end()}, rest})) return true;
  }
  for (std::size_t d = 0; d < c.start[0].rank(); ++d) {
    if (try_without_base_axis(c, d, accept)) return true;
  }
  for (std::size_t k = 0; k < c.start.size(); ++k) {
    if (try_view(c, k, accept)) return true;
  }
  for (std::size_t k = 0; k < c.movements.size(); ++k) {
    if (try_movement(c, k, accept)) return true;
  }
  return false;
}

}  // namespace

double weight(const Case& c) {
  double sum = 1000. * static_cast<double>(c.length());
  for (const View& view : c.start) sum += weight(view);
  for (const Movement& movement : c.movements) sum += weight(movement);
  return sum;
}

Kind checkable_kind(Kind kind, const Case& c) {
  if (info(kind).table) return kind;
  try {
    Shape shape = c.start.back().shape;
    for (const View& view : c.start) {
      if (view.numel() > kMostEntries) return kind;
    }
    for (const Movement& movement : c.movements) shape = moved_shape(shape, movement);
    return numel(shape) > kMostEntries ? kind : Kind::Raw;
  } catch (const Error&) {
    return kind;
  }
}

Counterexample shrink(Subject& subject, Kind kind, Case failing, Failure failure, std::size_t budget) {
  Counterexample result{std::move(failing), std::move(failure), 0};
  const Try accept = [&](Case candidate) {
    if (result.tried >= budget || weight(candidate) >= weight(result.smallest) || !legal(candidate)) return false;
    const Kind as = checkable_kind(kind, candidate);
    // Only the whole planted case is known to be one view.
    if (as == Kind::Planted) return false;
    ++result.tried;
    std::optional<Failure> found = subject.check_one(as, candidate);
    if (!found || found->property != result.failure.property) return false;
    result.smallest = std::move(candidate);
    result.failure = std::move(*found);
    return true;
  };
  while (result.tried < budget && step(Case(result.smallest), accept)) {
  }
  return result;
}

}  // namespace oriel::fuzz
