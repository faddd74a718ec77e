#include "shard/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"

namespace oriel::shards {
namespace {

constexpr Column kHeldColumns[] = {kPosition, kRank, kLocal};
constexpr Column kWantedColumns[] = {kPosition, kOtherRank, kOtherLocal};

void check_source(const Sharding& source) {
  if (!source.is_pending()) return;
  throw ShapeError(
      "shard", fmt::format("{} holds partial sums, which an exchange does not add; plan a reduction", source.str()));
}

}  // namespace

Exchange::Exchange(Sharding source, Sharding target) : source_(std::move(source)) {
  check_source(source_);
  check_source(target);
  if (!(source_.shape() == target.shape())) {
    throw ShapeError("shard", fmt::format("from {} to {}; both shapes must be equal", to_string(source_.shape()),
                                          to_string(target.shape())));
  }
  if (source_.mesh().ranks() != target.mesh().ranks()) {
    throw ShapeError(
        "shard", fmt::format("from mesh {} of {} ranks to mesh {} of {}; both need the same ranks",
                             source_.mesh().str(), source_.mesh().ranks(), target.mesh().str(), target.mesh().ranks()));
  }
  for (std::size_t d = 0; d < target.local_strides().size(); ++d) {
    if (target.local_strides()[d] != 0 || target.local_index()[d] == 1) continue;
    throw ShapeError("shard",
                     fmt::format("{} stores one element for the {} positions along an expanded axis, so nothing can "
                                 "be sent there; make the target for the expanded shape",
                                 target.str(), target.local_index()[d].value()));
  }
  wanted_ = moved(target.boxes(), kHeldColumns, kWantedColumns);
}

Exchange::Exchange(Sharding source, const Mesh& mesh, const std::vector<ShapeTracker>& needs)
    : source_(std::move(source)), repeats_(true) {
  check_source(source_);
  if (source_.mesh().ranks() != mesh.ranks()) {
    throw ShapeError("shard", fmt::format("a reader on {} ranks of a tensor on {}; both need the same ranks",
                                          mesh.ranks(), source_.mesh().ranks()));
  }
  for (const ShapeTracker& need : needs) {
    Ints ranks;
    Ints none;
    for (std::size_t k = 0; k < need.shape().size(); ++k) {
      ranks.push_back(k < mesh.axes().size() ? mesh.stride(k) : 0);
      none.push_back(0);
    }
    for (Box& box : moved(boxes_of(need.simplify(), ranks, none), kHeldColumns, kWantedColumns)) {
      wanted_.push_back(std::move(box));
    }
  }
}

Boxes Exchange::needed(std::int64_t rank) const {
  const Boxes needs = select(wanted_, kOtherRank, rank);
  return repeats_ ? distinct(needs, kPosition) : needs;
}

Boxes Exchange::chosen_for(std::int64_t receiver) const {
  Boxes chosen;
  for (const Box& box : source_.boxes()) {
    Box one{box.start, {}};
    for (const Loop& loop : box.loops) {
      if (loop.step[kPosition] != 0 || loop.step[kRank] == 0) {
        one.loops.push_back(loop);
        continue;
      }
      const std::int64_t at = receiver / std::abs(loop.step[kRank]) % loop.count;
      for (std::size_t c = 0; c < kColumns; ++c) one.start[c] += at * loop.step[c];
    }
    chosen.push_back(std::move(one));
  }
  return chosen;
}

Boxes Exchange::kept(std::int64_t rank) const { return join(source_.held(rank), needed(rank), kPosition); }

Boxes Exchange::lacking_of(const Boxes& needs, std::int64_t rank) const {
  return subtract(needs, source_.held(rank), kPosition);
}

Boxes Exchange::lacking(std::int64_t rank) const { return lacking_of(needed(rank), rank); }

Boxes Exchange::message(const Boxes& chosen, const Boxes& lacks, std::int64_t from) const {
  Boxes boxes = join(select(chosen, kRank, from), lacks, kPosition);
  if (boxes.empty()) return boxes;
  // Positions that ranks with lower numbers hold come from these.
  constexpr Column positions[] = {kPosition};
  for (const std::int64_t other : values(join(chosen, moved(boxes, positions, positions), kPosition), kRank)) {
    if (other >= from) break;
    boxes = subtract(boxes, select(chosen, kRank, other), kPosition);
  }
  return boxes;
}

Boxes Exchange::message(std::int64_t from, std::int64_t to) const {
  return from == to ? Boxes{} : message(chosen_for(to), lacking(to), from);
}

std::vector<Message> Exchange::receives(std::int64_t rank) const {
  const Boxes lacks = lacking(rank);
  const Boxes chosen = chosen_for(rank);
  std::vector<Message> messages;
  for (const std::int64_t peer : values(join(chosen, lacks, kPosition), kRank)) {
    if (peer == rank) continue;
    if (Boxes boxes = message(chosen, lacks, peer); !boxes.empty()) messages.push_back({peer, std::move(boxes)});
  }
  return messages;
}

std::vector<std::int64_t> Exchange::asking(std::int64_t rank) const {
  std::vector<std::int64_t> peers;
  for (const Box& box : source_.boxes()) {
    const Boxes held = select({box}, kRank, rank);
    if (held.empty()) continue;
    // Receivers for which chosen_for takes this rank, among those that hold the same.
    Boxes asked = wanted_;
    for (const Loop& loop : box.loops) {
      if (loop.step[kPosition] != 0 || loop.step[kRank] == 0) continue;
      asked = join(asked, receivers_for(box, loop, rank), kOtherRank);
    }
    const std::vector<std::int64_t> found = values(join(held, asked, kPosition), kOtherRank);
    peers.insert(peers.end(), found.begin(), found.end());
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

Boxes Exchange::receivers_for(const Box& box, const Loop& loop, std::int64_t rank) const {
  const std::int64_t step = std::abs(loop.step[kRank]);
  const std::int64_t ranks = source_.mesh().ranks();
  const std::int64_t period = step * loop.count;
  Boxes receivers;
  const auto add = [&](std::int64_t at) {
    // The ranks r with r / step % count == at.
    Box those;
    those.start[kOtherRank] = at * step;
    those.loops.push_back({(ranks + period - 1) / period, {}});
    those.loops.back().step[kOtherRank] = period;
    those.loops.push_back({step, {}});
    those.loops.back().step[kOtherRank] = 1;
    tidy(those);
    receivers.push_back(those);
  };
  // If the other loops leave this digit of the rank alone, it says which step of the loop is this rank's.
  std::int64_t finer = box.start[kRank] % step;
  bool alone = box.start[kRank] / step % loop.count == 0;
  for (const Loop& other : box.loops) {
    const std::int64_t by = std::abs(other.step[kRank]);
    if (&other == &loop || by % period == 0) continue;
    finer += by * (other.count - 1);
    alone = alone && other.step[kRank] > 0;
  }
  if (alone && finer < step) {
    add(rank / step % loop.count);
    return receivers;
  }
  for (std::int64_t at = 0; at < loop.count; ++at) {
    Box fixed = box;
    for (std::size_t k = 0; k < box.loops.size(); ++k) {
      if (&box.loops[k] != &loop) continue;
      fixed.loops[k].count = 1;
      for (std::size_t c = 0; c < kColumns; ++c) fixed.start[c] += at * loop.step[c];
    }
    if (!select({fixed}, kRank, rank).empty()) add(at);
  }
  return receivers;
}

std::vector<Message> Exchange::sends(std::int64_t rank) const {
  std::vector<Message> messages;
  for (const std::int64_t peer : asking(rank)) {
    if (peer == rank) continue;
    if (Boxes boxes = message(rank, peer); !boxes.empty()) messages.push_back({peer, std::move(boxes)});
  }
  return messages;
}

Traffic traffic(const Exchange& exchange, const std::vector<std::int64_t>& ranks) {
  Traffic total;
  for (const std::int64_t rank : ranks) {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    const std::vector<Message> sends = exchange.sends(rank);
    for (const Message& message : sends) sent += message.elements();
    for (const Message& message : exchange.receives(rank)) received += message.elements();
    total.sent += sent;
    total.messages += static_cast<std::int64_t>(sends.size());
    total.most_sent = std::max(total.most_sent, sent);
    total.most_received = std::max(total.most_received, received);
    total.most_messages = std::max(total.most_messages, static_cast<std::int64_t>(sends.size()));
  }
  return total;
}

std::vector<std::int64_t> sample_of_ranks(const Mesh& mesh, std::size_t most) {
  const std::int64_t count = mesh.ranks();
  std::vector<std::int64_t> ranks;
  if (count <= static_cast<std::int64_t>(most)) {
    for (std::int64_t rank = 0; rank < count; ++rank) ranks.push_back(rank);
    return ranks;
  }
  for (std::size_t k = 0; k < most; ++k) {
    ranks.push_back(static_cast<std::int64_t>(k) * (count - 1) / static_cast<std::int64_t>(most - 1));
  }
  return ranks;
}

}  // namespace oriel::shards
