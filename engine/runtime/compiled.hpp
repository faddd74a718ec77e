// A schedule made ready for its devices, free of the graph it came from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

struct LaunchStep {
  std::shared_ptr<const backend::Kernel> kernel;
  std::vector<ArgumentSource> arguments;
  std::string name;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  std::vector<std::int32_t> stores;  // the outputs that it writes
  std::int32_t root = -1;            // whose value it is for: one that it stores, else the next that is stored
  backend::Backend* device = nullptr;
  backend::Backend* copied_from = nullptr;  // of a copy, which has no kernel: the first argument's device
  std::int64_t copied_bytes = 0;
};

struct CompiledSchedule {
  std::vector<LaunchStep> steps;
  std::vector<std::int64_t> output_bytes;
  std::vector<Device> output_device;
  std::vector<std::int32_t> output_home;  // the leaf whose memory an output takes over, or -1
  std::vector<std::int32_t> output_of_root;
  schedule::MemoryPlan memory;
  std::vector<std::uint64_t> key_words;
  std::optional<std::size_t> dumped;  // the number of its dump
};

class KernelCache;
/// Adds a planned kernel's step. The kernel runs.
void add_step(CompiledSchedule& schedule, const PlannedKernel& kernel, KernelCache& kernels);
/// Fills in the rest, once all steps are there.
void finish(CompiledSchedule& schedule, const Plan& plan, const Key& key);
/// Lets each device see its kernels together.
void prepare(const CompiledSchedule& schedule);
/// All of that: plans the work of pending roots, whose key this is, tells those who watch schedules, and makes it
/// ready.
std::shared_ptr<const CompiledSchedule> compile_schedule(std::span<const graph::NodePtr> roots, const Key& key,
                                                         KernelCache& kernels);

/// The limits of the scheduler on a device, and on all that a graph has to do with.
schedule::FusionLimits limits_of(const backend::Backend& backend);
schedule::DeviceLimits limits_of(const Key& key);

}  // namespace oriel::runtime
