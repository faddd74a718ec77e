// Walks over expressions meet each node once, and the table of nodes stays small.
#include "sym/visit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sym/build.hpp"
#include "sym/program.hpp"

namespace sym_visit_test {

using namespace oriel::sym;

namespace {

/// x, x % d1, (x % d1) % d2, ...: each expression is part of all later ones.
std::vector<Expr> chain(Pool& pool, int length) {
  std::vector<Expr> nodes{pool.symbol("x")};
  for (int k = 1; k < length; ++k) nodes.push_back(mod(nodes.back(), pool.symbol("d" + std::to_string(k), {2, 1000})));
  return nodes;
}

}  // namespace

TEST_CASE("a walk meets each node once, arguments first") {
  for (const int length : {1, 3, 12, 400}) {
    Pool pool;
    const std::vector<Expr> roots = chain(pool, length);
    std::vector<Expr> met;
    visit(roots, [&](Expr node) { met.push_back(node); });
    std::vector<Expr> once = met;
    std::ranges::sort(once);
    CHECK(std::ranges::adjacent_find(once) == once.end());
    for (const Expr root : roots) CHECK(std::ranges::count(met, root) == 1);
    for (std::size_t k = 0; k < met.size(); ++k) {
      for (const Expr arg : met[k]->args) {
        const auto at = std::ranges::find(met, arg) - met.begin();
        CHECK(at < static_cast<std::ptrdiff_t>(k));
      }
    }
  }
}

TEST_CASE("nodes of two pools with the same numbers are different") {
  Pool a;
  Pool b;
  std::vector<Expr> both;
  for (int k = 0; k < 40; ++k) {
    both.push_back(a.symbol("s" + std::to_string(k)));
    both.push_back(b.symbol("s" + std::to_string(k)));
  }
  CHECK(both[0]->id == both[1]->id);
  NodeTable<int> table;
  for (std::size_t k = 0; k < both.size(); ++k) CHECK(table.insert(both[k], static_cast<int>(k)).second);
  for (std::size_t k = 0; k < both.size(); ++k) {
    CHECK(*table.find(both[k]) == static_cast<int>(k));
    CHECK(!table.insert(both[k], -1).second);
  }
  CHECK(*table.find(both[7]) == 7);
  CHECK(table.size() == both.size());
}

TEST_CASE("few nodes take no slots, many at most four each") {
  Pool pool;
  NodeTable<int> table;
  for (int k = 0; k < 10000; ++k) {
    const Expr node = pool.symbol("n" + std::to_string(k));
    CHECK(table.find(node) == nullptr);
    table.insert(node, k);
    if (k < 16) CHECK(table.slots() == 0);
    if (k >= 16) CHECK(table.slots() >= 2 * table.size());
    if (k >= 16) CHECK(table.slots() <= 4 * table.size());
  }
}

}  // namespace sym_visit_test
