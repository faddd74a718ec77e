// Compiled kernels of captured functions with symbolic sizes: one unit serves many sizes. Its bits are those of the
// tile machine, and those of kernels that are compiled for these sizes alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oriel/debug.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace function_compiled_test {

using namespace oriel;

namespace {

using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Numbers of many magnitudes, so that the order of a sum shows.
Tensor numbers(const Shape& shape, std::uint32_t seed = 1) {
  std::uint32_t state = seed * 2654435761U + 12345U;
  return Tensor::generate(shape, [&](auto) {
    state = state * 1664525U + 1013904223U;
    return (static_cast<float>(state >> 8) / 16777216.0F - 0.5F) * static_cast<float>(1U << (state >> 4) % 8);
  });
}

/// Counts the units that the compiler builds, those that are found on disk, and the kernels whose tier is decided.
class Units {
 public:
  Units() {
    set_debug_sink([this](std::string_view line) {
      built_ += line.find("built a unit") != std::string_view::npos ? 1 : 0;
      found_ += line.find("in the disk cache") != std::string_view::npos ? 1 : 0;
      decided_ += line.find(" from now on, compiled takes ") != std::string_view::npos ? 1 : 0;
    });
    set_debug("compile");
    set_eigen_tier(EigenTier::compile);
  }
  Units(const Units&) = delete;
  ~Units() {
    set_eigen_tier(before_);
    set_debug("compile=0");
    set_debug_sink({});
  }
  int made() const { return built_ + found_; }
  int decided() const { return decided_; }

 private:
  const EigenTier before_ = eigen_tier();
  int built_ = 0;
  int found_ = 0;
  int decided_ = 0;
};

/// The conversion is no kernel of the function.
std::vector<double> elements(const Tensor& x) {
  x.realize();
  const EigenTier before = eigen_tier();
  set_eigen_tier(EigenTier::tile);
  std::vector<double> out = x.to(DType::float64).to_vector<double>();
  set_eigen_tier(before);
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Short and long rows, odd lengths, more rows than columns and fewer.
const Sizes several = {{150, 40}, {151, 43}, {160, 100}, {300, 33}, {100, 128},
                       {80, 50},  {401, 37}, {200, 64},  {170, 95}};

/// Calls a captured function at all sizes. From the second set on nothing is compiled. Results have the bits of the
/// tile machine.
template <class Program>
std::vector<double> check_units(const Program& program, const Sizes& sizes = several) {
  const auto f = function(program, {.dynamic = Dynamic::yes});
  runtime::clear_caches();
  const Units units;
  std::vector<std::vector<double>> results;
  int made = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto [n, m] = sizes[k];
    CAPTURE(n);
    CAPTURE(m);
    const Tensor x = numbers({n, m});
    x.realize();
    results.push_back(elements(f(x)));
    set_eigen_tier(EigenTier::tile);
    CHECK(same_bits(results.back(), elements(f(x))));
    set_eigen_tier(EigenTier::compile);
    if (k < 2) made = units.made();
    if (k == 1) CHECK(made == 2);
    CHECK(units.made() == made);
  }
  CHECK(f.counts().traces == 1);
  CHECK(f.entries()[0].scheduled == 2);
  return results.back();
}

/// As check_units. At the last set of sizes the bits are also those of kernels that are compiled for these sizes alone.
template <class Program>
void check_units_and_alone(const Program& program) {
  const std::vector<double> shared = check_units(program);
  runtime::clear_caches();
  const Units units;
  const auto alone = function(program, {.dynamic = Dynamic::no});
  CHECK(same_bits(shared, elements(alone(numbers({several.back().first, several.back().second})))));
  CHECK(units.made() > 0);
}

}  // namespace

TEST_CASE("elementwise kernels of many sizes are one unit") {
  check_units_and_alone([](Tensor x) { return exp(x * 2 + 1) - x; });
  check_units([](Tensor x) { return (x.to(DType::int32) * 3 + 1) / 2; });
  check_units([](Tensor x) { return x.to(DType::float16) * 2 + x.to(DType::float16); });
}

TEST_CASE("kernels over other slices of the same memory are one unit") {
  Tensor z = numbers({40, 300});
  z.realize();
  runtime::clear_caches();
  Tensor sums = zeros({3}).realize();
  const auto step = [&](std::int64_t t) {
    Tensor row = z.select(0, t + 1);
    row.assign(row * 0.5 - z.select(0, t).flip(0) / 4);
    row.realize();
    sums = (sums + sum(z.slice({{t, t + 2}, {t, t + 3}}), 0) / 3).realize();
  };
  std::vector<double> wanted;
  {
    const std::vector<double> before = elements(z);
    const EigenTier tier = eigen_tier();
    set_eigen_tier(EigenTier::tile);
    for (std::int64_t t = 0; t < 30; ++t) step(t);
    wanted = elements(z);
    z.assign(Tensor::from(before, {40, 300}).to(DType::float32));
    z.realize();
    CHECK(elements(z) == before);
    set_eigen_tier(tier);
  }
  const Units units;
  step(0);
  const int made = units.made();
  CHECK(made > 0);
  for (std::int64_t t = 1; t < 30; ++t) step(t);
  CHECK(units.made() == made);
  CHECK(same_bits(elements(z), wanted));
}

TEST_CASE("kernels of views of many sizes are one unit") {
  check_units_and_alone([](Tensor x) { return pad(x.flip(0), {{1, 2}, {0, 3}}) * 2; });
  check_units([](Tensor x) { return x.transpose().slice({{1, -1}, {2}}) + 1; });
  check_units([](Tensor x) { return repeat(x, {2, 3}) * 2; });
  check_units([](Tensor x) { return x.slice({{}, {.step = 2}}) * 3; }, {{150, 40}, {151, 44}, {160, 100}, {300, 36}});
  check_units([](Tensor x) { return tril(x) + triu(x, 1) * 2; });
  check_units([](Tensor x) { return x + arange(x.size(1)) / x.size(0); });
}

TEST_CASE("reductions of many sizes are one unit") {
  check_units_and_alone([](Tensor x) { return sum(x, 1) * 2; });
  check_units_and_alone([](Tensor x) { return sum(x * x, 0); });
  check_units([](Tensor x) { return max(x, 1) + mean(x, 1); });
  check_units([](Tensor x) { return sum(x.to(DType::float64), 0); });
  check_units([](Tensor x) { return argmax(x, 1); });
}

TEST_CASE("contractions of many sizes are one unit") {
  check_units_and_alone([](Tensor x) { return relu(matmul(x, x.transpose()) + 1); });
  check_units([](Tensor x) { return matmul(x.slice({{}, {0, 24}}), x.slice({{0, 24}, {0, 31}})); });
  // Long depths are summed in segments.
  check_units([](Tensor x) { return matmul(x.transpose(), x); }, {{5000, 24}, {5001, 25}, {9001, 24}, {8300, 31}});
  check_units([](Tensor x) { return matmul(x, x.transpose()); }, {{30, 12}, {31, 13}, {60, 10}, {20, 14}});
}

TEST_CASE("sizes with another specialisation key have another unit") {
  runtime::clear_caches();
  const Units units;
  const auto f = function([](Tensor x) { return sum(x + 2, 0); }, {.dynamic = Dynamic::yes});
  const auto check = [&](std::int64_t n, std::int64_t m, int made) {
    CAPTURE(n);
    CAPTURE(m);
    const Tensor x = numbers({n, m});
    x.realize();
    const std::vector<double> got = elements(f(x));
    CHECK(units.made() == made);
    set_eigen_tier(EigenTier::tile);
    CHECK(same_bits(got, elements(f(x))));
    set_eigen_tier(EigenTier::compile);
  };
  check(600, 40, 1);
  check(601, 41, 2);
  check(1000, 128, 2);
  check(600, 20, 3);  // tiles of fewer columns
  check(900, 31, 3);
  check(1025, 41, 4);  // columns of several blocks
  check(2300, 100, 4);
  check(700, 21, 4);
  check(1030, 22, 5);
}

TEST_CASE("kernels of many sizes that keep rows are one unit") {
  check_units_and_alone([](Tensor x) { return softmax(x, 1); });
  check_units([](Tensor x) { return softmax(x.to(DType::float64), 1); });
  check_units([](Tensor x) { return layer_norm(tanh(x), 1); });
  // Longer than the elements of a block of rows.
  check_units([](Tensor x) { return softmax(x, 1); }, {{40, 5000}, {41, 4100}, {60, 9000}, {33, 4096}});
}

TEST_CASE("large kernels of many sizes are one unit") {
  check_units([](Tensor x) {
    Tensor y = x;
    for (int k = 0; k < 40; ++k) y = y * 1.01F + x;
    return y - softmax(y, 1);
  });
}

TEST_CASE("numbers given at launch stay what a call gives") {
  runtime::clear_caches();
  const Units units;
  const auto program = [](Tensor x, Tensor k) { return exp(x) * k + x.size(0); };
  const auto f = function(program, {.dynamic = Dynamic::yes});
  int made = 0;
  for (const std::int64_t n : {100, 101, 130, 170}) {
    const Tensor x = numbers({n, 20});
    const float k = static_cast<float>(n) / 7;
    const std::vector<double> got = elements(f(x, k));
    if (n < 105) made = units.made();
    CHECK(units.made() == made);
    set_eigen_tier(EigenTier::tile);
    CHECK(same_bits(got, elements(program(x, scalar(k)))));
    set_eigen_tier(EigenTier::compile);
  }
}

TEST_CASE("equal kernels of a plan, and of other plans, share a unit") {
  runtime::clear_caches();
  const Units units;
  const auto two = [](Tensor x, Tensor y) { return std::pair{softmax(x, 1), softmax(y, 1)}; };
  const auto f = function(two, {.dynamic = Dynamic::yes});
  const auto call = [&](std::int64_t n) { f(numbers({n, 24}), numbers({n + 7, 25})); };
  call(100);
  call(101);
  const int made = units.made();
  // Another plan serves 1000.
  for (const std::int64_t n : {401, 1000, 70}) call(n);
  CHECK(f.entries()[0].scheduled == 3);
  CHECK(units.made() == made);
}

TEST_CASE("threads that meet new sizes share units") {
  runtime::clear_caches();
  const Units units;
  const auto program = [](Tensor x) { return softmax(x * 3, 1); };
  const auto f = function(program, {.dynamic = Dynamic::yes});
  f(numbers({64, 9}));
  f(numbers({65, 10}));
  const int made = units.made();
  std::vector<std::vector<float>> results(4 * 20);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t k = 0; k < 20; ++k) {
        const auto n = static_cast<std::int64_t>(66 + k + t), m = static_cast<std::int64_t>(10 + k % 7);
        results[20 * t + k] = f(numbers({n, m})).to_vector<float>();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(units.made() == made);
  set_eigen_tier(EigenTier::tile);
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t k = 0; k < 20; ++k) {
      const auto n = static_cast<std::int64_t>(66 + k + t), m = static_cast<std::int64_t>(10 + k % 7);
      CHECK(same_bits(results[20 * t + k], f(numbers({n, m})).to_vector<float>()));
    }
  }
}

// Each size runs for a millisecond, and the compiler takes a hundred. So sizes that are watched one by one are never
// built.
TEST_CASE("under auto the kernels of many sizes are watched together, built once and measured once") {
  runtime::clear_caches();
  const Units units;
  const auto f = function(
      [](Tensor x) {
        for (int k = 0; k < 40; ++k) x = x * 0.75F + 1;
        return x;
      },
      {.dynamic = Dynamic::yes});
  std::vector<float> memory = numbers({50000, 4}).to_vector<float>();
  std::int64_t n = 30000;
  const auto run = [&](EigenTier tier) {
    set_eigen_tier(tier);
    return f(Tensor::borrow(memory.data(), {n, 4})).realize();
  };
  bool same = true;
  const auto call = [&] {
    ++n;
    const Tensor got = run(EigenTier::automatic);
    if (n % 8 == 0) same = same && same_bits(elements(got), elements(run(EigenTier::tile)));
  };
  const auto start = std::chrono::steady_clock::now();
  while (units.decided() == 0 && n < 45000 && std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
    call();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the compiler runs in the background
  }
  CHECK(units.decided() == 1);
  for (int k = 0; k < 200; ++k) call();
  CHECK(same);
  CHECK(units.made() == 1);
  CHECK(units.decided() == 1);
  CHECK(f.counts().traces == 1);
  CHECK(f.entries()[0].scheduled == 2);
}

TEST_CASE("a kernel of many sizes outlives its captured function") {
  runtime::clear_caches();
  const Units units;
  const auto program = [](Tensor x) { return exp(x * 3 - 1) + 2; };
  set_eigen_tier(EigenTier::automatic);
  {
    const auto f = function(program, {.dynamic = Dynamic::yes});
    for (const std::int64_t n : {100, 101, 102}) elements(f(numbers({n, 20})));
  }
  // The kernel of 102 rows is known. The plan that could render it for all sizes is gone.
  set_eigen_tier(EigenTier::compile);
  const Tensor x = numbers({102, 20});
  const std::vector<double> got = elements(program(x));
  CHECK(units.made() == 1);
  set_eigen_tier(EigenTier::tile);
  CHECK(same_bits(got, elements(program(x))));
}

TEST_CASE("kernels that outlive their captured function do not read its sizes") {
  runtime::clear_caches();
  const Units units;
  const auto program = [](Tensor x) {
    for (int k = 0; k < 40; ++k) x = x * 0.5F + 2;
    return x;
  };
  std::vector<float> memory = numbers({50000, 4}).to_vector<float>();
  const auto call = [&](const auto& f, std::int64_t n) {
    const Tensor got = f(Tensor::borrow(memory.data(), {n, 4})).realize();
    set_eigen_tier(EigenTier::tile);
    const bool same = same_bits(elements(got), elements(f(Tensor::borrow(memory.data(), {n, 4}))));
    set_eigen_tier(EigenTier::automatic);
    return same;
  };
  set_eigen_tier(EigenTier::automatic);
  const std::int64_t first = 30000;
  std::int64_t end = first;
  {
    const auto f = function(program, {.dynamic = Dynamic::yes});
    const auto start = std::chrono::steady_clock::now();
    while (units.made() == 0 && end < 45000 && std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
      f(Tensor::borrow(memory.data(), {++end, 4})).realize();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  CHECK(units.made() == 1);
  // The kernels of these sizes are known. Most of them have only run on the tile machine.
  const auto g = function(program, {.dynamic = Dynamic::yes});
  bool same = true;
  for (std::int64_t n = std::max(first, end - 60); n <= end; ++n) same = call(g, n) && same;
  CHECK(same);
}

}  // namespace function_compiled_test
