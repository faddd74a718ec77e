// The numbers that a dtype can hold. Of a C++ type std::numeric_limits says the same, of halves too.
#pragma once

#include <cstdint>

#include "oriel/api.hpp"
#include "oriel/dtype.hpp"

namespace ORIEL_API oriel {

/// numpy.finfo.
struct FloatInfo {
  int bits = 0;                   ///< of storage
  int digits = 0;                 ///< of the significand in binary, the hidden one included
  double max = 0;                 ///< the largest finite number; the lowest is -max
  double eps = 0;                 ///< from 1 to the next number
  double tiny = 0;                ///< the smallest positive normal number
  double smallest_subnormal = 0;  ///< the smallest positive number
};
/// The limits of a float dtype; DTypeError for others.
///   finfo(DType::float16).max  // 65504
[[nodiscard]] FloatInfo finfo(DType dtype);

/// numpy.iinfo.
struct IntegerInfo {
  int bits = 0;           ///< of storage
  std::int64_t min = 0;   ///< the smallest number
  std::uint64_t max = 0;  ///< the largest number
};
/// The limits of an integer dtype; DTypeError for others.
///   iinfo(DType::int8).max  // 127
[[nodiscard]] IntegerInfo iinfo(DType dtype);

}  // namespace oriel
