#include "fuzz/shard_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "oriel/error.hpp"
#include "shard/collective.hpp"
#include "shard/exchange.hpp"

namespace oriel::fuzz {
namespace {

using shards::Boxes;
using shards::Exchange;
using shards::Message;
using shards::Row;
using Blocks = std::vector<std::vector<std::int64_t>>;

template <class Visit>
void rows_of(const Boxes& boxes, const Visit& visit) {
  for (const shards::Box& box : boxes) shards::for_each(box, visit);
}

/// One row of a message in full: position, slot at the sender, slot at the receiver.
using Rows = std::multiset<std::array<std::int64_t, 3>>;
Rows listed(const Boxes& boxes) {
  Rows rows;
  rows_of(boxes, [&](const Row& row) {
    rows.insert({row[shards::kPosition], row[shards::kLocal], row[shards::kOtherLocal]});
  });
  return rows;
}

class ShardChecker {
 public:
  ShardChecker(const ShardCase& shard_case, Choices& choices) : case_(shard_case), choices_(choices) {}

  ShardVerdict verdict() {
    for (const ModelledSharding* one : {&case_.source, &case_.target}) check_boxes(*one);
    const Exchange exchange(case_.source.sharding, case_.target.sharding);
    check_exact(exchange, case_.target.held, true, "exact");
    check_ends(exchange);
    check_name(exchange);
    check_reads();
    check_sums();
    return verdict_;
  }

 private:
  std::int64_t ranks() const { return case_.source.sharding.mesh().ranks(); }
  static std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }

  void fail(const std::string& what) {
    if (verdict_.broken.empty()) verdict_.broken = what;
  }

  void check_boxes(const ModelledSharding& one) {
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      std::multiset<std::pair<std::int64_t, std::int64_t>> held;
      rows_of(one.sharding.held(rank), [&](const Row& row) {
        held.insert({row[shards::kPosition], row[shards::kLocal]});
        if (row[shards::kRank] != rank) fail("boxes: a box of another rank");
      });
      const auto& model = one.held[at(rank)];
      if (!std::equal(held.begin(), held.end(), model.begin(), model.end(),
                      [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; })) {
        fail(fmt::format("boxes: rank {} of {} holds {} elements, its boxes {}", rank, one.program, model.size(),
                         held.size()));
      }
    }
  }

  /// `wanted`: for each rank the positions that it needs, with the places where they go if `placed`.
  void check_exact(const Exchange& exchange, const HeldModel& wanted, bool placed, const std::string& what) {
    const HeldModel& held = case_.source.held;
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      Rows expected_kept;
      std::map<std::int64_t, std::int64_t> missing;
      for (const auto& [position, slot] : wanted[at(rank)]) {
        const auto own = held[at(rank)].find(position);
        if (own != held[at(rank)].end()) {
          expected_kept.insert({position, own->second, placed ? slot : 0});
        } else if (std::any_of(held.begin(), held.end(),
                               [sought = position](const auto& one) { return one.count(sought) > 0; })) {
          missing[position] = slot;
        }
      }
      if (listed(exchange.kept(rank)) != expected_kept)
        fail(fmt::format("{}: rank {} copies {} elements within it, not {}", what, rank, count(exchange.kept(rank)),
                         expected_kept.size()));
      for (const Message& message : exchange.receives(rank)) {
        rows_of(message.boxes, [&](const Row& row) {
          const auto found = missing.find(row[shards::kPosition]);
          if (found == missing.end()) {
            return fail(
                fmt::format("{}: rank {} gets position {} again, or without need", what, rank, row[shards::kPosition]));
          }
          if (placed && row[shards::kOtherLocal] != found->second) fail(what + ": an element goes to a wrong place");
          missing.erase(found);
          const auto& sender = held[at(message.peer)];
          const auto there = sender.find(row[shards::kPosition]);
          if (there == sender.end() || there->second != row[shards::kLocal]) {
            fail(fmt::format("{}: rank {} sends position {}, which it has elsewhere or not", what, message.peer,
                             row[shards::kPosition]));
          }
        });
      }
      if (!missing.empty()) {
        fail(fmt::format("{}: rank {} never gets position {} and {} others", what, rank, missing.begin()->first,
                         missing.size() - 1));
      }
    }
  }

  void check_ends(const Exchange& exchange) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> planned;
    const auto text = [](const Boxes& boxes) {
      return str(boxes, shards::kLocal) + " to " + str(boxes, shards::kOtherLocal);
    };
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      for (const Message& message : exchange.receives(rank)) planned[{message.peer, rank}] = text(message.boxes);
    }
    std::size_t sent = 0;
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      for (const Message& message : exchange.sends(rank)) {
        ++sent;
        if (planned[{rank, message.peer}] != text(message.boxes)) {
          fail(fmt::format("ends: rank {} sends {} what it does not expect", rank, message.peer));
        }
      }
    }
    if (sent != planned.size()) fail(fmt::format("ends: {} messages sent, {} expected", sent, planned.size()));
  }

  void check_name(const Exchange& exchange) {
    const shards::Recognised found = recognise(exchange, sample_of_ranks(case_.source.sharding.mesh()));
    verdict_.recognised = shards::name(found.kind);
    std::int64_t messages = 0;
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      std::set<std::int64_t> positions;
      std::int64_t elements = 0;
      const std::vector<Message> sends = exchange.sends(rank);
      for (const Message& message : sends) {
        ++messages;
        verdict_.sent += at(message.elements());
        elements += message.elements();
        rows_of(message.boxes, [&](const Row& row) { positions.insert(row[shards::kPosition]); });
      }
      const std::size_t held = case_.source.held[at(rank)].size();
      const bool whole = elements == static_cast<std::int64_t>(held * sends.size()) && positions.size() == held;
      const bool apart = elements == static_cast<std::int64_t>(positions.size());
      switch (found.kind) {
        case shards::Collective::all_gather:
        case shards::Collective::broadcast:
          if (!sends.empty() && !whole) fail("names: it is no " + verdict_.recognised);
          break;
        case shards::Collective::all_to_all:
        case shards::Collective::scatter:
          if (!apart) fail("names: it is no " + verdict_.recognised);
          break;
        case shards::Collective::gather:
          if (sends.size() > 1) fail("names: it is no " + verdict_.recognised);
          break;
        default:
          break;
      }
    }
    if ((messages == 0) != (found.kind == shards::Collective::nothing)) fail("names: it is not " + verdict_.recognised);
  }

  /// The target's ranks compute a value of the same shape from neighbours of each element.
  void check_reads() {
    const Shape& shape = case_.source.sharding.shape();
    std::vector<ShapeTracker> needs;
    HeldModel wanted(at(ranks()));
    std::string shifts;
    for (std::int64_t k = choices_.between(1, 3); k > 0; --k) {
      Ranges padding;
      Ranges slice;
      for (const SymInt extent : shape) {
        const std::int64_t shift = choices_.between(-2, 2);
        shifts += fmt::format(" {}", shift);
        padding.push_back({std::max<std::int64_t>(0, -shift), std::max<std::int64_t>(0, shift)});
        const std::int64_t first = std::max<std::int64_t>(0, shift);
        slice.push_back({first, extent + first});
      }
      shifts += k > 1 ? "," : "";
      const ShapeTracker read = ShapeTracker(shape).pad(padding).shrink(slice);
      needs.push_back(case_.target.sharding.place().over(read));
      const std::vector<std::int64_t> table = read.table();
      for (std::int64_t rank = 0; rank < ranks(); ++rank) {
        for (const auto& [position, slot] : case_.target.held[at(rank)]) {
          if (table[at(position)] >= 0) wanted[at(rank)][table[at(position)]] = 0;
        }
      }
    }
    const Exchange exchange(case_.source.sharding, case_.target.sharding.mesh(), needs);
    check_exact(exchange, wanted, false, fmt::format("reads shifted by{}", shifts));
    check_ends(exchange);
  }

  Blocks exchanged(const Exchange& exchange, const Blocks& from, std::int64_t count) {
    Blocks to(from.size(), std::vector<std::int64_t>(at(count)));
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      const auto copy = [&](std::int64_t peer, const Boxes& boxes) {
        rows_of(boxes, [&](const Row& row) {
          to[at(rank)][at(row[shards::kOtherLocal])] = from[at(peer)][at(row[shards::kLocal])];
        });
      };
      copy(rank, exchange.kept(rank));
      for (const Message& message : exchange.receives(rank)) copy(message.peer, message.boxes);
    }
    return to;
  }

  void check_sums() {
    const shards::Sharding& source = case_.source.sharding;
    if (source.shape().empty()) return;
    const std::size_t axis = choices_.below(source.shape().size());
    std::optional<shards::Sharding> partial;
    try {
      partial = source.sum(axis);
    } catch (const ShapeError&) {
      return;  // its parts have no sums of their own
    }
    std::vector<std::int64_t> shape;
    std::int64_t inner = 1;
    for (std::size_t d = 0; d < source.shape().size(); ++d) {
      if (d != axis) shape.push_back(source.shape()[d].value());
      if (d > axis) inner *= source.shape()[d].value();
    }
    const std::int64_t extent = source.shape()[axis].value();
    const auto row = [&](std::int64_t position) { return position / (inner * extent) * inner + position % inner; };
    // The value of an element is its position plus 1, and of one that no rank holds 0.
    std::map<std::int64_t, std::int64_t> sums;
    std::set<std::int64_t> counted;
    Blocks blocks(at(ranks()), std::vector<std::int64_t>(at(partial->local_count())));
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      std::map<std::int64_t, std::int64_t> own;
      for (const auto& [position, slot] : case_.source.held[at(rank)]) {
        own[row(position)] += position + 1;
        if (counted.insert(position).second) sums[row(position)] += position + 1;
      }
      rows_of(partial->held(rank),
              [&](const Row& found) { blocks[at(rank)][at(found[shards::kLocal])] = own[found[shards::kPosition]]; });
    }
    const ModelledSharding target = draw_sharding(choices_, draw_mesh(choices_, ranks()), shape, 1, false);
    if (partial->is_pending()) {
      const shards::Reduction plan = plan_reduction(*partial, target.sharding);
      const std::int64_t count = plan.between.local_count();
      std::int64_t parts = 1;
      for (std::size_t k = 0; k < partial->pending().size(); ++k) {
        if (partial->pending()[k]) parts *= partial->mesh().axes()[k].size;
      }
      const Blocks all = exchanged(plan.contributions, blocks, count * parts);
      Blocks added(at(ranks()), std::vector<std::int64_t>(at(count)));
      for (std::int64_t k = 0; k < count * parts; ++k) {
        for (std::int64_t rank = 0; rank < ranks(); ++rank) added[at(rank)][at(k % count)] += all[at(rank)][at(k)];
      }
      blocks = exchanged(plan.sums, added, target.sharding.local_count());
      ++verdict_.sums;
    } else {
      blocks = exchanged(Exchange(*partial, target.sharding), blocks, target.sharding.local_count());
    }
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      for (const auto& [position, slot] : target.held[at(rank)]) {
        if (blocks[at(rank)][at(slot)] == sums[position]) continue;
        fail(fmt::format("sums: along axis {} to {}: rank {} has {} at position {}, which is {}", axis, target.program,
                         rank, blocks[at(rank)][at(slot)], position, sums[position]));
      }
    }
  }

  const ShardCase& case_;
  Choices& choices_;
  ShardVerdict verdict_;
};

}  // namespace

ShardVerdict check_shard_case(const ShardCase& shard_case, Choices& choices) {
  return ShardChecker(shard_case, choices).verdict();
}

}  // namespace oriel::fuzz
