// Which values each kernel computes, where in its domain, and why it ends where it ends.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/inline_vector.hpp"
#include "schedule/arena.hpp"
#include "schedule/maps.hpp"
#include "schedule/pattern_limits.hpp"
#include "schedule/writes.hpp"

namespace oriel::schedule {

using KernelId = std::int32_t;

/// The limits by which kernels are cut; each appears in a boundary's reason.
struct FusionLimits {
  static constexpr int kUnlimited = 1 << 20;
  /// A computed value is stored, not recomputed, when the points that need it outnumber its elements by more than this.
  std::int64_t expand_factor = 16;
  /// Whether sizes that are symbols may be asked for that, as a guard. If not, what may be repeated so often is stored.
  bool asks = true;
  /// ... or when evaluating it at several places repeats more than this many operations per element.
  std::int64_t repeated_work = 32;
  int instructions = 16384;
  int arguments = kUnlimited;   // buffers that a kernel reads and writes
  int parameters = kUnlimited;  // numbers given at launch
  /// Outputs that one kernel may take over from kernels with the same domain.
  int outputs = 64;
  std::int64_t row_bytes = kRowBytes;
  /// To how many parts kernels that share their rows may be fused (fused_kernels.hpp).
  int parts = 1;
  /// Whether softmax between two products may run with a running maximum and sum, so that its rows may have any length.
  bool online = false;
  /// Reductions from these sizes on have a kernel to themselves, since sharing it would cost more
  /// (reduction_patterns.hpp).
  PatternLimits patterns;
  /// Values may be stored over what their kernel reads for the last time (donation.hpp).
  bool donates = true;
};

/// Those of each device that a graph has to do with.
class DeviceLimits {
 public:
  /// For every device.
  DeviceLimits(const FusionLimits& all = {}) : all_(all) {}  // NOLINT(google-explicit-constructor)
  void set(Device device, const FusionLimits& limits) { others_.emplace_back(device, limits); }
  const FusionLimits& of(Device device) const;

 private:
  FusionLimits all_;
  std::vector<std::pair<Device, FusionLimits>> others_;
};

/// Where in a kernel a value is evaluated. Root: the domain is the root's shape. Outer: the parallel axes P alone, a
/// subset of the root's axes, known once the kernel holds a reduction. Reductions have a scope each: P ++ the reduced
/// extents.
using ScopeId = std::int32_t;
inline constexpr ScopeId kRootScope = 0;
inline constexpr ScopeId kOuterScope = 1;
inline constexpr ScopeId kFirstReduction = 2;

enum class Role : std::uint8_t {
  Compute,  // elementwise: sources at the same place
  Load,     // from a buffer: a leaf, or what another kernel stores
  Leaf,     // Const or Iota
  Alias,    // the value of `source` at (scope, map)
  Masked,   // Alias, and 0 where `valid_map` is invalid
  Reduce,   // a reduction's result; `scope` and `map` are its body's
};

/// A value at one place of a kernel. For Alias, Masked and Reduce, `source`, `scope` and `map` say where the operand is
/// evaluated. For a Gather they locate the Load of its source. That Load stands for the whole buffer; its map is
/// position 0 everywhere.
struct Instance {
  EntryId entry = kNone;
  Role role = Role::Compute;
  ScopeId at_scope = kRootScope;
  MapId at_map = -1;
  EntryId source = kNone;
  ScopeId scope = kRootScope;
  MapId map = -1;
};

struct ReductionScope {
  EntryId entry = kNone;
  bool windows = false;  // may neighbouring results read overlapping elements (KernelPatterns::windows)?
  Shape extents;         // reduced axes of the source
};

struct Output {
  EntryId entry = kNone;
  ScopeId scope = kRootScope;
  MapId map = -1;
  std::string reason;  // why this value is stored
};

/// A kernel runs on its root's device. One that is a copy moves the bytes of its root's source, which is stored or a
/// leaf, to that device, and holds nothing else. One that is alone sorts, scans, scatters or calls the host: it holds
/// that op, whose sources are in memory too.
struct Kernel {
  EntryId root = kNone;
  Shape root_shape;
  Device device;
  bool copy = false;
  bool alone = false;
  /// Does it hold its root alone?
  bool closed() const noexcept { return copy || alone; }
  bool outer_known = false;
  std::vector<bool> outer_axes;  // of root_shape; all, unless a reduction needed fewer
  Shape outer_shape;
  std::vector<ReductionScope> reductions;  // scope = kFirstReduction + index; later ones are evaluated earlier
  std::vector<Instance> instances;         // consumers before producers
  std::vector<Output> outputs;
  std::vector<EntryId> gathered;  // stored values that it reads anywhere: their Load stands for the whole
  InlineVector<KernelId, 4> depends_on;
  int loads = 0;       // buffers that it reads, where the device takes only so many (budget.hpp)
  int open = 0;        // values that it needs and whose turn has not come
  int parameters = 0;  // numbers given at launch

  /// How many points a scope has.
  SymInt size(ScopeId scope) const;
  /// The same as an estimate.
  std::int64_t points(ScopeId scope) const;
  bool empty(ScopeId scope) const;
  void choose_outer(std::vector<bool> axes);
};

/// A use of an entry: the point of a kernel at which the entry is needed. `instance` indexes Kernel::instances.
struct Use {
  KernelId kernel;
  ScopeId scope;
  MapId map;
  std::int32_t instance;
  friend bool operator<(const Use& a, const Use& b) {
    return std::tie(a.kernel, a.scope, a.map) < std::tie(b.kernel, b.scope, b.map);
  }
};
inline bool same_use(const Use& a, const Use& b) {
  return a.kernel == b.kernel && a.scope == b.scope && a.map == b.map;
}

/// Outer loops with which each of several kernels can be written: their rows, in the order of the elements of the
/// values between them.
struct SharedLoops {
  Ints extents;
  Ints units;  // how many rows a step of each loop goes on
  /// The same for each outer loop of each kernel; 0 for a loop over columns, which that kernel has to itself.
  std::vector<Ints> units_of;
};

/// Kernels that run as one program of several parts (fused_kernels.hpp).
struct FusedKernels {
  std::vector<KernelId> kernels;  // in running order
  std::vector<EntryId> between;   // what each kernel but the last leaves for the next: a row at a time, in no memory
  SharedLoops loops;
  bool online = false;  // softmax between two products, with a running maximum and sum (online_softmax.hpp)
  std::string reason;   // why they are fused
};

struct KernelGraph {
  std::deque<Kernel> kernels;
  std::vector<KernelId> order;             // producers first; of fused kernels the last one alone
  std::vector<KernelId> stored_by;         // per entry; -1 where not stored
  std::vector<InlineVector<Use, 1>> uses;  // per entry
  MapTable maps;
  WriteTable writes;
  std::vector<EntryId> donors;  // per entry: the value whose memory it is stored in, or kNone; empty where none is
  std::vector<std::pair<EntryId, EntryId>> other_dtypes;  // a value, and one whose memory it does not take: only its
                                                          // dtype stands against that
  std::vector<KernelId> bases;  // for each write: the kernel that first copies the elements which the write keeps, or
                                // -1

  std::vector<FusedKernels> fused;
  std::vector<std::int32_t> fused_in;  // per kernel: which of `fused` it is a part of, or -1; empty where none is

  /// What a kernel is a part of; null where it runs by itself.
  const FusedKernels* fused_with(KernelId k) const {
    const std::int32_t at = fused_in.empty() ? -1 : fused_in[static_cast<std::size_t>(k)];
    return at < 0 ? nullptr : &fused[static_cast<std::size_t>(at)];
  }
  EntryId donor_of(EntryId e) const { return donors.empty() ? kNone : donors[static_cast<std::size_t>(e)]; }
  /// The instance of `entry` at that use. Throws InternalError when there is none.
  const Instance& find(EntryId entry, KernelId kernel, ScopeId scope, MapId map) const;

  struct Evaluated {
    const Instance* instance;
    ScopeId scope;
    MapId map;
  };
  /// Does `from` need what `target` stores? Yes where that takes too long to tell.
  bool may_reach(KernelId from, KernelId target) const;
  /// Where an output of the kernel is really evaluated: a use at the root scope may have been moved to the outer scope.
  Evaluated evaluated(KernelId kernel, const Output& output) const;
};

/// Why an entry is requested, if nobody asked for its value.
using RequestReason = std::pair<EntryId, std::string>;

/// Groups everything that the arena's roots need into kernels. Linear in the number of entries, once for each round in
/// which a write turns out not to fit in place. Without a guard no leaf's memory is reused. `reasons`: of entries of
/// `requested` that are not results.
KernelGraph form_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                         const LeafGuard& guard = {}, std::span<const RequestReason> reasons = {});

}  // namespace oriel::schedule
