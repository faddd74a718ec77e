// FunctionOptions::verify: calls that are compared with the callable.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_verify_test {

using namespace oriel;
using namespace oriel::test;

namespace {

float scale = 2;
int rounds = 1;

FunctionOptions verified(std::uint64_t every, Dynamic dynamic = Dynamic::automatic) {
  FunctionOptions options = with(dynamic);
  options.verify = every;
  return options;
}

template <class F, class... T>
std::string error_of(const F& f, const T&... x) {
  try {
    f(x...);
  } catch (const ArgumentError& error) {
    return std::string(error.message());
  }
  return "no error";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Restored {
  ~Restored() {
    scale = 2;
    rounds = 1;
  }
};

}  // namespace

TEST_CASE("a value from outside that has changed is found at the next call that is compared") {
  const Restored restored;
  const int line = __LINE__ + 1;
  const auto f = oriel::function([](Tensor x) { return x * scale; }, verified(3));
  const Tensor x = Tensor::of<float>({{1, 2}, {0, 3}});
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 4, 0, 6});
  CHECK(f.counts().verified == 1);  // the traced call
  scale = 5;
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 4, 0, 6});  // stale, and not the third call
  const std::string text = error_of(f, x);
  CHECK(text == "function: the captured function of function_verify_test.cpp:" + std::to_string(line) +
                    " does not give what its callable gives: element (0, 0) of the result is 2, and should be 5. What "
                    "the callable reads besides its arguments, such as a global variable, has changed since it was "
                    "traced; pass it as an argument, or bind it with oriel::bind");
  CHECK(f.counts().verified == 2);
  scale = 2;
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 4, 0, 6});
  CHECK(f.counts().traces == 1);
}

TEST_CASE("last bits that another schedule gives are no difference") {
  const auto numbers = [](const Shape& shape, int seed) {
    return (sin(iota(shape).to(DType::float32) * (0.7 + seed)) * 3).realize();
  };
  const auto attention = oriel::function(
      [](Tensor q, Tensor k, Tensor v) { return matmul(softmax(matmul(q, k.transpose()) * 0.125, -1), v); },
      verified(1, Dynamic::yes));
  const auto products = oriel::function(
      [](Tensor a, Tensor b, Tensor c) {
        return einsum("ij,jk,kl->il", {a, b, c});
      },
      verified(1, Dynamic::yes));
#ifndef ORIEL_SMALL
  const auto filtered = oriel::function([](Tensor a, Tensor b) { return fftconvolve(a, b); }, verified(1));
#endif
  for (const std::int64_t n : {17, 33, 64, 100, 130}) {
    CHECK_NOTHROW(attention(numbers({2, n, 64}, 1), numbers({2, n + 3, 64}, 2), numbers({2, n + 3, 24}, 3)));
    CHECK_NOTHROW(products(numbers({n, 40}, 1), numbers({40, n}, 2), numbers({n, 12}, 3)));
#ifndef ORIEL_SMALL
    CHECK_NOTHROW(filtered(numbers({n}, 1), numbers({9}, 2)));
#endif
  }
  // A change that is as small is not told from these, but one in the fourth digit is.
  const Restored restored;
  const auto f = oriel::function([](Tensor x) { return sum(x * scale, 0); }, verified(1));
  CHECK_NOTHROW(f(numbers({1000}, 1)));
  scale = 2.001F;
  CHECK(has(error_of(f, numbers({1000}, 1)), "does not give what its callable gives"));
}

TEST_CASE("the result and the element that differ are named") {
  const Restored restored;
  const auto f = oriel::function(
      [](Tensor x) {
        const Tensor y = x + 1;
        return std::tuple(y, where(x > 2, y * scale, y));
      },
      verified(1));
  const Tensor x = Tensor::of<float>({{1, 2}, {0, 3}});
  f(x);
  scale = 3;
  CHECK(has(error_of(f, x), "element (1, 1) of result 1 is 8, and should be 12."));
}

TEST_CASE("shapes, dtypes, sizes, numbers and counts of results are compared") {
  const Restored restored;
  const Tensor x = Tensor::of<float>({1, 2, 0, 3});
  const auto differs = [&](const auto& callable, std::string_view what) {
    rounds = 1;
    const auto f = oriel::function(callable, verified(1, Dynamic::yes));
    f(x);
    f(Tensor::of<float>({1, 2, 0, 3, 4, 1}));
    rounds = 2;
    CHECK(has(error_of(f, x), what));
  };
  differs([](Tensor y) { return y.slice({{0, rounds}}) * 2; }, "the result has the shape (1), and should have (2)");
  differs([](Tensor y) { return rounds == 1 ? y * 2 : y.to(DType::float64); },
          "the result is float32, and should be float64");
  differs([](Tensor y) { return std::pair(y * 2, y.size(0) * rounds); }, "size 0 of the result is 4, and should be 8");
  differs([](Tensor y) { return std::pair(y * 2, rounds + 3); }, "number 0 of the result is 4, and should be 5");
  differs([](Tensor y) { return std::vector<Tensor>(static_cast<std::size_t>(rounds), y * 2); },
          "it has 1 tensors as results, and should have 2");
  differs([](Tensor y) { return masked_select(y, y >= rounds); }, "the result has the shape (3), and should have (2)");
}

TEST_CASE("what the callable writes goes to other memory in the comparison, and is compared") {
  const Restored restored;
  const auto f = oriel::function(
      [](Tensor x, Tensor part) {
        part += scale;
        x.select(0, 0).assign(7);
      },
      verified(1));
  Tensor x = Tensor::of<float>({1, 2, 0, 3});
  Tensor part = x.slice({{1, 3}});  // of the same storage
  f(x, part);
  f(x, part);
  CHECK(x.to_vector<float>() == std::vector<float>{7, 6, 4, 3});
  scale = 1;
  CHECK(has(error_of(f, x, part), "element (1) of the argument x after the call is 8, and should be 7."));
  CHECK(x.to_vector<float>() == std::vector<float>{7, 8, 6, 3});
}

TEST_CASE("functions whose values stay are compared without a difference") {
  const auto f = oriel::function(
      [](Tensor x, Tensor w, auto k) {
        const Tensor y = softmax(matmul(x, w) * k, 1);
        return std::tuple(y.transpose(), cumsum(y - 0.5, 0), x, masked_select(y, y > 0.3), roll(y, 1, 0), 0 / (x - x),
                          x.size(0) + 1);
      },
      verified(1, Dynamic::yes));
  for (const std::int64_t n : {5, 9, 2, 70, 5}) {
    const auto got = f(numbers({n, 3}), numbers({3, 4}, -1), 0.5F);
    CHECK(std::get<6>(got) == n + 1);
  }
  CHECK(f.counts().verified == 5);
  CHECK(f.counts().traces == 1);
}

TEST_CASE("calls on a device are compared as well") {
  const auto f = oriel::function([](Tensor x, Tensor y) { return x * scale + y; }, verified(1));
  const Restored restored;
  scale = 2;
  Tensor x, y;
  try {
    x = ones({6}).to(Device::opencl()).realize();
    y = (x + 1).realize();
  } catch (const DeviceError&) {
    return;  // there is no device
  }
  CHECK(f(x, y).to_vector<float>() == std::vector<float>(6, 4));
  CHECK(f(y, y).to_vector<float>() == std::vector<float>(6, 6));
  scale = 3;
  CHECK(has(error_of(f, x, y), "element (0) of the result is 4, and should be 5"));
}

}  // namespace function_verify_test
