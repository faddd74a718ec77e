// Plans of captured functions whose sizes are symbols: from its second set of sizes on an entry is not scheduled anew.
#include <doctest/doctest.h>

#include <thread>

#include "oriel/debug.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

using namespace oriel;

namespace {

using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;

Tensor numbers(const Shape& shape, float first = 0) {
  float next = first;
  return Tensor::generate(shape, [&](auto) { return next = next > 40 ? first : next + 0.25F; });
}

const Sizes several = {{24, 36}, {25, 37}, {26, 36}, {30, 90}, {47, 31}, {90, 10}, {13, 13}, {64, 64}, {33, 128}};

/// Calls a captured function at all sizes. Each result has the bits that the program gives when it is captured at these
/// sizes. Returns how often the function was scheduled.
template <class Program, class Inputs>
std::size_t scheduled(const Program& program, const Inputs& inputs, const Sizes& sizes) {
  const auto f = function(program, {.dynamic = Dynamic::yes});
  for (const auto& [n, m] : sizes) {
    CAPTURE(n);
    CAPTURE(m);
    std::apply(
        [&](const auto&... x) {
          const Tensor got = f(x...);
          const std::uint64_t compiled = runtime::counters().kernels_compiled;
          const Tensor want = function(program, {.dynamic = Dynamic::no})(x...);
          // Both run the same kernels: equal programs are compiled once. (Numbers that happen to be equal are one
          // number where sizes are fixed.)
          if (n != m) CHECK(runtime::counters().kernels_compiled == compiled);
          CHECK(got.shape() == want.shape());
          CHECK(got.strides() == want.strides());
          CHECK(got.to(DType::float64).template to_vector<double>() ==
                want.to(DType::float64).template to_vector<double>());
        },
        inputs(n, m));
  }
  CHECK(f.counts().traces == 1);
  CHECK(f.entries()[0].sizes == sizes.size());
  return f.entries()[0].scheduled;
}

std::tuple<Tensor> one(std::int64_t n, std::int64_t m) { return {numbers({n, m})}; }
std::tuple<Tensor, Tensor> two(std::int64_t n, std::int64_t m) { return {numbers({n, m}), numbers({m, n}, 3)}; }

}  // namespace

TEST_CASE("an entry is scheduled for its first two sets of sizes") {
  int program_number = 0;
  const auto check = [&](const auto& program) {
    ++program_number;
    CAPTURE(program_number);
    CHECK(scheduled(program, one, several) == 2);
  };
  check([](Tensor x) { return x * 2 + 1; });
  check([](Tensor x) { return sum(x, 1); });
  check([](Tensor x) { return sum(x, 0); });
  check([](Tensor x) { return sum(x); });
  check([](Tensor x) { return mean(x, 1) + var(x, 1); });
  check([](Tensor x) { return softmax(x, 1); });
  check([](Tensor x) { return argmax(x, 1); });
  check([](Tensor x) { return pad(x.flip(0), {{1, 2}, {0, 3}}); });
  check([](Tensor x) { return tril(x) + triu(x, 1) * 2; });
  check([](Tensor x) { return x.unsqueeze(1).expand({-1, 3, -1}) * 2; });
  check([](Tensor x) { return concat({x, x + 1, x}, 1); });
  check([](Tensor x) { return x.reshape({-1}) * 2; });
  check([](Tensor x) { return x.slice({{}, {1, -1}}) + 1; });
  check([](Tensor x) { return ones({x.size(0), 2}) * 3 + arange(2); });
  if (default_device().kind == DeviceKind::eigen) {
    check([](Tensor x) { return sort(x, 1) + argsort(x, 1); });
  }
}

TEST_CASE("where sizes decide which kernels there are, each decision has a plan") {
  // Rows of up to 16 elements: what is made of a row's results is computed again for each element.
  CHECK(scheduled([](Tensor x) { return layer_norm(x, 1) * 2; }, one, several) <= 4);
  // From a number of points on devices take other paths.
  CHECK(scheduled([](Tensor x) { return layer_norm(x, 1) + mean(x); }, one, several) <= 4);
  // Repetitions have several views. Whether loops are split for them depends on the numbers.
  CHECK(scheduled([](Tensor x) { return repeat(x, {2, 3}); }, one, several) == several.size());
}

TEST_CASE("sizes as numbers and positions follow the sizes of the call") {
  const auto check = [](const auto& program) { CHECK(scheduled(program, one, several) <= 4); };
  check([](Tensor x) { return sum(x, 0) / x.size(0) + x.size(1) * 2; });
  check([](Tensor x) { return x + arange(x.size(1)); });
  check([](Tensor x) { return take(x, arange(x.size(0)) % 3, 0); });
  // The number of elements is the whole result, not an operand.
  CHECK(scheduled([](Tensor x) { return full({2}, x.numel()) + scalar(x.size(0)); }, one, several) == several.size());
}

TEST_CASE("products take the paths that their sizes call for") {
  const auto check = [](const auto& program) {
    const Sizes sizes = {{24, 36}, {25, 37}, {80, 90}, {7, 11}, {64, 64}, {95, 10}};
    CHECK(scheduled(program, two, sizes) <= 4);
  };
  check([](Tensor x, Tensor w) { return matmul(x, w); });
  check([](Tensor x, Tensor w) { return relu(matmul(x, w) + 1); });
  check([](Tensor x, Tensor w) { return matmul(x, w) + matmul(w.transpose(), x.transpose()); });
}

TEST_CASE("a plan serves sizes up to four times as large or small") {
  const auto twice = [](Tensor x) { return x * 2; };
  const auto length = [](std::int64_t n, std::int64_t m) { return std::tuple{numbers({n, m})}; };
  CHECK(scheduled(twice, length, {{100, 8}, {100, 9}, {400, 9}, {25, 9}}) == 2);
  CHECK(scheduled(twice, length, {{100, 8}, {100, 9}, {401, 9}}) == 3);
  // From 401 on there is another plan.
  CHECK(scheduled(twice, length, {{100, 8}, {100, 9}, {401, 9}, {1000, 9}}) == 3);
}

TEST_CASE("a plan that is shown is scheduled by itself") {
  const auto f = function([](Tensor x) { return x * 2; }, {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {10, 11, 12}) f(numbers({n}));
  CHECK(f.entries()[0].scheduled == 2);
  const runtime::Counters before = runtime::counters();
  f(numbers({13}));
  CHECK(runtime::counters().schedules_built == before.schedules_built);
  CHECK(f.explain().find("sizes    4 sets met, 2 scheduled") != std::string::npos);
}

TEST_CASE("the debug category dynamic says whether there is a plan for many sizes") {
  std::string lines;
  set_debug_sink([&](std::string_view line) { lines += std::string(line) + "\n"; });
  set_debug("dynamic=2");
  const auto said = [&](const auto& program) {
    lines.clear();
    const auto f = function(program, {.dynamic = Dynamic::yes});
    for (const std::int64_t n : {30, 31}) f(numbers({n, 8}));
    return lines;
  };
  const std::string plan = said([](Tensor x) { return x * 2; });
  const std::string none = said([](Tensor x) { return full({2}, x.numel()) + scalar(x.size(0)); });
  set_debug("dynamic=0");
  set_debug_sink({});
  CHECK(plan.find("a plan for many sizes, under") != std::string::npos);
  CHECK(none.find("no plan for many sizes: schedule: a symbolic size decides") != std::string::npos);
}

TEST_CASE("threads that meet new sizes share plans") {
  const auto f = function([](Tensor x) { return softmax(x * 2, 1) + sum(x, 0); }, {.dynamic = Dynamic::yes});
  f(numbers({8, 9}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t n = 10; n < 30; ++n) {
        const Tensor x = numbers({n + t, 9 + n % 5});
        const Tensor want = function([](Tensor in) { return softmax(in * 2, 1) + sum(in, 0); })(x);
        if (f(x).to_vector<float>() != want.to_vector<float>()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(f.entries()[0].scheduled < f.entries()[0].sizes);
}
