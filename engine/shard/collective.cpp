#include "shard/collective.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"

namespace oriel::shards {
namespace {

constexpr Column kPositions[] = {kPosition};

/// What one rank does in an exchange.
struct RankTraffic {
  std::int64_t rank;
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::int64_t held;  // positions that it holds
  std::int64_t sent;  // elements in all messages
};

Boxes positions_of(const Message& message) { return moved(message.boxes, kPositions, kPositions); }

bool same_positions(const Boxes& a, const Boxes& b) {
  return count(a) == count(b) && subtract(a, b, kPosition).empty();
}

/// The pattern of all sampled ranks.
class Pattern {
 public:
  Pattern(const Exchange& exchange, const std::vector<std::int64_t>& ranks) : exchange_(exchange) {
    const Mesh& mesh = exchange.source().mesh();
    along_.resize(mesh.axes().size());
    for (const std::int64_t rank : ranks) {
      RankTraffic one{rank, exchange.sends(rank), exchange.receives(rank), 0, 0};
      one.held = count(exchange.source().held(rank));
      for (const Message& message : one.sends) one.sent += message.elements();
      for (const auto* messages : {&one.sends, &one.receives}) {
        for (const Message& message : *messages) note_distance(mesh, rank, message.peer);
      }
      ranks_.push_back(std::move(one));
    }
    for (std::size_t k = 0; k < along_.size(); ++k) {
      if (along_[k]) group_ *= mesh.axes()[k].size;
    }
  }

  Recognised recognised() const {
    Recognised result;
    result.kind = kind();
    for (std::size_t k = 0; k < along_.size(); ++k) {
      if (along_[k]) result.along.push_back(exchange_.source().mesh().axes()[k].name);
    }
    return result;
  }

 private:
  void note_distance(const Mesh& mesh, std::int64_t rank, std::int64_t peer) {
    const auto here = mesh.coordinates(rank);
    const auto there = mesh.coordinates(peer);
    for (std::size_t k = 0; k < here.size(); ++k) {
      if (here[k] == there[k]) continue;
      along_[k] = true;
      neighbours_ = neighbours_ && std::abs(here[k] - there[k]) == 1;
    }
  }

  Collective kind() const {
    if (every([](const RankTraffic& one) { return one.sends.empty() && one.receives.empty(); })) {
      return Collective::nothing;
    }
    // A broadcast is an all-gather of one part, and called by the narrower name.
    if (from_one()) {
      if (every([&](const RankTraffic& one) { return one.sends.empty() || sends_all_to_all(one); })) {
        return Collective::broadcast;
      }
      if (every([&](const RankTraffic& one) { return sends_each_once(one); })) return Collective::scatter;
    }
    if (every([&](const RankTraffic& one) { return one.held == 0 || sends_all_to_all(one); })) {
      return Collective::all_gather;
    }
    if (to_one()) return Collective::gather;
    if (every([&](const RankTraffic& one) { return sends_parts_to_all(one); })) return Collective::all_to_all;
    return neighbours_ ? Collective::shift : Collective::exchange;
  }

  template <class Condition>
  bool every(const Condition& condition) const {
    return std::all_of(ranks_.begin(), ranks_.end(), condition);
  }

  /// All that the rank holds goes to each other rank of its group.
  bool sends_all_to_all(const RankTraffic& one) const {
    if (static_cast<std::int64_t>(one.sends.size()) != group_ - 1) return false;
    const Boxes held = moved(exchange_.source().held(one.rank), kPositions, kPositions);
    return std::all_of(one.sends.begin(), one.sends.end(),
                       [&](const Message& message) { return same_positions(positions_of(message), held); });
  }

  /// Every other rank of the group gets a part of its own, and what is sent is not kept. Of two ranks, both send.
  bool sends_parts_to_all(const RankTraffic& one) const {
    if (static_cast<std::int64_t>(one.sends.size()) != group_ - 1) return false;
    if (static_cast<std::int64_t>(one.receives.size()) != group_ - 1) return false;
    return sends_each_once(one) &&
           join(positions_sent(one), moved(exchange_.kept(one.rank), kPositions, kPositions), kPosition).empty();
  }

  static Boxes positions_sent(const RankTraffic& one) {
    Boxes sent;
    for (const Message& message : one.sends) {
      for (Box& box : positions_of(message)) sent.push_back(std::move(box));
    }
    return sent;
  }
  static bool sends_each_once(const RankTraffic& one) {
    return count(distinct(positions_sent(one), kPosition)) == one.sent;
  }

  /// Those who send hold everything.
  bool from_one() const {
    return every([](const RankTraffic& one) {
      return one.sends.empty() ? one.held == 0 && one.receives.size() <= 1 : one.receives.empty();
    });
  }
  /// Those who receive need everything.
  bool to_one() const {
    return every([&](const RankTraffic& one) {
      return one.receives.empty() ? exchange_.kept(one.rank).empty() && one.sends.size() <= 1 : one.sends.empty();
    });
  }

  const Exchange& exchange_;
  std::vector<RankTraffic> ranks_;
  std::vector<bool> along_;
  std::int64_t group_ = 1;
  bool neighbours_ = true;
};

}  // namespace

std::string_view name(Collective collective) noexcept {
  switch (collective) {
    case Collective::nothing:
      return "nothing to send";
    case Collective::shift:
      return "shift";
    case Collective::all_gather:
      return "all-gather";
    case Collective::all_to_all:
      return "all-to-all";
    case Collective::broadcast:
      return "broadcast";
    case Collective::scatter:
      return "scatter";
    case Collective::gather:
      return "gather";
    case Collective::exchange:
      return "exchange";
    case Collective::reduce:
      return "reduce";
    case Collective::all_reduce:
      return "all-reduce";
    case Collective::reduce_scatter:
      return "reduce-scatter";
  }
  return "exchange";
}

std::string Recognised::str() const {
  std::string text(name(kind));
  for (std::size_t k = 0; k < along.size(); ++k) text += (k == 0 ? " along " : ",") + along[k];
  return text;
}

Recognised recognise(const Exchange& exchange, const std::vector<std::int64_t>& ranks) {
  return Pattern(exchange, ranks).recognised();
}

Reduction plan_reduction(const Sharding& source, const Sharding& target, std::vector<std::int64_t> ranks) {
  if (!source.is_pending()) {
    throw ShapeError("shard", fmt::format("{} has no partial sums; exchange its elements instead", source.str()));
  }
  const Mesh& mesh = source.mesh();
  if (ranks.empty()) ranks = sample_of_ranks(mesh);
  Shape parts;
  std::vector<std::string> pending;
  for (std::size_t k = 0; k < source.pending().size(); ++k) {
    if (!source.pending()[k]) continue;
    parts.push_back(mesh.axes()[k].size);
    pending.push_back(mesh.axes()[k].name);
  }
  std::optional<Reduction> best;
  std::int64_t least = 0;
  for (const Sharding& between : {target, target.divided(), source.completed().divided()}) {
    Reduction plan{{source.contributions(), between.stacked(parts)}, between, {between, target}, {}};
    const std::int64_t sent = traffic(plan.contributions, ranks).sent + traffic(plan.sums, ranks).sent;
    if (best && sent >= least) continue;
    least = sent;
    best = std::move(plan);
  }
  const Recognised first = recognise(best->contributions, ranks);
  const Recognised second = recognise(best->sums, ranks);
  best->what.along = pending;
  if (second.kind == Collective::all_gather) {
    best->what.kind = Collective::all_reduce;
  } else if (second.kind == Collective::nothing) {
    best->what.kind = first.kind == Collective::gather    ? Collective::reduce
                      : first.kind == Collective::nothing ? Collective::nothing
                                                          : Collective::reduce_scatter;
  }
  return std::move(*best);
}

}  // namespace oriel::shards
