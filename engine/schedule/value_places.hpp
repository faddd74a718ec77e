// Where the values between kernels lie. It is text of exported sources, which plan their memory when their sizes are
// known. plan_memory gives values the same bytes; it keeps free blocks sorted, because graphs have many more values.
#pragma once

#include <cstdint>

namespace oriel::schedule {
namespace places {

using Int = std::int64_t;

// snippet place_values:

struct PlacedValue {
  int value;
  Int first;  // the step that writes it
  Int last;   // that reads it last
  Int bytes;
};
/// Sets the offset of each of these values, which are sorted by their first step: each gets the free block that fits it
/// best, and the largest one grows if none fits. Blocks begin at multiples of `apart`. Gives their bytes; negative if
/// they do not fit an Int.
template <int N>
Int place_values(const PlacedValue (&values)[N], Int apart, Int* offsets) {
  Int bytes[N];
  Int busy[N];
  int block_of[N];
  int blocks = 0;
  for (const PlacedValue& v : values) {
    int fit = -1;
    for (int b = 0; b < blocks; ++b) {
      if (busy[b] >= v.first) continue;
      const bool fits = bytes[b] >= v.bytes;
      const bool fitted = fit >= 0 && bytes[fit] >= v.bytes;
      if (fit < 0 || (fits && (!fitted || bytes[b] < bytes[fit])) || (!fits && !fitted && bytes[b] > bytes[fit]))
        fit = b;
    }
    if (fit < 0) {
      fit = blocks++;
      bytes[fit] = 0;
    }
    if (bytes[fit] < v.bytes) bytes[fit] = v.bytes;
    busy[fit] = v.last;
    block_of[v.value] = fit;
  }
  Int begin[N];
  Int end = 0;
  for (int b = 0; b < blocks; ++b) {
    begin[b] = end;
    if (__builtin_add_overflow(end, bytes[b], &end) || __builtin_add_overflow(end, apart - 1, &end)) return -1;
    end = end / apart * apart;
  }
  for (int v = 0; v < N; ++v) offsets[v] = begin[block_of[v]];
  return end;
}

// end of snippets

}  // namespace places
}  // namespace oriel::schedule
