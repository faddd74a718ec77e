// The values that scheduled loop programs compute, compared with numbers worked out by hand. The programs are
// interpreted point by point, without a backend.
#include <doctest/doctest.h>

#include <cmath>

#include "support/planning.hpp"

namespace values_test {

using namespace oriel;
using namespace oriel::test;
using graph::NodePtr;
using graph::Op;

namespace {
NodePtr number(double v, const NodePtr& like) {
  return graph::constant(graph::Scalar::of_float(like->dtype, v), like->shape);
}
}  // namespace

TEST_CASE("a padded value passes through f only where f(0) is 0") {
  const NodePtr x = counting({3});
  const NodePtr e = graph::pad(graph::unary(Op::Exp, x), Ranges{{1, 1}});
  const auto v = interpret({e})[0];
  CHECK(v[0] == 0);
  CHECK(v[1] == doctest::Approx(std::exp(1.0)));
  CHECK(v[4] == 0);
  const NodePtr r = graph::pad(graph::binary(Op::Div, number(1, x), x), Ranges{{1, 1}});
  CHECK(interpret({r})[0] == std::vector<double>{0, 1, 0.5, static_cast<double>(1.0F / 3), 0});
}

TEST_CASE("a stored value is read as 0 where padding hides it, without another mask") {
  const NodePtr x = counting({4, 4});
  const auto masks = [](const runtime::Plan& p) {
    int n = 0;
    for (const runtime::PlannedKernel& k : p.kernels)
      for (const codegen::Stage& s : k.lowered.program.stages)
        for (const auto* list : {&s.body, &s.outer})
          for (const codegen::Instr& i : *list) n += i.code == codegen::Code::Valid;
    return n;
  };
  const NodePtr above = graph::binary(Op::Add, x, number(1, x));  // is not 0 where x is 0
  const NodePtr padded =
      graph::pad(graph::pad(graph::permute(above, {1, 0}), Ranges{{1, 1}, {0, 0}}), Ranges{{0, 0}, {1, 1}});
  const NodePtr root = graph::unary(Op::Neg, padded);
  CHECK(masks(plan({root})) > 0);
  CHECK(masks(plan({root, above})) == 0);
  const auto alone = interpret({root})[0], both = interpret({root, above})[0];
  CHECK(alone == both);
  CHECK(alone[0] == 0);
  CHECK(alone[7] == -2);
}

TEST_CASE("a pad of a pad keeps both borders") {
  const NodePtr x = counting({2});
  const NodePtr inner =
      graph::binary(Op::Add, graph::pad(x, Ranges{{1, 1}}), number(10, graph::pad(x, Ranges{{1, 1}})));
  CHECK(interpret({graph::pad(inner, Ranges{{1, 0}})})[0] == std::vector<double>{0, 10, 11, 12, 10});
}

TEST_CASE("reductions and their epilogues") {
  const NodePtr x = counting({2, 3});
  const NodePtr s = graph::reduce(Op::Sum, x, {1});
  CHECK(interpret({graph::binary(Op::Mul, s, s)})[0] == std::vector<double>{36, 225});
  CHECK(interpret({graph::reduce(Op::ReduceMax, graph::permute(x, {1, 0}), {0})})[0] == std::vector<double>{3, 6});
  CHECK(interpret({graph::pad(s, Ranges{{0, 1}, {0, 0}})})[0] == std::vector<double>{6, 15, 0});
  CHECK(interpret({graph::reduce(Op::Sum, graph::flip(x, {1}), {0, 1})})[0] == std::vector<double>{21});
}

TEST_CASE("empty axes give identities") {
  const NodePtr x = counting({3, 0});
  CHECK(interpret({graph::reduce(Op::Sum, x, {1})})[0] == std::vector<double>{0, 0, 0});
  CHECK(interpret({graph::reduce(Op::Prod, x, {1})})[0] == std::vector<double>{1, 1, 1});
  CHECK(interpret({graph::reduce(Op::ReduceMax, x, {1})})[0][0] == -INFINITY);
  CHECK(interpret({graph::unary(Op::Exp, x)})[0].empty());
  const NodePtr padded = graph::pad(x, Ranges{{0, 0}, {1, 1}});
  CHECK(interpret({padded})[0] == std::vector<double>{0, 0, 0, 0, 0, 0});
}

TEST_CASE("rows and columns of a softmax-like kernel") {
  const NodePtr x = counting({2, 3});
  for (int axis : {0, 1}) {
    const NodePtr e = graph::unary(
        Op::Exp, graph::binary(Op::Sub, x, graph::expand(graph::reduce(Op::ReduceMax, x, {axis}), {2, 3})));
    const NodePtr y = graph::binary(Op::Div, e, graph::expand(graph::reduce(Op::Sum, e, {axis}), {2, 3}));
    const auto v = interpret({y})[0];
    double total = 0;
    for (double w : v) total += w;
    CHECK(total == doctest::Approx(axis == 0 ? 3 : 2));
  }
}

TEST_CASE("views that no refinement merges are still right") {
  const NodePtr x = counting({3, 4});
  const NodePtr y =
      graph::shrink(graph::reshape(graph::permute(x, {1, 0}), {12}), Ranges{{1, 12}});  // 11 elements that cross rows
  const auto v = interpret({graph::unary(Op::Neg, y)})[0];
  CHECK(v == std::vector<double>{-5, -9, -2, -6, -10, -3, -7, -11, -4, -8, -12});
}

TEST_CASE("positions follow their views") {
  const NodePtr i = graph::iota({2, 3});
  CHECK(interpret({graph::permute(i, {1, 0})})[0] == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(interpret({graph::pad(graph::flip(i, {0}), Ranges{{0, 1}, {0, 0}})})[0] ==
        std::vector<double>{3, 4, 5, 0, 1, 2, 0, 0, 0});
}

TEST_CASE("constants fold and numbers stay parameters") {
  const NodePtr x = counting({3});
  const NodePtr two = graph::binary(Op::Add, number(0.75, x), number(1.25, x));
  CHECK(interpret({graph::binary(Op::Mul, x, two)})[0] == std::vector<double>{2, 4, 6});
  CHECK(interpret({two})[0] == std::vector<double>{2, 2, 2});
}

TEST_CASE("a position that is padding stays zero beside a reduction of the same values") {
  const NodePtr x = counting({2, 3});
  const NodePtr total = graph::reduce(Op::Sum, x, Ints{0, 1});
  const NodePtr padding = graph::shrink(graph::pad(x, Ranges{{0, 0}, {0, 1}}), Ranges{{0, 1}, {3, 4}});
  const auto v = interpret({graph::binary(Op::Add, total, padding), padding});
  CHECK(v[0] == std::vector<double>{21});
  CHECK(v[1] == std::vector<double>{0});
}

TEST_CASE("positions of a composed stack that nothing reaches may lie anywhere") {
  const NodePtr x = counting({2, 3});
  const NodePtr v = graph::pad(graph::pad(x, Ranges{{0, 1}, {0, 0}}), Ranges{{0, 1}, {0, 0}});
  // Two copies side by side, of which the first three rows are taken.
  const NodePtr twice = graph::reshape(graph::expand(graph::reshape(v, {4, 1, 3}), {4, 2, 3}), {4, 6});
  const NodePtr y = graph::shrink(twice, Ranges{{0, 3}, {0, 6}});
  CHECK(interpret({y})[0] == std::vector<double>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 0, 0, 0, 0, 0, 0});
}

}  // namespace values_test
