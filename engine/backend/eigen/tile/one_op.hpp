// Plans of programs that sort, scan, scatter or call a function of host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/eigen/tile/plan.hpp"

namespace oriel::backend::eigen {

/// Sorts argument 0 into argument 1. Short rows are sorted side by side by a network, one line of 64 bytes of keys at a
/// time. Long rows are sorted one after the other, digit by digit (a radix sort from the lowest digit). Both give the
/// result that the op defines, so nothing depends on the choice. Besides the result, a thread holds a tile of at most
/// 512 KiB, or memory for the digits: as much as the row again, and for positions 8 bytes for each element (32 for
/// elements of 8 bytes). `run` throws MemoryError if there is no memory for a row's digits.
struct SortPlan final : PathPlan {
  codegen::Sorting sorting;
  DType dtype = DType::float32;
  const isa::Table* table = nullptr;
  std::int64_t lanes = 0;  // rows in a tile; 0: sort digit by digit

  double nanoseconds() const override;
  std::string describe(const codegen::LoopProgram& program) const override;
  void run(const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) const override;
};
std::shared_ptr<const SortPlan> make_sort_plan(const codegen::LoopProgram& program, const isa::Table& table);

/// Scans argument 0 into the last argument; of a recurrence, arguments 0 and 1. Threads share rows and columns. If
/// there are too few, they share the runs of each: first they combine each run by itself, then one thread says what is
/// before each share, then they scan their shares. The order is the same, so the number of threads changes no bit.
/// `run` throws MemoryError if there is no memory for the runs' totals.
struct ScanPlan final : PathPlan {
  codegen::Scanning scan;
  DType from = DType::float32;
  DType to = DType::float32;
  const isa::Table* table = nullptr;
  const isa::ScanFns* fns = nullptr;  // null for a recurrence, which runs in order
  bool side_by_side = false;          // short rows, several at a time
  std::int64_t strip = 1;             // columns side by side

  double nanoseconds() const override;
  std::string describe(const codegen::LoopProgram& program) const override;
  void run(const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) const override;
};
std::shared_ptr<const ScanPlan> make_scan_plan(const codegen::LoopProgram& program, const isa::Table& table);

/// Combines argument 1 into the last argument by the positions in argument 0. Threads share blocks, else the elements
/// of lines, else entries or keys, whichever is fastest. Each entry combines its elements in the order of their keys,
/// so the number of threads changes no bit.
struct ScatterPlan final : PathPlan {
  codegen::Scattering scatter;
  DType dtype = DType::float32;  // of the result

  double nanoseconds() const override;
  std::string describe(const codegen::LoopProgram& program) const override;
  void run(const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) const override;
};
std::shared_ptr<const ScatterPlan> make_scatter_plan(const codegen::LoopProgram& program);

/// Calls the function on the arguments, of which the last is the result. Threads share the batches of a batched
/// function; another one is called once. `run` throws what it throws.
struct HostPlan final : PathPlan {
  graph::HostFunctionPtr function;
  std::vector<DType> dtypes;                      // of the operands and the result
  std::vector<std::vector<std::int64_t>> shapes;  // likewise
  std::vector<std::int64_t> batch_bytes;          // likewise, of a batch
  std::int64_t batches = 1;

  double nanoseconds() const override;
  std::string describe(const codegen::LoopProgram& program) const override;
  void run(const Team& threads, std::span<void* const> arguments, std::span<const graph::Scalar>) const override;
};
std::shared_ptr<const HostPlan> make_host_plan(const codegen::LoopProgram& program);

}  // namespace oriel::backend::eigen
