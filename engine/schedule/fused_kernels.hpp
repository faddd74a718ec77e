// Kernels that run as one program of several parts, because each reads the rows of the one before it.
#pragma once

#include <span>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// Fuses kernels of a schedule: each passes its results to the next one row by row, and never stores all of them.
///
///   scores[o, c] = sum over r of q[o, r] * k[c, r]     part 0, columns c
///   softmax of scores[o, r] over r                      part 1
///   out[o, c] = sum over r of weights[o, r] * v[r, c]   part 2, columns c
///
/// Fused kernels begin with a product of matrices. Further kernels are fused with it as long as they share its rows and
/// the rows between them fit FusionLimits::row_bytes. Kernels are fused if that saves time: if the values between them
/// would go through memory, and rows stay in cache. If kernels could have been fused and are not, the reason for
/// storing the value between them says why. `requested` values are stored in any case. Fills KernelGraph::fused. Of the
/// fused kernels only the last one stays in the running order.
void join_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                  KernelGraph& graph);

}  // namespace oriel::schedule
