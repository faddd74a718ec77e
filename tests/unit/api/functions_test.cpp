// Functions of floats: C's special cases (ISO/IEC 9899, Annex F), the dtypes of results, and ordinary arguments.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"

namespace functions_test {

using namespace oriel;

namespace {

template <class T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list;
  for (const T x : {T(0), T(0.25), T(0.5), T(1), T(1.5), T(3), T(10), T(90), T(1000), T(1e30), Limits::min(),
                    Limits::denorm_min(), Limits::epsilon(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    list.push_back(x);
    list.push_back(-x);
  }
  return list;
}

template <class T>
void check_same(T got, T want) {
  if (std::isnan(want)) {
    CHECK(std::isnan(got));
  } else if (want == 0 || std::isinf(want)) {
    CHECK((got == want && std::signbit(got) == std::signbit(want)));
  } else {
    CHECK(std::fabs(got - want) <=
          8 * std::numeric_limits<T>::epsilon() * std::fabs(want) + 8 * std::numeric_limits<T>::denorm_min());
  }
}

template <class T>
void check_one(const char* name, Tensor (*f)(const Operand&), T (*want)(T)) {
  const std::vector<T> x = edges<T>();
  const std::vector<T> got = f(Tensor::from(x, {static_cast<std::int64_t>(x.size())})).template to_vector<T>();
  for (std::size_t k = 0; k < x.size(); ++k) {
    INFO(name, "(", x[k], ") is ", got[k], ", C's ", want(x[k]));
    check_same(got[k], want(x[k]));
  }
}

template <class T>
void check_two(const char* name, Tensor (*f)(const Operand&, const Operand&), T (*want)(T, T)) {
  const std::vector<T> some = edges<T>();
  std::vector<T> x;
  std::vector<T> y;
  for (const T a : some) {
    for (const T b : some) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<T> got = f(Tensor::from(x, {n}), Tensor::from(y, {n})).template to_vector<T>();
  for (std::size_t k = 0; k < x.size(); ++k) {
    INFO(name, "(", x[k], ", ", y[k], ") is ", got[k], ", C's ", want(x[k], y[k]));
    check_same(got[k], want(x[k], y[k]));
  }
}

template <class T>
void check_all() {
#define ONE(f) check_one<T>(#f, &oriel::f, [](T x) { return std::f(x); })
  ONE(expm1);
  ONE(log1p);
  ONE(log10);
  ONE(asin);
  ONE(acos);
  ONE(atan);
  ONE(sinh);
  ONE(cosh);
  ONE(asinh);
  ONE(acosh);
  ONE(atanh);
  ONE(erfc);
#undef ONE
#define TWO(f) check_two<T>(#f, &oriel::f, [](T x, T y) { return std::f(x, y); })
  TWO(hypot);
  TWO(copysign);
  TWO(nextafter);
#undef TWO
}

/// The rank of a half in the order of all halves, with -0 and 0 equal.
int rank_of(std::uint16_t bits) { return (bits & 0x8000) != 0 ? -(bits & 0x7fff) : bits; }

}  // namespace

TEST_CASE("functions of floats are C's at every edge") {
  check_all<float>();
  check_all<double>();
}

TEST_CASE("nextafter steps through every half") {
  for (const DType half : {DType::float16, DType::bfloat16}) {
    CAPTURE(name(half));
    const Tensor bits = arange(65536).to(DType::uint16);
    const Tensor x = bits.bitcast(half);
    const int infinity = half == DType::float16 ? 0x7c00 : 0x7f80;
    const auto all = bits.to_vector<std::uint16_t>();
    for (const bool up : {true, false}) {
      const Tensor next = nextafter(x, full({}, up ? INFINITY : -INFINITY, half));
      CHECK(next.dtype() == half);
      const auto got = next.bitcast(DType::uint16).to_vector<std::uint16_t>();
      int bad = 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const int at = rank_of(all[k]);
        if (std::abs(at) > infinity) {
          bad += std::abs(rank_of(got[k])) <= infinity;
        } else {
          const int want = up ? std::min(at + 1, infinity) : std::max(at - 1, -infinity);
          bad += rank_of(got[k]) != want;
        }
      }
      CHECK(bad == 0);
    }
  }
  CHECK(nextafter(Tensor::of<float>({1}), 1).to_vector<float>() == std::vector<float>{1});
}

TEST_CASE("integers and bool are taken as float32, halves stay halves") {
  using F = Tensor (*)(const Operand&);
  for (const F f : {static_cast<F>(&oriel::expm1), static_cast<F>(&oriel::log1p), static_cast<F>(&oriel::log10),
                    static_cast<F>(&oriel::asin), static_cast<F>(&oriel::acos), static_cast<F>(&oriel::atan),
                    static_cast<F>(&oriel::sinh), static_cast<F>(&oriel::cosh), static_cast<F>(&oriel::asinh),
                    static_cast<F>(&oriel::acosh), static_cast<F>(&oriel::atanh), static_cast<F>(&oriel::erfc)}) {
    const Tensor whole = Tensor::of<int>({1, 1, 1});
    CHECK(f(whole).dtype() == DType::float32);
    CHECK(f(whole.to(DType::bool_)).dtype() == DType::float32);
    CHECK(f(whole.to(DType::bfloat16)).dtype() == DType::bfloat16);
    const auto same = [](const Tensor& a, const Tensor& b) {
      return a.bitcast(DType::int32).to_vector<std::int32_t>() == b.bitcast(DType::int32).to_vector<std::int32_t>();
    };
    CHECK(same(f(whole), f(whole.to(DType::float32))));
  }
  using G = Tensor (*)(const Operand&, const Operand&);
  for (const G g :
       {static_cast<G>(&oriel::hypot), static_cast<G>(&oriel::copysign), static_cast<G>(&oriel::nextafter)}) {
    const Tensor whole = Tensor::of<int>({3, 4});
    CHECK(g(whole, whole).dtype() == DType::float32);
    CHECK(g(whole.to(DType::float64), whole).dtype() == DType::float64);
    CHECK(g(whole.to(DType::float16), 2).dtype() == DType::float16);
  }
  CHECK(hypot(Tensor::of<int>({3}), 4).to_vector<float>() == std::vector<float>{5});
  CHECK(log10(Tensor::of<int>({1, 10, 1000, 1000000})).to_vector<float>() == std::vector<float>{0, 1, 3, 6});
}

TEST_CASE("a function that is 0 at 0 passes padding, the others do not") {
  const Tensor x = Tensor::of<float>({0.5F});
  const auto padded = [&](const Tensor& y) { return pad(y, {{1, 1}}).to_vector<float>(); };
  CHECK(sinh(pad(x, {{1, 1}})).to_vector<float>() == padded(sinh(x)));
  CHECK(cosh(pad(x, {{1, 1}})).to_vector<float>()[0] == 1);
  CHECK(erfc(pad(x, {{1, 1}})).to_vector<float>()[2] == 1);
  CHECK(acos(pad(x, {{1, 1}})).to_vector<float>()[0] == acos(Tensor::of<float>({0})).to_vector<float>()[0]);
}

}  // namespace functions_test
