// What the scheduler knows of each value before it decides where to evaluate it, and what forming kernels works on.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/kernels.hpp"

namespace oriel::schedule {

inline constexpr std::int64_t kWorkCap = 1'000'000;

struct ValueProperties {
  std::int64_t elements = 0;    // as an estimate
  bool symbolic = false;        // is the number of elements an expression?
  bool empty = false;           // are there no elements?
  std::int64_t work = 0;        // operations to recompute one element from buffers and reductions
  bool keeps_zero = false;      // 0 wherever all loads below are masked out
  bool row_level = false;       // elementwise over a reduction's result of the same size
  EntryId over = kNone;         // the first such reduction; the entry itself if it is a reduction
  bool over_reduction = false;  // some reduction lies below
  bool raw_view = false;        // a raw view lies between it and the reductions below: it may repeat elements
  /// No two elements read the same element of memory, of positions or of a reduction.
  bool distinct = false;
  bool positions = false;         // computed from positions and numbers alone: no buffer lies below
  bool finds = false;             // of an integer or a bool: gathers alone read it, for their positions
  bool recompute_always = false;  // an integer or a bool of positions alone that costs little: never stored
};

/// One element for each entry of the arena.
std::vector<ValueProperties> find_properties(const Arena& arena);

/// What each part of forming kernels reads, and the kernels so far. The arguments must outlive the part.
class FormingPart {
 public:
  FormingPart(const Arena& arena, const DeviceLimits& limits, const std::vector<ValueProperties>& properties,
              KernelGraph& graph)
      : arena_(arena), limits_(limits), properties_(properties), graph_(graph) {}

 protected:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }
  const FusionLimits& limits(const Kernel& k) const { return limits_.of(k.device); }
  Kernel& kernel(KernelId k) const { return graph_.kernels[static_cast<std::size_t>(k)]; }
  auto& uses(EntryId v) const { return graph_.uses[static_cast<std::size_t>(v)]; }

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::vector<ValueProperties>& properties_;
  KernelGraph& graph_;
};

}  // namespace oriel::schedule
