#include "view/merging/deviation.hpp"

#include <algorithm>

namespace oriel::detail {
namespace {

// If there are too many lines to test all of them, this many lines, spread over the box, are tested.
constexpr std::int64_t kSpreadLines = 64;

/// The box as lines along one axis. From one position of a line to the next a carry grows by 0 or 1; the rarer of the
/// two is called its event. Between the events of all groups the sum is affine. So the line has no deviation exactly if
/// neither end of any stretch between events deviates.
class Lines {
 public:
  Lines(const IntList& extent, const CarryGroups& groups, Int& steps) : groups_(groups), steps_(steps) {
    for (std::size_t d = 0; d < extent.size(); ++d) extent_.push_back(reduced(d, extent[d]));
    double least = 0;
    for (std::size_t d = 0; d < extent.size(); ++d) {
      const double work = expected_work(d);
      if (d > 0 && work >= least) continue;
      least = work;
      axis_ = d;
    }
    many_ = least > static_cast<double>(steps.value());
  }

  Found find() {
    if (many_) return deviates_on_spread_lines() ? Found::Yes : Found::Unknown;
    IntList section = extent_;
    section[axis_] = 1;
    bool deviates = false;
    for_each_point(section, [&](const IntList& x) {
      deviates = deviates_on(x, steps_);
      return !deviates && steps_ > 0;
    });
    if (deviates) return Found::Yes;
    return steps_ > 0 ? Found::No : Found::Unknown;
  }

 private:
  /// Theorem P: along an axis the differences repeat with period p, so p + 1 positions suffice.
  Int reduced(std::size_t d, Int extent) const {
    Int period = 1;
    for (const CarryGroup& group : groups_) {
      if (period >= extent) break;  // longer periods change nothing, and their product might overflow
      const Int p = period_along(group.width, group.step[d]);
      period = period / gcd(period, p) * p;
    }
    return period == 1 ? Int(1) : period < extent ? period + 1 : extent;
  }

  /// The estimated number of lines along axis d and of events on them, if residues were distributed evenly.
  double expected_work(std::size_t d) const {
    double events = 1;
    for (const CarryGroup& group : groups_) {
      const Int rarer = std::min(group.step[d], group.width - group.step[d]);
      events += static_cast<double>(rarer.value()) / static_cast<double>(group.width.value()) *
                static_cast<double>(extent_[d].value());
    }
    for (std::size_t other = 0; other < extent_.size(); ++other) {
      if (other != d) events *= static_cast<double>(extent_[other].value());
    }
    return events;
  }

  /// True if a point on the line through x deviates. x is 0 along the line. False if the budget of steps is used up
  /// first.
  bool deviates_on(IntList x, Int& steps) const {
    const Int end = extent_[axis_];
    for (Int& at = x[axis_]; at < end; at += 1) {
      steps -= 1;
      if (steps <= 0) return false;
      if (deviation(groups_, x) != 0) return true;
      const Int last = next_event(x);
      if (last == at) continue;
      at = last;
      if (deviation(groups_, x) != 0) return true;
    }
    return false;
  }

  /// The least position >= x that is followed by an event, or the last position of the line.
  Int next_event(const IntList& x) const {
    Int left = extent_[axis_] - 1 - x[axis_];
    for (const CarryGroup& group : groups_) {
      const Int step = group.step[axis_];
      const Int stays = group.width - step;
      if (step == 0) continue;
      Int n = group.first;
      for (std::size_t d = 0; d < x.size(); ++d) n += group.step[d] * x[d];
      // After a residue >= `stays` the carry grows by 1; after a smaller one it does not.
      const Int hit = step <= stays ? first_in_arc(step, n, group.width, stays, step - 1)
                                    : first_in_arc(step, n, group.width, 0, stays - 1);
      if (hit >= 0) left = std::min(left, hit);
    }
    return x[axis_] + left;
  }

  bool deviates_on_spread_lines() const {
    for (std::int64_t k = 0; k < kSpreadLines; ++k) {
      IntList x(extent_.size(), Int(0));
      for (std::size_t d = 0; d < x.size(); ++d) {
        // Each axis has its own odd multiplier, so that the lines do not lie on a diagonal.
        const Int share = k * (2 * static_cast<std::int64_t>(d) + 1) % kSpreadLines;
        if (d != axis_) x[d] = (extent_[d] - 1) * share / (kSpreadLines - 1);
      }
      Int steps = steps_ / kSpreadLines;
      if (deviates_on(x, steps)) return true;
    }
    return false;
  }

  const CarryGroups& groups_;
  Int& steps_;
  IntList extent_;
  std::size_t axis_ = 0;
  bool many_ = false;
};

}  // namespace

Wide deviation(const CarryGroups& groups, const IntList& x) {
  Wide sum = 0;
  for (const CarryGroup& group : groups) {
    Int n = group.first;
    Int affine = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (x[d] == 0) continue;
      n += group.step[d] * x[d];
      affine += group.unit(d) * x[d];
    }
    const Wide term = Wide{group.coefficient.value()} * (n / group.width - affine).value();
    if (__builtin_add_overflow(sum, term, &sum)) throw ArithmeticOverflow();
  }
  return sum;
}

Found find_deviation(const IntList& extent, const CarryGroups& groups, Int& steps) {
  return Lines(extent, groups, steps).find();
}

}  // namespace oriel::detail
