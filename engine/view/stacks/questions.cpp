#include "view/stacks/questions.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "oriel/inline_vector.hpp"
#include "sym/decide.hpp"
#include "sym/estimate.hpp"
#include "view/stacks/index_maps.hpp"

namespace oriel::detail {
namespace {

const View& outermost(const ShapeTracker& map) { return map.views().back(); }

SymInt step_length(SymInt stride) { return stride < 0 ? -stride : stride; }

bool surely(SymBool condition) { return sym::known(condition).value_or(false); }

/// The same, with a guard where the hints say so.
bool guarded(SymBool condition) {
  if (const std::optional<bool> answer = sym::known(condition)) return *answer;
  return sym::hint(condition).value_or(false) && static_cast<bool>(condition);
}

/// How the axes of one view walk those of the view below: each one along a single axis, and never past its end.
struct AxisSteps {
  struct Step {
    std::size_t axis;   // of the upper view, with more than one index
    std::size_t below;  // of the lower view
    SymInt length;      // > 0
    SymInt extent;
  };
  InlineVector<Step, 8> steps;
  InlineVector<SymInt, 8> last;  // the greatest index of each axis below
};

std::optional<AxisSteps> axis_steps(const View& above, const View& below) {
  if (above.masked() || !surely(above.offset == 0)) return std::nullopt;
  AxisSteps out;
  out.last.assign(below.rank(), 0);
  Ints row_major(below.rank());
  SymInt stride = 1;
  for (std::size_t d = below.rank(); d-- > 0; stride = stride * below.shape[d]) row_major[d] = stride;
  for (std::size_t t = 0; t < above.rank(); ++t) {
    const SymInt length = above.strides[t], extent = above.shape[t];
    if (surely(extent == 1) || surely(length == 0)) continue;
    if (!surely(extent >= 2) || !surely(length > 0)) return std::nullopt;
    std::size_t d = 0;
    while (d < below.rank() && !(surely(row_major[d] >= 1) && surely(length % row_major[d] == 0))) ++d;
    if (d == below.rank()) return std::nullopt;
    out.steps.push_back({t, d, length / row_major[d], extent});
    out.last[d] += out.steps.back().length * (extent - 1);
  }
  for (std::size_t d = 0; d < below.rank(); ++d)
    if (!surely(out.last[d] < below.shape[d])) return std::nullopt;
  return out;
}

/// Has the axis below, walked without steps p and q, an index inside of its mask?
bool may_be_valid(const AxisSteps& walk, std::size_t d, const Range& mask) {
  if (surely(mask.lo <= 0) && surely(mask.hi > 0)) return true;
  return std::ranges::any_of(walk.steps, [&](const AxisSteps::Step& step) {
    if (step.below != d) return false;
    const SymInt index = (mask.lo + (step.length - 1)) / step.length;
    return guarded(index < step.extent) && guarded(index * step.length < mask.hi);
  });
}

/// Do steps p and q cross an edge of the padding of the axis that both walk alone? Then each of them alone leads from a
/// corner in the padding to an index outside of it.
bool cross_an_edge(const AxisSteps& walk, const AxisSteps::Step& p, const AxisSteps::Step& q, const Range& mask) {
  const SymInt last = walk.last[p.below];
  const auto leaves = [&](const AxisSteps::Step& step, SymInt padding, SymInt valid) {
    const SymInt index = (padding + (step.length - 1)) / step.length;  // the first one outside of the padding
    return guarded(index < step.extent) && guarded(index * step.length < padding + valid);
  };
  const auto both = [&](SymInt padding, SymInt valid) {
    return surely(padding > 0) && leaves(p, padding, valid) && leaves(q, padding, valid);
  };
  return both(mask.lo, mask.extent()) || both(last - mask.hi + 1, mask.extent());
}

}  // namespace

bool never_one_view(const ShapeTracker& map) {
  if (view_count(map) != 2) return false;
  const View& below = map.views().front();
  if (!below.masked()) return false;
  const std::optional<AxisSteps> walk = axis_steps(outermost(map), below);
  if (!walk) return false;
  for (std::size_t d = 0; d < below.rank(); ++d) {
    InlineVector<const AxisSteps::Step*, 4> along;
    for (const AxisSteps::Step& step : walk->steps)
      if (step.below == d) along.push_back(&step);
    if (along.size() != 2 || !cross_an_edge(*walk, *along[0], *along[1], below.mask[d])) continue;
    bool others = true;
    for (std::size_t other = 0; other < below.rank(); ++other)
      others = others && (other == d || may_be_valid(*walk, other, below.mask[other]));
    if (others) return true;
  }
  return false;
}

bool changes_along(const ShapeTracker& map, std::size_t axis) {
  const View& top = outermost(map);
  if (axis >= top.rank() || top.shape[axis] == 1) return false;
  const bool cut = top.masked() && (top.mask[axis].lo > 0 || top.mask[axis].hi < top.shape[axis]);
  return cut || top.strides[axis] != 0;
}

bool moves_everywhere(const ShapeTracker& map) {
  const View& top = outermost(map);
  if (!map.single() || top.masked()) return false;
  for (std::size_t d = 0; d < top.rank(); ++d) {
    if (top.shape[d] != 1 && top.strides[d] == 0) return false;
  }
  return true;
}

bool repeats_or_follows(const ShapeTracker& map, std::size_t axis) {
  const SymInt stride = outermost(map).strides[axis];
  return !(stride != 0 && stride != 1);
}

int longer_steps(const ShapeTracker& map, std::size_t a, std::size_t b) {
  const Ints& strides = outermost(map).strides;
  if (!strides[a].is_symbolic() && !strides[b].is_symbolic()) [[likely]] {
    const std::int64_t sa = std::abs(strides[a].value()), sb = std::abs(strides[b].value());
    if (sa == 0 || sb == 0 || sa == sb) return 0;
    return sa > sb ? 1 : -1;
  }
  const SymInt sa = step_length(strides[a]), sb = step_length(strides[b]);
  if (sa == 0 || sb == 0 || sa == sb) return 0;
  return sa > sb ? 1 : -1;
}

std::int64_t estimated_step(const ShapeTracker& map, std::size_t axis) {
  return std::abs(sym::estimate(outermost(map).strides[axis]));
}

double distinct_elements(const ShapeTracker& map) {
  const View& top = outermost(map);
  double n = 1;
  for (std::size_t d = 0; d < top.rank(); ++d) {
    if (top.strides[d] != 0)
      n *= static_cast<double>(sym::estimate(top.masked() ? top.mask[d].extent() : top.shape[d]));
  }
  return n;
}

bool steps_nest(const ShapeTracker& map, const std::vector<bool>& axes) {
  if (!map.single()) return false;
  const View& v = outermost(map);
  InlineVector<std::pair<SymInt, SymInt>, 8> steps;  // (|stride|, extent)
  for (std::size_t d = 0; d < v.rank(); ++d) {
    const SymInt extent = v.masked() ? v.mask[d].extent() : v.shape[d];
    if (!axes[d] || extent <= 1) continue;
    steps.emplace_back(step_length(v.strides[d]), extent);
  }
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return bool(a.first < b.first); });
  SymInt reach = 0;  // how far the smaller strides reach together
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

bool walks_runs(const ShapeTracker& map) {
  const View& top = outermost(map);
  return map.single() && !top.masked() && top.strides.back() == 1;
}

std::optional<Ints> rows_per_step(const ShapeTracker& map, std::size_t outer, SymInt length) {
  const View& view = outermost(map);
  if (!map.single() || view.masked() || view.offset != 0) return std::nullopt;
  Ints rows;
  SymInt farthest = 0;  // inside of the row
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const SymInt stride = view.strides[d];
    if (stride < 0) return std::nullopt;
    if (d < outer && stride >= length) {
      if (stride % length != 0) return std::nullopt;
      rows.push_back(stride / length);
      continue;
    }
    if (d < outer) rows.push_back(0);
    farthest += stride * (view.shape[d] - 1);
  }
  if (farthest >= length) return std::nullopt;
  return rows;
}

std::optional<WindowWalk> window_walk(const ShapeTracker& map, const std::vector<bool>& reduced, std::size_t x) {
  const View& top = outermost(map);
  WindowWalk walk;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // (|stride|, extent)
  std::int64_t nearest = 0;                                  // least step of a reduced axis
  for (std::size_t d = 0; d < top.rank(); ++d) {
    if (top.strides[d] == 0 && !reduced[d]) walk.repeats *= static_cast<double>(sym::estimate(top.shape[d]));
    if (top.strides[d] == 0 || top.shape[d] == 1) continue;
    steps.emplace_back(estimated_step(map, d), sym::estimate(top.shape[d]));
    if (!reduced[d]) continue;
    ++walk.across;
    if (nearest == 0 || steps.back().first < nearest) nearest = steps.back().first;
  }
  if (nearest == 0 || top.strides[x] == 0) return std::nullopt;
  std::sort(steps.begin(), steps.end());
  // Axes whose steps lie within the reach of smaller ones walk the same elements.
  std::int64_t unit = 0, reach = -1;
  for (const auto& [stride, extent] : steps) {
    walk.points *= static_cast<double>(extent);
    if (stride > reach) {
      if (unit > 0) walk.distinct *= static_cast<double>(reach / unit + 1);  // NOLINT(bugprone-integer-division)
      unit = stride;
      reach = 0;
    }
    reach += stride * (extent - 1);
  }
  walk.distinct *= static_cast<double>(reach / unit + 1);  // NOLINT(bugprone-integer-division): whole steps
  walk.step = estimated_step(map, x) / nearest;
  return walk;
}

bool axes_join(const ShapeTracker& map, std::size_t d) {
  const View& v = outermost(map);
  if (map.single() && !v.masked())
    return v.shape[d] == 1 || v.shape[d + 1] == 1 || v.strides[d] == v.strides[d + 1] * v.shape[d + 1];
  return view_count(map.reshape(replace_axes(v.shape, d, 2, {v.shape[d] * v.shape[d + 1]}))) <= view_count(map);
}

}  // namespace oriel::detail
