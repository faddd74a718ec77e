// Index expressions: what they become, their ranges, and the values of a loop that keep them inside.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "lang/index/solve.hpp"
#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"
#include "sym/build.hpp"

namespace oriel::lang::index_test {
namespace {

/// The index of X in a statement with loops i, j and k, by the numbers 0, 1 and 2, and N = 10.
sym::Expr index(IndexBuilder& builder, const std::string& text) {
  const ProgramPtr program =
      check("def f(float(N) X) -> (Y) { Y(i, j, k) = X(" + text + ") where i in 0:9, j in 0:9, k in 0:9 }")[0];
  const lang::Expr& access = program->definition[program->statements[0].accesses[0].expr];
  return builder.number(*program, access.args[0], std::array{builder.constant(10)});
}

/// Calls f(point) for each point of the box.
template <class F>
void each_point(const std::array<Interval, 3>& box, F f) {
  std::array<std::int64_t, 3> p{};
  for (p[0] = box[0].lo; p[0] <= box[0].hi; ++p[0]) {
    for (p[1] = box[1].lo; p[1] <= box[1].hi; ++p[1]) {
      for (p[2] = box[2].lo; p[2] <= box[2].hi; ++p[2]) f(p);
    }
  }
}

constexpr std::array<const char*, 32> kIndices{
    "2*i + 3*j - 1",
    "(i + 2*j) / 2",
    "(i + 4*j + 3*k) / 4 - j",
    "(2*j - i) / (-3)",
    "3 * (i / 2) + j - 2*k",
    "i / 2 + j / 3",
    "j - (i + k) / 2",
    "(4*i + 5) / 4",
    "(i / 3 + 1) / 2 + k",
    "i % 4",
    "(3*i + 1) % 5",
    "(2*i + 4) % 6",
    "2 * (i % 3) + j",
    "(i + 3) % (-4)",
    "(i + j) % 3",
    "min(i, j) + 1",
    "max(min(i, N - 1), 0)",
    "max(i - j, 2*k - i)",
    "min(i, 7 - i)",
    "i < j ? i + 4 : j",
    "j < 2 ? i : 3 - i",
    "j == 1 && k > 0 ? 2*i : 1 - i",
    "i != 3 ? i : 0 - 1",
    "(i < 2 ? k < 1 : j < 1) ? i : 2*j",
    "int32(i + j < 3) + i",
    "int32(!(i < 3 || i >= j)) * 2 + k",
    "i * j",
    "i * (j + 1) - k",
    "(i - 4) * (j - 5)",
    "i * i - 3*j",
    "i % 3 * j + i / 2 * k",
    "uint8(i - 3) - j",
};

}  // namespace

TEST_CASE("the values of a loop that keep an index inside are those that trying all points finds") {
  const std::array<Interval, 3> box{Interval{}, Interval{0, 3}, Interval{-1, 2}};
  const Interval window{-25, 25};
  std::size_t found = 0;
  for (const char* text : kIndices) {
    IndexBuilder builder;
    const sym::Expr e = index(builder, text);
    IndexValues values(e);
    for (const Interval target : {Interval{0, 9}, Interval{-3, 1}, Interval{2, 4}, Interval{0, 0}}) {
      IntervalSet expected;
      for (std::int64_t i = window.lo; i <= window.hi; ++i) {
        bool legal = true;
        each_point({Interval::point(i), box[1], box[2]},
                   [&](const auto& point) { legal = legal && target.contains(values.at(point)); });
        if (legal) expected = unite(expected, {Interval::point(i)});
      }
      Budget budget;
      const std::optional<IntervalSet> legal = legal_values(e, target, 0, box, window, true, budget);
      CAPTURE(text);
      CAPTURE(sym::to_string(target));
      REQUIRE(legal);
      CHECK(intersect(*legal, {window}) == expected);
      found += expected.size();
    }
  }
  CHECK(found > 60);
}

TEST_CASE("an index lies in its range") {
  const std::array<Interval, 3> box{Interval{-3, 6}, Interval{0, 3}, Interval{-1, 2}};
  for (const char* text : kIndices) {
    IndexBuilder builder;
    const sym::Expr e = index(builder, text);
    const Interval range = range_over(e, box);
    IndexValues values(e);
    CAPTURE(text);
    CHECK(bounded(range));
    each_point(box, [&](const auto& point) { CHECK(range.contains(values.at(point))); });
  }
  IndexBuilder builder;
  CHECK(range_over(index(builder, "(i - 4) * (j - 5)"), box) == Interval{-10, 35});
  CHECK(range_over(index(builder, "(i + 11) % 8"), {{{-3, 4}, {}, {}}}) == Interval{0, 7});
  CHECK(range_over(index(builder, "(i + 11) % 8"), {{{-3, 3}, {}, {}}}) == Interval{0, 6});
}

TEST_CASE("an index is linear if its canonical form is") {
  IndexBuilder builder;
  const sym::Expr i = builder.loop(0);
  CHECK(index(builder, "(2*i + 6) / 2") == sym::add(i, 3));
  CHECK(index(builder, "N > 3 ? i + j - j : int32(X(k))") == i);
  CHECK(index(builder, "min(i, i + 1)") == i);
  CHECK(index(builder, "(3*i + N - i - i)") == sym::add(i, 10));
  CHECK_FALSE(is_linear(index(builder, "(2*i + 1) / 4")));
  CHECK(index_variables(index(builder, "k / 2 + i*k - j + j")).loops == std::vector<std::int32_t>{0, 2});
}

TEST_CASE("each element that is read is an unknown of its own") {
  IndexBuilder builder;
  const sym::Expr e = index(builder, "int32(X(i) > 0.0) - int32(X(i) > 0.0)");
  CHECK(index_variables(e).reads);
  CHECK(range_over(e, {{{0, 1}, {}, {}}}) == Interval{-1, 1});
  CHECK_FALSE(index_variables(index(builder, "i * j")).reads);
}

TEST_CASE("a quotient by a loop has no value where the loop is 0, and no range there") {
  IndexBuilder builder;
  const sym::Expr e = index(builder, "i * j / j");
  IndexValues values(e);
  CHECK(values.at(std::array<std::int64_t, 3>{3, 2, 0}) == 3);
  CHECK(values.outcome(std::array<std::int64_t, 3>{3, 0, 0}).fault == sym::Outcome::Fault::zero_divisor);
  CHECK(range_over(e, {{{0, 3}, {0, 2}, {}}}) == Interval{});
  CHECK(range_over(e, {{{0, 3}, {1, 2}, {}}}) == Interval{0, 6});
  CHECK(range_over(index(builder, "i % j"), {{{0, 9}, {0, 3}, {}}}) == Interval{0, 2});
  CHECK(range_over(index(builder, "i % j"), {{{0, 9}, {0, 0}, {}}}) == Interval{0, 0});
  CHECK_THROWS_WITH_AS(infer(*check("def f(float(N) X) -> (Y) { Y(i, j) = X(i / j) where i in 0:3, j in 0:2 }")[0],
                             std::vector<std::optional<Shape>>{Shape{9}}),
                       doctest::Contains("or divides by zero"), ComprehensionError);
}

TEST_CASE("the statements of a definition share equal index expressions") {
  std::string text = "def f(float(N) X) -> (Y) { T0(i) = X(i + 1)";
  for (int k = 0; k < 20; ++k) {
    text += " T" + std::to_string(k + 1) + "(a) = T" + std::to_string(k) + "(a) + T" + std::to_string(k) + "(a + 1)";
  }
  const Inference found = infer(*check(text + " Y(i) = T20(i) }")[0], std::vector<std::optional<Shape>>{Shape{40}});
  CHECK(found.statements.back().box == std::vector<Interval>{Interval{-1, 18}});
  CHECK(found.builder->pool().size() <= 20 + 8);  // and the ends of the ranges, which are numbers
}

}  // namespace oriel::lang::index_test
