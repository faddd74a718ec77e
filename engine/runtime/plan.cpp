#include "runtime/plan.hpp"

#include <algorithm>
#include <unordered_map>

#include "oriel/error.hpp"

namespace oriel::runtime {

using schedule::EntryId;

namespace {

std::int64_t bytes_of(const schedule::Entry& e) {
  const std::int64_t elements = numel(e.shape(), "realize").value();
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(itemsize(e.dtype)), &bytes)) {
    throw OverflowError("realize", "the bytes of " + std::string(name(e.dtype)) + " " + to_string(e.shape()) +
                                       " do not fit a signed 64-bit integer; realise a part of it");
  }
  return bytes;
}

}  // namespace

Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::FusionLimits& limits,
               const KernelSink& sink) {
  const detail::MergeStatistics before = detail::thread_merge_statistics();
  Plan plan;
  plan.arena = std::make_unique<schedule::Arena>(roots, key.parameters, key.nodes);
  const schedule::Arena& arena = *plan.arena;

  std::vector<std::int32_t> output_of(arena.size(), -1);
  std::vector<EntryId> requested;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const EntryId e = arena.root(i);
    auto& slot = output_of[static_cast<std::size_t>(e)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes_of(arena[e])});
      requested.push_back(e);
    }
    plan.output_of_root.push_back(slot);
  }

  plan.graph = schedule::form_kernels(arena, requested, limits);

  std::unordered_map<const memory::Buffer*, std::int32_t> leaf_index;
  for (std::size_t i = 0; i < key.leaves.size(); ++i)
    leaf_index.emplace(key.leaves[i].get(), static_cast<std::int32_t>(i));

  std::vector<std::int32_t> temporary_of(arena.size(), -1);
  std::vector<schedule::Lifetime> lifetimes;
  plan.kernels.resize(plan.graph.order.size());
  for (std::size_t step = 0; step < plan.kernels.size(); ++step) {
    PlannedKernel& planned = plan.kernels[step];
    planned.id = plan.graph.order[step];
    const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(planned.id)];
    for (const schedule::Output& o : kernel.outputs) {
      if (output_of[static_cast<std::size_t>(o.entry)] >= 0) continue;
      temporary_of[static_cast<std::size_t>(o.entry)] = static_cast<std::int32_t>(lifetimes.size());
      lifetimes.push_back({bytes_of(arena[o.entry]), static_cast<std::int32_t>(step), static_cast<std::int32_t>(step)});
    }
    planned.runs = numel(kernel.root_shape) != 0;
    if (!planned.runs) continue;
    planned.lowered = codegen::lower(arena, plan.graph, planned.id);
    for (const codegen::Binding& b : planned.lowered.bindings) {
      const auto e = static_cast<std::size_t>(b.entry);
      ArgumentSource source;
      if (b.leaf) {
        source = {ArgumentSource::Kind::Leaf, leaf_index.at(arena[b.entry].buffer().get())};
      } else if (output_of[e] >= 0) {
        source = {ArgumentSource::Kind::Output, output_of[e]};
      } else {
        if (temporary_of[e] < 0) throw InternalError("schedule", "a value is read before it is stored");
        source = {ArgumentSource::Kind::Temporary, temporary_of[e]};
        auto& last = lifetimes[static_cast<std::size_t>(temporary_of[e])].last;
        last = std::max(last, static_cast<std::int32_t>(step));
      }
      planned.arguments.push_back(source);
    }
    if (!sink) continue;
    sink(planned);
    planned.lowered = {};
  }
  plan.memory = schedule::plan_memory(lifetimes);
  plan.view_merges = detail::thread_merge_statistics() - before;
  return plan;
}

}  // namespace oriel::runtime
