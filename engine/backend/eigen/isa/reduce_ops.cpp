// The four reductions in the fixed order: lanes, blocks, pairs of blocks (see README.md).
#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T>
struct Wrapping {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Wrapping<float> {
  using type = float;
};
template <>
struct Wrapping<double> {
  using type = double;
};

struct SumOf {
  template <class T>
  static T of(T a, T b) {
    using U = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
};
struct ProdOf {
  template <class T>
  static T of(T a, T b) {
    // 16-bit factors would be promoted to a signed int, whose product can overflow.
    using U = std::conditional_t<(sizeof(T) < 4), std::uint32_t, typename Wrapping<T>::type>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  }
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
};
struct MaximumOf : MaxOf {
  template <class T>
  static constexpr T identity() {
    return kLowest<T>;
  }
};
struct MinimumOf : MinOf {
  template <class T>
  static constexpr T identity() {
    return kHighest<T>;
  }
};

// The largest (smallest) of floats, lane by lane: which is NaN is gathered beside it, so that one instruction an
// element waits for the one before. Returns how many elements were taken.
template <class T, class F>
std::int64_t extreme_lanes(T* acc, const T* x, std::int64_t n) {
  namespace in = Eigen::internal;
  using P = typename in::packet_traits<T>::type;
  constexpr int size = in::packet_traits<T>::size;
  constexpr int packets = kLanes / size;
  P best[packets], number[packets];
  for (int k = 0; k < packets; ++k) {
    best[k] = in::ploadu<P>(acc + k * size);
    number[k] = in::pcmp_eq(best[k], best[k]);
  }
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < packets; ++k) {
      const P v = in::ploadu<P>(x + i + k * size);
      // The first operand where the two are equal, as MaxOf and MinOf have it.
      best[k] = std::is_base_of_v<MaxOf, F> ? in::pmax(v, best[k]) : in::pmin(v, best[k]);
      number[k] = in::pand(number[k], in::pcmp_eq(v, v));
    }
  }
  const P nan = in::pset1<P>(std::numeric_limits<T>::quiet_NaN());
  for (int k = 0; k < packets; ++k) in::pstoreu(acc + k * size, in::pselect(number[k], best[k], nan));
  return i;
}

// The same for sums and products: g++ 12 keeps no array of so many lanes in registers.
template <class T, class F>
std::int64_t packet_lanes(T* acc, const T* x, std::int64_t n) {
  namespace in = Eigen::internal;
  using P = typename in::packet_traits<T>::type;
  constexpr int size = in::packet_traits<T>::size;
  constexpr int packets = kLanes / size;
  P lane[packets];
  for (int k = 0; k < packets; ++k) lane[k] = in::ploadu<P>(acc + k * size);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < packets; ++k) {
      const P v = in::ploadu<P>(x + i + k * size);
      lane[k] = std::is_same_v<F, SumOf> ? in::padd(lane[k], v) : in::pmul(lane[k], v);
    }
  }
  for (int k = 0; k < packets; ++k) in::pstoreu(acc + k * size, lane[k]);
  return i;
}

template <class T, class F>
void accumulate_lanes(T* acc, const T* x, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T> && (std::is_base_of_v<MaxOf, F> || std::is_base_of_v<MinOf, F>)) {
    const std::int64_t done = extreme_lanes<T, F>(acc, x, n);
    x += done;
    n -= done;
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::int64_t done = packet_lanes<T, F>(acc, x, n);
    x += done;
    n -= done;
  }
  T lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = acc[l];
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] = F::of(lane[l], x[i + l]);
  }
  for (int l = 0; l < n - i; ++l) lane[l] = F::of(lane[l], x[i + l]);
  for (int l = 0; l < kLanes; ++l) acc[l] = lane[l];
}

template <class T, class F>
void accumulate(void* accumulator, std::int64_t period, std::int64_t position, const void* values, std::int64_t n) {
  T* acc = static_cast<T*>(accumulator);
  const T* x = static_cast<const T*>(values);
  if (period == kLanes && position % kLanes == 0) return accumulate_lanes<T, F>(acc, x, n);
  std::int64_t at = position % period;
  while (n > 0) {
    const std::int64_t run = period - at < n ? period - at : n;
    T* a = acc + at;
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < run; ++i) a[i] = F::of(a[i], x[i]);
    x += run;
    n -= run;
    at = 0;
  }
}

template <class T, class F>
void combine(void* accumulator, std::int64_t width) {
  T* acc = static_cast<T*>(accumulator);
  for (std::int64_t half = kLanes / 2; half >= 1; half /= 2) {
    const std::int64_t n = half * width;
    const T* upper = acc + n;
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < n; ++i) acc[i] = F::of(acc[i], upper[i]);
  }
}

template <class T, class F>
void merge(void* dst, const void* a, const void* b, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = F::of(x[i], y[i]);
}

template <class T, class F>
T reduce_block(const T* x, std::int64_t n) {
  T lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = F::template identity<T>();
  accumulate_lanes<T, F>(lane, x, n);
  for (int half = kLanes / 2; half >= 1; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = F::of(lane[l], lane[l + half]);
  }
  return lane[0];
}

template <class T, class F>
void reduce_rows(const void* values, std::int64_t rows, std::int64_t cols, void* result) {
  const T* x = static_cast<const T*>(values);
  T* out = static_cast<T*>(result);
  for (std::int64_t i = 0; i < rows; ++i, x += cols) {
    if (cols <= kBlock) {
      out[i] = reduce_block<T, F>(x, cols);
      continue;
    }
    T waiting[64];
    std::int64_t blocks = 0;
    int depth = 0;
    for (std::int64_t at = 0; at < cols; at += kBlock) {
      T value = reduce_block<T, F>(x + at, cols - at < kBlock ? cols - at : kBlock);
      for (std::int64_t b = blocks; (b & 1) != 0; b >>= 1) value = F::of(waiting[--depth], value);
      waiting[depth++] = value;
      ++blocks;
    }
    T value = waiting[--depth];
    while (depth > 0) value = F::of(waiting[--depth], value);
    out[i] = value;
  }
}

template <class T, class F>
void add_reduction(Table& t, graph::Op op, int d) {
  ReduceFns& fns = t.reduce[reduce_index(op)][d];
  fns.accumulate = accumulate<T, F>;
  fns.combine = combine<T, F>;
  fns.merge = merge<T, F>;
  fns.rows = reduce_rows<T, F>;
  const T identity = F::template identity<T>();
  std::memcpy(&fns.identity, &identity, sizeof identity);
}

template <class T>
void add_extremes(Table& t, int d) {
  add_reduction<T, MaximumOf>(t, graph::Op::ReduceMax, d);
  add_reduction<T, MinimumOf>(t, graph::Op::ReduceMin, d);
}

template <class T>
void add_all(Table& t) {
  add_reduction<T, SumOf>(t, graph::Op::Sum, kDTypeIndex<T>);
  add_reduction<T, ProdOf>(t, graph::Op::Prod, kDTypeIndex<T>);
  add_extremes<T>(t, kDTypeIndex<T>);
}

}  // namespace

void add_reduce_ops(Table& table) {
  add_all<std::int8_t>(table);
  add_all<std::int16_t>(table);
  add_all<std::int32_t>(table);
  add_all<std::int64_t>(table);
  add_all<std::uint8_t>(table);
  add_all<std::uint16_t>(table);
  add_all<std::uint32_t>(table);
  add_all<std::uint64_t>(table);
  add_all<float>(table);
  add_all<double>(table);
  // Bytes that hold 0 or 1: the highest is 1.
  constexpr int b = kDTypeIndex<bool>;
  add_extremes<std::uint8_t>(table, b);
  table.reduce[reduce_index(graph::Op::ReduceMin)][b].identity = 1;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
