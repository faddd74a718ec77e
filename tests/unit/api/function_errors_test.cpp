// Errors while a captured function is traced, and the texts of its reports.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "oriel/oriel.hpp"

namespace function_errors_test {

using namespace oriel;

namespace {

using Floats = std::vector<float>;

constexpr int kMade = __LINE__ + 3;  // the line that tensors made by numbers() name
Tensor numbers(const Shape& shape, float first = 0) {
  float next = first;
  return Tensor::generate(shape, [&](auto) { return next++; });
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Calls f, expects an error E that names this line, and returns its message.
template <class E, class F>
std::string refused(const F& f, const Tensor& x, int line) {
  try {
    f(x);
  } catch (const E& error) {
    CHECK(error.site().line == line);
    return error.what();
  }
  return "it was not refused";
}

Tensor& global() {
  static Tensor tensor = numbers({2});
  return tensor;
}

}  // namespace

TEST_CASE("a tensor that was not passed is refused where it is used") {
  const std::string wanted = "was not passed to the captured function";
  global();
  const auto read = oriel::function([](Tensor x) { return x + global(); });
  const std::string text = refused<ArgumentError>(read, numbers({2}), __LINE__ - 1);
  CHECK(has(text, wanted));
  CHECK(has(text, "float32 (2) on eigen"));
  CHECK(has(text, "oriel::bind(f, tensor)"));
  CHECK(read.entries().empty());
  const auto moved = oriel::function([](Tensor x) { return x + global().flip(); });
  CHECK(has(refused<ArgumentError>(moved, numbers({2}), __LINE__ - 1), wanted));
  const auto written = oriel::function([](Tensor x) { return global() += x; });
  CHECK(has(refused<ArgumentError>(written, numbers({2}), __LINE__ - 1), wanted));
  const auto returned = oriel::function([](Tensor) { return global(); });
  CHECK_THROWS_AS(returned(numbers({2})), ArgumentError);
  static Tensor pending = ones({2});  // pending and made of constants, but it could be written later
  const auto lazy = oriel::function([](Tensor x) { return x + pending; });
  CHECK(has(refused<ArgumentError>(lazy, numbers({2}), __LINE__ - 1), wanted));
  CHECK(global().to_vector<float>() == Floats{0, 1});
}

TEST_CASE("a static that the trace was the first to use is refused, too") {
  const std::string wanted = "is still held outside of it, as a static is";
  const auto data = oriel::function([](Tensor x) {
    static const Tensor table = numbers({2}, 7);
    return x + table;
  });
  CHECK(has(refused<ArgumentError>(data, numbers({2}), kMade), wanted));
  const auto pending = oriel::function([](Tensor x) {
    static const Tensor table = ones({2}) * 3;
    return x + table.flip();
  });
  CHECK(has(refused<ArgumentError>(pending, numbers({2}), __LINE__ - 3), wanted));
  // A tensor that is returned, or that only the trace holds, is not refused.
  const auto kept = oriel::function([](Tensor x) {
    const Tensor table = numbers({2}, 7);
    return std::tuple(x + table, table, table.flip());
  });
  CHECK(std::get<2>(kept(numbers({2}))).to_vector<float>() == Floats{8, 7});
}

TEST_CASE("elements cannot be read while tracing") {
  const std::string wanted = "is being traced, and its tensors have no elements yet";
  const auto check = [&](const auto& f, std::string_view operation, int line) {
    const std::string text = refused<DataDependentError>(f, numbers({1}), line);
    CHECK(has(text, wanted));
    CHECK(has(text, operation));
    CHECK(has(text, "function_errors_test.cpp"));
  };
  check(oriel::function([](Tensor x) { return x + x.to_vector<float>()[0]; }), "to_vector: ", __LINE__);
  check(oriel::function([](Tensor x) { return x + sum(x).item<float>(); }), "item: ", __LINE__);
  check(oriel::function([](Tensor x) { return (x + 1).realize(); }), "realize: ", __LINE__);
  CHECK_THROWS_AS(oriel::function([](Tensor x) { return x + (x + 1).data<float>()[0]; })(numbers({1})),
                  DataDependentError);
  CHECK_THROWS_AS(oriel::function([](Tensor x) {
                    std::ostringstream out;
                    out << x;
                    return x;
                  })(numbers({1})),
                  DataDependentError);
  // Elements of a tensor from outside cannot be read either.
  CHECK_THROWS_AS(oriel::function([](Tensor x) { return x + global().to_vector<float>()[0]; })(numbers({1})),
                  DataDependentError);
  static const Floats memory{1, 2};
  CHECK_THROWS_AS(oriel::function([](Tensor x) { return x + Tensor::borrow(memory, {2}); })(numbers({2})),
                  ArgumentError);
  // After an error the thread can trace and compute as before.
  CHECK((numbers({2}) + 1).to_vector<float>() == Floats{1, 2});
}

TEST_CASE("a tensor that leaves the trace has no elements") {
  static Tensor leaked, computed;
  const auto f = oriel::function([](Tensor x) {
    leaked = x;
    computed = x + 1;
    return x * 2;
  });
  CHECK(f(numbers({2})).to_vector<float>() == Floats{0, 2});
  CHECK_THROWS_WITH_AS(leaked.to_vector<float>(),
                       doctest::Contains("the tensor was made while a captured function was traced, and has no "
                                         "elements outside of it"),
                       ArgumentError);
  CHECK_THROWS_AS(leaked.data<float>(), ArgumentError);
  CHECK_THROWS_AS(computed.to_vector<float>(), ArgumentError);
  CHECK_THROWS_AS((leaked + 1).realize(), ArgumentError);
  CHECK_THROWS_AS(f(leaked), ArgumentError);
  CHECK_THROWS_AS(f(computed), ArgumentError);
  CHECK(f(numbers({2}, 1)).to_vector<float>() == Floats{2, 4});
}

TEST_CASE("what the callable throws passes, and leaves no entry") {
  const auto f = oriel::function([](Tensor x) {
    if (x.size(0) == 3) throw std::runtime_error("three");
    return x + 1;
  });
  CHECK_THROWS_WITH_AS(f(numbers({3})), "three", std::runtime_error);
  CHECK_THROWS_AS(oriel::function([](Tensor x) { return matmul(x, x); })(numbers({2, 3})), ShapeError);
  CHECK(f.entries().empty());
  CHECK(f(numbers({2})).to_vector<float>() == Floats{1, 2});
}

TEST_CASE("a call for which there is no memory is a MemoryError, and smaller calls go on") {
  const auto f = oriel::function([](Tensor x, int wide) {
    return exp(broadcast_to(x.unsqueeze(1), {2, wide != 0 ? std::int64_t{1} << 44 : 1}) + 1);
  });
  const Tensor x = numbers({2});
  for (int round = 0; round < 2; ++round) {  // first traced, then found as an entry
    CHECK_THROWS_WITH_AS(f(x, 1), doctest::Contains("no memory for 140737488355328 bytes"), MemoryError);
    CHECK(f(x, 0).shape() == Shape{2, 1});
    CHECK(x.to_vector<float>() == Floats{0, 1});
  }
  CHECK(f.counts().traces == 2);
}

TEST_CASE("strict: beyond the limits a call is an error that says why") {
  const auto f =
      oriel::function([](Tensor x, int n) { return x + n; }, {.limit = 1, .strict = true, .names = {"x", "n"}});
  CHECK(f(numbers({2}), 1).to_vector<float>() == Floats{1, 2});
  try {
    f(numbers({3}), 1);
    FAIL("it was accepted");
  } catch (const ArgumentError& error) {
    CHECK(has(error.what(), "there may be no more than 1 entry (FunctionOptions::limit)"));
    CHECK(has(error.what(), "entry 0 needs x.size(0) == 2; the call has 3"));
  }
  CHECK_THROWS_WITH_AS(oriel::function([](Tensor x) { return x; }, {.limit = std::size_t{1} << 40}),
                       doctest::Contains("a limit of 1099511627776 entries; accepted are 0 to 65536"), ArgumentError);
}

TEST_CASE("entries and explain say guards, kernels and the first guard that failed") {
  const int line = __LINE__ + 1;
  const auto f = oriel::function([](Tensor x, Tensor w, int n, auto k) { return matmul(x, w) * k + n; },
                                 {.names = {"x", "w", "n", "k"}});
  f(numbers({2, 3}), numbers({3, 4}), 1, 0.5F);
  f(numbers({5, 3}), numbers({3, 4}), 1, 0.5F);
  f(numbers({5, 3}), numbers({4, 3}).transpose(), 2, 0.5F);
  f(numbers({5, 3}).to(DType::float64), numbers({3, 4}), 1, 0.5F);
  const std::vector<FunctionEntry> entries = f.entries();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].site == "function_errors_test.cpp:" + std::to_string(line));
  CHECK(entries[0].misses.empty());
  CHECK(entries[0].inputs ==
        std::vector<std::string>{"x: float32 (2, 3) on eigen", "w: float32 (3, 4) on eigen", "k: any float32", "n: 1"});
  for (const char* guard : {"x.dtype == float32", "x.rank == 2", "x.device == eigen", "x.size(0) == 2",
                            "x.size(1) == 3", "x is row-major", "w in storage 1", "w.size(1) == 4", "n == 1"})
    CHECK(std::count(entries[0].guards.begin(), entries[0].guards.end(), guard) == 1);
  CHECK(entries[0].kernels.size() == 1);
  REQUIRE(entries[1].misses.size() == 1);
  CHECK(entries[1].misses[0].entry == 0);
  CHECK(entries[1].misses[0].guard == "x.size(0) == 2");
  CHECK(entries[1].misses[0].value == "5");
  REQUIRE(entries[2].misses.size() == 2);
  CHECK(entries[2].misses[1].guard == "n == 1");
  CHECK(entries[2].misses[1].value == "2");
  CHECK(has(entries[2].inputs[1], "w: float32 (3, 4) on eigen, strides (1, 3), a view"));
  CHECK(entries[3].misses[1].guard == "x.dtype == float32");
  CHECK(entries[3].misses[1].value == "float64");
  const std::string text = f.explain();
  CHECK(has(text, "4 entries, at most 8; 0 calls hit, 4 traced, 0 ran directly"));
  CHECK(has(text, "  because  entry 0 needs x.size(0) == 2; the call has 5\n"));
  CHECK(has(text, "  input    x: float32 (5, 3) on eigen\n"));
}

TEST_CASE("parts of structures are named by their place") {
  const auto f = oriel::function([](std::vector<Tensor> xs, std::pair<Tensor, double> p) { return xs[1] * p.second; },
                                 {.names = {"xs"}});
  const std::vector<Tensor> xs{numbers({2}), numbers({3})};
  f(xs, std::pair(xs[0], 0.5));
  f(xs, std::pair(xs[0], 1.5));  // a float inside a structure becomes a guard
  CHECK(f.entries()[0].inputs[1] == "xs[1]: float32 (3) on eigen");
  CHECK(f.entries()[0].inputs[2] == "arg1[0]: float32 (2) on eigen, of the storage of xs[0]");
  REQUIRE(f.entries().size() == 2);
  CHECK(f.entries()[1].misses[0].guard == "arg1[1] == 0.5");
  CHECK(f.entries()[1].misses[0].value == "1.5");
}

TEST_CASE("debug lines tell traces, why, and calls beyond the limit") {
  std::string lines;
  set_debug_sink([&](std::string_view line) { lines += std::string(line) + '\n'; });
  set_debug("dynamic=2");
  const auto f = oriel::function([](Tensor x) { return x + 1; }, {.limit = 2, .dynamic = Dynamic::no, .names = {"x"}});
  f(numbers({2}));
  CHECK(has(lines, "oriel dynamic: traced the captured function of function_errors_test.cpp:"));
  CHECK(has(lines, "oriel dynamic:   guard x.size(0) == 2\n"));
  CHECK(has(lines, "oriel dynamic:   kernel add_f32_2_1ops\n"));
  lines.clear();
  f(numbers({2}));
  CHECK(lines.empty());  // a call that hits prints nothing
  f(numbers({3}));
  CHECK(has(lines, "oriel dynamic:   because entry 0 needs x.size(0) == 2; the call has 3\n"));
  f(numbers({4}));
  CHECK(has(lines, "oriel dynamic: ran the captured function of function_errors_test.cpp:"));
  set_debug("0");
  set_debug_sink({});
}

}  // namespace function_errors_test
