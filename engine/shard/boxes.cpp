#include "shard/boxes.hpp"

#include <algorithm>

#include "shard/box_parts.hpp"

namespace oriel::shards {
namespace {

/// Boxes beyond this number are not compared pair by pair.
constexpr std::size_t kCoalescedBoxes = 256;

bool is_multiple(const Row& outer, const Row& inner, std::int64_t factor) {
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (outer[c] != inner[c] * factor) return false;
  }
  return true;
}

/// Makes `box` both boxes, if `next` goes on where it ends along one loop.
bool continue_with(Box& box, const Box& next) {
  if (box.loops.size() != next.loops.size()) return false;
  std::size_t longer = box.loops.size();
  for (std::size_t k = 0; k < box.loops.size(); ++k) {
    if (box.loops[k].step != next.loops[k].step) return false;
    Row end = box.start;
    add_steps(end, box.loops[k].step, box.loops[k].count);
    if (longer == box.loops.size() && end == next.start) {
      longer = k;
    } else if (box.loops[k].count != next.loops[k].count) {
      return false;
    }
  }
  if (longer == box.loops.size()) return false;
  box.loops[longer].count += next.loops[longer].count;
  return true;
}

/// Makes `box` both, if `next` is one more step of a loop of it, at either end.
bool take_step(Box& box, const Box& next) {
  if (box.loops.size() != next.loops.size() + 1) return false;
  for (std::size_t k = 0; k < box.loops.size(); ++k) {
    bool rest_equal = true;
    for (std::size_t j = 0; j < next.loops.size(); ++j) {
      const Loop& own = box.loops[j < k ? j : j + 1];
      rest_equal = rest_equal && own.count == next.loops[j].count && own.step == next.loops[j].step;
    }
    if (!rest_equal) continue;
    Row end = box.start;
    add_steps(end, box.loops[k].step, box.loops[k].count);
    Row front = box.start;
    add_steps(front, box.loops[k].step, -1);
    if (next.start != end && next.start != front) continue;
    if (next.start == front) box.start = front;
    ++box.loops[k].count;
    return true;
  }
  return false;
}

/// Does each loop that moves the position step beyond all that the finer ones reach together?
bool nests(const Loops& loops) {
  InlineVector<std::pair<std::int64_t, std::int64_t>, 8> steps;
  for (const Loop& loop : loops) {
    if (loop.step[kPosition] != 0) steps.push_back({std::abs(loop.step[kPosition]), loop.count});
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;
  for (const auto& [step, count] : steps) {
    if (step <= reached) return false;
    reached += step * (count - 1);
  }
  return true;
}

/// Makes one box of two whose loops are equal: a loop of two steps.
bool pair_with(Box& box, const Box& next) {
  if (box.loops.size() != next.loops.size()) return false;
  for (std::size_t k = 0; k < box.loops.size(); ++k) {
    if (box.loops[k].count != next.loops[k].count || box.loops[k].step != next.loops[k].step) return false;
  }
  Loop loop{2, {}};
  for (std::size_t c = 0; c < kColumns; ++c) loop.step[c] = next.start[c] - box.start[c];
  // As the slowest loop, so that runs of memory stay the fastest ones.
  Loops loops;
  loops.push_back(loop);
  for (const Loop& inner : box.loops) loops.push_back(inner);
  // Boxes that overlap, or lie between each other's points, are cheaper to compare apart.
  if (!nests(loops)) return false;
  box.loops = loops;
  return true;
}

template <class Joins>
bool join_neighbours(Boxes& boxes, const Joins& joins) {
  bool any = false;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t k = i + 1; k < boxes.size();) {
      if (joins(boxes[i], boxes[k])) {
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(k));
        tidy(boxes[i]);
        any = true;
      } else if (joins(boxes[k], boxes[i])) {
        boxes[i] = std::move(boxes[k]);
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(k));
        tidy(boxes[i]);
        any = true;
      } else {
        ++k;
      }
    }
  }
  return any;
}

}  // namespace

std::int64_t Box::count() const noexcept {
  std::int64_t points = 1;
  for (const Loop& loop : loops) points *= loop.count;
  return points;
}

std::int64_t count(const Boxes& boxes) noexcept {
  std::int64_t points = 0;
  for (const Box& box : boxes) points += box.count();
  return points;
}

void tidy(Box& box) {
  Loops loops;
  for (const Loop& loop : box.loops) {
    if (loop.count != 1) loops.push_back(loop);
  }
  // An outer loop that takes up where an inner one ends makes one longer loop with it. Loops are few.
  for (bool joined = true; joined;) {
    joined = false;
    for (std::size_t i = 0; i < loops.size() && !joined; ++i) {
      for (std::size_t k = 0; k < loops.size() && !joined; ++k) {
        if (i == k || loops[i].step == Row{} || !is_multiple(loops[i].step, loops[k].step, loops[k].count)) continue;
        loops[k].count *= loops[i].count;
        for (std::size_t j = i; j + 1 < loops.size(); ++j) loops[j] = loops[j + 1];
        loops.pop_back();
        joined = true;
      }
    }
  }
  box.loops = loops;
}

void coalesce(Boxes& boxes) {
  for (Box& box : boxes) tidy(box);
  if (boxes.size() > kCoalescedBoxes) return;
  const auto goes_on = [](Box& box, const Box& next) { return continue_with(box, next) || take_step(box, next); };
  while (join_neighbours(boxes, goes_on)) {
  }
  // Three of a kind become a pair and one that continues it.
  while (boxes.size() > 1 && join_neighbours(boxes, pair_with)) {
    while (join_neighbours(boxes, goes_on)) {
    }
  }
}

Boxes select(const Boxes& boxes, Column column, std::int64_t value) {
  Box only;
  only.start[column] = value;
  return join(boxes, {only}, column);
}

std::vector<std::int64_t> values(const Boxes& boxes, Column column) {
  std::vector<std::int64_t> found;
  for (const Box& box : boxes) {
    Box line;
    line.start[column] = box.start[column];
    bool empty = false;
    for (const Loop& loop : box.loops) {
      empty = empty || loop.count == 0;
      if (loop.step[column] == 0) continue;
      line.loops.push_back({loop.count, {}});
      line.loops.back().step[column] = loop.step[column];
    }
    if (empty) continue;
    for_each(line, [&](const Row& row) { found.push_back(row[column]); });
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Boxes moved(const Boxes& boxes, std::span<const Column> from, std::span<const Column> to) {
  const auto move = [&](const Row& row) {
    Row result{};
    for (std::size_t k = 0; k < from.size(); ++k) result[to[k]] = row[from[k]];
    return result;
  };
  Boxes result;
  for (const Box& box : boxes) {
    Box other{move(box.start), {}};
    for (const Loop& loop : box.loops) other.loops.push_back({loop.count, move(loop.step)});
    result.push_back(std::move(other));
  }
  return result;
}

std::string str(const Boxes& boxes, Column column) {
  std::string text;
  for (const Box& box : boxes) {
    text += (text.empty() ? "" : " ") + std::to_string(box.start[column]);
    for (const Loop& loop : box.loops) {
      text += "+" + std::to_string(loop.count) + "x" + std::to_string(loop.step[column]);
    }
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace oriel::shards
