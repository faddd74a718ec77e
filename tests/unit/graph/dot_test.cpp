#include "graph/dot.hpp"

#include <doctest/doctest.h>

#include "graph/build.hpp"

namespace dot_test {

using namespace oriel;
using namespace oriel::graph;

namespace {

NodePtr example() {
  const NodePtr x = iota({2, 3});
  return reduce(Op::Sum, binary(Op::Mul, permute(x, {1, 0}), constant(Scalar::of_int(DType::int64, 7), {3, 2})), {1});
}

}  // namespace

TEST_CASE("the same graph gives the same text") {
  const NodePtr a = example();
  const NodePtr b = example();
  CHECK(dot({&a, 1}) == dot({&b, 1}));
  const std::string expected = R"dot(digraph oriel {
  node [shape=box, style=filled, fontname="monospace"];
  n0 [label="Iota\nint64 (2, 3)", fillcolor=white];
  n1 [label="Permute order (1, 0)\nint64 (3, 2)", fillcolor=lightblue];
  n0 -> n1;
  n2 [label="Const 7\nint64 (3, 2)", fillcolor=white];
  n3 [label="Mul\nint64 (3, 2)", fillcolor=palegreen];
  n1 -> n3;
  n2 -> n3;
  n4 [label="Sum axes (1)\nint64 (3, 1)", fillcolor=orange];
  n3 -> n4;
  out0 [label="result 0", shape=plaintext, style=""];
  n4 -> out0;
}
)dot";
  CHECK(dot({&a, 1}) == expected);
}

}  // namespace dot_test
