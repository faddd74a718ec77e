// The functions of products.hpp beside PyTorch's answers, and how they run.
#include "oriel/explain.hpp"
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_products_test {
namespace {

using A = RecordedArguments;

RecordedFunctions product_functions() {
  RecordedFunctions f;
  const auto binary = [&](const char* name, Tensor (*g)(const Operand&, const Operand&)) {
    f[name] = [g](const A& a) { return Results{g(a[0], a[1])}; };
  };
  binary("bmm", bmm);
  binary("mv", mv);
  binary("dot", dot);
  binary("vdot", vdot);
  binary("outer", outer);
  binary("inner", inner);
  binary("kron", kron);
  f["einsum"] = [](const A& a) { return Results{einsum(a.text("equation"), a.tensors)}; };
  f["cross"] = [](const A& a) { return Results{cross(a[0], a[1], a.whole("axis"))}; };
  f["addmm"] = [](const A& a) { return Results{addmm(a[0], a[1], a[2], a.number("beta"), a.number("alpha"))}; };
  f["linear"] = [](const A& a) {
    return Results{a.tensors.size() > 2 ? linear(a[0], a[1], a[2]) : linear(a[0], a[1])};
  };
  f["tensordot"] = [](const A& a) { return Results{tensordot(a[0], a[1], a.whole("count"))}; };
  f["tensordot_axes"] = [](const A& a) { return Results{tensordot(a[0], a[1], a.ints("i"), a.ints("j"))}; };
  return f;
}

std::string path(const Tensor& y) {
  const Explanation e = explain(y);
  REQUIRE(e.kernels.size() == 1);
  return e.kernels[0].path;
}

}  // namespace

TEST_CASE("products give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("products", product_functions(), 2e-6, few ? 17 : 1);
}

TEST_CASE("einsum, linear and their kin run as products of matrices, in one kernel with what follows") {
  if (default_device() != Device::eigen()) return;
  const Tensor q = mixed_numbers({2, 4, 64, 32}), k = mixed_numbers({2, 4, 48, 32}), a = mixed_numbers({64, 96}),
               b = mixed_numbers({96, 80});
  CHECK(path(einsum("bhqd,bhkd->bhqk", {q, k}) * 0.5) == path(matmul(q, k.transpose()) * 0.5));
  CHECK(path(einsum("ij,jk->ki", {a, b})) == path(matmul(a, b)));
  CHECK(path(relu(linear(a, mixed_numbers({80, 96}), mixed_numbers({80})))) == path(matmul(a, b)));
  CHECK(path(addmm(mixed_numbers({80}), a, b, 0.5, 2)) == path(matmul(a, b)));
  CHECK(path(tensordot(mixed_numbers({16, 8, 12}), mixed_numbers({8, 12, 40}), 2)) == path(matmul(a, b)));
}

TEST_CASE("einsum multiplies the cheapest pair first") {
  // (a b) c would take 2 * 64 * 64 * 64 multiplications, and a vector last makes of it two products with a vector.
  const Tensor a = mixed_numbers({64, 64}), b = mixed_numbers({64, 64}), x = mixed_numbers({64});
  const Tensor y = einsum("ij,jk,k->i", {a, b, x});
  for (const auto& kernel : explain(y).kernels) CHECK(kernel.name.find("64_by_64") != std::string::npos);
  CHECK(allclose(y, matmul(a, matmul(b, x))));
}

TEST_CASE("products in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor w) {
        return std::tuple(einsum("bi,oi->bo", {x, w}), linear(x, w), kron(x, w), einsum("bi,bi", {x, x}),
                          outer(x.select(0, 0), w.select(0, 0)));
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {5, 8, 17}) {
    const Tensor x = mixed_numbers({n, n + 2}), w = mixed_numbers({3, n + 2});
    const auto [e, l, k, s, o] = f(x, w);
    CHECK(allclose(e, matmul(x, w.transpose())));
    CHECK(allclose(l, e));
    CHECK(k.shape() == Shape{3 * n, (n + 2) * (n + 2)});
    CHECK(allclose(s, sum(x * x)));
    CHECK(allclose(o, x.select(0, 0).unsqueeze(1) * w.select(0, 0)));
  }
  CHECK(f.entries().size() == 1);
}

TEST_CASE("halves and bool as in matmul") {
  const Tensor ones_half = ones({4, 6000}, DType::float16).realize();
  CHECK(einsum("ik,jk->ij", {ones_half, ones_half}).to(DType::float32).to_vector<float>()[0] == 6000.0F);
  const Tensor yes = Tensor::of<bool>({{true, false}, {false, false}});
  CHECK(einsum("ij,jk->ik", {yes, yes}).to_vector<bool>() == std::vector<bool>{true, false, false, false});
}

TEST_CASE("errors of products name the function and what would do") {
  const Tensor a = mixed_numbers({2, 3}), v = mixed_numbers({4});
  const auto refused = [&](const char* equation, std::vector<Tensor> operands, const char* text) {
    CHECK_THROWS_WITH_AS(einsum(equation, operands), doctest::Contains(text), ArgumentError);
  };
  refused("ij,jk", {a}, "einsum: \"ij,jk\": it names more than the 1 operands");
  refused("ij", {a, a}, "it names 1 operands, but 2 came");
  refused("ijk", {a}, "operand 0 has 2 axes, but 3 are named");
  refused("ij,jk->ik", {a, v.reshape({4, 1})}, "'j' has the extents 3 and 4");
  refused("ij->ik", {a}, "no operand has the letter 'k' of the result");
  refused("ij->ii", {a}, "the result names 'i' twice");
  refused("i1->i", {a}, "'1' at place 1 of operand 0 is no letter");
  refused("ii", {a}, "axes of extents 2 and 3 of (2, 3) have one letter");
  CHECK_THROWS_WITH_AS(bmm(a, a), doctest::Contains("bmm: (2, 3) x (2, 3) do not fit; give (n, i, k) x (n, k, j)"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(dot(v, mixed_numbers({3})), doctest::Contains("dot: (4) x (3) do not fit"), ShapeError);
  CHECK_THROWS_WITH_AS(linear(a, mixed_numbers({5, 4})), doctest::Contains("linear: (2, 3) x (5, 4) do not fit"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear(a, a, mixed_numbers({3})), doctest::Contains("linear: a bias (3) for weights (2, 3)"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(cross(a, v), doctest::Contains("cross: "), ShapeError);
  CHECK_THROWS_WITH_AS(cross(v, v), doctest::Contains("cross: axis 0 of (4) has extent 4"), ShapeError);
  CHECK_THROWS_WITH_AS(tensordot(a, a, 3), doctest::Contains("tensordot: 3 axes of (2, 3) x (2, 3); give 0 to 2"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(tensordot(a, v, {1}, {0}), doctest::Contains("the extents 3 and 4 of axes 1 and 0 differ"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(addmm(iota({2}), iota({2, 3}), iota({3, 2}), 0.5), doctest::Contains("addmm: beta 0.5"),
                       ArgumentError);
}

}  // namespace oriel::testing::recorded_products_test
