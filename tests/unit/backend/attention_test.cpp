// softmax(Q K^T * s + mask) V in one kernel, compared with a step-by-step computation in float64: for rows of several
// blocks of columns, for masks that hide whole blocks, and for numbers that are not finite. The bits do not depend on
// the number of threads.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "backend/eigen/backend.hpp"
#include "backend/eigen/products/parts.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "runtime/compiled.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"
#include "runtime/plan.hpp"
#include "schedule/rules.hpp"

namespace attention_test {

using namespace oriel;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor leaf(const Shape& shape, int seed, DType dtype = DType::float32) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::uniform_real_distribution<double> range(-1, 1);
  std::vector<double> v(static_cast<std::size_t>(numel(shape).value()));
  for (double& x : v) x = range(random);
  return Tensor::from(v, shape).to(dtype).realize();
}

struct Operands {
  Tensor q, k, v;
  Operands wide() const { return {q.to(DType::float64), k.to(DType::float64), v.to(DType::float64)}; }
};

Operands operands(std::int64_t batch, std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t e,
                  DType dtype = DType::float32) {
  return {leaf({batch, n, d}, 1, dtype), leaf({batch, m, d}, 2, dtype), leaf({batch, m, e}, 3, dtype)};
}

using Mask = std::function<Tensor(const Tensor& scores, const Tensor& row, const Tensor& column)>;

Tensor attention(const Operands& o, const Mask& mask = {}) {
  Tensor x = matmul(o.q, o.k.transpose()) * 0.3;
  const std::int64_t n = x.size(1).value(), m = x.size(2).value();
  if (mask) x = mask(x, arange(n).reshape({n, 1}), arange(m).reshape({1, m}));
  return matmul(softmax(x), o.v);
}

std::vector<double> step_by_step(const Tensor& x) {
  schedule::set_rule_enabled("fuse rows", false);
  std::vector<double> v = x.to_vector<double>();
  schedule::set_rule_enabled("fuse rows", true);
  return v;
}

void check_close(const Tensor& ours, const Tensor& wide, double allowed) {
  const Explanation plan = explain(ours);
  CHECK(plan.kernels.size() == 1);
  CHECK(plan.kernels[0].method.find("online softmax") != std::string::npos);
  CHECK(plan.memory.peak_bytes == 0);
  const std::vector<double> want = step_by_step(wide);
  const std::vector<double> got = ours.to(DType::float64).to_vector<double>();
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(want[i])) {
      REQUIRE(std::isnan(got[i]));
    } else {
      REQUIRE(std::abs(got[i] - want[i]) <= allowed);
    }
  }
}

void check(const Operands& o, const Mask& mask, double allowed = 2e-6) {
  check_close(attention(o, mask), attention(o.wide(), mask), allowed);
}

using Runner = std::function<void(const codegen::LoopProgram&, std::span<void* const>, std::span<const graph::Scalar>)>;

/// Plans x, which must be one kernel, lets `runner` run it, and returns the results.
std::vector<std::byte> run(const Tensor& x, const backend::Backend& device, const Runner& runner) {
  const base::Activity work;
  const std::vector<graph::NodePtr> roots{detail::Access::node(x)};
  runtime::Key key;
  runtime::make_key(work, roots, 0, key);
  const runtime::Plan plan = runtime::make_plan(roots, key, runtime::limits_of(device));
  REQUIRE(plan.kernels.size() == 1);
  std::vector<std::byte> out(static_cast<std::size_t>(plan.outputs[0].bytes));
  std::vector<void*> arguments;
  for (const runtime::ArgumentSource& a : plan.kernels[0].arguments) {
    const bool input = a.kind == runtime::ArgumentSource::Kind::Leaf;
    arguments.push_back(input ? key.leaves[static_cast<std::size_t>(a.index)]->data() : out.data());
  }
  runner(plan.kernels[0].lowered.program, arguments, key.parameter_values);
  return out;
}

/// Runs it on a device of its own.
std::vector<std::byte> run(const Tensor& x, int threads, const std::string& isa) {
  backend::eigen::EigenBackend device({threads, 0, isa});
  return run(x, device, [&](const auto& program, auto arguments, auto parameters) {
    device.launch(*device.compile(program), arguments, parameters);
  });
}

std::int64_t chosen = 0;  // elements that counting_select computed
backend::isa::ElementFn plain_select = nullptr;
void counting_select(void* dst, const void* c, const void* a, const void* b, std::int64_t n) {
  if (n > backend::isa::kPacket) chosen += n;  // a few elements are numbers of rows, not scores
  plain_select(dst, c, a, b, n);
}

/// The number of scores that a mask selects while x is computed on one thread.
std::int64_t choices(const Tensor& x) {
  backend::isa::Table table = backend::isa::table();
  backend::isa::ElementFn& select = table.element[static_cast<int>(graph::Op::Where)][static_cast<int>(DType::float32)];
  plain_select = std::exchange(select, counting_select);
  chosen = 0;
  backend::eigen::EigenBackend device({1, 0, ""});
  const std::vector<std::byte> want = run(x, 1, "");
  const std::vector<std::byte> got = run(x, device, [&](const auto& program, auto arguments, auto parameters) {
    backend::eigen::Threads threads(1);
    backend::eigen::run_parts(*backend::eigen::plan_parts(program, table, 0), threads, arguments, parameters);
  });
  CHECK((got == want));
  return chosen;
}

Tensor causal(const Tensor& x, const Tensor& row, const Tensor& column) { return where(column <= row, x, -kInfinity); }

}  // namespace

TEST_CASE("rows of one block of columns, and of several") {
  for (const std::int64_t m : {31, 528, 529, 1600}) {
    CAPTURE(m);
    check(operands(2, 70, m, 33, 40), {});
    check(operands(1, 64, m, 64, 65), causal);
  }
}

TEST_CASE("a maximum that grows from block to block, and one that is met at once") {
  for (const double slope : {0.05, -0.05}) {
    const Tensor bias = (arange(1600) * slope).realize();
    const auto ramp = [&](const Tensor& x, const Tensor&, const Tensor&) { return x + bias; };
    const Operands o = operands(1, 64, 1600, 20, 24);
    check_close(attention(o, ramp), attention(o.wide(), ramp), 3e-5);
  }
}

TEST_CASE("masks that hide blocks of columns, whole rows, and what comes first") {
  const Operands o = operands(2, 200, 1300, 20, 24);
  check(o, causal);
  check(o, [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where(column > row * 4, x, -kInfinity);
  });
  check(o, [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where((column >= row) && (column < row + 20), x, -kInfinity);
  });
  check(o, [](const Tensor& x, const Tensor&, const Tensor& column) { return where(column < 700, x, -kInfinity); });
  // The rows from 50 on see no column: NaN, as exp(-inf - -inf) gives.
  check(o, [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where((row < 50) && (column > 600), x, -kInfinity);
  });
  // A mask in memory: no column is known to be hidden before it is read.
  const Tensor chosen = (leaf({200, 1300}, 7) > 0.9).realize();
  check(o, [&](const Tensor& x, const Tensor&, const Tensor&) { return where(chosen, x, -kInfinity); });
  const Tensor added = where(arange(1300) < 650, -kInfinity, 0.5).to(DType::float32).realize();
  check(o, [&](const Tensor& x, const Tensor&, const Tensor&) { return x + added; });
}

TEST_CASE("masks that compare integers that no double holds") {
  const Operands o = operands(1, 64, 528, 20, 24);
  const auto number = [](auto value, DType dtype) { return full({64, 528}, value, dtype); };
  constexpr std::int64_t kEven = std::int64_t{1} << 53;
  const auto masked_by = [&](const std::function<Tensor()>& mask) {
    check(o, [&](const Tensor& x, const Tensor&, const Tensor&) { return where(mask(), x, -kInfinity); });
  };
  masked_by([&] { return number(kEven, DType::int64) < number(kEven + 1, DType::int64); });
  masked_by([&] { return number(-kEven - 1, DType::int64) < number(-kEven, DType::int64); });
  masked_by([&] { return number(kEven, DType::int64) != number(kEven + 1, DType::int64); });
  masked_by([&] { return number(5, DType::uint64) < number(std::uint64_t{1} << 63, DType::uint64); });
  const auto position = [](std::int64_t at) { return arange(std::int64_t{1} << 55).shrink({{at, at + 1}}); };
  masked_by([&] { return position(2 * kEven).reshape({1, 1}) < position(2 * kEven + 1).reshape({1, 1}); });
}

TEST_CASE("a mask is worked out where rows differ, not where all of them see a column") {
  const std::int64_t n = 1200;
  const Operands o = operands(1, n, n, 20, 24);
  // Each score is selected twice: for the maximum and for its power. Blocks of 64 rows see the columns before them, and
  // at most two panels of 48 more.
  const std::int64_t beside = 2 * n * (64 + 2 * 48);
  CHECK(choices(attention(o, causal)) > 2 * n * 24);
  CHECK(choices(attention(o, causal)) < beside);
  const auto swapped = [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where(column > row, -kInfinity, x);
  };
  CHECK(choices(attention(o, swapped)) < beside);
  const auto added = [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return x + where(column <= row, 0.0, -kInfinity);
  };
  // No column is known to be hidden. A block on the diagonal is computed to its end.
  CHECK(choices(attention(o, added)) < 2 * n * 528 / 2 + beside);
  const auto small = [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where(column <= row, x, -1e9);
  };
  CHECK(choices(attention(o, small)) < 2 * n * n / 2 + beside);
  const auto window = [](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where((column <= row) && (column > row - 700), x, -kInfinity);
  };
  CHECK(choices(attention(o, window)) < 3 * beside);
  const auto lower = [](const Tensor& x, const Tensor&, const Tensor&) {
    return where(tril(ones({1200, 1200}, DType::bool_)), x, -kInfinity);
  };
  CHECK(choices(attention(o, lower)) < beside);
  const auto read = [mask = (leaf({n, n}, 7) > -2).realize()](const Tensor& x, const Tensor&, const Tensor&) {
    return where(mask, x, -kInfinity);
  };
  CHECK(choices(attention(o, read)) >= 2 * n * n);
}

TEST_CASE("a mask so expensive that the row keeps its result") {
  for (const std::int64_t m : {512, 1300}) {
    const auto unscaled = [&](const Operands& p) {
      const Tensor row = arange(1300).reshape({1300, 1}), column = arange(m).reshape({1, m});
      Tensor seen = column <= row;
      for (int i = 1; i < 5; ++i) seen = seen && (column < row + (700 + i));
      return matmul(softmax(where(seen, matmul(p.q, p.k.transpose()), -kInfinity)), p.v);
    };
    const Operands o = operands(1, 1300, m, 20, 24);
    check_close(unscaled(o), unscaled(o.wide()), 2e-5);
  }
}

TEST_CASE("infinities and NaN among the scores") {
  for (const double odd : {kInfinity, -kInfinity, std::nan("")}) {
    CAPTURE(odd);
    Operands o = operands(1, 64, 1200, 20, 24);
    o.k = (where(iota({1, 1200, 20}) == 700 * 20, odd, o.k)).to(DType::float32).realize();
    check(o, {});
  }
}

TEST_CASE("halves, float64, and factors in other layouts") {
  check(operands(2, 64, 600, 32, 32, DType::float64), causal, 1e-14);
  check(operands(2, 64, 600, 32, 32, DType::float16), causal, 1e-3);
  check(operands(2, 64, 600, 32, 32, DType::bfloat16), {}, 8e-3);
  Operands o = operands(3, 64, 600, 32, 32);
  o.v = leaf({3, 32, 600}, 5).transpose();
  o.q = leaf({3, 32, 64}, 6).transpose();
  check(o, causal);
}

TEST_CASE("the bits do not depend on threads, and are the same every time") {
  const Operands o = operands(3, 150, 1200, 33, 40);
  for (const std::string isa : {"", "baseline"}) {
    const Tensor x = attention(o, causal);
    const std::vector<std::byte> one = run(x, 1, isa);
    for (const int threads : {1, 2, 3, 7}) CHECK((run(x, threads, isa) == one));
  }
}

TEST_CASE("memory grows with the columns, not with rows times columns") {
  const Operands o = operands(1, 4096, 8192, 32, 32);
  const Explanation plan = explain(attention(o));
  REQUIRE(plan.kernels.size() == 1);
  CHECK(plan.memory.peak_bytes == 0);
  CHECK(plan.str().find("online softmax (once)") != std::string::npos);
  schedule::set_rule_enabled("online softmax", false);
  CHECK(explain(attention(o)).kernels[0].method.find("3 parts, 16 of 1 x 4096 rows at a time") == 0);
  schedule::set_rule_enabled("online softmax", true);
}

// Sanitizers' own memory grows too.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("an online softmax takes no more memory than planned: none that grows with rows times columns") {
  const Operands o = operands(1, 4096, 8192, 32, 32);
  const Tensor y = attention(o, causal);
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  y.realize();
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 32 * 1024);  // KiB; the scores would take 128 MiB
}
#endif

TEST_CASE("programs that only resemble an online softmax run in parts, and are right") {
  const Operands o = operands(2, 64, 600, 20, 24);
  const auto twice = [](const Operands& p) {
    const Tensor x = matmul(p.q, p.k.transpose());
    const Tensor e = exp(x - max(x, -1, true)) + 1;
    return matmul(e / sum(e, -1, true), p.v);
  };
  const Tensor ours = twice(o);
  REQUIRE(explain(ours).kernels.size() == 1);
  CHECK(explain(ours).kernels[0].method.find("3 parts") == 0);
  const std::vector<double> want = step_by_step(twice(o.wide()));
  const std::vector<float> got = ours.to_vector<float>();
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - want[i]) < 2e-6);
}

TEST_CASE("a stack of many layers is cut into kernels of as many parts as the device runs, with the same bits") {
  const auto layers = [] {
    Tensor x = leaf({64, 32}, 1);
    for (int layer = 0; layer < 20; ++layer) x = softmax(matmul(x, leaf({32, 32}, layer + 2)));
    return x;
  };
  const Tensor ours = layers();
  const Explanation plan = explain(ours);
  CHECK(plan.kernels.size() == 3);
  CHECK(plan.kernels[0].method.find("16 parts") == 0);
  CHECK(plan.str().find("a kernel of 17 parts (limit 16)") != std::string::npos);
  const std::vector<float> got = ours.to_vector<float>();
  schedule::set_rule_enabled("fuse rows", false);
  const std::vector<float> want = layers().to_vector<float>();
  schedule::set_rule_enabled("fuse rows", true);
  CHECK(got == want);
}

TEST_CASE("rows of scores or weights that something else reads too are kept whole") {
  // 1200 columns are several blocks, so the values that these programs read do not fit one block.
  const Operands o = operands(1, 64, 1200, 16, 16);
  const Tensor half = o.v.shrink({{0, 1}, {0, 600}, {0, 16}});
  const auto plain = [](const Tensor& x) { return softmax(x); };
  const auto first = [](const Tensor& x) { return x.shrink({{0, 1}, {0, 64}, {0, 1}}); };
  const auto left = [](const Tensor& x) { return x.shrink({{0, 1}, {0, 64}, {0, 600}}); };
  const auto even = [](const Tensor& x) {
    return x.reshape({1, 64, 600, 2}).shrink({{0, 1}, {0, 64}, {0, 600}, {0, 1}}).reshape({1, 64, 600});
  };
  using Step = std::function<Tensor(const Tensor&)>;
  const auto check = [&](const Step& weigh, const Step& use) {
    const Tensor ours = use(weigh(matmul(o.q, o.k.transpose())));
    CHECK(explain(ours).str().find("online softmax") == std::string::npos);
    const std::vector<double> want =
        step_by_step(use(weigh(matmul(o.q.to(DType::float64), o.k.to(DType::float64).transpose()))));
    const std::vector<float> got = ours.to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::abs(got[i] - want[i]) < 2e-6);
  };
  const auto with_v = [&](const Tensor& w) { return matmul(w, o.v.to(w.dtype())); };
  const auto with_half = [&](const Tensor& w) { return matmul(w, half.to(w.dtype())); };
  SUBCASE("the first score, beside each") {
    check([&](const Tensor& x) { return softmax(x - first(x)); }, with_v);
  }
  SUBCASE("every other score") {
    check([&](const Tensor& x) { return softmax(even(x)); }, with_half);
  }
  SUBCASE("the first half of the scores") {
    check([&](const Tensor& x) { return softmax(left(x)); }, with_half);
  }
  SUBCASE("the first weight, after the product") {
    check(plain, [&](const Tensor& w) { return with_v(w) + first(w); });
  }
  SUBCASE("the first half of the weights") {
    check(plain, [&](const Tensor& w) { return with_half(left(w)); });
  }
  SUBCASE("every other weight") {
    check(plain, [&](const Tensor& w) { return with_half(even(w)); });
  }
}

}  // namespace attention_test
