// Reductions in the fixed order: lanes, then blocks, then pairs of blocks (see ../tile/README.md).
#include <algorithm>

#include "backend/eigen/isa/level.hpp"
#include "ops/functions/all.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using namespace oriel::ops;                   // NOLINT(google-build-using-namespace): functors, and
using namespace oriel::ops::ORIEL_ISA_LEVEL;  // NOLINT(google-build-using-namespace): those of the level

/// The functor with an op's name, and how its packets are combined.
template <Op kOp>
struct NamedOf;
template <class F>
inline constexpr Packets kPacketsOf = Packets::None;
#define ORIEL_ELEMENTWISE(op, ...) \
  template <>                      \
  struct NamedOf<Op::op> {         \
    using type = op;               \
  };                               \
  template <>                      \
  inline constexpr Packets kPacketsOf<op> = row(Op::op).packets;
ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE

/// A reduction of the table, over a dtype.
template <Op kOp, DType kDType>
using ReductionOf =
    Reduce<typename FunctorOf<row(kOp).combination, kind(kDType), typename NamedOf<row(kOp).combination>::type>::type,
           typename IdentityOf<identity(kOp, kDType)>::type>;
using SumOf = ReductionOf<Op::Sum, DType::float32>;

template <class T, class F, Packets kForm>
inline constexpr bool kInPackets = kPacketsOf<typename F::Combination> == kForm&& std::is_floating_point_v<T>;

// The maximum (or minimum) of floats, lane by lane. Which lanes are not NaN is kept in masks beside the values, so each
// element adds only one instruction to the chain of dependent ones. Returns how many elements were taken.
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
      best[k] = F::packets(best[k], v);  // the later one of equal values, as F::of
      number[k] = in::pand(number[k], in::pcmp_eq(v, v));
    }
  }
  const P nan = in::pset1<P>(std::numeric_limits<T>::quiet_NaN());
  for (int k = 0; k < packets; ++k) in::pstoreu(acc + k * size, in::pselect(number[k], best[k], nan));
  return i;
}

/// The lanes of a sum or product as named registers: g++ 12 does not keep an array of this size in registers.
template <class T, class F>
struct PacketLanes {
  using P = typename Eigen::internal::packet_traits<T>::type;
  static constexpr int kSize = Eigen::internal::packet_traits<T>::size;
  static constexpr int kCount = kLanes / kSize;

  PacketLanes() {
    for (P& l : lane) l = Eigen::internal::pset1<P>(F::template identity<T>());
  }
  explicit PacketLanes(const T* from) {
    for (int k = 0; k < kCount; ++k) lane[k] = Eigen::internal::ploadu<P>(from + k * kSize);
  }
  void store(T* to) const {
    for (int k = 0; k < kCount; ++k) Eigen::internal::pstoreu(to + k * kSize, lane[k]);
  }

  /// Takes whole rows of lanes and returns how many elements those are. packet(i) is the packet that begins at element
  /// i.
  template <class Packets>
  std::int64_t take(std::int64_t n, Packets packet) {
    std::int64_t i = 0;
    // Four rows of lanes at a time. A loop over single rows is so short that its alignment in the library changes its
    // speed (by a factor of 1.4 on a Zen 4 core).
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
      ORIEL_UNROLL
      for (int row = 0; row < 4; ++row) {
        for (int k = 0; k < kCount; ++k)
          lane[k] = F::packets(lane[k], packet(i + row * kLanes + static_cast<std::int64_t>(k * kSize)));
      }
    }
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kCount; ++k) lane[k] = F::packets(lane[k], packet(i + static_cast<std::int64_t>(k * kSize)));
    }
    return i;
  }
  /// Combines the lanes by halves.
  T joined() {
    for (int half = kCount / 2; half >= 1; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] = F::packets(lane[k], lane[k + half]);
    }
    alignas(64) T one[kSize];
    Eigen::internal::pstore(one, lane[0]);
    ORIEL_UNROLL
    for (int half = kSize / 2; half >= 1; half /= 2) {
      ORIEL_UNROLL
      for (int l = 0; l < half; ++l) one[l] = F::of(one[l], one[l + half]);
    }
    return one[0];
  }

  P lane[kCount];
};

template <class T, class F>
void accumulate_lanes(T* acc, const T* x, std::int64_t n) {
  if constexpr (kInPackets<T, F, Packets::NanApart>) {
    const std::int64_t done = extreme_lanes<T, F>(acc, x, n);
    x += done;
    n -= done;
  } else if constexpr (kInPackets<T, F, Packets::All>) {
    using Lanes = PacketLanes<T, F>;
    Lanes lanes(acc);
    const std::int64_t done =
        lanes.take(n, [&](std::int64_t i) { return Eigen::internal::ploadu<typename Lanes::P>(x + i); });
    lanes.store(acc);
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
void combine(void* accumulator, std::int64_t width, std::int64_t lanes) {
  T* acc = static_cast<T*>(accumulator);
  for (std::int64_t half = kLanes / 2; half >= 1; half /= 2) {
    if (lanes <= half) continue;
    const std::int64_t n = (lanes - half) * width;
    const T* upper = acc + half * width;
    lanes = half;
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
T join_lanes(T* lane) {
  for (int half = kLanes / 2; half >= 1; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = F::of(lane[l], lane[l + half]);
  }
  return lane[0];
}

/// Not inlined: its loops are long code that reduce_row would hold twice.
template <class T, class F>
__attribute__((noinline)) T reduce_block(const T* x, std::int64_t n) {
  if constexpr (kInPackets<T, F, Packets::All>) {
    using Lanes = PacketLanes<T, F>;
    if (n % kLanes == 0) {
      Lanes lanes;
      lanes.take(n, [&](std::int64_t i) { return Eigen::internal::ploadu<typename Lanes::P>(x + i); });
      return lanes.joined();
    }
  }
  T lane[kLanes];
  for (T& l : lane) l = F::template identity<T>();
  accumulate_lanes<T, F>(lane, x, n);
  return join_lanes<T, F>(lane);
}

/// Reduces a row of n elements. block(at, count) reduces the `count` elements from `at` on.
template <class T, class F, class Block>
T reduce_row(std::int64_t n, Block block) {
  if (n <= kBlock) return block(0, n);
  T waiting[64];
  std::int64_t blocks = 0;
  int depth = 0;
  for (std::int64_t at = 0; at < n; at += kBlock) {
    T value = block(at, n - at < kBlock ? n - at : kBlock);
    for (std::int64_t b = blocks; (b & 1) != 0; b >>= 1) value = F::of(waiting[--depth], value);
    waiting[depth++] = value;
    ++blocks;
  }
  T value = waiting[--depth];
  while (depth > 0) value = F::of(waiting[--depth], value);
  return value;
}

/// Combines kWidth lanes by halves.
template <class T, class F, int kWidth>
T fold(T* lane) {
  if constexpr (kWidth == 1) {
    return lane[0];
  } else {
    constexpr int half = kWidth / 2;
    ORIEL_VECTOR_LOOP
    for (int l = 0; l < half; ++l) lane[l] = F::of(lane[l], lane[l + half]);
    return fold<T, F, half>(lane);
  }
}

/// Rows of more than half of kWidth elements, each in its lane. The lanes behind a row hold the identity.
template <class T, class F, int kWidth>
void reduce_short_rows(const T* x, std::int64_t rows, std::int64_t cols, T* out) {
  const T identity = F::template identity<T>();
  alignas(64) T lane[kWidth];
  std::fill_n(lane, kWidth, identity);
  if (cols == kWidth) {
    for (std::int64_t i = 0; i < rows; ++i, x += kWidth) {
      ORIEL_VECTOR_LOOP
      for (int l = 0; l < kWidth; ++l) lane[l] = F::of(identity, x[l]);
      out[i] = fold<T, F, kWidth>(lane);
    }
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i, x += cols) {
    for (std::int64_t l = 0; l < cols; ++l) lane[l] = F::of(identity, x[l]);
    out[i] = fold<T, F, kWidth>(lane);
  }
}

template <class T, class F>
void reduce_rows(const void* values, std::int64_t rows, std::int64_t cols, void* result) {
  const T* x = static_cast<const T*>(values);
  T* out = static_cast<T*>(result);
  if constexpr (std::is_floating_point_v<T> && !kFew) {
    if (cols > 8 && cols <= 16) return reduce_short_rows<T, F, 16>(x, rows, cols, out);
    if (cols > 16 && cols <= 32) return reduce_short_rows<T, F, 32>(x, rows, cols, out);
  }
  for (std::int64_t i = 0; i < rows; ++i, x += cols) {
    out[i] = reduce_row<T, F>(cols, [&](std::int64_t at, std::int64_t n) { return reduce_block<T, F>(x + at, n); });
  }
}

/// The sum of element(i) for i < n. packet(i) is the packet that begins at element i.
template <class Packets, class Element>
float sum_of(std::int64_t n, Packets packet, Element element) {
  using Lanes = PacketLanes<float, SumOf>;
  return reduce_row<float, SumOf>(n, [&](std::int64_t from, std::int64_t count) {
    Lanes lanes;
    const std::int64_t done = lanes.take(count, [&](std::int64_t i) { return packet(from + i); });
    if (done == count) return lanes.joined();
    alignas(64) float lane[kLanes];
    lanes.store(lane);
    for (std::int64_t i = done; i < count; ++i) lane[i - done] += element(from + i);
    return join_lanes<float, SumOf>(lane);
  });
}

void sum_of_products(const void* a, const void* b, std::int64_t n, void* out) {
  namespace in = Eigen::internal;
  using P = in::packet_traits<float>::type;
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  *static_cast<float*>(out) = sum_of(
      n, [&](std::int64_t i) { return in::pmul(in::ploadu<P>(x + i), in::ploadu<P>(y + i)); },
      [&](std::int64_t i) { return x[i] * y[i]; });
}

void sum_of_squares(const void* a, const void* b, std::int64_t n, void* out) {
  namespace in = Eigen::internal;
  using P = in::packet_traits<float>::type;
  const float* x = static_cast<const float*>(a);
  const float middle = *static_cast<const float*>(b);
  const P m = in::pset1<P>(middle);
  *static_cast<float*>(out) = sum_of(
      n,
      [&](std::int64_t i) {
        const P d = in::psub(in::ploadu<P>(x + i), m);
        return in::pmul(d, d);
      },
      [&](std::int64_t i) { return (x[i] - middle) * (x[i] - middle); });
}

template <Op kOp, DType kDType, class T>
void add_reduction(Table& t) {
  if constexpr (takes(kOp, kDType)) {
    using F = ReductionOf<kOp, kDType>;
    ReduceFns& fns = t.reduce[reduce_index(kOp)][static_cast<int>(kDType)];
    fns.accumulate = accumulate<T, F>;
    fns.combine = combine<T, F>;
    fns.merge = merge<T, F>;
    fns.rows = reduce_rows<T, F>;
    const T identity = F::template identity<T>();
    std::memcpy(&fns.identity, &identity, sizeof identity);
  }
}

template <DType kDType, class T>
void add_all(Table& t) {
#define ORIEL_REDUCTION(op, ...) add_reduction<Op::op, kDType, T>(t);
  ORIEL_REDUCTIONS(ORIEL_REDUCTION)
#undef ORIEL_REDUCTION
}

}  // namespace

void add_reduce_ops(Table& table) {
  add_all<DType::int8, std::int8_t>(table);
  add_all<DType::int16, std::int16_t>(table);
  add_all<DType::int32, std::int32_t>(table);
  add_all<DType::int64, std::int64_t>(table);
  add_all<DType::uint8, std::uint8_t>(table);
  add_all<DType::uint16, std::uint16_t>(table);
  add_all<DType::uint32, std::uint32_t>(table);
  add_all<DType::uint64, std::uint64_t>(table);
  add_all<DType::float32, float>(table);
  add_all<DType::float64, double>(table);
  add_all<DType::bool_, std::uint8_t>(table);  // bytes that hold 0 or 1
  table.sum_of_products = sum_of_products;
  table.sum_of_squares = sum_of_squares;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
