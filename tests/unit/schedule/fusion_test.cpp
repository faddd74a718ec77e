// How many kernels a graph becomes, and why each of them ends where it does.
#include <doctest/doctest.h>

#include "support/planning.hpp"

namespace fusion_test {

using namespace oriel;
using namespace oriel::test;
using graph::NodePtr;
using graph::Op;

namespace {

NodePtr add(const NodePtr& a, const NodePtr& b) { return graph::binary(Op::Add, a, b); }
NodePtr sub(const NodePtr& a, const NodePtr& b) { return graph::binary(Op::Sub, a, b); }
NodePtr mul(const NodePtr& a, const NodePtr& b) { return graph::binary(Op::Mul, a, b); }
NodePtr exp(const NodePtr& a) { return graph::unary(Op::Exp, a); }
NodePtr number(double v, const NodePtr& like) {
  return graph::constant(graph::Scalar::of_float(like->dtype, v), like->shape);
}
NodePtr wide(const NodePtr& x, const NodePtr& like) { return graph::expand(x, like->shape); }

NodePtr softmax(const NodePtr& x, int axis) {
  const NodePtr e = exp(sub(x, wide(graph::reduce(Op::ReduceMax, x, {axis}), x)));
  return graph::binary(Op::Div, e, wide(graph::reduce(Op::Sum, e, {axis}), x));
}
NodePtr mean(const NodePtr& x, int axis) {
  const NodePtr s = graph::reduce(Op::Sum, x, {axis});
  return graph::binary(Op::Div, s, number(static_cast<double>(x->shape[static_cast<std::size_t>(axis)].value()), s));
}

bool mentions(const std::vector<std::string>& reasons, const char* what) {
  for (const std::string& r : reasons)
    if (r.find(what) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a chain of elementwise ops is one kernel with the value asked for") {
  NodePtr x = counting({4, 8});
  for (int i = 0; i < 20; ++i) x = exp(mul(x, number(0.25, x)));
  const auto p = plan({x});
  CHECK(p.kernels.size() == 1);
  CHECK(reasons(p) == std::vector<std::string>{"its value was asked for"});
}

TEST_CASE("fifty elementwise ops mixed with the six movements are one kernel") {
  NodePtr x = counting({4, 6});
  for (int round = 0; round < 7; ++round) {
    x = add(x, number(1.5, x));
    x = graph::permute(x, {1, 0});
    x = exp(mul(x, number(0.01, x)));
    x = graph::reshape(x, {2, 12});
    x = mul(x, x);
    x = graph::pad(x, Ranges{{1, 1}, {0, 2}});
    x = sub(x, number(0.5, x));
    x = graph::shrink(x, Ranges{{0, 4}, {1, 13}});
    x = graph::flip(x, {0});
    x = graph::unary(Op::Tanh, x);
    x = graph::reshape(x, {4, 12});
    x = graph::shrink(x, Ranges{{0, 4}, {0, 6}});
  }
  x = graph::expand(graph::reshape(x, {4, 6, 1}), {4, 6, 4});
  x = add(x, number(2, x));
  CHECK(kernel_count({x}) == 1);
}

TEST_CASE("pad, shrink, flip, transpose, reshape, scale, row sum is one kernel whose access is one view") {
  NodePtr x = counting({8, 8});
  x = graph::pad(x, Ranges{{1, 1}, {1, 1}});
  x = graph::shrink(x, Ranges{{1, 9}, {1, 9}});
  x = graph::flip(x, {0});
  x = graph::permute(x, {1, 0});
  x = graph::reshape(x, {4, 16});
  x = mul(add(x, number(1, x)), number(2, x));
  x = graph::reduce(Op::Sum, x, {1});
  const auto p = plan({x});
  REQUIRE(p.kernels.size() == 1);
  for (const auto& a : p.kernels[0].lowered.program.accesses) CHECK(a.affine());
}

TEST_CASE("softmax, log-softmax, layernorm and variance are one kernel each, along either axis") {
  const NodePtr x = counting({6, 40});
  for (int axis : {0, 1}) {
    CHECK(kernel_count({softmax(x, axis)}) == 1);
    const NodePtr shifted = sub(x, wide(graph::reduce(Op::ReduceMax, x, {axis}), x));
    const NodePtr log_softmax =
        sub(shifted, wide(graph::unary(Op::Log, graph::reduce(Op::Sum, exp(shifted), {axis})), x));
    CHECK(kernel_count({log_softmax}) == 1);
    const NodePtr centred = sub(x, wide(mean(x, axis), x));
    const NodePtr variance = mean(mul(centred, centred), axis);
    CHECK(kernel_count({variance}) == 1);
    const NodePtr scale = graph::unary(Op::Rsqrt, add(variance, number(1e-5, variance)));
    CHECK(kernel_count({mul(centred, wide(scale, x))}) == 1);
  }
}

TEST_CASE("a value that an expand would recompute more often than the limit is stored") {
  const NodePtr x = counting({8, 1});
  const NodePtr f = exp(x);
  CHECK(kernel_count({add(graph::expand(f, {8, 16}), counting({8, 16}))}) == 1);
  const auto p = plan({add(graph::expand(f, {8, 17}), counting({8, 17}))});
  CHECK(p.kernels.size() == 2);
  CHECK(mentions(reasons(p), "recomputed 17 times by an expand (limit 16)"));
}

TEST_CASE("an expanded load is no boundary") {
  CHECK(kernel_count({exp(graph::expand(counting({8, 1}), {8, 1000}))}) == 1);
}

TEST_CASE("matmul is one kernel; with a computed operand that operand is stored first") {
  const NodePtr a = counting({8, 1, 32}), b = counting({1, 24, 32});
  const Shape all{8, 24, 32};
  CHECK(kernel_count({graph::reduce(Op::Sum, mul(graph::expand(a, all), graph::expand(b, all)), {2})}) == 1);
  const auto p = plan({graph::reduce(Op::Sum, mul(graph::expand(exp(a), all), graph::expand(b, all)), {2})});
  CHECK(p.kernels.size() == 2);
  CHECK(mentions(reasons(p), "recomputed 24 times by an expand"));
}

TEST_CASE("an expensive value needed at many places is stored, a cheap one recomputed") {
  const NodePtr x = counting({64});
  const auto shifted = [](const NodePtr& v, int by) { return graph::shrink(v, Ranges{{by, 60 + by}}); };
  const NodePtr cheap = add(x, number(1, x));
  CHECK(kernel_count({add(add(shifted(cheap, 0), shifted(cheap, 1)), shifted(cheap, 2))}) == 1);
  NodePtr dear = x;
  for (int i = 0; i < 3; ++i) dear = exp(dear);
  const auto p = plan({add(add(shifted(dear, 0), shifted(dear, 1)), shifted(dear, 2))});
  CHECK(p.kernels.size() == 2);
  CHECK(mentions(reasons(p), "needed at 3 places"));
}

TEST_CASE("reductions stay in the kernel under a permute, a split or a join of their axes") {
  const NodePtr x = counting({6, 4, 10});
  const NodePtr s = graph::reshape(graph::reduce(Op::Sum, x, {2}), {6, 4});
  CHECK(kernel_count({exp(graph::permute(s, {1, 0}))}) == 1);
  CHECK(kernel_count({exp(graph::reshape(s, {24}))}) == 1);
  CHECK(kernel_count({exp(graph::reshape(s, {2, 3, 4}))}) == 1);
  CHECK(kernel_count({graph::flip(s, {0})}) == 1);
  CHECK(kernel_count({graph::pad(s, Ranges{{1, 0}, {0, 1}})}) == 1);
}

TEST_CASE("a reduction that would run again and again ends its kernel") {
  const NodePtr x = counting({6, 10});
  const NodePtr s = graph::reduce(Op::Sum, x, {1});
  const NodePtr again = graph::reduce(Op::Sum, mul(graph::expand(s, {6, 10}), x), {0});
  const auto p = plan({again});
  CHECK(p.kernels.size() == 2);
  for (const std::string& r : reasons(p)) CHECK_FALSE(r.empty());
}

TEST_CASE("several outputs with one domain share a kernel") {
  const NodePtr x = counting({5, 7});
  CHECK(kernel_count({add(x, number(1, x)), mul(x, number(3, x))}) == 1);
  CHECK(kernel_count({graph::reduce(Op::Sum, x, {1}), graph::reduce(Op::ReduceMax, x, {1})}) == 1);
  const auto flat = [](const NodePtr& r) { return graph::reshape(r, {5}); };
  CHECK(kernel_count({flat(graph::reduce(Op::Sum, x, Ints{1})), flat(graph::reduce(Op::ReduceMax, x, Ints{1}))}) == 1);
  CHECK(kernel_count({flat(mean(x, 1)), flat(graph::reduce(Op::ReduceMax, x, Ints{1}))}) == 1);
  const NodePtr y = exp(x);
  const auto p = plan({y, mul(y, number(2, y))});
  CHECK(p.kernels.size() == 1);
  CHECK(p.graph.kernels[0].outputs.size() == 2);
}

TEST_CASE("outputs that depend on each other through another kernel do not share one") {
  const NodePtr x = counting({8, 64});
  const NodePtr a = exp(x);
  const NodePtr s = graph::reduce(Op::Sum, graph::permute(a, {1, 0}), {0});  // over axis 1 of the transposed value
  const NodePtr b = mul(a, graph::expand(graph::reshape(s, {8, 1}), {8, 64}));
  const auto p = plan({a, b});
  CHECK(p.kernels.size() <= 2);
  CHECK(interpret({a, b}).size() == 2);
}

TEST_CASE("equal work is done once") {
  const NodePtr x = counting({16});
  const NodePtr a = exp(add(x, number(1, x))), b = exp(add(x, number(1, x)));
  const auto p = plan({add(a, b)});
  REQUIRE(p.kernels.size() == 1);
  int exps = 0;
  for (const auto& i : p.kernels[0].lowered.program.stages[0].outer)
    exps += i.code == codegen::Code::Elementwise && i.op == Op::Exp;
  CHECK(exps == 1);
}

TEST_CASE("a full kernel is cut, and says so") {
  NodePtr x = counting({4});
  for (int i = 0; i < 300; ++i) x = exp(x);
  schedule::FusionLimits limits;
  limits.instructions = 100;
  const auto p = plan({x}, limits);
  CHECK(p.kernels.size() >= 3);
  CHECK(mentions(reasons(p), "its kernel is full"));
}

TEST_CASE("a kernel reads no more buffers than the device takes") {
  NodePtr x = counting({4});
  for (int i = 0; i < 20; ++i) x = add(exp(x), counting({4}));
  schedule::FusionLimits limits;
  limits.arguments = 6;
  const auto p = plan({x}, limits);
  CHECK(p.kernels.size() > 1);
  for (const auto& k : p.kernels) CHECK(k.lowered.program.arguments.size() <= 6);
  CHECK(mentions(reasons(p), "its kernel has as many arguments as the device takes (6 buffers"));
}

TEST_CASE("operands whose turn comes last count as soon as they are needed") {
  // Another result has read these leaves before, so all of them come first in the schedule.
  std::vector<NodePtr> leaves;
  for (int i = 0; i < 40; ++i) leaves.push_back(counting({4}));
  NodePtr up = leaves[0], down = leaves[39];
  for (int i = 1; i < 40; ++i) up = add(up, leaves[static_cast<std::size_t>(i)]);
  for (int i = 39; i-- > 0;) down = mul(down, leaves[static_cast<std::size_t>(i)]);
  const std::vector<NodePtr> both{up, down, exp(up), graph::binary(Op::Max, down, leaves[3])};
  for (const int arguments : {5, 8, 17}) {
    CAPTURE(arguments);
    schedule::FusionLimits limits;
    limits.arguments = arguments;
    const auto p = plan(both, limits);
    for (const auto& k : p.kernels) CHECK(static_cast<int>(k.lowered.program.arguments.size()) <= arguments);
    CHECK(interpret(both, limits) == interpret(both));
  }
}

TEST_CASE("a kernel takes no more numbers than the device has room for") {
  NodePtr x = counting({4});
  for (int i = 0; i < 30; ++i)
    x = mul(x, graph::constant(graph::Scalar::of_float(DType::float32, 1.25 + 0.125 * i), {4}));
  schedule::FusionLimits limits;
  limits.parameters = 7;
  const auto p = plan({x}, limits);
  CHECK(p.kernels.size() == 5);
  for (const auto& k : p.kernels) {
    int numbers = 0;
    for (const auto& c : k.lowered.program.constants) numbers += c.parameter >= 0;
    CHECK(numbers <= 7);
  }
  CHECK(interpret({x}, limits) == interpret({x}));
}

TEST_CASE("temporary blocks are reused") {
  const Shape cube{16, 16, 16};
  const NodePtr w = graph::expand(counting({1, 16, 16}), cube);
  NodePtr x = counting({16, 16});
  for (int i = 0; i < 6; ++i) {
    x = graph::reduce(Op::Sum, mul(graph::expand(graph::reshape(x, {16, 16, 1}), cube), w), Ints{1});
    x = graph::reshape(x, {16, 16});
  }
  const auto p = plan({x});
  CHECK(p.kernels.size() == 6);
  CHECK(p.memory.unshared_bytes == 5 * 1024);
  CHECK(p.memory.peak_bytes == 2 * 1024);
}

TEST_CASE("a changed number keeps the key; a number that rules look at does not") {
  const NodePtr x = counting({16});
  const auto words = [&](double v) {
    const base::Activity work;
    runtime::Key key;
    const NodePtr root[] = {mul(x, number(v, x))};
    runtime::make_key(work, root, 0, key);
    return key.words;
  };
  CHECK(words(3.25) == words(7.5));
  CHECK(words(3.25) != words(1));
}

TEST_CASE("a wide padding of a computed value is a boundary that says so") {
  const auto p = plan({graph::pad(exp(counting({2})), Ranges{{20, 20}})});
  CHECK(mentions(reasons(p), "evaluated at 42 points, padding included, for 2 elements (limit 16 times)"));
}

// Each kernel passes through the movements below what it reads. One by one this would be 2,000,000 movements.
TEST_CASE("writes that read a chain of movements at all heights evaluate a few values each") {
  constexpr int kWrites = 1000;
  for (const bool merges : {true, false}) {
    CAPTURE(merges);
    NodePtr x = counting({4, 6});
    NodePtr y = counting({4});
    for (int k = 0; k < kWrites; ++k) {
      x = graph::pad(graph::shrink(x, Ranges{{1, 4}, {0, 6}}), Ranges{{0, 1}, {0, 0}});
      if (!merges && k < 8) x = graph::reshape(graph::permute(x, {1, 0}), {4, 6});
      const auto part = std::make_shared<const ShapeTracker>(ShapeTracker({4}).shrink(Ranges{{k % 4, k % 4 + 1}}));
      y = graph::assign(y, graph::reshape(graph::shrink(x, Ranges{{0, 1}, {k % 6, k % 6 + 1}}), {1}), part);
    }
    const runtime::Plan p = plan({y});
    std::size_t values = 0;
    for (const schedule::Kernel& kernel : p.graph.kernels) values += kernel.instances.size();
    CHECK(p.graph.kernels.size() >= kWrites);
    CHECK(values < 60 * kWrites);
  }
}

}  // namespace fusion_test
