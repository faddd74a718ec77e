// Functions of host memory in lazy work.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"
#include "support/temporary_folder.hpp"

namespace host_call_test {

using namespace oriel;

namespace {

using Floats = std::vector<float>;

/// The sums of neighbours: n + 1 numbers of n.
const HostFunction& neighbours() {
  static const HostFunction f("neighbours", [](const HostCall& c) {
    const auto x = c.operands[0].elements<float>();
    const auto y = c.result.elements<float>();
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = (k > 0 ? x[k - 1] : 0) + (k < x.size() ? x[k] : 0);
  });
  return f;
}

/// Rows of a in even batches, of b in odd ones, and the number of the batch.
const HostFunction& alternated() {
  static const HostFunction f(
      "alternated",
      [](const HostCall& c) {
        const std::int64_t row = c.result.shape[1];
        for (std::int64_t k = 0; k < c.result.shape[0]; ++k)
          for (std::int64_t i = 0; i < row; ++i)
            c.result.elements<double>()[static_cast<std::size_t>(k * row + i)] =
                static_cast<double>(c.first + k) +
                static_cast<double>(c.operands[(c.first + k) % 2 == 0 ? 0 : 1]
                                        .elements<float>()[static_cast<std::size_t>(k * row + i)]);
      },
      {.batched = true, .nanoseconds = 5000});
  return f;
}

}  // namespace

TEST_CASE("a host function is a value of lazy work: it runs when asked for, once, between kernels") {
  std::atomic<int> calls{0};
  const HostFunction count("count", [&](const HostCall& c) {
    ++calls;
    CHECK(c.operands.size() == 1);
    CHECK(std::vector<std::int64_t>(c.operands[0].shape.begin(), c.operands[0].shape.end()) ==
          std::vector<std::int64_t>{2, 3});
    CHECK(c.operands[0].dtype == DType::float32);
    CHECK(c.first == 0);
    const auto x = c.operands[0].elements<float>();
    const auto y = c.result.elements<std::int64_t>();
    for (std::size_t k = 0; k < 6; ++k) y[k] = static_cast<std::int64_t>(10 * x[5 - k]);
  });
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  const Tensor y = count({(x + 1).transpose().contiguous().transpose()}, {6}, DType::int64);
  const Tensor z = y * 2 + y;
  CHECK(calls == 0);
  CHECK(explain(z).kernels.size() == 3);
  CHECK(calls == 0);
  CHECK(z.to_vector<std::int64_t>() == std::vector<std::int64_t>{210, 180, 150, 120, 90, 60});
  CHECK(calls == 1);
  const std::string text = explain(count({x}, {6}, DType::int64)).str();
  CHECK(text.find("HostCall by count of") != std::string::npos);
  CHECK(text.find("calls the host function count once") != std::string::npos);
}

TEST_CASE("batches are shared among threads, and each knows its number") {
  std::mutex mutex;
  std::set<std::int64_t> seen;
  std::int64_t batches = 0;
  const HostFunction rows("rows",
                          [&](const HostCall& c) {
                            const std::lock_guard guard(mutex);
                            seen.insert(c.first);
                            batches += c.result.shape[0];
                            for (std::int64_t k = 0; k < c.result.shape[0]; ++k)
                              c.result.elements<float>()[static_cast<std::size_t>(k)] =
                                  static_cast<float>(c.first + k) +
                                  c.operands[0].elements<float>()[static_cast<std::size_t>(2 * k)];
                          },
                          {.batched = true, .nanoseconds = 1e6});
  const Context context({.threads = 2});
  const ContextScope scope(context);
  const Tensor x = (ones({100, 2}) * 0.5).realize();
  const Floats y = rows({x}, {100}, DType::float32).to_vector<float>();
  for (std::size_t k = 0; k < 100; ++k) CHECK(y[k] == static_cast<float>(k) + 0.5F);
  CHECK(batches == 100);
  CHECK(seen.size() > 1);

  const HostFunction fails("fails",
                           [](const HostCall& c) {
                             for (std::int64_t k = 0; k < c.result.shape[0]; ++k)
                               if (c.first + k >= 40)
                                 throw ArgumentError("fails", "batch " + std::to_string(c.first + k));
                           },
                           {.batched = true, .nanoseconds = 1e6});
  for (int trial = 0; trial < 5; ++trial) {
    const Tensor failing = fails({x}, {100}, DType::float32);
    CHECK_THROWS_WITH_AS(failing.realize(), "fails: batch 40", ArgumentError);
  }
}

TEST_CASE("calls around which kernels fuse give what the oracle gives") {
  for (const int n : {1, 2, 7, 64, 1000}) {
    const Tensor a = uniform(Key(1), {n, 6}).realize(), b = uniform(Key(2), {6, n}).realize();
    const Tensor both = alternated()({exp(a) * 2, b.transpose().flip(0)}, {n, 6}, DType::float64);
    const Tensor line = neighbours()({sum(both, 1).to(DType::float32)}, {n + 1}, DType::float32);
    const Tensor again = neighbours()({line}, {n + 2}, DType::float32);
    for (const Tensor& y : {softmax(both, -1), line + 1, cumsum(again, 0), sum(both * both.flip(1), 0), again.flip(0)})
      CHECK(reference::difference(y, reference::interpret(y), reference::elements(y)) == "");
  }
}

TEST_CASE("captured functions of symbolic sizes call host functions") {
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  const auto plain = [](Tensor x) { return neighbours()({x * 2}, {x.size(0) + 1}, DType::float32) - 1; };
  const auto f = function(plain, options);
  for (const int n : {3, 5, 100, 2}) {
    const Tensor x = uniform(Key(3), {n}).realize();
    CHECK(f(x).to_vector<float>() == plain(x).to_vector<float>());
  }
  CHECK(f.counts().traces == 1);
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(f.save(folder / "f.oriel"),
                       "save: the captured function calls the host function \"neighbours\", which a file cannot hold; "
                       "call it before or after the captured function",
                       ArgumentError);
}

TEST_CASE("operands on another device are copied to the CPU, and the result back") {
  Device there;
  try {
    there = ones({1}).to(Device::opencl()).realize().device();
  } catch (const DeviceError&) {
    return;
  }
  const Tensor x = uniform(Key(3), {50});
  const Tensor y = neighbours()({x.to(there) * 2}, {51}, DType::float32);
  CHECK(y.device() == there);
  CHECK(y.to_vector<float>() == neighbours()({x * 2}, {51}, DType::float32).to_vector<float>());
}

TEST_CASE("the equal calls of one function share a plan; what is no call is refused") {
  const Tensor x = ones({3});
  const auto once = [&] {
    return host_call(
        "one", [](const HostCall& c) { c.result.elements<float>()[0] = 1; }, {x}, {1}, DType::float32);
  };
  CHECK(once().to_vector<float>() == Floats{1});
  CHECK_THROWS_WITH_AS(HostFunction("", [](const HostCall&) {}), "HostFunction: the name is empty", ArgumentError);
  CHECK_THROWS_WITH_AS(HostFunction("f", nullptr), "HostFunction: there is no function", ArgumentError);
  CHECK_THROWS_WITH_AS(HostFunction("f", [](const HostCall&) {}, {.nanoseconds = -1}),
                       "HostFunction: nanoseconds is -1; give a number >= 0", ArgumentError);
  const HostFunction f("f", [](const HostCall&) {}), batched("f", [](const HostCall&) {}, {.batched = true});
  CHECK_THROWS_WITH_AS((void)f({}, {1}, DType::float32), "host_call: 0 operands; give one to three", ArgumentError);
  CHECK_THROWS_WITH_AS((void)f({x, x, x, x}, {1}, DType::float32), "host_call: 4 operands; give one to three",
                       ArgumentError);
  CHECK_THROWS_AS((void)f({x}, {-1}, DType::float32), ShapeError);
  CHECK_THROWS_WITH_AS(
      (void)batched({x}, {4, 1}, DType::float32),
      "host_call: operand (3) of a batched function for a result (4, 1); give both an axis 0 of one extent",
      ShapeError);
}

}  // namespace host_call_test
