// What work keeps: the values below its roots that the program can still ask for, so that none is computed again and
// again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/order.hpp"
#include "runtime/usage.hpp"

namespace oriel::runtime {

/// Why a node is a root.
enum class RootReason : std::uint8_t {
  asked,   // its value was asked for, or it is a write that is due
  early,   // a write of this work overwrites what it reads (Usage::early_readers)
  again,   // it was computed before, and the program can still ask for it
  costly,  // the program can still ask for it, and computing it again would take much longer than keeping it
};

/// A value that work computes without being asked for it, and for which something outside the work can still ask.
struct Awaited {
  std::int32_t number;  // of the node
  bool held;            // it, or a view of it, by a tensor or by a node outside the work; else such values need it
  float share;          // of its elements, that the work needs, as an estimate: 0 to 1
  bool cheap = false;   // computing it again costs little: it is kept only where a kernel stores it anyway
};

/// A value is stored by the work that needs it after so many of its elements were computed, 1 for all of them. So each
/// element is computed twice at most, on average.
inline constexpr float kStoredFrom = 0.5F;
/// The smallest part that is counted: who asks for one element after the other has the value stored after a few.
inline constexpr float kSmallestShare = 1.0F / 16;

/// The awaited values, sources first: those of claimed nodes that are no roots. Views of memory are free to compute
/// again, so they are left out, and few operations on positions and numbers alone are cheap. `usage` has counted the
/// nodes of `order`, which was built for `work`.
void find_awaited(const graph::Order& order, const Usage& usage, std::uint64_t work, std::vector<Awaited>& awaited);

/// A value that becomes a root.
struct KeptRoot {
  std::int32_t number;
  RootReason reason;
  bool held;  // Awaited::held
};

/// Which awaited values become roots. So no value is computed more than twice:
/// - those that were computed before, if they are held, or if the roots or a value that does not become a root needs
///   them. Of values that nothing holds and that need each other, the last one is enough;
/// - products of matrices that are no larger than their operands, are expensive to compute and are read by no other
///   product, with what is computed from them element by element.
///
/// Together they have at most `bytes` bytes.
std::vector<KeptRoot> find_kept_roots(const graph::Order& order, const std::vector<Awaited>& awaited,
                                      std::int64_t bytes);

/// A root that nobody asked for, after those that were asked for.
struct AddedRoot {
  RootReason reason;
  bool held = true;
};
/// The reason in the words of explain().
std::string text_of(const AddedRoot& root, const graph::Node& node);
/// "tanh (cg.cpp:12) is still named".
std::string still_named(const graph::Node& node, bool held);

}  // namespace oriel::runtime
