// Transcendental functions: those of float_math.hpp, angle_math.hpp and power_math.hpp, Eigen's packet functions with
// their edges mended, and the C library's elsewhere. README.md tells the error of each.
#include "backend/eigen/isa/angle_math.hpp"
#include "backend/eigen/isa/power_math.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using graph::Op;
namespace in = Eigen::internal;

template <class T>
using Packet = typename in::packet_traits<T>::type;

/// f(x) where x is a number, x where it is NaN.
template <class P>
P keep_nan(P x, P y) {
  return in::pselect(in::pcmp_eq(x, x), y, x);
}

// Eigen's exp of float64 clamps its argument where the result turns subnormal. There exp(x) = exp(x/2)^2, which rounds
// once into the subnormal range; far out, the square under- or overflows as it should.
template <class P>
P exp_double(P x) {
  const P low = splat<P>(-708);
  const P high = splat<P>(709);
  P y = in::pexp(in::pmax(in::pmin(x, high), low));
  const P outside = in::por(in::pcmp_lt(x, low), in::pcmp_lt(high, x));
  if (in::predux_any(outside)) {
    const P half = in::pexp(in::pmax(in::pmin(in::pmul(x, splat<P>(0.5)), high), low));
    y = in::pselect(outside, in::pmul(half, half), y);
  }
  return keep_nan(x, y);
}

// 2^x = 2^n * e^(f ln 2) with n the nearest whole number. The scaling goes in two steps, so that it reaches the
// subnormals.
template <class P>
P exp2_double(P x) {
  const P clamped = in::pmax(in::pmin(x, splat<P>(1100)), splat<P>(-1100));
  const P n = in::pfloor(in::padd(clamped, splat<P>(0.5)));
  const P fraction = in::psub(clamped, n);
  return keep_nan(x, in::pldexp(in::pexp(in::pmul(fraction, splat<P>(0.693147180559945309417))), n));
}

template <class P>
inline constexpr bool kFloat = sizeof(typename in::unpacket_traits<P>::type) == 4;

struct ExpOf {
  template <class P>
  static P of(P x) {
    if constexpr (kFloat<P>) {
      return exp_float(x);
    } else {
      return exp_double(x);
    }
  }
};
struct Exp2Of {
  template <class P>
  static P of(P x) {
    if constexpr (kFloat<P>) {
      return exp2_float(x);
    } else {
      return exp2_double(x);
    }
  }
};

// Eigen's logarithms take subnormal numbers for the smallest normal one: those are scaled up first.
template <class P>
inline constexpr int kScaleBits = sizeof(typename in::unpacket_traits<P>::type) == 4 ? 25 : 54;

template <class P, class F>
P log_of(P x, double of_scale, F log) {
  using T = typename in::unpacket_traits<P>::type;
  constexpr T scale = static_cast<T>(std::int64_t{1} << kScaleBits<P>);
  const P small = in::pcmp_lt(in::pabs(x), splat<P>(std::numeric_limits<T>::min()));
  if (!in::predux_any(small)) return log(x);
  const P y = log(in::pselect(small, in::pmul(x, splat<P>(scale)), x));
  return in::pselect(small, in::psub(y, splat<P>(static_cast<T>(of_scale))), y);
}

struct LogOf {
  template <class P>
  static P of(P x) {
    constexpr double ln2 = 0.693147180559945309417;
    return log_of(x, kScaleBits<P> * ln2, [](P v) { return in::plog(v); });
  }
};
struct Log2Of {
  template <class P>
  static P of(P x) {
    return log_of(x, kScaleBits<P>, [](P v) { return in::plog2(v); });
  }
};

struct SinOf {
  template <class P>
  static P of(P x) {
    return sine_float<false>(x);
  }
};
struct CosOf {
  template <class P>
  static P of(P x) {
    return sine_float<true>(x);
  }
};
struct TanhOf {
  template <class P>
  static P of(P x) {
    return tanh_float(x);
  }
};
struct ErfOf {
  template <class P>
  static P of(P x) {
    return erf_float(x);
  }
};

/// F over packets; the C library's function where the target has none.
template <class T, class F, class Library = F>
void packets1(void* dst, const void* a, const void*, const void*, std::int64_t n) {
  constexpr std::int64_t size = in::packet_traits<T>::size;
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  if constexpr (size == 1) {
    for (std::int64_t i = 0; i < n; ++i) d[i] = Library::of(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; i += size) in::pstore(d + i, F::of(in::ploadu<Packet<T>>(x + i)));
  }
}

template <class T, class F>
void packets2(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  constexpr std::int64_t size = in::packet_traits<T>::size;
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (std::int64_t i = 0; i < n; i += size) {
    in::pstore(d + i, F::of(in::ploadu<Packet<T>>(x + i), in::ploadu<Packet<T>>(y + i)));
  }
}

// One element at a time.
struct LibraryExp {
  template <class T>
  static T of(T x) {
    return std::exp(x);
  }
};
struct LibraryExp2 {
  template <class T>
  static T of(T x) {
    return std::exp2(x);
  }
};
struct LibraryLog {
  template <class T>
  static T of(T x) {
    return std::log(x);
  }
};
struct LibraryLog2 {
  template <class T>
  static T of(T x) {
    return std::log2(x);
  }
};
struct LibrarySin {
  template <class T>
  static T of(T x) {
    return std::sin(x);
  }
};
struct LibraryCos {
  template <class T>
  static T of(T x) {
    return std::cos(x);
  }
};
struct LibraryTanh {
  template <class T>
  static T of(T x) {
    return std::tanh(x);
  }
};
struct LibraryErf {
  template <class T>
  static T of(T x) {
    return std::erf(x);
  }
};
}  // namespace

void add_math_ops(Table& table) {
  const auto at = [&](Op op, int d) -> ElementFn& { return table.element[static_cast<int>(op)][d]; };
  constexpr int f = kDTypeIndex<float>;
  at(Op::Exp, f) = packets1<float, ExpOf, LibraryExp>;
  at(Op::Exp2, f) = packets1<float, Exp2Of, LibraryExp2>;
  at(Op::Log, f) = packets1<float, LogOf, LibraryLog>;
  at(Op::Log2, f) = packets1<float, Log2Of, LibraryLog2>;
  at(Op::Pow, f) = packets2<float, Pow>;
  at(Op::Atan2, f) = packets2<float, Atan2>;
  at(Op::Sin, f) = packets1<float, SinOf, LibrarySin>;
  at(Op::Cos, f) = packets1<float, CosOf, LibraryCos>;
  at(Op::Tan, f) = packets1<float, Tan>;
  at(Op::Tanh, f) = packets1<float, TanhOf, LibraryTanh>;
  at(Op::Erf, f) = packets1<float, ErfOf, LibraryErf>;

  constexpr int d = kDTypeIndex<double>;
  at(Op::Exp, d) = packets1<double, ExpOf, LibraryExp>;
  at(Op::Exp2, d) = packets1<double, Exp2Of, LibraryExp2>;
  at(Op::Log, d) = packets1<double, LogOf, LibraryLog>;
  at(Op::Log2, d) = packets1<double, Log2Of, LibraryLog2>;
  at(Op::Pow, d) = packets2<double, Pow>;
  at(Op::Atan2, d) = packets2<double, Atan2>;
  at(Op::Sin, d) = map1<double, double, LibrarySin>;
  at(Op::Cos, d) = map1<double, double, LibraryCos>;
  at(Op::Tan, d) = packets1<double, Tan>;
  at(Op::Tanh, d) = map1<double, double, LibraryTanh>;
  at(Op::Erf, d) = map1<double, double, LibraryErf>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
