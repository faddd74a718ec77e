// Which elementwise programs are stencils: several shifted reads of one argument.
#include "codegen/stencil.hpp"

#include <doctest/doctest.h>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "support/planning.hpp"

namespace stencil_test {

using namespace oriel;
using test::leaf;

namespace {

/// The stencil of each kernel of a result.
std::string stencils(const Tensor& x) {
  std::string text;
  const runtime::Plan plan = test::plan({detail::Access::node(x)});
  for (const runtime::PlannedKernel& k : plan.kernels)
    text += (text.empty() ? "" : "; ") + codegen::stencil_text(k.lowered.program);
  return text;
}

/// x moved by (dy, dx), with zeros beyond its edge.
Tensor moved(const Tensor& x, std::int64_t dy, std::int64_t dx) {
  const std::int64_t h = x.shape()[0].value(), w = x.shape()[1].value();
  return pad(x, {{2, 2}, {2, 2}}).shrink({{2 + dy, 2 + dy + h}, {2 + dx, 2 + dx + w}});
}

}  // namespace

TEST_CASE("neighbours in one and two dimensions, with and without an edge") {
  const Tensor line = leaf({40});
  CHECK(stencils(line.shrink({{1, 40}}) - line.shrink({{0, 39}})) == "stencil: 2 reads of in0 in 2");
  const Tensor x = leaf({12, 17});
  const Tensor cross = moved(x, 0, 1) + moved(x, 0, -1) + moved(x, 1, 0) + moved(x, -1, 0) - x * 4;
  CHECK(stencils(cross) == "stencil: 5 reads of in0 in 3 x 3");
  CHECK(stencils(moved(x, 1, 1) + moved(x, -1, 1) + moved(x, 2, -1)) == "stencil: 3 reads of in0 in 4 x 3");
  const Tensor inner = x.shrink({{0, 10}, {1, 16}}) + x.shrink({{2, 12}, {1, 16}}) + x.shrink({{1, 11}, {0, 15}});
  CHECK(stencils(inner) == "stencil: 3 reads of in0 in 3 x 2");
  // Read backwards, and of the other order of memory.
  CHECK(stencils((moved(x, 0, 1) + x).flip({0, 1})) == "stencil: 2 reads of in0 in 1 x 2");
  // Other arguments do not matter: the one with most reads counts.
  const Tensor y = leaf({12, 17});
  CHECK(stencils(x * (moved(y, 0, 1) + y + moved(y, 0, -1)) + moved(x, 0, 1)) == "stencil: 3 reads of in1 in 1 x 3");
}

TEST_CASE("reads of one argument that are no stencil") {
  const Tensor line = leaf({40}), x = leaf({12, 12});
  CHECK(stencils(line * 2 + 1).empty());
  CHECK(stencils(x + x.transpose()).empty());
  CHECK(stencils(line + line.flip({0})).empty());
  // The halves of a line, and every other element: no point reads what another one does.
  CHECK(stencils(line.shrink({{0, 20}}) + line.shrink({{20, 40}})).empty());
  const Tensor pairs = line.reshape({20, 2});
  CHECK(stencils(pairs.shrink({{0, 20}, {0, 1}}) * pairs.shrink({{0, 20}, {1, 2}})).empty());
  // Each point of a roll or a concat reads one element alone.
  CHECK(stencils(roll(line, 1, 0) * 2).empty());
  CHECK(stencils(concat({line.shrink({{20, 40}}), line.shrink({{5, 25}})}) * 2).empty());
  // Shifted reads of two arguments.
  const Tensor other = leaf({40});
  CHECK(stencils(line.shrink({{1, 40}}) - other.shrink({{0, 39}})).empty());
}

TEST_CASE("kernels that reduce are no stencils") {
  const Tensor x = leaf({32, 64});
  CHECK(stencils(sum(x.shrink({{1, 32}, {0, 64}}) - x.shrink({{0, 31}, {0, 64}}), 1)).empty());
}

}  // namespace stencil_test
