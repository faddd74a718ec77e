#include "runtime/plan.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "codegen/sizes.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "runtime/memory_assignment.hpp"
#include "schedule/describe.hpp"
#include "schedule/fused_kernels.hpp"
#include "schedule/memory_plan.hpp"

namespace oriel::runtime {

using schedule::EntryId;
using schedule::KernelId;

namespace {

/// The requested values, each once, and why they are requested if nobody asked for them.
struct Requested {
  std::vector<EntryId> all;
  std::vector<schedule::RequestReason> reasons;
};

Requested request(Plan& plan, std::span<const graph::NodePtr> roots, const Key& key) {
  const schedule::Arena& arena = *plan.arena;
  Requested requested;
  std::vector<std::int32_t> output_of(arena.size(), -1);
  const std::size_t asked = roots.size() - key.added.size();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const EntryId e = arena.root(i);
    std::int32_t& output = output_of[static_cast<std::size_t>(e)];
    if (output < 0) {
      output = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes_of(arena[e]), -1, arena.device(e)});
      requested.all.push_back(e);
      if (i >= asked) requested.reasons.emplace_back(e, text_of(key.added[i - asked], *roots[i]));
    }
    plan.output_of_root.push_back(output);
  }
  return requested;
}

/// Is the entry in memory of its own, row-major, once its kernel has run?
bool stored_alone(const Plan& plan, EntryId e) {
  const schedule::Entry& entry = (*plan.arena)[e];
  const KernelId k = plan.graph.stored_by[static_cast<std::size_t>(e)];
  if (k < 0 || entry.op == graph::Op::Buffer || entry.op == graph::Op::Assign || entry.strides != nullptr) return false;
  const schedule::FusedKernels* const fused = plan.graph.fused_with(k);
  return fused == nullptr || std::ranges::find(fused->between, e) == fused->between.end();
}

/// Makes outputs of values that the kernels store anyway and for which the program can still ask, as long as there is
/// room beside the kept roots. Values that nothing holds count only if a value above them, which is not kept, needs
/// them.
void keep_stored(Plan& plan, std::span<const graph::NodePtr> roots, const Key& key, Requested& requested) {
  if (key.awaited.empty()) return;
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::int32_t> output_of(plan.arena->size(), -1);
  for (std::size_t o = 0; o < plan.outputs.size(); ++o)
    output_of[at(plan.outputs[o].entry)] = static_cast<std::int32_t>(o);
  std::int64_t left = key.keep_bytes;
  for (std::size_t k = 0; k < key.added.size(); ++k)
    if (const graph::Node& root = *roots[roots.size() - key.added.size() + k]; key.added[k].reason != RootReason::early)
      left -= bytes_of(root.shape, root.dtype);

  const auto keep = [&](const Awaited& a, EntryId e) {
    const graph::Node& node = key.order[a.number];
    if (!stored_alone(plan, e) || graph::memory_strides(node) != nullptr || plan.arena->device(e) != node.device)
      return false;
    std::int32_t& output = output_of[at(e)];
    if (output < 0) {
      schedule::Kernel& kernel = plan.graph.kernels[at(plan.graph.stored_by[at(e)])];
      std::string& reason = std::ranges::find(kernel.outputs, e, &schedule::Output::entry)->reason;
      const std::int64_t bytes = bytes_of((*plan.arena)[e]);
      if (key.keep_bytes != 0 && bytes > left) {
        if (reason.find("; not kept") == std::string::npos)
          reason +=
              fmt::format("; not kept, though {}: its {} bytes and what else is kept exceed {} (ORIEL_LAZY_BYTES)",
                          still_named(node, a.held), bytes, key.keep_bytes);
        return false;
      }
      left -= bytes;
      reason += "; kept because " + still_named(node, a.held);
      output = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes, -1, node.device});
      requested.all.push_back(e);
    }
    plan.kept.emplace_back(a.number, output);
    return true;
  };

  std::vector<bool> wanted(key.order.size()), done(key.order.size());
  for (const std::int32_t r : key.order.roots()) done[at(r)] = true;
  std::size_t k = key.awaited.size();
  for (std::size_t i = key.order.size(); i-- > 0;) {
    const bool awaited = k > 0 && at(key.awaited[k - 1].number) == i;
    if (awaited && (key.awaited[--k].held || wanted[i])) wanted[i] = !keep(key.awaited[k], plan.arena->named(k));
    if (!wanted[i] || done[i]) continue;
    for (const std::int32_t s : key.order.sources(i)) wanted[at(s)] = true;
  }
}

/// Returns why a leaf may not be overwritten, or an empty string if it may.
schedule::LeafGuard leaf_guard(const Key& key, const LeafNumbers& leaves) {
  return [&](const mem::BufferPtr& buffer) -> std::string {
    if (!buffer->writable()) return "is borrowed memory, which is read-only";
    switch (key.leaf_readers[static_cast<std::size_t>(leaves.of(buffer.get()))]) {
      case Usage::Readers::none:
        return "";
      case Usage::Readers::pending:
        return "is still read by pending tensors that the program holds; realise them first";
      default:
        return "can still be read from elsewhere";
    }
  };
}

/// Decides which kernels there are, in which order they run, and which values reuse memory.
void schedule_kernels(Plan& plan, std::span<const graph::NodePtr> roots, const Key& key, const LeafNumbers& leaves,
                      Requested requested, const schedule::DeviceLimits& limits) {
  const schedule::Arena& arena = *plan.arena;
  plan.graph = schedule::form_kernels(arena, requested.all, limits, leaf_guard(key, leaves), requested.reasons);
  schedule::join_kernels(arena, requested.all, limits, plan.graph);
  keep_stored(plan, roots, key, requested);
  if (!limits.of(arena.home()).donates) return;
  const auto dies = [&](EntryId e) {
    return bool{key.leaf_dies[static_cast<std::size_t>(leaves.of(arena[e].buffer().get()))]};
  };
  schedule::donate_memory(arena, requested.all, dies, plan.graph);
}

/// Names the kernel in the message of one that cannot be lowered with symbolic sizes.
codegen::KernelParts symbolic_parts(const Plan& plan, KernelId id) {
  try {
    return codegen::lower_parts(*plan.arena, plan.graph, id);
  } catch (const ArgumentError& error) {
    const std::string_view why = error.reason();
    const schedule::Entry& root = (*plan.arena)[plan.graph.kernels[static_cast<std::size_t>(id)].root];
    const std::string line = schedule::site_text(root.node->site);
    throw ArgumentError("schedule", fmt::format("the kernel that computes {} {}{}: {}", graph::snake_name(root.op),
                                                to_string(root.shape()), line.empty() ? "" : " (" + line + ")", why));
  }
}

/// The lines that built what the kernel stores: of kernels that are fused, what no later part takes over by rows.
std::vector<Site> lines_of(const Plan& plan, KernelId id) {
  std::vector<Site> lines;
  const schedule::FusedKernels* fused = plan.graph.fused_with(id);
  for (const KernelId member : fused != nullptr ? std::span(fused->kernels) : std::span<const KernelId>(&id, 1)) {
    for (const schedule::Output& output : plan.graph.kernels[static_cast<std::size_t>(member)].outputs) {
      if (fused != nullptr && std::ranges::find(fused->between, output.entry) != fused->between.end()) continue;
      const Site site = (*plan.arena)[output.entry].node->site;
      const auto same = [&](Site other) { return other.file == site.file && other.line == site.line; };
      if (site.file != nullptr && std::ranges::none_of(lines, same)) lines.push_back(site);
    }
  }
  return lines;
}

/// The numbers of nodes whose kernels' errors name their lines: calls of the host.
std::unordered_map<const graph::Node*, std::int32_t> nodes_with_errors(const graph::Order& order) {
  std::unordered_map<const graph::Node*, std::int32_t> numbers;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (graph::is_host(order[i].op)) numbers.emplace(&order[i], static_cast<std::int32_t>(i));
  return numbers;
}

/// Lowers a kernel to the device's program, or to a copy of bytes. Its arguments are in places that are known so far.
PlannedKernel plan_kernel(const Plan& plan, std::size_t step, MemoryAssignment& assignment,
                          const schedule::DeviceLimits& limits, bool symbolic) {
  const schedule::Arena& arena = *plan.arena;
  const KernelId id = plan.graph.order[step];
  const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(id)];
  PlannedKernel planned;
  planned.id = id;
  planned.device = kernel.device;
  planned.runs = numel(kernel.root_shape) != 0;
  assignment.store(kernel, step);
  if (!planned.runs) return planned;
  planned.lines = lines_of(plan, id);
  if (kernel.copy) {
    planned.copied_from = arena.device(arena[kernel.root].source[0]);
    planned.bytes = bytes_of(arena[kernel.root]);
  }
  if (!symbolic) {
    planned.lowered = codegen::lower(arena, plan.graph, id, limits.of(kernel.device).row_bytes);
    for (const codegen::Binding& b : planned.lowered.bindings) planned.arguments.push_back(assignment.source(b, step));
    return planned;
  }
  planned.parts = symbolic_parts(plan, id);
  planned.values = codegen::number_values(planned.parts);
  const std::vector<EntryId>& between = planned.parts.fused.between;
  for (std::size_t v = 0; v < planned.values.size(); ++v) {
    const bool local = !planned.values[v].leaf && std::ranges::find(between, static_cast<EntryId>(v)) != between.end();
    planned.arguments.push_back(local ? ArgumentSource{} : assignment.source(planned.values[v], step));
  }
  return planned;
}

}  // namespace

Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits,
               const KernelSink& sink, bool symbolic) {
  const detail::MergeStatistics before = detail::thread_merge_statistics();
  const LeafNumbers leaves(key);
  Plan plan;
  std::vector<std::int32_t> awaited;
  for (const Awaited& a : key.awaited) awaited.push_back(a.number);
  plan.arena = std::make_shared<const schedule::Arena>(roots, key.order, key.parameters, awaited);
  schedule_kernels(plan, roots, key, leaves, request(plan, roots, key), limits);
  MemoryAssignment assignment(plan, leaves);
  const auto numbers = nodes_with_errors(key.order);
  if (!sink) plan.kernels.reserve(plan.graph.order.size());
  for (std::size_t step = 0; step < plan.graph.order.size(); ++step) {
    PlannedKernel planned = plan_kernel(plan, step, assignment, limits, symbolic);
    const schedule::Entry& root = (*plan.arena)[plan.graph.kernels[static_cast<std::size_t>(planned.id)].root];
    if (const auto number = numbers.find(root.node); number != numbers.end()) planned.node = number->second;
    if (!sink)
      plan.kernels.push_back(std::move(planned));
    else if (planned.runs)
      sink(std::move(planned));
  }
  plan.memory = assignment.memory();
  if (symbolic) {
    plan.lifetimes = assignment.lifetimes();
    plan.first_values = assignment.first_values();
  }
  plan.view_merges = detail::thread_merge_statistics() - before;
  return plan;
}

}  // namespace oriel::runtime
