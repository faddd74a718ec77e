// FunctionOptions::verify: calls that are compared with the callable.
#include <doctest/doctest.h>

#include <cmath>
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
                    " is not what its callable is now: at function_verify_test.cpp:" + std::to_string(line) +
                    " \"Const 2: float32 (2, 2)\" has become \"Const 5: float32 (2, 2)\". What the callable reads "
                    "besides its arguments, such as a global variable, has changed since it was "
                    "traced; pass it as an argument, or bind it with oriel::bind");
  CHECK(f.counts().verified == 2);
  scale = 2;
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 4, 0, 6});
  CHECK(f.counts().traces == 1);
}

TEST_CASE("last bits that another schedule gives are no difference, and a last bit of a number is one") {
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
  std::vector<Device> devices{Device::eigen()};
  try {
    ones({1}).to(Device::opencl()).realize();
    devices.push_back(Device::opencl());
  } catch (const DeviceError&) {  // there is none
  }
  for (int call = 0; call < 60; ++call) {
    const std::int64_t n = 2 + call * 7 % 61;
    const Device on = devices[static_cast<std::size_t>(call) % devices.size()];
    const auto x = [&](const Shape& shape, int seed) { return numbers(shape, seed).to(on).realize(); };
    CHECK_NOTHROW(attention(x({2, n, 64}, 1), x({2, n + 3, 64}, 2), x({2, n + 3, 24}, 3)));
    CHECK_NOTHROW(products(x({n, 40}, 1), x({40, n}, 2), x({n, 12}, 3)));
#ifndef ORIEL_SMALL
    CHECK_NOTHROW(filtered(x({n}, 1), x({9}, 2)));
#endif
  }
  const Restored restored;
  const auto f = oriel::function([](Tensor x) { return sum(x * scale, 0); }, verified(1, Dynamic::yes));
  CHECK_NOTHROW(f(numbers({1000}, 1)));
  CHECK_NOTHROW(f(numbers({70}, 1)));
  scale = std::nextafter(2.F, 3.F);
  CHECK(has(error_of(f, numbers({1000}, 1)), "\"Const 2: float32 (s0)\" has become \"Const 2.0000002: float32 (s0)\""));
  CHECK(has(error_of(f, numbers({0}, 1)), "is not what its callable is now") == false);  // another entry
}

TEST_CASE("what has changed is named, and nothing is written") {
  const Restored restored;
  const auto f = oriel::function(
      [](Tensor x) {
        const Tensor y = x + 1;
        x += 1;
        return std::tuple(y, where(x > 2, y * scale, y));
      },
      verified(1));
  Tensor x = Tensor::of<float>({{1, 2}, {0, 3}});
  f(x);
  scale = 3;
  CHECK(has(error_of(f, x), "\"Const 2: float32 (2, 2)\" has become \"Const 3: float32 (2, 2)\"."));
  CHECK(x.to_vector<float>() == std::vector<float>{2, 3, 1, 4});
}

TEST_CASE("constants with elements are compared by these, sizes by the guards that are taken") {
  const Restored restored;
  const auto table = oriel::function([](Tensor x) { return x + Tensor::of<float>({1, scale, 3}); }, verified(1));
  const Tensor three = Tensor::of<float>({1, 1, 1});
  table(three);
  CHECK_NOTHROW(table(three));
  scale = 5;
  CHECK(has(error_of(table, three), "2 at (1) of a constant: float32 (3)\" has become \"5\""));
  rounds = 4;
  const auto branch = oriel::function(
      [](Tensor x) {
        if (x.size(0) > rounds) return x * 2;
        return x + 1;
      },
      verified(1, Dynamic::yes));
  branch(zeros({9}));
  branch(zeros({7}));
  rounds = 7;  // 9 is still beyond it
  CHECK_NOTHROW(branch(zeros({9})));
  CHECK(has(error_of(branch, zeros({6})), "it takes the guard x.size(0) > 7"));
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
  differs(
      [](Tensor y) {
        return y.slice({{0, rounds}}) * 2;
      },
      "\"Shrink 0:1: float32 (1)\" has become \"Shrink 0:2: float32 (2)\"");
  differs([](Tensor y) { return rounds == 1 ? y * 2 : y.to(DType::float64); },
          "\"Mul: float32 (s0)\" has become \"Cast: float64 (s0)\"");
  differs([](Tensor y) { return std::pair(y * 2, y.size(0) * rounds); },
          "size 0 of the result has become 2*s0 from s0");
  differs([](Tensor y) { return std::pair(y * 2, rounds + 3); }, "number 0 of the result has become 5 from 4");
  differs([](Tensor y) { return std::vector<Tensor>(static_cast<std::size_t>(rounds), y * 2); },
          "the number of tensors in its result has become 2 from 1");
  differs([](Tensor y) { return masked_select(y, y >= rounds); },
          "\"Const 1: float32 (s0)\" has become \"Const 2: float32 (s0)\"");
}

TEST_CASE("a permutation of the result is named, with its line") {
  const Restored restored;
  const int line = __LINE__ + 1;
  const auto f = oriel::function([](Tensor y) { return rounds == 1 ? y : y.permute({1, 0}); }, verified(1));
  const Tensor x = Tensor::of<float>({{1, 2}, {0, 3}});
  f(x);
  rounds = 2;
  const std::string text = error_of(f, x);
  CHECK(has(text, "\"no movement\" has become \"Permute order (1, 0): float32 (2, 2)\""));
  CHECK(has(text, "function_verify_test.cpp:" + std::to_string(line)));
}

TEST_CASE("what the callable writes is compared, and is not written where it differs") {
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
  CHECK(has(error_of(f, x, part), "\"Const 2: float32 (2)\" has become \"Const 1: float32 (2)\""));
  CHECK(x.to_vector<float>() == std::vector<float>{7, 6, 4, 3});  // nothing has run
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
  CHECK(has(error_of(f, x, y), "\"Const 2: float32 (6)\" has become \"Const 3: float32 (6)\""));
}

}  // namespace function_verify_test
