// Which memory each write goes to: that of what it changes, where nothing still reads the old elements, or memory of
// its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/arena.hpp"
#include "schedule/maps.hpp"

namespace oriel::schedule {

struct KernelGraph;
struct Output;
struct Instance;

/// One Assign of the schedule.
struct Write {
  EntryId entry = kNone;
  EntryId home = kNone;  // a leaf or an earlier write, whose memory it takes over; kNone: memory of its own
  bool staged = false;   // the value is stored first, since it reads what the write changes at other positions
  bool alone = false;    // of all: its kernel gives nothing else, which would read what it changes at other positions
  std::string note;      // what was decided, in words
};

struct WritePlan {
  std::vector<Write> writes;        // ascending by entry
  std::vector<std::int32_t> index;  // into `writes` by entry, -1 for what is none; empty where there are no writes
  std::vector<bool> staged_value;   // by entry: to be stored before it is written; empty where none is
  std::vector<bool> wanted;         // by entry: asked for; empty where there are no writes
  std::vector<EntryId> bottom;      // one a write: where its memory begins; filled in when all is decided

  const Write* of(EntryId e) const {
    if (index.empty() || index[static_cast<std::size_t>(e)] < 0) return nullptr;
    return &writes[static_cast<std::size_t>(index[static_cast<std::size_t>(e)])];
  }
  EntryId home(EntryId e) const { return of(e) == nullptr ? kNone : of(e)->home; }
  /// The leaf or write where the memory of `e` begins; `e` itself where it has its own. Only once all is decided.
  EntryId storage(EntryId e) const {
    return of(e) == nullptr ? e : bottom[static_cast<std::size_t>(of(e) - writes.data())];
  }
};

/// Is the write's map the whole of its target? Then no old element matters.
bool writes_all(const Entry& write);
/// Does some element of the target survive, so that it has to be in the write's memory first, and is it not there yet?
bool needs_base(const Arena& arena, const Write& write);

/// Why a leaf's memory must not be written; empty where it may.
using LeafGuard = std::function<std::string(const mem::BufferPtr&)>;

/// The most that may be hoped for: every write takes over the memory below it unless that is known to be needed.
WritePlan hope_for_writes(const Arena& arena, std::span<const EntryId> requested, const LeafGuard& guard);

/// Makes each write in place wait for the kernels that read what it changes. Returns false where one cannot (a reader
/// needs the new value as well, or the write's own kernel reads other positions than it writes): then the plan has been
/// made more cautious, and the kernels have to be formed again.
bool order_writes(const Arena& arena, KernelGraph& graph, WritePlan& plan);

/// Does a load of kernel `k` read, at each point, only elements that this point stores of `output` later, if the two
/// lie in one memory?
bool reads_its_own(const KernelGraph& graph, std::int32_t k, const Output& output, const Instance& load);

/// Fills KernelGraph::order: producers first; kernels that overwrite a leaf, and what needs them, after all others, so
/// that a failure before them has changed nothing.
void order_kernels(const Arena& arena, KernelGraph& graph);

}  // namespace oriel::schedule
