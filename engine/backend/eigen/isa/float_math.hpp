// float32 functions over packets, without a branch but where an argument is far out. Rendered sources hold the same
// functions (snippets_float_math.cpp): the same operations in the same order, so that both tiers give the same bits.
//
// e^r, 2^r and the others are polynomials fitted for the least largest error, their coefficients rounded to float32
// from the first on, each after the ones before it.
#pragma once

#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

namespace ei = Eigen::internal;

template <class P>
P splat(typename ei::unpacket_traits<P>::type x) {
  return ei::pset1<P>(x);
}

// x + 1.5 * 2^23 has the whole number nearest to x in its lowest bits.
constexpr float kWhole = 12582912.0F;
constexpr float kLog2E = 1.44269504F;
// ln 2 in two parts; whole numbers of 9 bits times the first are exact.
constexpr float kLn2 = 0.693359375F;
constexpr float kLn2Rest = -2.12194440e-4F;

/// y * 2^n where both are normal numbers; `whole` is kWhole + n.
template <class P>
P with_exponent(P y, P whole) {
  using I = typename ei::unpacket_traits<P>::integer_packet;
  return ei::preinterpret<P>(ei::padd(ei::preinterpret<I>(y), ei::plogical_shift_left<23>(ei::preinterpret<I>(whole))));
}

// 2 to this power is 0 and found at once, where processors take a hundred times as long for what is near the smallest
// numbers.
#if defined(EIGEN_VECTORIZE_AVX512)
constexpr float kFarOut = -1000.0F;
#else
constexpr float kFarOut = -245.0F;
#endif

/// a where x < y, else b. Eigen turns AVX-512's masks into packets and back, which can take longer than exp.
#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
P less(P x, P y, P a, P b) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a);
}
#else
template <class P>
P less(P x, P y, P a, P b) {
  return ei::pselect(ei::pcmp_lt(x, y), a, b);
}
#endif

/// Within [far, high]; x itself where it is NaN. Below `low` the result is 0: `far` where that costs nothing to ask.
template <class P>
P within(P x, [[maybe_unused]] float low, float far, float high) {
  const P y = ei::pmin(x, splat<P>(high));
#if defined(EIGEN_VECTORIZE_AVX512)
  return ei::pmax(y, splat<P>(far));
#else
  return less(y, splat<P>(low), splat<P>(far), y);
#endif
}

#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
bool beyond(P, float) {
  return true;
}
/// y * 2^n, rounded once where that is subnormal; `whole` is kWhole + n. Not `far`: the result is normal.
template <class P>
P scaled(P y, P n, P, bool) {
  return _mm512_scalef_ps(y, n);
}
#else
/// Is any |x| beyond the limit, or NaN?
template <class P>
bool beyond(P x, float limit) {
  return ei::predux_any(ei::pcmp_lt_or_nan(splat<P>(limit), ei::pabs(x)));
}
/// y * 2^n, rounded once where that is subnormal; `whole` is kWhole + n. Not `far`: the result is normal.
template <class P>
P scaled(P y, P n, P whole, bool far) {
  if (__builtin_expect(!far, 1)) return with_exponent(y, whole);
  const P half = ei::pmadd(n, splat<P>(0.5F), splat<P>(kWhole));
  const P rest = ei::padd(ei::psub(n, ei::psub(half, splat<P>(kWhole))), splat<P>(kWhole));
  const P z = ei::pmul(with_exponent(y, half), with_exponent(splat<P>(1.0F), rest));
  return ei::pselect(ei::pcmp_eq(y, y), z, y);
}
#endif

/// (e^r - 1 - r) / r^2 for |r| up to ln(2)/2.
template <class P>
P exp_tail(P r) {
  P q = ei::pmadd(splat<P>(1.3818304e-3F), r, splat<P>(8.368533e-3F));
  q = ei::pmadd(q, r, splat<P>(4.1668292e-2F));
  q = ei::pmadd(q, r, splat<P>(0.16666523F));
  return ei::pmadd(q, r, splat<P>(0.49999994F));
}

/// x - n ln 2.
template <class P>
P without_ln2(P x, P n) {
  return ei::pmadd(n, splat<P>(-kLn2Rest), ei::pmadd(n, splat<P>(-kLn2), x));
}

/// e^x = 2^n e^r.
template <class P>
P exp_float(P x) {
  const bool far = beyond(x, 87.0F);
  if (__builtin_expect(far, 0)) x = within(x, -104.0F, 0.69F * kFarOut, 89.0F);
  const P whole = ei::pmadd(x, splat<P>(kLog2E), splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = without_ln2(x, n);
  P y = ei::pmadd(exp_tail(r), r, splat<P>(1.0F));
  y = ei::pmadd(y, r, splat<P>(1.0F));
  return scaled(y, n, whole, far);
}

template <class P>
P exp2_float(P x) {
  const bool far = beyond(x, 125.0F);
  if (__builtin_expect(far, 0)) x = within(x, -151.0F, kFarOut, 129.0F);
  const P whole = ei::padd(x, splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = ei::psub(x, n);
  P y = ei::pmadd(splat<P>(1.5326464e-4F), r, splat<P>(1.3390806e-3F));
  y = ei::pmadd(y, r, splat<P>(9.618506e-3F));
  y = ei::pmadd(y, r, splat<P>(5.55036e-2F));
  y = ei::pmadd(y, r, splat<P>(0.24022648F));
  y = ei::pmadd(y, r, splat<P>(0.6931472F));
  y = ei::pmadd(y, r, splat<P>(1.0F));
  return scaled(y, n, whole, far);
}

/// m / (m + 2) with m = e^2x - 1 = 2^n (e^r - 1) + (2^n - 1); below 1/2, where that loses places, x (1 + x^2 p(x^2)).
template <class P>
P tanh_float(P x) {
  const P bounded = ei::pmin(ei::pabs(x), splat<P>(10.0F));
  const P twice = ei::padd(bounded, bounded);
  const P whole = ei::pmadd(twice, splat<P>(kLog2E), splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = without_ln2(twice, n);
  const P part = ei::pmadd(ei::pmul(r, r), exp_tail(r), r);
  const P scale = with_exponent(splat<P>(1.0F), whole);
  const P m = ei::pmadd(part, scale, ei::psub(scale, splat<P>(1.0F)));
  const P z = ei::pdiv(m, ei::padd(m, splat<P>(2.0F)));
  const P x2 = ei::pmul(bounded, bounded);
  P p = ei::pmadd(splat<P>(1.724041e-2F), x2, splat<P>(-5.304498e-2F));
  p = ei::pmadd(p, x2, splat<P>(0.13325872F));
  p = ei::pmadd(p, x2, splat<P>(-0.33333144F));
  p = ei::pmul(bounded, ei::pmadd(p, x2, splat<P>(1.0F)));
  return ei::por(less(x2, splat<P>(0.25F), p, z), ei::pand(x, splat<P>(-0.0F)));
}

/// x + x p(x^2) below 0.9; from there on 1 - 2^q(x), which is 1 from 4 on.
template <class P>
P erf_float(P x) {
  const P magnitude = ei::pabs(x);
  const P x2 = ei::pmul(x, x);
  P p = ei::pmadd(splat<P>(-6.034459e-4F), x2, splat<P>(5.0014905e-3F));
  p = ei::pmadd(p, x2, splat<P>(-2.6772095e-2F));
  p = ei::pmadd(p, x2, splat<P>(0.11281961F));
  p = ei::pmadd(p, x2, splat<P>(-0.37612507F));
  p = ei::pmadd(p, x2, splat<P>(0.12837915F));
  p = ei::pmadd(p, x, x);
  const P a = ei::pmin(magnitude, splat<P>(4.0F));
  P q = ei::pmadd(splat<P>(3.095996e-4F), a, splat<P>(-4.6454747e-3F));
  q = ei::pmadd(q, a, splat<P>(3.3046514e-2F));
  q = ei::pmadd(q, a, splat<P>(-0.15189697F));
  q = ei::pmadd(q, a, splat<P>(-0.9171202F));
  q = ei::pmadd(q, a, splat<P>(-1.6281102F));
  q = ei::pmul(q, a);
  const P whole = ei::padd(q, splat<P>(kWhole));
  const P r = ei::psub(q, ei::psub(whole, splat<P>(kWhole)));
  P y = ei::pmadd(splat<P>(1.3269407e-3F), r, splat<P>(9.671294e-3F));
  y = ei::pmadd(y, r, splat<P>(5.5507112e-2F));
  y = ei::pmadd(y, r, splat<P>(0.24022247F));
  y = ei::pmadd(y, r, splat<P>(0.693147F));
  y = ei::pmadd(y, r, splat<P>(1.0F));
  y = ei::psub(splat<P>(1.0F), with_exponent(y, whole));
  return less(splat<P>(0.9F), magnitude, ei::por(y, ei::pand(x, splat<P>(-0.0F))), p);
}

// |x| less n times pi/2, in parts whose products with n are exact (but for the last) up to a limit; beyond it the C
// library takes over.
#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
constexpr float kTurnLimit = 1e5F;
template <class P>
P without_turns(P x, P n) {
  P r = ei::pmadd(n, splat<P>(-1.57079637F), x);
  r = ei::pmadd(n, splat<P>(4.37113883e-8F), r);
  return ei::pmadd(n, splat<P>(1.71512449e-15F), r);
}
#else
constexpr float kTurnLimit = 2e4F;
template <class P>
P without_turns(P x, P n) {
  const P first = ei::psub(x, ei::pmul(n, splat<P>(1.5703125F)));
  const P second = ei::psub(first, ei::pmul(n, splat<P>(4.839897155761719e-4F)));
  const P part = ei::pmul(n, splat<P>(1.6298145055770874e-7F));
  const P third = ei::padd(second, part);
  const P lost = ei::psub(part, ei::psub(third, second));
  return ei::padd(third, ei::psub(lost, ei::pmul(n, splat<P>(6.07710062827671e-11F))));
}
#endif

/// Polynomials for sine and cosine up to pi/4; the number of quarter turns says which one, and the sign.
template <bool kCosine, class P>
P sine_float(P x) {
  using I = typename ei::unpacket_traits<P>::integer_packet;
  const P magnitude = ei::pabs(x);
  const P whole = ei::pmadd(magnitude, splat<P>(0.636619772F), splat<P>(kWhole));
  const P r = without_turns(magnitude, ei::psub(whole, splat<P>(kWhole)));
  const P r2 = ei::pmul(r, r);
  P s = ei::pmadd(splat<P>(-1.9518276e-4F), r2, splat<P>(8.332189e-3F));
  s = ei::pmadd(s, r2, splat<P>(-0.16666655F));
  s = ei::pmadd(s, ei::pmul(r2, r), r);
  P c = ei::pmadd(splat<P>(2.4432327e-5F), r2, splat<P>(-1.388731e-3F));
  c = ei::pmadd(c, r2, splat<P>(4.1666646e-2F));
  c = ei::pmadd(c, r2, splat<P>(-0.5F));
  c = ei::pmadd(c, r2, splat<P>(1.0F));
  const I turns = ei::preinterpret<I>(whole);
  const P odd = ei::preinterpret<P>(ei::parithmetic_shift_right<31>(ei::plogical_shift_left<31>(turns)));
  const I half_turns = kCosine ? ei::padd(turns, ei::pset1<I>(1)) : turns;
  P sign = ei::pand(ei::preinterpret<P>(ei::plogical_shift_left<30>(half_turns)), splat<P>(-0.0F));
  if (!kCosine) sign = ei::pxor(sign, ei::pand(x, splat<P>(-0.0F)));
  const P y = ei::pxor(kCosine ? ei::pselect(odd, s, c) : ei::pselect(odd, c, s), sign);
  if (__builtin_expect(!ei::predux_any(ei::pcmp_lt_or_nan(splat<P>(kTurnLimit), magnitude)), 1)) return y;
  constexpr int size = ei::unpacket_traits<P>::size;
  float from[size];
  float to[size];
  ei::pstoreu(from, x);
  ei::pstoreu(to, y);
  for (int l = 0; l < size; ++l) {
    if (!(std::fabs(from[l]) <= kTurnLimit)) to[l] = kCosine ? std::cos(from[l]) : std::sin(from[l]);
  }
  return ei::ploadu<P>(to);
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
