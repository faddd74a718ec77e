// Names for exchanges that have one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shard/exchange.hpp"

namespace oriel::shards {

enum class Collective : std::uint8_t {
  nothing,         ///< each rank holds what it needs
  shift,           ///< to neighbours along axes of the mesh: halos, slices
  all_gather,      ///< each rank sends all that it holds to all others of its group
  all_to_all,      ///< each rank sends every other one a part of its own
  broadcast,       ///< one rank of a group sends all that it holds to the others
  scatter,         ///< one rank of a group, which alone holds anything, sends the others their parts
  gather,          ///< one rank of a group, which alone needs anything, receives from the others
  exchange,        ///< boxes from rank to rank
  reduce,          ///< sums on one rank of a group
  all_reduce,      ///< sums on every rank
  reduce_scatter,  ///< sums, of which each rank holds a part
};
std::string_view name(Collective collective) noexcept;

/// What an exchange is, and the mesh axes along which its groups lie: "all-gather along rows".
struct Recognised {
  Collective kind = Collective::exchange;
  std::vector<std::string> along;
  std::string str() const;
};

/// Judged by the messages of these ranks. A group is the ranks that differ only along the axes of the source's mesh
/// along which messages go.
Recognised recognise(const Exchange& exchange, const std::vector<std::int64_t>& ranks);

/// How partial sums become sums: each rank receives the contributions to a part, adds them in the order of the ranks,
/// and sends the sums on.
struct Reduction {
  Exchange contributions;  ///< from the source with its pending axes in front, to `between`, stacked
  Sharding between;        ///< where sums are added
  Exchange sums;           ///< from there to the target
  Recognised what;
};
/// The parts are chosen so that the fewest elements are sent: those of the target, the target's divided along axes on
/// which it is replicated, or the source's. `ranks` are those by whose messages this is judged, by default a sample.
/// Throws ShapeError if the source is not pending, or as Exchange does.
Reduction plan_reduction(const Sharding& source, const Sharding& target, std::vector<std::int64_t> ranks = {});

}  // namespace oriel::shards
