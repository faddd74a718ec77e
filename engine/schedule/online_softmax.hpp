// Softmax between two products of matrices, which can run with a running maximum and sum.
#pragma once

#include "schedule/loops.hpp"

namespace oriel::schedule {

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
