// pow over packets of float32 and float64.
#pragma once

#include "ops/functions/vectors.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

// snippet pow_tables: vectors float_math

// For each interval of a number's mantissa: its reciprocal of so few bits that their product less 1 is exact, and minus
// log2 of that in parts, the first of which sums with any exponent exactly. Intervals run from 1 - 18.5 / 64 on, so
// that 1 lies inside of one, whose logarithm is 0. And powers 2^(j / 16), with what they lack in units of themselves.
#if defined(EIGEN_VECTORIZE_AVX512)
constexpr int kLogBits = 5;
alignas(64) constexpr float kLogs[3][32] = {
    {1.40625F, 1.375F,    1.34375F,  1.3125F,  1.28125F,  1.25F,     1.21875F,  1.21875F,
     1.1875F,  1.15625F,  1.15625F,  1.125F,   1.09375F,  1.09375F,  1.0625F,   1.0625F,
     1.03125F, 1.015625F, 1.0F,      0.96875F, 0.9375F,   0.921875F, 0.890625F, 0.859375F,
     0.84375F, 0.828125F, 0.796875F, 0.78125F, 0.765625F, 0.75F,     0.734375F, 0.71875F},
    {-0.4918518F,   -0.45942688F,  -0.42626953F, -0.39231873F, -0.3575592F,  -0.32192993F, -0.2854004F,  -0.2854004F,
     -0.2479248F,   -0.2094574F,   -0.2094574F,  -0.16992188F, -0.12928772F, -0.12928772F, -0.08746338F, -0.08746338F,
     -0.044387817F, -0.022369385F, 0.0F,         0.045806885F, 0.09310913F,  0.11735535F,  0.16711426F,  0.21864319F,
     0.24511719F,   0.27207947F,   0.32757568F,  0.35614014F,  0.38528442F,  0.41503906F,  0.44540405F,  0.47644043F},
    {-1.2896891e-06F,
     -4.7387543e-06F,
     4.776548e-06F,
     1.3028072e-06F,
     7.1994837e-06F,
     1.8367533e-06F,
     -1.8282373e-06F,
     -1.8282373e-06F,
     -2.708756e-06F,
     4.031832e-06F,
     4.031832e-06F,
     -3.1264424e-06F,
     4.7027816e-06F,
     4.7027816e-06F,
     5.376559e-07F,
     5.376559e-07F,
     -6.3019756e-06F,
     1.5717371e-06F,
     0.0F,
     -3.1951524e-06F,
     2.735321e-07F,
     1.6039585e-06F,
     -4.271977e-06F,
     -2.9020011e-06F,
     -4.6896635e-06F,
     7.7663366e-08F,
     -1.0255652e-06F,
     3.6735066e-06F,
     5.7320567e-06F,
     -1.5632212e-06F,
     7.095588e-06F,
     -2.3857444e-06F},
};
// The upper halves of float64; the lower ones are 0.
alignas(64) constexpr std::uint32_t kWideLogs[4][32] = {
    {0x3ff68000, 0x3ff60000, 0x3ff58000, 0x3ff50000, 0x3ff48000, 0x3ff40000, 0x3ff38000, 0x3ff38000,
     0x3ff30000, 0x3ff28000, 0x3ff28000, 0x3ff20000, 0x3ff18000, 0x3ff18000, 0x3ff10000, 0x3ff10000,
     0x3ff08000, 0x3ff04000, 0x3ff00000, 0x3fef0000, 0x3fee0000, 0x3fed8000, 0x3fec8000, 0x3feb8000,
     0x3feb0000, 0x3fea8000, 0x3fe98000, 0x3fe90000, 0x3fe88000, 0x3fe80000, 0x3fe78000, 0x3fe70000},
    {0xbfdf7a85, 0xbfdd6754, 0xbfdb47ec, 0xbfd91bbb, 0xbfd6e222, 0xbfd49a78, 0xbfd24408, 0xbfd24408,
     0xbfcfbc17, 0xbfcacf5e, 0xbfcacf5e, 0xbfc5c01a, 0xbfc08c59, 0xbfc08c59, 0xbfb663f7, 0xbfb663f7,
     0xbfa6bad3, 0xbf96e797, 0x00000000, 0x3fa77395, 0x3fb7d605, 0x3fbe0b1b, 0x3fc563dc, 0x3fcbfc68,
     0x3fcf5fd9, 0x3fd169c0, 0x3fd4f6fc, 0x3fd6cb0f, 0x3fd8a898, 0x3fda8ff9, 0x3fdc819e, 0x3fde7df6},
    {0xbe7a32c2, 0x3e5fcd16, 0x3e418efb, 0x3e7db83a, 0x3e69317a, 0xbe72f347, 0x3e753c7e, 0x3e753c7e,
     0x3e61bf66, 0xbe56da76, 0xbe56da76, 0xbe5cfdeb, 0x3e6cc962, 0x3e6cc962, 0x3e14dbb4, 0x3e14dbb4,
     0xbe4d63bf, 0x3e3e8f4b, 0x00000000, 0xbe3b1354, 0xbe5a4c11, 0xbe370d03, 0x3e54ffd6, 0xbe660003,
     0xbe65be70, 0x3e74d8fc, 0xbe734c4f, 0x3e7a1972, 0x3e457f7a, 0x3e7c6043, 0xbe6e95d0, 0xbe1ac755},
    {0x3d13131e, 0xbccdfc7d, 0xbce0520a, 0x3d0ee96a, 0xbd0bcaf2, 0x3cfd406e, 0x3d08cfb7, 0x3d08cfb7,
     0xbcb44752, 0xbcf27dfc, 0xbcf27dfc, 0xbcf0f3f4, 0xbd0e3962, 0xbd0e3962, 0xbcb67ccc, 0xbcb67ccc,
     0xbce87313, 0x3cdd6759, 0x00000000, 0x3cdaabbd, 0xbce67319, 0x3cd5992d, 0x3cf64191, 0x3cf980de,
     0xbd0cb6f7, 0x3d158723, 0x3d19878e, 0x3d0d406e, 0x3ce93335, 0xbd1a1e7f, 0xbcdbc76a, 0x3caa77db},
};
#else
#if defined(EIGEN_VECTORIZE_AVX2)
constexpr int kLogBits = 4;  // of float32
alignas(32) constexpr float kLogs[3][16] = {
    {1.375F, 1.3125F, 1.25F, 1.25F, 1.1875F, 1.125F, 1.125F, 1.0625F, 1.03125F, 1.0F, 0.9375F, 0.875F, 0.84375F,
     0.8125F, 0.75F, 0.71875F},
    {-0.45942688F, -0.39231873F, -0.32192993F, -0.32192993F, -0.2479248F, -0.16992188F, -0.16992188F, -0.08746338F,
     -0.044387817F, 0.0F, 0.09310913F, 0.19264221F, 0.24511719F, 0.29956055F, 0.41503906F, 0.47644043F},
    {-4.7387543e-06F, 1.3028072e-06F, 1.8367533e-06F, 1.8367533e-06F, -2.708756e-06F, -3.1264424e-06F, -3.1264424e-06F,
     5.376559e-07F, -6.3019756e-06F, 0.0F, 2.735321e-07F, 2.8660284e-06F, -4.6896635e-06F, -2.650161e-07F,
     -1.5632212e-06F, -2.3857444e-06F},
};
#endif
constexpr double kWideLogs[3][32] = {
    {0x1.68p+0, 0x1.6p+0,  0x1.58p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0,  0x1.38p+0, 0x1.38p+0,
     0x1.3p+0,  0x1.28p+0, 0x1.28p+0, 0x1.2p+0, 0x1.18p+0, 0x1.18p+0, 0x1.1p+0,  0x1.1p+0,
     0x1.08p+0, 0x1.04p+0, 0x1p+0,    0x1.fp-1, 0x1.ep-1,  0x1.d8p-1, 0x1.c8p-1, 0x1.b8p-1,
     0x1.bp-1,  0x1.a8p-1, 0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.8p-1,  0x1.78p-1, 0x1.7p-1},
    {-0x1.f7a85p-2, -0x1.d6754p-2, -0x1.b47ecp-2, -0x1.91bbbp-2, -0x1.6e222p-2, -0x1.49a78p-2, -0x1.24408p-2,
     -0x1.24408p-2, -0x1.fbc17p-3, -0x1.acf5ep-3, -0x1.acf5ep-3, -0x1.5c01ap-3, -0x1.08c59p-3, -0x1.08c59p-3,
     -0x1.663f7p-4, -0x1.663f7p-4, -0x1.6bad3p-5, -0x1.6e797p-6, 0.0,           0x1.77395p-5,  0x1.7d605p-4,
     0x1.e0b1bp-4,  0x1.563dcp-3,  0x1.bfc68p-3,  0x1.f5fd9p-3,  0x1.169cp-2,   0x1.4f6fcp-2,  0x1.6cb0fp-2,
     0x1.8a898p-2,  0x1.a8ff9p-2,  0x1.c819ep-2,  0x1.e7df6p-2},
    {-0x1.a32c1b3b3864cp-24,
     0x1.fcd15f101c142p-26,
     0x1.18efabeb7d722p-27,
     0x1.db83a3dd2d353p-24,
     0x1.9317990d43957p-25,
     -0x1.2f346e2bf924bp-24,
     0x1.53c7e319f6e92p-24,
     0x1.53c7e319f6e92p-24,
     0x1.1bf65fd7715cap-25,
     -0x1.6da7649f7f08fp-26,
     -0x1.6da7649f7f08fp-26,
     -0x1.cfdeb43cfd006p-26,
     0x1.cc961871a7611p-25,
     0x1.cc961871a7611p-25,
     0x1.4dbb3a60cceb2p-30,
     0x1.4dbb3a60cceb2p-30,
     -0x1.d63bf61cc4d82p-27,
     0x1.e8f4b759d6476p-28,
     0.0,
     -0x1.b135395510d1ep-28,
     -0x1.a4c112ce6312fp-26,
     -0x1.70d02a99b4c5ap-28,
     0x1.4ffd65906439p-26,
     -0x1.60002ccfe43f5p-25,
     -0x1.5be7072dbdc04p-25,
     0x1.4d8fc561c8d44p-24,
     -0x1.34c4e99e1c6c6p-24,
     0x1.a19723a80db6ap-24,
     0x1.57f7a64ccd537p-27,
     0x1.c6042978605ffp-24,
     -0x1.e95d00de3b514p-25,
     -0x1.ac754cb104aeap-30},
};
#endif
constexpr int kWideLogBits = 5;
alignas(64) constexpr double kPowers[2][16] = {
    {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0,
     0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
     0x1.ea4afa2a490dap+0},
    {0.0, 0x1.79aa65d837b6cp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a893p-54, 0x1.34d754db0abb6p-55,
     0x1.59f48a72a4c6cp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2229p-54, -0x1.b32dcb94da51dp-56,
     0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3386p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56,
     -0x1.ff7128fd391f1p-55},
};

#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
NumberOf<P> looked_up(const float (&table)[32], MaskOf<P> at) {
  return NumberOf<P>(_mm512_permutex2var_ps(_mm512_load_ps(table), __m512i(at), _mm512_load_ps(table + 16)));
}
/// `at` counts in the upper half of each lane.
template <class P>
NumberOf<P> looked_up(const std::uint32_t (&table)[32], MaskOf<P> at) {
  return NumberOf<P>(
      _mm512_maskz_permutex2var_epi32(0xaaaa, _mm512_load_si512(table), __m512i(at), _mm512_load_si512(table + 16)));
}
template <class P>
NumberOf<P> looked_up(const double (&table)[16], MaskOf<P> at) {
  return NumberOf<P>(_mm512_permutex2var_pd(_mm512_load_pd(table), __m512i(at), _mm512_load_pd(table + 8)));
}
#else
#if defined(EIGEN_VECTORIZE_AVX2)
template <class P>
NumberOf<P> looked_up(const float (&table)[16], MaskOf<P> at) {
  const __m256i i = __m256i(at);
  return NumberOf<P>(_mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_load_ps(table), i),
                                      _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), i),
                                      _mm256_castsi256_ps(_mm256_slli_epi32(i, 28))));
}
#endif
/// As many lowest bits of `at` count as the table has entries.
template <class P, int kCount>
NumberOf<P> looked_up(const double (&table)[kCount], MaskOf<P> at) {
  at &= kCount - 1;
  NumberOf<P> y;
  for (int l = 0; l < static_cast<int>(sizeof(P) / sizeof(double)); ++l) y[l] = table[at[l]];
  return y;
}
#endif

// snippet Pow: pow_tables <cmath>

/// |x|^y = 2^(y log2 |x|), the logarithm and its product with y in two parts. |x| = m 2^k; a reciprocal c of m from a
/// table leaves log2 m = log2(1 + r) - log2 c with r = m c - 1 exact and small. Without fused products the C library's
/// function is faster than this is, on two lanes; float32 without a table in registers is computed in float64.
struct Pow {
  template <class T>
  static T library(T x, T y) {
    return std::pow(x, y);
  }
  template <class P>
  struct Pair {
    NumberOf<P> value;
    NumberOf<P> rest;
  };
  /// ln(1 + r) in units of log 2; `terms` are those behind r - r^2 / 2.
  template <class P, int kCount>
  static Pair<P> log2_near_1(NumberOf<P> r, const ElementOf<P> (&terms)[kCount]) {
    using N = NumberOf<P>;
    constexpr bool wide = sizeof(ElementOf<P>) == 8;
    const N unit = N{} + (wide ? ElementOf<P>(0x1.71547652b82fep+0) : ElementOf<P>(1.44269502F));
    const N unit_lost = N{} + (wide ? ElementOf<P>(0x1.777d0ffda0d24p-56) : ElementOf<P>(1.925963e-08F));
    const N minus_half = r * ElementOf<P>(-0.5);
    const N log = fused<P>(minus_half, r, r);
    const N log_lost = fused<P>(minus_half, r, r - log);
    const N z = r * r;
    const N rest = fused<P>(z * r, polynomial<P>(terms, r), log_lost);
    const N value = log * unit;
    return {value, fused<P>(rest, unit, fused<P>(log, unit_lost, fused<P>(log, unit, -value)))};
  }
  /// Of positive normal numbers.
  template <class P>
  static Pair<P> log2_of(NumberOf<P> x, NumberOf<P> shift) {
    using N = NumberOf<P>;
    using U = typename Vectors<P>::Unsigned;
    N k;
    N lost;
    Pair<P> log;
    if constexpr (sizeof(ElementOf<P>) == 8) {
      constexpr double terms[] = {-0x1.99f7b9558215ep-4, 0x1.c7831fd1b8463p-4,  -0x1.fffff7e481cabp-4,
                                  0x1.249244b87f13ap-3,  -0x1.5555555571ef0p-3, 0x1.99999999b8ccdp-3,
                                  -0x1.ffffffffffffep-3, 0x1.5555555555554p-2};
      const U from = U(x) - 0x3fe6c00000000000U;
      const N m = N(U(x) - (from & 0xfff0000000000000U));
#if defined(EIGEN_VECTORIZE_AVX512)
      k = N(_mm512_cvtepi64_pd(__m512i(MaskOf<P>(from) >> 52))) + shift;
      const auto at = MaskOf<P>(from >> 15);
      const N c = looked_up<P>(kWideLogs[0], at);
      k += looked_up<P>(kWideLogs[1], at);
      lost = looked_up<P>(kWideLogs[2], at) + looked_up<P>(kWideLogs[3], at);
#else
      k = N((((from + 0x4000000000000000U) >> 52) | 0x4330000000000000U)) - (4503599627370496.0 + 1024.0) + shift;
      const auto at = MaskOf<P>(from >> (52 - kWideLogBits));
      const N c = looked_up<P>(kWideLogs[0], at);
      k += looked_up<P>(kWideLogs[1], at);
      lost = looked_up<P>(kWideLogs[2], at);
#endif
      log = log2_near_1<P>(fused<P>(m, c, N{} - 1.0), terms);
    } else {
#if defined(EIGEN_VECTORIZE_AVX2)
#if defined(EIGEN_VECTORIZE_AVX512)
      constexpr float terms[] = {-0.16673397F, 0.20007692F, -0.25F, 0.3333333F};
#else
      constexpr float terms[] = {-0.1669304F, 0.20030141F, -0.24999993F, 0.33333325F};
#endif
      const U from = U(x) - (0x3f800000U - ((kLogBits == 5 ? 37U : 19U) << (22 - kLogBits)));
      const N m = N(U(x) - (from & 0xff800000U));
      const auto at = MaskOf<P>(from >> (23 - kLogBits));
      const N c = looked_up<P>(kLogs[0], at);
      k = __builtin_convertvector(MaskOf<P>(from) >> 23, N) + shift;
      k += looked_up<P>(kLogs[1], at);
      lost = looked_up<P>(kLogs[2], at);
      log = log2_near_1<P>(fused<P>(m, c, N{} - 1.0F), terms);
#endif
    }
    const N value = k + log.value;
    return {value, ((k - value) + log.value) + (log.rest + lost)};
  }
  /// 2^(e + rest). Not `far`: the result is normal.
  template <class P>
  static NumberOf<P> exp2_of(NumberOf<P> e, NumberOf<P> rest, [[maybe_unused]] bool far) {
    using N = NumberOf<P>;
    if constexpr (sizeof(ElementOf<P>) == 8) {
      constexpr double terms[] = {0x1.430a1d08ec685p-13, 0x1.5d897e525c21cp-10, 0x1.3b2ab6fb41213p-7,
                                  0x1.c6b08d6f2a289p-5,  0x1.ebfbdff82c590p-3,  0x1.62e42fefa39f3p-1};
      const N whole = (e + rest) + 0x1.8p+48;  // sixteenths in the last bits
      const N n = whole - 0x1.8p+48;
      const N f = (e - n) + rest;
      const N power = looked_up<P>(kPowers[0], MaskOf<P>(whole));
      const N bent = fused<P>(f, polynomial<P>(terms, f), looked_up<P>(kPowers[1], MaskOf<P>(whole)));
      const N y = fused<P>(power, bent, power);
#if defined(EIGEN_VECTORIZE_AVX512)
      return N(_mm512_scalef_pd(__m512d(y), __m512d(n)));
#else
      using U = typename Vectors<P>::Unsigned;  // sums of a NaN's bits may pass what signed ones hold
      const MaskOf<P> by = (MaskOf<P>(whole) - MaskOf<P>(N{} + 0x1.8p+48)) >> 4;
      if (__builtin_expect(!far, 1)) return N(U(y) + (U(by) << 52));
      // In two steps, for results that are subnormal: only the second rounds.
      const MaskOf<P> most = by > 0 ? (by < 1000 ? by : MaskOf<P>{} + 1000) : (by > -1000 ? by : MaskOf<P>{} - 1000);
      return N(U(y) + (U(most) << 52)) * N(U(by - most + 1023) << 52);
#endif
    } else {
      constexpr float terms[] = {1.5326464e-4F, 1.3390806e-3F, 9.618506e-3F, 5.55036e-2F,
                                 0.24022648F,   0.6931472F,    1.0F};
      const N whole = (e + rest) + kWhole;
      const N n = whole - kWhole;
      const N y = polynomial<P>(terms, (e - n) + rest);
      return N(scaled(P(y), P(n), P(whole), far));
    }
  }
  /// The sign of the result and its cases: C's (ISO/IEC 9899, F.10.4.4).
  template <class P>
  static NumberOf<P> finished(NumberOf<P> power, NumberOf<P> x, NumberOf<P> y) {
    using N = NumberOf<P>;
    using T = ElementOf<P>;
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T ones = sizeof(T) == 8 ? T(4503599627370496.0) : T(8388608.0);  // from here on a number's last bit is 1
    const N a = magnitude<P>(y);
    const N whole = a + ones;
    const auto large = a >= ones;
    const auto integer = large | (whole - ones == a);
    const auto odd = integer & (a < 2 * ones) & (((large ? MaskOf<P>(a) : MaskOf<P>(whole)) & 1) != 0);
    N r = signed_by<P>(power, sign_of<P>(x) & odd);
    r = chosen<P>((x < T(0)) & (x != -infinity) & ~integer, N{} + std::numeric_limits<T>::quiet_NaN(), r);
    r = chosen<P>((x != x) | (y != y), x + y, r);
    return chosen<P>((y == T(0)) | (x == T(1)), N{} + T(1), r);
  }
  template <class P>
  static P by_logarithm(P base, P exponent) {
    using N = NumberOf<P>;
    using T = ElementOf<P>;
    using U = typename Vectors<P>::Unsigned;
    using Limits = std::numeric_limits<T>;
    constexpr bool wide = sizeof(T) == 8;
    constexpr auto least = wide ? 0x0010000000000000U : 0x00800000U;   // the smallest normal number's bits
    constexpr auto normal = wide ? 0x7fe0000000000000U : 0x7f000000U;  // less than infinity's, from there on
    constexpr auto most = wide ? 0x408fe80000000000U : 0x42fa0000U;    // 1021; 125
    constexpr auto no_sign = wide ? 0x7fffffffffffffffU : 0x7fffffffU;
    const N x = N(base);
    const N y = N(exponent);
    const N a = magnitude<P>(x);
    Pair<P> log = log2_of<P>(a, N{});
    N e = y * log.value;
    N rest = fused<P>(y, log.rest, fused<P>(y, log.value, -e));
    // Any base that is not positive and normal, any power that is not normal, any NaN?
    using W = typename Vectors<P>::Word;
    const bool rare = any_from<P>(U(x) - W(least), W(normal), U(e) & W(no_sign), W(most));
    if (__builtin_expect(!rare, 1)) return P(exp2_of<P>(e, rest, false));
    const auto tiny = a < Limits::min();
    if (any<P>(tiny)) {
      constexpr T scale = wide ? T(0x1p54) : T(0x1p25);
      log = log2_of<P>(chosen<P>(tiny, a * scale, a), chosen<P>(tiny, N{} - (wide ? T(54) : T(25)), N{}));
    }
    const N limit = chosen<P>(a == T(0), N{} - Limits::infinity(),
                              chosen<P>(a == Limits::infinity(), N{} + Limits::infinity(), log.value));
    e = chosen<P>(limit == T(0), N{}, y * limit);
    rest = fused<P>(y, log.rest, fused<P>(y, log.value, -e));
    constexpr T far = wide ? T(1100) : T(200);
    rest = chosen<P>((magnitude<P>(e) < far) & (limit != T(0)), rest, N{});
    e = chosen<P>(e < -far, N{} - far, chosen<P>(e > far, N{} + far, e));
    return P(finished<P>(exp2_of<P>(e, rest, true), x, y));
  }
  /// float32 in float64.
  template <class P>
  static P wide(P base, P exponent) {
    return by_logarithm(base, exponent);
  }
  template <class P>
  static P of(P x, P y) {
#if defined(EIGEN_VECTORIZE_AVX2) || defined(EIGEN_VECTORIZE_AVX512)
    constexpr bool in_registers = true;
#else
    constexpr bool in_registers = false;
#endif
    if constexpr (!kFused) {
      return by_library<Pow>(MaskOf<P>{} - 1, x, x, y);
    } else if constexpr (sizeof(ElementOf<P>) == 4 && !in_registers) {
      return in_doubles<Pow>(x, y);
    } else {
      return by_logarithm(x, y);
    }
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
