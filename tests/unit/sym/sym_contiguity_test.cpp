// Contiguity of symbolic layouts: the branching form with its guards, and the formula without a branch.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "unit/sym/environments.hpp"
#include "view/layouts/layout.hpp"

namespace sym_contiguity_test {

using namespace oriel;
using namespace oriel::detail;
using test::guard_texts;
using test::Strings;

namespace {

using Numbers = std::vector<std::int64_t>;

struct Layouts {
  Shape shape;
  Ints strides;
};

// A layout with sizes x1, x2, ... and strides y1, y2, ..., without bounds.
Layouts symbols(ShapeEnv& env, const Numbers& shape, const Numbers& strides) {
  Layouts made;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    made.shape.push_back(env.symbol("x" + std::to_string(d + 1), shape[d]));
    made.strides.push_back(env.symbol("y" + std::to_string(d + 1), strides[d]));
  }
  return made;
}

struct Row {
  Numbers shape;
  Numbers strides;
  bool result;
  Strings guards;
};

void check_trace(const Row& row, const std::function<bool(const Shape&, const Ints&)>& question) {
  ShapeEnv env(ShapeEnv::Options{.mode = ShapeEnv::Mode::trace});
  const Layouts layout = symbols(env, row.shape, row.strides);
  CHECK(question(layout.shape, layout.strides) == row.result);
  CHECK(guard_texts(env, sym::Notation::notebook) == row.guards);
}

// The formula of a layout given as texts. Its symbols have the hint 3.
std::string formula(const std::vector<std::string>& shape, const std::vector<std::string>& strides,
                    SymBounds bounds = {}, std::optional<bool>* known = nullptr) {
  ShapeEnv env;
  const auto read = [&](const std::vector<std::string>& texts) {
    Ints list;
    for (const std::string& text : texts) {
      list.push_back(SymInt(sym::parse(env.environment().pool, text, [&](std::string_view name) {
        if (const auto* symbol = env.environment().symbols.find(name)) return symbol->expr;
        return env.symbol(name, 3, bounds).node();
      })));
    }
    return list;
  };
  const Shape sizes = read(shape);
  const SymBool result = contiguous_formula(sizes, read(strides));
  CHECK(env.guards().empty());
  if (known != nullptr) *known = env.known(result);
  return result.is_symbolic() ? sym::to_string(result.node(), sym::Notation::notebook) : to_string(result);
}

}  // namespace

TEST_CASE("the branching form records what it reads, in order") {
  const std::vector<Row> rows{
      {{3, 1, 5},
       {5, 99999, 1},
       true,
       {"Ne(x1*x2*x3, 0)", "Ne(x3, 1)", "Eq(y3, 1)", "Eq(x2, 1)", "Ne(x1, 1)", "Eq(y1, x3)"}},
      {{3, 0, 5}, {7, 8, 9}, true, {"Eq(x1*x2*x3, 0)"}},
      {{2, 3, 5},
       {15, 5, 1},
       true,
       {"Ne(x1*x2*x3, 0)", "Ne(x3, 1)", "Eq(y3, 1)", "Ne(x2, 1)", "Eq(y2, x3)", "Ne(x1, 1)", "Eq(y1, x2*x3)"}},
      {{2, 3, 5},
       {30, 5, 1},
       false,
       {"Ne(x1*x2*x3, 0)", "Ne(x3, 1)", "Eq(y3, 1)", "Ne(x2, 1)", "Eq(y2, x3)", "Ne(x1, 1)", "Ne(y1, x2*x3)"}},
      {{2, 3, 5}, {1, 2, 6}, false, {"Ne(x1*x2*x3, 0)", "Ne(x3, 1)", "Ne(y3, 1)"}},
      {{1, 1, 1}, {7, 8, 9}, true, {"Ne(x1*x2*x3, 0)", "Eq(x3, 1)", "Eq(x2, 1)", "Eq(x1, 1)"}},
      {{4}, {1}, true, {"Ne(x1, 0)", "Ne(x1, 1)", "Eq(y1, 1)"}},
      {{4}, {2}, false, {"Ne(x1, 0)", "Ne(x1, 1)", "Ne(y1, 1)"}},
      {{1}, {9}, true, {"Ne(x1, 0)", "Eq(x1, 1)"}},
      {{2, 1}, {1, 1}, true, {"Ne(x1*x2, 0)", "Eq(x2, 1)", "Ne(x1, 1)", "Eq(y1, 1)"}},
      {{1, 4}, {77, 1}, true, {"Ne(x1*x2, 0)", "Ne(x2, 1)", "Eq(y2, 1)", "Eq(x1, 1)"}},
      {{5, 5}, {5, 1}, true, {"Ne(x1*x2, 0)", "Ne(x2, 1)", "Eq(y2, 1)", "Ne(x1, 1)", "Eq(y1, x2)"}},
  };
  for (const Row& row : rows) check_trace(row, contiguous_branching);
}

TEST_CASE("the channels-last form records what it reads, in its order of axes") {
  const std::vector<Row> rows{
      {{2, 3, 4, 5},
       {60, 1, 15, 3},
       true,
       {"Ne(x2, 1)", "Eq(y2, 1)", "Ne(x4, 1)", "Eq(y4, x2)", "Ne(x3, 1)", "Eq(y3, x2*x4)", "Ne(x1, 1)",
        "Eq(y1, x2*x3*x4)"}},
      {{2, 1, 4, 4},
       {16, 16, 4, 1},
       true,
       {"Eq(x2, 1)", "Ne(x4, 1)", "Eq(y4, 1)", "Ne(x3, 1)", "Eq(y3, x4)", "Ne(x1, 1)", "Eq(y1, x3*x4)"}},
      {{2, 4, 1, 1},
       {4, 1, 1, 1},
       true,
       {"Ne(x2, 1)", "Eq(y2, 1)", "Eq(x4, 1)", "Eq(x3, 1)", "Ne(x1, 1)", "Eq(y1, x2)"}},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, false, {"Ne(x2, 1)", "Ne(y2, 1)"}},
  };
  for (const Row& row : rows) check_trace(row, channels_last_branching);
}

TEST_CASE("the guards of the branching form imply its answer") {
  for (const auto& row : std::vector<std::pair<std::array<std::int64_t, 6>, bool>>{
           {{3, 1, 5, 5, 99999, 1}, true}, {{2, 3, 5, 30, 5, 1}, false}, {{3, 0, 5, 7, 8, 9}, true}}) {
    const std::array<std::int64_t, 6>& hints = row.first;
    const bool contiguous = row.second;
    ShapeEnv env;
    const Layouts layout = symbols(env, {hints[0], hints[1], hints[2]}, {hints[3], hints[4], hints[5]});
    CHECK(contiguous_branching(layout.shape, layout.strides) == contiguous);
    sym::Environment& inner = env.environment();
    std::vector<sym::Expr> conditions;
    for (const auto& guard : inner.guards.all()) conditions.push_back(guard.condition);
    sym::Program program(conditions);
    std::size_t passing = 0;
    std::vector<std::int64_t> values(program.variables().size());
    // Tries all sizes from 0 to 4 and strides from 0 to 6.
    const std::function<void(std::size_t)> all = [&](std::size_t k) {
      if (k < values.size()) {
        const std::int64_t end = program.variables()[k]->name[0] == 'x' ? 5 : 7;
        for (values[k] = 0; values[k] < end; ++values[k]) all(k + 1);
        return;
      }
      for (const auto& outcome : program.run(values)) {
        if (!outcome.is(1)) return;
      }
      ++passing;
      Shape shape{1, 1, 1};
      Ints strides{99, 99, 99};
      for (std::size_t v = 0; v < values.size(); ++v) {
        const std::string_view name = program.variables()[v]->name;
        (name[0] == 'x' ? shape : strides)[std::size_t(name[1] - '1')] = values[v];
      }
      // A symbol that no guard names may have any value: the answer stays the same.
      CHECK(contiguous_branching(shape, strides) == contiguous);
    };
    all(0);
    CHECK(passing > 0);
  }
}

TEST_CASE("sizes of at least 2 leave three of the six guards") {
  ShapeEnv env;
  Layouts layout = symbols(env, {3, 1, 5}, {5, 99999, 1});
  for (const std::size_t d : {0, 2}) env.constrain_range(layout.shape[d], {2, {}});
  CHECK(contiguous_branching(layout.shape, layout.strides));
  CHECK(guard_texts(env, sym::Notation::notebook) == Strings{"Eq(y3, 1)", "Eq(x2, 1)", "Eq(y1, x3)"});
}

TEST_CASE("the formula of symbols, and what of it is decided") {
  CHECK(formula({"x1", "x2", "x3"}, {"y1", "y2", "y3"}) ==
        "Eq(x1*x2*x3, 0) | ((Eq(x1, 1) | Eq(y1, x2*x3)) & (Eq(x2, 1) | Eq(y2, x3)) & (Eq(x3, 1) | Eq(y3, 1)))");
  CHECK(formula({"x1", "x2"}, {"y1", "y2"}) == "Eq(x1*x2, 0) | ((Eq(x1, 1) | Eq(y1, x2)) & (Eq(x2, 1) | Eq(y2, 1)))");
  CHECK(formula({"x1"}, {"y1"}) == "Eq(x1, 0) | Eq(x1, 1) | Eq(y1, 1)");
  CHECK(formula({}, {}) == "true");
  CHECK(formula({"3", "1", "5"}, {"5", "x", "1"}) == "true");
  CHECK(formula({"x1", "x2", "x3"}, {"x2*x3", "x3", "1"}) == "true");
  CHECK(formula({"x1", "3", "x3"}, {"3*x3", "x3", "1"}) == "true");
  CHECK(formula({"x1", "3", "5"}, {"15", "5", "1"}) == "true");
  CHECK(formula({"x1", "x2"}, {"1", "x1"}) == "Eq(x1*x2, 0) | ((Eq(1, x2) | Eq(x1, 1)) & (Eq(x1, 1) | Eq(x2, 1)))");
}

TEST_CASE("contiguous by construction is proved contiguous") {
  std::optional<bool> known;
  CHECK(formula({"2", "x", "5"}, {"5*max(1, x)", "5", "1"}, {}, &known) == "Eq(10*x, 0) | Eq(5*Max(1, x), 5*x)");
  CHECK_FALSE(known.has_value());  // a negative x
  CHECK(formula({"2", "x", "5"}, {"5*max(1, x)", "5", "1"}, {0, {}}, &known) == "Eq(10*x, 0) | Eq(5*Max(1, x), 5*x)");
  CHECK(known == true);
  CHECK(formula({"2", "x", "5"}, {"5*max(1, x)", "5", "1"}, {1, {}}) == "true");
  CHECK(formula({"2", "x", "y"}, {"max(1, x)*max(1, y)", "max(1, y)", "1"}, {0, {}}, &known) != "true");
  CHECK(known == true);
}

TEST_CASE("a guard on the formula is one guard") {
  ShapeEnv env;
  const Layouts layout = symbols(env, {3, 1, 5}, {5, 99999, 1});
  CHECK(bool(contiguous_formula(layout.shape, layout.strides)));
  CHECK(env.guards().size() == 1);
}

TEST_CASE("density is known, or one opaque condition, or refused without a hint") {
  ShapeEnv env;
  const SymInt u0 = env.unbacked();
  const SymInt u1 = env.unbacked();
  env.constrain_size(u0);
  env.constrain_size(u1);
  const SymInt s = env.symbol("s", 5, {2, {}});
  const SymInt m = sym_max(1, u0);
  CHECK(bool(non_overlapping_and_dense({u0, 2}, {2, 1})));
  CHECK(bool(non_overlapping_and_dense({2, u0}, {1, 2})));
  CHECK(bool(non_overlapping_and_dense({u0}, {1})));
  CHECK(bool(non_overlapping_and_dense({1}, {u0})));
  CHECK(bool(non_overlapping_and_dense({2, 3, 1, u0}, {3 * m, m, m, 1})));
  CHECK_FALSE(bool(non_overlapping_and_dense({2, 3, 1, u0}, {m, m, 1, 3 * m})));
  CHECK_FALSE(bool(non_overlapping_and_dense({2, 3, u0}, {u1, 3, 1})));
  CHECK(bool(non_overlapping_and_dense({s, 7}, {1, s})));
  CHECK(env.guards().empty());
  const SymInt t = env.symbol("t", 5, {2, {}});
  CHECK(bool(non_overlapping_and_dense({s, 7}, {1, t})));
  CHECK(guard_texts(env) == Strings{"non_overlapping_and_dense(s, 7, 1, t)"});
  CHECK(bool(non_overlapping_and_dense({s, 7}, {1, t})));
  CHECK(env.guards().size() == 1);
}

}  // namespace sym_contiguity_test
