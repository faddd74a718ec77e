// The loops of a recurrence. As element.hpp: the engine compiles them, and they are text of rendered sources.
#pragma once

#include "ops/functions/element.hpp"

namespace oriel::ops {
namespace {

// snippet recur: Add Mul

/// y[k] after y[k - 1]. If it restarts, an a of 0 forgets what was before, infinities and NaN too.
template <bool restarts, class T>
T after(T a, T before, T b) {
  const T y = Add::of(Mul::of(a, before), b);
  return restarts && a == T(0) ? b : y;
}

/// y[k] = a[k] * y[k - 1] + b[k] for `lines` lines of `inner` elements, and y[0] = b[0]; of each line elements
/// [from, to). Element j of line k of a is a[(k * inner + j) * step]: with a step of 0 it is one number.
template <bool restarts, class T>
void recur(T* y, const T* a, std::int64_t step, const T* b, std::int64_t lines, std::int64_t inner, std::int64_t from,
           std::int64_t to) {
  for (std::int64_t j = from; j < to; ++j) y[j] = b[j];
  if (to - from == 1) {
    T last = y[from];
    for (std::int64_t k = 1, at = inner + from; k < lines; ++k, at += inner)
      y[at] = last = after<restarts>(a[at * step], last, b[at]);
    return;
  }
  for (std::int64_t k = 1; k < lines; ++k) {
    const T* const before = y + (k - 1) * inner;
    T* const now = y + k * inner;
    const T* const bk = b + k * inner;
    if (step == 0) {
      for (std::int64_t j = from; j < to; ++j) now[j] = after<restarts>(*a, before[j], bk[j]);
    } else {
      const T* const ak = a + k * inner;
      for (std::int64_t j = from; j < to; ++j) now[j] = after<restarts>(ak[j], before[j], bk[j]);
    }
  }
}

/// The same for `side` rows of single elements, `lines` apart, side by side: each element waits for the one before it.
template <bool restarts, int side, class T>
void recur_rows(T* y, const T* a, std::int64_t step, const T* b, std::int64_t lines) {
  T last[side];
  for (int r = 0; r < side; ++r) y[r * lines] = last[r] = b[r * lines];
  for (std::int64_t k = 1; k < lines; ++k) {
    for (int r = 0; r < side; ++r)
      y[r * lines + k] = last[r] = after<restarts>(a[(r * lines + k) * step], last[r], b[r * lines + k]);
  }
}

// end of snippets

}  // namespace
}  // namespace oriel::ops
