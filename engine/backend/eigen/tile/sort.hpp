// Programs that sort, made ready and run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Short rows go side by side through a network, a line of 64 bytes of keys at a time; long ones digit by digit (a
/// radix sort from the lowest digit up), one row after the other. Both give what the op says, so nothing depends on
/// which it is. Beside the result a thread holds a tile of at most 512 KiB, or what the digits are dealt out to: as
/// much as the row again, for positions 8 bytes an element (of 8 bytes: 32).
struct SortPlan {
  codegen::Sorting sorting;
  DType dtype = DType::float32;
  const isa::Table* table = nullptr;
  std::int64_t lanes = 0;  // rows that a tile holds; 0: digit by digit
};

std::shared_ptr<const SortPlan> make_sort_plan(const codegen::LoopProgram& program, const isa::Table& table);
/// Estimated time of a run on one core.
double sort_nanoseconds(const SortPlan& plan);
std::string describe_sort(const SortPlan& plan);
/// Sorts argument 0 into argument 1. Throws MemoryError where there is no room for a row's digits.
void run_sort(const SortPlan& plan, const Team& threads, std::span<void* const> arguments);

}  // namespace oriel::backend::eigen
