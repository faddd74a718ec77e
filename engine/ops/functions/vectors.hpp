// Packets as the compiler's own vector types, for functions that look at the bits of float64 or choose between lanes:
// these types have operators for both on every target.
#pragma once

#include "ops/functions/float_math.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

template <class P>
using ElementOf = typename ei::unpacket_traits<P>::type;

// snippet vectors: packets

/// Vectors of the size of P: of its elements, and of integers of their width, which comparisons give.
template <class P>
struct Vectors {
  using T = ElementOf<P>;
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Word = std::make_unsigned_t<Integer>;
  typedef T Number __attribute__((vector_size(sizeof(P))));
  typedef Integer Bits __attribute__((vector_size(sizeof(P))));
  typedef Word Unsigned __attribute__((vector_size(sizeof(P))));
};
template <class P>
using NumberOf = typename Vectors<P>::Number;
template <class P>
using MaskOf = typename Vectors<P>::Bits;

/// a * b + c, in one rounding where the processor has that.
template <class P>
NumberOf<P> fused(NumberOf<P> a, NumberOf<P> b, NumberOf<P> c) {
  return NumberOf<P>(ei::pmadd(P(a), P(b), P(c)));
}
#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
[[maybe_unused]] constexpr bool kFused = true;
#else
[[maybe_unused]] constexpr bool kFused = false;
#endif

/// A polynomial; the coefficients from the highest power down.
template <class P, int kCount>
NumberOf<P> polynomial(const ElementOf<P> (&coefficients)[kCount], NumberOf<P> x) {
  NumberOf<P> y = NumberOf<P>{} + coefficients[0];
  for (int k = 1; k < kCount; ++k) y = fused<P>(y, x, NumberOf<P>{} + coefficients[k]);
  return y;
}

/// x where the mask holds, else y.
template <class P>
NumberOf<P> chosen(MaskOf<P> mask, NumberOf<P> x, NumberOf<P> y) {
  return mask ? x : y;
}
template <class P>
NumberOf<P> magnitude(NumberOf<P> x) {
  return NumberOf<P>(ei::pabs(P(x)));
}
/// The bit of the sign alone.
template <class P>
MaskOf<P> sign_of(NumberOf<P> x) {
  return MaskOf<P>(x) & std::numeric_limits<typename Vectors<P>::Integer>::min();
}
/// x with its sign changed where `sign` has that bit.
template <class P>
NumberOf<P> signed_by(NumberOf<P> x, MaskOf<P> sign) {
  return NumberOf<P>(MaskOf<P>(x) ^ sign);
}
/// Does the mask hold in any lane?
template <class P>
bool any(MaskOf<P> mask) {
#if defined(EIGEN_VECTORIZE_AVX512) && defined(__AVX512DQ__)
  if constexpr (sizeof mask == 64) return _mm512_movepi32_mask(__m512i(mask)) != 0;
#endif
#if defined(EIGEN_VECTORIZE_AVX)
  if constexpr (sizeof mask == 32) return _mm256_movemask_ps(__m256(mask)) != 0;
#endif
#if defined(EIGEN_VECTORIZE_SSE2)
  if constexpr (sizeof mask == 16) return _mm_movemask_ps(__m128(mask)) != 0;
#endif
  typename Vectors<P>::Integer all = 0;
  for (int l = 0; l < static_cast<int>(sizeof mask / sizeof all); ++l) all |= mask[l];
  return all != 0;
}

/// Is any lane of x at least `limit`?
template <class P>
bool any_from(typename Vectors<P>::Unsigned x, typename Vectors<P>::Word limit) {
#if defined(EIGEN_VECTORIZE_AVX512)
  if constexpr (sizeof limit == 4) {
    return _mm512_cmpge_epu32_mask(__m512i(x), _mm512_set1_epi32(static_cast<int>(limit))) != 0;
  } else {
    return _mm512_cmpge_epu64_mask(__m512i(x), _mm512_set1_epi64(static_cast<long long>(limit))) != 0;
  }
#else
  return any<P>(MaskOf<P>(x >= limit));
#endif
}
/// The same of two: one branch for both.
template <class P>
bool any_from(typename Vectors<P>::Unsigned x, typename Vectors<P>::Word x_limit, typename Vectors<P>::Unsigned y,
              typename Vectors<P>::Word y_limit) {
#if defined(EIGEN_VECTORIZE_AVX512)
  return (static_cast<int>(any_from<P>(x, x_limit)) | static_cast<int>(any_from<P>(y, y_limit))) != 0;
#else
  return any<P>(MaskOf<P>(x >= x_limit) | MaskOf<P>(y >= y_limit));
#endif
}

/// F::library, lane by lane, where `mask` holds; else y.
template <class F, class P, class... X>
P by_library(MaskOf<P> mask, P y, X... x) {
  using T = ElementOf<P>;
  constexpr int size = ei::unpacket_traits<P>::size;
  const auto lane = [](P from, int l) {
    T lanes[size];
    std::memcpy(lanes, &from, sizeof lanes);
    return lanes[l];
  };
  T to[size];
  std::memcpy(to, &y, sizeof to);
  for (int l = 0; l < size; ++l) {
    if (mask[l] != 0) to[l] = F::library(lane(x, l)...);
  }
  std::memcpy(&y, to, sizeof y);
  return y;
}

/// float32 computed in float64 by F::wide: the rounding at the end is nearly all of the error. If the target has no
/// packets of half as many float64, the C library's function.
template <class F, class P, class... X>
P in_doubles(P x, X... others) {
  using D = typename ei::packet_traits<std::conditional_t<sizeof(P) != 0, double, void>>::type;
  if constexpr (sizeof(P) == sizeof(D)) {
    typedef float Half __attribute__((vector_size(sizeof(P) / 2)));
    const auto half = [](P from, int h) {
      Half parts[2];
      std::memcpy(parts, &from, sizeof from);
      return __builtin_convertvector(parts[h], D);
    };
    Half y[2];
    for (int h = 0; h < 2; ++h) y[h] = __builtin_convertvector(F::wide(half(x, h), half(others, h)...), Half);
    std::memcpy(&x, y, sizeof x);
    return x;
  } else {
    return by_library<F>(MaskOf<P>{} - 1, x, x, others...);
  }
}

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
