// The lifetime of nodes and their counters.
#include <doctest/doctest.h>

#include "graph/build.hpp"
#include "graph/walk.hpp"

namespace node_test {

using namespace oriel;
using namespace oriel::graph;

namespace {

mem::BufferPtr bytes(std::size_t count, int* freed = nullptr) {
  static char memory[64];
  return std::make_shared<mem::Buffer>(Device::eigen(), memory, count, [freed](void*) {
    if (freed != nullptr) ++*freed;
  });
}

}  // namespace

TEST_CASE("a chain of a million nodes is walked and freed without a deep stack") {
  int freed = 0;
  NodePtr x = leaf(bytes(4, &freed), DType::float32, {1});
  for (int k = 0; k < 1'000'000; ++k) x = binary(Op::Add, x, x);
  CHECK(x->depth == 1'000'000);
  CHECK(post_order({&x, 1}).size() == 1'000'001);
  CHECK(freed == 0);
  x = nullptr;
  CHECK(freed == 1);
}

TEST_CASE("realising drops the sources") {
  int freed = 0;
  NodePtr x = leaf(bytes(4, &freed), DType::float32, {1});
  const NodePtr y = unary(Op::Exp, x);
  const NodePtr z = unary(Op::Exp, y);
  x = nullptr;
  CHECK(z->lazy_sources().size() == 1);
  CHECK(z->depth == 2);
  CHECK(freed == 0);
  std::vector<NodePtr> dropped;
  y->set_realized(bytes(4), dropped);
  CHECK(freed == 0);
  dropped.clear();
  CHECK(freed == 1);
  CHECK(y->realized());
  CHECK(y->lazy_sources().empty());
  CHECK(unary(Op::Exp, y)->depth == 1);
  CHECK(post_order({&z, 1}).size() == 2);
}

TEST_CASE("held bytes: an upper bound at the call, exact by a walk") {
  const NodePtr x = leaf(bytes(40), DType::float32, {10});
  NodePtr y = binary(Op::Add, x, leaf(bytes(40), DType::float32, {10}));
  CHECK(y->held_bytes == 80);
  y = binary(Op::Mul, unary(Op::Exp, y), y);
  CHECK(y->held_bytes == 280);  // y, which may be kept, counts for each of its readers
  const HeldBytes held = count_held_bytes(y);
  CHECK(held.all == 80);
  CHECK(held.alone == 40);  // x is still held here
  CHECK(held.visited == 5);
  CHECK_FALSE(holds_more_than(y, 40));
  CHECK(unary(Op::Exp, y)->held_bytes == 120);
}

TEST_CASE("a fruitless count is not repeated before as many checks as it visited, or until buffers were made") {
  const NodePtr x = leaf(bytes(4000), DType::float32, {1000});
  NodePtr y = binary(Op::Add, x, leaf(bytes(4000), DType::float32, {1000}));
  const auto visits = [&](std::int64_t limit) {
    const std::int64_t before = held_bytes_visits();
    CHECK_FALSE(holds_more_than(y, limit));
    return held_bytes_visits() - before;
  };
  CHECK(visits(8000) == 0);  // the upper bound is below the limit
  CHECK(visits(5000) == 3);
  y = unary(Op::Exp, y);
  CHECK(visits(5000) == 0);
  CHECK(visits(5000) == 0);
  CHECK(visits(5000) == 4);  // after three checks
  const NodePtr other = leaf(bytes(1000), DType::float32, {250});
  CHECK(visits(5000) == 0);
  const NodePtr more = leaf(bytes(1000), DType::float32, {250});
  CHECK(visits(5000) == 4);  // after a quarter of the limit
  y = binary(Op::Mul, y, leaf(bytes(4000), DType::float32, {1000}));
  CHECK(holds_more_than(y, 5000));
}

TEST_CASE("walks give sources before consumers, once each") {
  const NodePtr x = iota({2});
  const NodePtr y = binary(Op::Add, x, x);
  const NodePtr z = binary(Op::Mul, y, x);
  const NodePtr roots[] = {z, y};
  const auto order = post_order(roots);
  REQUIRE(order.size() == 3);
  CHECK(order[0] == x.get());
  CHECK(order[1] == y.get());
  CHECK(order[2] == z.get());
}

}  // namespace node_test
