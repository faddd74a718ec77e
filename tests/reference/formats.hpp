// Shared by the oracle's elementwise ops and reductions.
#pragma once

#include <cmath>

#include "reference/number.hpp"

namespace oriel::reference {

struct Format {
  int digits;  // digits of the significand, hidden bit included
  int lowest;  // exponent of the smallest normal number
  double largest;
};
Format format(DType dtype);
inline int width(DType dtype) { return static_cast<int>(8 * itemsize(dtype)); }

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

inline Wide widen(DType dtype, std::int64_t value) {
  return dtype == DType::uint64 ? static_cast<Wide>(static_cast<std::uint64_t>(value)) : static_cast<Wide>(value);
}

inline std::int64_t narrow(DType dtype, Wide value) {
  return wrap(dtype, static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<UnsignedWide>(value))));
}

/// The result of an op on floats, before it is rounded to the dtype.
double float_value(graph::Op op, DType dtype, double x, double y);

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// An element converted to another dtype, and one whose bits are taken as those of another dtype.
Number cast(DType from, DType to, const Number& x);
Number bitcast(DType from, DType to, const Number& x);

/// The elementwise op by which a reduction combines two elements.
graph::Op combination_of(graph::Op op);

/// The result of an op on integers and bool, before it is wrapped to the dtype.
Wide integer_value(graph::Op op, DType dtype, Wide x, Wide y);

}  // namespace oriel::reference
