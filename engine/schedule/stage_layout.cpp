#include "schedule/stage_layout.hpp"

#include <algorithm>
#include <utility>

namespace oriel::schedule {

void StageLayout::run() {
  find_levels();
  lay_out();
}

void StageLayout::find_levels() {
  const auto& list = kernel_.instances;
  level_.assign(list.size(), 0);
  reduction_level_.assign(kernel_.reductions.size(), 0);
  for (std::size_t n = list.size(); n-- > 0;) {
    const Instance& i = list[n];
    switch (i.role) {
      case Role::Load:
      case Role::Leaf:
        break;
      case Role::Compute:
        for (int k = values_.first_operand(n); k < arena_[i.entry].arity; ++k)
          level_[n] = std::max(level_[n], level_[values_.operand(n, k)]);
        break;
      case Role::Alias:
      case Role::Masked:
        level_[n] = level_[values_.source(n)];
        break;
      case Role::Reduce: {
        const int body = level_[values_.source(n)];
        reduction_level_[static_cast<std::size_t>(i.scope - kFirstReduction)] = body;
        level_[n] = body + 1;
        break;
      }
    }
  }
}

void StageLayout::lay_out() {
  int top = -1;
  for (const int l : reduction_level_) top = std::max(top, l);
  std::vector<LoopStage>& stages = nest_.stages;
  stages.reserve(kernel_.reductions.size() + 2);
  stages.emplace_back();
  stage_level_.reserve(kernel_.reductions.size() + 2);
  stage_level_.push_back(-1);
  nest_.stage_of_reduction.assign(kernel_.reductions.size(), -1);
  for (int l = 0; l <= top; ++l) {
    const std::size_t level_begin = stages.size();
    for (std::size_t r = kernel_.reductions.size(); r-- > 0;) {
      if (reduction_level_[r] != l) continue;
      const Shape& extents = kernel_.reductions[r].extents;
      std::size_t s = level_begin;
      while (s < stages.size() && stages[s].inner != extents) ++s;
      if (s == stages.size()) {
        stages.push_back({extents, {}, false});
        stage_level_.push_back(l);
      }
      stages[s].reductions.push_back(r);
      nest_.stage_of_reduction[r] = static_cast<int>(s);
    }
  }
  nest_.outer = all_outer() ? kernel_.root_shape : kernel_.outer_shape;
  if (all_outer() || kernel_.outer_shape.size() == kernel_.root_shape.size()) return;
  LoopStage last;
  for (std::size_t d = 0; d < kernel_.root_shape.size(); ++d)
    if (!kernel_.outer_axes[d]) last.inner.push_back(kernel_.root_shape[d]);
  root_stage_ = static_cast<int>(stages.size());
  stages.push_back(std::move(last));
  stage_level_.push_back(top + 1);
}

StageSlot StageLayout::slot(ScopeId scope, std::size_t instance) const {
  scope = effective(scope);
  if (scope >= kFirstReduction)
    return {nest_.stage_of_reduction[static_cast<std::size_t>(scope - kFirstReduction)], true};
  if (scope == kRootScope && root_stage_ >= 0) return {root_stage_, true};
  // After the last stage of the level that completes it.
  const int level = level_[instance];
  int s = 0;
  for (int k = 0; k < static_cast<int>(stage_level_.size()); ++k)
    if (k != root_stage_ && stage_level_[static_cast<std::size_t>(k)] < level) s = k;
  return {s, false};
}

}  // namespace oriel::schedule
