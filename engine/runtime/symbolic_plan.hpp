// A plan for a graph of symbolic sizes, from which schedules for given sizes are made without scheduling anew.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/sizes.hpp"
#include "graph/sizes.hpp"
#include "runtime/caches.hpp"
#include "runtime/compiled.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// Which kernels there are, what each computes and in which order they run: decided once, for sizes that are symbols.
/// Decisions on which the results depend are guards in the environment of the symbols. Decisions about speed alone
/// follow the hints. Loops, accesses, forms, paths and memory are worked out for each set of sizes. Immutable; the
/// environment must outlive it. Thread safety: any thread.
class SymbolicPlan {
 public:
  /// `key` is that of these pending roots. Throws an Error if the graph cannot be planned with symbolic sizes.
  SymbolicPlan(std::vector<graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits);

  /// The symbols, in the order in which at() takes their values.
  std::span<const sym::Expr> variables() const noexcept { return sizes_.variables(); }
  struct Schedule {
    std::shared_ptr<const CompiledSchedule> compiled;
    std::vector<graph::Scalar> parameters;
    std::vector<graph::RealizedKind> roots;  // what each root is
  };
  /// `values`: one for each of variables(); they must satisfy the guards. Kernels are looked up in `kernels`, or
  /// compiled.
  Schedule at(std::span<const std::int64_t> values, KernelCache& kernels) const;

 private:
  friend class PlanExporter;  // export.cpp

  /// What one or more steps run. Layers that are repeated often have the same programs for all sizes.
  struct Program {
    codegen::KernelParts parts;
    backend::Backend* device;
    std::int64_t row_bytes;
    bool runs;              // false if only copies between devices have it
    std::size_t steps = 0;  // that run it
    std::unique_ptr<const backend::KernelFamily> family = nullptr;
  };
  struct Step {
    std::size_t program;
    PlannedKernel kernel;  // its program is `program`; its parts hold only what is told of them
  };
  /// The outputs and the memory of temporaries for some sizes.
  struct Memory {
    std::vector<PlannedOutput> outputs;
    schedule::MemoryPlan temporaries;
  };
  void add(PlannedKernel&& kernel, const schedule::DeviceLimits& limits);
  std::size_t number_of(Program program);
  void collect(const Key& key);
  /// The entry that a kernel of a call of the host, or of a copy, stores.
  schedule::EntryId stored(const PlannedKernel& kernel) const;
  void add_steps(CompiledSchedule& schedule, const graph::Sizes::At& at, std::span<const std::int64_t> values,
                 KernelCache& kernels) const;
  Memory memory_at(const graph::Sizes::At& at) const;
  /// The plan as it is shown to people: its values name symbols, its programs and memory are those of the sizes.
  Plan shown_at(const graph::Sizes::At& at, const Memory& memory) const;
  std::int64_t bytes_at(const graph::Sizes::At& at, schedule::EntryId value) const;

  std::vector<graph::NodePtr> roots_;
  Plan plan_;
  std::vector<Program> programs_;
  std::unordered_multimap<std::uint64_t, std::size_t> program_of_hash_;
  std::vector<Step> steps_;
  std::vector<graph::Scalar> parameters_;
  std::vector<Key::SizeParameter> size_parameters_;
  std::vector<graph::RealizedKind> kinds_;
  graph::Sizes sizes_;
  std::size_t nodes_;  // of the graph
};

}  // namespace oriel::runtime
