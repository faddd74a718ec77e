// The text form of a sharded tensor and what is done to it:
// "(8,6) rows=4 | transpose | reshape 48 | to cols=2,rows=2".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/collective.hpp"

namespace oriel::cli {

/// What a step sends. A reduction has two exchanges, before and after the sums.
struct ShardTransfer {
  shards::Recognised what;
  std::vector<shards::Exchange> exchanges;
};

/// One step of a program: the tensor after it, and what it sent.
struct ShardStep {
  std::string text;
  shards::Sharding sharding;
  std::optional<ShardTransfer> transfer;
};

/// Runs a program. Throws ParseError if the text is wrong, and the errors of the steps.
std::vector<ShardStep> run_shard_program(std::string_view program);

}  // namespace oriel::cli
