// What makes two graphs the same work: the key under which compiled schedules are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/activity.hpp"
#include "graph/order.hpp"
#include "runtime/usage.hpp"
#include "schedule/arena.hpp"

namespace oriel::runtime {

/// The graph below some roots as a list of words: ops, dtypes, shapes, arguments and edges. Buffers count by order of
/// appearance, so the same work on other data has the same key; so do numbers that only enter arithmetic, which become
/// launch parameters. 0, 1, -1, 2 and 0.5 count by value: rules look at them.
struct Key {
  graph::Order order;  // what the words say: the graph itself is not read again
  std::vector<std::uint64_t> words;
  std::uint64_t hash = 0;
  std::vector<mem::BufferPtr> leaves;        // in order of appearance
  std::vector<Usage::Readers> leaf_readers;  // one a leaf: who may still read it after this work
  /// One a leaf: an allocator's block of exactly its elements, which nothing can read once this work is done.
  std::vector<bool> leaf_dies;
  bool writes = false;                          // holds writes (Op::Assign)
  std::vector<graph::Scalar> parameter_values;  // in the dtype of a register: halves as float32
  schedule::Parameters parameters;
  std::vector<Device> devices;  // of the roots and all that is below; numbers go where they are read
  std::size_t early = 0;        // how many of the roots, the last ones, nobody has asked for yet
};

/// Writes the key of `key.order`, built for `work` from these roots. `salt` tells settings apart; the last `early`
/// roots are values that add_due_roots has added. Throws DeviceError for a leaf whose buffer a schedule that failed has
/// overwritten. Thread safety: any thread, with a key and work of its own.
void write_key(const base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key,
               std::size_t early = 0);

/// Throws DeviceError for a realised node whose buffer a schedule that failed has overwritten; ArgumentError for an
/// input of a trace that has ended.
void check_present(const graph::Node& node);

/// What becomes of the writes below the roots that other tensors hold.
enum class Due : std::uint8_t { added, left };

/// One attempt to put those of `roots` that are pending into `pending`, claim what they need, add the roots that are
/// due (add_due_roots), and write the key. Returns 0, also if none is pending. Else it has let go of everything and
/// returns what stands in the way: then the caller ends its work, waits (wait_for_turn), and begins again. With
/// `sealed`, which counts them, the roots are about to be realised: each is sealed before who reads the leaves is
/// judged.
std::uint64_t claim_pending(base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key,
                            std::vector<graph::NodePtr>& pending, std::size_t* sealed = nullptr, Due due = Due::added);
/// Waits for what stood in the way of an attempt, counted from 0. With no work of one's own under way, or another
/// thread that forks in the middle of its work would wait for this one, which waits for that work.
void wait_for_turn(std::uint64_t other, int attempt);
/// Ends the claims. What was held is let go of after that, because a user's deleter may realise something itself.
void let_go(base::Activity& work, Key& key, std::vector<graph::NodePtr>& pending, std::size_t* sealed = nullptr);

/// The key of those of `roots` that are pending, for whoever looks at them and does not realise them. Their graph stays
/// as it is while this lives; other work that is in the way is waited for.
struct LookedAt {
  LookedAt(std::span<const graph::NodePtr> roots, Due due);
  ~LookedAt() { let_go(*work, key, pending); }
  LookedAt(const LookedAt&) = delete;

  std::optional<base::Activity> work;
  std::vector<graph::NodePtr> pending;
  Key key;
};

/// The key of these pending roots alone, once no other work is in the way. For whoever looks and does not realise, and
/// has claimed nothing else: the nodes stay as they are while `work` is under way.
void make_key(const base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key);

/// Appends the pending writes below the roots that a tensor holds: they are carried out with whatever sees them. Then
/// the values that should read before these writes (Usage::early_readers), and returns how many. `key` is that of
/// the roots as they come.
std::size_t add_due_roots(std::vector<graph::NodePtr>& roots, const Key& key);

}  // namespace oriel::runtime
