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
  /// The number with these bits.
  static constexpr float16_t from_bits(unsigned bits) noexcept {
    float16_t x;
    x.bits = static_cast<std::uint16_t>(bits);
    return x;
  }
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
  /// The number with these bits.
  static constexpr bfloat16_t from_bits(unsigned bits) noexcept {
    bfloat16_t x;
    x.bits = static_cast<std::uint16_t>(bits);
    return x;
  }
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
consteval DType dtype_of_type() {
  if constexpr (std::same_as<T, bool>) return DType::bool_;
  if constexpr (std::same_as<T, float16_t>) return DType::float16;
  if constexpr (std::same_as<T, bfloat16_t>) return DType::bfloat16;
  if constexpr (std::same_as<T, float>) return DType::float32;
  if constexpr (std::same_as<T, double>) return DType::float64;
  if constexpr (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) {
    constexpr DType kFirst = std::unsigned_integral<T> ? DType::uint8 : DType::int8;
    return static_cast<DType>(static_cast<int>(kFirst) + (sizeof(T) > 1) + (sizeof(T) > 2) + (sizeof(T) > 4));
  }
  constexpr bool kStored =
      Half<T> || std::same_as<T, float> || std::same_as<T, double> || (std::integral<T> && sizeof(T) <= 8);
  static_assert(kStored,
                "no dtype stores this type. Elements are bool, integers of 8 to 64 bits, float16_t, bfloat16_t, float "
                "and double");
  return DType::bool_;
}
}  // namespace detail

/// The dtype that stores a C++ type: that of its size and sign for integers and characters, so int8 or uint8 for char.
/// Other types are a compile error.
template <class T>
inline constexpr DType dtype_of = detail::dtype_of_type<T>();

namespace detail {
/// std::numeric_limits of a half with `Digits` binary digits and `Exponent` as max_exponent.
template <class T, int Digits, int Exponent>
struct HalfLimits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false;
  static constexpr bool traps = false, tinyness_before = false, has_denorm_loss = false;
  static constexpr int radix = 2, digits = Digits, max_exponent = Exponent, min_exponent = 3 - Exponent;
  static constexpr int digits10 = (Digits - 1) * 30103 / 100000, max_digits10 = 2 + Digits * 30103 / 100000;
  static constexpr int max_exponent10 = Exponent * 30103 / 100000, min_exponent10 = -((Exponent - 2) * 30103 / 100000);
  static constexpr unsigned kExponents = ((2U * Exponent - 1) << (Digits - 1));  // all bits of the exponent
  static constexpr T max() noexcept { return T::from_bits(kExponents - 1); }
  static constexpr T lowest() noexcept { return T::from_bits(0x8000U + kExponents - 1); }
  static constexpr T min() noexcept { return T::from_bits(1U << (Digits - 1)); }
  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
  static constexpr T epsilon() noexcept {
    return T::from_bits(static_cast<unsigned>(Exponent - Digits) << (Digits - 1));
  }
  static constexpr T round_error() noexcept {
    return T::from_bits(static_cast<unsigned>(Exponent - 2) << (Digits - 1));
  }
  static constexpr T infinity() noexcept { return T::from_bits(kExponents); }
  // NOLINTBEGIN(readability-identifier-naming): the names of std::numeric_limits
  static constexpr T quiet_NaN() noexcept { return T::from_bits(kExponents + (1U << (Digits - 2))); }
  static constexpr T signaling_NaN() noexcept { return T::from_bits(kExponents + (1U << (Digits - 3))); }
  // NOLINTEND(readability-identifier-naming)
};
}  // namespace detail

}  // namespace oriel

// clang-format off
#ifdef __GLIBCXX__
namespace std _GLIBCXX_VISIBILITY(default) {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
// <limits> alone would add a thousand lines to each header. Without it, has_denorm and round_style are left out.
template <typename T>
struct numeric_limits;
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
#else
#include <limits>
#endif
// clang-format on

/// The limits of float16.
template <>
struct std::numeric_limits<oriel::float16_t> : oriel::detail::HalfLimits<oriel::float16_t, 11, 16> {};
/// The limits of bfloat16.
template <>
struct std::numeric_limits<oriel::bfloat16_t> : oriel::detail::HalfLimits<oriel::bfloat16_t, 8, 128> {};
