// The table in which a schedule joins equal nodes. A look-up takes the same time in a graph of any size.
#include "schedule/arena.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "base/activity.hpp"
#include "base/hash.hpp"
#include "graph/build.hpp"

namespace arena_test {

using namespace oriel;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;
using schedule::Arena;

namespace {

/// The number of slots probed for each entry, when `step` is applied to a node again and again.
double probes_an_entry(NodePtr node, const std::function<NodePtr(NodePtr, int)>& step, int steps = 16'000) {
  for (int k = 0; k < steps; ++k) node = step(std::move(node), k);
  const base::Activity work;
  graph::Order order;
  REQUIRE(order.build({&node, 1}, work.number()) == 0);
  const Arena arena({&node, 1}, order, {});
  CHECK(arena.size() >= static_cast<std::size_t>(steps));
  return static_cast<double>(arena.probes()) / static_cast<double>(arena.size());
}

NodePtr number(DType dtype, double value) { return graph::constant(Scalar::of_float(dtype, value), {4}); }

}  // namespace

TEST_CASE("chains of numbers are folded with a few looks at the table each") {
  for (const DType dtype : {DType::float32, DType::float64, DType::int64, DType::int16}) {
    CAPTURE(name(dtype));
    const auto add_one = [&](NodePtr x, int) { return graph::binary(Op::Add, std::move(x), number(dtype, 1)); };
    CHECK(probes_an_entry(number(dtype, 1), add_one) < 8);
    const auto other = [&](NodePtr x, int k) {
      return graph::binary(Op::Add, std::move(x), graph::binary(Op::Mul, number(dtype, k), number(dtype, 1)));
    };
    CHECK(probes_an_entry(graph::iota({4}),
                          [&](NodePtr x, int k) { return other(graph::cast(std::move(x), dtype), k); }) < 8);
  }
}

TEST_CASE("numbers, positions and shapes that differ a little differ in the low bits of their hash") {
  for (const std::uint64_t step :
       {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 32, std::uint64_t{1} << 48}) {
    std::set<std::uint64_t> low;
    for (std::uint64_t k = 0; k < 4096; ++k) low.insert(base::mix(7, k * step) & 0xffff);
    CAPTURE(step);
    CHECK(low.size() > 3500);  // 4096 random hashes fall on about 3970 of 65,536 values
  }
  std::set<std::uint64_t> low;
  for (int k = 1; k <= 4096; ++k)
    low.insert(base::mix(2, static_cast<std::uint64_t>(Scalar::of_float(DType::float32, k).i)) & 0xffff);
  CHECK(low.size() > 3500);
}

}  // namespace arena_test
