#include "runtime/plan.hpp"

#include "runtime/places.hpp"
#include "schedule/takeover.hpp"

namespace oriel::runtime {

using schedule::EntryId;
using schedule::KernelId;

namespace {

/// What is asked for, each value once; `early` are those of the roots that came last in the key.
struct Requested {
  std::vector<EntryId> all;
  std::vector<EntryId> early;
};

Requested request(Plan& plan, std::size_t roots, std::size_t early) {
  const schedule::Arena& arena = *plan.arena;
  Requested requested;
  std::vector<std::int32_t> output_of(arena.size(), -1);
  for (std::size_t i = 0; i < roots; ++i) {
    const EntryId e = arena.root(i);
    std::int32_t& output = output_of[static_cast<std::size_t>(e)];
    if (output < 0) {
      output = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes_of(arena[e]), -1, arena.device(e)});
      requested.all.push_back(e);
      if (i + early >= roots) requested.early.push_back(e);
    }
    plan.output_of_root.push_back(output);
  }
  return requested;
}

/// Says why a leaf may not be overwritten; empty where it may be.
schedule::LeafGuard leaf_guard(const Key& key, const LeafNumbers& leaves) {
  return [&](const mem::BufferPtr& buffer) -> std::string {
    if (!buffer->writable()) return "lies in memory that was lent to be read";
    switch (key.leaf_readers[static_cast<std::size_t>(leaves.of(buffer.get()))]) {
      case Usage::Readers::none:
        return "";
      case Usage::Readers::pending:
        return "is still to be read by values that others hold, needed here in part alone or larger than it";
      default:
        return "can still be read from elsewhere";
    }
  };
}

/// The kernels that run as one, by kernel.
class Chains {
 public:
  Chains(Plan& plan, std::span<const EntryId> requested, const schedule::DeviceLimits& limits)
      : chains_(codegen::find_chains(*plan.arena, plan.graph, requested, limits)), of_(plan.graph.kernels.size(), -1) {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      for (const KernelId k : chains_[c].kernels) of_[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(c);
      plan.running += chains_[c].lowered.program.running;
    }
    plan.joined = static_cast<int>(chains_.size());
    plan.graph.joined.assign(chains_.empty() ? 0 : of_.size(), false);
    for (std::size_t k = 0; k < plan.graph.joined.size(); ++k) plan.graph.joined[k] = of_[k] >= 0;
    // A chain runs where its last kernel does.
    std::erase_if(plan.graph.order, [&](KernelId k) {
      const codegen::Chain* chain = of(k);
      return chain != nullptr && chain->kernels.back() != k;
    });
  }
  codegen::Chain* of(KernelId k) {
    const std::int32_t chain = of_[static_cast<std::size_t>(k)];
    return chain < 0 ? nullptr : &chains_[static_cast<std::size_t>(chain)];
  }

 private:
  std::vector<codegen::Chain> chains_;
  std::vector<std::int32_t> of_;
};

PlannedKernel planned_kernel(const Plan& plan, KernelId id) {
  const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(id)];
  PlannedKernel planned;
  planned.id = id;
  planned.device = kernel.device;
  planned.runs = numel(kernel.root_shape) != 0;
  if (planned.runs && kernel.copy) {
    const schedule::Arena& arena = *plan.arena;
    planned.copied_from = arena.device(arena[kernel.root].source[0]);
    planned.bytes = bytes_of(arena[kernel.root]);
  }
  return planned;
}

void lower(const Plan& plan, codegen::Chain* chain, const schedule::DeviceLimits& limits, PlannedKernel& planned) {
  if (chain == nullptr) {
    planned.lowered = codegen::lower(*plan.arena, plan.graph, planned.id, limits.of(planned.device).row_bytes);
    return;
  }
  planned.lowered = std::move(chain->lowered);
  planned.parts = std::move(chain->kernels);
  planned.reason = std::move(chain->reason);
}

}  // namespace

Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits,
               const KernelSink& sink) {
  const detail::MergeStatistics before = detail::thread_merge_statistics();
  Plan plan;
  plan.arena = std::make_unique<schedule::Arena>(roots, key.order, key.parameters);
  const Requested requested = request(plan, roots.size(), key.early);
  const LeafNumbers leaves(key);

  plan.graph = schedule::form_kernels(*plan.arena, requested.all, limits, leaf_guard(key, leaves), requested.early);
  Chains chains(plan, requested.all, limits);
  if (!roots.empty() && limits.of(roots.front()->device).take_over) {
    const auto dies = [&](EntryId e) {
      return bool{key.leaf_dies[static_cast<std::size_t>(leaves.of((*plan.arena)[e].buffer().get()))]};
    };
    schedule::take_over_memory(*plan.arena, requested.all, dies, plan.graph);
  }

  Places places(plan, leaves);
  for (std::size_t step = 0; step < plan.graph.order.size(); ++step) {
    const KernelId id = plan.graph.order[step];
    places.store(plan.graph.kernels[static_cast<std::size_t>(id)], step);
    PlannedKernel& planned = plan.kernels.emplace_back(planned_kernel(plan, id));
    if (!planned.runs) continue;
    lower(plan, chains.of(id), limits, planned);
    for (const codegen::Binding& b : planned.lowered.bindings) planned.arguments.push_back(places.source(b, step));
    if (!sink) continue;
    sink(planned);
    planned.lowered = {};
  }
  plan.memory = places.memory();
  plan.view_merges = detail::thread_merge_statistics() - before;
  return plan;
}

}  // namespace oriel::runtime
