// Counts the buffers that pending work keeps alive. This bounds laziness by bytes.
#pragma once

#include <cstdint>

#include "graph/node.hpp"

namespace oriel::graph {

/// Bytes of the distinct buffers below a node and its pending work.
struct HeldBytes {
  std::int64_t all = 0;
  std::int64_t alone = 0;    // in buffers that nothing outside this work refers to, and that realising would free
  std::int64_t visited = 0;  // nodes
};
HeldBytes count_held_bytes(const NodePtr& node);

/// Does the work below `node` alone keep more than `limit` bytes alive? A limit of 0 means that there is none.
///
/// A count visits all of the work, so it must be rare. The sum over the sources (Node::held_bytes) is an upper bound;
/// below the limit nothing is counted. After a count that found too little, the next count comes when as many nodes
/// were checked as that count visited. So each node costs two visits in all, however long the work grows. It also comes
/// when buffers of a quarter of the limit were made since then. So the work exceeds the limit by at most a quarter,
/// because memory can only grow by new buffers.
///
/// Thread safety: any thread.
bool holds_more_than(const NodePtr& node, std::int64_t limit);

/// The number of nodes that all counts of this process have visited, for tests.
std::int64_t held_bytes_visits() noexcept;

}  // namespace oriel::graph
