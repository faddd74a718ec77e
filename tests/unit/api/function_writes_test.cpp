// Writes inside captured functions: to their own tensors and to their arguments.
#include <doctest/doctest.h>

#include "oriel/oriel.hpp"
#include "support/counted.hpp"
#include "support/failing.hpp"

namespace function_writes_test {

using namespace oriel;
using test::counted;

namespace {

using Floats = std::vector<float>;

Floats values(const Tensor& x) { return x.to_vector<float>(); }

}  // namespace

TEST_CASE("a function writes its own tensors") {
  const auto f = oriel::function([](Tensor x) {
    Tensor y = zeros({4});
    y.shrink({{1, 3}}).assign(x);
    y += 1;
    Tensor constant = Tensor::of<float>({1, 2, 3, 4});
    constant.select(0, 0) += sum(x);
    return y * constant;
  });
  CHECK(values(f(counted({2}))) == Floats{2, 2, 6, 4});
  CHECK(values(f(counted({2}, 4))) == Floats{10, 10, 18, 4});
  CHECK(values(f(counted({2}))) == Floats{2, 2, 6, 4});  // the constant is unchanged
}

TEST_CASE("a constant of the trace that is written and returned stays as it is for the next call") {
  const auto f = oriel::function([](Tensor x) {
    Tensor table = Tensor::of<float>({1, 2, 3, 4});
    table.shrink({{0, 2}}) += x;
    return table;
  });
  for (int round = 0; round < 3; ++round) {
    Tensor table = f(counted({2}, 10));
    CHECK(values(table) == Floats{11, 13, 3, 4});
    table += 1;
  }
}

TEST_CASE("a function writes its arguments, and all names of their storage show it") {
  const auto step = oriel::function([](Tensor& w, Tensor g, auto rate) { w -= g * rate; });
  Tensor w = counted({2, 2});
  const Tensor view = w.transpose();
  const Tensor before = w * 1;
  const Tensor held = +w;
  for (int round = 0; round < 3; ++round) step(w, ones({2, 2}), 0.5F);
  CHECK(step.counts().hits == 2);
  CHECK(values(w) == Floats{-1.5F, -0.5F, 0.5F, 1.5F});
  CHECK(values(view) == Floats{-1.5F, 0.5F, -0.5F, 1.5F});
  CHECK(values(before) == Floats{0, 1, 2, 3});
  CHECK(values(held) == Floats{0, 1, 2, 3});
}

TEST_CASE("a write through a view, read back through another argument of the storage") {
  const auto f = oriel::function([](Tensor row, Tensor all) {
    const Tensor old = sum(all);
    row.assign(row * 10);
    return std::tuple(old, sum(all), all, row.flip());
  });
  for (int round = 0; round < 2; ++round) {
    Tensor x = counted({2, 2}, 1);
    const auto [old, now, all, flipped] = f(x.select(0, 1), x);
    CHECK(old.item<float>() == 10);
    CHECK(now.item<float>() == 73);
    CHECK(values(x) == Floats{1, 2, 30, 40});
    CHECK(values(all) == Floats{1, 2, 30, 40});
    CHECK(values(flipped) == Floats{40, 30});
  }
  // The same call with separate storages has an entry of its own.
  Tensor row = counted({2}, 3), x = counted({2, 2}, 1);
  const auto [old, now, all, flipped] = f(row, x);
  CHECK(old.item<float>() == now.item<float>());
  CHECK(values(row) == Floats{30, 40});
  CHECK(values(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("borrowed memory is not written: the tensor moves") {
  const Floats memory{1, 2, 3};
  Tensor x = Tensor::borrow(memory, {3});
  const auto f = oriel::function([](Tensor t) { t += 1; });
  f(x);
  f(x);
  CHECK(values(x) == Floats{3, 4, 5});
  CHECK(memory == Floats{1, 2, 3});
}

TEST_CASE("arguments that swap, and one that becomes the other") {
  const auto swap = oriel::function([](Tensor a, Tensor b) {
    const Tensor old = +a;
    a.assign(b);
    b.assign(old);
  });
  Tensor a = counted({2}), b = counted({2}, 5);
  swap(a, b);
  CHECK(values(a) == Floats{5, 6});
  CHECK(values(b) == Floats{0, 1});
  swap(a, b);
  CHECK(values(a) == Floats{0, 1});
  const auto become = oriel::function([](Tensor to, Tensor from) { to.assign(from); });
  for (int round = 0; round < 2; ++round) {
    Tensor c = counted({2}), d = counted({2}, 9);
    become(c, d);
    d += 1;
    CHECK(values(c) == Floats{9, 10});
    CHECK(values(d) == Floats{10, 11});
  }
}

TEST_CASE("beyond the limit writes are those of the callable") {
  const auto f = oriel::function([](Tensor t) { t += 1; }, {.limit = 0});
  Tensor x = counted({2});
  f(x);
  CHECK(x.realized());
  CHECK(values(x) == Floats{1, 2});
}

TEST_CASE("a device that fails leaves arguments and entries as they were") {
  const auto f = oriel::function([](Tensor w) {
    w += 1;
    return sort(w, 0) * 2;
  });
  Tensor w = counted({3});
  {
    const test::Failing failing(1);
    CHECK_THROWS_WITH_AS(f(w), "failed", std::runtime_error);  // thrown by the call that traces
  }
  CHECK(values(w) == Floats{0, 1, 2});
  CHECK(values(f(w)) == Floats{2, 4, 6});
  {
    const test::Failing failing(1);
    CHECK_THROWS_WITH_AS(f(w), "failed", std::runtime_error);
  }
  CHECK(values(w) == Floats{1, 2, 3});
  CHECK(values(f(w)) == Floats{4, 6, 8});
  CHECK(f.counts().traces == 1);
}

TEST_CASE("a result that names an element twice cannot be written, as without capture") {
  const auto grown = [](Tensor x) { return (x + 1).unsqueeze(0).expand({3, x.size(0)}); };
  for (const Dynamic dynamic : {Dynamic::no, Dynamic::yes}) {
    const auto f = oriel::function(grown, {.dynamic = dynamic});
    const Tensor x = Tensor::of<float>({1, 2});
    Tensor plain = grown(x);
    Tensor got = f(x);
    CHECK(got.strides() == plain.strides());
    CHECK(got.to_vector<float>() == std::vector<float>{2, 3, 2, 3, 2, 3});
    CHECK_THROWS_AS(plain.assign(1), ShapeError);
    CHECK_THROWS_AS(got.assign(1), ShapeError);
  }
}

}  // namespace function_writes_test
