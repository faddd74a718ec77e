// tan and atan2 over packets of float32 and float64. Without fused products float32 is computed in float64.
#pragma once

#include "ops/functions/vectors.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

// snippet turns: vectors

/// x - n pi/2 as a sum of two numbers, for |x| up to kMostTurns. Without fused products
/// the parts of pi/2 have 33 bits, so that their products with n are exact; and so is each first difference.
constexpr double kMostTurns = 1647000.0;
template <class P>
struct Turned {
  NumberOf<P> rest;
  NumberOf<P> lost;
  MaskOf<P> turns;  // n in the last bits
};
template <class P>
Turned<P> without_quarter_turns(NumberOf<P> x) {
  using N = NumberOf<P>;
  const N whole = fused<P>(x, N{} + 0.6366197723675814, N{} + 6755399441055744.0);  // 1.5 * 2^52: n is in its last bits
  const N n = whole - 6755399441055744.0;
  const MaskOf<P> turns = MaskOf<P>(whole);
  if constexpr (kFused) {
    // The first difference is a multiple of 2^-53 below 1, and exact.
    const N first = fused<P>(n, N{} - 0x1.921fb54442d18p+0, x);
    const N second = n * -0x1.1a62633145c07p-54;
    const N rest = first + second;
    const N lost = fused<P>(n, N{} + 0x1.f1976b7ed8fbcp-110, fused<P>(n, N{} - 0x1.1a62633145c07p-54, -second));
    return {rest, (second - (rest - first)) + lost, turns};
  } else {
    const N first = x - n * 0x1.921fb544p+0;
    const N second = n * 0x1.0b4611a6p-34;
    const N third = n * 0x1.3198a2e037073p-69;
    const N both = first - second;
    const N back = both - first;
    const N rest = both - third;
    const N back_again = rest - both;
    return {rest, (first - (both - back)) - (second + back) + ((both - (rest - back_again)) - (third + back_again)),
            turns};
  }
}

// snippet Tan: turns float_math <cmath>

/// tan by range reduction, with r = |x| minus a multiple of pi/2: sin(r)/cos(r) for even multiples, -cos(r)/sin(r) for
/// odd ones. float32: a polynomial p(r), or -1/p(r). From 1e5 on in float32, and kMostTurns on in float64, it calls the
/// C library.
struct Tan {
  template <class T>
  static T library(T x) {
    return std::tan(x);
  }
  /// In float64, right to float32.
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    const N x = N(packet);
    constexpr double sines[] = {0x1.6dbd81c32f5b3p-19, -0x1.a013a5f4d59a2p-13, 0x1.11110dedfad55p-7,
                                -0x1.555555545d8c5p-3};
    constexpr double cosines[] = {
        -0x1.2523f45c8e0dfp-22, 0x1.a015c3688ddedp-16, -0x1.6c16bf5419fb1p-10, 0x1.5555555502a51p-5, -0.5, 1.0};
    const N a = magnitude<P>(x);
    const N whole = fused<P>(a, N{} + 0.6366197723675814, N{} + 6755399441055744.0);
    const N n = whole - 6755399441055744.0;
    const N r = (a - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
    const N z = r * r;
    const N sine = fused<P>(r * z, polynomial<P>(sines, z), r);
    const N cosine = polynomial<P>(cosines, z);
    return P(quotient<P>(sine, cosine, MaskOf<P>(whole), x));
  }
  /// Of r, with the signs of the number of quarter turns and of x.
  template <class P>
  static NumberOf<P> quotient(NumberOf<P> sine, NumberOf<P> cosine, MaskOf<P> turns, NumberOf<P> x) {
    const auto odd = (turns & 1) != 0;
    const NumberOf<P> y = chosen<P>(odd, cosine, sine) / chosen<P>(odd, sine, cosine);
    return signed_by<P>(y, sign_of<P>(x) ^ (turns << (8 * sizeof(ElementOf<P>) - 1)));
  }
  /// In float32, with what r lacks.
  template <class P>
  static P narrow(P packet) {
    using N = NumberOf<P>;
    constexpr float sines[] = {-1.9518276e-4F, 8.332189e-3F, -0.16666655F};
    constexpr float cosines[] = {2.4432327e-5F, -1.388731e-3F, 4.1666646e-2F, -0.5F};
    const N x = N(packet);
    const N a = magnitude<P>(x);
    const N whole = fused<P>(a, N{} + 0.636619772F, N{} + kWhole);
    const N n = whole - kWhole;
    const N first = fused<P>(n, N{} - 1.57079637F, a);
    const N second = n * 4.37113883e-8F;
    const N r = first + second;
    const N lost =
        (second - (r - first)) + fused<P>(n, N{} + 1.71512451e-15F, fused<P>(n, N{} + 4.37113883e-8F, -second));
    const N z = r * r;
    const N sine = r + fused<P>(r * z, polynomial<P>(sines, z), lost);
    const N cosine = fused<P>(r, fused<P>(r, polynomial<P>(cosines, z), -lost), N{} + 1.0F);
    return P(quotient<P>(sine, cosine, MaskOf<P>(whole), x));
  }
  template <class P>
  static P near_zero(P x) {
    if constexpr (sizeof(ElementOf<P>) == 8) {
      return precise(x);
    } else if constexpr (kFused) {
      return narrow(x);
    } else {
      return in_doubles<Tan>(x);
    }
  }
  template <class P>
  static P precise(P packet) {
    using N = NumberOf<P>;
    constexpr double sines[] = {0x1.5e0b19c4eccadp-33,  -0x1.ae600b0226713p-26, 0x1.71de379689862p-19,
                                -0x1.a01a019e83aa8p-13, 0x1.1111111110bb2p-7,   -0x1.5555555555555p-3};
    constexpr double cosines[] = {-0x1.907d3e33749eap-37, 0x1.1eeb685cba14bp-29,  -0x1.27e4fa17532cap-22,
                                  0x1.a01a019f4e48p-16,   -0x1.6c16c16c16965p-10, 0x1.5555555555555p-5};
    const N x = N(packet);
    const Turned<P> t = without_quarter_turns<P>(magnitude<P>(x));
    const N r = t.rest;
    const N z = r * r;
    const N less = fused<P>(z, N{} - 0.5, N{} + 1.0);
    const N bent = fused<P>(r * z, polynomial<P>(sines, z), t.lost);
    const N sine = r + bent;
    const N sine_lost = (r - sine) + bent;
    const N less_lost = fused<P>(z, N{} - 0.5, 1.0 - less);
    const N curved = fused<P>(z * z, polynomial<P>(cosines, z), fused<P>(-r, t.lost, less_lost));
    const N cosine = less + curved;
    const N cosine_lost = (less - cosine) + curved;
    if constexpr (kFused) {
      // One correction step: adds (remainder of the division, with the low parts of both numbers) * reciprocal.
      const auto odd = (t.turns & 1) != 0;
      const N above = chosen<P>(odd, cosine, sine);
      const N below = chosen<P>(odd, sine, cosine);
      const N inverse = 1.0 / below;
      const N y = above * inverse;
      const N rest = fused<P>(-y, below, above) +
                     fused<P>(-y, chosen<P>(odd, sine_lost, cosine_lost), chosen<P>(odd, cosine_lost, sine_lost));
      return P(signed_by<P>(fused<P>(rest, inverse, y), sign_of<P>(x) ^ (t.turns << 63)));
    } else {
      return P(quotient<P>(sine, cosine, t.turns, x));
    }
  }
  template <class P>
  static P of(P x) {
    using N = NumberOf<P>;
    const P y = near_zero(x);
    using U = typename Vectors<P>::Unsigned;
    // The bits of 1e5 and kMostTurns.
    constexpr auto limit = sizeof(ElementOf<P>) == 4 ? 0x47c35000U : 0x4139219800000000U;
    const N a = magnitude<P>(N(x));
    if (__builtin_expect(!any_from<P>(U(a), typename Vectors<P>::Word(limit + 1)), 1)) return y;
    const auto far = ~(a <= static_cast<ElementOf<P>>(sizeof(ElementOf<P>) == 4 ? 1e5 : kMostTurns));  // or NaN
    return by_library<Tan>(far, y, x);
  }
};

// snippet Atan2: vectors <cmath>

/// The angle whose tangent is the smaller of |y| and |x| over the larger, in float64 by way of that of the difference
/// from pi/4 where it is above tan(pi/8); mirrored at the diagonal, at the axis of y, at that of x.
struct Atan2 {
  template <class T>
  static T library(T y, T x) {
    return std::atan2(y, x);
  }
  /// Both numbers so that infinite ones stand for themselves, on the diagonal.
  template <class P>
  struct Sorted {
    NumberOf<P> small;
    NumberOf<P> large;
    MaskOf<P> steep;  // |y| > |x|
    MaskOf<P> near;   // the angle between the diagonal and the nearest axis is below pi/8
  };
  template <class P>
  static Sorted<P> sorted(NumberOf<P> y, NumberOf<P> x) {
    using N = NumberOf<P>;
    Sorted<P> s;
    const N height = magnitude<P>(y);
    const N length = magnitude<P>(x);
    s.steep = height > length;
    s.small = chosen<P>(s.steep, length, height);
    s.large = chosen<P>(s.steep, height, length);
    const auto both = s.small == std::numeric_limits<double>::infinity();
    s.small = chosen<P>(both, N{} + 1.0, s.small);
    s.large = chosen<P>(both | (s.large == 0.0), N{} + 1.0, s.large);
    s.near = s.small > s.large * 0.41421356237309503;
    return s;
  }
  /// NaN where either is.
  template <class P>
  static NumberOf<P> finished(NumberOf<P> angle, NumberOf<P> y, NumberOf<P> x) {
    return chosen<P>((y != y) | (x != x), y + x, signed_by<P>(angle, sign_of<P>(y)));
  }
  /// In float64, right to float32.
  template <class P>
  static P wide(P height, P length) {
    using N = NumberOf<P>;
    const N y = N(height);
    const N x = N(length);
    constexpr double angles[] = {-0x1.4b38919e76999p-5, 0x1.24434e7093e8ap-4,  -0x1.71d3c103fc8a6p-4,
                                 0x1.c6f687376a425p-4,  -0x1.2491c08b2c4adp-3, 0x1.999998259546fp-3,
                                 -0x1.5555555502188p-2};
    constexpr double pi = 0x1.921fb54442d18p+1;
    const Sorted<P> s = sorted<P>(y, x);
    const N t = chosen<P>(s.near, s.small - s.large, s.small) / chosen<P>(s.near, s.small + s.large, s.large);
    const N z = t * t;
    N angle = fused<P>(t * z, polynomial<P>(angles, z), t);
    angle = chosen<P>(s.near, angle + pi / 4, angle);
    angle = chosen<P>(s.steep, pi / 2 - angle, angle);
    angle = chosen<P>(sign_of<P>(x) != 0, pi - angle, angle);
    return P(finished<P>(angle, y, x));
  }
  template <class P>
  static P precise(P height, P length) {
    using N = NumberOf<P>;
    constexpr double angles[] = {0x1.0ad369b974d34p-6,  -0x1.1b33b8e48b4f8p-5, 0x1.74ddd3f02fee2p-5,
                                 -0x1.ac7a938608499p-5, 0x1.e19a13b94164ap-5,  -0x1.110e880a722fdp-4,
                                 0x1.3b1392d9e711dp-4,  -0x1.745d165df3f55p-4, 0x1.c71c71c304b67p-4,
                                 -0x1.249249248d7eep-3, 0x1.9999999999953p-3,  -0x1.5555555555555p-2};
    const N y = N(height);
    const N x = N(length);
    Sorted<P> s = sorted<P>(y, x);
    // The larger number is brought near 1, so that nothing below overflows.
    using U = typename Vectors<P>::Unsigned;
    const U exponent = U(s.large) & 0x7ff0000000000000U;
    const U least = exponent < 0x7fd0000000000000U ? exponent : U{} + 0x7fd0000000000000U;
    const N scale = N(0x7fe0000000000000U - least);
    const N small = s.small * scale;
    const N large = chosen<P>(s.large == std::numeric_limits<double>::infinity(), s.large, s.large * scale);
    const N above = chosen<P>(s.near, small - large, small);
    const N below = chosen<P>(s.near, small + large, large);
    N t;
    N lost = N{};
    if constexpr (!kFused) {
      t = above / below;
    } else {
      const N inverse = 1.0 / below;  // 0 of an infinity
      t = above * inverse;
      const N above_lost = chosen<P>(s.near, small - (above + large), N{});
      const N below_lost = chosen<P>(s.near, small - (below - large), N{});
      const N rest = fused<P>(-t, below, above) + (above_lost - t * below_lost);
      const auto tiny = ~(magnitude<P>(t) > 0x1p-960);  // where the rest would be subnormal
      lost = chosen<P>(tiny, N{}, rest * inverse);
      if (__builtin_expect(any<P>(tiny), 0)) t = chosen<P>(tiny, above / below, t);
    }
    const N z = t * t;
    const N bent = fused<P>(t * z, polynomial<P>(angles, z), lost);
    // Quarters of pi to add, and whether the angle counts down from them. The first part of pi/4 has 50 bits.
    const auto left = sign_of<P>(x) != 0;
    const N eighths = chosen<P>(s.near, N{} + 1.0, N{});
    const N upper = chosen<P>(s.steep, 2.0 - eighths, eighths);
    const N quarters = chosen<P>(left, 4.0 - upper, upper);
    const auto down = sign_of<P>(chosen<P>(s.steep ^ left, N{} - 1.0, N{} + 1.0));
    const N turn = quarters * 0x1.921fb54442d18p-1;
    const N step = signed_by<P>(t, down);
    const N angle = turn + step;
    const N rest = ((turn - angle) + step) + fused<P>(quarters, N{} + 0x1.1a62633145c07p-55, signed_by<P>(bent, down));
    return P(finished<P>(chosen<P>(quarters == 0.0, t + bent, angle + rest), y, x));
  }
  /// In float32, by one polynomial up to the diagonal.
  template <class P>
  static P narrow(P height, P length) {
    using N = NumberOf<P>;
    constexpr float angles[] = {0.00148869189F, -0.00914462935F, 0.0263050012F, -0.0489605144F, 0.0703191459F,
                                -0.089318268F,  0.110882618F,    -0.142840043F, 0.199999496F,   -0.333333343F};
    const N y = N(height);
    const N x = N(length);
    const N h = magnitude<P>(y);
    const N l = magnitude<P>(x);
    const auto steep = h > l;
    N small = chosen<P>(steep, l, h);
    N large = chosen<P>(steep, h, l);
    const auto both = small == std::numeric_limits<float>::infinity();
    small = chosen<P>(both, N{} + 1.0F, small);
    large = chosen<P>(both | (large == 0.0F), N{} + 1.0F, large);
    const N t = small / large;
    const N z = t * t;
    const N bent = polynomial<P>(angles, z) * (t * z);
    // Quarters of a turn to add, in two parts, and whether the angle counts down from them.
    const auto left = sign_of<P>(x);
    const N quarters = chosen<P>(steep, N{} + 1.0F, chosen<P>(left != 0, N{} + 2.0F, N{}));
    const auto down = left ^ sign_of<P>(chosen<P>(steep, N{} - 1.0F, N{} + 1.0F));
    const N turn = quarters * 1.57079637F;
    const N step = signed_by<P>(t, down);
    const N angle = turn + step;
    const N rest = ((turn - angle) + step) + fused<P>(quarters, N{} - 4.37113883e-8F, signed_by<P>(bent, down));
    return P(finished<P>(chosen<P>(quarters == 0.0F, t + bent, angle + rest), y, x));
  }
  template <class P>
  static P of(P y, P x) {
    if constexpr (sizeof(ElementOf<P>) == 8) {
      return precise(y, x);
    } else if constexpr (kFused) {
      return narrow(y, x);
    } else {
      return in_doubles<Atan2>(y, x);
    }
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
