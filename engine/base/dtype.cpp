#include "oriel/dtype.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string>

#include "base/escape.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace {

enum class Kind : std::uint8_t { Bool, Signed, Unsigned, Float };

struct Row {
  std::string_view name;
  std::uint8_t bytes;
  Kind kind;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"bool", 1, Kind::Bool},
    {"int8", 1, Kind::Signed},
    {"int16", 2, Kind::Signed},
    {"int32", 4, Kind::Signed},
    {"int64", 8, Kind::Signed},
    {"uint8", 1, Kind::Unsigned},
    {"uint16", 2, Kind::Unsigned},
    {"uint32", 4, Kind::Unsigned},
    {"uint64", 8, Kind::Unsigned},
    {"float16", 2, Kind::Float},
    {"bfloat16", 2, Kind::Float},
    {"float32", 4, Kind::Float},
    {"float64", 8, Kind::Float},
}};

constexpr const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

constexpr DType signed_of_bytes(int bytes) {
  return bytes == 1 ? DType::int8 : bytes == 2 ? DType::int16 : bytes == 4 ? DType::int32 : DType::int64;
}

constexpr DType meet(DType a, DType b) {
  if (a == b) return a;
  const Row& ra = row(a);
  const Row& rb = row(b);
  if (ra.kind == Kind::Bool) return b;
  if (rb.kind == Kind::Bool) return a;
  if (ra.kind == Kind::Float && rb.kind == Kind::Float) {
    if (ra.bytes == rb.bytes) return DType::float32;  // float16 and bfloat16: neither holds all values of the other
    return ra.bytes > rb.bytes ? a : b;
  }
  if (ra.kind == Kind::Float) return a;
  if (rb.kind == Kind::Float) return b;
  if (ra.kind == rb.kind) return ra.bytes > rb.bytes ? a : b;
  const int u = ra.kind == Kind::Unsigned ? ra.bytes : rb.bytes;
  const int s = ra.kind == Kind::Signed ? ra.bytes : rb.bytes;
  if (s > u) return signed_of_bytes(s);
  return u == 8 ? DType::float32 : signed_of_bytes(2 * u);
}

constexpr auto kMeet = [] {
  std::array<std::array<DType, kDTypeCount>, kDTypeCount> table{};
  for (int a = 0; a < kDTypeCount; ++a) {
    for (int b = 0; b < kDTypeCount; ++b) table[a][b] = meet(static_cast<DType>(a), static_cast<DType>(b));
  }
  return table;
}();

}  // namespace

std::string_view name(DType dtype) noexcept { return row(dtype).name; }
std::size_t itemsize(DType dtype) noexcept { return row(dtype).bytes; }
bool is_floating(DType dtype) noexcept { return row(dtype).kind == Kind::Float; }
bool is_half(DType dtype) noexcept { return dtype == DType::float16 || dtype == DType::bfloat16; }
bool is_integer(DType dtype) noexcept { return row(dtype).kind == Kind::Signed || row(dtype).kind == Kind::Unsigned; }
bool is_unsigned(DType dtype) noexcept { return row(dtype).kind == Kind::Unsigned; }

DType dtype_from_name(std::string_view text) {
  std::string known;
  for (int d = 0; d < kDTypeCount; ++d) {
    if (kRows[d].name == text) return static_cast<DType>(d);
    known += known.empty() ? "" : ", ";
    known += kRows[d].name;
  }
  throw ArgumentError("dtype", fmt::format("\"{}\" names no dtype; use one of {}", base::escaped(text), known));
}

DType promote(DType a, DType b) noexcept { return kMeet[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }

bool can_cast(DType from, DType to) noexcept {
  if (is_floating(from) && !is_floating(to)) return false;
  return from == DType::bool_ || to != DType::bool_;
}

// float32 -> float16, rounded to nearest even. For subnormal results the significand is first shifted into place, so
// that the same rounding code serves both cases. A carry out of the significand increments the exponent, up to
// infinity.
float16_t::float16_t(float value) noexcept {
  const std::uint32_t in = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = in >> 16 & 0x8000;
  const std::uint32_t magnitude = in & 0x7fffffff;
  std::uint32_t out = 0;
  if (magnitude > 0x7f800000) {
    out = 0x7e00 | (magnitude >> 13 & 0x3ff);  // a quiet NaN that keeps its upper payload
  } else if (magnitude >= 0x47800000) {
    out = 0x7c00;  // 2^16 and above, infinity too
  } else {
    const int exponent = static_cast<int>(magnitude >> 23);
    std::uint32_t significand = magnitude & 0x7fffff;
    int shift = 13;
    std::uint32_t base = 0;
    if (exponent >= 113) {
      base = static_cast<std::uint32_t>(exponent - 112) << 10;
    } else {
      significand |= exponent == 0 ? 0 : 0x800000;
      shift = 126 - exponent;
      if (shift > 31) shift = 31;
    }
    out = base + (significand >> shift);
    const std::uint32_t rest = significand & ((std::uint32_t{1} << shift) - 1);
    const std::uint32_t half = std::uint32_t{1} << (shift - 1);
    if (rest > half || (rest == half && (out & 1) != 0)) ++out;
  }
  bits = static_cast<std::uint16_t>(sign | out);
}

float16_t::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t significand = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | significand << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | significand << 13);
  const float tiny = static_cast<float>(significand) * 0x1p-24f;  // exact
  return sign != 0 ? -tiny : tiny;
}

bfloat16_t::bfloat16_t(float value) noexcept {
  const std::uint32_t in = std::bit_cast<std::uint32_t>(value);
  if ((in & 0x7fffffff) > 0x7f800000) {
    bits = static_cast<std::uint16_t>(in >> 16 | 0x40);
  } else {
    bits = static_cast<std::uint16_t>((in + 0x7fff + (in >> 16 & 1)) >> 16);
  }
}

bfloat16_t::operator float() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace oriel
