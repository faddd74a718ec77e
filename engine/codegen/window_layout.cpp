#include "codegen/window_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "graph/op.hpp"
#include "schedule/pattern_limits.hpp"

namespace oriel::codegen {

std::int64_t WindowFinder::extent(std::size_t d) const {
  return (d < outer_ ? program_.outer[d] : stage_.inner[d - outer_]).value();
}

Strides WindowFinder::strides(const Access& access) const {
  Strides s(outer_ + inner_, 0);
  for (std::size_t d = 0; d < access.loops(); ++d) {
    if (access.extent(d) != 1) s[d] = access.coefficient(d);
  }
  return s;
}

bool WindowFinder::accesses(ValueId v, std::vector<const Access*>& list) const {
  std::vector<Instr> made;
  if (!definitions().gather(v, made)) return false;
  for (const Instr& in : made) {
    if (in.code == Code::Gather) return false;  // its access does not say which elements it reads
    if (!reads(in)) continue;
    list.push_back(&program_.accesses[static_cast<std::size_t>(in.aux)]);
    if (list.back()->boxed()) return false;
  }
  return true;
}

std::optional<WindowLayout> WindowFinder::layout(const std::vector<const Access*>& list, bool rows) const {
  const std::size_t x = outer_ - 1;
  const auto guide = std::find_if(list.begin(), list.end(), [&](const Access* a) { return strides(*a)[x] != 0; });
  if (guide == list.end()) return std::nullopt;
  WindowLayout l = guided(strides(**guide), rows);
  for (const Access* a : list) {
    if (!follows(strides(*a), l)) return std::nullopt;
  }
  return l;
}

const Definitions& WindowFinder::definitions() const {
  if (!definitions_) definitions_.emplace(program_, index_);
  return *definitions_;
}

bool WindowFinder::pays(const WindowLayout& l, bool rows) const {
  const std::size_t x = outer_ - 1;
  const std::int64_t x_points = extent(x), y_points = rows ? extent(x - 1) : 1;
  std::int64_t planes = 1, column_span = -l.x_first, row_span = -l.y_first;
  int across = 0;  // inner loops that move through the source
  for (std::size_t d = outer_; d < outer_ + inner_; ++d) {
    const std::int64_t last = std::max<std::int64_t>(l.steps[d], 0) * (extent(d) - 1);
    if (l.directions[d] == LoopDirection::X) column_span += last;
    if (l.directions[d] == LoopDirection::Y) row_span += last;
    if (l.directions[d] == LoopDirection::Plane) planes *= extent(d);
    if (l.directions[d] != LoopDirection::None && extent(d) > 1) ++across;
  }
  const std::int64_t columns = (x_points - 1) * l.steps[x] + column_span + 1;
  const std::int64_t height = (y_points - 1) * (rows ? l.steps[x - 1] : 0) + row_span + 1;
  const double computed = static_cast<double>(planes) * static_cast<double>(height) * static_cast<double>(columns);
  const double read = static_cast<double>(numel(stage_.inner, "windows").value()) * static_cast<double>(y_points) *
                      static_cast<double>(x_points);
  return schedule::windows_pay(computed, read, l.steps[x], across);
}

bool WindowFinder::possible() const {
  const std::size_t x = outer_ - 1;
  boost::container::small_vector<Strides, 4> moving;
  boost::container::small_vector<bool, 32> needed(program_.values.size(), false);
  needed[static_cast<std::size_t>(stage_.reductions[0].input)] = true;
  const auto moves_along = [&](const Instr& in, std::size_t d) {
    const Access& a = program_.accesses[static_cast<std::size_t>(in.aux)];
    return d < a.loops() && a.extent(d) != 1 && a.coefficient(d) != 0;
  };
  const auto moves = [&](const Instr& in) { return moves_along(in, x); };
  bool rows_move = false;  // does a read in the loops move along the loop before x?
  for (auto in = stage_.body.rbegin(); in != stage_.body.rend(); ++in) {
    if (in->result == kNoValue || !needed[static_cast<std::size_t>(in->result)]) continue;
    for (const ValueId v : {in->a, in->b, in->c})
      if (v != kNoValue) needed[static_cast<std::size_t>(v)] = true;
    rows_move = rows_move || (outer_ > 1 && reads(*in) && moves_along(*in, x - 1));
    if (reads(*in) && moves(*in)) moving.push_back(strides(program_.accesses[static_cast<std::size_t>(in->aux)]));
  }
  // A source that reads nothing in the loops may read what an earlier stage has made.
  if (moving.empty()) return true;
  const auto all_follow = [&](const Strides& guide, bool rows) {
    const WindowLayout l = guided(guide, rows);
    return pays(l, rows) && std::all_of(moving.begin(), moving.end(), [&](const Strides& s) { return follows(s, l); });
  };
  // Rows are a loop along which the source moves, or nothing does: weights do not.
  for (const Strides& guide : moving)
    if (all_follow(guide, false) || (outer_ > 1 && (guide[x - 1] != 0) == rows_move && all_follow(guide, true)))
      return true;
  // The first read that moves along x may be in an earlier stage, outside of the loops.
  for (std::size_t s = 0; s < index_; ++s)
    for (const auto* list : {&program_.stages[s].body, &program_.stages[s].outer})
      for (const Instr& in : *list)
        if (reads(in) && moves(in)) return true;
  return false;
}

WindowLayout WindowFinder::guided(const Strides& s, bool rows) const {
  const std::size_t x = outer_ - 1;
  WindowLayout l;
  l.directions.assign(s.size(), LoopDirection::None);
  l.steps.assign(s.size(), 0);
  for (std::size_t d = 0; d < x; ++d) l.directions[d] = LoopDirection::Slow;
  l.directions[x] = LoopDirection::X;
  const bool has_y = rows && s[x - 1] != 0;
  if (rows) l.directions[x - 1] = has_y ? LoopDirection::Y : LoopDirection::None;
  struct Axis {
    LoopDirection direction;
    std::int64_t span;
  };
  boost::container::small_vector<Axis, 2> axes{{LoopDirection::X, std::abs(s[x]) * (extent(x) - 1)}};
  if (has_y) axes.push_back({LoopDirection::Y, std::abs(s[x - 1]) * (extent(x - 1) - 1)});
  if (has_y && std::abs(s[x - 1]) < std::abs(s[x])) std::swap(axes[0], axes[1]);

  boost::container::small_vector<std::size_t, 8> order(inner_);
  std::iota(order.begin(), order.end(), outer_);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(s[a]) < std::abs(s[b]); });
  std::size_t at = 0;
  for (const std::size_t r : order) {
    if (s[r] == 0) continue;
    while (at < axes.size() && std::abs(s[r]) > axes[at].span) ++at;
    l.directions[r] = at < axes.size() ? axes[at].direction : LoopDirection::Plane;
    if (at < axes.size()) axes[at].span += std::abs(s[r]) * (extent(r) - 1);
  }
  measure(s, l, LoopDirection::X, x, l.x_first);
  if (has_y) measure(s, l, LoopDirection::Y, x - 1, l.y_first);
  return l;
}

void WindowFinder::measure(const Strides& s, WindowLayout& l, LoopDirection direction, std::size_t lead,
                           std::int64_t& first) const {
  std::int64_t unit = 0;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] == direction) unit = std::gcd(unit, s[d]);
  }
  if (s[lead] < 0) unit = -unit;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] != direction) continue;
    l.steps[d] = s[d] / unit;
    if (l.steps[d] < 0) first += l.steps[d] * (extent(d) - 1);
  }
}

bool WindowFinder::follows(const Strides& s, const WindowLayout& l) const {
  for (const LoopDirection direction : {LoopDirection::X, LoopDirection::Y}) {
    const std::int64_t unit = unit_of(s, l, direction);
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (l.directions[d] == direction && s[d] != l.steps[d] * unit) return false;
    }
  }
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] == LoopDirection::None && s[d] != 0) return false;
  }
  return true;
}

std::int64_t WindowFinder::unit_of(const Strides& s, const WindowLayout& l, LoopDirection direction) const {
  const std::size_t x = outer_ - 1;
  const std::size_t lead = direction == LoopDirection::X ? x : x - 1;
  if (direction == LoopDirection::Y && (x == 0 || l.directions[x - 1] != LoopDirection::Y)) return 0;
  return s[lead] / l.steps[lead];
}

}  // namespace oriel::codegen
