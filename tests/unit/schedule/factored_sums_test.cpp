// Sums of products of three and more factors: the order of the pairs, when one kernel is left as it is, and that the
// values stay.
#include "schedule/factored_sums.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "schedule/contraction_order.hpp"
#include "support/planning.hpp"

namespace factored_sums_test {

using namespace oriel;
using namespace oriel::test;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The steps as "01 01": which places are multiplied.
std::string order(const std::vector<schedule::LabelExtents>& operands, const std::vector<bool>& result,
                  double most = kNoLimit) {
  std::string text;
  for (const auto [a, b] : schedule::contraction_order(operands, result, DType::float32, most).steps)
    text += (text.empty() ? "" : " ") + std::to_string(a) + std::to_string(b);
  return text;
}

/// The reasons that the rule gives, each without its estimates.
std::vector<std::string> reasons_of(const Tensor& x) {
  const runtime::Plan p = plan({detail::Access::node(x)});
  std::vector<std::string> out;
  for (const auto& [rule, reason] : p.arena->reasons()) {
    CHECK(rule == schedule::kFactoredSum);
    out.push_back(reason.substr(0, reason.find(',')));
  }
  return out;
}
bool factored(const Tensor& x) { return !reasons_of(x).empty(); }

/// Without the rule the values are the same: integers are exact in every order.
void same_values(const Tensor& x) {
  const graph::NodePtr root = detail::Access::node(x);
  const auto with = interpret({root});
  schedule::set_rule_enabled(schedule::kFactoredSum, false);
  CHECK(plan({root}).arena->reasons().empty());
  CHECK(interpret({root}) == with);
  schedule::set_rule_enabled(schedule::kFactoredSum, true);
}

Tensor at(const Tensor& x, const Shape& shape) { return x.reshape(shape); }

}  // namespace

TEST_CASE("the order of the pairs follows their cost") {
  const double n = 64;
  // ij, jk, k -> i: the vector goes through both matrices.
  CHECK(order({{n, n, 0}, {0, n, n}, {0, 0, n}}, {true, false, false}) == "12 01");
  // ij, jk, kl -> il with a small j: the left pair has the smaller result.
  CHECK(order({{n, 4, 0, 0}, {0, 4, n, 0}, {0, 0, n, 4}}, {true, false, false, true}) == "12 01");
  // Five operands: the cheapest pair first.
  CHECK(order({{n, n, 0, 0, 0, 0}, {0, n, n, 0, 0, 0}, {0, 0, n, n, 0, 0}, {0, 0, 0, n, n, 0}, {0, 0, 0, 0, n, 0}},
              {true, false, false, false, false, false}) == "34 23 12 01");
}

TEST_CASE("no product between is larger than allowed") {
  // ij, kl, jk -> il: without the last operand in the first pair there would be 64^4 elements.
  const std::vector<schedule::LabelExtents> chain{{64, 64, 0, 0}, {0, 0, 64, 64}, {0, 64, 64, 0}};
  CHECK(order(chain, {true, false, false, true}, 5000) != "01 01");
  CHECK(order(chain, {true, false, false, true}, 10).empty());
}

#ifndef ORIEL_SMALL
TEST_CASE("a sum of three factors in index notation becomes two products") {
  const auto f = comprehension(
      "def f<T>(T(I, J, K) X, T(J, L) Y, T(K, L) Z) -> (O) { O(i, l) +=! X(i, j, k) * Y(j, l) * Z(k, l) }");
  const auto of = [&](std::int64_t n, DType dtype) {
    return *f(leaf({n, n, n}, dtype), leaf({n, n}, dtype), leaf({n, n}, dtype));
  };
  const std::vector<std::string> reasons = reasons_of(of(32, DType::float32));
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0] == "a sum of 3 factors: 2 products one after the other");
  same_values(of(32, DType::int32));
  CHECK_FALSE(factored(of(4, DType::float32)));   // small sums stay one kernel
  CHECK_FALSE(factored(of(32, DType::float16)));  // each product is rounded
  same_values(of(32, DType::bool_));              // summed as integers
}
#endif

TEST_CASE("it does not matter how the sum was written") {
  const Tensor x = leaf({32, 32}, DType::int64), y = leaf({32, 32}, DType::int64), z = leaf({32, 32}, DType::int64);
  // x[i, j] * y[j, k] * z[k, l], each product broadcast to the next one.
  const Tensor xy = at(x, {32, 32, 1}) * at(y, {1, 32, 32});
  const Tensor chain = sum(xy.reshape({32, 32, 32, 1}) * at(z, {1, 1, 32, 32}), Ints{1, 2});
  CHECK(factored(chain));
  same_values(chain);
  CHECK(kernel_count({detail::Access::node(chain)}) == 2);
  // Permuted and flipped on its way, and from the other side.
  const Tensor turned =
      sum(at(z, {1, 1, 32, 32}) * xy.permute({2, 1, 0}).flip(Ints{0}).reshape({32, 32, 32, 1}), Ints{0, 2});
  CHECK(factored(turned));
  same_values(turned);
  // A factor that is a constant, and one of the kept axes alone.
  const Tensor scaled =
      sum(at(x, {32, 32, 1, 1}) * 3 * at(y, {1, 32, 32, 1}) * at(z, {1, 1, 32, 32}), Ints{1, 2}, true);
  CHECK(factored(scaled));
  same_values(scaled);
  CHECK(scaled.shape() == Shape{32, 1, 1, 32});
}

TEST_CASE("sums that one kernel computes as well are left alone") {
  const Tensor x = leaf({64, 64}), y = leaf({64, 64}), m = leaf({64, 64}), r = leaf({64, 1});
  CHECK_FALSE(factored(sum(x * y * m, 1)));  // all factors have all axes
  // A product of matrices whose left factor is computed while it is packed.
  CHECK_FALSE(factored(matmul(x * r, y)));
  CHECK_FALSE(factored(matmul(x * m, y)));
  // A sum along an axis on which nothing depends is a multiple.
  const Shape wide{64, 64, 64, 8};
  const Tensor product =
      at(x, {64, 64, 1, 1}).expand(wide) * at(y, {1, 64, 64, 1}).expand(wide) * r.reshape({1, 1, 64, 1}).expand(wide);
  CHECK_FALSE(factored(sum(product, Ints{1, 2, 3})));
}

TEST_CASE("padding above a product is not moved below it") {
  const Tensor x = leaf({32, 32}, DType::int64), y = leaf({32, 32}, DType::int64), z = leaf({34, 32}, DType::int64);
  const Tensor xy = pad(at(x, {32, 32, 1}) * at(y, {1, 32, 32}), {{0, 0}, {0, 0}, {1, 1}});
  same_values(sum(xy.reshape({32, 32, 34, 1}) * at(z, {1, 1, 34, 32}), Ints{1, 2}));
}

TEST_CASE("explain gives the reason") {
  const Tensor x = leaf({64, 64}), y = leaf({64, 64}), v = leaf({64, 64});
  const Tensor z = sum(at(x, {64, 64, 1, 1}) * at(y, {1, 64, 64, 1}) * at(v, {1, 1, 64, 64}), Ints{1, 2});
  const Explanation e = explain(z);
  REQUIRE(e.rules.size() >= 1);
  const std::string text = e.str();
  INFO(text);
  CHECK(text.find("sum of products -> products in turn (once)") != std::string::npos);
  CHECK(text.find("\n  a sum of 3 factors (") != std::string::npos);
  CHECK(text.find(" in place of ") != std::string::npos);
}

TEST_CASE("a captured function factors a sum for each of its sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor y, Tensor z) {
        return sum(unsqueeze(unsqueeze(x, -1), -1) * unsqueeze(y, -1) * z, Ints{1, 2});
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {36, 40, 64, 50, 24}) {
    const Tensor x = (arange(n * n) % 7).reshape({n, n}).realize(), y = (arange(n * n) % 5).reshape({n, n}).realize();
    CHECK(all(f(x, y, x) == matmul(matmul(x, y), x)));
  }
}

}  // namespace factored_sums_test
