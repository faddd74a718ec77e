// Arithmetic on sizes, which may have no value. Compiled expressions (program.cpp) call it, and it is text of exported
// sources: it computes in 128 bits where 64 do not do, and divides as Python does. `sizes` is anything with an
// operator[] that gives a Size.
#pragma once

#include <cstdint>

namespace oriel::sym::arithmetic {

using Int = std::int64_t;

// snippet size_arithmetic:

/// A size, unless it does not fit an Int or a divisor is 0.
struct Size {
  Int value;
  bool known;
};
/// 128 bits, in two's complement: not every target has such a type.
struct Wide {
  std::uint64_t low, high;
};
[[maybe_unused]] inline Wide widened(Int a) { return {static_cast<std::uint64_t>(a), a < 0 ? ~std::uint64_t{0} : 0}; }
[[maybe_unused]] inline Wide plus(Wide a, Wide b) {
  const std::uint64_t low = a.low + b.low;
  return {low, a.high + b.high + (low < b.low ? 1 : 0)};
}
[[maybe_unused]] inline Wide times_in_halves(Int a, Int b) {
  constexpr std::uint64_t half = 0xffffffff;
  const std::uint64_t x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const std::uint64_t carried = (x >> 32) * (y & half) + ((x & half) * (y & half) >> 32);
  const std::uint64_t middle = (x & half) * (y >> 32) + (carried & half);
  const std::uint64_t high = (x >> 32) * (y >> 32) + (carried >> 32) + (middle >> 32);
  return {x * y, high - (a < 0 ? y : 0) - (b < 0 ? x : 0)};
}
[[maybe_unused]] inline Wide times(Int a, Int b) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef __int128 Whole;
  const Whole product = Whole{a} * b;
  return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#else
  return times_in_halves(a, b);
#endif
}
[[maybe_unused]] inline Size narrowed(Wide value, bool known) {
  const Int low = static_cast<Int>(value.low);
  if (!known || value.high != widened(low).high) return {0, false};
  return {low, true};
}
/// constant + the sum of coefficients times sizes.
template <class Sizes>
Size sum(Int constant, const Int* coefficients, const Sizes& sizes, int n) {
  Wide total = widened(constant);
  bool known = true;
  for (int k = 0; k < n; ++k) {
    known = known && sizes[k].known;
    total = plus(total, times(coefficients[k], sizes[k].value));
  }
  return narrowed(total, known);
}
template <class Sizes>
Size product(const Sizes& sizes, int n) {
  bool known = true;
  for (int k = 0; k < n; ++k) known = known && sizes[k].known;
  for (int k = 0; k < n; ++k) {
    if (known && sizes[k].value == 0) return {0, true};
  }
  Size result{1, known};
  for (int k = 0; k < n; ++k) result = narrowed(times(result.value, sizes[k].value), result.known);
  return result;
}
/// Rounded towards minus infinity, and the remainder with the divisor's sign.
[[maybe_unused]] inline Size floor_div(Size a, Size b) {
  if (!a.known || !b.known || b.value == 0) return {0, false};
  if (b.value == -1) return narrowed(times(a.value, -1), true);
  const Int q = a.value / b.value;
  return {a.value % b.value != 0 && (a.value % b.value < 0) != (b.value < 0) ? q - 1 : q, true};
}
[[maybe_unused]] inline Size mod(Size a, Size b) {
  if (!a.known || !b.known || b.value == 0) return {0, false};
  if (b.value == -1) return {0, true};
  const Int r = a.value % b.value;
  return {r != 0 && (r < 0) != (b.value < 0) ? r + b.value : r, true};
}
template <class Sizes>
Size least_size(const Sizes& sizes, int n) {
  Size result = sizes[0];
  for (int k = 1; k < n; ++k) {
    result = {sizes[k].value < result.value ? sizes[k].value : result.value, result.known && sizes[k].known};
  }
  return result;
}
template <class Sizes>
Size largest_size(const Sizes& sizes, int n) {
  Size result = sizes[0];
  for (int k = 1; k < n; ++k) {
    result = {sizes[k].value > result.value ? sizes[k].value : result.value, result.known && sizes[k].known};
  }
  return result;
}
template <class Sizes>
Size choose(const Sizes& sizes) {
  if (!sizes[0].known) return sizes[0];
  return sizes[0].value != 0 ? sizes[1] : sizes[2];
}
/// A side that decides does so even if another side has no value.
template <class Sizes>
Size any_or_all(const Sizes& sizes, int n, Int decides) {
  Size result{1 - decides, true};
  for (int k = 0; k < n; ++k) {
    if (sizes[k].known && sizes[k].value == decides) return {decides, true};
    if (!sizes[k].known) result = {0, false};
  }
  return result;
}
/// Do sizes, and the strides behind them, say of elements that they lie densely in memory in some order of the axes?
template <class Sizes>
Size lie_densely(const Sizes& list, int n, Int yes) {
  const int rank = n / 2;
  int left = 0;
  for (int k = 0; k < n; ++k) {
    if (!list[k].known) return {0, false};
    if (k < rank && list[k].value >= 2) ++left;
  }
  for (int k = 0; k < rank; ++k) {
    if (list[k].value == 0) return {yes, true};
  }
  Size stride{1, true};  // one that does not fit an Int is nobody's
  for (; left > 0; --left) {
    int k = 0;
    while (k < rank && (list[k].value < 2 || !stride.known || list[rank + k].value != stride.value)) ++k;
    if (k == rank) return {1 - yes, true};
    stride = narrowed(times(stride.value, list[k].value), stride.known);
  }
  return {yes, true};
}

// end of snippets

}  // namespace oriel::sym::arithmetic
