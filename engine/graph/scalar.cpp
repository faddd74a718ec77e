#include "graph/scalar.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/element_types.hpp"
#include "ops/functions/element.hpp"

namespace oriel::graph {

namespace {

// The value in the dtype: the low bits that it has, or, for bool, whether any bit is set.
std::int64_t wrap(DType dtype, std::int64_t value) noexcept {
  return base::with_element_type(dtype, [&]<class T>() -> std::int64_t {
    if constexpr (std::integral<T>) return static_cast<T>(value);
    return value;
  });
}

// Halves are rounded from float32, as in kernels. So float64 -> float16 rounds twice.
double round_to(DType dtype, float value) noexcept {
  if (dtype == DType::float16) return static_cast<float>(float16_t(value));
  if (dtype == DType::bfloat16) return static_cast<float>(bfloat16_t(value));
  return value;
}

Scalar integer(DType dtype, std::int64_t value) noexcept {
  Scalar s;
  s.dtype = dtype;
  s.i = value;
  return s;
}

Scalar floating(DType dtype, double value) noexcept {
  Scalar s;
  s.dtype = dtype;
  s.f = value;
  return s;
}

}  // namespace

Scalar Scalar::of_int(DType dtype, std::int64_t value) {
  if (!is_floating(dtype)) return integer(dtype, wrap(dtype, value));
  if (dtype == DType::float64) return floating(dtype, static_cast<double>(value));
  return floating(dtype, round_to(dtype, static_cast<float>(value)));
}

Scalar Scalar::of_identity(ops::Identity identity, DType dtype) {
  switch (identity) {
    case ops::Identity::One:
      return of_int(dtype, 1);
    case ops::Identity::Ones:
      return of_int(dtype, -1);
    case ops::Identity::Lowest:
    case ops::Identity::Highest:
      break;
    default:
      return of_int(dtype, 0);
  }
  const bool lowest = identity == ops::Identity::Lowest;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_floating(dtype)) return of_float(dtype, lowest ? -kInfinity : kInfinity);
  if (is_unsigned(dtype)) return of_int(dtype, lowest ? 0 : -1);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min() >> (64 - 8 * itemsize(dtype));
  return of_int(dtype, lowest ? least : -(least + 1));
}

Scalar Scalar::of_size(DType dtype, std::int64_t size) {
  return is_floating(dtype) ? of_float(dtype, static_cast<double>(size)) : of_int(dtype, size);
}

Scalar Scalar::of_float(DType dtype, double value) {
  return base::with_element_type(dtype, [&]<class T>() {
    if constexpr (std::same_as<T, bool>)
      return integer(dtype, value != 0);
    else if constexpr (std::integral<T>)
      return integer(dtype, static_cast<std::int64_t>(ops::SaturateTo<T>::of(value)));
    else
      return floating(dtype, std::same_as<T, double> ? value : round_to(dtype, static_cast<float>(value)));
  });
}

Scalar Scalar::cast(DType to) const {
  if (to == dtype) return *this;
  if (is_floating(dtype)) return of_float(to, f);
  if (dtype != DType::uint64 || !is_floating(to)) return of_int(to, i);
  const auto u = static_cast<std::uint64_t>(i);
  if (to == DType::float64) return floating(to, static_cast<double>(u));
  return floating(to, round_to(to, static_cast<float>(u)));
}

double Scalar::as_double() const {
  if (is_floating(dtype)) return f;
  return dtype == DType::uint64 ? static_cast<double>(static_cast<std::uint64_t>(i)) : static_cast<double>(i);
}

bool Scalar::is_zero() const { return i == 0; }  // the bits of +0.0 are 0; the bits of -0.0 are not

std::string Scalar::str() const {
  if (dtype == DType::bool_) return i != 0 ? "true" : "false";
  if (dtype == DType::uint64) return fmt::format("{}", static_cast<std::uint64_t>(i));
  if (!is_floating(dtype)) return fmt::format("{}", i);
  if (dtype == DType::float64) return fmt::format("{}", f);
  return fmt::format("{}", static_cast<float>(f));
}

}  // namespace oriel::graph
