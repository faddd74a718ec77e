// Reductions of rows in the fixed order, with lanes in registers. Included by reduce_ops.cpp alone.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

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

/// Does a reduction of T combine in packets, and do these lose a NaN?
template <class T, class F>
inline constexpr bool kInPackets = std::is_floating_point_v<T>&& kPacketsOf<typename F::Combination> != Packets::None;
template <class F>
inline constexpr bool kExtreme = kPacketsOf<typename F::Combination> == Packets::NanApart;

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

/// Are all bits of a comparison's result set?
template <class P>
bool all_numbers(const P& mask) {
  unsigned char bytes[sizeof(P)], ones[sizeof(P)];
  std::memcpy(bytes, &mask, sizeof mask);
  std::memset(ones, 0xFF, sizeof ones);
  return std::memcmp(bytes, ones, sizeof ones) == 0;
}

/// The lanes of a reduction as named registers: g++ 12 does not keep an array of this size in registers.
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

  /// For extremes, of numbers alone.
  static P of(P a, P b) { return F::packets(a, b); }
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
          lane[k] = of(lane[k], packet(i + row * kLanes + static_cast<std::int64_t>(k * kSize)));
      }
    }
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kCount; ++k) lane[k] = of(lane[k], packet(i + static_cast<std::int64_t>(k * kSize)));
    }
    return i;
  }
  /// Combines the lanes by halves.
  T joined() {
    ORIEL_UNROLL
    for (int half = kCount / 2; half >= 1; half /= 2) {
      ORIEL_UNROLL
      for (int k = 0; k < half; ++k) lane[k] = of(lane[k], lane[k + half]);
    }
    return folded<kSize / 2>(lane[0], std::make_index_sequence<kSize>());
  }

  P lane[kCount];

 private:
  template <int kHalf, std::size_t... I>
  static T folded(P x, std::index_sequence<I...> all) {
    if constexpr (kHalf == 0) {
      return Eigen::internal::pfirst(x);
    } else {
      x = of(x, __builtin_shufflevector(x, x, static_cast<int>(I + kHalf) % kSize...));
      return folded<kHalf / 2>(x, all);
    }
  }
};

template <class T, class F>
void accumulate_lanes(T* acc, const T* x, std::int64_t n) {
  if constexpr (kInPackets<T, F> && kExtreme<F>) {
    const std::int64_t done = extreme_lanes<T, F>(acc, x, n);
    x += done;
    n -= done;
  } else if constexpr (kInPackets<T, F>) {
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
T join_lanes(T* lane) {
  for (int half = kLanes / 2; half >= 1; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = F::of(lane[l], lane[l + half]);
  }
  return lane[0];
}

/// Not inlined: its loops are long code that reduce_row would hold twice.
template <class T, class F>
__attribute__((noinline)) T reduce_block(const T* x, std::int64_t n) {
  if constexpr (kInPackets<T, F> && !kExtreme<F>) {
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
void reduce_short_rows(const T* x, std::int64_t pitch, std::int64_t rows, std::int64_t cols, T* out) {
  const T identity = F::template identity<T>();
  alignas(64) T lane[kWidth];
  std::fill_n(lane, kWidth, identity);
  if (cols == kWidth) {
    for (std::int64_t i = 0; i < rows; ++i, x += pitch) {
      ORIEL_VECTOR_LOOP
      for (int l = 0; l < kWidth; ++l) lane[l] = F::of(identity, x[l]);
      out[i] = fold<T, F, kWidth>(lane);
    }
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i, x += pitch) {
    for (std::int64_t l = 0; l < cols; ++l) lane[l] = F::of(identity, x[l]);
    out[i] = fold<T, F, kWidth>(lane);
  }
}

/// Rows of kCols elements without gaps, several rows in a vector.
template <class T, class F, int kCols>
void reduce_tiny_rows(const T* x, std::int64_t rows, T* out) {
  constexpr int group = 64;  // not 16: g++ 12 would unroll loops of so few rows and make no vectors
  const T identity = F::template identity<T>();
  alignas(64) T lane[kCols][group];
  const auto reduce = [&](std::int64_t i, auto some) {
    const int count = some;
    ORIEL_VECTOR_LOOP
    for (int r = 0; r < count; ++r) {
      ORIEL_UNROLL
      for (int l = 0; l < kCols; ++l) lane[l][r] = x[(i + r) * kCols + l];
    }
    for (int l = 0; l < kCols; ++l) {
      ORIEL_VECTOR_LOOP
      for (int r = 0; r < count; ++r) lane[l][r] = F::of(identity, lane[l][r]);
    }
    // Lanes behind a row hold the identity, which changes none that began with it.
    for (int half = 4; half >= 1; half /= 2) {
      for (int l = 0; l < half && l + half < kCols; ++l) {
        ORIEL_VECTOR_LOOP
        for (int r = 0; r < count; ++r) lane[l][r] = F::of(lane[l][r], lane[l + half][r]);
      }
    }
    for (int r = 0; r < count; ++r) out[i + r] = lane[0][r];
  };
  std::int64_t i = 0;
  for (; i + group <= rows; i += group) reduce(i, std::integral_constant<int, group>());
  if (i < rows) reduce(i, static_cast<int>(rows - i));
}

/// Rows nearer than this many bytes are one stream.
constexpr std::int64_t kNear = 4096;

/// The rows that are reduced side by side; their lanes fill the registers. Memory is read faster as several streams
/// than as one: 64 MB in 2.1 to 2.4 ms in place of 2.9 on a Zen 3 core.
template <class T, class F>
constexpr int streams() {
  if constexpr (kFew || !kInPackets<T, F>) {
    return 1;
  } else {
#if defined(__AVX512F__) || defined(__aarch64__)
    constexpr int registers = 32;
#else
    constexpr int registers = 16;
#endif
    constexpr int lanes = PacketLanes<T, F>::kCount;
    return std::clamp(registers / (kExtreme<F> ? lanes + 1 : lanes), 1, 4);
  }
}

/// Reduces S blocks of n elements that begin `pitch` apart.
template <class T, class F, int S>
__attribute__((noinline)) void reduce_blocks(const T* x, std::int64_t pitch, std::int64_t n, T* out) {
  namespace in = Eigen::internal;
  using Lanes = PacketLanes<T, F>;
  using P = typename Lanes::P;
  Lanes lanes[S];
  P number[S];  // all bits of a lane that has met no NaN
  for (P& m : number) m = in::pcmp_eq(lanes[0].lane[0], lanes[0].lane[0]);
  const auto take = [&](const T* from, std::int64_t apart) {
    ORIEL_UNROLL
    for (int s = 0; s < S; ++s) {
      ORIEL_UNROLL
      for (int k = 0; k < Lanes::kCount; ++k) {
        const P v = in::ploadu<P>(from + s * apart + static_cast<std::int64_t>(k * Lanes::kSize));
        lanes[s].lane[k] = Lanes::of(lanes[s].lane[k], v);
        if constexpr (kExtreme<F>) number[s] = in::pand(number[s], in::pcmp_eq(v, v));
      }
    }
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) take(x + i, pitch);
  if (i < n) {
    // The identity changes no lane that began with it.
    alignas(64) T rest[S * kLanes];
    for (int s = 0; s < S; ++s) Lanes().store(rest + s * kLanes);
    for (int s = 0; s < S; ++s) std::copy_n(x + s * pitch + i, n - i, rest + s * kLanes);
    take(rest, kLanes);
  }
  ORIEL_UNROLL
  for (int s = 0; s < S; ++s) {
    out[s] = lanes[s].joined();
    if (kExtreme<F> && !all_numbers(number[s])) out[s] = std::numeric_limits<T>::quiet_NaN();
  }
}

/// Reduces S rows of n elements that begin `pitch` apart.
template <class T, class F, int S>
void reduce_side_by_side(const T* x, std::int64_t pitch, std::int64_t n, T* out) {
  T waiting[64][S];
  std::int64_t blocks = 0;
  int depth = 0;
  for (std::int64_t at = 0; at < n; at += kBlock, ++blocks) {
    reduce_blocks<T, F, S>(x + at, pitch, n - at < kBlock ? n - at : kBlock, out);
    for (std::int64_t b = blocks; (b & 1) != 0; b >>= 1) {
      --depth;
      for (int s = 0; s < S; ++s) out[s] = F::of(waiting[depth][s], out[s]);
    }
    std::copy_n(out, S, waiting[depth++]);
  }
  for (--depth; depth > 0; --depth)
    for (int s = 0; s < S; ++s) waiting[depth - 1][s] = F::of(waiting[depth - 1][s], waiting[depth][s]);
  std::copy_n(waiting[0], S, out);
}

/// Reduces a row as several streams of `stream` elements, which are whole subtrees of the order, where it is that long.
template <class T, class F>
T reduce_one_row(const T* x, std::int64_t n, std::int64_t stream = 4 * kBlock) {
  constexpr int S = streams<T, F>();
  if constexpr (S > 1) {
    constexpr int kParts = S / 2 * 2;
    if (n < kParts * kBlock) stream = 0;
    if (stream > 0 && n < kParts * stream) stream = kBlock;
    if (stream > 0) {
      T waiting[64];
      std::int64_t steps = 0;
      int depth = 0;
      for (; n >= kParts * stream; n -= kParts * stream, x += kParts * stream, ++steps) {
        T value[kParts];
        reduce_side_by_side<T, F, kParts>(x, stream, stream, value);
        for (int width = kParts / 2; width >= 1; width /= 2)
          for (int s = 0; s < width; ++s) value[s] = F::of(value[2 * s], value[2 * s + 1]);
        for (std::int64_t b = steps; (b & 1) != 0; b >>= 1) value[0] = F::of(waiting[--depth], value[0]);
        waiting[depth++] = value[0];
      }
      T value = n > 0 ? reduce_one_row<T, F>(x, n, stream) : waiting[--depth];
      while (depth > 0) value = F::of(waiting[--depth], value);
      return value;
    }
  }
  return reduce_row<T, F>(n, [&](std::int64_t at, std::int64_t some) {
    if constexpr (S > 1) {
      T out;
      reduce_blocks<T, F, 1>(x + at, 0, some, &out);
      return out;
    } else {
      return reduce_block<T, F>(x + at, some);
    }
  });
}

template <class T, class F>
void reduce_rows(const void* values, std::int64_t pitch, std::int64_t rows, std::int64_t cols, void* result) {
  const T* x = static_cast<const T*>(values);
  T* out = static_cast<T*>(result);
  if constexpr (std::is_floating_point_v<T> && !kFew) {
    if (cols > 8 && cols <= 16) return reduce_short_rows<T, F, 16>(x, pitch, rows, cols, out);
    if (cols > 16 && cols <= 32) return reduce_short_rows<T, F, 32>(x, pitch, rows, cols, out);
  }
  if constexpr (sizeof(T) >= 4 && !kFew) {
    if (pitch == cols && cols == 2) return reduce_tiny_rows<T, F, 2>(x, rows, out);
    if (pitch == cols && cols == 3) return reduce_tiny_rows<T, F, 3>(x, rows, out);
    if (pitch == cols && cols == 4) return reduce_tiny_rows<T, F, 4>(x, rows, out);
    if constexpr (has_tiny_rows(8, sizeof(T)))
      if (pitch == cols && cols == 8) return reduce_tiny_rows<T, F, 8>(x, rows, out);
  }
  constexpr int S = streams<T, F>();
  if constexpr (S > 1) {
    if (std::abs(pitch) * static_cast<std::int64_t>(sizeof(T)) >= kNear)
      for (; rows >= S; rows -= S, x += S * pitch, out += S) reduce_side_by_side<T, F, S>(x, pitch, cols, out);
  }
  for (std::int64_t i = 0; i < rows; ++i, x += pitch) out[i] = reduce_one_row<T, F>(x, cols);
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
