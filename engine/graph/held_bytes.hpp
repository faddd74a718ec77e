// The buffers that pending work keeps alive: what bounds laziness by bytes.
#pragma once

#include <cstdint>

#include "graph/node.hpp"

namespace oriel::graph {

/// Bytes of the distinct buffers below a node and its pending work.
struct HeldBytes {
  std::int64_t all = 0;
  std::int64_t alone = 0;    // of buffers that nothing outside this work refers to: what realising would set free
  std::int64_t visited = 0;  // nodes
};
HeldBytes count_held_bytes(const NodePtr& node);

/// Does the work below `node` alone keep more than `limit` bytes alive? 0: there is no limit.
///
/// A count visits all of the work, so it must be rare. The sum over the sources (Node::held_bytes) is an upper bound:
/// below the limit nothing is counted. After a count that found too little, the next one comes when as many nodes were
/// checked as that count visited (so a node costs two visits in all, however long the work grows), or when buffers of a
/// quarter of the limit were made since (so the work passes the limit by no more than that: memory can only grow by
/// buffers that are made).
///
/// Thread safety: any thread.
bool holds_more_than(const NodePtr& node, std::int64_t limit);

/// Nodes that the counts of this process have visited: for tests.
std::int64_t held_bytes_visits() noexcept;

}  // namespace oriel::graph
