// Calls of functions over Eigen's packets.
#pragma once

#include "ops/functions/division.hpp"
#include "ops/functions/elementary.hpp"
#include "source/cpp/text/tile.hpp"

namespace oriel::source::cpp::text {
namespace {

using ops::FloorDiv, ops::Fmod, ops::Remainder;

// snippet library: lanes

/// The C library's function, for targets on which Eigen has no packets.
template <class F>
struct Library {
  template <class T, class... Y>
  static T of(T x, Y... y) {
    return F::library(x, y...);
  }
};

// snippet packets: Packet library <Eigen/Core>

namespace ei = Eigen::internal;

template <class P>
using ElementOf = typename ei::unpacket_traits<P>::type;
template <class P>
P splat(ElementOf<P> x) {
  return ei::pset1<P>(x);
}

/// Applies F::of to Eigen's packets. Values of other types than Main are computed packet by packet of their own width.
template <class F, class... X>
[[gnu::always_inline]] inline auto packets(const X&... x) {
  using T = std::common_type_t<decltype(at(x, 0))...>;
  using P = typename ei::packet_traits<T>::type;
  constexpr int size = ei::packet_traits<T>::size;
  if constexpr (size == 1) {
    return lanes<Library<F>>(x...);
  } else if constexpr (std::is_same<T, Main>::value) {
    static_assert(sizeof(P) == sizeof(Packet), "one width");
    return Packet(F::of(P(all(x))...));
  } else {
    // A packet may have more elements than there are lanes.
    Values<T, (kLanes > size ? kLanes : size)> y{};
    for (int l = 0; l < kLanes; l += size) {
      const auto part = [&](const auto& from) {
        Values<T, size> some{};
        for (int i = 0; i < size && l + i < kLanes; ++i) some.e[i] = at(from, l + i);
        return ei::ploadu<P>(some.e);
      };
      ei::pstoreu(y.e + l, F::of(part(x)...));
    }
    Lanes<T> z;
    std::memcpy(z.e, y.e, sizeof z.e);
    return z;
  }
}

// snippet in_lanes: packets vector_loop

/// A division with remainder over packets: without a branch if that is exact, otherwise lane by lane.
template <class F>
struct InLanes {
  template <class T>
  static T library(T x, T y) {
    return F::of(x, y);
  }
  template <class P>
  static P of(P x, P y) {
    using T = ElementOf<P>;
    constexpr int size = ei::unpacket_traits<P>::size;
    alignas(64) T a[size];
    alignas(64) T b[size];
    alignas(64) T r[size];
    std::memcpy(a, &x, sizeof a);
    std::memcpy(b, &y, sizeof b);
    int doubts = 0;
#if !defined(__clang__)
#pragma GCC unroll 1  // four lanes would be unrolled and stay apart
#endif
    ORIEL_VECTOR_LOOP
    for (int l = 0; l < size; ++l) {
      bool sure = false;
      r[l] = F::quick(a[l], b[l], sure);
      doubts |= sure ? 0 : 1;
    }
    if (__builtin_expect(doubts != 0, 0)) {
      for (int l = 0; l < size; ++l) r[l] = F::of(a[l], b[l]);
    }
    std::memcpy(&x, r, sizeof x);
    return x;
  }
};

// snippet FloorDivs: in_lanes FloorDiv

using FloorDivs = InLanes<FloorDiv>;

// snippet Fmods: in_lanes Fmod

using Fmods = InLanes<Fmod>;

// snippet Remainders: in_lanes Remainder

using Remainders = InLanes<Remainder>;

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text
