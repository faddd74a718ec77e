// Tiles, lanes and memory. The parts are text of rendered sources, which set Main and Vector to the type that most of a
// kernel's values have and to its register; here they are float.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

namespace oriel::source::cpp::text {
namespace {

using Int = std::int64_t;
using Main = float;
#if defined(__AVX512F__)
typedef Main Vector __attribute__((vector_size(64)));
#elif defined(__AVX2__)
typedef Main Vector __attribute__((vector_size(32)));
#else
typedef Main Vector __attribute__((vector_size(16)));
#endif

// snippet Values:

/// N values in memory.
template <class T, int N>
struct Values {
  alignas(64) T e[N];
  T& operator[](Int k) { return e[k]; }
  const T& operator[](Int k) const { return e[k]; }
};

// snippet Allocated: <new>

/// Memory for n values.
template <class T>
struct Allocated {
  explicit Allocated(Int n)
      : data(static_cast<T*>(::operator new(static_cast<std::size_t>(n) * sizeof(T), std::align_val_t(64)))) {}
  Allocated(const Allocated&) = delete;
  ~Allocated() { ::operator delete(data, std::align_val_t(64)); }
  T* const data;
};

// snippet vector_loop:

// The elements are independent of each other, even if the result is also an operand.
#ifndef ORIEL_VECTOR_LOOP
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#endif

// snippet at: Values

/// Value k of several. A single number stands for as many equal values as needed.
template <class T, int N>
T at(const Values<T, N>& x, Int k) {
  return x.e[k];
}
template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
T at(T x, Int) {
  return x;
}

// snippet Shifted:

/// Memory whose first element counts as number `first`.
template <class T>
struct Shifted {
  T* data;
  Int first;
  T* operator+(Int k) const { return data + (k - first); }
  T& operator[](Int k) const { return data[k - first]; }
};

// snippet Segment:

/// Elements [begin, end) of a tile.
struct Segment {
  Int begin;
  Int end;
};

// snippet segment: Segment

/// The part of n elements whose loop, at `first` for the first of them, runs in [lo, hi); nothing unless `valid`.
[[maybe_unused]] inline Segment segment(Int lo, Int hi, Int first, Int n, bool valid = true) {
  const Int begin = lo > first ? lo - first : 0;
  const Int end = hi - first < n ? hi - first : n;
  return valid && begin < end ? Segment{begin, end} : Segment{0, 0};
}

// snippet Packet: at

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

// snippet lanes: Packet

/// F::of, lane by lane.
template <class F, class... X>
[[gnu::always_inline]] inline auto lanes(const X&... x) {
  Lanes<decltype(F::of(at(x, 0)...))> y;
  for (int l = 0; l < kLanes; ++l) y.e[l] = F::of(at(x, l)...);
  return packed(y);
}

// snippet each_lane: Packet

/// f(k + l) for the lanes in use, 0 for the others.
template <class T, class W, class F>
[[gnu::always_inline]] inline auto each_lane(W used, Int k, F f) {
  Lanes<T> y{};
  for (Int l = 0; l < used; ++l) y.e[l] = f(k + l);
  return packed(y);
}

// snippet scatter: Packet

/// f(k + l, lane l of x) for the lanes in use.
template <class X, class W, class F>
[[gnu::always_inline]] inline void scatter(const X& x, W used, Int k, F f) {
  for (Int l = 0; l < used; ++l) f(k + l, at(x, l));
}

// snippet pick: Packet

/// f(lane l of x) for the lanes in use, 0 for the others.
template <class T, class X, class W, class F>
[[gnu::always_inline]] inline auto pick(const X& x, W used, F f) {
  Lanes<T> y{};
  for (Int l = 0; l < used; ++l) y.e[l] = f(at(x, l));
  return packed(y);
}

// snippet tile_of: Packet

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

// snippet allocated_packets: Packet

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

// snippet load: Packet

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

// snippet load_part: load Segment

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

// snippet store: Packet

/// Stores the lanes in use to y.
template <class T, class W, class X>
[[gnu::always_inline]] inline void store(T* y, const X& x, W used) {
  for (Int l = 0; l < used; ++l) y[l] = at(x, l);
}
[[maybe_unused]] inline void store(Main* y, const Packet& x, All) { std::memcpy(y, &x, sizeof x); }

// snippet stream: store

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

// snippet absolute: Packet

[[maybe_unused]] inline Packet absolute(const Packet& x) {
  Mask bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= std::numeric_limits<std::remove_reference_t<decltype(bits[0])>>::max();
  Packet y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

// snippet smaller: Packet

/// NaN if either is.
[[maybe_unused]] inline Packet smaller(const Packet& x, const Packet& y) { return ((x < y) | (x != x)) ? x : y; }

// snippet larger: Packet

/// NaN if either is.
[[maybe_unused]] inline Packet larger(const Packet& x, const Packet& y) { return ((x > y) | (x != x)) ? x : y; }

// snippet choose: Packet

[[maybe_unused]] inline Packet choose(const Mask& choice, const Packet& x, const Packet& y) { return choice ? x : y; }
template <class C>
Packet choose(const C& choice, const Packet& x, const Packet& y) {
  Mask m{};
  for (int l = 0; l < kLanes; ++l) m[l] = at(choice, l) != 0 ? -1 : 0;
  return m ? x : y;
}

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text
