// Tensor::view follows PyTorch's contract on tensors made by movements; and reshape where view is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "oriel/oriel.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace view_test {

using namespace oriel;

namespace {

using V = std::vector<std::int64_t>;
V values(const Tensor& t) { return t.to(DType::int64).to_vector<std::int64_t>(); }

bool takes(const Tensor& t, const Shape& shape) {
  try {
    return view(t, shape).shape().size() == shape.size();
  } catch (const ShapeError&) {
    return false;
  }
}

Tensor leaf(const Shape& shape) { return iota(shape).realize(); }

class Random {
 public:
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_{5};
};

// Applies a movement that PyTorch makes without a copy, to the tensor and to its expected strides.
void move(Random& random, Tensor& tensor, Layout& layout) {
  const std::size_t rank = layout.rank();
  const auto d = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(rank) - 1));
  switch (random.between(0, 3)) {
    case 0: {
      Ints order(rank);
      for (std::size_t k = 0; k < rank; ++k) order[k] = k;
      std::shuffle(order.begin(), order.end(), random.engine());
      const Layout before = layout;
      for (std::size_t k = 0; k < rank; ++k) {
        const auto from = static_cast<std::size_t>(order[k].value());
        layout.shape[k] = before.shape[from];
        layout.strides[k] = before.strides[from];
      }
      tensor = tensor.permute(order);
      break;
    }
    case 1: {
      const std::int64_t n = layout.shape[d].value();
      const std::int64_t start = random.between(0, n - 1);
      const std::int64_t step = random.between(1, 2);
      std::vector<Slice> slices(d + 1);
      slices[d] = {.start = start, .step = step};
      tensor = slice(tensor, slices);
      layout.shape[d] = (n - start + step - 1) / step;
      layout.strides[d] *= step;
      break;
    }
    case 2:
      if (layout.shape[d] != 1) break;
      layout.shape[d] = 3;
      layout.strides[d] = 0;
      tensor = tensor.expand(layout.shape);
      break;
    default:
      layout.shape.insert(layout.shape.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
      layout.strides.insert(layout.strides.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
      tensor = unsqueeze(tensor, static_cast<std::int64_t>(d));
  }
}

}  // namespace

TEST_CASE("view gives what reshape gives, and works -1 out") {
  const Tensor x = leaf({2, 3});
  CHECK(values(view(x, {3, -1})) == V{0, 1, 2, 3, 4, 5});
  CHECK(x.view({-1}).shape() == Shape{6});
  CHECK(values(x.transpose().view({3, 1, 2})) == V{0, 3, 1, 4, 2, 5});
  CHECK(zeros({0, 3}).view({3, -1}).shape() == Shape{3, 0});
  CHECK(scalar(1).view({1, 1}).shape() == Shape{1, 1});
}

TEST_CASE("view refuses what only a copy could do") {
  const Tensor x = leaf({2, 3}).transpose();
  CHECK_THROWS_WITH_AS(
      x.view({-1}),
      "view: (3,2):(1,3) cannot take the shape (6) without a copy; reshape() takes it, with a second view on top",
      ShapeError);
  CHECK(values(x.reshape({-1})) == V{0, 3, 1, 4, 2, 5});
  CHECK_THROWS_WITH_AS(x.view({7}), "view: (3, 2) has 6 elements and (7) takes 7; give a shape of 6 elements",
                       ShapeError);
  CHECK_THROWS_WITH_AS(x.view({-1, -1}), "view: (-1, -1) holds -1 twice; leave one extent open", ShapeError);
  CHECK_THROWS_AS(leaf({1, 3}).expand({2, 3}).view({6}), ShapeError);
  CHECK(leaf({3, 1}).expand({3, 2}).view({3, 2, 1}).shape() == Shape{3, 2, 1});
}

TEST_CASE("view asks the layout: of a stack row-major, of results as their operands lie") {
  const Tensor turned = leaf({2, 3}).transpose();
  // PyTorch's reshape copies here, and its result is contiguous.
  CHECK(values(turned.reshape({6}).view({2, 3})) == V{0, 3, 1, 4, 2, 5});
  CHECK_THROWS_AS(turned.reshape({2, 3}).transpose().view({6}), ShapeError);
  CHECK_THROWS_AS((turned + 1).view({6}), ShapeError);
  CHECK((leaf({3, 2}) + turned).view({2, 3}).strides() == Ints{3, 1});
  CHECK(sum(leaf({2, 3, 4}), 1).view({8}).shape() == Shape{8});
  // Flips are views here, and padding gives a new tensor.
  CHECK(values(flip(leaf({6})).view({2, 3})) == V{5, 4, 3, 2, 1, 0});
  CHECK_THROWS_AS(flip(leaf({2, 3}), 1).view({6}), ShapeError);
  CHECK(values(pad(leaf({1, 2}), {{1, 0}, {0, 0}}).view({4})) == V{0, 0, 0, 1});
  CHECK(values(pad(leaf({2, 2}), {{0, 0}, {1, 0}}).view({6})) == V{0, 0, 1, 0, 2, 3});
  // A realised tensor keeps its layout.
  CHECK_THROWS_AS(Tensor(turned).realize().view({6}), ShapeError);
  CHECK(Tensor(turned.contiguous()).view({6}).shape() == Shape{6});
  // The result of view() names the same storage.
  Tensor x = leaf({2, 3});
  x.view({6}).shrink({{0, 2}}).assign(9);
  CHECK(values(x) == V{9, 9, 2, 3, 4, 5});
}

TEST_CASE("on one view, the rule is PyTorch's") {
  Random random;
  int taken = 0;
  int refused = 0;
  for (int k = 0; k < 3'000; ++k) {
    Layout layout = Layout::contiguous({random.between(1, 4), random.between(1, 4), random.between(1, 4)});
    Tensor tensor = leaf(layout.shape);
    for (std::int64_t n = random.between(1, 4); n > 0; --n) move(random, tensor, layout);
    REQUIRE(tensor.shape() == layout.shape);
    std::int64_t rest = layout.numel().value();
    Shape wanted;
    while (rest > 1 && wanted.size() < 3) {
      std::int64_t factor = random.between(1, rest);
      while (rest % factor != 0) --factor;
      wanted.push_back(factor);
      rest /= factor;
    }
    wanted.push_back(rest);
    INFO(layout.str());
    INFO(to_string(wanted));
    const bool want = bool(detail::strided_reshape(layout, wanted));
    REQUIRE(takes(tensor, wanted) == want);
    (want ? taken : refused) += 1;
  }
  CHECK(taken > 300);
  CHECK(refused > 300);
}

}  // namespace view_test
