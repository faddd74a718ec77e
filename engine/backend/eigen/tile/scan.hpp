// Prepares and runs programs that scan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Threads share rows and columns. If there are too few, they share the runs of each: first they combine each run by
/// itself, then one thread says what is before each share, then they scan their shares. The order is the same, so the
/// number of threads changes no bit.
struct ScanPlan {
  codegen::Scanning scan;
  DType from = DType::float32;
  DType to = DType::float32;
  const isa::Table* table = nullptr;
  const isa::ScanFns* fns = nullptr;  // null for a recurrence, which runs in order
  bool side_by_side = false;          // short rows, several at a time
  std::int64_t strip = 1;             // columns side by side
};

std::shared_ptr<const ScanPlan> make_scan_plan(const codegen::LoopProgram& program, const isa::Table& table);
/// The estimated time of a run on one core.
double scan_nanoseconds(const ScanPlan& plan);
std::string describe_scan(const ScanPlan& plan);
/// Scans argument 0 into the last argument; of a recurrence, arguments 0 and 1. Throws MemoryError if there is no
/// memory for the runs' totals.
void run_scan(const ScanPlan& plan, const Team& threads, std::span<void* const> arguments);

}  // namespace oriel::backend::eigen
