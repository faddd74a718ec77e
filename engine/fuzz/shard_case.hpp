// Random shardings with a model of them: for each rank the list of what it holds, computed element by element.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fuzz/choices.hpp"
#include "shard/sharding.hpp"

namespace oriel::fuzz {

/// For each rank: the positions that it holds, with their places in its block.
using HeldModel = std::vector<std::map<std::int64_t, std::int64_t>>;

/// A sharding, its model, and the `oriel shard` program that makes it.
struct ModelledSharding {
  shards::Sharding sharding;
  HeldModel held;
  std::string program;
};

/// Two shardings of one shape on two meshes with the same 2 to 6 ranks.
struct ShardCase {
  ModelledSharding source;
  ModelledSharding target;
};

/// Draws both from placements, with uneven parts, halos, replicated and root axes, by up to three movements each.
ShardCase draw_shard_case(Choices& choices);

/// A random mesh of so many ranks.
shards::Mesh draw_mesh(Choices& choices, std::int64_t ranks);
/// A random sharding of this shape. `expands`: expand may be among its movements, which only sources may have.
ModelledSharding draw_sharding(Choices& choices, const shards::Mesh& mesh, const std::vector<std::int64_t>& shape,
                               int movements, bool expands);
/// A random shape of few elements; extents of 0 and 1 are among them.
std::vector<std::int64_t> draw_sharded_shape(Choices& choices);

}  // namespace oriel::fuzz
