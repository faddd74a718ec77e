// A schedule that is ready to run on its devices. It no longer needs the graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  std::vector<std::int32_t> stores;  // indices of the outputs that it writes
  std::int32_t root = -1;  // the root it works for, for messages: one that it stores, else the next one that is stored
  std::int32_t node = -1;  // PlannedKernel::node
  Site site = Site::unknown();  // for messages, where a schedule serves one graph
  backend::Backend* device = nullptr;
  backend::Backend* copied_from = nullptr;  // for a copy, which has no kernel: the device of the first argument
  std::int64_t copied_bytes = 0;
  /// An argument of floats, which a check looks at (runtime/check.hpp).
  struct Floats {
    std::uint32_t argument;
    DType dtype;
    std::int64_t elements;
    bool output;
  };
  std::vector<Floats> floats = {};
  std::vector<bool> writes = {};  // by argument
  std::vector<Site> lines = {};   // of the program, that built what it stores
  std::int64_t reported = -1;     // the number of its kernel in the report of the process; -1: it is not there
};

struct CompiledSchedule {
  std::uint16_t context = 0;  // of the first root: its settings say what is reported
  std::vector<LaunchStep> steps;
  std::vector<std::int64_t> output_bytes;
  std::vector<Device> output_device;
  std::vector<std::int32_t> output_home;  // the leaf whose memory the output reuses, or -1
  std::vector<std::int32_t> output_of_root;
  std::vector<std::pair<std::int32_t, std::int32_t>> kept;  // nodes by number that get outputs beside the roots
  schedule::MemoryPlan memory;
  std::vector<std::uint64_t> key_words;
  std::optional<std::size_t> dumped;  // the number under which it was dumped
};

/// What the steps of one program have in common. `copies`: it describes a copy between devices.
LaunchStep step_of(const codegen::LoopProgram& program, backend::Backend& device, bool copies);
/// Adds such a step for a planned kernel with these arguments. `bytes`: of a copy.
void add_step(CompiledSchedule& schedule, LaunchStep step, const PlannedKernel& kernel,
              std::vector<ArgumentSource> arguments, std::int64_t bytes);
/// Fills in everything else, and shows each device all its kernels together, so that it can build them at once. Call it
/// after the last add_step. `outputs`, `memory`: those of the plan, with numbers for sizes.
void finish(CompiledSchedule& schedule, const Plan& plan, std::span<const PlannedOutput> outputs,
            schedule::MemoryPlan memory);

class KernelCache;
/// Plans the work of pending roots that have this key, reports the plan if schedules are watched, and compiles it.
std::shared_ptr<const CompiledSchedule> compile_schedule(std::span<const graph::NodePtr> roots, const Key& key,
                                                         KernelCache& kernels);

/// The scheduler's limits on one device, and on all devices that a key names.
schedule::FusionLimits limits_of(const backend::Backend& backend);
schedule::DeviceLimits limits_of(const Key& key);

}  // namespace oriel::runtime
