// The random bits of a position: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011).
#pragma once

#include <cstdint>

namespace oriel::ops {
namespace {

// snippet Philox: <cstdint>

/// x holds words 0 and 1 of the counter, whose words 2 and 3 are 0. The result is words 0 and 1 of the output, or words
/// 2 and 3 if bit 63 of x, which does not belong to the counter, is set.
struct Philox {
  /// Ten rounds on words 0 and 1 (a) and 2 and 3 (b). T is uint64, or a vector of uint64; product(a, m) multiplies the
  /// low words of a by m.
  template <class T, class Product>
  static void rounds(T& a, T& b, T key, Product product) {
    const T low = T{} + 0xffffffff;
    T key0 = key & low;
    T key1 = key >> 32;
    for (int round = 0; round < 10; ++round) {
      const T p = product(a, 0xd2511f53);
      const T q = product(b, 0xcd9e8d57);
      a = (q >> 32 | q << 32) ^ (a >> 32) ^ key0;
      b = (p >> 32 | p << 32) ^ (b >> 32) ^ key1;
      key0 = (key0 + 0x9e3779b9) & low;
      key1 = (key1 + 0xbb67ae85) & low;
    }
  }
  template <class T, class Product>
  static T words(T x, T key, Product product) {
    T a = x & (T{} + 0x7fffffffffffffff);
    T b = T{};
    rounds(a, b, key, product);
    const T other = T{} - (x >> 63);
    return (b & other) | (a & ~other);
  }
  template <class T>
  static T of(T x, T key) {
    const auto product = [](std::uint64_t a, std::uint32_t m) { return (a & 0xffffffff) * m; };
    return static_cast<T>(words(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(key), product));
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops
