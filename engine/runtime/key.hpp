// The key under which compiled schedules are kept: equal keys mean that the same kernels do the work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/activity.hpp"
#include "graph/order.hpp"
#include "runtime/keep.hpp"
#include "runtime/usage.hpp"
#include "schedule/arena.hpp"

namespace oriel::runtime {

/// The graph below some roots as a list of words: ops, dtypes, shapes, arguments and edges. Buffers are numbered in
/// order of appearance, so the same work on other data has the same key. Numbers that only enter arithmetic become
/// launch parameters and are not part of the key either. 0, 1, -1, 2 and 0.5 are part of the key, because rewrite rules
/// depend on them.
struct Key {
  graph::Order order;  // the nodes that the words describe; the graph itself is not read again
  std::vector<std::uint64_t> words;
  std::uint64_t hash = 0;
  std::vector<mem::BufferPtr> leaves;        // in order of appearance
  std::vector<Usage::Readers> leaf_readers;  // for each leaf: who may still read it after this work
  /// For each leaf: does its buffer die with this work? Then it is an allocator's block of exactly the leaf's elements.
  std::vector<bool> leaf_dies;
  bool writes = false;                          // are there writes (Op::Assign)?
  std::vector<graph::Scalar> parameter_values;  // in the dtype that registers hold: halves as float32
  schedule::Parameters parameters;
  /// A parameter that is a symbolic size: its value is not in parameter_values.
  struct SizeParameter {
    std::size_t parameter;
    SymInt size;
    DType dtype;
  };
  std::vector<SizeParameter> size_parameters;
  std::vector<Device> devices;  // of the roots and everything below; numbers belong to the device that reads them
  /// The reasons of the last roots; the others were asked for, or are writes that are due.
  std::vector<AddedRoot> added;
  /// Values that this work keeps if it stores them anyway. Empty if it keeps nothing.
  std::vector<Awaited> awaited;
  std::int64_t keep_bytes = 0;  // the most bytes that it keeps of them; 0 for any number

  /// States that no leaf may be overwritten: somebody reads it after this work.
  void keep_leaves() {
    leaf_dies.assign(leaves.size(), false);
    leaf_readers.assign(leaves.size(), Usage::Readers::elsewhere);
  }
};

/// Writes the key of `key.order`, which was built for `work` from these roots. `salt` separates keys made under
/// different settings. `keeps`: finds out which values the work keeps. Throws DeviceError for a leaf whose buffer a
/// failed schedule has overwritten. Thread safety: any thread, with its own key and work.
void write_key(const base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key,
               bool keeps = false);

/// Throws DeviceError for a realised node whose buffer a failed schedule has overwritten, and ArgumentError for an
/// input of a trace that has ended.
void check_present(const graph::Node& node);

/// What a piece of work does beside what was asked for.
enum class BesideRoots : std::uint8_t {
  nothing,
  writes,  // carries out pending writes below the roots that other tensors hold
  all,     // the same, and keeps values that the program can still ask for (runtime/keep.hpp)
};

/// Makes one attempt to claim. Puts the pending ones of `roots` into `pending`, claims what they need, adds
/// further roots, and writes the key. Returns 0 on success, also if no root is pending. Otherwise
/// it has released everything and returns the work that it collided with. The caller then ends its own work, calls
/// wait_for_turn, and tries again. Pass `sealed` if the roots are about to be realised: each root is sealed before the
/// readers of leaves are determined, and `sealed` counts the sealed roots.
std::uint64_t claim_pending(base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key,
                            std::vector<graph::NodePtr>& pending, std::size_t* sealed = nullptr,
                            BesideRoots beside = BesideRoots::all);
/// Waits for the work that attempt number `attempt` (counted from 0) collided with. The caller must have no work of its
/// own under way: a thread that forks waits until all work has ended, so both would wait for ever.
void wait_for_turn(std::uint64_t other, int attempt);
/// Ends the claims, then releases what was held. In this order, because a user's deleter may realise something itself.
void release_claims(base::Activity& work, Key& key, std::vector<graph::NodePtr>& pending,
                    std::size_t* sealed = nullptr);

/// The key of the pending ones of `roots`, for callers that inspect the graph without realising it. The graph stays as
/// it is while the object lives. The constructor waits for other work that is in the way.
struct KeySnapshot {
  KeySnapshot(std::span<const graph::NodePtr> roots, BesideRoots beside);
  ~KeySnapshot() { release_claims(*work, key, pending); }
  KeySnapshot(const KeySnapshot&) = delete;

  std::optional<base::Activity> work;
  std::vector<graph::NodePtr> pending;
  Key key;
};

/// Writes the key of these pending roots alone, after waiting for other work that is in the way. For callers that
/// inspect without realising and have claimed nothing else. The nodes stay as they are while `work` is under way.
void make_key(const base::Activity& work, std::span<const graph::NodePtr> roots, std::uint64_t salt, Key& key);

/// Appends the pending writes below the roots that a tensor holds: they are carried out together with whatever reads
/// them. Then appends the values that should be read before these writes (Usage::early_readers), with their reasons.
/// `key` is the key of the roots before the call.
void add_pending_writes(std::vector<graph::NodePtr>& roots, Key& key);

}  // namespace oriel::runtime
