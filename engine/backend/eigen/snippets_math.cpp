// Transcendental functions: Eigen's packet functions where they are accurate, with their edges mended.
#include "backend/eigen/snippets.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr Snippet kSnippets[] = {
    {"Exp", "keep_nan ", R"src(
/// Eigen's exp stops at the smallest normal number; below it, exp(x) = exp(x/2)^2.
struct Exp {
  template <class P>
  static P of(P x) {
    using T = typename ei::unpacket_traits<P>::type;
    const P edge = ei::pset1<P>(sizeof(T) == 4 ? T(-87) : T(-708));
    const P low = ei::pcmp_lt(x, edge);
    P y = ei::pexp(ei::pselect(low, edge, x));
    if (ei::predux_any(low)) {
      const P root = ei::pexp(ei::pmax(ei::pmul(x, ei::pset1<P>(T(0.5))), edge));
      y = ei::pselect(low, ei::pmul(root, root), y);
    }
    return keep_nan(x, y);
  }
};
)src"},
    {"Exp2", "keep_nan ", R"src(
/// 2^x = 2^n * e^(f ln 2), n the whole number nearest to x and f the rest.
struct Exp2 {
  template <class P>
  static P of(P x) {
    using T = typename ei::unpacket_traits<P>::type;
    const P limit = ei::pset1<P>(sizeof(T) == 4 ? T(160) : T(1100));
    const P bounded = ei::pmax(ei::pmin(x, limit), ei::pnegate(limit));
    const P n = ei::pfloor(ei::padd(bounded, ei::pset1<P>(T(0.5))));
    const P f = ei::psub(bounded, n);
    const P y = ei::pldexp(ei::pexp(ei::pmul(f, ei::pset1<P>(T(0.693147180559945309417)))), n);
    return keep_nan(x, y);
  }
};
)src"},
    {"Log", "packets ", R"src(
struct Log {
  template <class P>
  static P of(P x) {
    return ei::plog(x);
  }
};
)src"},
    {"Log2", "packets ", R"src(
struct Log2 {
  template <class P>
  static P of(P x) {
    return ei::plog2(x);
  }
};
)src"},
    {"Sin", "packets ", R"src(
struct Sin {
  template <class P>
  static P of(P x) {
    return ei::psin_float(x);
  }
};
)src"},
    {"Cos", "packets ", R"src(
struct Cos {
  template <class P>
  static P of(P x) {
    return ei::pcos_float(x);
  }
};
)src"},
    {"Tanh", "keep_nan ", R"src(
struct Tanh {
  template <class P>
  static P of(P x) {
    return keep_nan(x, ei::generic_fast_tanh_float(x));
  }
};
)src"},
    {"Erf", "keep_nan ", R"src(
struct Erf {
  template <class P>
  static P of(P x) {
    return keep_nan(x, ei::generic_fast_erf_float(x));
  }
};
)src"},
    {"Pow", "packets map ", R"src(
#if defined(__SSE4_1__) || !defined(__SSE2__)
struct PacketPow {
  template <class P>
  static P of(P x, P y) {
    return ei::generic_pow(x, y);
  }
};
template <class Y, class X1, class X2>
void pow(Y& y, const X1& x1, const X2& x2) {
  packets<PacketPow>(y, x1, x2);
}
#else
// Eigen's needs a packet rounding that SSE2 lacks.
struct LibraryPow {
  template <class T>
  static T of(T x, T y) {
    return std::pow(x, y);
  }
};
template <class Y, class X1, class X2>
void pow(Y& y, const X1& x1, const X2& x2) {
  map<LibraryPow>(y, x1, x2);
}
#endif
)src"},
    {"LibrarySin", "", R"src(
struct LibrarySin {
  template <class T>
  static T of(T x) {
    return std::sin(x);
  }
};
)src"},
    {"LibraryCos", "", R"src(
struct LibraryCos {
  template <class T>
  static T of(T x) {
    return std::cos(x);
  }
};
)src"},
    {"LibraryTan", "", R"src(
struct LibraryTan {
  template <class T>
  static T of(T x) {
    return std::tan(x);
  }
};
)src"},
    {"LibraryTanh", "", R"src(
struct LibraryTanh {
  template <class T>
  static T of(T x) {
    return std::tanh(x);
  }
};
)src"},
    {"LibraryErf", "", R"src(
struct LibraryErf {
  template <class T>
  static T of(T x) {
    return std::erf(x);
  }
};
)src"},
    {"LibraryAtan2", "", R"src(
struct LibraryAtan2 {
  template <class T>
  static T of(T y, T x) {
    return std::atan2(y, x);
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> math_snippets() { return kSnippets; }

}  // namespace oriel::backend::eigen
