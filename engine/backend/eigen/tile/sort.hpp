// Prepares and runs programs that sort.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

/// Short rows are sorted side by side by a network, one line of 64 bytes of keys at a time. Long rows are sorted one
/// after the other, digit by digit (a radix sort from the lowest digit). Both give the result that the op defines, so
/// nothing depends on the choice. Besides the result, a thread holds a tile of at most 512 KiB, or memory for the
/// digits: as much as the row again, and for positions 8 bytes for each element (32 for elements of 8 bytes).
struct SortPlan {
  codegen::Sorting sorting;
  DType dtype = DType::float32;
  const isa::Table* table = nullptr;
  std::int64_t lanes = 0;  // rows in a tile; 0: sort digit by digit
};

std::shared_ptr<const SortPlan> make_sort_plan(const codegen::LoopProgram& program, const isa::Table& table);
/// The estimated time of a run on one core.
double sort_nanoseconds(const SortPlan& plan);
std::string describe_sort(const SortPlan& plan);
/// Sorts argument 0 into argument 1. Throws MemoryError if there is no memory for a row's digits.
void run_sort(const SortPlan& plan, const Team& threads, std::span<void* const> arguments);

}  // namespace oriel::backend::eigen
