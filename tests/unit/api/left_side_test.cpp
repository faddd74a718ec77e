// Expressions on the left of = and of the in-place operators: views write, other values are refused.
#include <doctest/doctest.h>

#include <array>
#include <type_traits>
#include <utility>

#include "oriel/oriel.hpp"

namespace left_side_test {

using namespace oriel;
using Floats = std::vector<float>;

namespace {

Tensor numbers(const Shape& shape) { return iota(shape).to(DType::float32); }
Floats values(const Tensor& x) { return x.to_vector<float>(); }

// Variables keep the assignment of C++: containers, swaps and ties move names, not elements.
static_assert(std::is_nothrow_move_assignable_v<Tensor> && std::is_nothrow_copy_assignable_v<Tensor>);
static_assert(std::is_nothrow_swappable_v<Tensor>);

constexpr const char* kLost = "nothing else names the value";

template <class F>
void check_lost(F&& write, const char* operation) {
  try {
    write();
    FAIL_CHECK(operation, ": no error");
  } catch (const ArgumentError& error) {
    CHECK(error.operation() == operation);
    CHECK(error.message().find(kLost) != std::string::npos);
    CHECK(error.message().find("x.assign_where(mask, value)") != std::string::npos);
    CHECK(std::string(error.site().file).find("left_side_test.cpp") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("= of a view writes the elements") {
  Tensor x = numbers({2, 3});
  x.select(0, 1) = zeros({3});
  CHECK(values(x) == Floats{0, 1, 2, 0, 0, 0});
  x.slice({{}, {.stop = 2}}) = Tensor::of<float>({7, 8});
  CHECK(values(x) == Floats{7, 8, 2, 7, 8, 0});
  x[0] = 1;
  x[1][2] = 5.5;
  x[-1][0] += 1;
  CHECK(values(x) == Floats{1, 1, 1, 8, 8, 5.5F});
  x.at({1, 1}) = -1;
  x.at({0, -1}) *= 4;
  CHECK(values(x) == Floats{1, 1, 4, 8, -1, 5.5F});
  diagonal(x) = 0;
  x.transpose().flip(0)[0] -= 1;
  CHECK(values(x) == Floats{0, 1, 3, 8, 0, 4.5F});
  x.reshape(-1).unsqueeze(0).squeeze().view({3, 2}).permute({1, 0}).shrink({{0, 1}, {0, 3}}) = 9;
  CHECK(values(x) == Floats{9, 1, 9, 8, 9, 4.5F});
  x[0] = x[1] = 2;  // the value of a write is the view
  CHECK(values(x) == Floats(6, 2));
  const Tensor copy = x;
  const auto same = [&] { return copy; };
  same() = 3;  // a copy names the storage
  CHECK(values(x) == Floats(6, 3));
}

TEST_CASE("= of a variable changes what it names") {
  Tensor x = numbers({3});
  const Tensor old = x;
  Tensor row = x[1];
  row = zeros({});  // the variable, not the element
  x = ones({3});
  CHECK(values(old) == Floats{0, 1, 2});
  CHECK(values(x) == Floats{1, 1, 1});
  std::vector<Tensor> list{x, old};
  list[0] = old;
  std::swap(list[0], list[1]);
  std::array<Tensor, 2> pair;
  std::tie(pair[0], pair[1]) = std::pair(x, old);
  pair[1] = std::move(pair[0]);
  CHECK(values(pair[1]) == Floats{1, 1, 1});
  CHECK(values(old) == Floats{0, 1, 2});
}

TEST_CASE("a write to a value that nothing else names is refused") {
  const Tensor x = numbers({2, 3}), mask = x > 2, index = Tensor::of<int>({0});
  check_lost([&] { x.to(DType::float64) += 1; }, "add");
  check_lost([&] { x.to(DType::float32) *= 2; }, "mul");
  check_lost([&] { roll(x, 1, 0).assign(7); }, "assign");
  check_lost([&] { masked_select(x, mask).assign(1); }, "assign");
  check_lost([&] { masked_select(x, x > 100) = 1; }, "assign");
  check_lost([&] { where(mask, x, 0) += 1; }, "add");
  check_lost([&] { take(x, index) += 1; }, "add");
  check_lost([&] { take(x, index) = 1; }, "assign");
  check_lost([&] { (x * 2)[0] = 1; }, "assign");
  check_lost([&] { (x * 2).reshape(-1).at({3}) = 1; }, "assign");
  check_lost([&] { select(x * 2, 0, 0) -= 1; }, "sub");
  check_lost([&] { (x * 2).select(0, 1).flip().assign_where(true, 1); }, "assign_where");
  check_lost([&] { (x + 0).assign_at(index, 1); }, "assign_at");
  check_lost([&] { pad(x, {{1, 1}, {0, 0}})[0].add_at(index, 1); }, "add_at");
  check_lost([&] { empty_strided({2, 2}, {2, 1}) = 1; }, "assign");
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a view of a value is written where something else names the value") {
  Tensor y;
  const auto made = [&] {
    y = numbers({4});
    return y;
  };
  made()[1] = 7;
  CHECK(values(y) == Floats{0, 7, 2, 3});
  Tensor part = (numbers({2, 2}) * 1)[1];
  part += 1;  // a variable names it
  CHECK(values(part) == Floats{3, 4});
  Tensor chain = numbers({2, 3});
  for (int k = 0; k < 20; ++k) chain = std::move(chain).transpose();
  chain[0] = 9;
  CHECK(values(chain) == Floats{9, 9, 9, 3, 4, 5});
}

TEST_CASE("const is the name's: copies and views of a const tensor write its storage") {
  const Tensor z = numbers({2, 2});
  z[0] = 5;
  z.select(0, 1).assign(6);
  CHECK(values(z) == Floats{5, 5, 6, 6});
  Tensor own = +z;
  own[0] = 1;
  CHECK(values(z) == Floats{5, 5, 6, 6});
}

TEST_CASE("in captured functions") {
  const auto f = capture([](Tensor x) {
    x[0] = x[1] * 2;
    x.at({2}) += 1;
    return x.sum();
  });
  Tensor x = numbers({3}), y = numbers({3}) + 1;
  CHECK(f(x).item<float>() == 6);
  CHECK(values(x) == Floats{2, 1, 3});
  CHECK(f(y).item<float>() == 10);
  CHECK(values(y) == Floats{4, 2, 4});
  const auto lost = capture([](Tensor a) {
    roll(a, 1, 0) += 1;
    return a;
  });
  CHECK_THROWS_AS(lost(x), ArgumentError);
}

}  // namespace left_side_test
