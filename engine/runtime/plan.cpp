#include "runtime/plan.hpp"

#include <algorithm>
#include <unordered_map>

#include "oriel/error.hpp"
#include "schedule/takeover.hpp"

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

/// What takes over memory lies where that lies: in the output that the last of them is, in its leaf, or in the block of
/// the first. Returns the bytes that the values which have no block of their own would take in blocks.
template <class LeafOf>
std::int64_t share_taken(Plan& plan, const LeafOf& leaf_of, std::vector<std::int32_t>& place_of,
                         std::vector<EntryId>& shared) {
  const schedule::KernelGraph& graph = plan.graph;
  if (graph.takes_over.empty()) return 0;
  std::int64_t bytes = 0;
  const auto each = [&](schedule::KernelId k, const auto& visit) {
    for (const schedule::Output& o : graph.kernels[static_cast<std::size_t>(k)].outputs)
      if (const EntryId taken = graph.taken_by(o.entry); taken != schedule::kNone)
        visit(static_cast<std::size_t>(o.entry), taken);
  };
  for (auto k = graph.order.rbegin(); k != graph.order.rend(); ++k) {
    each(*k, [&](std::size_t value, EntryId taken) {
      const std::int32_t place = place_of[value];
      if ((*plan.arena)[taken].op == graph::Op::Buffer) {
        plan.outputs[static_cast<std::size_t>(place)].home = leaf_of(taken);
      } else if (place >= 0) {
        place_of[static_cast<std::size_t>(taken)] = place;
        bytes += bytes_of((*plan.arena)[taken]);
      }
    });
  }
  for (const schedule::KernelId k : graph.order) {
    each(k, [&](std::size_t value, EntryId taken) {
      if (place_of[value] >= 0) return;
      shared[value] = shared[static_cast<std::size_t>(taken)];
      bytes += bytes_of((*plan.arena)[static_cast<EntryId>(value)]);
    });
  }
  return bytes;
}

}  // namespace

Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits,
               const KernelSink& sink) {
  const detail::MergeStatistics before = detail::thread_merge_statistics();
  Plan plan;
  plan.arena = std::make_unique<schedule::Arena>(roots, key.order, key.parameters);
  const schedule::Arena& arena = *plan.arena;

  std::vector<std::int32_t> output_of(arena.size(), -1);
  std::vector<EntryId> requested, early;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const EntryId e = arena.root(i);
    auto& slot = output_of[static_cast<std::size_t>(e)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes_of(arena[e]), -1, arena.device(e)});
      requested.push_back(e);
      if (i + key.early >= roots.size()) early.push_back(e);
    }
    plan.output_of_root.push_back(slot);
  }

  std::unordered_map<const mem::Buffer*, std::int32_t> leaf_index;
  for (std::size_t i = 0; i < key.leaves.size(); ++i)
    leaf_index.emplace(key.leaves[i].get(), static_cast<std::int32_t>(i));

  const schedule::LeafGuard guard = [&](const mem::BufferPtr& buffer) -> std::string {
    if (!buffer->writable()) return "lies in memory that was lent to be read";
    const auto leaf = static_cast<std::size_t>(leaf_index.at(buffer.get()));
    switch (key.leaf_readers[leaf]) {
      case Usage::Readers::none:
        return "";
      case Usage::Readers::pending:
        return "is still to be read by values that others hold, needed here in part alone or larger than it";
      default:
        return "can still be read from elsewhere";
    }
  };
  plan.graph = schedule::form_kernels(arena, requested, limits, guard, early);
  const auto leaf_of = [&](EntryId e) { return leaf_index.at(arena[e].buffer().get()); };
  std::vector<codegen::Chain> chains = codegen::find_chains(arena, plan.graph, requested, limits);
  std::vector<std::int32_t> chain_of(plan.graph.kernels.size(), -1);
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (const schedule::KernelId k : chains[c].kernels)
      chain_of[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(c);
  plan.graph.joined.assign(chains.empty() ? 0 : chain_of.size(), false);
  for (std::size_t k = 0; k < plan.graph.joined.size(); ++k) plan.graph.joined[k] = chain_of[k] >= 0;
  plan.joined = static_cast<int>(chains.size());
  for (const codegen::Chain& c : chains) plan.running += c.lowered.program.running;
  // A chain runs where its last kernel does.
  std::erase_if(plan.graph.order, [&](schedule::KernelId k) {
    const std::int32_t c = chain_of[static_cast<std::size_t>(k)];
    return c >= 0 && chains[static_cast<std::size_t>(c)].kernels.back() != k;
  });
  if (!roots.empty() && limits.of(roots.front()->device).take_over) {
    const auto dies = [&](EntryId e) { return bool{key.leaf_dies[static_cast<std::size_t>(leaf_of(e))]}; };
    schedule::take_over_memory(arena, requested, dies, plan.graph);
  }

  // Writes in one memory have one place: the leaf's, the output's that the last of them is, or a block's.
  const schedule::WritePlan& writes = plan.graph.writes;
  std::vector<EntryId> shared(arena.size());
  for (EntryId e = 0; e < static_cast<EntryId>(arena.size()); ++e) shared[static_cast<std::size_t>(e)] = e;
  for (const schedule::Write& w : writes.writes) {
    const EntryId storage = writes.storage(w.entry);
    shared[static_cast<std::size_t>(w.entry)] = storage;
    const std::int32_t output = output_of[static_cast<std::size_t>(w.entry)];
    if (output < 0 || w.home == schedule::kNone) continue;
    if (arena[storage].op == graph::Op::Buffer) plan.outputs[static_cast<std::size_t>(output)].home = leaf_of(storage);
  }
  // The values on the way to an output that takes over their memory are in it as well.
  std::vector<std::int32_t> place_of = output_of;
  for (auto w = writes.writes.rbegin(); w != writes.writes.rend(); ++w)
    if (w->home != schedule::kNone && arena[w->home].op == graph::Op::Assign)
      place_of[static_cast<std::size_t>(w->home)] = place_of[static_cast<std::size_t>(w->entry)];
  const std::int64_t taken_bytes = share_taken(plan, leaf_of, place_of, shared);

  std::vector<std::int32_t> temporary_of(arena.size(), -1);
  std::vector<schedule::Lifetime> lifetimes;
  const auto at_step = [&](EntryId entry, std::size_t step) -> std::int32_t& {
    std::int32_t& temporary = temporary_of[static_cast<std::size_t>(shared[static_cast<std::size_t>(entry)])];
    if (temporary >= 0) lifetimes[static_cast<std::size_t>(temporary)].last = static_cast<std::int32_t>(step);
    return temporary;
  };
  plan.kernels.resize(plan.graph.order.size());
  for (std::size_t step = 0; step < plan.kernels.size(); ++step) {
    PlannedKernel& planned = plan.kernels[step];
    planned.id = plan.graph.order[step];
    const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(planned.id)];
    const std::int32_t chain = chain_of[static_cast<std::size_t>(planned.id)];
    for (const schedule::Output& o : kernel.outputs) {
      if (place_of[static_cast<std::size_t>(o.entry)] >= 0) continue;
      std::int32_t& temporary = at_step(o.entry, step);
      if (temporary >= 0) continue;
      temporary = static_cast<std::int32_t>(lifetimes.size());
      const auto now = static_cast<std::int32_t>(step);
      lifetimes.push_back({bytes_of(arena[o.entry]), now, now, kernel.device});
    }
    planned.device = kernel.device;
    planned.runs = numel(kernel.root_shape) != 0;
    if (!planned.runs) continue;
    if (kernel.copy) {
      planned.copied_from = arena.device(arena[kernel.root].source[0]);
      planned.bytes = bytes_of(arena[kernel.root]);
    }
    if (chain >= 0) {
      codegen::Chain& joined = chains[static_cast<std::size_t>(chain)];
      planned.lowered = std::move(joined.lowered);
      planned.parts = std::move(joined.kernels);
      planned.reason = std::move(joined.reason);
    } else {
      planned.lowered = codegen::lower(arena, plan.graph, planned.id, limits.of(kernel.device).row_bytes);
    }
    for (const codegen::Binding& b : planned.lowered.bindings) {
      const auto e = static_cast<std::size_t>(b.entry);
      ArgumentSource source;
      if (b.leaf) {
        source = {ArgumentSource::Kind::Leaf, leaf_of(b.entry)};
      } else if (place_of[e] >= 0) {
        source = {ArgumentSource::Kind::Output, place_of[e]};
      } else {
        const std::int32_t temporary = at_step(b.entry, step);
        if (temporary < 0) throw InternalError("schedule", "a value is read before it is stored");
        source = {ArgumentSource::Kind::Temporary, temporary};
      }
      planned.arguments.push_back(source);
    }
    if (!sink) continue;
    sink(planned);
    planned.lowered = {};
  }
  plan.memory = schedule::plan_memory(lifetimes);
  plan.memory.unshared_bytes += taken_bytes;
  plan.view_merges = detail::thread_merge_statistics() - before;
  return plan;
}

}  // namespace oriel::runtime
