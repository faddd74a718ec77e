// Exchanges of blocks: plans, kept for the next time, and what carries them out.
#pragma once

#include "oriel/tensor.hpp"
#include "shard/sharding.hpp"

namespace oriel::ranks {

/// This rank's block of a tensor that lies as `target` says, from its block as `source` says. All ranks call it. The
/// first call for a pair of shardings plans, and compares a checksum of both shardings among all ranks.
Tensor exchanged(const Tensor& local, const shards::Sharding& source, const shards::Sharding& target);

/// The same of partial sums, which it adds: contributions in the order of the ranks, so that a result does not depend
/// on when they arrive.
Tensor reduced(const Tensor& local, const shards::Sharding& source, const shards::Sharding& target);

/// Throws DTypeError unless tensors of the dtype are sent.
void check_dtype(DType dtype);

/// Do both lay the same elements in the same places of the same blocks?
bool same_blocks(const shards::Sharding& a, const shards::Sharding& b);

/// The block with zero wherever it holds nothing.
Tensor without_gaps(const Tensor& local, const shards::Sharding& sharding);

}  // namespace oriel::ranks
