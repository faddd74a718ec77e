// Tiles, halves and memory.
#include "backend/eigen/snippets.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr Snippet kSnippets[] = {
    {"at", "", R"src(
/// Element k of a tile; a number stands for a tile of it.
template <class T, int N>
T at(const Eigen::Array<T, N, 1>& x, Int k) {
  return x.coeff(k);
}
template <class T>
T at(T x, Int) {
  return x;
}
)src"},
    {"map", "at ", R"src(
// Elements do not depend on each other, also where the result is an operand.
#ifndef ORIEL_VECTOR_LOOP
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#endif

/// y[k] = F::of(x[k]...) for each element.
template <class F, class T, int N, class... X>
[[gnu::noinline]] void map(Eigen::Array<T, N, 1>& y, const X&... x) {
  ORIEL_VECTOR_LOOP
  for (int k = 0; k < N; ++k) y.coeffRef(k) = F::of(at(x, k)...);
}
)src"},
    {"packets", "", R"src(
namespace ei = Eigen::internal;

template <class P, class T, int N>
P packet_at(const Eigen::Array<T, N, 1>& x, Int k) {
  return ei::ploadu<P>(x.data() + k);
}
template <class P, class T>
P packet_at(T x, Int) {
  return ei::pset1<P>(x);
}

/// y[k] = F::of(x[k]...), a packet at a time.
template <class F, class T, int N, class... X>
[[gnu::noinline]] void packets(Eigen::Array<T, N, 1>& y, const X&... x) {
  using P = typename ei::packet_traits<T>::type;
  for (int k = 0; k < N; k += ei::packet_traits<T>::size) {
    ei::pstoreu(y.data() + k, F::of(packet_at<P>(x, k)...));
  }
}
)src"},
    {"keep_nan", "packets ", R"src(
/// y where x is a number, x where it is NaN.
template <class P>
P keep_nan(P x, P y) {
  return ei::pselect(ei::pcmp_eq(x, x), y, x);
}
)src"},
    {"float16", "", R"src(
/// Between float32 and float16, to nearest even.
inline float widen_float16(std::uint16_t bits) {
  return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}
inline std::uint16_t narrow_float16(float x) { return Eigen::half_impl::float_to_half_rtne(x).x; }
)src"},
    {"bfloat16", "", R"src(
/// Between float32 and bfloat16, to nearest even.
inline float widen_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}
inline std::uint16_t narrow_bfloat16(float x) {
  std::uint32_t wide = 0;
  std::memcpy(&wide, &x, sizeof wide);
  if (x != x) return static_cast<std::uint16_t>(wide >> 16 | 0x40);
  return static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}
)src"},
    {"RoundFloat16", "float16 ", R"src(
struct RoundFloat16 {
  static float of(float x) { return widen_float16(narrow_float16(x)); }
};
)src"},
    {"RoundBfloat16", "bfloat16 ", R"src(
struct RoundBfloat16 {
  static float of(float x) { return widen_bfloat16(narrow_bfloat16(x)); }
};
)src"},
    {"Segment", "", R"src(
/// Elements [begin, end) of a tile.
struct Segment {
  Int begin;
  Int end;
};
)src"},
    {"segment", "Segment ", R"src(
/// The part of a tile's n elements whose loop, at `first` for the first of them, runs in [lo, hi); nothing unless `valid`.
inline Segment segment(Int lo, Int hi, Int first, Int n, bool valid = true) {
  const Int begin = std::max<Int>(lo - first, 0);
  const Int end = std::min<Int>(hi - first, n);
  return valid && begin < end ? Segment{begin, end} : Segment{0, 0};
}
)src"},
    {"load", "", R"src(
/// y[k] = x[position + k] for k < n, 0 after them.
template <class T, int N>
void load(Eigen::Array<T, N, 1>& y, const T* x, Int position, Int n) {
  if (n == N) {
    y = Eigen::Map<const Eigen::Array<T, N, 1>>(x + position);
  } else {
    y.setZero();
    y.head(n) = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(x + position, n);
  }
}
)src"},
    {"load_strided", "Segment ", R"src(
/// y[k] = x[position + k * step] for k in the segment, 0 elsewhere.
template <class T, int N>
void load_strided(Eigen::Array<T, N, 1>& y, const T* x, Int position, Int step, Segment s) {
  using Strided = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;
  const Int n = s.end - s.begin;
  if (n < N) y.setZero();
  if (n > 0) y.segment(s.begin, n) = Strided(x + (position + s.begin * step), n, Eigen::InnerStride<>(step));
}
)src"},
    {"load_float16", "Segment float16 ", R"src(
/// y[k] = x[position + k * step], widened, for k in the segment, 0 elsewhere.
template <int N>
void load_float16(Eigen::Array<float, N, 1>& y, const std::uint16_t* x, Int position, Int step, Segment s) {
  if (s.end - s.begin < N) y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = widen_float16(x[position + k * step]);
}
)src"},
    {"load_bfloat16", "Segment bfloat16 ", R"src(
/// y[k] = x[position + k * step], widened, for k in the segment, 0 elsewhere.
template <int N>
void load_bfloat16(Eigen::Array<float, N, 1>& y, const std::uint16_t* x, Int position, Int step, Segment s) {
  if (s.end - s.begin < N) y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = widen_bfloat16(x[position + k * step]);
}
)src"},
    {"positions", "Segment ", R"src(
/// y[k] = position + k * step for k in the segment, 0 elsewhere.
template <int N>
void positions(Eigen::Array<Int, N, 1>& y, Int position, Int step, Segment s) {
  y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = position + k * step;
}
)src"},
    {"valid", "Segment ", R"src(
/// y[k] = 1 for k in the segment, 0 elsewhere.
template <int N>
void valid(Eigen::Array<std::uint8_t, N, 1>& y, Segment s) {
  y.setZero();
  y.segment(s.begin, s.end - s.begin).setOnes();
}
)src"},
    {"store", "", R"src(
/// y[position + k] = x[k] for k < n.
template <class T, int N>
void store(T* y, Int position, const Eigen::Array<T, N, 1>& x, Int n) {
  if (n == N) {
    Eigen::Map<Eigen::Array<T, N, 1>>(y + position) = x;
  } else {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(y + position, n) = x.head(n);
  }
}
)src"},
    {"store_strided", "Segment ", R"src(
/// y[position + k * step] = x[k] for k in the segment.
template <class T, int N>
void store_strided(T* y, Int position, Int step, const Eigen::Array<T, N, 1>& x, Segment s) {
  using Strided = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;
  const Int n = s.end - s.begin;
  if (n > 0) Strided(y + (position + s.begin * step), n, Eigen::InnerStride<>(step)) = x.segment(s.begin, n);
}
)src"},
    {"store_float16", "Segment float16 ", R"src(
/// y[position + k * step] = x[k], narrowed, for k in the segment.
template <int N>
void store_float16(std::uint16_t* y, Int position, Int step, const Eigen::Array<float, N, 1>& x, Segment s) {
  for (Int k = s.begin; k < s.end; ++k) y[position + k * step] = narrow_float16(x.coeff(k));
}
)src"},
    {"store_bfloat16", "Segment bfloat16 ", R"src(
/// y[position + k * step] = x[k], narrowed, for k in the segment.
template <int N>
void store_bfloat16(std::uint16_t* y, Int position, Int step, const Eigen::Array<float, N, 1>& x, Segment s) {
  for (Int k = s.begin; k < s.end; ++k) y[position + k * step] = narrow_bfloat16(x.coeff(k));
}
)src"},
};

}  // namespace

std::span<const Snippet> tile_snippets() { return kSnippets; }

}  // namespace oriel::backend::eigen
