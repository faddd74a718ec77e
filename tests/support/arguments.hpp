// Samples of arguments that represent a whole dtype.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "oriel/dtype.hpp"

namespace oriel::test {

/// Floats: every float16; every 65521st float32, or as many float64 of all magnitudes; and special values. Integers:
/// small numbers, powers of two and their neighbours, and a sample. These include every integer of 8 bits.
template <class T>
std::vector<T> dense_arguments() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list;
  if constexpr (std::is_floating_point_v<T>) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      float16_t half;
      half.bits = static_cast<std::uint16_t>(bits);
      list.push_back(static_cast<T>(static_cast<float>(half)));
    }
    for (std::uint64_t k = 0; k < 0x10000; ++k) {
      if constexpr (sizeof(T) == 4) {
        list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(65521 * k)));
      } else {
        list.push_back(std::bit_cast<double>(281474976710597U * k));
      }
    }
    for (const T x : {Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity(), Limits::epsilon(),
                      Limits::quiet_NaN(), T(0)}) {
      list.push_back(x);
      list.push_back(-x);
    }
  } else {
    for (int k = -128; k < 256; ++k) list.push_back(static_cast<T>(k));
    for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit) {
      const auto power = static_cast<T>(std::uint64_t{1} << bit);
      for (const int k : {-1, 0, 1}) list.push_back(static_cast<T>(power + static_cast<T>(k)));
    }
    for (std::uint64_t k = 1; k < 300; ++k) list.push_back(static_cast<T>(k * 0x9e3779b97f4a7c15U >> 7));
  }
  while (list.size() % 64 != 0) list.push_back(list[list.size() / 2]);
  return list;
}

/// The same arguments in another order, so that each has other neighbours.
template <class T>
std::vector<T> transposed_arguments(const std::vector<T>& list, std::size_t step) {
  std::vector<T> other(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) other[k] = list[(k * 48271 + step) % list.size()];
  return other;
}

}  // namespace oriel::test
