#include "oriel/dtype.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/escape.hpp"
#include "base/halves.hpp"
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

float16_t::float16_t(float value) noexcept : bits(halves::narrow_float16(value)) {}
float16_t::operator float() const noexcept { return halves::widen_float16(bits); }
bfloat16_t::bfloat16_t(float value) noexcept : bits(halves::narrow_bfloat16(value)) {}
bfloat16_t::operator float() const noexcept { return halves::widen_bfloat16(bits); }

}  // namespace oriel
