// A single number of any dtype.
#pragma once

#include <cstdint>
#include <string>

#include "ops/op.hpp"
#include "oriel/dtype.hpp"

namespace oriel::graph {

/// A number with its dtype. Integers and bool are held as the 64-bit pattern of their sign- or zero-extended value,
/// floats (halves included, already rounded to their dtype) as double.
struct Scalar {
  DType dtype = DType::float32;
  union {
    std::int64_t i = 0;
    double f;
  };

  static Scalar of_int(DType dtype, std::int64_t value);  // wraps to the dtype; converts for floats; != 0 for bool
  static Scalar of_float(DType dtype, double value);      // rounds to the dtype; saturates for integers, NaN -> 0
  static Scalar of_size(DType dtype, std::int64_t size);  // a size as an operand: of_float or of_int, by the dtype
  static Scalar of_identity(ops::Identity identity, DType dtype);  // what a reduction of no elements gives
  /// The same number in another dtype, as the Cast op defines it.
  Scalar cast(DType to) const;
  double as_double() const;
  bool is_zero() const;  // +0 only for floats
  std::string str() const;

  /// Same dtype and same bits (so -0 differs from 0, and a NaN equals itself).
  friend bool operator==(const Scalar& a, const Scalar& b) { return a.dtype == b.dtype && a.i == b.i; }
};

}  // namespace oriel::graph
