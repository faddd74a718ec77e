// Operations on sizes that depend on data: each one holds for every count, 0 included, or each call checks what it
// needs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_counts_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// `size` elements, of which the last `count` are greater than 0, in no order.
Tensor with_positive(std::int64_t size, std::int64_t count) {
  return Tensor::generate({size}, [=](auto i) {
    const std::int64_t k = i[0] * 7 % 31;
    return i[0] < size - count ? -1.F : static_cast<float>(k % 13) / 4 + 0.25F;
  });
}

struct Outcome {
  bool refused = false;
  std::string error = {};
  Shape shape = {};
  Ints strides = {};
  DType dtype = DType::float32;
  std::vector<double> elements = {};
};

template <class F>
Outcome outcome(const F& f) {
  try {
    const Tensor got = f();
    Outcome out{false, {}, got.shape(), got.strides(), got.dtype(), {}};
    out.elements = got.to(DType::float64).template to_vector<double>();
    return out;
  } catch (const UserError& error) {
    return {.refused = true, .error = error.what()};
  }
}

void check_same(const Outcome& got, const Outcome& want) {
  CAPTURE(got.error);
  CHECK(got.refused == want.refused);
  if (got.refused || want.refused) return;
  CHECK(got.shape == want.shape);
  if (!want.elements.empty()) CHECK(got.strides == want.strides);
  CHECK(got.dtype == want.dtype);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  CHECK(std::ranges::equal(got.elements, want.elements, same));
}

/// Each count of the operations' operand, in a tensor of so many elements.
constexpr std::pair<std::int64_t, std::int64_t> kCounts[] = {{9, 3},   {9, 0},     {9, 1}, {12, 6},
                                                             {80, 65}, {150, 140}, {9, 9}};

/// `program` gives what the plain engine gives for each count, by one trace, whichever count comes first.
template <class F>
void serves(const char* what, const F& program) {
  CAPTURE(what);
  for (const bool backwards : {false, true}) {
    const auto f = oriel::function(program, with(Dynamic::yes));
    constexpr std::size_t n = std::size(kCounts);
    for (std::size_t k = 0; k < n; ++k) {
      const auto [size, count] = kCounts[backwards ? n - 1 - k : k];
      CAPTURE(count);
      const Tensor x = with_positive(size, count);
      check_same(outcome([&] { return f(x); }), outcome([&] { return program(x); }));
    }
    CHECK(f.entries().size() == 1);
    // Of an empty tensor nothing is chosen, which is known while it is traced.
    const Tensor none = with_positive(0, 0);
    check_same(outcome([&] { return f(none); }), outcome([&] { return program(none); }));
  }
}

/// The same for the size of an argument that is marked.
template <class F>
void serves_marked(const char* what, const F& program) {
  CAPTURE(what);
  for (const std::int64_t first : {0, 3}) {
    const auto f = oriel::function(program, with(Dynamic::no));
    for (const std::int64_t count : {first, 0L, 1L, 2L, 6L, 65L, 150L}) {
      CAPTURE(count);
      const Tensor x = with_positive(count, count);
      mark_unbacked(x, 0);
      check_same(outcome([&] { return f(x); }), outcome([&] { return program(x); }));
    }
    CHECK(f.entries().size() == 1);
  }
}

Tensor positive(const Tensor& x) { return masked_select(x, x > 0); }
/// (count, 3)
Tensor rows(const Tensor& x) { return take(x, nonzero(x > 0), 0).expand({-1, 3}) + arange(3); }

// A line for each operation on one axis of a count: with the operand m.
// clang-format off
#define ORIEL_ON_COUNTS(each) \
  each("concat", concat({m, m}, 0)) \
  each("concat with others", concat({ones({2}), m, m * 2}, 0)) \
  each("stack", stack({m, m * 2}, 1)) \
  each("masked_select", masked_select(m, m > 1)) \
  each("nonzero", nonzero(m > 1)) \
  each("unique", unique(m)) \
  each("unique_all", unique_all(m).inverse) \
  each("unique counts", unique_all(m).counts) \
  each("gather", gather(m, arange(m.size(0)), 0)) \
  each("gather two", gather(m, Tensor::of<std::int64_t>({0, -1}), 0)) \
  each("take", take(m, Tensor::of<std::int64_t>({0, 1, -1}), 0)) \
  each("roll", roll(m, 1, 0)) \
  each("roll back", roll(m, -2, 0)) \
  each("roll far", roll(m, 100, 0)) \
  each("diagonal", diagonal(m.unsqueeze(1) * m)) \
  each("diagonal above", diagonal(m.unsqueeze(1) * m, 1)) \
  each("diagonal below", diagonal(m.unsqueeze(1) * ones({4}), -2)) \
  each("sort", sort(m, 0)) \
  each("sort down", sort(m, 0, true)) \
  each("argsort", argsort(m, 0)) \
  each("cumsum", cumsum(m, 0)) \
  each("cumprod", cumprod(m > 0, 0)) \
  each("cumsum of integers", cumsum(argsort(m, 0), 0)) \
  each("argmax", argmax(m, 0)) \
  each("argmin of a row", argmin(m.unsqueeze(0), 1, true)) \
  each("norm", norm(m, -1.0)) \
  each("linspace", linspace(0, 1, m.size(0))) \
  each("linspace back", linspace(2.5, -3, m.size(0) + 1) * 2) \
  each("unfold", unfold(m, 0, 2, 1)) \
  each("unfold in steps", unfold(m, 0, 3, 2) * 2) \
  each("select", m.select(0, 0)) \
  each("select from the end", m.select(0, -2) + 1) \
  each("a slice", m.slice({{0, 2}})) \
  each("a slice from the end", m.slice({{-2, {}}}) * 3) \
  each("a slice before the end", m.slice({{1, -1}})) \
  each("a slice with steps", m.slice({{.step = 2}})) \
  each("a slice with steps back", m.slice({{.step = -3}}) + 1) \
  each("a slice in steps", m.slice({{1, -1, 2}}) * m.slice({{1, -1, 2}})) \
  each("pairs", m.slice({{1}}) - m.slice({{{}, -1}})) \
  each("reshape", m.reshape({-1, 2})) \
  each("reshape to a column", m.reshape({-1, 1}) * 2) \
  each("repeat", repeat(m, {3})) \
  each("flip", m.flip(0)) \
  each("pad", pad(m, {{2, 1}}, 0.5)) \
  each("softmax", softmax(m, 0)) \
  each("logsumexp", logsumexp(m, 0)) \
  each("mean", mean(m) * m.size(0)) \
  each("var", var(m, 0)) \
  each("max", max(m, 0)) \
  each("squeeze", m.unsqueeze(1).squeeze(1) + 1) \
  each("matmul", matmul(m, m)) \
  each("outer product", matmul(m.unsqueeze(1), m.unsqueeze(0))) \
  each("where", where(m > 1, m, 0)) \
  each("two stages", sum(masked_select(m, m > 1)) / masked_select(m, m > 1).size(0)) \
  each("three stages", sort(concat({masked_select(m, m > 1), masked_select(m, m > 2)}, 0), 0)) \
  each("broadcast", m + sum(m)) \
  each("stated", m + masked_select(m * 2, m > 0))
// clang-format on

}  // namespace

TEST_CASE("each operation on what data chose gives what the plain engine gives, for every count") {
#define ORIEL_SERVES(what, expression) \
  serves(what, [](Tensor x) {          \
    const Tensor m = positive(x);      \
    return expression;                 \
  });
  ORIEL_ON_COUNTS(ORIEL_SERVES)
#undef ORIEL_SERVES
}

TEST_CASE("each operation on a size that is marked as unbacked gives what the plain engine gives, for every size") {
#define ORIEL_SERVES(what, expression) \
  serves_marked(what, [](Tensor x) {   \
    const Tensor m = x * 1;            \
    return expression;                 \
  });
  ORIEL_ON_COUNTS(ORIEL_SERVES)
#undef ORIEL_SERVES
}

TEST_CASE("operations on rows that data chose") {
  serves("concat of rows", [](Tensor x) { return concat({rows(x), rows(x) * 2}, 1); });
  serves("concat below", [](Tensor x) { return concat({rows(x), ones({2, 3})}, 0); });
  serves("stack", [](Tensor x) { return stack({rows(x), rows(x) + 1}, 0); });
  serves("roll of rows", [](Tensor x) { return roll(rows(x), {1, -1}, {0, 1}); });
  serves("roll of columns", [](Tensor x) { return roll(rows(x).transpose(), 1, 1); });
  serves("sort in rows", [](Tensor x) { return sort(rows(x) % 2, 1); });
  serves("sort in columns", [](Tensor x) { return sort(rows(x) % 2, 0); });
  serves("sort of a slice", [](Tensor x) { return sort(rows(x).slice({{1}}), 0); });
  serves("argsort in columns", [](Tensor x) { return argsort(rows(x) % 2, 0); });
  serves("cumsum in rows", [](Tensor x) { return cumsum(rows(x), 1); });
  serves("cumsum in columns", [](Tensor x) { return cumsum(rows(x), 0); });
  serves("argmax in rows", [](Tensor x) { return argmax(rows(x), 1); });
  serves("argmax in columns", [](Tensor x) { return argmax(rows(x), 0); });
  serves("diagonal", [](Tensor x) { return diagonal(rows(x)); });
  serves("unfold in rows", [](Tensor x) { return unfold(rows(x), 1, 2, 1) + 0.5; });
  serves("unfold in columns", [](Tensor x) { return unfold(rows(x), 0, 2, 2); });
  serves("a row", [](Tensor x) { return rows(x).select(0, 1); });
  serves("a column", [](Tensor x) { return rows(x).select(1, 1); });
  serves("steps of rows", [](Tensor x) { return rows(x).slice({{.step = 2}, {1}}); });
  serves("matmul", [](Tensor x) { return matmul(rows(x), ones({3, 2})); });
  serves("Gram", [](Tensor x) { return matmul(rows(x).transpose(), rows(x)); });
  serves("gather in rows", [](Tensor x) { return gather(rows(x), argsort(rows(x) % 2, 1), 1); });
  serves("gather of fewer rows", [](Tensor x) { return gather(rows(x), ones({1, 3}, DType::int64), 1); });
  serves("unique of rows", [](Tensor x) { return unique(rows(x)); });
  serves("masked rows", [](Tensor x) { return masked_select(rows(x), rows(x) > 1.5); });
  serves("reshape", [](Tensor x) { return rows(x).reshape({-1}); });
  serves("softmax", [](Tensor x) { return softmax(rows(x), 1) - softmax(rows(x), 0); });
}

TEST_CASE("running sums over long counts") {
  const auto f = oriel::function([](Tensor x) { return cumsum(positive(x), 0); }, with(Dynamic::yes));
  for (const std::int64_t count : {5, 64, 65, 4096, 4097, 9000, 0, 300000}) {
    const Tensor x = with_positive(count + 3, count);
    check_same(outcome([&] { return f(x); }), outcome([&] { return cumsum(positive(x), 0); }));
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("a slice up to an element reads what is there") {
  const auto program = [](Tensor x, Tensor length) {
    const SymInt n = item(length);
    constrain_range(n, {0, 100});
    return x.slice({{0, n}}) * 2;
  };
  const auto f = oriel::function(program);
  for (const std::int64_t size : {200, 300, 50, 4}) {
    for (const std::int64_t n : {0, 3, 4, 60, 100}) {
      const Tensor x = with_positive(size, 2), length = Tensor::of<std::int64_t>({n});
      check_same(outcome([&] { return f(x, length); }), outcome([&] { return program(x, length); }));
    }
  }
  CHECK(f.counts().traces == 2);
  // Of any sign, as Python's.
  const auto ends = [](Tensor x, Tensor at) { return x.slice({{item(at), {}}}) + x.select(0, item(sum(at * 0))); };
  const auto g = oriel::function([](Tensor x, Tensor at) { return x.slice({{item(at), {}}}); });
  const auto plain = [](Tensor x, Tensor at) { return x.slice({{item(at), {}}}); };
  for (const std::int64_t at : {2, -2, 0, 9, -9, 7, -7}) {
    const Tensor x = with_positive(7, 4), where = Tensor::of<std::int64_t>({at});
    check_same(outcome([&] { return g(x, where); }), outcome([&] { return plain(x, where); }));
  }
  CHECK(g.counts().traces == 1);
  static_cast<void>(ends);
}

TEST_CASE("a position that is an element is checked in each call") {
  const auto program = [](Tensor x, Tensor at) { return x.select(0, item(at)) * 2; };
  const auto f = oriel::function(program);
  const Tensor x = with_positive(5, 4);
  for (const std::int64_t at : {1, 0, 4, -1, -5, 5, -6, 2}) {
    const Tensor position = Tensor::of<std::int64_t>({at});
    check_same(outcome([&] { return f(x, position); }), outcome([&] { return program(x, position); }));
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("a guard that a statement would prove stays: the other way may state less") {
  const auto program = [](Tensor x) {
    const Tensor m = positive(x);
    if (x.size(0) >= 5) {
      expect_true(m.size(0) >= 5);
      return m.size(0) >= 3 ? m * 2 : m;
    }
    return x.size(0) >= 4 ? m : m + 1;
  };
  const auto f = oriel::function(program, with(Dynamic::yes));
  CHECK(f(with_positive(6, 5)).to_vector<float>() == program(with_positive(6, 5)).to_vector<float>());
  CHECK(f(with_positive(3, 2)).to_vector<float>() == program(with_positive(3, 2)).to_vector<float>());
  CHECK(f(with_positive(4, 2)).to_vector<float>() == program(with_positive(4, 2)).to_vector<float>());
}

TEST_CASE("what a call breaks is said with the line that needs it, and the counts with theirs") {
  const auto said = [](const auto& f, const auto&... x) -> std::string {
    try {
      f(x...);
    } catch (const ArgumentError& error) {
      return std::string(error.message());
    }
    return "nothing";
  };
  const std::string file = "function_counts_test.cpp:";
  {
    const int line = __LINE__ + 2;
    const auto f =
        oriel::function([](Tensor x, Tensor y) { return masked_select(x, x > 0) + masked_select(y, y > 0); });
    const std::string place = file + std::to_string(line);
    const std::string text = said(f, with_positive(4, 3), with_positive(4, 2));
    CAPTURE(text);
    CHECK(text.find(" does not hold, which add at " + place + " needs: u0 = the number of true elements at " + place +
                    " = ") != std::string::npos);
    CHECK(text.find(", u1 = the number of true elements at " + place + ", no. 2 = ") != std::string::npos);
  }
  {
    const auto f = oriel::function([](Tensor x) {
      const Tensor m = positive(x);
      expect_true(m.size(0) <= 2);
      return m;
    });
    const int line = __LINE__ - 3;
    const std::string text = said(f, with_positive(4, 3));
    CHECK(text.starts_with("function: u0 <= 2 does not hold, which expect_true at " + file + std::to_string(line) +
                           " states: u0 = the number of true elements at " + file));
    CHECK(text.ends_with(" = 3"));
  }
  {
    const auto f = oriel::function([](Tensor x) {
      const SymInt n = item(sum(x > 0));
      constrain_range(n, {1, 2});
      return x * n;
    });
    const int line = __LINE__ - 3;
    const std::string text = said(f, with_positive(4, 3));
    CHECK(text.starts_with("function: u0 <= 2 does not hold, which constrain_range at " + file + std::to_string(line) +
                           " states: u0 = the element at " + file));
    CHECK(said(f, with_positive(4, 0)).starts_with("function: u0 >= 1 does not hold, which constrain_range at "));
  }
  {
    const auto f = oriel::function([](Tensor x) { return positive(x).select(0, 3); });
    const int line = __LINE__ - 1;
    CHECK(said(f, with_positive(4, 3))
              .starts_with("function: 3 < u0 does not hold, which select at " + file + std::to_string(line) +
                           " needs: u0 = "));
  }
  {
    const auto f = oriel::function([](Tensor x) { return x.select(0, 1); }, with(Dynamic::yes));
    const int line = __LINE__ - 1;
    const Tensor x = with_positive(1, 1);
    const int mark = __LINE__ + 1;
    mark_unbacked(x, 0);
    CHECK(said(f, x) == "function: 1 < u0 does not hold, which select at " + file + std::to_string(line) +
                            " needs: u0 = x.size(0) = 1 (marked at " + file + std::to_string(mark) + ")");
  }
}

}  // namespace function_counts_test
