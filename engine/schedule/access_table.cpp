#include "schedule/access_table.hpp"

#include <algorithm>
#include <utility>

#include "view/stacks/index_maps.hpp"

namespace oriel::schedule {

using graph::Op;

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

std::int32_t AccessTable::argument(EntryId entry, bool output) {
  const bool leaf = !output && arena_[entry].op == Op::Buffer;
  std::vector<LoopArgument>& list = memory_.arguments;
  const auto next = static_cast<std::int32_t>(list.size());
  if (list.size() < kFewArguments) {
    for (std::size_t a = 0; a < list.size(); ++a)
      if (list[a].entry == entry && list[a].leaf == leaf && list[a].output == output)
        return static_cast<std::int32_t>(a);
  } else {
    if (argument_ids_.empty())
      for (std::size_t a = 0; a < list.size(); ++a)
        argument_ids_.emplace(std::make_tuple(list[a].entry, list[a].leaf, list[a].output),
                              static_cast<std::int32_t>(a));
    const auto [known, fresh] = argument_ids_.emplace(std::make_tuple(entry, leaf, output), next);
    if (!fresh) return known->second;
  }
  list.push_back({entry, leaf, output, -1});
  return next;
}

std::int32_t AccessTable::shared_argument(EntryId written) const {
  const EntryId taken = graph_.donor_of(written);
  const bool write = graph_.writes.home(written) != kNone;
  if (taken == kNone && !write) return -1;
  const std::vector<LoopArgument>& list = memory_.arguments;
  for (std::size_t a = 0; a < list.size(); ++a)
    if (!list[a].output &&
        (write ? graph_.writes.storage(list[a].entry) == graph_.writes.storage(written) : list[a].entry == taken))
      return static_cast<std::int32_t>(a);
  return -1;
}

std::int32_t AccessTable::add(std::int32_t argument, DType dtype, Read read, StageSlot at, bool store,
                              const Ints* strides) {
  const int stage = at.body ? at.stage : kOuterOnly;
  const auto [known, fresh] = access_ids_.emplace(std::make_tuple(argument, stage, read.map, store, dtype),
                                                  static_cast<std::int32_t>(memory_.accesses.size()));
  if (!fresh) return known->second;
  ShapeTracker tracker = graph_.maps[read.map];
  if (layout_.splits_axes(read.scope)) {
    Ints order;
    for (const bool outer : {true, false})
      for (std::size_t d = 0; d < kernel_.outer_axes.size(); ++d)
        if (kernel_.outer_axes[d] == outer) order.push_back(d);
    tracker = tracker.permute(order);
  }
  if (strides != nullptr) tracker = detail::in_memory(tracker, arena_[read.entry].shape(), *strides);
  memory_.accesses.push_back(
      {argument, dtype, read.entry, read.scope, read.map, stage, store, false, std::move(tracker)});
  return known->second;
}

}  // namespace oriel::schedule
