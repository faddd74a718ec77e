// The points of one box whose key no point of another one has. The cases are those of join.cpp. Here the steps of the
// outermost loop of `a` are split into runs for which the same parts of `b` count, and these parts are taken away one
// after the other from what is left.
#include "shard/box_parts.hpp"

namespace oriel::shards {
namespace {

/// Points of `a` by their loops. Those in `free` leave the key alone.
struct Rest {
  Row start;
  KeyedLoops loops;
  Loops free;
};
using Rests = std::vector<Rest>;

class BoxDifference {
 public:
  explicit BoxDifference(Column key) : key_(key) {}

  /// What is left of `a` without the keys first + those of `b`. Keys of `a` count from 0 at the origin of its box.
  Rests subtract(const Rest& a, KeyedSpan b, std::int64_t first) const {
    const std::int64_t delta = first - a.start[key_];
    const std::int64_t reach_a = reach(a.loops);
    const std::int64_t reach_b = reach(b);
    if (delta > reach_a || delta + reach_b < 0) return {a};
    if (a.loops.empty() && b.empty()) return {};
    const std::int64_t step_a = a.loops.empty() ? 0 : a.loops[0].key;
    const std::int64_t step_b = b.empty() ? 0 : b[0].key;
    if (step_a == step_b) return subtract_equal(a, b, first, delta);
    return step_a > step_b ? from_coarse(a, b, first, delta, reach_b) : coarse_from(a, b, first, delta, reach_a);
  }

 private:
  Rests subtract_from_all(const Rests& from, KeyedSpan b, std::int64_t first) const {
    Rests left;
    for (const Rest& one : from) {
      for (Rest& rest : subtract(one, b, first)) left.push_back(std::move(rest));
    }
    return left;
  }

  /// `count` steps of the first loop of `a` from step `from` on.
  static Rest part(const Rest& a, std::int64_t from, std::int64_t count) {
    Rest result = a;
    add_steps(result.start, a.loops[0].step, from);
    result.loops = before(with_count(a.loops[0], count), KeyedSpan(a.loops).subspan(1));
    return result;
  }

  Rests subtract_equal(const Rest& a, KeyedSpan b, std::int64_t first, std::int64_t delta) const {
    const KeyedLoop loop = a.loops[0];
    const KeyedSpan inner_b = b.subspan(1);
    const std::int64_t inner_reach = reach(a.loops) - loop.key * (loop.count - 1);
    const std::int64_t least = std::max(1 - b[0].count, ceil_quotient(delta - inner_reach, loop.key));
    const std::int64_t greatest = std::min(loop.count - 1, floor_quotient(delta + reach(inner_b), loop.key));
    Rests left;
    // For step t count the differences d in [max(least, t - b's last step), min(greatest, t)]. All of them count from
    // step `greatest` to `least` + b's last step.
    for (std::int64_t t = 0; t < loop.count;) {
      const std::int64_t from = std::max(least, t - (b[0].count - 1));
      const std::int64_t to = std::min(greatest, t);
      std::int64_t end = t + 1;
      if (from > to) {
        end = t < least ? std::min(loop.count, least) : loop.count;
      } else if (t >= greatest && t <= least + b[0].count - 1) {
        end = std::min(loop.count, least + b[0].count);
      }
      Rests inner{part(a, t, 1)};
      for (std::int64_t d = from; d <= to; ++d) inner = subtract_from_all(inner, inner_b, first + loop.key * (t - d));
      for (Rest& rest : inner) {
        if (end - t > 1) rest.loops = before(with_count(loop, end - t), rest.loops);
        left.push_back(std::move(rest));
      }
      t = end;
    }
    return left;
  }

  /// The outermost loop of `a` takes longer steps than those of `b`.
  Rests from_coarse(const Rest& a, KeyedSpan b, std::int64_t first, std::int64_t delta, std::int64_t reach_b) const {
    const KeyedLoop& loop = a.loops[0];
    const std::int64_t inner_reach = reach(a.loops) - loop.key * (loop.count - 1);
    const Steps steps = steps_within(loop.key, loop.count, delta - inner_reach, delta + reach_b);
    if (steps.count() == 0) return {a};
    Rests left;
    if (steps.first > 0) left.push_back(part(a, 0, steps.first));
    if (steps.end < loop.count) left.push_back(part(a, steps.end, loop.count - steps.end));
    const Rest touched = part(a, steps.first, steps.count());
    Rests inner;
    if (steps.count() == 1 || b.empty() || !cut_coarse(touched, b, first, inner)) {
      for (std::int64_t t = 0; t < steps.count(); ++t) {
        const Rest one = steps.count() == 1 ? touched : part(touched, t, 1);
        for (Rest& rest : subtract(one, b, first)) inner.push_back(std::move(rest));
      }
    }
    for (Rest& rest : inner) left.push_back(std::move(rest));
    return left;
  }

  bool cut_coarse(const Rest& a, KeyedSpan b, std::int64_t first, Rests& left) const {
    const std::int64_t step = a.loops[0].key;
    if (step % b[0].key == 0) {
      const std::vector<Piece> pieces = cut_at_blocks(b, step, first - a.start[key_]);
      if (pieces.size() == 1 && pieces[0].loops.size() == b.size()) return false;
      left = {a};
      for (const Piece& piece : pieces) {
        left = subtract_from_all(left, piece.loops, first + b[0].key * piece.skipped);
      }
      return true;
    }
    return cut_both(a, b, first, left);
  }

  bool cut_both(const Rest& a, KeyedSpan b, std::int64_t first, Rests& left) const {
    const auto [period_a, period_b] = common_period(a.loops[0].key, b[0].key);
    if (period_a == 0 || a.loops[0].count <= period_a || b[0].count <= period_b) return false;
    const std::vector<Piece> pieces = cut_in_periods(b, period_b);
    for (const Piece& one : cut_in_periods(a.loops, period_a)) {
      Rests inner{whole(a, one)};
      for (const Piece& piece : pieces) {
        inner = subtract_from_all(inner, piece.loops, first + b[0].key * piece.skipped);
      }
      for (Rest& rest : inner) left.push_back(std::move(rest));
    }
    return true;
  }

  static Rest whole(const Rest& a, const Piece& piece) {
    Rest result = a;
    add_steps(result.start, a.loops[0].step, piece.skipped);
    result.loops = piece.loops;
    return result;
  }

  /// The outermost loop of `b` takes longer steps than those of `a`.
  Rests coarse_from(const Rest& a, KeyedSpan b, std::int64_t first, std::int64_t delta, std::int64_t reach_a) const {
    const KeyedLoop& loop = b[0];
    const KeyedSpan inner_b = b.subspan(1);
    const Steps steps = steps_within(loop.key, loop.count, -delta - reach(inner_b), reach_a - delta);
    if (steps.count() == 0) return {a};
    if (steps.count() > 1 && !a.loops.empty()) {
      const KeyedLoops narrowed = before(with_count(loop, steps.count()), inner_b);
      const std::int64_t start = first + loop.key * steps.first;
      Rests left;
      if (loop.key % a.loops[0].key == 0) {
        const std::vector<Piece> pieces = cut_at_blocks(a.loops, loop.key, a.start[key_] - start);
        if (pieces.size() > 1 || pieces[0].loops.size() != a.loops.size()) {
          for (const Piece& piece : pieces) {
            for (Rest& rest : subtract(whole(a, piece), narrowed, start)) left.push_back(std::move(rest));
          }
          return left;
        }
      } else if (cut_both(a, narrowed, start, left)) {
        return left;
      }
    }
    Rests left{a};
    for (std::int64_t u = steps.first; u < steps.end; ++u) {
      left = subtract_from_all(left, inner_b, first + loop.key * u);
    }
    return left;
  }

  Column key_;
};

Box box_of(const Rest& rest) {
  Box box{rest.start, rest.free};
  for (const KeyedLoop& loop : rest.loops) box.loops.push_back({loop.count, loop.step});
  return box;
}

}  // namespace

Boxes subtract(const Boxes& a, const Boxes& b, Column key) {
  const BoxDifference difference(key);
  Boxes left = a;
  for (const Box& taken : b) {
    const KeyedBox other = keyed(taken, key, true);
    if (other.empty) continue;
    Boxes next;
    for (const Box& box : left) {
      const KeyedBox one = keyed(box, key, true);
      if (one.empty) continue;
      for (const Rest& rest : difference.subtract({one.start, one.loops, one.free}, other.loops, other.key)) {
        next.push_back(box_of(rest));
      }
    }
    coalesce(next);
    left = std::move(next);
  }
  return left;
}

Boxes distinct(const Boxes& boxes, Column key) {
  Boxes result;
  for (const Box& box : boxes) {
    const KeyedBox one = keyed(box, key, true);
    if (one.empty) continue;
    // From the finest loop to the coarsest: the points so far, at each step. A loop whose steps exceed their reach
    // repeats no key.
    Boxes points{{one.start, {}}};
    std::int64_t reached = 0;
    for (std::size_t k = one.loops.size(); k-- > 0;) {
      const KeyedLoop& loop = one.loops[k];
      if (loop.key > reached) {
        for (Box& inner : points) inner.loops.push_back({loop.count, loop.step});
      } else {
        const Boxes once = points;
        std::int64_t from = 1;
        if (once.size() == 1 && once[0].loops.size() == 1 && loop.key % once[0].loops[0].step[key] == 0) {
          // A window that moves by some of its own steps: each further one adds as many points at its end.
          const Loop window = once[0].loops[0];
          const std::int64_t added = loop.key / window.step[key];
          Box further = once[0];
          add_steps(further.start, window.step, window.count - added);
          add_steps(further.start, loop.step, 1);
          further.loops[0].count = added;
          if (loop.count > 2) further.loops.push_back({loop.count - 1, loop.step});
          points.push_back(std::move(further));
          from = loop.count;
        }
        for (std::int64_t t = from; t < loop.count; ++t) {
          Boxes next = once;
          for (Box& inner : next) add_steps(inner.start, loop.step, t);
          next = subtract(next, points, key);
          points.insert(points.end(), next.begin(), next.end());
        }
      }
      reached += loop.key * (loop.count - 1);
    }
    points = subtract(points, result, key);
    result.insert(result.end(), points.begin(), points.end());
  }
  coalesce(result);
  return result;
}

}  // namespace oriel::shards
