// InlineVector does what std::vector does: random operations on both, of elements that fit inside and of more.
#include "oriel/inline_vector.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace inline_vector_test {

using oriel::InlineVector;

namespace {

// Aligned more strictly than operator new aligns by itself.
struct alignas(64) Wide {
  std::int64_t value = 0;
  Wide() = default;
  Wide(std::int64_t its_value) : value(its_value) {}  // NOLINT(google-explicit-constructor)
  friend bool operator==(const Wide& a, const Wide& b) { return a.value == b.value; }
  friend bool operator<(const Wide& a, const Wide& b) { return a.value < b.value; }
};

template <class T>
T element(std::uint64_t x);
template <>
std::int64_t element(std::uint64_t x) {
  return static_cast<std::int64_t>(x % 100);
}
template <>
Wide element(std::uint64_t x) {
  return static_cast<std::int64_t>(x % 100);
}
template <>
std::string element(std::uint64_t x) {
  return std::string(x % 40, static_cast<char>('a' + x % 26));
}

template <class T, std::size_t N>
bool same(const InlineVector<T, N>& a, const std::vector<T>& b) {
  if (a.size() != b.size() || a.empty() != b.empty() || a.capacity() < a.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(a[i] == b[i]) || !(a.at(i) == b[i])) return false;
  return reinterpret_cast<std::uintptr_t>(a.data()) % alignof(T) == 0;
}

template <class T, std::size_t N>
void try_operations(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  InlineVector<T, N> a;
  std::vector<T> b;
  for (int step = 0; step < 4000; ++step) {
    const T x = element<T>(random());
    const std::size_t at = b.empty() ? 0 : random() % (b.size() + 1);
    const std::size_t count = random() % 4;
    const auto ia = a.begin() + static_cast<std::ptrdiff_t>(at);
    const auto ib = b.begin() + static_cast<std::ptrdiff_t>(at);
    const std::uint64_t kind = random() % 20;
    INFO("seed ", seed, ", step ", step, ", kind ", kind);
    if (kind < 3) {
      a.push_back(x);
      b.push_back(x);
    } else if (kind == 3) {
      REQUIRE(*a.insert(ia, x) == x);
      b.insert(ib, x);
    } else if (kind == 4) {
      a.insert(ia, count, x);
      b.insert(ib, count, x);
    } else if (kind == 5) {  // elements of the vector itself
      const std::vector<T> kept(b.begin(), ib);
      a.insert(ia, a.begin(), ia);
      b.insert(ib, kept.begin(), kept.end());
    } else if (kind == 6) {
      const std::list<T> list = {x, x};
      a.insert(ia, list.begin(), list.end());
      b.insert(ib, list.begin(), list.end());
    } else if (kind < 9 && !b.empty()) {
      const std::size_t end = at + random() % (b.size() - at + 1);
      a.erase(ia, a.begin() + static_cast<std::ptrdiff_t>(end));
      b.erase(ib, b.begin() + static_cast<std::ptrdiff_t>(end));
    } else if (kind == 9 && !b.empty()) {
      a.pop_back();
      b.pop_back();
    } else if (kind == 10) {
      a.resize(count + 1);
      b.resize(count + 1);
    } else if (kind == 11) {
      a.resize(b.size() + count, x);
      b.resize(b.size() + count, x);
    } else if (kind == 12) {
      a.assign(count, x);
      b.assign(count, x);
    } else if (kind == 13) {
      const std::list<T> list(count, x);
      a.assign(list.begin(), list.end());
      b.assign(list.begin(), list.end());
    } else if (kind == 14) {
      const InlineVector<T, N> copy = a;
      a.clear();
      a = copy;
    } else if (kind == 15) {
      InlineVector<T, N> moved = std::move(a);
      REQUIRE(same(moved, b));
      a = std::move(moved);
    } else if (kind == 16) {
      InlineVector<T, N> other{x, x, x};
      swap(a, other);
      REQUIRE(same(a, std::vector<T>(3, x)));
      a.swap(other);
    } else if (kind == 17) {
      if (!b.empty()) a.push_back(a.front());  // an element of the vector, which may move
      if (!b.empty()) b.push_back(T(b.front()));
    } else if (kind == 18) {
      a.reserve(b.size() + count);
    } else if (kind == 19 && b.size() > 12) {
      a = {x};
      b = {x};
    }
    REQUIRE(same(a, b));
    REQUIRE(std::vector<T>(a.rbegin(), a.rend()) == std::vector<T>(b.rbegin(), b.rend()));
    std::vector<T> c = b;
    if (!c.empty()) c[count % c.size()] = x;
    const InlineVector<T, N> changed(c.begin(), c.end());
    REQUIRE((a == changed) == (b == c));
    REQUIRE((a < changed) == (b < c));
    REQUIRE((changed < a) == (c < b));
  }
}

// Throws when the third copy is made; counts those that live.
struct Throwing {
  inline static int alive = 0;
  inline static int copies = 0;
  Throwing() { ++alive; }
  Throwing(const Throwing&) {
    if (++copies == 3) throw std::runtime_error("the third copy");
    ++alive;
  }
  Throwing(Throwing&&) noexcept { ++alive; }
  Throwing& operator=(const Throwing&) = default;
  Throwing& operator=(Throwing&&) noexcept = default;
  ~Throwing() { --alive; }
};

}  // namespace

TEST_CASE("random operations give what std::vector gives") {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    try_operations<std::int64_t, 8>(seed);
    try_operations<std::int64_t, 1>(seed);
    try_operations<std::string, 2>(seed);
    try_operations<Wide, 2>(seed);
  }
}

TEST_CASE("positions and sizes out of range are the errors of std::vector") {
  InlineVector<int, 2> list{1, 2};
  CHECK_THROWS_AS(list.at(2), std::out_of_range);
  CHECK_THROWS_AS(std::as_const(list).at(5), std::out_of_range);
  CHECK_THROWS_AS(list.reserve(list.max_size() + 1), std::length_error);
  CHECK(same(list, {1, 2}));
}

TEST_CASE("a copy that throws leaves no element behind") {
  {
    const InlineVector<Throwing, 2> list(5);
    Throwing::copies = 0;
    CHECK_THROWS_AS((InlineVector<Throwing, 2>(list)), std::runtime_error);
    CHECK(Throwing::alive == 5);
    Throwing::copies = 0;
    InlineVector<Throwing, 2> other(1);
    CHECK_THROWS_AS(other = list, std::runtime_error);
    CHECK(Throwing::alive == static_cast<int>(5 + other.size()));
  }
  CHECK(Throwing::alive == 0);
}

TEST_CASE("vectors of integers convert") {
  const std::vector<std::int32_t> narrow{1, -2};
  const InlineVector<std::int64_t, 8> wide = narrow;
  CHECK(same(wide, {1, -2}));
}

}  // namespace inline_vector_test
