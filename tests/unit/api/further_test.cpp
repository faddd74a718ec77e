// What recorded answers do not show of further functions: views, members, memory of the caller's, errors.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <list>
#include <numeric>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::further_test {

namespace {

using test::refusal;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

Tensor numbers() { return arange(12).to(DType::float32).reshape(3, 4); }

bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && equal(a, b, true); }
bool same(const Ordered& a, const Ordered& b) { return same(a.values, b.values) && same(a.positions, b.positions); }
bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return same(x, y); });
}

}  // namespace

TEST_CASE("members with arguments are the functions of their names") {
  const Tensor x = numbers(), index = Tensor::of<int>({2, 0});
  CHECK(same(x.flatten(), flatten(x)));
  CHECK(same(x.unflatten(1, {2, 2}), unflatten(x, 1, {2, 2})));
  CHECK(same(x.swapaxes(0, 1), swapaxes(x, 0, 1)));
  CHECK(same(x.movedim({0}, {1}), movedim(x, {0}, {1})));
  CHECK(same(x.rot90(), rot90(x)));
  CHECK(same(x.split(2, 1), split(x, 2, 1)));
  CHECK(same(x.split_with_sizes({1, 3}, 1), split_with_sizes(x, {1, 3}, 1)));
  CHECK(same(x.split_at({1}, 1), split_at(x, {1}, 1)));
  CHECK(same(x.chunk(2), chunk(x, 2)));
  CHECK(same(x.unbind(1), unbind(x, 1)));
  CHECK(same(x.tile({2}), tile(x, {2})));
  CHECK(same(x.repeat_interleave(2, 1), repeat_interleave(x, 2, 1)));
  CHECK(same(x.topk(2), topk(x, 2)));
  CHECK(same(x.kthvalue(2, 0), kthvalue(x, 2, 0)));
  CHECK(same(x.median(1, true), median(x, 1, true)));
  CHECK(same(x.mode(), mode(x)));
  CHECK(same(x.quantile(0.25, 1), quantile(x, 0.25, 1)));
  CHECK(same(x.diff(), diff(x)));
  CHECK(same(x.nan_to_num(), nan_to_num(x)));
  CHECK(same(x.nansum(1), nansum(x, 1)));
  CHECK(same(x.nanmean(), nanmean(x)));
  CHECK(same(x.index_select(1, index), index_select(x, 1, index)));
  CHECK(same(x.maximum(5), maximum(x, 5)));
  CHECK(same(x.minimum(x.T().T() * 2), minimum(x, x * 2)));
  CHECK(same(clamp_min(x, 3), clamp(x, 3, 1e9)));
  CHECK(same(clamp_max(x, 3), clamp(x, -1e9, 3)));
  const Tensor square = x.slice({{0, 2}, {0, 2}});
  CHECK(same(square.det(), det(square)));
  CHECK(same(square.inverse(), inverse(square)));
}

TEST_CASE("lists without braces") {
  Tensor x = numbers();
  CHECK(x.reshape(2, 6).shape() == Shape{2, 6});
  CHECK(x.reshape(2, -1, 3).shape() == Shape{2, 2, 3});
  CHECK(reshape(x, 2, 6).shape() == Shape{2, 6});
  CHECK(x.view(12).shape() == Shape{12});
  CHECK(x.permute(1, 0).shape() == Shape{4, 3});
  CHECK(x[0].expand(2, 4).shape() == Shape{2, 4});
  CHECK(x.T().shape() == Shape{4, 3});
  CHECK(zeros({2, 3, 4}).T().shape() == Shape{4, 3, 2});
  CHECK(scalar(1).T().shape() == Shape{});
  CHECK(x.shape(1) == 4);
  CHECK(float(x.at(1, -1)) == 7);
  x.at(0, 0) = 9;
  x.T().at(1, 0) += 1;
  x.reshape(12)[2] = 8;
  CHECK(x[0].to_vector<float>() == Floats{9, 2, 8, 3});
  CHECK(x.to<std::int32_t>().dtype() == DType::int32);
  CHECK(eye(2, DType::float64).dtype() == DType::float64);
  CHECK(eye(2, 3, DType::int8).shape() == Shape{2, 3});
  CHECK(arange(0, 3, DType::float64).to_vector<double>() == std::vector<double>{0, 1, 2});
  CHECK(same(pad(x, 1), pad(x, {{1, 1}, {1, 1}})));
  CHECK(same(pad(x, 2, 0.5), pad(x, {{2, 2}, {2, 2}}, 0.5)));
  CHECK(pad(scalar(1.0F), 1).shape() == Shape{});
  CHECK(same(max_pool2d(ones({1, 4, 4}), 2), max_pool2d(ones({1, 4, 4}), {2})));
  int line = 0;
  try {
    line = __LINE__ + 1;
    static_cast<void>(x.reshape(5, 5));
  } catch (const ShapeError& error) {
    CHECK(error.site().line == line);
  }
}

TEST_CASE("elements from pointers, arrays and ranges") {
  const std::vector<float> v{1, 2, 3, 4};
  CHECK(same(Tensor::from(v.data(), {2, 2}), Tensor::of<float>({{1, 2}, {3, 4}})));
  CHECK(same(Tensor::from(std::array<int, 2>{5, 6}), Tensor::of<int>({5, 6})));
  CHECK(same(Tensor::from(std::span(v), {4, 1}), Tensor::from(v, {4, 1})));
  CHECK(Tensor::from(std::vector<bool>{true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(refusal([] { static_cast<void>(Tensor::from(static_cast<const float*>(nullptr), {2})); }) ==
        "from: the pointer is null; (2) of float32 needs 8 bytes");
  CHECK(Tensor::from(static_cast<const float*>(nullptr), {0}).count() == 0);
  CHECK(same(Tensor::generate(std::list<double>{1, 2}), Tensor::of<double>({1, 2})));
  CHECK(same(Tensor::generate(std::vector<bool>{false, true}), Tensor::from(std::vector<bool>{false, true})));
  CHECK(Tensor::generate(std::list<float>{}).shape() == Shape{0});
  CHECK(same(Tensor::generate({2, 2}, [](auto i) { return i[0] == i[1]; }), eye(2, DType::bool_)));
}

TEST_CASE("results in strided memory of the caller's") {
  const Tensor x = numbers();
  std::vector<float> out(24, -1);
  x.copy_to(out.data(), Layout{{3, 4}, {1, 5}});  // by columns, with two elements between them
  CHECK(out == Floats{0, 4, 8, -1, -1, 1, 5, 9, -1, -1, 2, 6, 10, -1, -1, 3, 7, 11, -1, -1, -1, -1, -1, -1});
  out.assign(24, -1);
  x.T().copy_to(out.data(), Layout{{4, 3}, {2, 8}});
  CHECK(out == Floats{0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1, 8, -1, 9, -1, 10, -1, 11, -1});
  (x * 2).copy_to(out.data(), Layout::contiguous({3, 4}));
  CHECK(Floats(out.begin(), out.begin() + 12) == (x * 2).to_vector<float>());
  float one = 0;
  scalar(3.0F).copy_to(&one, Layout{});
  CHECK(one == 3);
  zeros({0, 2}).copy_to(static_cast<float*>(nullptr), Layout{{0, 2}, {1, 1}});
  CHECK(refusal([&] {
          x.copy_to(out.data(), Layout{{4, 3}, {1, 4}});
        }) == "copy_to: a layout of (4, 3) for (3, 4); give a stride for each axis of this shape");
  CHECK(refusal([&] {
          x.copy_to(out.data(), Layout{{3, 4}, {-1, 3}});
        }) == "copy_to: stride -1 of axis 0 is negative; flip the axis, and begin at the lowest element");
  CHECK(refusal([&] {
          x.copy_to(static_cast<float*>(nullptr), Layout{{3, 4}, {4, 1}});
        }) == "copy_to: the pointer is null");
  CHECK_THROWS_AS(x.copy_to(std::array<double, 12>{}.data(), Layout{{3, 4}, {4, 1}}), DTypeError);
}

TEST_CASE("entries and pieces are views") {
  Tensor x = numbers();
  float total = 0;
  for (const Tensor& row : x.unbind()) total += float(row[0]);
  CHECK(total == 12);
  unbind(x, 1)[3] += 100;
  for (Tensor piece : split_at(x, {1}, 0)) {
    CHECK(same_storage(x, piece));
    piece += 1;
  }
  CHECK(x.select(1, 3).to_vector<float>() == Floats{104, 108, 112});
  CHECK(refusal([&] { static_cast<void>(unbind(scalar(1))); }).find("unbind: ") == 0);
  CHECK(same_storage(x, x.reshape(-1)));
  CHECK_FALSE(same_storage(x, x + 0));
  CHECK_FALSE(same_storage(x, numbers()));
}

TEST_CASE("equality is one bool") {
  const Tensor x = numbers();
  CHECK(equal(x, x + 0));
  CHECK(equal(x, x.to(DType::int64)));
  CHECK_FALSE(equal(x, x.reshape(4, 3)));
  CHECK_FALSE(equal(x, x + (x == 5)));
  CHECK(equal(zeros({0, 2}), ones({0, 2})));
  CHECK_FALSE(equal(zeros({0, 2}), zeros({2, 0})));
  CHECK(equal(scalar(2), 2));
  const Tensor gap = Tensor::of<float>({1, NAN});
  CHECK_FALSE(equal(gap, gap));
  CHECK(equal(gap, gap, true));
  CHECK_FALSE(equal(gap, Tensor::of<float>({NAN, 1}), true));
}

TEST_CASE("a condition of many elements names any, all and the line") {
  const Tensor x = numbers();
  int line = 0;
  std::string said;
  try {
    line = __LINE__ + 1;
    if (x > 0) said = "taken";
  } catch (const ShapeError& error) {
    said = error.message();
    CHECK(error.site().line == line);
  }
  CHECK(said ==
        "bool: (3, 4) holds 12 elements; only a tensor of one element is a condition: write any(x) or all(x), or "
        "where(x, a, b), which chooses for each element");
  CHECK(refusal([&] { static_cast<void>(float(x)); }) ==
        "item: (3, 4) holds 12 elements; only a tensor of one element has an item");
}

TEST_CASE("positions outside of an axis are errors of the axis") {
  const Tensor x = numbers();
  const auto index = [](std::vector<std::int64_t> at) { return Tensor::from(at); };
  CHECK(x.at_indices({index({1})}).to_vector<float>() == Floats{4, 5, 6, 7});
  CHECK_THROWS_AS(static_cast<void>(x.at_indices(index({0, 3}), index({0, 0}))), IndexError);
  CHECK_THROWS_AS(static_cast<void>(x.at_indices(index({0, 0}), index({0, 4}))), IndexError);
  CHECK(at_indices(x, {index({0, 3, -3}), index({-5, 0, 1})}, Bounds::zero).to_vector<float>() == Floats{0, 0, 1});
  CHECK(refusal([&] { static_cast<void>(at_indices(x, {})); }) ==
        "at_indices: 0 positions for (3, 4); it takes one for each of its first axes, 1 to 2");
  const Tensor cube = arange(24).reshape(2, 3, 4);
  CHECK(cube.at_indices(index({1}), index({-1}), index({2})).to_vector<std::int64_t>() == Integers{22});
}

TEST_CASE("errors of further functions") {
  const Tensor x = numbers();
  CHECK(refusal([&] { static_cast<void>(percentile(x, 101, 0)); }) ==
        "percentile: q is 101; give a number in [0, 100]");
  CHECK(refusal([&] { static_cast<void>(quantile(x, 1.5, 0)); }) == "quantile: q is 1.5; give a number in [0, 1]");
  CHECK(refusal([&] { static_cast<void>(max_with_indices(zeros({2, 0}), 1)); }).find("max_with_indices: ") == 0);
  CHECK(refusal([&] { static_cast<void>(hann(-1)); }) == "hann: n is -1; give a number >= 0");
  CHECK(refusal([&] { static_cast<void>(kaiser(3, -1)); }) == "kaiser: beta is -1; give a number in [0, 700]");
  CHECK(refusal([&] { static_cast<void>(hann(3, DType::int32)); }) == "hann: gives floats, not int32");
  CHECK(refusal([&] { static_cast<void>(matrix_norm(x, MatrixNorm::two, {0})); }) ==
        "matrix_norm: axes (0); give those of rows and of columns");
  CHECK(refusal([&] {
          static_cast<void>(matrix_norm(x, MatrixNorm::two, {1, -1}));
        }) == "matrix_norm: axes (1, -1) are one axis; give two");
  CHECK(refusal([&] {
          static_cast<void>(max_pool_with_indices(ones({1, 4}), {}));
        }) == "max_pool_with_indices: a window (); give one number for each of one to three spatial axes");
  CHECK(
      refusal([&] {
        static_cast<void>(max_unpool(ones({2, 2}), zeros({2, 1}, DType::int64), {4}));
      }) ==
      "max_unpool: (2, 2) with positions (2, 1) to sizes (4); give a position for each element, and a size for each of "
      "the last axes");
  CHECK(refusal([&] {
          static_cast<void>(avg_pool1d(ones({1, 4}), 2, {.divisor = INFINITY}));
        }) == "avg_pool1d: divisor is inf; give a finite number");
  CHECK_THROWS_AS(static_cast<void>(max_unpool(ones({2, 2}), full({2, 2}, 9), {4})), IndexError);
  const Tensor image = ones({1, 1, 2, 2}), grid = zeros({1, 1, 1, 2});
  CHECK(refusal([&] { static_cast<void>(grid_sample(image, grid, Interpolation::area)); }) ==
        "grid_sample: takes the modes nearest, linear and cubic");
  CHECK(refusal([&] { static_cast<void>(grid_sample(image, grid, Interpolation::linear, true, PadMode::circular)); }) ==
        "grid_sample: takes constant, replicate and reflect for what is outside");
  CHECK(refusal([&] {
          static_cast<void>(convolve(ones({5, 1}), ones({2, 3}), Overlap::same));
        }) == "convolve: (5, 1) and (2, 3): but for Overlap::full one must be as long as the other along every axis");
  CHECK(refusal([&] {
          static_cast<void>(convolve(ones({5, 1}), ones({2})));
        }) == "convolve: (5, 1) and (2): both must have elements and as many axes, at least one");
}

TEST_CASE("the largest element and its position are found in one pass") {
  const Tensor x = (iota({64, 256}) % 97).to(DType::float32).realize();
  const Ordered o = max_with_indices(x, 1);
  const Explanation e = explain({o.values, o.positions});
  std::int64_t reads = 0;
  for (const auto& kernel : e.kernels) reads += static_cast<std::int64_t>(kernel.bytes);
  CHECK(reads < 2 * 64 * 256 * 4);
  CHECK(equal(o.values, max(x, 1)));
  const Ordered scalars = max_with_indices(scalar(2.5F), 0);
  CHECK((scalars.values.item<float>() == 2.5F && scalars.positions.item<std::int64_t>() == 0));
}

TEST_CASE("searches have one plan for many extents") {
  const FunctionOptions dynamic{.dynamic = Dynamic::yes};
  const auto sorted = [](std::int64_t n) { return (arange(n) * 2).to(DType::float32).realize(); };
  const Tensor at = Tensor::of<float>({-1, 3, 4, 1e6F});
  const auto found = capture([](Tensor s, Tensor x) { return searchsorted(s, x, true); }, dynamic);
  const auto line = capture([](Tensor x, Tensor p, Tensor h) { return interp(x, p, h); }, dynamic);
  const auto member = capture([](Tensor x, Tensor e) { return isin(x, e); }, dynamic);
  const auto often = capture([](Tensor x) { return mode(x, 0); }, dynamic);
  const auto draws = capture([](Key k, Tensor w) { return multinomial(k, w, 5, true); }, dynamic);
  for (const std::int64_t n : {3, 4, 7, 100, 1000}) {
    const Tensor s = sorted(n);
    CHECK(equal(found(s, at), searchsorted(s, at, true)));
    CHECK(equal(line(at, s, s * 3), interp(at, s, s * 3)));
    CHECK(equal(member(at, s), isin(at, s)));
    CHECK(equal(often(s % 5), mode(s % 5, 0)));
    CHECK(equal(draws(Key(2), s + 1), multinomial(Key(2), s + 1, 5, true)));
  }
  CHECK(found.entries().size() == 1);
  CHECK(line.entries().size() == 1);
  CHECK(member.entries().size() == 1);
  CHECK(often.entries().size() == 1);
  CHECK(draws.entries().size() == 1);
  CHECK(equal(found(sorted(70'000), at), searchsorted(sorted(70'000), at, true)));
  CHECK(found.entries().size() == 2);
  // Counts that depend on data, 0 too.
  const auto chosen = capture([](Tensor x, Tensor y) { return isin(x, masked_select(y, y > 2)); }, dynamic);
  CHECK(chosen(at, Tensor::of<float>({1, 3, 9})).to_vector<bool>() == std::vector<bool>{false, true, false, false});
  CHECK(chosen(at * 0, Tensor::of<float>({0, 1})).to_vector<bool>() == std::vector<bool>(4, false));
  CHECK(chosen.entries().size() == 1);
  const auto sets = capture([](Tensor x, Tensor y) { return std::tuple(intersect1d(x, y), setdiff1d(x, y)); }, dynamic);
  const auto [both, rest] = sets(Tensor::of<float>({5, 1, 5}), Tensor::of<float>({2, 5}));
  CHECK((both.to_vector<float>() == Floats{5} && rest.to_vector<float>() == Floats{1}));
}

TEST_CASE("a captured function counts what each call finds") {
  const auto count = capture([](Tensor x) { return bincount(x, 2); }, {.dynamic = Dynamic::yes});
  CHECK(count(Tensor::of<int>({1, 3, 1})).to_vector<std::int64_t>() == Integers{0, 2, 0, 1});
  CHECK(count(Tensor::of<int>({0, 0})).to_vector<std::int64_t>() == Integers{2, 0});
  CHECK(count(Tensor::of<int>({6, 0, 0, 2, 2})).to_vector<std::int64_t>() == Integers{2, 0, 2, 0, 0, 0, 1});
  CHECK(count.entries().size() == 1);
  CHECK_THROWS_AS(static_cast<void>(count(Tensor::of<int>({1, -1}))), Error);
  const auto weigh = capture([](Tensor x, Tensor w) { return bincount(x, w) * 2; }, {.dynamic = Dynamic::yes});
  CHECK(weigh(Tensor::of<int>({1, 0, 1}), Tensor::of<float>({1, 2, 3})).to_vector<float>() == Floats{4, 8});
}

TEST_CASE("gradients of further functions") {
  const auto slope = [](auto&& f, const Tensor& x) { return grad(f)(x).template to_vector<float>(); };
  const Tensor x = Tensor::of<float>({3, 1, 2});
  CHECK(slope([](const Tensor& t) { return sum(cumsum(t, 0, {.reverse = true, .exclusive = true})); }, x) ==
        Floats{0, 1, 2});
  CHECK(slope([](const Tensor& t) { return max_with_indices(t, 0).values; }, x) == Floats{1, 0, 0});
  CHECK(slope([](const Tensor& t) { return sum(t.at_indices({Tensor::of<int>({0, 0, 2})})); }, x) == Floats{2, 0, 1});
  CHECK(slope([](const Tensor& t) { return sum(repeat(t, "a -> a 3")); }, x) == Floats{3, 3, 3});
  CHECK(slope([](const Tensor& t) { return reduce(t, "a -> ", Combine::mean); }, Tensor::of<float>({1, 2})) ==
        Floats{0.5, 0.5});
}

}  // namespace oriel::further_test
