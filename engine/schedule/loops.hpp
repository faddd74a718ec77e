// The loops in which a kernel runs, and how each value that it reads or stores is reached from them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/domain.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

/// A buffer that a kernel reads or writes.
struct LoopArgument {
  EntryId entry = kNone;
  bool leaf = false;  // the entry's own buffer; else what the schedule stores for the entry
  bool output = false;
  std::int32_t shares = -1;  // of an output: the argument in whose memory it is stored
};

/// One way in which a kernel reads or writes an argument, or asks for positions.
struct LoopAccess {
  std::int32_t argument = -1;  // -1 for positions, which need no memory
  DType dtype = DType::float32;
  EntryId entry = kNone;
  ScopeId scope = kRootScope;
  MapId map = -1;          // before the loops were normalised
  int stage = kOuterOnly;  // in whose inner loops it is used
  bool store = false;
  bool in_order = false;  // loads or stores the element of each point; a gather and positions do not
  ShapeTracker tracker;   // over the outer loops, then the stage's inner ones
};

/// Where a value is computed: in the inner loops of a stage, or once a point of the outer loops, after those.
struct StageSlot {
  int stage = 0;
  bool body = false;
};

struct LoopStage {
  Ints inner;
  std::vector<std::size_t> reductions;  // of Kernel::reductions, later ones first
  bool has_body = false;                // is something computed or stored in its inner loops?

  /// A body without loops runs once a point, as what comes after the loops does.
  bool loops() const noexcept { return !reductions.empty() || (has_body && !inner.empty()); }
};

/// The loops of one kernel: outer ones, and those of its stages. The first stage has no inner loops: values that need
/// no reduction are computed there. Reductions of one level (0 where no other reduction lies below) with equal extents
/// share a stage. What loops over the axes that are not parallel comes in a stage of its own, the last one.
struct LoopNest {
  Ints outer;
  std::vector<LoopStage> stages;
  std::vector<int> stage_of_reduction;  // of Kernel::reductions
};

/// How the kernel stores an output.
struct LoopStore {
  std::size_t instance;  // whose value it is
  StageSlot slot;
  std::int32_t access;
};

/// The memory that the loops of one kernel use, and how they reach it.
struct LoopMemory {
  std::vector<LoopArgument> arguments;  // inputs and outputs, in the order in which accesses meet them
  std::vector<LoopAccess> accesses;
  /// In the order in which they are stored: what goes over memory that the kernel reads comes last.
  std::vector<LoopStore> stores;

  /// The argument that is what the schedule stores for `entry`; -1 where there is none.
  std::int32_t argument_of(EntryId entry, bool output) const;
};

/// The data flow between a kernel's values, and the stage in which each is computed. A value is named by the index of
/// its instance in Kernel::instances.
class LoopValues {
 public:
  LoopValues(const Arena& arena, const Kernel& kernel) : arena_(&arena), kernel_(&kernel) {}

  StageSlot slot(std::size_t instance) const { return slots_[instance]; }
  /// The access of a Load, a position, a mask or a gather; -1 where it needs none.
  std::int32_t access(std::size_t instance) const { return access_of_[instance]; }
  /// False for a load that only stands for what a gather reads.
  bool used(std::size_t instance) const { return used_[instance]; }

  /// The instance that an alias, a mask or a reduction reads; an operand of a computed one.
  std::size_t source(std::size_t instance) const { return operand(instance, 0); }
  std::size_t operand(std::size_t instance, int k) const {
    return static_cast<std::size_t>(operands_[instance][static_cast<std::size_t>(k)]);
  }
  /// The first operand that is a value of the kernel: what a gather reads from is in memory before the kernel runs.
  int first_operand(std::size_t instance) const;
  /// The instance that makes a value: below aliases, and below masks that hide nothing that is not hidden there.
  std::size_t maker(std::size_t instance) const;
  /// That, and below conversions that change nothing: a half is held as a float32 number.
  std::size_t number(std::size_t instance) const;

 private:
  friend class LoopFinder;

  const Arena* arena_;
  const Kernel* kernel_;
  std::vector<std::array<std::int32_t, 3>> operands_;  // of each instance
  std::vector<StageSlot> slots_;
  std::vector<std::int32_t> access_of_;
  std::vector<bool> used_;
};

/// The loops of one kernel, the memory that they use, and the values that they compute.
class KernelLoops {
 public:
  /// Precondition: the kernel does not sort, and its root has elements.
  KernelLoops(const Arena& arena, const KernelGraph& graph, KernelId kernel);

  const Arena& arena() const noexcept { return *arena_; }
  const Kernel& kernel() const noexcept { return *kernel_; }
  const LoopValues& values() const noexcept { return values_; }
  KernelId id() const noexcept { return id_; }

  const LoopNest& nest() const noexcept { return nest_; }
  const LoopMemory& memory() const noexcept { return memory_; }
  /// Moves the accesses out.
  std::vector<LoopAccess> take_accesses() &&;
  const DomainChange& change() const noexcept { return change_; }
  /// "(4, 6) | (5)": the loops before they were normalised, outer ones and each stage's inner ones.
  const std::string& before() const noexcept { return before_; }

 private:
  friend class LoopFinder;

  const Arena* arena_;
  const Kernel* kernel_;
  KernelId id_;
  LoopNest nest_;
  LoopMemory memory_;
  LoopValues values_;
  DomainChange change_;
  std::string before_;
};

/// Adds up what walking memory costs, along the last inner loop of stages and along the last outer loop.
class WalkCost {
 public:
  /// An access over `outer` outer loops, then others; its stage has `points` points for each of the outer ones.
  void add(const ShapeTracker& tracker, DType dtype, std::size_t outer, double points);
  /// Do the operands walk memory better along the last outer loop?
  bool columns_pay() const noexcept { return columns_ < rows_; }

 private:
  double rows_ = 0;
  double columns_ = 0;
};

/// Do neighbouring outer points lie closer in memory than a row's own points?
bool walks_columns(const KernelLoops& loops);

}  // namespace oriel::schedule
