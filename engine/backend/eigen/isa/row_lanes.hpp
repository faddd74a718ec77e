// Reductions of rows in the fixed order, with lanes in registers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "backend/eigen/isa/vectors.hpp"
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

/// Are all bits of a comparison's result set?
template <class P>
bool all_numbers(const P& mask) {
  unsigned char bytes[sizeof(P)], ones[sizeof(P)];
  std::memcpy(bytes, &mask, sizeof mask);
  std::memset(ones, 0xFF, sizeof ones);
  return std::memcmp(bytes, ones, sizeof ones) == 0;
}

/// The lanes of a reduction in registers. F::packets loses a NaN of extremes, so `number` has all bits set in those
/// elements in which no lane has met one. Thus each element adds one instruction to the chain of dependent ones.
template <class T, class F>
struct PacketLanes {
  using P = typename Eigen::internal::packet_traits<T>::type;
  static constexpr int kSize = Eigen::internal::packet_traits<T>::size;
  static constexpr int kCount = kLanes / kSize;

  PacketLanes() : number(ones()) {
    for (P& l : lane) l = identity();
  }
  static P identity() { return Eigen::internal::pset1<P>(F::template identity<T>()); }
  explicit PacketLanes(const T* from) : PacketLanes() {
    for (int k = 0; k < kCount; ++k) {
      lane[k] = Eigen::internal::ploadu<P>(from + k * kSize);
      look_at(lane[k]);
    }
  }
  /// If there was a NaN, the first lane becomes NaN.
  void store(T* to) const {
    for (int k = 0; k < kCount; ++k) Eigen::internal::pstoreu(to + k * kSize, lane[k]);
    if (kExtreme<F> && !all_numbers(number)) to[0] = std::numeric_limits<T>::quiet_NaN();
  }
  __attribute__((always_inline)) void add(int k, const P& v) {
    lane[k] = F::packets(lane[k], v);
    look_at(v);
  }
  /// Combines the lanes by halves.
  T joined() {
    ORIEL_UNROLL
    for (int half = kCount / 2; half >= 1; half /= 2) {
      ORIEL_UNROLL
      for (int k = 0; k < half; ++k) lane[k] = F::packets(lane[k], lane[k + half]);
    }
    if (kExtreme<F> && !all_numbers(number)) return std::numeric_limits<T>::quiet_NaN();
    return folded<kSize / 2>(lane[0], std::make_index_sequence<kSize>());
  }

  P lane[kCount];
  P number;

 private:
  static P ones() {
    const P zero = Eigen::internal::pset1<P>(T(0));
    return Eigen::internal::pcmp_eq(zero, zero);
  }
  __attribute__((always_inline)) void look_at(const P& v) {
    if constexpr (kExtreme<F>) number = Eigen::internal::pand(number, Eigen::internal::pcmp_eq(v, v));
  }
  template <int kHalf, std::size_t... I>
  static T folded(P x, std::index_sequence<I...> all) {
    if constexpr (kHalf == 0) {
      return Eigen::internal::pfirst(x);
    } else {
      x = F::packets(x, __builtin_shufflevector(x, x, static_cast<int>(I + kHalf) % kSize...));
      return folded<kHalf / 2>(x, all);
    }
  }
};

// What a reduction takes from row s at element i: a packet, or some elements. `ahead` fetches what is taken later;
// `after` leaves out elements.
// `kTogether` rows of lanes are taken at a time. A loop over single ones is so short that its alignment in the library
// changes its speed (by a factor of 1.4 on a Zen 4 core).
template <class T, int kRowsOfLanes = 1>
struct ElementsAt {
  static constexpr int kTogether = kRowsOfLanes;
  const T* x;
  std::int64_t pitch;
  auto packet(int s, std::int64_t i) const {
    return Eigen::internal::ploadu<typename Eigen::internal::packet_traits<T>::type>(x + s * pitch + i);
  }
  void some(int s, std::int64_t i, std::int64_t n, T* to) const { std::copy_n(x + s * pitch + i, n, to); }
  static void ahead(int, std::int64_t) {}
  ElementsAt after(std::int64_t n) const { return {x + n, pitch}; }
};

/// Takes whole rows of lanes of n elements. Returns how many elements those are.
template <class T, class F, int S, class At>
__attribute__((always_inline)) inline std::int64_t take_lanes(PacketLanes<T, F> (&lanes)[S], const At& at,
                                                              std::int64_t n) {
  using Lanes = PacketLanes<T, F>;
  const auto take = [&](std::int64_t i) __attribute__((always_inline)) {
    const At here = at.after(i);
    ORIEL_UNROLL
    for (int s = 0; s < S; ++s) here.ahead(s, 0);
    ORIEL_UNROLL
    for (int s = 0; s < S; ++s) {
      ORIEL_UNROLL
      for (int k = 0; k < Lanes::kCount; ++k)
        lanes[s].add(k, here.packet(s, static_cast<std::int64_t>(k * Lanes::kSize)));
    }
  };
  constexpr int together = At::kTogether;
  std::int64_t i = 0;
  for (; i + together * kLanes <= n; i += together * kLanes) {
    ORIEL_UNROLL
    for (int row = 0; row < together; ++row) take(i + row * kLanes);
  }
  if constexpr (together > 1) {
    for (; i + kLanes <= n; i += kLanes) take(i);
  }
  return i;
}

/// Reduces a block of n elements of each of S rows. Not inlined: its loops are long code.
template <class T, class F, int S, class At>
__attribute__((noinline)) void reduce_blocks(At at, std::int64_t n, T* out) {
  using Lanes = PacketLanes<T, F>;
  Lanes lanes[S];
  const std::int64_t done = take_lanes(lanes, at, n);
  if (done < n) {
    // The identity changes no lane that began with it.
    alignas(64) T rest[kLanes];
    ORIEL_UNROLL
    for (int s = 0; s < S; ++s) {
      for (int k = 0; k < Lanes::kCount; ++k) Eigen::internal::pstore(rest + k * Lanes::kSize, Lanes::identity());
      at.some(s, done, n - done, rest);
      for (int k = 0; k < Lanes::kCount; ++k)
        lanes[s].add(k, Eigen::internal::ploadu<typename Lanes::P>(rest + k * Lanes::kSize));
    }
  }
  ORIEL_UNROLL
  for (int s = 0; s < S; ++s) out[s] = lanes[s].joined();
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

/// Combines the lanes of `width` columns by halves. Lanes from `lanes` on have no values.
template <class T, class F>
void combine_lanes(T* acc, std::int64_t width, std::int64_t lanes) {
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
void accumulate_lanes(T* acc, const T* x, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (kInPackets<T, F>) {
    PacketLanes<T, F> lanes[1] = {PacketLanes<T, F>(acc)};
    i = take_lanes(lanes, ElementsAt<T, 4>{x, 0}, n);
    lanes[0].store(acc);
  } else if constexpr (kPacketsOf<typename F::Combination> != Packets::None && !kFew) {
    // Sums wrap.
    using E = std::conditional_t<kExtreme<F>, T, std::make_unsigned_t<T>>;
    constexpr int bytes = std::min<int>(kVectorBytes, kLanes * sizeof(T)), size = bytes / static_cast<int>(sizeof(T));
    Vector<E, bytes> lane[kLanes / size];
    for (int k = 0; k < kLanes / size; ++k) std::memcpy(&lane[k], acc + k * size, bytes);
    for (; i + kLanes <= n; i += kLanes) {
      ORIEL_UNROLL
      for (int k = 0; k < kLanes / size; ++k) {
        Vector<E, bytes> next;
        std::memcpy(&next, x + i + k * size, bytes);
        lane[k] = F::packets(lane[k], next);
      }
    }
    for (int k = 0; k < kLanes / size; ++k) std::memcpy(acc + k * size, &lane[k], bytes);
  }
  T lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = acc[l];
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] = F::of(lane[l], x[i + l]);
  }
  for (int l = 0; l < n - i; ++l) lane[l] = F::of(lane[l], x[i + l]);
  for (int l = 0; l < kLanes; ++l) acc[l] = lane[l];
}

/// Not inlined: its loops are long code that reduce_row would hold twice.
template <class T, class F>
__attribute__((noinline)) T reduce_block(const T* x, std::int64_t n) {
  T lane[kLanes];
  for (T& l : lane) l = F::template identity<T>();
  accumulate_lanes<T, F>(lane, x, n);
  return fold<T, F, kLanes>(lane);
}

/// Reduces n elements to `value`. block(at, count, value) reduces the `count` elements from `at` on.
template <class T, class Block, class Combination>
void reduce_row(std::int64_t n, T& value, Block block, Combination combination) {
  if (n <= kBlock) return block(0, n, value);
  T waiting[64];
  BlockTree tree;
  for (std::int64_t at = 0; at < n; at += kBlock) {
    block(at, n - at < kBlock ? n - at : kBlock, value);
    tree.add(waiting, value, combination);
  }
  tree.take(waiting, value, combination);
}

/// Values of S rows.
template <class T, int S>
struct RowValues {
  T of[S];
};

/// Reduces S rows of n elements, side by side.
template <class T, class F, int S, class At>
void reduce_side_by_side(const At& at, std::int64_t n, T* out) {
  if (n <= kBlock) return reduce_blocks<T, F, S>(at, n, out);
  using Values = RowValues<T, S>;
  Values values;
  reduce_row(
      n, values,
      [&](std::int64_t from, std::int64_t count, Values& block) {
        reduce_blocks<T, F, S>(at.after(from), count, block.of);
      },
      [](const Values& a, Values& b) {
        for (int s = 0; s < S; ++s) b.of[s] = F::of(a.of[s], b.of[s]);
      });
  std::copy_n(values.of, S, out);
}

/// lines[l * kTogether + r] = x[r * pitch + l] for r < rows, l < cols. kCols: the columns of rows without gaps, if they
/// are known here: such rows are taken apart by shuffles.
template <int kTogether, int kCols, class T>
void to_lines(T* lines, const T* x, std::int64_t pitch, std::int64_t rows, std::int64_t cols) {
  if (kCols != 0 && rows == kTogether) {
    ORIEL_VECTOR_LOOP
    for (int r = 0; r < kTogether; ++r) {
      ORIEL_UNROLL
      for (int l = 0; l < kCols; ++l) lines[l * kTogether + r] = x[r * kCols + l];
    }
    return;
  }
  if constexpr (sizeof(T) >= 4 && kCols == 0) {
    constexpr int side = kSide<T>;
    if (rows == kTogether && cols >= side) {
      // The last square ends with the rows and may overlap the one before.
      for (std::int64_t l = 0; l < cols; l += side) {
        const std::int64_t from = std::min(l, cols - side);
        for (int r = 0; r < kTogether; r += side)
          transpose_square<side>(lines + from * kTogether + r, kTogether, x + r * pitch + from, pitch);
      }
      return;
    }
  }
  for (std::int64_t l = 0; l < cols; ++l, lines += kTogether) {
    if (rows == kTogether) {
      ORIEL_UNROLL
      for (int r = 0; r < kTogether; ++r) lines[r] = x[r * pitch + l];
    } else {
      for (std::int64_t r = 0; r < rows; ++r) lines[r] = x[r * pitch + l];
    }
  }
}

/// Rows of at most kLanes elements, kTogether of them side by side: lane l of the order is a line of their elements l.
template <class T, class F, int kTogether, int kCols = 0>
void reduce_across(const T* x, std::int64_t pitch, std::int64_t rows, std::int64_t cols, T* out) {
  const T identity = F::template identity<T>();
  alignas(64) T lines[(kCols != 0 ? kCols : kLanes) * kTogether];
  std::fill_n(lines, cols * kTogether, identity);
  for (; rows > 0; rows -= kTogether, x += kTogether * pitch, out += kTogether) {
    const std::int64_t n = std::min<std::int64_t>(kTogether, rows);
    to_lines<kTogether, kCols>(lines, x, pitch, n, cols);
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < cols * kTogether; ++i) lines[i] = F::of(identity, lines[i]);
    combine_lanes<T, F>(lines, kTogether, cols);
    std::copy_n(lines, n, out);
  }
}

/// Fewer rows are reduced one by one.
constexpr std::int64_t kFewestAcross = 4;

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

/// Reduces a row as several streams of `stream` elements, which are whole subtrees of the order, where it is that long.
template <class T, class F>
T reduce_one_row(const T* x, std::int64_t n, std::int64_t stream = 4 * kBlock) {
  constexpr int S = streams<T, F>();
  if constexpr (S > 1) {
    constexpr int kParts = S / 2 * 2;
    if (n < kParts * kBlock) stream = 0;
    if (stream > 0 && n < kParts * stream) stream = kBlock;
    if (stream > 0) {
      T waiting[64], value[kParts];
      BlockTree tree;
      for (; n >= kParts * stream; n -= kParts * stream, x += kParts * stream) {
        reduce_side_by_side<T, F, kParts>(ElementsAt<T>{x, stream}, stream, value);
        for (int width = kParts / 2; width >= 1; width /= 2)
          for (int s = 0; s < width; ++s) value[s] = F::of(value[2 * s], value[2 * s + 1]);
        tree.add(waiting, value[0], CombineBy<F>());
      }
      if (n == 0) {
        tree.take(waiting, value[0], CombineBy<F>());
      } else {
        value[0] = reduce_one_row<T, F>(x, n, stream);
        tree.join(waiting, value[0], CombineBy<F>());
      }
      return value[0];
    }
  }
  T out;
  if constexpr (kInPackets<T, F>) {
    reduce_side_by_side<T, F, 1>(ElementsAt<T>{x, 0}, n, &out);
  } else {
    reduce_row(
        n, out, [&](std::int64_t at, std::int64_t some, T& value) { value = reduce_block<T, F>(x + at, some); },
        CombineBy<F>());
  }
  return out;
}

template <class T, class F>
void reduce_rows(const void* values, std::int64_t pitch, std::int64_t rows, std::int64_t cols, void* result) {
  const T* x = static_cast<const T*>(values);
  T* out = static_cast<T*>(result);
  if constexpr (!kFew) {
    if constexpr (sizeof(T) >= 4) {
      // So many that g++ 12 makes vectors of the loops.
      if (pitch == cols && cols == 2) return reduce_across<T, F, 64, 2>(x, pitch, rows, cols, out);
      if (pitch == cols && cols == 3) return reduce_across<T, F, 64, 3>(x, pitch, rows, cols, out);
      if (pitch == cols && cols == 4) return reduce_across<T, F, 64, 4>(x, pitch, rows, cols, out);
      if constexpr (sizeof(T) == 4)
        if (pitch == cols && cols == 8) return reduce_across<T, F, 64, 8>(x, pitch, rows, cols, out);
    }
    if (cols > 1 && cols <= kLanes && rows >= kFewestAcross)
      return reduce_across<T, F, 64 / std::max<int>(sizeof(T), 4)>(x, pitch, rows, cols, out);
  }
  constexpr int S = streams<T, F>();
  if constexpr (S > 1) {
    if (std::abs(pitch) * static_cast<std::int64_t>(sizeof(T)) >= kNear)
      for (; rows >= S; rows -= S, x += S * pitch, out += S)
        reduce_side_by_side<T, F, S>(ElementsAt<T>{x, pitch}, cols, out);
  }
  for (std::int64_t i = 0; i < rows; ++i, x += pitch) out[i] = reduce_one_row<T, F>(x, cols);
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
