// pow over packets of float32 and float64: the function itself, for the loops over elements and for rendered sources
// (float_math.hpp says how).
#pragma once

#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

// snippet Pow: vectors <cmath>

/// |x|^y = 2^(y log2 |x|), with |x| = m 2^k, m between sqrt(1/2) and sqrt(2), and log2 m a series in (m - 1) / (m + 1).
/// float32 is computed in float64, float64 in pairs of numbers. Without fused products the C library's is faster than
/// this is, on two lanes.
struct Pow {
  template <class T>
  static T library(T x, T y) {
    return std::pow(x, y);
  }
  template <class P>
  struct Split {
    NumberOf<P> k;
    NumberOf<P> m;
  };
  /// Of positive normal numbers.
  template <class P>
  static Split<P> split(NumberOf<P> x) {
    using U = typename Vectors<P>::Unsigned;
    // k + 1024 in the place of the exponent, and then in the last bits of a number.
    const U shifted = U(x) - 0x3fe6a09e667f3bcdU + 0x4000000000000000U;
    const U exponent = shifted & 0xfff0000000000000U;
    return {NumberOf<P>((exponent >> 52) | 0x4330000000000000U) - (4503599627370496.0 + 1024.0),
            NumberOf<P>(U(x) - exponent + 0x4000000000000000U)};
  }
  /// The sign of the result and its cases: C's (ISO/IEC 9899, F.10.4.4).
  template <class P>
  static NumberOf<P> finished(NumberOf<P> power, NumberOf<P> x, NumberOf<P> y) {
    using N = NumberOf<P>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const N a = magnitude<P>(y);
    const N whole = a + 4503599627370496.0;  // 2^52: a number's last bit is 1
    const auto large = a >= 4503599627370496.0;
    const auto integer = large | (whole - 4503599627370496.0 == a);
    const auto odd = integer & (a < 9007199254740992.0) & (((large ? MaskOf<P>(a) : MaskOf<P>(whole)) & 1) != 0);
    N r = signed_by<P>(power, sign_of<P>(x) & odd);
    r = chosen<P>((x < 0.0) & (x != -infinity) & ~integer, N{} + std::numeric_limits<double>::quiet_NaN(), r);
    r = chosen<P>((x != x) | (y != y), x + y, r);
    return chosen<P>((y == 0.0) | (x == 1.0), N{} + 1.0, r);
  }
  /// In float64, right to float32.
  template <class P>
  static P wide(P base, P exponent) {
    using N = NumberOf<P>;
    const N x = N(base);
    const N y = N(exponent);
    constexpr double logs[] = {0x1.f17f267f4d056p-3, 0x1.0bb7fe8aa139ep-2, 0x1.484fa9f30749dp-2, 0x1.a617567fc56e6p-2,
                               0x1.2776c516a1832p-1, 0x1.ec709dc39ca37p-1, 0x1.71547652b82ffp+1};
    constexpr double powers[] = {
        0x1.00a594fd058bap-16, 0x1.44401fae30efep-13, 0x1.5d879e9962406p-10, 0x1.3b2a1b516ca7fp-7,
        0x1.c6b08d884527ep-5,  0x1.ebfbe0460cc0bp-3,  0x1.62e42fefa39efp-1,  1.0};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const N a = magnitude<P>(x);
    const Split<P> parts = split<P>(a);
    const N s = (parts.m - 1.0) / (parts.m + 1.0);
    const N log = fused<P>(s, polynomial<P>(logs, s * s), parts.k);
    N e = y * log;
    const auto common = (x > 0.0) & (x < infinity) & (magnitude<P>(y) < infinity);
    const bool rare = any<P>(~common);
    if (__builtin_expect(rare, 0)) {
      const N limit = chosen<P>(a == 0.0, N{} - infinity, chosen<P>(a == infinity, N{} + infinity, log));
      e = chosen<P>(limit == 0.0, N{}, y * limit);
    }
    e = chosen<P>(e < -300.0, N{} - 300.0, chosen<P>(e > 300.0, N{} + 300.0, e));
    const N whole = e + 6755399441055744.0;  // 1.5 * 2^52
    const N f = e - (whole - 6755399441055744.0);
    using U = typename Vectors<P>::Unsigned;  // sums of a NaN's bits may pass what signed ones hold
    const N power = N(U(polynomial<P>(powers, f)) + (U(whole) << 52));
    return P(__builtin_expect(rare, 0) ? finished<P>(power, x, y) : power);
  }
  template <class P>
  static P precise(P base, P exponent) {
    using N = NumberOf<P>;
    constexpr double logs[] = {0x1.b8d434437ac43p-5, 0x1.ac4a89a3174d1p-5, 0x1.e1f7fa7740097p-5,
                               0x1.1110dfad08a8bp-4, 0x1.3b13b1bc75e8cp-4, 0x1.745d17451358fp-4,
                               0x1.c71c71c71cfd9p-4, 0x1.2492492492491p-3, 0x1.999999999999ap-3};
    constexpr double powers[] = {0x1.e9bbf63fc2d1p-32,  0x1.e5ea1242d6602p-28, 0x1.b525086dac128p-24,
                                 0x1.62bfe45469585p-20, 0x1.ffcbfc61f9da2p-17, 0x1.430913037bab9p-13,
                                 0x1.5d87fe78a5dc1p-10, 0x1.3b2ab6fba3856p-7,  0x1.c6b08d704a0cp-5,
                                 0x1.ebfbdff82c59p-3};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const N x = N(base);
    const N y = N(exponent);
    const N a = magnitude<P>(x);
    const auto common = (x >= std::numeric_limits<double>::min()) & (x < infinity) & (magnitude<P>(y) < infinity);
    const bool rare = any<P>(~common);
    N scaled = a;
    N shift = N{};
    if (__builtin_expect(rare, 0)) {
      const auto tiny = a < std::numeric_limits<double>::min();
      scaled = chosen<P>(tiny, a * 0x1p54, a);
      shift = chosen<P>(tiny, N{} - 54.0, N{});
    }
    Split<P> parts = split<P>(scaled);
    parts.k += shift;
    // s + lost = (m - 1) / (m + 1).
    const N above = parts.m - 1.0;
    const N below = parts.m + 1.0;
    const N below_lost = parts.m - (below - 1.0);
    const N inverse = 1.0 / below;
    const N s = above * inverse;
    const N lost = (fused<P>(-s, below, above) - s * below_lost) * inverse;
    // The series 1/3 + z/5 + ..., with the first in two parts, times z = s^2, times s.
    const N z = s * s;
    const N z_lost = fused<P>(s, s, -z) + 2.0 * s * lost;
    const N rest = z * polynomial<P>(logs, z);
    const N series = 0x1.5555555555555p-2 + rest;
    const N series_lost = (0x1.5555555555555p-2 - series) + rest + 0x1.5555555555555p-56;
    const N u = z * series;
    const N u_lost = fused<P>(z, series, -u) + (z * series_lost + z_lost * series);
    const N v = s * u;
    const N v_lost = fused<P>(s, u, -v) + (s * u_lost + lost * u);
    const N half_log = s + v;
    const N half_log_lost = (s - half_log) + v + (lost + v_lost);
    // In units of log 2, and with k.
    const N log_m = half_log * 0x1.71547652b82fep+1;
    const N log_m_lost = fused<P>(half_log, N{} + 0x1.71547652b82fep+1, -log_m) +
                         (half_log * 0x1.777d0ffda0d24p-55 + half_log_lost * 0x1.71547652b82fep+1);
    const N sum = parts.k + log_m;
    const N sum_lost = (parts.k - sum) + log_m + log_m_lost;
    const N log = sum + sum_lost;
    const N log_lost = (sum - log) + sum_lost;
    N e = y * log;
    N e_lost = fused<P>(y, log, -e) + y * log_lost;
    if (__builtin_expect(rare, 0)) {
      const N limit = chosen<P>(a == 0.0, N{} - infinity, chosen<P>(a == infinity, N{} + infinity, log));
      e = chosen<P>(limit == 0.0, N{}, y * limit);
      e_lost = chosen<P>(limit == 0.0, N{}, e_lost);
    }
    const auto far = ~(magnitude<P>(e) < 1100.0);
    e = chosen<P>(e < -1100.0, N{} - 1100.0, chosen<P>(e > 1100.0, N{} + 1100.0, e));
    e_lost = chosen<P>(far, N{}, e_lost);
    // 2^e = 2^n (1 + f ln 2 + f^2 (..)), f ln 2 in two parts.
    const N whole = e + 6755399441055744.0;  // 1.5 * 2^52
    const N exact = e - (whole - 6755399441055744.0);
    const N f = exact + e_lost;
    const N f_lost = (exact - f) + e_lost;
    const N step = f * 0x1.62e42fefa39efp-1;
    const N step_lost = fused<P>(f, N{} + 0x1.62e42fefa39efp-1, -step) + f * 0x1.abc9e3b39803fp-56;
    const N first = 1.0 + step;
    const N bent = fused<P>(f * f, polynomial<P>(powers, f),
                            fused<P>(f_lost, N{} + 0x1.62e42fefa39efp-1, ((1.0 - first) + step) + step_lost));
    const N power = first + bent;
    // In two steps, for results that are subnormal: only the second rounds.
    const MaskOf<P> n = MaskOf<P>(whole) - MaskOf<P>(N{} + 6755399441055744.0);
    const MaskOf<P> most = n > 0 ? (n < 1000 ? n : MaskOf<P>{} + 1000) : (n > -1000 ? n : MaskOf<P>{} - 1000);
    using U = typename Vectors<P>::Unsigned;  // sums of a NaN's bits may pass what signed ones hold
    const N y_most = N(U(power) + (U(most) << 52));
    const N result = y_most * N(U(n - most + 1023) << 52);
    return P(__builtin_expect(rare, 0) ? finished<P>(result, x, y) : result);
  }
  template <class P>
  static P of(P x, P y) {
    if constexpr (!kFused) {
      return by_library<Pow>(MaskOf<P>{} - 1, x, x, y);
    } else if constexpr (sizeof(ElementOf<P>) == 4) {
      return in_doubles<Pow>(x, y);
    } else {
      return precise(x, y);
    }
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
