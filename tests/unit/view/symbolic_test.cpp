// Views and layouts over symbols: which decisions record guards, and which do not.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "oriel/error.hpp"
#include "oriel/layout_conditions.hpp"
#include "oriel/shape_env.hpp"
#include "oriel/view.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/strided_reshape.hpp"
#include "view/stacks/injective.hpp"

namespace symbolic_test {

using namespace oriel;

namespace {

/// The guards, with "; " between them.
std::string guards(const ShapeEnv& env) {
  std::string text;
  for (const auto& guard : env.guards()) text += (text.empty() ? "" : "; ") + guard.str();
  return text;
}

}  // namespace

TEST_CASE("views of a size that depends on data are moved without a branch on it") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  const ShapeTracker rows({u, 3});
  REQUIRE(env.deferred_checks().size() == 1);
  CHECK(to_string(env.deferred_checks()[0].condition) == "u0 >= 0");
  CHECK(rows.reshape({3 * u}).str() == "(3*u0):(1)");
  CHECK(rows.reshape({3 * u}).reshape({u, 3}).str() == "(u0,3):(3,1)");
  CHECK(rows.reshape({u, 1, 3}).expand({u, 4, 3}).str() == "(u0,4,3):(3,0,1)");
  CHECK(rows.permute({1, 0}).str() == "(3,u0):(1,3)");
  CHECK(rows.flip({0}).str() == "(u0,3):(-3,1)+3*u0 - 3");
  CHECK(rows.permute({1, 0}).reshape({3 * u}).simplify().str() == "(3*u0):(1) over (3,u0):(1,3)");
  CHECK(rows.pad({{0, 0}, {1, 0}}).str() == "(u0,4):(3,1)-1[0:u0,1:4)");
  CHECK(ShapeTracker({2, u, 5}).reshape({2, 5 * u}).str() == "(2,5*u0):(5*u0,1)");
  CHECK(guards(env).empty());
  CHECK_THROWS_AS(static_cast<void>(rows.shrink({{0, 2}, {0, 3}})), DataDependentError);
}

TEST_CASE("extents that may be 0 or 1 take no guard while no answer rests on them") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 4, {0, {}});
  const SymInt b = env.symbol("b", 6, {0, {}});
  const ShapeTracker matrix({a, b});
  CHECK(matrix.str() == "(a,b):(b,1)");
  CHECK(matrix.reshape({a * b}).str() == "(a*b):(1)");
  CHECK(matrix.reshape({a * b}).reshape({a, b}).str() == "(a,b):(b,1)");
  CHECK(matrix.permute({1, 0}).flip({0}).str() == "(b,a):(-1,b)+b - 1");
  CHECK(matrix.pad({{1, 1}, {0, 2}}).str() == "(a + 2,b + 2):(b,1)-b[1:a + 1,0:b)");
  CHECK(guards(env).empty());
}

TEST_CASE("a refused reshape records what it rests on") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 4, {0, {}});
  const ShapeTracker turned = ShapeTracker({a, 3}).permute({1, 0});
  CHECK(guards(env).empty());
  // With a = 1 or a = 0 one view would do.
  CHECK(turned.reshape({3 * a}).str() == "(3*a):(1) over (3,a):(1,3)");
  CHECK(guards(env) == "a != 0; a != 1");
}

// Blocks leave out an axis of one position. Where its mask excludes that position, no index is valid, and no block says
// so.
TEST_CASE("an axis of one position is left out only where its mask contains the position") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 1, {0, 1});
  const View column = View::make({4, 1}, {1, 1}, 0, {{1, 3}, {0, s}});
  const std::optional<View> flat = column.reshape({4});
  REQUIRE(flat);
  CHECK(flat->str() == "(4):(1)[1:3)");
  CHECK(guards(env) == "s == 1");
}

// The quotient's guard fails for b = 0, so a guard for that is not needed. Then the quotient's guard has to stay.
TEST_CASE("a guard over a quotient is kept if no other says that its divisor is not 0") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 3, {1, {}});
  const SymInt b = env.symbol("b", 3, {0, {}});
  const ShapeTracker turned = ShapeTracker({a, b, 2}).flip({0, 2});
  CHECK(turned.reshape({2 * a * b}).str() == "(2*a*b):(1) over (a,b,2):(-2*b,2,-1)+2*a*b - 2*b + 1");
  CHECK(guards(env) == "2*(1 % (a*b)) != 0; b != 1");
}

TEST_CASE("shifts along several axes, each with its edge, are one view for all sizes") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 40, {2, {}}), b = env.symbol("b", 30, {2, {}});
  const auto stacked = [](const View& outer, const View& inner) {
    return ShapeTracker::from_views(std::array{inner, outer}).simplify().str();
  };
  const auto view = [](const Shape& shape, const Ints& strides, SymInt offset, const Ranges& mask) {
    return View::make(shape, strides, offset, mask);
  };
  // A roll over two axes: the rows that are left are an interval of elements, and the steps of the walk say which.
  CHECK(stacked(view({a, b}, {b, 1}, -2, {{0, a}, {2, b}}), view({a, b}, {b, 1}, -b, {{1, a}, {0, b}})) ==
        "(a,b):(b,1)-b - 2[1:a,2:b)");
  // One neighbour of a stencil over a padded field.
  CHECK(stacked(view({a, b}, {b + 2, 1}, 2 * b + 5, {}),
                view({a + 2, b + 2}, {b, 1}, -b - 1, {{1, a + 1}, {1, b + 1}})) == "(a,b):(b,1)+b[0:a - 1,0:b)");
  CHECK(stacked(view({a, b}, {b, 1}, 1, {{0, a}, {0, b - 1}}), view({a, b}, {0, 1}, 0, {{a - 1, a}, {0, b}})) ==
        "(a,b):(0,1)+1[a - 1:a,0:b - 1)");
  // Reversed columns of the rows below.
  CHECK(stacked(view({a + 3, b + 3}, {b, -1}, 2, {{0, a + 3}, {0, 2}}),
                view({a + 3, b}, {b, 1}, -a * b - b, {{a + 1, a + 3}, {0, b}})) ==
        "(a + 3,b + 3):(b,-1)+2 - a*b - b[a + 1:a + 3,0:2)");
}

TEST_CASE("axes of a symbolic stack are split as the hints call for") {
  ShapeEnv env;
  const SymInt b = env.symbol("b", 3, {2, {}});
  const SymInt t = env.symbol("t", 5, {2, {}});
  // Heads side by side: 64 columns are 4 heads of 16.
  const ShapeTracker heads = ShapeTracker({b, 4, t, 16}).permute({0, 2, 1, 3}).reshape({b, t, 64});
  CHECK_FALSE(heads.simplify().single());
  const std::optional<Refinement> split = heads.refine();
  REQUIRE(split);
  CHECK(to_string(split->pieces[0]) == "(b)");
  CHECK(to_string(split->pieces[2]) == "(4, 16)");
  CHECK(split->view.str() == "(b,t,4,16):(64*t,16,16*t,1)");
  // Rows repeated twice: the inner piece is a symbol.
  const ShapeTracker twice = ShapeTracker({t}).reshape({1, t}).expand({2, t}).reshape({2 * t});
  REQUIRE(twice.refine());
  CHECK(to_string(twice.refine()->pieces[0]) == "(2, t)");
  CHECK(twice.refine()->view.str() == "(2,t):(0,1)");
  // No split serves all sizes: a row may end anywhere in a row of the transposed matrix.
  CHECK_FALSE(ShapeTracker({b, t}).permute({1, 0}).reshape({b, t}).refine());
  // Without a hint nothing says which split to try.
  const SymInt u = env.unbacked();
  CHECK_FALSE(ShapeTracker({u, 3}).permute({1, 0}).reshape({3 * u}).refine());
}

TEST_CASE("equality of views asks for the strides of axes with several positions alone") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 4, {0, {}});
  const View one = View::make({a, 3}, {3, 1});
  CHECK(one == View::make({a, 3}, {3, 1}));
  CHECK(guards(env).empty());
  CHECK_FALSE(one == View::make({a, 3}, {5, 1}));
  CHECK(guards(env) == "a != 0; a != 1");
}

TEST_CASE("contiguity is a formula, which takes no guard until it is asked") {
  ShapeEnv env;
  const SymInt n = env.symbol("n", 4);
  const SymInt s = env.symbol("s", 5);
  CHECK(to_string(contiguity(Layout{{n, 5}, {s, 1}})) == "n == 1 or s == 5 or 5*n == 0");
  const SymInt m = env.symbol("m", 4, {2, {}});
  CHECK(to_string(contiguity(Layout{{m, 5}, {s, 1}})) == "s == 5");
  CHECK_FALSE(contiguity(Layout{{m, 5}, {1, m}}).is_symbolic());
  CHECK(static_cast<bool>(density(Layout{{m, 5}, {1, m}})));
  CHECK(guards(env).empty());
  CHECK(static_cast<bool>(contiguity(Layout{{n, 5}, {s, 1}})));
  CHECK(guards(env) == "n == 1 or s == 5 or 5*n == 0");
}

TEST_CASE("a layout that is not contiguous rests on one axis") {
  ShapeEnv env;
  const SymInt n = env.symbol("n", 4, {2, {}});
  const SymInt c = env.symbol("c", 3, {2, {}});
  const SymInt s = env.symbol("s", 30);
  const SymInt t = env.symbol("t", 5);
  CHECK_FALSE(Layout{{n, c, 5}, {s, t, 1}}.is_contiguous());
  CHECK(guards(env) == "s != 5*c");
  CHECK_FALSE(Layout{{n, c, 5, 5}, {s, 25, 5, 1}}.is_contiguous(MemoryFormat::channels_last));
  CHECK(guards(env) == "s != 5*c");
}

TEST_CASE("writes through views whose steps nest take no guard") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 4, {0, {}});
  const SymInt b = env.symbol("b", 6, {0, {}});
  const auto distinct = [](const ShapeTracker& map) {
    return detail::distinctness(map).kind == detail::Distinctness::Kind::Distinct;
  };
  CHECK(distinct(ShapeTracker({a, b})));
  CHECK(distinct(ShapeTracker({a, b, 3}).permute({2, 0, 1}).flip({0, 2})));
  CHECK(distinct(ShapeTracker({8, b}).shrink({{2, 5}, {0, b}})));
  CHECK(guards(env).empty());
  const SymInt u = env.unbacked();
  CHECK(distinct(ShapeTracker({u, 3})));
  // Steps that cross are searched, which fixes the sizes.
  CHECK(distinct(ShapeTracker(View::make({2, 3}, {3, 2}))));
  CHECK_FALSE(distinct(ShapeTracker(View::make({a, 3}, {1, 1}))));
  CHECK(guards(env) == "a == 4");
}

TEST_CASE("suggested formats compare strides alone") {
  ShapeEnv env;
  const SymInt n = env.symbol("n", 4, {1, {}});
  const SymInt c = env.symbol("c", 3, {1, {}});
  CHECK(Layout{{n, c, 5, 7}, {35 * c, 1, 7 * c, c}}.suggest_memory_format() == MemoryFormat::channels_last);
  CHECK(guards(env).empty());
  const SymInt h = env.symbol("h", 5, {1, {}});
  CHECK(Layout{{n, c, h, 7}, {7 * c * h, 7 * h, 7, 1}}.suggest_memory_format() == MemoryFormat::contiguous);
  CHECK(guards(env).empty());
}

TEST_CASE("layouts take no guard on which their answer does not rest") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 5, {0, {}});
  const SymInt b = env.symbol("b", 3, {1, {}});
  // It is not dense, so it is neither contiguous nor empty.
  const Layout sparse{{a}, {b}};
  CHECK(name(detail::iterate(std::array{&sparse}).path) == "none");
  CHECK(guards(env) == "not non_overlapping_and_dense(a, b)");
  // Axes of one stride overlap for all sizes.
  CHECK_FALSE(bool(density({{a + 2, b + 1}, {b, b}})));
  // No stride is 1.
  CHECK_FALSE(bool(density({{a + 2, b}, {2, b + 1}})));
  CHECK_FALSE(bool(density({{b + 1}, {-b}})));
  CHECK(guards(env) == "not non_overlapping_and_dense(a, b)");
}

TEST_CASE("a reshape asks whether a product of neighbours is even, and takes no guard") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 5, {1, {}});
  const detail::StridedReshape pairs = detail::strided_reshape(Layout::contiguous({s + 1, s}), {-1, 2});
  REQUIRE(bool(pairs));
  CHECK(pairs.layout.str() == "((s*s + s) // 2,2):(2,1)");
  CHECK(guards(env).empty());
}

}  // namespace symbolic_test
