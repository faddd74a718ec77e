#include "codegen/window_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "graph/op.hpp"
#include "oriel/inline_vector.hpp"
#include "schedule/pattern_limits.hpp"

namespace oriel::codegen {

std::int64_t WindowLoops::extent(std::size_t d) const {
  return (d < outer_ ? program_.outer[d] : stage_.inner[d - outer_]).value();
}

Strides WindowLoops::strides(const Access& access) const {
  Strides s(outer_ + inner_, 0);
  for (std::size_t d = 0; d < access.loops(); ++d) {
    if (access.extent(d) != 1) s[d] = access.coefficient(d);
  }
  return s;
}

bool WindowLoops::accesses(ValueId v, std::vector<const Access*>& list) const {
  std::vector<Instr> made;
  if (!definitions_.gather(v, made)) return false;
  for (const Instr& in : made) {
    if (in.code == Code::Gather) return false;  // its access does not say which elements it reads
    if (!reads(in)) continue;
    list.push_back(&program_.accesses[static_cast<std::size_t>(in.aux)]);
    if (list.back()->boxed()) return false;
  }
  return true;
}

std::optional<WindowLayout> WindowLoops::layout(const std::vector<const Access*>& list, bool rows) const {
  const std::size_t x = outer_ - 1;
  const auto guide = std::find_if(list.begin(), list.end(), [&](const Access* a) { return strides(*a)[x] != 0; });
  if (guide == list.end()) return std::nullopt;
  WindowLayout l = guided(strides(**guide), rows);
  for (const Access* a : list) {
    if (!follows(strides(*a), l)) return std::nullopt;
  }
  return l;
}

bool WindowLoops::pays(const WindowLayout& l, bool rows) const {
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

WindowLayout WindowLoops::guided(const Strides& s, bool rows) const {
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
  InlineVector<Axis, 2> axes{{LoopDirection::X, std::abs(s[x]) * (extent(x) - 1)}};
  if (has_y) axes.push_back({LoopDirection::Y, std::abs(s[x - 1]) * (extent(x - 1) - 1)});
  if (has_y && std::abs(s[x - 1]) < std::abs(s[x])) std::swap(axes[0], axes[1]);

  InlineVector<std::size_t, 8> order(inner_);
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

void WindowLoops::measure(const Strides& s, WindowLayout& l, LoopDirection direction, std::size_t lead,
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

bool WindowLoops::follows(const Strides& s, const WindowLayout& l) const {
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

std::int64_t WindowLoops::unit_of(const Strides& s, const WindowLayout& l, LoopDirection direction) const {
  const std::size_t x = outer_ - 1;
  const std::size_t lead = direction == LoopDirection::X ? x : x - 1;
  if (direction == LoopDirection::Y && (x == 0 || l.directions[x - 1] != LoopDirection::Y)) return 0;
  return s[lead] / l.steps[lead];
}

}  // namespace oriel::codegen
