// Plans of captured functions whose sizes are symbols: from its second set of sizes on an entry is not scheduled anew.
#include <doctest/doctest.h>

#include <thread>

#include "capture/plan_table.hpp"
#include "oriel/debug.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/temporary_folder.hpp"

namespace function_plans_test {

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

TEST_CASE("windows over a padded axis are scheduled for the first two sets of sizes") {
  const auto check = [](const char* what, const auto& program) {
    CAPTURE(what);
    CHECK(scheduled(program, one, several) <= 3);  // those of short sums have a plan of their own
  };
  check("same", [](Tensor x) {
    return sum(unfold(pad(x, {{0, 0}, {1, 1}}), 1, 3, 1) * Tensor::of<float>({0.25, 0.5, 0.125}), -1);
  });
  check("causal", [](Tensor x) { return sum(unfold(pad(x, {{2, 0}, {0, 0}}), 0, 3, 1), -1) * 2; });
  check("behind", [](Tensor x) { return max(unfold(pad(x, {{0, 2}, {0, 0}}), 0, 3, 1), -1); });
  check("in two axes", [](Tensor x) {
    const Tensor windows = unfold(unfold(pad(x, {{1, 1}, {1, 1}}), 0, 3, 1), 1, 3, 1);
    return sum(windows * Tensor::of<float>({{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}), {2, 3});
  });
}

TEST_CASE("a roll is scheduled for the first two sets of sizes") {
  const auto check = [](const char* what, const auto& program) {
    CAPTURE(what);
    const auto f = function(program, {.dynamic = Dynamic::yes});
    for (const auto& [n, m] : several) {
      const Tensor x = numbers({n, m});
      const Tensor got = f(x), want = program(x);
      CHECK(got.strides() == want.strides());
      CHECK(got.to_vector<float>() == want.to_vector<float>());
    }
    CHECK(f.counts().traces == 1);
    CHECK(f.entries()[0].scheduled == 2);
  };
  check("ahead", [](Tensor x) { return roll(x, 1, 0) + x; });
  check("back", [](Tensor x) { return roll(x, -3, 1) * 2; });
  check("by a half", [](Tensor x) { return roll(x, Ints{x.size(0) / 2}, Ints{0}); });
}

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
}

TEST_CASE("loops that several views share are split for all sizes") {
  const auto check = [](const auto& program) { CHECK(scheduled(program, one, several) == 2); };
  check([](Tensor x) { return repeat(x, {2, 3}); });
  check([](Tensor x) { return repeat(x, {2, 3}) * 2 + 1; });
  // The columns of a block of 3 rows side by side.
  check([](Tensor x) {
    const Tensor blocks = x.unsqueeze(1).expand({-1, 3, -1}) * 2;
    return blocks.permute({0, 2, 1}).reshape({x.size(0), x.size(1) * 3}) + 1;
  });
}

TEST_CASE("a block of an encoder is scheduled for its first two batches and lengths") {
  const Tensor qkv = numbers({32, 96}, 1), out = numbers({32, 32}, 2), up = numbers({32, 64}, 3),
               down = numbers({64, 32}, 4);
  const auto block = [](Tensor x, Tensor to_heads, Tensor to_out, Tensor to_hidden, Tensor from_hidden) {
    const SymInt batch = x.size(0), length = x.size(1);
    const Tensor all = matmul(x / 64, to_heads / 64).reshape({batch, length, 3, 4, 8}).permute({2, 0, 3, 1, 4});
    const auto heads = [&](std::int64_t which) { return all.select(0, which); };
    const Tensor mixed = matmul(softmax(matmul(heads(0), heads(1).transpose()) / 4, -1), heads(2));
    const Tensor y = layer_norm(x + matmul(mixed.permute({0, 2, 1, 3}).reshape({batch, length, 32}), to_out), -1);
    return layer_norm(y + matmul(relu(matmul(y, to_hidden)), from_hidden), -1);
  };
  const auto f = function(block);
  for (const auto& [n, m] : Sizes{{2, 70}, {3, 70}, {4, 71}, {5, 80}, {7, 200}, {2, 66}, {9, 130}}) {
    const Tensor x = numbers({n, m, 32});
    const Tensor want = function(block, {.dynamic = Dynamic::no})(x, qkv, out, up, down);
    CHECK(f(x, qkv, out, up, down).to_vector<float>() == want.to_vector<float>());
  }
  CHECK(f.counts().traces == 3);
  CHECK(f.entries().back().sizes == 5);
  CHECK(f.entries().back().scheduled == 2);
}

TEST_CASE("sizes as numbers and positions follow the sizes of the call") {
  const auto check = [](const auto& program) { CHECK(scheduled(program, one, several) <= 4); };
  check([](Tensor x) { return sum(x, 0) / x.size(0) + x.size(1) * 2; });
  check([](Tensor x) { return x + arange(x.size(1)); });
  // Where sizes are numbers, positions that cannot be outside have no mask, so these are hidden in an expression.
  check([](Tensor x) { return take(x, (arange(x.size(0)) % 3) ^ 1, 0, Bounds::zero); });
  // The number of elements is the whole result, not an operand.
  CHECK(scheduled([](Tensor x) { return full({2}, x.numel()); }, one, several) == several.size());
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

TEST_CASE("kernels that are fused row by row serve other sizes") {
  if (default_device().kind != DeviceKind::eigen) return;
  // Sequences of n queries and m keys, so long that their rows are kept; heads of 16 numbers.
  const Sizes sizes = {{70, 96}, {71, 97}, {90, 100}, {128, 77}, {200, 130}, {65, 65}, {99, 300}, {81, 64}};
  const auto heads = [](std::int64_t n, std::int64_t m) {
    return std::tuple{numbers({2, 3, n, 16}), numbers({2, 3, m, 16}, 3), numbers({2, 3, m, 16}, 7)};
  };
  const auto attention = [](Tensor q, Tensor k, Tensor v) {
    return matmul(softmax(matmul(q, k.transpose()) / 64, -1), v);
  };
  const auto causal = [](Tensor q, Tensor k, Tensor v) {
    const Tensor scores = matmul(q, k.transpose()) / 64;
    const Tensor row = arange(q.size(2)).reshape({-1, 1}), column = arange(k.size(2)).reshape({1, -1});
    return matmul(softmax(where(row >= column, scores, -1e4), -1), v);
  };
  const auto normalised = [](Tensor q, Tensor k, Tensor) { return layer_norm(matmul(q, k.transpose()), -1); };
  const auto layers = [](Tensor q, Tensor k, Tensor v) {
    Tensor x = q;
    for (int layer = 0; layer < 3; ++layer) x = x + matmul(softmax(matmul(x, k.transpose()) / 64, -1), v);
    return x;
  };
  const auto [q, k, v] = heads(70, 96);
  CHECK(explain(attention(q, k, v)).str().find("stay in cache from part to part") != std::string::npos);
  CHECK(scheduled(attention, heads, sizes) == 2);
  CHECK(scheduled(causal, heads, sizes) == 2);
  CHECK(scheduled(normalised, heads, sizes) == 2);
  CHECK(scheduled(layers, heads, sizes) == 2);
}

TEST_CASE("quotients of sizes are computed by the kernels of a plan") {
  // A kernel for numbers has the quotient as a number: it is another kernel, with the same bits.
  const auto spaced = [](Tensor x) {
    return linspace(0.3, 17, x.size(1)) + x / (scalar(x.size(0)) / 7) + (scalar(x.numel()) + scalar(x.size(0)));
  };
  const auto f = function(spaced, {.dynamic = Dynamic::yes});
  for (const auto& [n, m] : several)
    CHECK(f(numbers({n, m})).to_vector<float>() ==
          function(spaced, {.dynamic = Dynamic::no})(numbers({n, m})).to_vector<float>());
  CHECK(f.counts().traces == 1);
  CHECK(f.entries()[0].scheduled <= 4);
}

TEST_CASE("stages behind counts are not scheduled for each count") {
  const auto detect = [](Tensor boxes) {
    const Tensor good = nonzero(sum(boxes, 1) > 20).reshape({-1});
    return sum(take(boxes, good, 0) * 2 + 1, 0);
  };
  const auto f = function(detect);
  float first = 0;
  for (const std::int64_t n : {100, 101, 120, 90, 150, 200, 133, 77, 180, 95}) {
    const Tensor boxes = numbers({n, 4}, first++);
    CHECK(f(boxes).to_vector<float>() == function(detect, {.dynamic = Dynamic::no})(boxes).to_vector<float>());
  }
  CHECK(f.counts().traces == 2);
  const FunctionEntry entry = f.entries().back();
  CHECK(entry.sizes == 9);
  CHECK(entry.scheduled <= 6);
}

TEST_CASE("a loaded function is not scheduled for each set of sizes either") {
  const test::TemporaryFolder folder;
  const auto program = [](Tensor x) { return softmax(x.slice({{1}}) * 2, 1) + sum(x) / x.size(0); };
  const auto f = function(program, {.dynamic = Dynamic::yes});
  f(numbers({20, 30}));
  f.save(folder / "rows.oriel");
  const auto g = load_function<Tensor(Tensor)>(folder / "rows.oriel");
  for (const auto& [n, m] : several)
    CHECK(g(numbers({n, m})).to_vector<float>() == f(numbers({n, m})).to_vector<float>());
  CHECK(g.entries()[0].scheduled <= 4);
  CHECK(g.counts().traces == 0);
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
  const std::string none = said([](Tensor x) { return full({2}, x.numel()); });
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

TEST_CASE("the plans of many sets of sizes are counted, and bounded by bytes") {
  const auto f =
      function([](Tensor x) { return sum(softmax(matmul(x, x.transpose()), 1)) + x; }, {.dynamic = Dynamic::yes});
  f(numbers({2, 3}));
  const std::int64_t one = f.entries()[0].plan_bytes;
  CHECK(one > 1000);
  for (std::int64_t n = 4; n < 20; ++n) f(numbers({n, 3}));
  CHECK(f.entries()[0].plan_bytes > 10 * one);
  CHECK(f.explain().find("17 sets met") != std::string::npos);

  constexpr std::size_t kWords = 1 << 20;  // of a key: 8 MiB a plan
  api::PlanTable table;
  for (std::int64_t n = 0; n < 20; ++n) {
    const auto schedule = std::make_shared<runtime::CompiledSchedule>();
    schedule->key_words.resize(kWords);
    const auto plan = std::make_shared<api::CapturedPlan>();
    plan->launches = std::make_unique<runtime::LaunchList>(schedule, std::vector<graph::Scalar>());
    CHECK(table.add({&n, 1}, plan) == plan);
    CHECK((table.find({&n, 1}) != nullptr) == (n < 7));
  }
  CHECK(table.size() == 7);
  CHECK(table.bytes() <= api::PlanTable::kMostBytes);
}

}  // namespace function_plans_test
