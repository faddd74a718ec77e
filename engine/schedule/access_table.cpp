#include "schedule/access_table.hpp"

#include <utility>

#include "view/stacks/index_maps.hpp"

namespace oriel::schedule {

using graph::Op;

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
