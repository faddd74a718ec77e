// Results that are stored over memory that their kernel reads for the last time: how much memory this saves, and what
// is never overwritten.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "formula/call.hpp"
#include "oriel/debug.hpp"
#include "oriel/oriel.hpp"
#include "support/failing.hpp"

namespace donation_test {

using namespace oriel;
using test::Failing;
using Floats = std::vector<float>;

namespace {

Floats values(const Tensor& x) { return x.to_vector<float>(); }
const void* address(const Tensor& x) {
  x.realize();
  return detail::Access::node(x)->buffer->data();
}
std::string where(const Tensor& x) {
  std::string text;
  for (const ExplainedKernel& k : explain(x).kernels)
    for (const ExplainedOutput& o : k.outputs) text += o.where + ";";
  return text;
}
Tensor numbers(const Shape& shape) { return (iota(shape).to(DType::float32) * 0.5F).realize(); }

}  // namespace

TEST_CASE("a result takes the memory of an operand that nobody holds") {
  Tensor x = numbers({1000});
  const void* at = address(x);
  x = x * 2 + 1;
  CHECK(where(x) == "over %0, which ends here;");
  CHECK(address(x) == at);
  CHECK(values(x)[999] == 1000);
  // Again with the schedule from the cache.
  for (int turn = 0; turn < 3; ++turn) {
    x = x * 2 + 1;
    CHECK(address(x) == at);
  }
  CHECK(values(x)[0] == 15);
  CHECK(values(x)[999] == 8007);
}

TEST_CASE("an operand that a program holds, itself or through what waits to read it, is left alone") {
  const Tensor x = numbers({1000});
  const Floats before = values(x);
  const Tensor y = (x * 2).realize();
  CHECK(address(y) != address(x));
  CHECK(values(x) == before);

  Tensor z = numbers({1000});
  const Tensor waiting = z + 0.5F;
  const void* at = address(z);
  z = z * 2;
  CHECK(where(z) == ";");
  CHECK(address(z) != at);
  CHECK(values(waiting)[3] == 2);

  Tensor w = numbers({6});
  const Tensor view = w.flip();
  w = w + 1;
  w.realize();
  CHECK(values(view) == Floats{2.5F, 2, 1.5F, 1, 0.5F, 0});
  CHECK(values(w)[0] == 1);
}

TEST_CASE("memory of the caller is never taken") {
  std::vector<float> data(500, 3);
  bool gone = false;
  {
    Tensor given = Tensor::adopt(data.data(), {500}, [&](float*) { gone = true; });
    given = (given * 2).realize();
    CHECK(values(given)[0] == 6);
    CHECK(gone);
  }
  CHECK(data == std::vector<float>(500, 3));
}

TEST_CASE("elements of another size, another order or another place are not written over") {
  const auto kept = [](const std::function<Tensor(const Tensor&)>& f) {
    Tensor x = numbers({40, 40});
    const Tensor held = numbers({40, 40});
    const Tensor want = f(held).realize();
    x = f(x);
    CAPTURE(where(x));
    CHECK(where(x).find(", which ends here;") == std::string::npos);
    CHECK(x.to(DType::float64).to_vector<double>() == want.to(DType::float64).to_vector<double>());
  };
  kept([](const Tensor& x) { return x.flip() + 1; });
  kept([](const Tensor& x) { return x.transpose() * 2 + x; });
  kept([](const Tensor& x) { return x.to(DType::int32); });
  kept([](const Tensor& x) { return x.to(DType::float64) + 1; });
  kept([](const Tensor& x) { return x.shrink({{0, 39}, {0, 40}}) + 1; });
  kept([](const Tensor& x) { return pad(x, {{1, 0}, {0, 0}}).shrink({{0, 40}, {0, 40}}) + 1; });
  kept([](const Tensor& x) { return sum(x, 0); });
  kept([](const Tensor& x) { return matmul(x, x); });
}

TEST_CASE("rows are replaced by what is computed of them, at every size") {
  for (const auto& [rows, columns] : {std::pair{3, 5}, {64, 64}, {300, 1000}, {2, 200'000}, {5000, 4}}) {
    for (const std::int64_t axis : {0, 1}) {
      const Tensor data = sin(iota({rows, columns}).to(DType::float32)).realize();
      const Floats want = values(softmax(data, axis));
      Tensor x = (data * 1.0F + 0.0F).realize();
      x = sin(iota({rows, columns}).to(DType::float32)).realize();
      const void* at = address(x);
      x = softmax(x, axis);
      CHECK(where(x) == "over %0, which ends here;");
      CHECK(address(x) == at);
      CHECK(values(x) == want);
    }
  }
}

TEST_CASE("what is added to a product may end in its result") {
  const Tensor a = (numbers({70, 90}) * 0.01F).realize(), b = (numbers({90, 130}) * 0.02F).realize();
  const Tensor held = numbers({70, 130});
  const Floats want = values(matmul(a, b) + held);
  Tensor x = numbers({70, 130});
  const void* at = address(x);
  x = matmul(a, b) + x;
  CHECK(explain(x).kernels[0].method.find("blocked") != std::string::npos);
  CHECK(address(x) == at);
  CHECK(values(x) == want);
}

TEST_CASE("several results each take an operand") {
  for (const std::int64_t n : {7, 4096, 100'003}) {
    Tensor a = numbers({n}), b = (numbers({n}) + 0.25F).realize();
    const void *at_a = address(a), *at_b = address(b);
    {
      const Tensor plus = a + b, minus = a - b;
      a = plus;
      b = minus;
    }
    realize({a, b});
    const bool straight = address(a) == at_a && address(b) == at_b;
    const bool crossed = address(a) == at_b && address(b) == at_a;
    CHECK((straight || crossed));
    CHECK(values(a)[static_cast<std::size_t>(n - 1)] == static_cast<float>(n - 1) + 0.25F);
    CHECK(values(b) == Floats(static_cast<std::size_t>(n), -0.25F));
  }
}

TEST_CASE("a chain of full kernels needs no memory between them, and ends where it began") {
  const LazyLimits before = lazy_limits();
  set_lazy_limits({.nodes = 0, .bytes = 0});
  constexpr std::int64_t n = 5000, kSteps = 20'000;
  const auto chain = [](Tensor x) {
    for (int i = 0; i < kSteps; ++i) x = x * 0.75F + 1.25F;
    return x;
  };
  const Tensor held = numbers({n});
  const std::size_t live = memory().live;
  reset_peak_memory();
  const Tensor y = chain(held);
  CHECK(explain(y).kernels.size() == 3);
  CHECK(explain(y).memory.peak_bytes == 0);
  CHECK(explain(y).memory.bytes_without_reuse == 2 * n * 4);
  y.realize();
  CHECK(memory().peak == memory().live);  // only the result is left; the intermediate values lay in its memory
  CHECK(memory().live - live < 2 * n * 4);
  CHECK(values(held)[2] == 1);

  Tensor x = numbers({n});
  const void* at = address(x);
  const std::size_t now = memory().live;
  reset_peak_memory();
  x = chain(std::move(x)).realize();
  CHECK(memory().peak == now);
  CHECK(address(x) == at);
  CHECK(values(x) == values(y));
  set_lazy_limits(before);
}

TEST_CASE("the last of several kernels that read a value takes its memory") {
  Tensor x = sin(numbers({24, 24})).realize();  // small: storing a value would save no time
  const Floats want = values(softmax(softmax(x, 0), 1) + 1);
  const void* at = address(x);
  x = softmax(softmax(x, 0), 1) + 1;
  const Explanation plan = explain(x);
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[0].outputs[0].where.empty());
  CHECK(plan.kernels[1].outputs[0].where == "over %0, which ends here");
  CHECK(address(x) == at);
  CHECK(values(x) == want);
}

TEST_CASE("a leaf is not taken where a later kernel neither needs the result nor overwrites a leaf") {
  // If the second kernel fails, the memory that the first kernel read must be unchanged.
  const Tensor other = numbers({64, 64});
  bool first = false, second = false;
  for (const bool swapped : {false, true}) {
    Tensor x = sin(numbers({64, 64})).realize();
    const Floats want = values(softmax(x, 1));
    const void* at = address(x);
    x = softmax(x, 1);
    const Tensor apart = matmul(other, other);
    const std::vector<Tensor> both = swapped ? std::vector<Tensor>{apart, x} : std::vector<Tensor>{x, apart};
    const Explanation plan = explain(both);
    REQUIRE(plan.kernels.size() == 2);
    const bool ahead = plan.kernels[1].method.find("contraction") != std::string::npos;
    (ahead ? first : second) = true;
    const std::string where = plan.kernels[ahead ? 0 : 1].outputs[0].where;
    CHECK((where.find(", which ends here") != std::string::npos) == !ahead);
    realize(both);
    CHECK((address(x) == at) == !ahead);
    CHECK(values(x) == want);
  }
  CHECK(first);
  CHECK(second);
}

TEST_CASE("a device that fails while a leaf is overwritten loses that result, and says so") {
  Tensor x = sin(numbers({64, 64})).realize();
  x = softmax(softmax(x, 0), 1);
  {
    const Failing failing(0);  // fails in the first kernel, which only reads x
    CHECK_THROWS_AS(x.realize(), std::runtime_error);
  }
  {
    const Failing failing(1);
    CHECK_THROWS_AS(x.realize(), std::runtime_error);
  }
  CHECK_THROWS_WITH_AS(x.realize(),
                       "realize: the elements of float32 (64, 64) were being overwritten when the device failed; make "
                       "the tensor anew",
                       DeviceError);
}

TEST_CASE("memory is reused for one dtype only, and explain says so") {
  Tensor x = numbers({1000});
  x = x.to(DType::int32);
  CHECK(where(x) == "not over %0, which ends here: its elements are float32, and memory is reused for one dtype only;");
  Tensor y = numbers({1000});
  y = y.to(DType::float64);  // of another size
  CHECK(where(y) == ";");
}

}  // namespace donation_test
