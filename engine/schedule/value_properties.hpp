// What the scheduler knows of each value before it decides where to evaluate it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/arena.hpp"

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
  bool recompute_always = false;  // an integer or a bool of positions alone that costs little: never stored
};

/// One element for each entry of the arena.
std::vector<ValueProperties> find_properties(const Arena& arena);

}  // namespace oriel::schedule
