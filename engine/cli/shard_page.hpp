// A page on which the owners of a sharded tensor's positions are colours.
#pragma once

#include <string>
#include <vector>

#include "cli/shard_program.hpp"

namespace oriel::cli {

/// The page: `text`, which the command prints, and for each step the positions of the tensor, row-major, each in the
/// colours of the ranks that hold it. Throws ArgumentError if a tensor has more than 2^14 positions.
std::string shard_page(const std::string& program, const std::vector<ShardStep>& steps, const std::string& text);

}  // namespace oriel::cli
