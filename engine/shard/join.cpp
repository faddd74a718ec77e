// Pairs of points with equal keys. The procedure splits the pairs of steps of both sides' outermost loops, so that each
// pair of points stays in exactly one part; it emits a box where no loop is left. So it is exact whatever the loops
// are, and how it cuts decides only how many boxes come out:
//
// - Loops with equal key steps s: step t of one and u of the other leave a difference s * (t - u) for the inner loops.
// Few
//   differences d = t - u lie within the inner loops' reach (one if both sides nest). For each, t and u advance
//   together: one loop of both.
// - One key step divides the other: the finer loop is cut at the coarser one's blocks, which makes the steps equal.
// - Otherwise both repeat after the least common multiple, which makes loops of equal steps over periods. Inside of one
//   period, steps are taken one by one.
#include "shard/box_parts.hpp"

namespace oriel::shards {
namespace {

class BoxJoin {
 public:
  BoxJoin(const KeyedBox& a, const KeyedBox& b, Boxes& out) : out_(out) {
    for (std::size_t c = 0; c < kColumns; ++c) prefix_.start[c] = a.start[c] + b.start[c];
    for (const Loop& loop : a.free) prefix_.loops.push_back(loop);
    for (const Loop& loop : b.free) prefix_.loops.push_back(loop);
    match(a.loops, b.loops, b.key - a.key);
  }

 private:
  /// Emits all pairs with key of a = delta + key of b, where both count from 0.
  void match(KeyedSpan a, KeyedSpan b, std::int64_t delta) {
    const std::int64_t reach_a = reach(a);
    const std::int64_t reach_b = reach(b);
    if (delta > reach_a || delta + reach_b < 0) return;
    if (a.empty() && b.empty()) {
      out_.push_back(prefix_);
      tidy(out_.back());
      return;
    }
    const std::int64_t step_a = a.empty() ? 0 : a[0].key;
    const std::int64_t step_b = b.empty() ? 0 : b[0].key;
    if (step_a == step_b) {
      match_equal(a, b, delta);
    } else if (step_a > step_b) {
      match_coarse(a, b, delta, reach_a - step_a * (a[0].count - 1), reach_b);
    } else {
      match_coarse(b, a, -delta, reach_b - step_b * (b[0].count - 1), reach_a);
    }
  }

  void match_equal(KeyedSpan a, KeyedSpan b, std::int64_t delta) {
    const std::int64_t step = a[0].key;
    const KeyedSpan inner_a = a.subspan(1);
    const KeyedSpan inner_b = b.subspan(1);
    const std::int64_t least = std::max(1 - b[0].count, ceil_quotient(delta - reach(inner_a), step));
    const std::int64_t greatest = std::min(a[0].count - 1, floor_quotient(delta + reach(inner_b), step));
    Loop both;
    for (std::size_t c = 0; c < kColumns; ++c) both.step[c] = a[0].step[c] + b[0].step[c];
    for (std::int64_t d = least; d <= greatest; ++d) {
      const std::int64_t first = std::max<std::int64_t>(0, d);
      both.count = std::min(a[0].count, b[0].count + d) - first;
      const Row start = prefix_.start;
      add_steps(prefix_.start, a[0].step, first);
      add_steps(prefix_.start, b[0].step, first - d);
      prefix_.loops.push_back(both);
      match(inner_a, inner_b, delta - step * d);
      prefix_.loops.pop_back();
      prefix_.start = start;
    }
  }

  /// The outermost loop of `a` takes longer steps than those of `b`.
  void match_coarse(KeyedSpan a, KeyedSpan b, std::int64_t delta, std::int64_t inner_reach_a, std::int64_t reach_b) {
    const KeyedLoop& loop = a[0];
    const Steps steps = steps_within(loop.key, loop.count, delta - inner_reach_a, delta + reach_b);
    if (steps.count() > 1 && !b.empty() && b[0].count > 1) {
      const Row start = prefix_.start;
      const KeyedLoops cut_a = before(with_count(loop, steps.count()), a.subspan(1));
      const std::int64_t rest = delta - loop.key * steps.first;
      add_steps(prefix_.start, loop.step, steps.first);
      const bool done = match_cut(cut_a, b, rest);
      prefix_.start = start;
      if (done) return;
    }
    for (std::int64_t t = steps.first; t < steps.end; ++t) {
      const Row start = prefix_.start;
      add_steps(prefix_.start, loop.step, t);
      match(a.subspan(1), b, delta - loop.key * t);
      prefix_.start = start;
    }
  }

  /// Cuts one side or both and matches the pieces. False if no cut makes them smaller.
  bool match_cut(KeyedSpan a, KeyedSpan b, std::int64_t delta) {
    if (a[0].key % b[0].key == 0) {
      const std::vector<Piece> pieces = cut_at_blocks(b, a[0].key, delta);
      if (pieces.size() == 1 && pieces[0].loops.size() == b.size()) return false;
      for (const Piece& piece : pieces) match_piece(a, b, piece, delta);
      return true;
    }
    const auto [period_a, period_b] = common_period(a[0].key, b[0].key);
    if (period_a == 0 || a[0].count <= period_a || b[0].count <= period_b) return false;
    for (const Piece& one : cut_in_periods(a, period_a)) {
      for (const Piece& other : cut_in_periods(b, period_b)) {
        const Row start = prefix_.start;
        add_steps(prefix_.start, a[0].step, one.skipped);
        match_piece(one.loops, b, other, delta - a[0].key * one.skipped);
        prefix_.start = start;
      }
    }
    return true;
  }

  void match_piece(KeyedSpan a, KeyedSpan whole, const Piece& piece, std::int64_t delta) {
    const Row start = prefix_.start;
    add_steps(prefix_.start, whole[0].step, piece.skipped);
    match(a, piece.loops, delta + whole[0].key * piece.skipped);
    prefix_.start = start;
  }

  Box prefix_;
  Boxes& out_;
};

}  // namespace

Boxes join(const Boxes& a, const Boxes& b, Column key) {
  Boxes result;
  std::vector<KeyedBox> others;
  others.reserve(b.size());
  for (const Box& box : b) others.push_back(keyed(box, key, false));
  for (const Box& box : a) {
    const KeyedBox one = keyed(box, key, true);
    if (one.empty) continue;
    for (const KeyedBox& other : others) {
      if (!other.empty) BoxJoin(one, other, result);
    }
  }
  coalesce(result);
  return result;
}

}  // namespace oriel::shards
