// What must hold of exchanges between shardings, checked against lists of elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "fuzz/shard_case.hpp"

namespace oriel::fuzz {

/// What a check saw.
struct ShardVerdict {
  std::string broken;      ///< the first property that the case violates, in words; empty if all hold
  std::string recognised;  ///< the name of the exchange
  std::uint64_t sent = 0;  ///< elements
  std::uint64_t sums = 0;  ///< reductions of partial sums
};

/// Checks the properties:
///
/// - boxes: each rank's boxes are what it holds.
/// - exact: the messages to a rank are the elements that it needs, does not hold and some rank holds, each once; what
/// it
///   has already is copied; each comes from the place where its sender has it.
/// - ends: both ends of a message plan the same boxes.
/// - names: what is recognised is what the messages do.
/// - reads: several reads of a tensor, which may overlap, fetch each missing position once.
/// - sums: partial sums arrive, each contribution once, wherever they are wanted.
///
/// `choices` draws what is read and summed.
ShardVerdict check_shard_case(const ShardCase& shard_case, Choices& choices);

struct ShardCampaign {
  std::uint64_t seed = 1;
  std::uint64_t cases = 100'000;
  double seconds = 0;  // 0: no limit
};
struct ShardCampaignResult {
  std::uint64_t cases = 0;
  std::uint64_t elements = 0;  // sent in all
  std::uint64_t sums = 0;
  std::map<std::string, std::uint64_t> recognised;
  double seconds = 0;
  std::string failure;  // empty: all properties hold
};
/// Case N of a seed is the same whatever else runs. A case that fails is made smaller by simpler decisions.
ShardCampaignResult run_shard_campaign(const ShardCampaign& options);

}  // namespace oriel::fuzz
