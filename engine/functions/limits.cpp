#include "oriel/limits.hpp"

#include <fmt/format.h>

#include <limits>

#include "oriel/error.hpp"

namespace oriel {

namespace {

template <class T>
FloatInfo limits_of() {
  using Limits = std::numeric_limits<T>;
  const auto number = [](T x) { return static_cast<double>(x); };
  return {static_cast<int>(8 * sizeof(T)), Limits::digits,        number(Limits::max()),
          number(Limits::epsilon()),       number(Limits::min()), number(Limits::denorm_min())};
}

}  // namespace

FloatInfo finfo(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return limits_of<float16_t>();
    case DType::bfloat16:
      return limits_of<bfloat16_t>();
    case DType::float32:
      return limits_of<float>();
    case DType::float64:
      return limits_of<double>();
    default:
      throw DTypeError("finfo", fmt::format("{} is no float; iinfo describes integers", name(dtype)));
  }
}

IntegerInfo iinfo(DType dtype) {
  if (!is_integer(dtype))
    throw DTypeError("iinfo", fmt::format("{} is no integer; finfo describes floats", name(dtype)));
  const int bits = static_cast<int>(8 * itemsize(dtype));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  if (is_unsigned(dtype)) return {bits, 0, all};
  return {bits, -static_cast<std::int64_t>(all >> 1) - 1, all >> 1};
}

}  // namespace oriel
