// What ranks send each other so that a tensor held one way is held another way.
#pragma once

#include <cstdint>
#include <vector>

#include "shard/boxes.hpp"
#include "shard/sharding.hpp"

namespace oriel::shards {

/// Elements that one rank sends another: kLocal is the position in the sender's block, kOtherLocal that in the
/// receiver's.
struct Message {
  std::int64_t peer = 0;
  Boxes boxes;
  std::int64_t elements() const noexcept { return count(boxes); }
};

/// An exchange from one sharding to another of the same shape, or to anything that ranks need. It is exact: a rank
/// receives each element that it needs and does not hold, once, and nothing else. If several ranks hold it, the sender
/// is chosen so: along mesh axes on which the source is replicated, the rank at the receiver's own coordinate; of
/// several holders in halos, the one with the lowest number.
///
/// Each call plans for one rank and looks only at ranks that hold what it needs, or need what it holds. Both ends of a
/// message compute the same boxes in the same order.
class Exchange {
 public:
  /// Throws ShapeError if the shapes or the numbers of ranks differ, if a sharding is pending (collective.hpp), or if
  /// the target was expanded: it stores one element for several positions.
  Exchange(Sharding source, Sharding target);
  /// What operations read: `needs` are maps over (mesh, local index of the reader) to positions of the source, as
  /// reader.place() over the operand's view yields. Each position arrives once, whatever reads it how often: in the
  /// order of positions(rank).
  Exchange(Sharding source, const Mesh& mesh, const std::vector<ShapeTracker>& needs);

  const Sharding& source() const noexcept { return source_; }

  /// What the rank holds and needs: copied within it. Rows as in messages.
  Boxes kept(std::int64_t rank) const;
  /// What the rank needs and does not hold, whoever has it. Columns of the need: kPosition, kRank, kOtherLocal.
  Boxes lacking(std::int64_t rank) const;
  /// The messages that arrive at a rank, ascending by sender.
  std::vector<Message> receives(std::int64_t rank) const;
  /// The messages that a rank sends, ascending by receiver.
  std::vector<Message> sends(std::int64_t rank) const;
  /// What `from` sends `to`; empty if nothing.
  Boxes message(std::int64_t from, std::int64_t to) const;

 private:
  /// Needs of one rank, each position once: kPosition, kOtherRank, kOtherLocal.
  Boxes needed(std::int64_t rank) const;
  /// What counts as held for a receiver: along axes on which the source is replicated, one rank.
  Boxes chosen_for(std::int64_t receiver) const;
  /// The ranks that need something of which this one may be the sender, ascending; itself may be among them.
  std::vector<std::int64_t> asking(std::int64_t rank) const;
  /// The receivers for which chosen_for fixes the loop where the box is this rank's.
  Boxes receivers_for(const Box& box, const Loop& loop, std::int64_t rank) const;
  Boxes message(const Boxes& chosen, const Boxes& lacks, std::int64_t from) const;
  Boxes lacking_of(const Boxes& needs, std::int64_t rank) const;

  Sharding source_;
  Boxes wanted_;          // kPosition, kOtherRank, kOtherLocal
  bool repeats_ = false;  // needs may ask for a position several times
};

/// Totals of an exchange over some ranks.
struct Traffic {
  std::int64_t sent = 0;  // elements in all
  std::int64_t messages = 0;
  std::int64_t most_sent = 0;  // of one rank
  std::int64_t most_received = 0;
  std::int64_t most_messages = 0;  // that one rank sends
};
Traffic traffic(const Exchange& exchange, const std::vector<std::int64_t>& ranks);
/// All ranks up to a limit; beyond it the first, the last and some between.
std::vector<std::int64_t> sample_of_ranks(const Mesh& mesh, std::size_t most = 64);

}  // namespace oriel::shards
