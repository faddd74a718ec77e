// Programs that sort, and what they have to give.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "programs.hpp"

namespace oriel::test {

inline LoopProgram sorting(DType dtype, std::int64_t rows, std::int64_t extent, bool descending, bool positions) {
  LoopProgram p;
  p.name = "sort";
  p.outer = {rows};
  p.sorting = codegen::Sorting{rows, extent, descending, positions};
  p.form = codegen::Sort{};
  p.arguments.push_back({dtype, rows * extent, false, "in0", -1, false});
  p.arguments.push_back({positions ? DType::int64 : dtype, rows * extent, true, "out0", -1, false});
  codegen::verify(p);
  return p;
}

/// The element as a number that compares as its dtype does; nullopt for a NaN.
inline std::optional<double> value_of(DType dtype, const char* at) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::bool_:
    case DType::uint8:
      return read(std::uint8_t{});
    case DType::int8:
      return read(std::int8_t{});
    case DType::int16:
      return read(std::int16_t{});
    case DType::uint16:
      return read(std::uint16_t{});
    case DType::int32:
      return read(std::int32_t{});
    case DType::uint32:
      return read(std::uint32_t{});
    case DType::float16: {
      const auto bits = read(std::uint16_t{});
      const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
      if (exponent == 31 && mantissa != 0) return std::nullopt;
      const double size = exponent == 31  ? INFINITY
                          : exponent == 0 ? std::ldexp(mantissa, -24)
                                          : std::ldexp(1024 + mantissa, exponent - 25);
      return (bits & 0x8000) != 0 ? -size : size;
    }
    case DType::bfloat16: {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(read(std::uint16_t{})) << 16);
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
    case DType::float32: {
      const float x = read(float{});
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
    default: {
      const double x = read(double{});
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
  }
}

struct SortCase {
  DType dtype;
  std::int64_t rows, extent;
  bool descending;
};

/// The positions of a row in sorted order. With `zeros`, -0 comes before 0.
inline std::vector<std::int64_t> ordered(const SortCase& c, const char* row, bool zeros) {
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  const auto before = [&](std::int64_t a, std::int64_t b) {
    if (c.dtype == DType::int64 || c.dtype == DType::uint64) {
      std::int64_t x = 0, y = 0;
      std::memcpy(&x, row + a * 8, 8);
      std::memcpy(&y, row + b * 8, 8);
      return c.dtype == DType::int64 ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
    }
    const auto x = value_of(c.dtype, row + a * bytes), y = value_of(c.dtype, row + b * bytes);
    if (!x || !y) return x && !y;
    if (zeros && *x == 0 && *y == 0) return std::signbit(*x) && !std::signbit(*y);
    return *x < *y;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.extent));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return c.descending ? before(b, a) : before(a, b); });
  return order;
}

inline bool same_element(DType dtype, const char* a, const char* b) {
  if (is_floating(dtype) && !value_of(dtype, a) && !value_of(dtype, b)) return true;
  return std::memcmp(a, b, itemsize(dtype)) == 0;
}

/// Few different values, special ones among them; or random bits.
inline void fill(const Bytes& x, std::mt19937_64& random, bool few) {
  const auto bytes = static_cast<std::int64_t>(itemsize(x.dtype()));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    std::uint64_t bits = random();
    if (few) bits = bits % 4 == 0 ? bits >> 8 & 0x8000000000000000 : (bits >> 8) % 3 << (8 * bytes - 8);
    if (few && is_floating(x.dtype()) && random() % 4 == 0)
      bits = random() % 2 == 0 ? ~std::uint64_t{0} : 0x8000000000000000 >> (64 - 8 * bytes);
    if (x.dtype() == DType::bool_) bits &= 1;
    std::memcpy(static_cast<char*>(x.data()) + i * bytes, &bits, static_cast<std::size_t>(bytes));
  }
}

/// Are these the sorted elements of x, or their positions?
inline bool is_sorted_from(const SortCase& c, bool positions, const Bytes& x, const Bytes& out) {
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const char* row = static_cast<const char*>(x.data()) + r * c.extent * bytes;
    const std::vector<std::int64_t> want = ordered(c, row, !positions);
    for (std::int64_t i = 0; i < c.extent; ++i) {
      const std::int64_t from = want[static_cast<std::size_t>(i)];
      const bool same = positions
                            ? out.as<std::int64_t>()[r * c.extent + i] == from
                            : same_element(c.dtype, static_cast<const char*>(out.data()) + (r * c.extent + i) * bytes,
                                           row + from * bytes);
      if (!same) return false;
    }
  }
  return true;
}

}  // namespace oriel::test
