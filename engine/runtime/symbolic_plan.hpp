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
    std::vector<ArgumentSource> values;       // by the numbers in the program's bindings
    backend::Backend* copied_from = nullptr;  // of a copy, which runs no program
    schedule::KernelId kernel = -1;
    std::int32_t node = -1;  // PlannedKernel::node
    std::vector<Site> lines = {};
  };
  void add(PlannedKernel&& kernel, const schedule::DeviceLimits& limits);
  std::size_t number_of(Program program);
  void collect(const Key& key);
  schedule::EntryId copied(const Step& step) const;
  std::vector<LaunchStep> steps_at(const graph::Sizes::At& at, std::span<const std::int64_t> values,
                                   KernelCache& kernels) const;
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
};

}  // namespace oriel::runtime
