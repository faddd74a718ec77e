// Element types.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// An element type. float16 and bfloat16 are stored in 16 bits; arithmetic on them is done in float32 and rounded
/// to the dtype after every operation (IEEE round to nearest even).
enum class DType : std::uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};
inline constexpr int kDTypeCount = 13;

/// "float32", "bool", ...
std::string_view name(DType dtype) noexcept;
/// Bytes of one element.
std::size_t itemsize(DType dtype) noexcept;
bool is_floating(DType dtype) noexcept;
/// float16 or bfloat16.
bool is_half(DType dtype) noexcept;
/// Signed or unsigned integer; false for bool.
bool is_integer(DType dtype) noexcept;
bool is_unsigned(DType dtype) noexcept;
/// The dtype of that name. Throws ArgumentError listing the names.
DType dtype_from_name(std::string_view name);

/// The dtype to which a tensor of `a` and a tensor of `b` are promoted. Follows PyTorch
/// (tests/data/torch_promotion.json). Categories are ordered bool < integers < floats. Two integer dtypes give the
/// smallest that holds both, signed if either is. float16 with bfloat16 gives float32. PyTorch does not define uint16,
/// uint32 and uint64 with signed integers: Oriel gives the smallest signed dtype that holds both, and float32 for
/// uint64.
DType promote(DType a, DType b) noexcept;
/// True if an in-place operation may store a result of dtype `from` in a tensor of dtype `to`. Floats may not be stored
/// in integers, and only bool may be stored in bool. Within a category every dtype may be stored in every other,
/// however narrow.
bool can_cast(DType from, DType to) noexcept;

/// Storage for a 16-bit IEEE float (1 sign, 5 exponent and 10 fraction bits). Converts implicitly to float, exactly.
struct float16_t {
  std::uint16_t bits = 0;  ///< sign, exponent and fraction
  float16_t() = default;
  /// Rounds to nearest even.
  explicit float16_t(float value) noexcept;
  /// Exact.
  operator float() const noexcept;  // NOLINT(google-explicit-constructor)
  /// As float.
  friend bool operator==(float16_t a, float16_t b) noexcept { return float(a) == float(b); }
};

/// Storage for the upper half of a float32 (1 sign, 8 exponent and 7 fraction bits). Converts implicitly to float,
/// exactly.
struct bfloat16_t {
  std::uint16_t bits = 0;  ///< sign, exponent and fraction
  bfloat16_t() = default;
  /// Rounds to nearest even.
  explicit bfloat16_t(float value) noexcept;
  /// Exact.
  operator float() const noexcept;  // NOLINT(google-explicit-constructor)
  /// As float.
  friend bool operator==(bfloat16_t a, bfloat16_t b) noexcept { return float(a) == float(b); }
};

/// float16_t or bfloat16_t.
template <class T>
concept Half = std::same_as<T, float16_t> || std::same_as<T, bfloat16_t>;

namespace detail {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::bool_;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct DTypeOf<float16_t> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<bfloat16_t> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
}  // namespace detail

/// The dtype that stores a C++ type. Other types are a compile error.
template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

}  // namespace oriel
