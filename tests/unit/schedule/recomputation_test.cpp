// A value that several places need is stored if computing it in each place takes longer than storing it.
#include <doctest/doctest.h>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "support/planning.hpp"

namespace recomputation_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// The number of values that are stored because computing them in every place would take longer.
std::size_t stored(const std::vector<Tensor>& roots) {
  std::vector<graph::NodePtr> nodes;
  for (const Tensor& t : roots) nodes.push_back(detail::Access::node(t));
  std::size_t n = 0;
  for (const std::string& r : reasons(plan(nodes))) n += r.find("times as long as storing it") != std::string::npos;
  return n;
}

Tensor around(const Tensor& x, int axis) { return roll(x, 1, axis) + x + roll(x, -1, axis); }

}  // namespace

TEST_CASE("a value that is read through stacked views at several places is stored") {
  CHECK(stored({around(around(leaf({256, 256}), 0), 1)}) == 1);
  CHECK(stored({around(leaf({256, 256}), 0)}) == 0);
  CHECK(stored({around(around(leaf({16, 16}), 0), 1)}) == 0);  // a launch would take longer
  // The same sums of neighbours, but read in order.
  const Tensor x = leaf({258, 258});
  const Tensor rows = x.shrink({{0, 256}, {0, 258}}) + x.shrink({{1, 257}, {0, 258}}) + x.shrink({{2, 258}, {0, 258}});
  CHECK(stored({rows.shrink({{0, 256}, {0, 256}}) + rows.shrink({{0, 256}, {1, 257}})}) == 0);
}

TEST_CASE("a computed factor of a narrow product is stored, one of a product with a vector is not") {
  const Tensor x = leaf({1024, 64}), w = leaf({64, 4});
  const Tensor centred = x - leaf({1, 64});
  const Tensor across = matmul(centred, w);
  CHECK(stored({matmul(centred.transpose(), across)}) == 1);
  CHECK(stored({across}) == 1);
  CHECK(stored({matmul(centred, leaf({64, 1}))}) == 0);
  CHECK(stored({matmul(x.transpose(), matmul(x, w))}) == 0);
}

TEST_CASE("chained divisions are stored between reductions of rows and of columns") {
  Tensor x = leaf({1024, 256});
  for (int k = 0; k < 2; ++k) {
    x = x / sum(x, 1, true);
    x = x / sum(x, 0, true);
  }
  CHECK(stored({x}) == 1);
}

TEST_CASE("values that a row keeps, or that share a kernel with their reductions, are not stored") {
  const Tensor x = leaf({512, 512});
  CHECK(stored({softmax(x, 1)}) == 0);
  CHECK(stored({softmax(x, 0)}) == 0);
  CHECK(stored({layer_norm(x, 1)}) == 0);
  CHECK(stored({softmax(sqrt(x) * 2 + 1, 1)}) == 0);
  CHECK(stored({exp(x) + 1, exp(x) * 2}) == 0);
  // Masked scores stay with the softmax, which skips blocks that the mask hides.
  const Tensor scores = matmul(leaf({256, 64}), leaf({64, 256}));
  const Tensor hidden = where(arange(256) <= arange(256).unsqueeze(1), scores, -1e9);
  CHECK(stored({matmul(softmax(hidden, 1), leaf({256, 64}))}) == 0);
  // Three evaluations along columns, where nothing is kept.
  const Tensor masked = where(x > 3, x * 0.5 + leaf({512, 512}), -1e9);
  CHECK(stored({softmax(masked, 0)}) == 1);
}

}  // namespace recomputation_test
