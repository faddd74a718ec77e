// Everything that is decided about a graph before a device is involved: kernels, loop programs, memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/lower.hpp"
#include "oriel/site.hpp"
#include "runtime/key.hpp"
#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"
#include "schedule/memory_plan.hpp"
#include "view/merging/merge.hpp"

namespace oriel::runtime {

/// Where an argument's memory comes from when the schedule runs.
struct ArgumentSource {
  enum class Kind : std::uint8_t { Leaf, Output, Temporary } kind = Kind::Leaf;
  std::int32_t index = -1;  // index into the key's leaves, the outputs, or the plan's temporaries
};

struct PlannedKernel {
  schedule::KernelId id = -1;  // of kernels that were fused: the last one
  Device device;
  /// The device to copy from, if this is a copy between devices. Then `bytes` are copied from the elements of the
  /// argument that is read to those of the one that is written. The loop program describes the same copy, but is not
  /// compiled.
  std::optional<Device> copied_from;
  std::int64_t bytes = 0;
  std::int32_t node = -1;   // of the key's order: the scatter or the call of the host that it runs, for messages
  bool runs = true;         // false for a kernel whose results have no elements
  std::vector<Site> lines;  // of the program, that built what it stores; each once
  codegen::LoweredKernel lowered;
  std::vector<ArgumentSource> arguments;  // none for kernel-local buffers
  /// In a symbolic plan: what `lowered` is made of when sizes are given. Then `arguments` are those of the parts'
  /// values by their numbers (codegen::number_values), which stand for `values`, and `bytes` is 0.
  codegen::KernelParts parts;
  std::vector<codegen::Binding> values;
};

struct PlannedOutput {
  schedule::EntryId entry = schedule::kNone;
  std::int64_t bytes = 0;
  std::int32_t home = -1;  // the leaf whose memory the output reuses
  Device device = {};
};

/// Valid as long as the roots (which hold the nodes) and the key are. Where sizes are symbols, bytes are 0: they follow
/// when sizes are given (symbolic_plan.hpp).
struct Plan {
  std::shared_ptr<const schedule::Arena> arena;
  schedule::KernelGraph graph;
  std::vector<PlannedKernel> kernels;  // in running order; empty if a sink took them
  std::vector<PlannedOutput> outputs;
  std::vector<std::int32_t> output_of_root;
  /// Awaited values that are stored anyway and are kept: the number of the node, and the output.
  std::vector<std::pair<std::int32_t, std::int32_t>> kept;
  schedule::MemoryPlan memory;                  // of the temporaries
  std::vector<schedule::Lifetime> lifetimes;    // of the temporaries of a symbolic plan
  std::vector<schedule::EntryId> first_values;  // the first value in each of them
  detail::MergeStatistics view_merges;
};

/// Receives each kernel that runs as soon as it is lowered, in running order.
using KernelSink = std::function<void(PlannedKernel&&)>;

/// `key` was made from the same roots, for work that is still under way. With a sink the plan keeps no kernels: a graph
/// of a million nodes may have tens of thousands. A `symbolic` plan may have symbolic sizes: decisions on which results
/// depend are guards in the environment of the symbols, decisions about speed alone follow the hints.
Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits,
               const KernelSink& sink = {}, bool symbolic = false);

}  // namespace oriel::runtime
