// Keys, and the bits that they give: Philox 4x32-10 on every device.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <set>

#include "ops/functions/philox.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"

namespace random_keys_test {

using namespace oriel;
using Words = std::vector<std::uint64_t>;

namespace {

std::uint64_t value(const Key& key) { return key.bits().item<std::uint64_t>(); }
Words words(const Tensor& x) { return x.to_vector<std::uint64_t>(); }

/// Runs f on the CPU, and on OpenCL if there is a device.
template <class F>
void each_device(F&& f) {
  f(Device::eigen());
  try {
    f(ones({1}).to(Device::opencl()).realize().device());
  } catch (const DeviceError&) {
  }
}

}  // namespace

TEST_CASE("the words of Philox 4x32-10 are those that its authors publish") {
  struct Known {
    std::uint32_t counter[4], key[2], words[4];
  };
  // kat_vectors of Random123.
  const Known known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  const auto joined = [](const std::uint32_t* w) { return w[0] | static_cast<std::uint64_t>(w[1]) << 32; };
  const auto product = [](std::uint64_t a, std::uint32_t m) { return (a & 0xffffffff) * m; };
  for (const Known& k : known) {
    std::uint64_t a = joined(k.counter), b = joined(k.counter + 2);
    ops::Philox::rounds(a, b, joined(k.key), product);
    CHECK(a == joined(k.words));
    CHECK(b == joined(k.words + 2));
  }
}

TEST_CASE("element p has words 0 and 1 of counter p, on every device and for any shape") {
  const std::uint64_t seed = 0x299f31d0a4093822;
  Words want(4099);
  for (std::size_t p = 0; p < want.size(); ++p) want[p] = ops::Philox::of(static_cast<std::uint64_t>(p), seed);
  CHECK(want[0] != want[1]);
  each_device([&](Device device) {
    const Key key(Key(seed).bits().to(device).realize());
    CHECK(words(random_bits(key, {4099})) == want);
    CHECK(words(random_bits(key, {4099, 1, 1})) == want);
    const Words first(want.begin(), want.begin() + 60);
    CHECK(words(random_bits(key, {3, 4, 5})) == first);
    CHECK(words(random_bits(key, {5, 2, 6}).transpose(0, 2).contiguous().transpose(0, 2)) == first);
  });
  CHECK(words(random_bits(Key(0), {1})) == Words{0xe169c58d6627e8d5});
  CHECK(random_bits(Key(1), {0, 3}).shape() == Shape{0, 3});
}

TEST_CASE("uniform numbers are the leading bits, and the same on every device") {
  const Words bits = words(random_bits(Key(7), {1000}));
  each_device([&](Device device) {
    const Key key(Key(7).bits().to(device).realize());
    const std::vector<float> single = uniform(key, {1000}).to_vector<float>();
    const std::vector<double> wide = uniform(key, {1000}, 0, 1, DType::float64).to_vector<double>();
    const std::vector<float> half = uniform(key, {1000}, 0, 1, DType::float16).to(DType::float32).to_vector<float>();
    const std::vector<float> brain = uniform(key, {1000}, 0, 1, DType::bfloat16).to(DType::float32).to_vector<float>();
    for (std::size_t p = 0; p < bits.size(); ++p) {
      CHECK(single[p] == static_cast<float>(bits[p] >> 40) * 0x1p-24F);
      CHECK(wide[p] == static_cast<double>(bits[p] >> 11) * 0x1p-53);
      CHECK(half[p] == static_cast<float>(bits[p] >> 53) * 0x1p-11F);
      CHECK(brain[p] == static_cast<float>(bits[p] >> 56) * 0x1p-8F);
    }
  });
}

TEST_CASE("keys split into keys that differ, and a split does not depend on how many there are") {
  const Key key(42);
  std::set<std::uint64_t> seen{value(key)};
  const std::vector<Key> many = split(key, 100);
  for (const Key& k : many) seen.insert(value(k));
  const auto [a, b] = split(key);
  CHECK(value(a) == value(many[0]));
  CHECK(value(b) == value(many[1]));
  for (int step = 0; step < 100; ++step) seen.insert(value(fold_in(key, step)));
  const auto [c, d] = split(a);
  seen.insert({value(c), value(d)});
  // Nor are keys the bits that are drawn.
  for (const std::uint64_t w : words(random_bits(key, {100}))) seen.insert(w);
  CHECK(seen.size() == 303);
  CHECK(split(key, 0).empty());
  // Known keys are numbers; others are computed, to the same bits.
  const Key stored(Key(42).bits().contiguous().realize());
  CHECK(value(split(stored)[1]) == value(b));
  CHECK(value(fold_in(stored, 5)) == value(fold_in(key, 5)));
  CHECK(value(fold_in(key, scalar(5))) == value(fold_in(key, 5)));
  CHECK(value(fold_in(key, -1)) == value(fold_in(stored, scalar(-1))));
}

TEST_CASE("a key is an argument of a captured function, and every size is served by one trace") {
  int traces = 0;
  const auto plain = [](Tensor x, Key key) {
    const auto [a, b] = split(key);
    return x + uniform(a, x.shape()) * 4 - fold_in(b, 3).bits().to(DType::float32);
  };
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  const auto noisy = function(plain, options);
  for (const int n : {3, 7, 100, 2}) {
    const Tensor x = ones({n, 5});
    for (const std::uint64_t seed : {1ULL, 2ULL}) {
      CHECK(noisy(x, Key(seed)).to_vector<float>() == plain(x, Key(seed)).to_vector<float>());
      ++traces;
    }
  }
  CHECK(traces == 8);
  CHECK(noisy.counts().traces == 1);
  CHECK(noisy(ones({4, 5}), Key(1)).to_vector<float>() != noisy(ones({4, 5}), Key(2)).to_vector<float>());
  // A key comes out of a function too.
  const auto next = function([](Key key) { return split(key); });
  CHECK(value(next(Key(9))[1]) == value(split(Key(9))[1]));
  // Every size, 0 and 1 among them.
  const auto draw = function([](Tensor x, Key key) { return uniform(key, {x.size(0)}); });
  for (const int n : {5, 0, 1, 33}) {
    const Tensor x = ones({n});
    mark_unbacked(x, 0);
    CHECK(draw(x, Key(3)).to_vector<float>() == uniform(Key(3), {n}).to_vector<float>());
  }
  CHECK(draw.counts().traces == 1);
}

TEST_CASE("what is no key, and what a key cannot give, is refused") {
  CHECK_THROWS_WITH_AS(Key(ones({2})), "Key: bits are float32; give a uint64, as bits() does", DTypeError);
  CHECK_THROWS_WITH_AS(Key(zeros({2}, DType::uint64)), "Key: bits have shape (2); give one number without axes",
                       ShapeError);
  const Key key(1);
  CHECK_THROWS_WITH_AS((void)split(key, -1), "split: -1 keys; give a number >= 0", ArgumentError);
  CHECK_THROWS_WITH_AS((void)fold_in(key, 1.5), "fold_in: data is float32; give an integer", DTypeError);
  CHECK_THROWS_WITH_AS((void)fold_in(key, iota({2})), "fold_in: data has shape (2); give one without axes", ShapeError);
  CHECK_THROWS_WITH_AS((void)uniform(key, {2}, 0, 1, DType::int32), "uniform: gives floats, not int32", DTypeError);
  CHECK_THROWS_AS((void)uniform(key, {-2}), ShapeError);
  CHECK_THROWS_WITH_AS((void)uniform(key, {2}, 0, INFINITY), "uniform: high is inf; give a finite number",
                       ArgumentError);
  CHECK_THROWS_AS((void)uniform(key, {2}, ones({3})), ShapeError);
}

}  // namespace random_keys_test
