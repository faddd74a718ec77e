// float32 functions over packets. They branch only if an argument is outside of the usual range. element.hpp explains
// the lines `// snippet NAME: OTHERS`.
//
// The polynomials for e^r, 2^r and the others minimise the largest error. Their coefficients were rounded to float32
// one after the other, and after each rounding the remaining ones were fitted again.
#pragma once

#include "ops/level.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

namespace ei = Eigen::internal;

template <class P>
P splat(typename ei::unpacket_traits<P>::type x) {
  return ei::pset1<P>(x);
}

// snippet float_math: packets

// x + 1.5 * 2^23 has the whole number nearest to x in its lowest bits.
constexpr float kWhole = 12582912.0F;

/// y * 2^n where both are normal numbers; `whole` is kWhole + n.
template <class P>
P with_exponent(P y, P whole) {
  using I = typename ei::unpacket_traits<P>::integer_packet;
  return ei::preinterpret<P>(ei::padd(ei::preinterpret<I>(y), ei::plogical_shift_left<23>(ei::preinterpret<I>(whole))));
}

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

// For arguments so large that y * 2^n is 0, infinite or subnormal:
#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
bool beyond(P, float) {
  return false;
}
template <class P>
P within(P x, float, float) {
  return x;
}
/// r if |r| < 1/2. Else n is huge, infinite or NaN; the result is too, provided that r is a number.
template <class P>
P bounded_rest(P r) {
#if defined(EIGEN_VECTORIZE_AVX512DQ)
  return _mm512_range_ps(r, splat<P>(0.5F), 2);
#else
  return _mm512_max_ps(_mm512_min_ps(r, splat<P>(0.5F)), splat<P>(-0.5F));
#endif
}
/// y * 2^n for any n, infinities and NaN too, rounded once where that is subnormal.
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
// 2 to this power is 0. Processors compute it fast, while results near the smallest numbers take a hundred times as
// long.
constexpr float kFarOut = -245.0F;
/// x, at most `high`. Below `low`, where the result is 0, a number that gives 0 fast. NaN stays NaN.
template <class P>
P within(P x, float low, float high) {
  const P y = ei::pmin(x, splat<P>(high));
  return less(y, splat<P>(low), splat<P>(0.69F * kFarOut), y);
}
template <class P>
P bounded_rest(P r) {
  return r;
}
/// y * 2^n, rounded once if it is subnormal; `whole` is kWhole + n. If `far` is false, the result is normal.
template <class P>
P scaled(P y, P n, P whole, bool far) {
  if (__builtin_expect(!far, 1)) return with_exponent(y, whole);
  const P half = ei::pmadd(n, splat<P>(0.5F), splat<P>(kWhole));
  const P rest = ei::padd(ei::psub(n, ei::psub(half, splat<P>(kWhole))), splat<P>(kWhole));
  const P z = ei::pmul(with_exponent(y, half), with_exponent(splat<P>(1.0F), rest));
  return ei::pselect(ei::pcmp_eq(y, y), z, y);
}
#endif

// snippet exp_tail: float_math

constexpr float kLog2E = 1.44269504F;
// ln 2 in two parts; whole numbers of 9 bits times the first are exact.
constexpr float kLn2 = 0.693359375F;
constexpr float kLn2Rest = -2.12194440e-4F;

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

// snippet exp_float: exp_tail

/// e^x = 2^n e^r.
template <class P>
P exp_float(P x) {
  const bool far = beyond(x, 87.0F);
  if (__builtin_expect(far, 0)) x = within(x, -104.0F, 89.0F);
  const P whole = ei::pmadd(x, splat<P>(kLog2E), splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = bounded_rest(without_ln2(x, n));
  P y = ei::pmadd(exp_tail(r), r, splat<P>(1.0F));
  y = ei::pmadd(y, r, splat<P>(1.0F));
  return scaled(y, n, whole, far);
}

// snippet exp2_float: float_math

/// 2^x = 2^n 2^r.
template <class P>
P exp2_float(P x) {
  const bool far = beyond(x, 125.0F);
  if (__builtin_expect(far, 0)) x = within(x, -151.0F, 129.0F);
  const P whole = ei::padd(x, splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = bounded_rest(ei::psub(x, n));
  P y = ei::pmadd(splat<P>(1.5326464e-4F), r, splat<P>(1.3390806e-3F));
  y = ei::pmadd(y, r, splat<P>(9.618506e-3F));
  y = ei::pmadd(y, r, splat<P>(5.55036e-2F));
  y = ei::pmadd(y, r, splat<P>(0.24022648F));
  y = ei::pmadd(y, r, splat<P>(0.6931472F));
  y = ei::pmadd(y, r, splat<P>(1.0F));
  return scaled(y, n, whole, far);
}

// snippet entries: float_math

// Polynomials by interval, for instruction sets whose registers can hold tables. The intervals divide u = a * scale +
// first, each power of 2 into the same number, so that a row of the table covers u up to 16 times its smallest value.
// For each interval a table holds a point of it (0 in the first) and the coefficients of a polynomial in the distance
// from that point. The point is chosen so that rounding the first coefficient loses almost nothing. The lowest bits of
// u's exponent and the highest of its mantissa are the index.
#if defined(EIGEN_VECTORIZE_AVX512)
#define ORIEL_INTERVALS 32
template <class P>
__m512i interval(P u) {
  return _mm512_srli_epi32(_mm512_castps_si512(u), 20);
}
/// Each lane's entry; the lowest five bits of a lane of `at` count.
template <class P>
P entry(const float (&row)[32], __m512i at) {
  return _mm512_permutex2var_ps(_mm512_load_ps(row), at, _mm512_load_ps(row + 16));
}
/// y, which is not negative, with the sign of x.
template <class P>
P with_sign(P y, P x) {
  constexpr int kFirstOrBoth = 0xf8;  // of y | (x & sign)
  const __m512i sign = _mm512_castps_si512(splat<P>(-0.0F));
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(y), _mm512_castps_si512(x), sign, kFirstOrBoth));
}
#elif defined(EIGEN_VECTORIZE_AVX2) && defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
#define ORIEL_INTERVALS 8
template <class P>
__m256i interval(P u) {
  return _mm256_srli_epi32(_mm256_castps_si256(u), 22);
}
/// Each lane's entry; the lowest three bits of a lane of `at` count.
template <class P>
P entry(const float (&row)[8], __m256i at) {
  return _mm256_permutevar8x32_ps(_mm256_load_ps(row), at);
}
template <class P>
P with_sign(P y, P x) {
  return ei::por(y, ei::pand(x, splat<P>(-0.0F)));
}
#endif

#if defined(ORIEL_INTERVALS)
/// The polynomial in t less its first coefficient, over t.
template <class P, class I, int kRows>
P slope(const float (&table)[kRows][ORIEL_INTERVALS], I at, P t) {
  P y = entry<P>(table[kRows - 1], at);
  for (int k = kRows - 2; k > 1; --k) y = ei::pmadd(y, t, entry<P>(table[k], at));
  return y;
}
#endif

// snippet tanh_float: exp_tail entries

#if defined(EIGEN_VECTORIZE_AVX512)
constexpr float kTanhScale = 1.4549543F;
constexpr float kTanhFirst = 0.875F;
alignas(64) constexpr float kTanh[6][32] = {
    {0.86143F,    1.0346427F,  1.2063918F,  1.3738451F,  1.5493593F,  1.7190857F,  1.8854825F, 2.0655897F,
     2.320146F,   2.6551127F,  2.9998577F,  3.3561883F,  3.6894627F,  4.0359535F,  4.3806987F, 4.7332454F,
     5.2451305F,  5.9324274F,  6.634134F,   7.3103256F,  7.9711866F,  8.664333F,   0.0F,       0.063745566F,
     0.13033606F, 0.21659158F, 0.29847974F, 0.38781342F, 0.47359094F, 0.55933553F, 0.6464555F, 0.7294587F},
    {0.6969937F,  0.7757637F,  0.8355939F,  0.87956554F, 0.9136797F,  0.93775284F, 0.9549772F, 0.9683801F,
     0.9808749F,  0.99016696F, 0.99505335F, 0.9975714F,  0.99875224F, 0.9993758F,  0.9996867F, 0.9998452F,
     0.9999444F,  0.99998593F, 0.99999654F, 0.9999991F,  0.99999976F, 0.99999994F, 0.0F,       0.06365936F,
     0.12960301F, 0.21326704F, 0.28992075F, 0.36947367F, 0.44109616F, 0.50748426F, 0.569279F,  0.62273407F},
    {0.5142008F,    0.3981914F,     0.30178326F,    0.22636463F,   0.16518939F,   0.12061955F,   0.08801845F,
     0.062239915F,  0.037883434F,   0.019568803F,   0.009868506F,  0.0048511135F, 0.0024938826F, 0.0012479251F,
     0.0006264431F, 0.00030955148F, 0.00011115185F, 2.8116208e-5F, 6.9099547e-6F, 1.7870634e-6F, 4.7657238e-7F,
     1.1914438e-7F, 1.0F,           0.9959475F,     0.98320293F,   0.95451707F,   0.9159459F,    0.8634892F,
     0.8054342F,    0.7424598F,     0.67592144F,    0.61220235F},
    {-0.35839823F,   -0.30890706F,    -0.252171F,      -0.19910267F,   -0.1509305F,   -0.113111414F,  -0.08405629F,
     -0.0602715F,    -0.037159156F,   -0.019378543F,   -0.009820702F,  -0.00483897F,  -0.0024909568F, -0.0012471916F,
     -0.0006262592F, -0.00030946604F, -0.00011112496F, -2.8110797e-5F, -6.902206e-6F, -1.7862642e-6F, -4.771197e-7F,
     -1.1924833e-7F, 1.6331916e-6F,   -0.063401155F,   -0.12742302F,   -0.20356555F,  -0.26555222F,   -0.31903625F,
     -0.35527387F,   -0.37678763F,    -0.38478863F,    -0.3812389F},
    {0.07784354F,    0.1065219F,    0.10990253F,    0.0995813F,    0.08283133F,   0.06589411F,   0.050973315F,
     0.037662156F,   0.02395657F,   0.012744318F,   0.0065262993F, 0.0032335438F, 0.0016684267F, 0.0008365185F,
     0.00042032814F, 0.0002077719F, 7.63466e-5F,    1.9314353e-5F, 4.743798e-6F,  1.2274221e-6F, 3.2715025e-7F,
     8.179146e-8F,   -0.33358428F,  -0.32788005F,   -0.31095046F,  -0.2745503F,   -0.22818975F,  -0.1699331F,
     -0.11183415F,   -0.05637215F,  -0.0063715116F, 0.033196248F},
    {0.06563129F,     0.02107003F,     -0.0073153647F, -0.02119174F,   -0.025293179F,  -0.024042133F,  -0.02050588F,
     -0.01642652F,    -0.011027098F,   -0.006020267F,  -0.0031525283F, -0.0016175951F, -0.0008217408F, -0.00041527045F,
     -0.00020939102F, -0.00010550168F, -3.8423685e-5F, -9.720361e-6F,  -2.4606722e-6F, -6.2257186e-7F, -1.5742415e-7F,
     -3.9782293e-8F,  0.010623416F,    0.041690372F,   0.08114638F,    0.12534784F,    0.15491466F,    0.16883445F,
     0.16759743F,     0.15462786F,     0.13239437F,    0.10607885F},
};
#elif defined(ORIEL_INTERVALS)
constexpr float kTanhScale = 1.2471037F;
constexpr float kTanhFirst = 0.75F;
alignas(32) constexpr float kTanh[9][8] = {
    {1.412216F, 2.2026894F, 3.4405835F, 5.0436316F, 7.5118165F, 0.0F, 0.40305552F, 0.7916417F},
    {0.8879638F, 0.9758717F, 0.9979482F, 0.9999168F, 0.9999994F, 0.0F, 0.38256034F, 0.65933806F},
    {0.21152031F, 0.047674462F, 0.004099301F, 0.00016640687F, 1.1872944e-6F, 1.0F, 0.8536476F, 0.56527334F},
    {-0.1878219F, -0.046523947F, -0.004091555F, -0.00016643202F, -1.2131251e-6F, -7.2400357e-9F, -0.32657143F,
     -0.37270635F},
    {0.09627406F, 0.029509872F, 0.002716978F, 0.000110973626F, 8.2759937e-7F, -0.33333263F, -0.15961769F, 0.057311185F},
    {-0.02289626F, -0.013296514F, -0.0013420812F, -5.5163735e-5F, -3.6328368e-7F, -2.253758e-5F, 0.16988452F,
     0.08646252F},
    {-0.007101827F, 0.004196708F, 0.00052628637F, 2.1909724e-5F, 1.2747698e-7F, 0.13365391F, 0.007299203F,
     -0.06334185F},
    {0.009923533F, -0.00063035253F, -0.00018286465F, -8.060613e-6F, -7.467684e-8F, -0.002176312F, -0.06514452F,
     0.0040501677F},
    {-0.004376816F, -0.00019978793F, 5.0087307e-5F, 2.444365e-6F, 2.6040686e-8F, -0.047841594F, 0.015066874F,
     0.015102662F},
};
#endif

#if defined(ORIEL_INTERVALS)
template <class P>
P tanh_float(P x) {
  const P a = ei::pmin(ei::pabs(x), splat<P>(9.02F));
  const auto at = interval(ei::pmadd(a, splat<P>(kTanhScale), splat<P>(kTanhFirst)));
  const P t = ei::psub(a, entry<P>(kTanh[0], at));
  return with_sign(ei::pmadd(slope(kTanh, at, t), t, entry<P>(kTanh[1], at)), x);
}
#else
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
#endif

// snippet erf_float: entries

// As kTanh. In the first interval the polynomial is that of erf(x) - x: a coefficient near 1 would lose places.
#if defined(EIGEN_VECTORIZE_AVX512)
constexpr float kErfScale = 1.1865902F;
constexpr float kErfFirst = 0.3125F;
constexpr float kErfSecond = 0.34375F;  // where the second interval begins
alignas(64) constexpr float kErf[6][32] = {
    {1.5318997F,  1.7393919F,  1.9429386F,  2.1624286F,  2.3667936F,  2.5849726F,  2.789387F,   3.0050495F,
     3.3127155F,  3.7441094F,  0.0F,        0.03943682F, 0.0653858F,  0.09284521F, 0.11789978F, 0.14464983F,
     0.18318766F, 0.23555869F, 0.29010087F, 0.34102008F, 0.39479464F, 0.44759908F, 0.50062203F, 0.5531289F,
     0.6335525F,  0.7380177F,  0.84029F,    0.9500707F,  1.0543189F,  1.1592257F,  1.2648083F,  1.3709549F},
    {0.9697219F,  0.9861013F,  0.99399906F, 0.9977728F,  0.99918354F, 0.9997435F,   0.9999201F,  0.9999786F,
     0.9999972F,  0.9999999F,  0.0F,        0.04447663F, 0.07367497F, 0.104464345F, 0.1324218F,  0.16208859F,
     0.20441605F, 0.26096407F, 0.31838813F, 0.37038955F, 0.4233768F,  0.4732668F,   0.52104634F, 0.56592786F,
     0.62973577F, 0.70338255F, 0.76530427F, 0.82092315F, 0.86404693F, 0.8988685F,   0.9263383F,  0.9474771F},
    {0.107966915F,   0.05476488F,   0.025881002F, 0.010510728F, 0.0041651316F, 0.0014138632F, 0.00047126415F,
     0.00013505573F, 1.9196948e-5F, 9.089055e-7F, 0.12837917F,  1.1266257F,    1.1235653F,    1.1186941F,
     1.1128027F,     1.1050147F,    1.0911416F,   1.0674732F,   1.0373026F,    1.0044976F,    0.9655276F,
     0.9235201F,     0.87823576F,   0.83096355F,  0.75532556F,  0.6544974F,    0.5569361F,    0.45755798F,
     0.37127745F,    0.29433948F,   0.22787517F,  0.17226271F},
    {-0.16539778F,   -0.09525863F,   -0.050289385F, -0.02272802F, -0.009859687F, -0.0036542066F, -0.0013148685F,
     -0.0004057733F, -6.3969586e-5F, -3.39975e-6F,  9.156904e-7F, -0.04443042F,  -0.07346505F,   -0.103865325F,
     -0.13120157F,   -0.15984024F,   -0.1998838F,   -0.25145242F, -0.30092227F,  -0.34255403F,   -0.38118502F,
     -0.41336673F,   -0.43966416F,   -0.45962995F,  -0.47853845F, -0.4830307F,   -0.46798596F,   -0.43471363F,
     -0.3914453F,    -0.3412061F,    -0.2882187F,   -0.23616494F},
    {0.13276689F,    0.09228795F,    0.05667902F,   0.029429581F,  0.014284332F, 0.0058935294F, 0.0023209148F,
     0.00078205636F, 0.00014793652F, 9.3997405e-6F, -0.37626857F,  -0.37473327F, -0.37140816F,  -0.36635238F,
     -0.36018053F,   -0.3525535F,    -0.33914307F,  -0.31627345F,  -0.2874868F,  -0.25695673F,  -0.22144412F,
     -0.1844311F,    -0.14596896F,   -0.10749495F,  -0.049760688F, 0.01931944F,  0.07629883F,   0.12257356F,
     0.15113868F,    0.16537003F,    0.16690762F,   0.15831567F},
    {-0.04607093F,   -0.048290886F,   -0.037722006F,  -0.02428113F,  -0.013392521F, -0.0064594247F, -0.0027546356F,
     -0.0010472205F, -0.00021126038F, -1.6476382e-5F, 0.0071443073F, 0.019879568F,  0.035708174F,   0.052075982F,
     0.07815741F,    0.0780865F,      0.09769333F,    0.12104393F,   0.1418132F,    0.15852658F,    0.17060636F,
     0.17900673F,    0.18315434F,     0.18290974F,    0.17521691F,   0.15383974F,   0.12297398F,    0.087207F,
     0.05100045F,    0.017979128F,    -0.009334147F,  -0.02953362F},
};
#elif defined(ORIEL_INTERVALS)
constexpr float kErfScale = 1.8985443F;
constexpr float kErfFirst = 0.5F;
constexpr float kErfSecond = 0.75F;
alignas(32) constexpr float kErf[9][8] = {
    {1.0600634F, 1.5692847F, 2.3475935F, 3.4488597F, 0.0F, 0.19857207F, 0.39297813F, 0.66569656F},
    {0.86616683F, 0.9735339F, 0.9990998F, 0.9999989F, 0.0F, 0.22115408F, 0.42162165F, 0.6535191F},
    {0.36679503F, 0.09614746F, 0.004560048F, 7.684104e-6F, 0.12837917F, 1.084752F, 0.9669103F, 0.7244303F},
    {-0.38882637F, -0.15088284F, -0.010701736F, -2.6789086e-5F, 4.3081025e-7F, -0.21540146F, -0.37997457F,
     -0.48225078F},
    {0.15252173F, 0.12580311F, 0.015235364F, 5.9237598e-5F, -0.37616375F, -0.333039F, -0.22276875F, -0.0274488F},
    {0.04879774F, -0.04840871F, -0.014377455F, -8.803897e-5F, 0.0012158153F, 0.10492423F, 0.17042159F, 0.16988704F},
    {-0.06644053F, -0.007359116F, 0.008873702F, 0.00010254296F, 0.0948691F, 0.07897477F, 0.04160304F, -0.03763662F},
    {0.009734022F, 0.016578034F, -0.0027505949F, -0.00012466786F, 0.12250554F, -0.048284456F, -0.050131686F,
     -0.03693003F},
    {0.012657252F, -0.005572053F, -0.00012470446F, 9.57194e-5F, -0.33991554F, 1.475654F, -0.05631898F, 0.034427896F},
};
#endif

#if defined(ORIEL_INTERVALS)
template <class P>
P erf_float(P x) {
  const P a = ei::pmin(ei::pabs(x), splat<P>(3.95F));
  const P u = ei::pmadd(a, splat<P>(kErfScale), splat<P>(kErfFirst));
  const auto at = interval(u);
  const P t = ei::psub(a, entry<P>(kErf[0], at));
  return with_sign(ei::pmadd(slope(kErf, at, t), t, less(u, splat<P>(kErfSecond), a, entry<P>(kErf[1], at))), x);
}
#else
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
#endif

// snippet sine: float_math <cmath>

// |x| - n pi/2. pi/2 is split into parts whose products with n are exact, except the last, up to a limit. Beyond the
// limit the C library computes the function.
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

/// Polynomials for sine and cosine up to pi/4. The number of quarter turns decides which one is used, and the sign.
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

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
