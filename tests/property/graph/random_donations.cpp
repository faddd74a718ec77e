// Random graphs cut into small kernels. A plan in which values reuse memory that their kernels read gives the same
// elements as a plan without donations, and needs no more memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "support/planning.hpp"

using namespace oriel;
using namespace oriel::test;
using graph::NodePtr;
using graph::Op;

namespace {

class Graphs {
 public:
  explicit Graphs(unsigned seed) : random_(seed) {}

  std::vector<NodePtr> roots() {
    const Shape shape = pick<Shape>({{24}, {4, 6}, {2, 3, 4}, {1, 24}});
    values_ = {counting(shape), counting(shape)};
    const int steps = 4 + below(16);
    for (int i = 0; i < steps; ++i) values_.push_back(next());
    std::vector<NodePtr> roots{values_.back()};
    for (int more = below(3); more > 0; --more) roots.push_back(values_[2 + static_cast<std::size_t>(below(steps))]);
    // A gather of all elements in order is its source, so there is nothing to plan.
    std::erase_if(roots, [](const NodePtr& root) { return root->realized(); });
    if (roots.empty()) roots.push_back(graph::binary(Op::Add, values_[0], values_[1]));
    return roots;
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }
  NodePtr any() {
    // Mostly the newest values, so that chains arise.
    const auto n = static_cast<int>(values_.size());
    return values_[static_cast<std::size_t>(below(3) == 0 ? below(n) : n - 1 - below(std::min(n, 3)))];
  }

  NodePtr next() {
    const NodePtr x = any();
    const auto rank = static_cast<int>(x->shape.size());
    switch (below(8)) {
      case 4: {  // elements anywhere: no view tells which element a point reads
        Ints order;
        for (int d = rank; d-- > 0;) order.push_back(d);
        const NodePtr place = graph::permute(graph::iota(x->shape), order);
        return graph::gather(x, graph::reshape(place, x->shape));
      }
      case 0:
        return graph::unary(pick({Op::Neg, Op::Abs}), x);
      case 1:
        return graph::flip(x, {below(rank)});
      case 2: {  // computed from a row and from the row's own reduction
        const NodePtr most = graph::reduce(Op::ReduceMax, x, {below(rank)});
        return graph::binary(Op::Sub, x, graph::expand(most, x->shape));
      }
      case 3: {
        Ints order;
        for (int d = rank; d-- > 0;) order.push_back(d);
        const NodePtr transposed = graph::permute(x, order);
        return graph::reshape(transposed, x->shape);
      }
      default:
        return graph::binary(pick({Op::Add, Op::Sub, Op::Max, Op::Min}), x, any());
    }
  }

  std::mt19937 random_;
  std::vector<NodePtr> values_;
};

}  // namespace

TEST_CASE("values in the memory of what their kernels read for the last time") {
  const char* const given = std::getenv("ORIEL_TAKEOVERS");
  std::istringstream wanted(given != nullptr ? given : "6000 0");
  unsigned count = 0, first = 0;
  REQUIRE((wanted >> count >> first));
  unsigned taken = 0;
  unsigned saved = 0;
  for (unsigned seed = first; seed - first < count; ++seed) {
    CAPTURE(seed);
    Graphs graphs(seed);
    const std::vector<NodePtr> roots = graphs.roots();
    schedule::FusionLimits limits;
    limits.instructions = 3 + graphs.below(8);
    limits.repeated_work = graphs.below(2) == 0 ? 0 : 32;
    const runtime::Plan over = plan(roots, limits);
    const auto elements = interpret(roots, limits);
    limits.donates = false;
    const runtime::Plan apart = plan(roots, limits);
    REQUIRE(elements == interpret(roots, limits));
    REQUIRE(over.memory.peak_bytes <= apart.memory.peak_bytes);
    REQUIRE(over.memory.unshared_bytes == apart.memory.unshared_bytes);
    for (const schedule::EntryId e : over.graph.donors) taken += e != schedule::kNone;
    saved += over.memory.peak_bytes < apart.memory.peak_bytes;
  }
  CHECK(taken > count / 3);
  CHECK(saved > count / 4);
}
