// Kernels that run as one program of several parts, because each reads the rows of the one before it.
#pragma once

#include <span>

#include "schedule/arena.hpp"
#include "schedule/kernels.hpp"
#include "schedule/loops.hpp"

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

/// May `weights` and `products`, the last two of three fused kernels, run block by block of columns? Then
///
///   most = the maximum over c of y[c]      weights[c] = exp(y[c] - most) / (the sum over c of exp(y[c] - most))
///   out[e] = the sum over c of weights[c] * values[c, e]
///
/// for any y that is made of the scores of column c alone: exp(y - most) of one block of columns can be summed and
/// multiplied before the maximum over all of them is known. So the scores and the weights of other columns, or of a
/// whole row, may be needed nowhere else. `scores` and `stored` are the values that `weights` reads and stores.
bool runs_online(const KernelLoops& weights, EntryId scores, EntryId stored, const KernelLoops& products);

}  // namespace oriel::schedule
