// The loops of a scatter. As element.hpp: the engine compiles them, and they are text of rendered sources.
#pragma once

#include "ops/functions/reduce.hpp"

namespace oriel::ops {
namespace {

// snippet scatters:

/// What one block of a scatter combines: `keys` lines of `inner` elements into entries that are such lines, too. Here
/// only entries [first, last), and of each line only elements [from, to).
struct ScatterBlock {
  const std::int64_t* positions;  // one a line, or with `each` one an element
  std::int64_t keys;
  std::int64_t extent;
  std::int64_t inner;
  bool each;
  std::int64_t first;
  std::int64_t last;
  std::int64_t from;
  std::int64_t to;
};

/// Calls f(key, element of the line, entry) in the order of keys. Negative positions count from the end. kShort: f is
/// so short that a turn of the loop takes four.
template <bool kShort = false, class F>
void each_scattered(const ScatterBlock b, F f) {
  const std::uint64_t entries = static_cast<std::uint64_t>(b.last - b.first);
  const auto visit = [=](std::int64_t k, std::int64_t j, std::int64_t p) {
    const std::uint64_t e = static_cast<std::uint64_t>((p < 0 ? p + b.extent : p) - b.first);
    if (e < entries) f(k, j, b.first + static_cast<std::int64_t>(e));
  };
  if ((!b.each || b.inner == 1) && b.to - b.from == 1) {  // the most frequent form, without a loop in the loop
    const auto one = [=](std::int64_t k) {
      const std::int64_t p = b.positions[k];
      if (static_cast<std::uint64_t>(p) - static_cast<std::uint64_t>(b.first) < entries)
        f(k, b.from, p);
      else if (p < 0)
        visit(k, b.from, p);
    };
    std::int64_t k = 0;
    for (; kShort && k + 4 <= b.keys; k += 4) {
      one(k);
      one(k + 1);
      one(k + 2);
      one(k + 3);
    }
    for (; k < b.keys; ++k) one(k);
    return;
  }
  for (std::int64_t k = 0; k < b.keys; ++k)
    for (std::int64_t j = b.from; j < b.to; ++j) visit(k, j, b.positions[b.each ? k * b.inner + j : k]);
}

template <class T>
void fill_scattered(T* out, const ScatterBlock& b, T value) {
  for (std::int64_t e = b.first; e < b.last; ++e)
    for (std::int64_t j = b.from; j < b.to; ++j) out[e * b.inner + j] = value;
}

/// Element j of line k is x[k * line + j * step].
template <class F, class Identity, class T>
void scatter(T* out, const ScatterBlock& b, const T* x, std::int64_t line, std::int64_t step) {
  fill_scattered(out, b, Identity::template of<T>());
  if (b.inner == 1) {  // numbers: no place is multiplied
    if (line == 0)
      each_scattered<true>(b, [=](std::int64_t, std::int64_t, std::int64_t e) { out[e] = F::of(out[e], *x); });
    else
      each_scattered<true>(b, [=](std::int64_t k, std::int64_t, std::int64_t e) { out[e] = F::of(out[e], x[k]); });
    return;
  }
  if (b.each || b.to - b.from == 1) {
    return each_scattered(b, [&](std::int64_t k, std::int64_t j, std::int64_t e) {
      T& to = out[e * b.inner + j];
      to = F::of(to, x[k * line + j * step]);
    });
  }
  ScatterBlock lines = b;
  lines.from = 0;
  lines.to = 1;
  each_scattered(lines, [&](std::int64_t k, std::int64_t, std::int64_t e) {
    T* const to = out + e * b.inner;
    const T* const from = x + k * line;
    if (step == 1) {
      for (std::int64_t j = b.from; j < b.to; ++j) to[j] = F::of(to[j], from[j]);
    } else {
      for (std::int64_t j = b.from; j < b.to; ++j) to[j] = F::of(to[j], *from);
    }
  });
}

/// The number of each entry's last key; -1 of none.
inline void scatter_last(std::int64_t* out, const ScatterBlock& b) {
  fill_scattered(out, b, std::int64_t(-1));
  each_scattered(b, [&](std::int64_t k, std::int64_t j, std::int64_t e) { out[e * b.inner + j] = k; });
}

// end of snippets

}  // namespace
}  // namespace oriel::ops
