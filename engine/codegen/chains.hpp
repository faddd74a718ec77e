// Which kernels of a schedule run as one because each reads the rows of the one before it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/join.hpp"

namespace oriel::codegen {

/// Kernels in running order whose values between them are local (join.hpp).
struct Chain {
  std::vector<schedule::KernelId> kernels;  // the last one stores what the chain is for
  LoweredKernel lowered;
  std::string reason;
};

/// The chains of a schedule, each kernel in one at most. A chain begins with a product of matrices; it goes on as long
/// as rows are shared and what is kept of them fits `limits.row_bytes`, and exists where it pays: where the values
/// between would be memory that rows in cache save. Where one was thought of and refused, the graph's reason for
/// storing the value says why. `requested` values are stored in any case.
std::vector<Chain> find_chains(const schedule::Arena& arena, schedule::KernelGraph& graph,
                               std::span<const schedule::EntryId> requested, const schedule::DeviceLimits& limits);

}  // namespace oriel::codegen
