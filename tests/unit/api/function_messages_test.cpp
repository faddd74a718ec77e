// Messages of errors at symbolic sizes: they say what each size is, its value and its line.
#include <doctest/doctest.h>

#include <string>

#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_messages_test {

using namespace oriel;
using namespace oriel::test;

namespace {

const std::string kFile = "function_messages_test.cpp:";

template <class E, class F, class... T>
std::string error_of(const F& f, const T&... x) {
  try {
    f(x...);
  } catch (const E& error) {
    return std::string(error.message());
  }
  return "no error";
}

std::string at(int line) { return kFile + std::to_string(line); }

}  // namespace

TEST_CASE("an operation that refuses symbolic shapes says what their sizes are") {
  const auto f = oriel::function([](Tensor x, Tensor y) { return x + y; }, with(Dynamic::yes));
  const Tensor x = full({4}, 1.0F).realize(), y = full({5}, 2.0F).realize();
  const int line = __LINE__ - 1;
  CHECK(
      error_of<ShapeError>(f, x, y) ==
      "add: (s0) and (s1) do not broadcast: axis -1 is s0 and s1; extents must agree or be 1; here s0 = x.size(0) = 4 "
      "(made at " +
          at(line) + "), s1 = y.size(0) = 5 (made at " + at(line) + ")");
  CHECK(f.entries().empty());
  // What the callable catches says it, too.
  static std::string caught;
  const auto g = oriel::function(
      [](Tensor a, Tensor b) {
        try {
          return matmul(a, b);
        } catch (const ShapeError& error) {
          caught = error.message();
          return a;
        }
      },
      with(Dynamic::yes));
  g(numbers({4, 3}), numbers({5, 6}));
  CHECK(caught.starts_with("matmul: (s0, s1) x (s2, s3): the inner extents s1 and s2 differ; here s0 = x.size(0) = 4"));
  CHECK(caught.find("s3 = y.size(1) = 6") != std::string::npos);
}

TEST_CASE("each symbol is explained once, and others are not") {
  const auto f = oriel::function([](Tensor x, Tensor y) { return as_strided(x, View::make({x.size(0) + 1}, {1})) + y; },
                                 with(Dynamic::yes));
  const std::string text = error_of<ShapeError>(f, numbers({4}), numbers({9}));
  CHECK(text.find("s0 = x.size(0) = 4") != std::string::npos);
  CHECK(text.find("s0 = x.size(0) = 4") == text.rfind("s0 = x.size(0) = 4"));
  CHECK(text.find("s1") == std::string::npos);
  // Outside of a trace, sizes are numbers.
  CHECK(error_of<ShapeError>([](const Tensor& a, const Tensor& b) { return a + b; }, numbers({4}), numbers({5})) ==
        "add: (4) and (5) do not broadcast: axis -1 is 4 and 5; extents must agree or be 1");
}

TEST_CASE("a branch on a count says which count it is") {
  const auto f = oriel::function([](Tensor x) { return masked_select(x, x > 0).size(0) > 3 ? x : x + 1; });
  const int line = __LINE__ - 1;
  CHECK(error_of<DataDependentError>(f, numbers({4})) ==
        "branch: 'u0 > 3' depends on u0 (the number of true elements at " + at(line) +
            "), which is known only when the work runs; state it with expect_true, bound it with constrain_range, or "
            "ask with or_false or or_true");
}

TEST_CASE("a marked size that the trace fixes is an error with both lines, unless the mark is lenient") {
  const auto f = oriel::function([](Tensor x) { return x + Tensor::of<float>({1, 2, 3}); }, with(Dynamic::automatic));
  const int decided = __LINE__ - 1;
  const Tensor x = numbers({3});
  const int marked = __LINE__ + 1;
  mark_dynamic(x, 0);
  CHECK(error_of<ArgumentError>(f, x) ==
        "mark_dynamic: x.size(0) is marked as dynamic at " + at(marked) +
            ", but the trace needs it to be 3 (guards: x.size(0) == 3, decided at " + at(decided) +
            "); mark it static or leniently (DynamicSize::lenient), or change what the function does with it");
  CHECK(f.entries().empty());
  const Tensor y = numbers({3});
  mark_dynamic(y, 0, {.lenient = true});
  CHECK(f(y).to_vector<float>() == std::vector<float>{1.25F, 2.5F, 3.75F});
  CHECK(size_guards(f.entries()[0]).size() == 1);
  // A lenient mark makes a symbol where the trace needs none.
  const auto g = oriel::function([](Tensor a) { return a * 2; }, with(Dynamic::no));
  mark_dynamic(y, 0, {.hi = 100, .lenient = true});
  g(y);
  CHECK(g(numbers({9})).size(0) == 9);
  CHECK(g.counts().traces == 1);
  const Tensor one = numbers({1});
  mark_dynamic(one, 0, {.hi = 100, .lenient = true});
  CHECK(g(one).size(0) == 1);  // a size of 1 is a number, and no error
  CHECK(g.counts().traces == 2);
}

}  // namespace function_messages_test
