// Chooses the memory of each write: the target's own memory if nothing reads the old elements any more, else new
// memory.
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
  EntryId home = kNone;  // a leaf or an earlier write, whose memory it reuses; kNone: memory of its own
  bool staged = false;   // the value is stored first, because it reads elements that the write changes at other points
  bool alone = false;    // its kernel has no other output: one would read elements that the write changes at other
                         // points
  std::string note;      // what was decided, in words
};

/// The writes of a schedule, and which memory each goes to.
struct WriteTable {
  std::vector<Write> writes;        // ascending by entry
  std::vector<std::int32_t> index;  // by entry: its place in `writes`, or -1; empty if there are no writes
  std::vector<bool> staged_value;   // by entry: is it stored before it is written? Empty if none is
  std::vector<bool> wanted;         // by entry: was it asked for? Empty if there are no writes
  std::vector<EntryId>
      bottom;  // for each write: the entry whose memory it goes to; filled in when everything is decided

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
/// Must a kernel put old elements of the target into the write's memory first, since the write leaves them as they are?
bool needs_base(const Arena& arena, const Write& write);

/// Says why a leaf's memory must not be written; empty if it may be written.
using LeafGuard = std::function<std::string(const mem::BufferPtr&)>;

/// The first attempt: every write reuses the memory below it, unless something is known to need the old elements.
WriteTable plan_writes_in_place(const Arena& arena, std::span<const EntryId> requested, const LeafGuard& guard);

/// Makes each write in place depend on the kernels that read the elements which it changes. Returns false if some write
/// cannot wait: a reader also needs the new value, or one point of the write's own kernel reads what another
/// overwrites. The table then has fewer writes in place, and the kernels must be formed again.
bool order_writes(const Arena& arena, KernelGraph& graph, WriteTable& table);

/// Does a load of kernel `k` read, at each point, only elements that this point stores of `output` later, if the two
/// lie in one memory?
bool reads_its_own(const KernelGraph& graph, std::int32_t k, const Output& output, const Instance& load);

/// Fills KernelGraph::order: producers first; kernels that overwrite a leaf, and what needs them, after all others, so
/// that a failure before them has changed nothing.
void order_kernels(const Arena& arena, KernelGraph& graph);

}  // namespace oriel::schedule
