// Tiles, lanes, halves and memory.
#include "source/cpp/snippets.hpp"

namespace oriel::source::cpp {
namespace {

constexpr Snippet kTileSnippets[] = {
    {"Values", "", R"src(
/// N values in memory.
template <class T, int N>
struct Values {
  alignas(64) T e[N];
  T& operator[](Int k) { return e[k]; }
  const T& operator[](Int k) const { return e[k]; }
};
)src"},
    {"Allocated", "<new> ", R"src(
/// Memory for n values.
template <class T>
struct Allocated {
  explicit Allocated(Int n)
      : data(static_cast<T*>(::operator new(static_cast<std::size_t>(n) * sizeof(T), std::align_val_t(64)))) {}
  Allocated(const Allocated&) = delete;
  ~Allocated() { ::operator delete(data, std::align_val_t(64)); }
  T* const data;
};
)src"},
    {"vector_loop", "", R"src(
// The elements are independent of each other, even if the result is also an operand.
#ifndef ORIEL_VECTOR_LOOP
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#endif
)src"},
    {"at", "Values ", R"src(
/// Value k of several. A single number stands for as many equal values as needed.
template <class T, int N>
T at(const Values<T, N>& x, Int k) {
  return x.e[k];
}
template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
T at(T x, Int) {
  return x;
}
)src"},
    {"Shifted", "", R"src(
/// Memory whose first element counts as number `first`.
template <class T>
struct Shifted {
  T* data;
  Int first;
  T* operator+(Int k) const { return data + (k - first); }
  T& operator[](Int k) const { return data[k - first]; }
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
/// The part of n elements whose loop, at `first` for the first of them, runs in [lo, hi); nothing unless `valid`.
[[maybe_unused]] inline Segment segment(Int lo, Int hi, Int first, Int n, bool valid = true) {
  const Int begin = lo > first ? lo - first : 0;
  const Int end = hi - first < n ? hi - first : n;
  return valid && begin < end ? Segment{begin, end} : Segment{0, 0};
}
)src"},
    {"Packet", "at ", R"src(
// As many elements as a register holds. Values of all other types have the same number of lanes, in memory.
using Packet = Vector;
using Mask = decltype(Packet() < Packet());
constexpr int kLanes = static_cast<int>(sizeof(Packet) / sizeof(Main));
template <class T>
using Lanes = Values<T, kLanes>;
/// The number of lanes in use: all of them, as a constant.
using All = std::integral_constant<Int, kLanes>;

[[maybe_unused]] inline Main at(const Packet& x, Int k) { return x[k]; }
[[maybe_unused]] inline std::uint8_t at(const Mask& x, Int k) { return x[k] != 0 ? 1 : 0; }

[[maybe_unused]] inline Packet all(const Packet& x) { return x; }
[[maybe_unused]] inline Packet all(Main x) { return x - Packet{}; }
[[maybe_unused]] inline Packet all(const Lanes<Main>& x) {
  Packet p;
  std::memcpy(&p, x.e, sizeof p);
  return p;
}
template <class T>
const Lanes<T>& packed(const Lanes<T>& x) {
  return x;
}
[[maybe_unused]] inline Packet packed(const Lanes<Main>& x) { return all(x); }

/// step(how many lanes are in use, the first of them): n elements, a packet at a time.
template <class F>
[[gnu::always_inline]] inline void each_packet(Int n, F step) {
  Int k = 0;
  for (; k + kLanes <= n; k += kLanes) step(All(), k);
  if (k < n) step(n - k, k);
}
)src"},
    {"lanes", "Packet ", R"src(
/// F::of, lane by lane.
template <class F, class... X>
[[gnu::always_inline]] inline auto lanes(const X&... x) {
  Lanes<decltype(F::of(at(x, 0)...))> y;
  for (int l = 0; l < kLanes; ++l) y.e[l] = F::of(at(x, l)...);
  return packed(y);
}
)src"},
    {"each_lane", "Packet ", R"src(
/// f(k + l) for the lanes in use, 0 for the others.
template <class T, class W, class F>
[[gnu::always_inline]] inline auto each_lane(W used, Int k, F f) {
  Lanes<T> y{};
  for (Int l = 0; l < used; ++l) y.e[l] = f(k + l);
  return packed(y);
}
)src"},
    {"scatter", "Packet ", R"src(
/// f(k + l, lane l of x) for the lanes in use.
template <class X, class W, class F>
[[gnu::always_inline]] inline void scatter(const X& x, W used, Int k, F f) {
  for (Int l = 0; l < used; ++l) f(k + l, at(x, l));
}
)src"},
    {"pick", "Packet ", R"src(
/// f(lane l of x) for the lanes in use, 0 for the others.
template <class T, class X, class W, class F>
[[gnu::always_inline]] inline auto pick(const X& x, W used, F f) {
  Lanes<T> y{};
  for (Int l = 0; l < used; ++l) y.e[l] = f(at(x, l));
  return packed(y);
}
)src"},
    {"tile_of", "Packet ", R"src(
/// The lanes of a tile from k on.
template <class T, int N>
[[gnu::always_inline]] inline auto get(const Values<T, N>& x, Int k) {
  if constexpr (std::is_same<T, Main>::value) {
    Packet p;
    std::memcpy(&p, x.e + k, sizeof p);
    return p;
  } else {
    Lanes<T> y;
    std::memcpy(y.e, x.e + k, sizeof y.e);
    return packed(y);
  }
}
template <class T, int N, class X>
[[gnu::always_inline]] inline void put(Values<T, N>& y, Int k, const X& x) {
  for (int l = 0; l < kLanes; ++l) y.e[k + l] = at(x, l);
}
template <int N>
[[gnu::always_inline]] inline void put(Values<Main, N>& y, Int k, const Packet& x) {
  std::memcpy(y.e + k, &x, sizeof x);
}
)src"},
    {"allocated_packets", "Packet ", R"src(
/// The same for values in memory whose number the compiler does not know.
template <class T>
[[gnu::always_inline]] inline auto get(const T* x, Int k) {
  if constexpr (std::is_same<T, Main>::value) {
    Packet p;
    std::memcpy(&p, x + k, sizeof p);
    return p;
  } else {
    Lanes<T> y;
    std::memcpy(y.e, x + k, sizeof y.e);
    return packed(y);
  }
}
template <class T, class X>
[[gnu::always_inline]] inline void put(T* y, Int k, const X& x) {
  for (int l = 0; l < kLanes; ++l) y[k + l] = at(x, l);
}
[[gnu::always_inline]] inline void put(Main* y, Int k, const Packet& x) { std::memcpy(y + k, &x, sizeof x); }
)src"},
    {"load", "Packet ", R"src(
/// The elements at x, as many as are in use; 0 after them.
template <class T, class W>
[[gnu::always_inline]] inline auto load(const T* x, W used) {
  if constexpr (std::is_same<W, All>::value && std::is_same<T, Main>::value) {
    // Loads directly into a register: g++ 12 would copy memory in two halves and wait for both.
    Packet p;
    std::memcpy(&p, x, sizeof p);
    return p;
  } else {
    Lanes<T> y{};
    if constexpr (std::is_same<W, All>::value) {
      std::memcpy(y.e, x, sizeof y.e);
    } else {
      for (Int l = 0; l < used; ++l) y.e[l] = x[l];
    }
    return packed(y);
  }
}
)src"},
    {"load_part", "load Segment ", R"src(
/// The lanes from x[k] on that lie in the segment, 0 in the others.
template <class T, class W>
[[gnu::always_inline]] inline auto load_part(const T* x, Int k, W used, Segment s) {
  if (s.begin <= k && k + used <= s.end) return load(x + k, used);
  Lanes<T> y{};
  const Int begin = s.begin > k ? s.begin - k : 0;
  const Int end = s.end < k + used ? s.end - k : Int(used);
  for (Int l = begin; l < end; ++l) y.e[l] = x[k + l];
  return packed(y);
}
)src"},
    {"store", "Packet ", R"src(
/// Stores the lanes in use to y.
template <class T, class W, class X>
[[gnu::always_inline]] inline void store(T* y, const X& x, W used) {
  for (Int l = 0; l < used; ++l) y[l] = at(x, l);
}
[[maybe_unused]] inline void store(Main* y, const Packet& x, All) { std::memcpy(y, &x, sizeof x); }
)src"},
    {"stream", "store ", R"src(
/// The same with stores that bypass the caches, for results larger than the caches.
template <class T, class W, class X>
[[gnu::always_inline]] inline void stream(T* y, const X& x, W used) {
  store(y, x, used);
}
[[maybe_unused]] inline void stream(Main* y, const Packet& x, All used) {
  if (reinterpret_cast<std::uintptr_t>(y) % sizeof(Packet) != 0) return store(y, x, used);
#if defined(__clang__)
  __builtin_nontemporal_store(x, reinterpret_cast<Packet*>(y));
#elif defined(__SSE2__)
  typedef long long Quads __attribute__((vector_size(sizeof(Packet))));
  Quads bits;
  std::memcpy(&bits, &x, sizeof bits);
#if defined(__AVX512F__)
  __builtin_ia32_movntdq512(reinterpret_cast<Quads*>(y), bits);
#elif defined(__AVX__)
  __builtin_ia32_movntdq256(reinterpret_cast<Quads*>(y), bits);
#else
  __builtin_ia32_movntdq(reinterpret_cast<Quads*>(y), bits);
#endif
#else
  store(y, x, used);
#endif
}
/// Orders such stores before all later ones.
[[maybe_unused]] inline void stream_end() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
)src"},
    {"absolute", "Packet ", R"src(
[[maybe_unused]] inline Packet absolute(const Packet& x) {
  Mask bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= std::numeric_limits<std::remove_reference_t<decltype(bits[0])>>::max();
  Packet y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}
)src"},
    {"smaller", "Packet ", R"src(
/// NaN if either is.
[[maybe_unused]] inline Packet smaller(const Packet& x, const Packet& y) { return ((x < y) | (x != x)) ? x : y; }
)src"},
    {"larger", "Packet ", R"src(
/// NaN if either is.
[[maybe_unused]] inline Packet larger(const Packet& x, const Packet& y) { return ((x > y) | (x != x)) ? x : y; }
)src"},
    {"choose", "Packet ", R"src(
[[maybe_unused]] inline Packet choose(const Mask& choice, const Packet& x, const Packet& y) { return choice ? x : y; }
template <class C>
Packet choose(const C& choice, const Packet& x, const Packet& y) {
  Mask m{};
  for (int l = 0; l < kLanes; ++l) m[l] = at(choice, l) != 0 ? -1 : 0;
  return m ? x : y;
}
)src"},
    {"float16", "<immintrin.h> ", R"src(
/// Between float32 and float16, to nearest even.
#if defined(__F16C__)
[[maybe_unused]] inline float widen_float16(std::uint16_t bits) { return _cvtsh_ss(bits); }
[[maybe_unused]] inline std::uint16_t narrow_float16(float x) { return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }
#else
[[maybe_unused]] inline float widen_float16(std::uint16_t bits) {
  // Multiplying by a power of two adjusts the exponent's bias and makes subnormal numbers normal.
  const std::uint32_t magnitude = bits & 0x7fffu;
  std::uint32_t wide = magnitude << 13;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  x *= 0x1p112f;
  if (magnitude >= 0x7c00u) {
    wide |= 0x7f800000u | (magnitude > 0x7c00u ? 0x400000u : 0u);
    std::memcpy(&x, &wide, sizeof x);
  }
  return (bits & 0x8000u) != 0 ? -x : x;
}
[[maybe_unused]] inline std::uint16_t narrow_float16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  std::uint32_t half = 0;
  if (bits > 0x7f800000u) {
    half = 0x7e00u | (bits >> 13 & 0x3ffu);
  } else if (bits >= 0x477ff000u) {
    half = 0x7c00u;  // rounds to infinity
  } else if (bits >= 0x38800000u) {
    half = (bits + 0xfffu + (bits >> 13 & 1u) - 0x38000000u) >> 13;
  } else {
    // The last place of the sum is the last place of a subnormal half.
    float magnitude = 0;
    std::memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude += 0.5f;
    std::memcpy(&half, &magnitude, sizeof half);
    half -= 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | half);
}
#endif
)src"},
    {"bfloat16", "", R"src(
/// Between float32 and bfloat16, to nearest even.
[[maybe_unused]] inline float widen_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}
[[maybe_unused]] inline std::uint16_t narrow_bfloat16(float x) {
  std::uint32_t wide = 0;
  std::memcpy(&wide, &x, sizeof wide);
  const std::uint32_t rounded = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
  const std::uint32_t quiet = wide >> 16 | 0x40;
  return static_cast<std::uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
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
};

}  // namespace

std::span<const Snippet> tile_snippets() { return kTileSnippets; }

}  // namespace oriel::source::cpp
