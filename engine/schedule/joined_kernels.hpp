// Kernels that run as one program of several parts, because each reads the rows of the one before it.
#pragma once

#include <span>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// Joins kernels of a schedule: what one leaves for the next is then a row at a time, never memory as a whole.
///
///   scores[o, c] = sum over r of q[o, r] * k[c, r]     part 0, columns c
///   softmax of scores[o, r] over r                      part 1
///   out[o, c] = sum over r of weights[o, r] * v[r, c]   part 2, columns c
///
/// Joined kernels begin with a product of matrices. They go on as long as rows are shared and those that are kept fit
/// FusionLimits::row_bytes. They are joined where that pays: where the values between would be memory that rows in
/// cache save. Where kernels were thought of and not joined, the reason for storing the value between them says why.
/// `requested` values are stored in any case. Fills KernelGraph::joined, and leaves the last of the joined kernels
/// alone in the running order.
void join_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                  KernelGraph& graph);

}  // namespace oriel::schedule
