// Scans: the sums, products, largest or smallest of the elements up to each one, along an axis (see ../tile/README.md
// for their order).
#include <algorithm>

#include "backend/eigen/isa/level.hpp"
#include "ops/functions/reduce.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using ops::Add;
using ops::kScanRun;
using ops::Max;
using ops::Min;
using ops::Mul;
using ops::Op;

/// What a column has combined before a run. A sum of floats has its rounding error beside it, so that the error of a
/// result does not grow with the number of runs. The identity of a sum of floats is -0, because 0 + -0 is 0.
template <class T, class F>
struct Carry {
  static constexpr bool kRest = std::is_floating_point_v<T> && std::is_same_v<F, Add>;
  static constexpr T kIdentity = kRest                    ? -T(0)
                                 : std::is_same_v<F, Add> ? T(0)
                                 : std::is_same_v<F, Mul> ? T(1)
                                 : std::is_same_v<F, Max> ? ops::Lowest::of<T>()
                                                          : ops::Highest::of<T>();

  T of(T x) const {
    if constexpr (kRest)
      return value + (rest + x);
    else
      return F::of(value, x);
  }
  void next(T total) {
    if constexpr (kRest) {
      // The sum and its error (Knuth's two-sum). The error of an infinite sum is NaN, and is dropped.
      const T part = rest + total, sum = value + part, back = sum - value;
      const T error = (value - (sum - back)) + (part - back);
      value = sum;
      rest = error - error == 0 && error != 0 ? error : kIdentity;
    } else {
      value = F::of(value, total);
    }
  }

  T value = kIdentity;
  T rest = kIdentity;
};

/// Are all orders the same to the bit, and is one addition no slower than a loop? Then no runs are needed.
template <class T, class F>
inline constexpr bool kInOrder = std::is_integral_v<T>&& std::is_same_v<F, Add>;

/// Combines `kSide` runs of n elements that begin `pitch` apart, side by side, because each element of a run waits for
/// the one before it. `ahead`: if not 0, the elements up to the next runs, which are brought into the cache meanwhile:
/// the processor's own prefetchers follow few runs that are read side by side.
template <int kSide, bool kStore, class T, class F>
void side_by_side(T* out, const T* x, std::int64_t pitch, std::int64_t n, std::int64_t ahead, T* totals) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
  T s[kSide];
  for (T& v : s) v = Carry<T, F>::kIdentity;
  for (std::int64_t first = 0; first < n; first += line) {
    ORIEL_UNROLL
    for (int j = 0; ahead > 0 && j < kSide; ++j) {
      const std::int64_t at = ahead + kSide * first + j * line;
      __builtin_prefetch(x + at);
      if constexpr (kStore) __builtin_prefetch(out + at, 1);
    }
    const std::int64_t end = std::min(first + line, n);
    for (std::int64_t k = first; k < end; ++k) {
      ORIEL_UNROLL
      for (int j = 0; j < kSide; ++j) {
        s[j] = F::of(s[j], x[j * pitch + k]);
        if constexpr (kStore) out[j * pitch + k] = s[j];
      }
    }
  }
  for (int j = 0; j < kSide; ++j) totals[j] = s[j];
}

template <class T, class F>
void carry_into(T* out, std::int64_t n, Carry<T, F> carry) {
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) out[i] = carry.of(out[i]);
}

/// Scans `kSide` runs of one row at a time, as often as they fit, and returns how many elements that were.
template <int kSide, class T, class F>
std::int64_t scan_runs(T* out, const T* x, std::int64_t n, Carry<T, F>& carry) {
  constexpr std::int64_t step = kSide * kScanRun;
  T totals[kSide];
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    side_by_side<kSide, true, T, F>(out + i, x + i, kScanRun, kScanRun, i + 2 * step <= n ? step : 0, totals);
    for (int j = 0; j < kSide; ++j) {
      carry_into(out + i + j * kScanRun, kScanRun, carry);
      carry.next(totals[j]);
    }
  }
  return i;
}

template <class T, class F>
void scan_row(T* out, const T* x, std::int64_t n, Carry<T, F>& carry) {
  if constexpr (kInOrder<T, F>) {
    T sum = carry.value;
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      ORIEL_UNROLL
      for (int k = 0; k < 8; ++k) out[i + k] = sum = F::of(sum, x[i + k]);
    }
    for (; i < n; ++i) out[i] = sum = F::of(sum, x[i]);
    carry.value = sum;
    return;
  }
  std::int64_t i = scan_runs<4>(out, x, n, carry);
  i += scan_runs<2>(out + i, x + i, n - i, carry);
  i += scan_runs<1>(out + i, x + i, n - i, carry);
  if (i == n) return;
  T total[1];
  side_by_side<1, true, T, F>(out + i, x + i, 0, n - i, 0, total);
  carry_into(out + i, n - i, carry);
  carry.next(total[0]);
}

/// The state of `width` columns in memory: the values, then their errors, then room for the elements of a run.
template <class T, class F>
Carry<T, F> carry_at(const T* state, std::int64_t width, std::int64_t i) {
  return {state[i], state[width + i]};
}
template <class T, class F>
void keep_carry(T* state, std::int64_t width, std::int64_t i, const Carry<T, F>& carry) {
  state[i] = carry.value;
  state[width + i] = carry.rest;
}

template <class T, class F>
void start(void* state, std::int64_t width) {
  std::fill_n(static_cast<T*>(state), 2 * width, Carry<T, F>::kIdentity);
}

/// One run of kWidth columns in registers.
template <int kWidth, class T, class F>
void scan_narrow(T* out, const T* x, std::int64_t pitch, std::int64_t n, T* state) {
  Carry<T, F> carry[kWidth];
  T s[kWidth];
  for (int j = 0; j < kWidth; ++j) {
    carry[j] = carry_at<T, F>(state, kWidth, j);
    s[j] = Carry<T, F>::kIdentity;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    ORIEL_UNROLL
    for (int j = 0; j < kWidth; ++j) out[k * pitch + j] = carry[j].of(s[j] = F::of(s[j], x[k * pitch + j]));
  }
  for (int j = 0; j < kWidth; ++j) {
    carry[j].next(s[j]);
    keep_carry(state, kWidth, j, carry[j]);
  }
}

/// Calls f(i) for each column of a line. Parts of lines are too short for the processor's own prefetchers, so the next
/// but one line is brought into the cache.
template <class T, class Body>
void each_column(const ScanLines& l, const T* out, const T* x, const Body& f) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
  constexpr std::int64_t step = 4 * line;
  const std::int64_t width = l.width, later = 2 * l.pitch;
  if (l.pitch == width) {
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < width; ++i) f(i);
    return;
  }
  for (std::int64_t i = 0; i < width; i += step) {
    const std::int64_t end = std::min(i + step, width);
    for (std::int64_t at = i + later; at < end + later; at += line) {
      __builtin_prefetch(x + at);
      __builtin_prefetch(out + at, 1);
    }
    ORIEL_VECTOR_LOOP
    for (std::int64_t j = i; j < end; ++j) f(j);
  }
}

/// The first run of columns: nothing is before it, so a line of results is what the next one needs.
template <class T, class F>
void scan_first(const ScanLines& l, T* out, const T* x, std::int64_t n, T* state) {
  std::copy_n(x, l.width, out);
  for (std::int64_t k = 1; k < n; ++k) {
    const T* const before = out;
    out += l.pitch;
    x += l.pitch;
    each_column(l, out, x, [=](std::int64_t i) { out[i] = F::of(before[i], x[i]); });
  }
  std::copy_n(out, l.width, state);
}

/// One run of columns, line by line.
template <class T, class F>
void scan_wide(const ScanLines& l, T* out, const T* x, std::int64_t n, T* state) {
  const std::int64_t width = l.width;
  T* const rest = state + width;
  T* const s = rest + width;
  std::fill_n(s, width, Carry<T, F>::kIdentity);
  for (std::int64_t k = 0; k < n; ++k, out += l.pitch, x += l.pitch) {
    each_column(l, out, x, [=](std::int64_t i) {
      const T v = F::of(s[i], x[i]);
      s[i] = v;
      out[i] = Carry<T, F>{state[i], rest[i]}.of(v);
    });
  }
  for (std::int64_t i = 0; i < width; ++i) {
    Carry<T, F> carry = carry_at<T, F>(state, width, i);
    carry.next(s[i]);
    keep_carry(state, width, i, carry);
  }
}

/// All lines of columns where no runs are needed.
template <class T, class F>
void scan_in_order(const ScanLines& l, T* out, const T* x, T* state) {
  const T* before = state;
  for (std::int64_t k = 0; k < l.lines; ++k, out += l.pitch, x += l.pitch) {
    each_column(l, out, x, [=](std::int64_t i) { out[i] = F::of(before[i], x[i]); });
    before = out;
  }
  std::copy_n(before, l.width, state);
}

template <class T, class F>
void scan(const ScanLines& l, void* memory) {
  T* const state = static_cast<T*>(memory);
  T* out = static_cast<T*>(l.out);
  const T* x = static_cast<const T*>(l.x);
  if (l.width == 1 && l.pitch == 1) {
    Carry<T, F> carry = carry_at<T, F>(state, 1, 0);
    scan_row(out, x, l.lines, carry);
    return keep_carry(state, 1, 0, carry);
  }
  if (kInOrder<T, F> && l.width > 4) return scan_in_order<T, F>(l, out, x, state);
  for (std::int64_t k = 0; k < l.lines; k += kScanRun, out += kScanRun * l.pitch, x += kScanRun * l.pitch) {
    const std::int64_t n = std::min(kScanRun, l.lines - k);
    if (k == 0 && l.from_start && l.width > 4) {
      scan_first<T, F>(l, out, x, n, state);
      continue;
    }
    switch (l.width) {
      case 1:
        scan_narrow<1, T, F>(out, x, l.pitch, n, state);
        break;
      case 2:
        scan_narrow<2, T, F>(out, x, l.pitch, n, state);
        break;
      case 3:
        scan_narrow<3, T, F>(out, x, l.pitch, n, state);
        break;
      case 4:
        scan_narrow<4, T, F>(out, x, l.pitch, n, state);
        break;
      default:
        scan_wide<T, F>(l, out, x, n, state);
    }
  }
}

template <class T, class F>
void totals(const ScanLines& l) {
  T* out = static_cast<T*>(l.out);
  const T* x = static_cast<const T*>(l.x);
  if (l.width == 1 && l.pitch == 1) {
    constexpr int side = 8;
    constexpr std::int64_t step = side * kScanRun;
    std::int64_t i = 0;
    for (; i + step <= l.lines; i += step, out += side)
      side_by_side<side, false, T, F>(static_cast<T*>(nullptr), x + i, kScanRun, kScanRun,
                                      i + 2 * step <= l.lines ? step : 0, out);
    for (; i < l.lines; i += kScanRun)
      side_by_side<1, false, T, F>(static_cast<T*>(nullptr), x + i, 0, std::min(kScanRun, l.lines - i), 0, out++);
    return;
  }
  for (std::int64_t k = 0; k < l.lines; k += kScanRun, out += l.width) {
    std::fill_n(out, l.width, Carry<T, F>::kIdentity);
    const std::int64_t end = std::min(k + kScanRun, l.lines);
    for (std::int64_t line = k; line < end; ++line, x += l.pitch) {
      ORIEL_VECTOR_LOOP
      for (std::int64_t i = 0; i < l.width; ++i) out[i] = F::of(out[i], x[i]);
    }
  }
}

template <class T, class F>
void advance(void* memory, const void* run_totals, std::int64_t width, std::int64_t runs) {
  T* const state = static_cast<T*>(memory);
  const T* const x = static_cast<const T*>(run_totals);
  for (std::int64_t i = 0; i < width; ++i) {
    Carry<T, F> carry = carry_at<T, F>(state, width, i);
    for (std::int64_t r = 0; r < runs; ++r) carry.next(x[r * width + i]);
    keep_carry(state, width, i, carry);
  }
}

template <class T, class F>
void rows(void* to, const void* from, std::int64_t count, std::int64_t extent) {
  constexpr int side = 4;
  T* out = static_cast<T*>(to);
  const T* x = static_cast<const T*>(from);
  // In rows that are shorter the processor itself finds work in the next one.
  const bool together = !kInOrder<T, F> && extent > 32;
  for (; together && count >= side; count -= side, out += side * extent, x += side * extent) {
    Carry<T, F> carry[side];
    T run_totals[side];
    for (std::int64_t k = 0; k < extent; k += kScanRun) {
      const std::int64_t n = std::min(kScanRun, extent - k);
      side_by_side<side, true, T, F>(out + k, x + k, extent, n, 0, run_totals);
      for (int j = 0; j < side; ++j) {
        if (k > 0) carry_into(out + j * extent + k, n, carry[j]);
        carry[j].next(run_totals[j]);
      }
    }
  }
  for (; extent <= 32 && count > 0; --count, out += extent, x += extent) {
    T last = out[0] = x[0];
    for (std::int64_t k = 1; k < extent; ++k) out[k] = last = F::of(last, x[k]);
  }
  for (; count > 0; --count, out += extent, x += extent) {
    Carry<T, F> carry;
    scan_row(out, x, extent, carry);
  }
}

template <class T, class F>
ScanFns fns_of() {
  return {start<T, F>, scan<T, F>, totals<T, F>, advance<T, F>, rows<T, F>};
}

template <class T>
void add_scans(Table& t, DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    t.scan[scan_index(Op::CumSum)][at] = fns_of<T, Add>();
    t.scan[scan_index(Op::CumProd)][at] = fns_of<T, Mul>();
  }
  t.scan[scan_index(Op::CumMax)][at] = fns_of<T, Max>();
  t.scan[scan_index(Op::CumMin)][at] = fns_of<T, Min>();
}

}  // namespace

void add_scan_ops(Table& table) {
  add_scans<float>(table, DType::float32);
  add_scans<double>(table, DType::float64);
  add_scans<std::uint64_t>(table, DType::uint64);
  add_scans<std::int64_t>(table, DType::int64);
  // Sums and products of both wrap alike.
  constexpr auto to = static_cast<std::size_t>(DType::int64), from = static_cast<std::size_t>(DType::uint64);
  for (const Op op : {Op::CumSum, Op::CumProd}) table.scan[scan_index(op)][to] = table.scan[scan_index(op)][from];
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
