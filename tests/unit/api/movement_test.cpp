#include "oriel/movement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "oriel/oriel.hpp"

namespace movement_test {

using namespace oriel;

namespace {
using V = std::vector<std::int64_t>;
const Tensor x = iota({2, 3});
V values(const Tensor& t) { return t.to(DType::int64).to_vector<std::int64_t>(); }
}  // namespace

TEST_CASE("reshape") {
  CHECK(values(reshape(x, {3, -1})) == V{0, 1, 2, 3, 4, 5});
  CHECK(reshape(x, {3, -1}).shape() == Shape{3, 2});
  CHECK(reshape(zeros({0, 3}), {3, -1}).shape() == Shape{3, 0});
  CHECK_THROWS_WITH_AS(reshape(x, {-1, -1}), "reshape: (-1, -1) holds -1 twice; leave one extent open", ShapeError);
  CHECK_THROWS_WITH_AS(reshape(x, {4, -1}), "reshape: the 6 elements of (2, 3) do not divide by the 4 of (4, -1)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(reshape(zeros({0}), {0, -1}),
                       "reshape: -1 in (0, -1) is ambiguous beside an extent of 0; name every extent", ShapeError);
  CHECK_THROWS_WITH_AS(reshape(x, {-2, 3}), "reshape: (-2, 3) has a negative extent; extents are >= 0, or -1 once",
                       ShapeError);
  CHECK_THROWS_WITH_AS(reshape(x, {7}), "reshape: (2, 3) has 6 elements and (7) takes 7; give a shape of 6 elements",
                       ShapeError);
}

TEST_CASE("axes") {
  CHECK(values(x.transpose()) == V{0, 3, 1, 4, 2, 5});
  CHECK(values(permute(x, {-1, 0})) == V{0, 3, 1, 4, 2, 5});
  CHECK(unsqueeze(x, -1).shape() == Shape{2, 3, 1});
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 2, 3});
  CHECK(squeeze(zeros({1, 2, 1})).shape() == Shape{2});
  CHECK(squeeze(zeros({1, 2, 1}), 0).shape() == Shape{2, 1});
  CHECK_THROWS_WITH_AS(squeeze(x, 0), "squeeze: axis 0 of (2, 3) has extent 2; only axes of extent 1 can go",
                       ShapeError);
  CHECK_THROWS_WITH_AS(
      transpose(iota({3})),
      "transpose: (3) has fewer than the two axes that are exchanged; name axes that it has, or reshape it to a "
      "matrix first",
      ShapeError);
  CHECK(broadcast_to(iota({3}), {2, -1}).shape() == Shape{2, 3});
  // As in PyTorch, all strides of an expanded tensor without axes are 0.
  for (const Tensor& x : {scalar(1.F), Tensor(scalar(1.F).realize()), sum(iota({3}))}) {
    CHECK(x.expand({1, 1}).strides() == Ints{0, 0});
    CHECK(x.expand({1}).strides() == Ints{0});
    CHECK(x.expand({3, 1}).strides() == Ints{0, 0});
    CHECK(x.expand({1, 3}).strides() == Ints{0, 0});
    CHECK(broadcast_to(x, {2, 1, 1}).strides() == Ints{0, 0, 0});
    CHECK(x.expand({2, 2}).to(DType::int64).to_vector<std::int64_t>().size() == 4);
  }
  CHECK(ones({1}).expand({1, 1}).strides() == Ints{1, 1});
  CHECK(broadcast_shape({2, 1}, {3}) == Shape{2, 3});
}

TEST_CASE("slices are Python's") {
  const Tensor r = arange(10);
  const auto s = [&](std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step) {
    return values(slice(r, {{.start = start, .stop = stop, .step = step}}));
  };
  CHECK(s({}, {}, 1).size() == 10);
  CHECK(s(2, 5, 1) == V{2, 3, 4});
  CHECK(s(-3, {}, 1) == V{7, 8, 9});
  CHECK(s({}, {}, 4) == V{0, 4, 8});
  CHECK(s(1, {}, 3) == V{1, 4, 7});
  CHECK(s({}, {}, -1) == V{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(s(8, 1, -3) == V{8, 5, 2});
  CHECK(s({}, {}, -4) == V{9, 5, 1});
  CHECK(s(5, 5, 1).empty());
  CHECK(s(7, 2, 1).empty());
  CHECK(s(-100, 100, 1).size() == 10);
  CHECK(s(100, -100, -1).size() == 10);
  CHECK(s({}, {}, INT64_MIN) == V{9});
  CHECK(s({}, {}, INT64_MAX) == V{0});
  CHECK(values(x.slice({{}, {.step = -2}})) == V{2, 0, 5, 3});
  CHECK_THROWS_WITH_AS(x.slice({{.step = 0}}), "slice: the step of axis 0 is 0; give 1, -1, ...", ArgumentError);
  CHECK_THROWS_WITH_AS(x.slice({{}, {}, {}}), "slice: 3 slices for the 2 axes of (2, 3)", ShapeError);
  CHECK(values(x.select(1, -1)) == V{2, 5});
  CHECK_THROWS_WITH_AS(zeros({0})[0], "select: position 0 on axis 0 of (0); it has none", ShapeError);
  CHECK_THROWS_WITH_AS(x.select(1, 3), "select: position 3 on axis 1 of (2, 3); give one of -3 to 2", ShapeError);
  // Every slice of a short axis, compared with the definition.
  for (std::int64_t start = -6; start <= 6; ++start) {
    for (std::int64_t stop = -6; stop <= 6; ++stop) {
      for (const std::int64_t step : {1, 2, 3, 5, -1, -2, -3, -5}) {
        V want;
        const std::int64_t n = 5;
        const std::int64_t low = step < 0 ? -1 : 0;
        const std::int64_t high = step < 0 ? n - 1 : n;
        const auto fit = [&](std::int64_t p) { return std::min(high, std::max(low, p < 0 ? p + n : p)); };
        for (std::int64_t k = fit(start); step > 0 ? k < fit(stop) : k > fit(stop); k += step) want.push_back(k);
        CAPTURE(start);
        CAPTURE(stop);
        CAPTURE(step);
        CHECK(values(slice(arange(5), {{.start = start, .stop = stop, .step = step}})) == want);
      }
    }
  }
}

TEST_CASE("padding") {
  CHECK(values(pad(iota({2}), {{1, 2}})) == V{0, 0, 1, 0, 0});
  CHECK(values(pad(iota({2}), {{1, 2}}, 7)) == V{7, 0, 1, 7, 7});
  // Padding is exact beside infinities and NaN.
  const auto odd = pad(Tensor::of<float>({INFINITY, NAN}), {{1, 1}}, -INFINITY).to_vector<float>();
  CHECK(odd[0] == -INFINITY);
  CHECK(odd[1] == INFINITY);
  CHECK(std::isnan(odd[2]));
  CHECK(odd[3] == -INFINITY);
  CHECK(std::signbit(pad(Tensor::of<float>({1}), {{1, 0}}, -0.0).to_vector<float>()[0]));
  CHECK(pad(x > 2, {{0, 0}, {1, 0}}, true).to_vector<bool>()[0]);
  CHECK_THROWS_WITH_AS(pad(x, {{0, 0}, {0, 0}}, 1.5), "pad: the value 1.5 does not fit int64; cast the tensor first",
                       DTypeError);
  CHECK_THROWS_AS(pad(Tensor::of<std::uint8_t>({1}), {{1, 1}}, 256), ArgumentError);
  CHECK_THROWS_WITH_AS(pad(x, {{0, 0}, {0, 0}}, x), "pad: the value is a tensor; give a number", ArgumentError);
  CHECK_THROWS_WITH_AS(pad(x, {{0, 0}}), "pad: (2, 3) has 2 axes and 1 ranges came; give one an axis", ShapeError);
}

TEST_CASE("repeat, roll, flip") {
  CHECK(values(repeat(iota({2}), {3})) == V{0, 1, 0, 1, 0, 1});
  CHECK(repeat(x, {2, 0}).shape() == Shape{4, 0});
  CHECK(values(repeat(x, {1, 2})) == V{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK_THROWS_WITH_AS(repeat(x, {2}), "repeat: 1 counts for the 2 axes of (2, 3); give one per axis", ShapeError);
  CHECK_THROWS_WITH_AS(repeat(x, {2, -1}), "repeat: counts (2, -1) must be >= 0", ShapeError);
  CHECK_THROWS_AS(repeat(x, {INT64_MAX, 1}), OverflowError);
  CHECK(values(roll(iota({3}), 1, 0)) == V{2, 0, 1});
  CHECK(values(roll(iota({3}), -1, 0)) == V{1, 2, 0});
  CHECK(values(roll(iota({3}), 6, 0)) == V{0, 1, 2});
  CHECK(values(flip(x)) == V{5, 4, 3, 2, 1, 0});
  CHECK(values(flip(x, 0)) == V{3, 4, 5, 0, 1, 2});
}

namespace {

/// Pieces of one to three rows of four, counting up.
std::vector<Tensor> pieces(std::int64_t count) {
  std::vector<Tensor> list;
  for (std::int64_t k = 0; k < count; ++k) list.push_back((iota({1 + k % 3, 4}) + k * 10).to(DType::float32).realize());
  return list;
}

/// Operations of all kernels that compute the sum of so many joined pieces.
std::int64_t operations(std::int64_t count) {
  const Tensor y = sum(concat(pieces(count), 0));
  std::int64_t flops = 0;
  for (const ExplainedKernel& k : explain(y).kernels) flops += k.flops;
  return flops;
}

}  // namespace

TEST_CASE("many pieces are joined in groups") {
  for (const std::int64_t count : {63, 64, 65, 129, 200, 5000}) {
    const std::vector<Tensor> list = pieces(count);
    for (const std::int64_t axis : {0, 1}) {
      std::vector<Tensor> parts;
      for (const Tensor& t : list) parts.push_back(axis == 0 ? t : t.transpose());
      const V joined = values(axis == 0 ? concat(parts, 0) : concat(parts, 1).transpose());
      V wanted;
      for (const Tensor& t : list)
        for (const std::int64_t n : values(t)) wanted.push_back(n);
      CHECK(joined == wanted);
    }
  }
  std::vector<Tensor> sparse(300, zeros({0, 2}));
  CHECK(concat(sparse, 0).shape() == Shape{0, 2});
  sparse[150] = iota({2, 2}).to(DType::float32);
  CHECK(values(concat(sparse, 0)) == V{0, 1, 2, 3});
}

// A point of the result evaluates the chain of its group, not one of all pieces.
TEST_CASE("the work of joining grows no faster than n log n") {
  const std::int64_t few = operations(1500), many = operations(6000);
  CHECK(many < 6 * few);
}

TEST_CASE("long pieces are written one behind the other") {
  for (const std::size_t pieces : {4, 9, 130}) {
    std::vector<Tensor> all;
    std::vector<float> wanted;
    for (std::size_t k = 0; k < pieces; ++k) {
      const std::int64_t rows = k % 5 == 1 ? 0 : 40'000 / static_cast<std::int64_t>(pieces) / 3;
      const Tensor piece = iota({rows, 3}).to(DType::float32) * 2 + static_cast<double>(k);
      all.push_back(k % 2 == 0 ? piece : piece.realize());
      for (const float x : piece.to_vector<float>()) wanted.push_back(x);
    }
    const Tensor joined = concat(all, 0);
    CHECK(joined.to_vector<float>() == wanted);
    CHECK(double(sum(joined * 2)) == doctest::Approx(2 * double(sum(Tensor::from(wanted)))));
    std::vector<Tensor> turned;
    for (const Tensor& x : all) turned.push_back(x.transpose());
    CHECK(concat(turned, 1).transpose().to_vector<float>() == wanted);
  }
  const auto f = oriel::function([](const Tensor& x) {
    std::vector<Tensor> parts;
    for (int k = 0; k < 9; ++k) parts.push_back(x + k);
    return concat(parts, 0) - 1;
  });
  for (const std::int64_t rows : {12'000, 12'000, 7'000, 9'000}) {  // the third size becomes a symbol
    const std::vector<float> found = f(iota({rows, 3}).to(DType::float32)).to_vector<float>();
    const auto n = static_cast<std::size_t>(rows) * 3;
    CHECK(found.size() == 9 * n);
    bool same = true;
    for (std::size_t i = 0; i < found.size(); ++i)
      same = same && found[i] == static_cast<float>(i % n) + static_cast<float>(i / n) - 1;
    CHECK(same);
  }
  const Tensor a = zeros({40'000}), b = a.to(DType::int32);
  CHECK(concat({a, b, a, b}, 0).dtype() == DType::float32);
}

TEST_CASE("concat and stack") {
  CHECK(values(concat({x, x}, 0)) == V{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(values(concat({x, x + 10}, 1)) == V{0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15});
  CHECK(values(concat({iota({0}), iota({2}), iota({0}), iota({1})})) == V{0, 1, 0});
  CHECK(concat({zeros({0}), zeros({0})}).numel() == 0);
  CHECK(std::signbit(concat({Tensor::of<float>({-0.0F}), zeros({1})}).to_vector<float>()[0]));
  CHECK(stack({iota({2}), iota({2}) + 5}, 1).shape() == Shape{2, 2});
  CHECK(values(stack({iota({2}), iota({2}) + 5}, 1)) == V{0, 5, 1, 6});
  CHECK(values(stack({iota({2}), iota({2}) + 5}, -1)) == V{0, 5, 1, 6});
  CHECK_THROWS_WITH_AS(concat({}, 0), "concat: no tensors came; give at least one", ArgumentError);
  CHECK_THROWS_WITH_AS(stack({}, 0), "stack: no tensors came; give at least one", ArgumentError);
  CHECK_THROWS_WITH_AS(concat({x, iota({3, 2})}, 0),
                       "concat: (2, 3) and (3, 2) differ beside axis 0; the other extents must agree", ShapeError);
  CHECK_THROWS_WITH_AS(stack({x, iota({6})}, 0), "stack: shapes (2, 3) and (6) differ; they must agree", ShapeError);
}

TEST_CASE("diagonal and unfold") {
  const Tensor m = iota({3, 4});
  CHECK(values(diagonal(m)) == V{0, 5, 10});
  CHECK(values(diagonal(m, 1)) == V{1, 6, 11});
  CHECK(values(diagonal(m, -1)) == V{4, 9});
  CHECK(diagonal(m, 9).numel() == 0);
  CHECK(diagonal(iota({2, 3, 4}), 0, 0, 2).shape() == Shape{3, 2});
  CHECK_THROWS_WITH_AS(diagonal(m, 0, 1, -1), "diagonal: axes 1 and -1 of (3, 4) are the same; name two", ShapeError);
  CHECK(values(unfold(iota({4}), 0, 3, 1)) == V{0, 1, 2, 1, 2, 3});
  CHECK(unfold(m, 0, 2, 1).shape() == Shape{2, 4, 2});
  CHECK_THROWS_WITH_AS(unfold(m, 0, 4, 1),
                       "unfold: size 4 and step 1 on axis 0 of (3, 4); give a size in [1, 3] and a step >= 1",
                       ShapeError);
}

TEST_CASE("every n-th element") {
  const Tensor a = iota({5, 4});
  CHECK(values(every(a, {2, 3})) == V{0, 3, 8, 11, 16, 19});
  CHECK(every(a, {2, 3}).shape() == Shape{3, 2});
  CHECK(values(every(a, {7, 1})) == V{0, 1, 2, 3});
  CHECK(every(zeros({0, 3}), {2, 2}).shape() == Shape{0, 2});
  CHECK(every(ones({}), {}).item<float>() == 1);
  // The strides are those of a slice with these steps.
  const Tensor turned = Tensor::of<float>({1, 2, 3, 4, 5, 6}).reshape({2, 3}).transpose();
  CHECK(every(turned, {2, 1}).strides() == slice(turned, {{.step = 2}}).strides());
  CHECK(every(full({6}, 3), {2}).strides() == Ints{2});
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t step : {largest, largest - 1, largest / 2 + 1}) {
    const Tensor first = every(a, {step, step});
    CHECK(first.shape() == Shape{1, 1});
    CHECK(first.strides().size() == 2);
    CHECK(values(first) == V{0});
    CHECK(values(every(a, {2, step})) == V{0, 8, 16});
    CHECK(values(every(every(a * 1, {step, 1}), {step, 1})) == V{0, 1, 2, 3});
    CHECK(values(every(a.transpose(), {1, step}).flip(0)) == V{3, 2, 1, 0});
  }
  CHECK_THROWS_WITH_AS(every(x, {1}), "every: (2, 3) has 2 axes and 1 steps came; give one an axis", ShapeError);
  CHECK_THROWS_WITH_AS(every(x, {1, 0}), "every: step 0 on axis 1 of (2, 3); give numbers from 1 on", ShapeError);
}

TEST_CASE("every n-th element is a view, and is looked through") {
  Tensor a = arange(6.F).realize();
  Tensor view = every(a, {2});
  view.assign(view * 10);
  CHECK(values(a) == V{0, 1, 20, 3, 40, 5});
  CHECK(values(take(every(a + 1, {3}), Tensor::of<std::int64_t>({1, 0, 1}), 0)) == V{4, 1, 4});
  CHECK(values(every(every(iota({12}), {2}), {3})) == V{0, 6});
  CHECK(values(sum(every(pad(iota({3}), {2, 2}), {2}))) == V{2});
}

}  // namespace movement_test
