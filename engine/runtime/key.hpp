// What makes two graphs the same work: the key under which compiled schedules are kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.hpp"
#include "schedule/arena.hpp"

namespace oriel::runtime {

/// The graph below some roots as a list of words: ops, dtypes, shapes, arguments and edges. Buffers count by order of
/// appearance, so the same work on other data has the same key; so do numbers that only enter arithmetic, which become
/// launch parameters. 0, 1, -1, 2 and 0.5 count by value: rules look at them.
struct Key {
  std::vector<std::uint64_t> words;
  std::uint64_t hash = 0;
  std::vector<memory::BufferPtr> leaves;        // in order of appearance
  std::vector<bool> free_leaves;                // one a leaf: nothing outside this work may read it any more
  bool writes = false;                          // holds writes (Op::Assign)
  std::vector<graph::Scalar> parameter_values;  // in the dtype of a register: halves as float32
  schedule::Parameters parameters;
  std::size_t nodes = 0;
};

/// Under the runtime's lock. `salt` tells devices and settings apart. Throws DeviceError for a leaf whose buffer a
/// schedule that failed has overwritten.
void make_key(std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key);

/// Appends the pending writes below the roots that a tensor holds: they are carried out with whatever sees them. Under
/// the runtime's lock.
void add_due_writes(std::vector<graph::NodePtr>& roots);

}  // namespace oriel::runtime
