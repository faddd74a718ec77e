// From a dtype to the C++ type of its elements.
#pragma once

#include <limits>

#include "oriel/dtype.hpp"

namespace oriel::base {

/// f.operator()<T>(), where T is the type of the dtype's elements: bool, an integer, a half, float or double.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::bool_:
      return f.template operator()<bool>();
    case DType::int8:
      return f.template operator()<std::int8_t>();
    case DType::int16:
      return f.template operator()<std::int16_t>();
    case DType::int32:
      return f.template operator()<std::int32_t>();
    case DType::int64:
      return f.template operator()<std::int64_t>();
    case DType::uint8:
      return f.template operator()<std::uint8_t>();
    case DType::uint16:
      return f.template operator()<std::uint16_t>();
    case DType::uint32:
      return f.template operator()<std::uint32_t>();
    case DType::uint64:
      return f.template operator()<std::uint64_t>();
    case DType::float16:
      return f.template operator()<float16_t>();
    case DType::bfloat16:
      return f.template operator()<bfloat16_t>();
    case DType::float32:
      return f.template operator()<float>();
    case DType::float64:
      return f.template operator()<double>();
  }
  __builtin_unreachable();
}

/// The largest finite number of a dtype of floats.
inline double largest_finite(DType dtype) {
  return with_element_type(dtype, []<class T>() { return static_cast<double>(std::numeric_limits<T>::max()); });
}

}  // namespace oriel::base
