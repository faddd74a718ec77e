// The second half of "100 numpy exercises": see numpy_exercises_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "numpy_exercises.hpp"

namespace numpy_exercises_later_test {

using namespace oriel;
using exercises::same;

namespace {
using Int = std::int64_t;
}  // namespace

TEST_CASE("52. the distances between points") {
  const Tensor z = Tensor::of<float>({{0, 0}, {3, 4}, {0, 8}});
  CHECK(same(norm(z.unsqueeze(1) - z, 2, -1), Tensor::of<int>({{0, 5, 8}, {5, 0, 5}, {8, 5, 0}})));
}

TEST_CASE("53. floats become integers of the same width in place") {
  Tensor z = arange(10).to(DType::float32);
  z = z.to(DType::int32);
  CHECK(z.dtype() == DType::int32);
  CHECK(same(z, arange(10)));
}

TEST_CASE("55. each index with its element") {
  const Tensor z = arange(4).reshape({2, 2});
  const Tensor rows = concat({indices(z.shape()).reshape({2, -1}).transpose(), z.reshape({-1, 1})}, 1);
  CHECK(same(rows, Tensor::of<int>({{0, 0, 0}, {0, 1, 1}, {1, 0, 2}, {1, 1, 3}})));
}

TEST_CASE("56. a Gaussian over a square") {
  const Tensor x = linspace(-1, 1, 11, DType::float64);
  const Tensor d = hypot(x.unsqueeze(1), x);
  const Tensor g = exp(-square(d) / 2);
  CHECK(double(g.at({5, 5})) == 1);
  CHECK(double(g.at({0, 5})) == doctest::Approx(std::exp(-0.5)));
  CHECK(double(g.at({0, 0})) == doctest::Approx(std::exp(-1.0)));
}

TEST_CASE("57. elements put at random places") {
  const Tensor z = put(zeros(100), choice(Key(57), 100, {3}, false), 1).reshape({10, 10});
  CHECK(Int(z.sum()) == 3);
}

TEST_CASE("58. each row without its mean") {
  CHECK(same(Tensor::of<float>({{1, 3}, {5, 9}}) - Tensor::of<float>({{1, 3}, {5, 9}}).mean(1, true),
             Tensor::of<int>({{-1, 1}, {-2, 2}})));
}

TEST_CASE("59. rows sorted by a column") {
  const Tensor z = Tensor::of<int>({{1, 9}, {2, 3}, {3, 5}});
  CHECK(same(z.take(argsort(z.select(1, 1))), Tensor::of<int>({{2, 3}, {3, 5}, {1, 9}})));
}

TEST_CASE("60. has a matrix a column of zeros?") {
  CHECK(bool(any(!any(Tensor::of<int>({{0, 1}, {0, 2}}), 0))));
  CHECK_FALSE(bool(any(!any(Tensor::of<int>({{0, 1}, {3, 2}}), 0))));
}

TEST_CASE("61. the nearest element") {
  const Tensor z = Tensor::of<float>({{0.1F, 0.9F}, {0.45F, 0.6F}});
  CHECK(float(z.reshape(-1).take(abs(z - 0.5F).argmin())) == 0.45F);
}

TEST_CASE("62. the sum of a row and a column") {
  CHECK(
      same(arange(3).reshape({1, 3}) + arange(3).reshape({3, 1}), Tensor::of<int>({{0, 1, 2}, {1, 2, 3}, {2, 3, 4}})));
}

TEST_CASE("64. 1 added at positions, some of them twice") {
  Tensor z = ones(4);
  z.add_at(Tensor::of<int>({1, 3, 1}), 1);
  CHECK(same(z, Tensor::of<int>({1, 3, 1, 2})));
}

TEST_CASE("65. weights summed by position") {
  const Tensor weights = Tensor::of<float>({1, 2, 3, 4, 5, 6}), index = Tensor::of<int>({1, 3, 9, 3, 4, 1});
  CHECK(same(bincount(index, weights), Tensor::of<int>({0, 7, 0, 6, 5, 0, 0, 0, 0, 3})));
}

TEST_CASE("66. the number of colours of an image") {
  Tensor image = zeros({4, 4, 3}, DType::uint8);
  image.at({1, 1, 2}) = 255;
  image.at({2, 1, 0}) = 255;
  const Tensor colours = sum(image.to(DType::int64) * Tensor::of<int>({65536, 256, 1}), -1);
  CHECK(unique(colours).count() == 3);
}

TEST_CASE("67. the sum over the last two axes") { CHECK(same(sum(ones({2, 3, 4, 5}), {-2, -1}), full({2, 3}, 20))); }

TEST_CASE("68. means of subsets") {
  const Tensor d = Tensor::of<float>({1, 2, 3, 4, 5}), s = Tensor::of<int>({0, 1, 0, 1, 1});
  CHECK(allclose(segment_mean(d, s, 2), Tensor::of<float>({2, 11.0F / 3})));
}

TEST_CASE("69. the diagonal of a product") {
  const Tensor a = arange(6).reshape({2, 3}), b = arange(6).reshape({3, 2});
  CHECK(same(einsum("ij,ji->i", {a, b}), diagonal(matmul(a, b))));
  CHECK(same(sum(a * b.transpose(), 1), Tensor::of<int>({10, 40})));
}

TEST_CASE("70. three zeros between elements") {
  const Tensor z = Tensor::of<int>({1, 2, 3});
  Tensor wide = zeros(z.size(0) * 4 - 3, DType::int32);
  wide.slice({{.step = 4}}) = z;
  CHECK(same(wide, Tensor::of<int>({1, 0, 0, 0, 2, 0, 0, 0, 3})));
}

TEST_CASE("71. an image times a mask") {
  const Tensor z = ones({5, 5, 3}) * full({5, 5}, 2).unsqueeze(-1);
  CHECK(same(z, full({5, 5, 3}, 2)));
}

TEST_CASE("72. two rows swapped") {
  Tensor a = arange(6).reshape({3, 2}) + 0;
  a.assign_at(Tensor::of<int>({0, 1}), a.take(Tensor::of<int>({1, 0})));
  CHECK(same(a, Tensor::of<int>({{2, 3}, {0, 1}, {4, 5}})));
}

TEST_CASE("73. the segments of triangles, each once") {
  const Tensor faces = Tensor::of<int>({{0, 1, 2}, {2, 1, 3}});
  const Tensor ends = stack({faces, roll(faces, -1, 1)}, -1).reshape({-1, 2}).sort(1);
  const Tensor once = unique(ends.select(1, 0) * 4 + ends.select(1, 1));
  CHECK(same(stack({floor_divide(once, 4), once % 4}, 1), Tensor::of<int>({{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}})));
}

TEST_CASE("74. an array of given counts") {
  const Tensor counts = Tensor::of<int>({0, 2, 0, 3});
  const Tensor a = searchsorted(cumsum(counts, 0), arange(Int(counts.sum())), true);
  CHECK(same(a, Tensor::of<int>({1, 1, 3, 3, 3})));
  CHECK(same(bincount(a), counts));
}

TEST_CASE("75. means of a sliding window") {
  CHECK(same(unfold(arange(6), 0, 3, 1).mean(1), Tensor::of<int>({1, 2, 3, 4})));
  CHECK(allclose(convolve(arange(6).to(DType::float32), full(3, 1.0F / 3), Overlap::valid), arange(1, 5) * 1.0F));
}

TEST_CASE("76. rows that are shifted by one") {
  CHECK(same(unfold(arange(5), 0, 3, 1), Tensor::of<int>({{0, 1, 2}, {1, 2, 3}, {2, 3, 4}})));
}

TEST_CASE("77. negation in place") {
  Tensor b = Tensor::of<bool>({true, false});
  b.assign(!b);
  CHECK(same(b, Tensor::of<bool>({false, true})));
  Tensor x = Tensor::of<float>({1, -2});
  x *= -1;
  CHECK(same(x, Tensor::of<int>({-1, 2})));
}

TEST_CASE("78-79. the distances of points from lines") {
  const Tensor p0 = Tensor::of<float>({{0, 0}, {0, 0}}), p1 = Tensor::of<float>({{1, 0}, {0, 2}});
  const Tensor p = Tensor::of<float>({{3, 4}, {-5, 6}, {0, 0}});
  const Tensor t = p1 - p0;
  const Tensor w = p.unsqueeze(1) - p0;
  const Tensor foot = t * (sum(w * t, -1) / sum(square(t), -1)).unsqueeze(-1);
  CHECK(same(norm(w - foot, 2, -1), Tensor::of<int>({{4, 3}, {6, 5}, {0, 0}})));
}

TEST_CASE("80. a part around an element, filled beyond the edges") {
  const Tensor z = arange(1, 10).reshape({3, 3});
  const auto around = [&](Int row, Int column) {
    return z.pad({{1, 1}, {1, 1}}, -1).slice({{row, row + 3}, {column, column + 3}});
  };
  CHECK(same(around(0, 0), Tensor::of<int>({{-1, -1, -1}, {-1, 1, 2}, {-1, 4, 5}})));
  CHECK(same(around(1, 1), z));
}

TEST_CASE("81. windows of four") {
  const Tensor r = unfold(arange(1, 15), 0, 4, 1);
  CHECK(r.shape() == Shape{11, 4});
  CHECK(same(r[-1], Tensor::of<int>({11, 12, 13, 14})));
}

TEST_CASE("82. the rank of a matrix") {
  CHECK(Int(matrix_rank(Tensor::of<float>({{1, 2}, {2, 4}}))) == 1);
  CHECK(Int(matrix_rank(normal(Key(82), {10, 10}))) == 10);
}

TEST_CASE("83. the most frequent element") {
  const Tensor z = Tensor::of<int>({3, 1, 4, 1, 5, 4, 4});
  CHECK(Int(bincount(z).argmax()) == 4);
  CHECK(Int(mode(z)) == 4);
}

TEST_CASE("84. all blocks of a matrix") {
  const Tensor z = arange(100).reshape({10, 10});
  const Tensor blocks = unfold(unfold(z, 0, 3, 1), 1, 3, 1);
  CHECK(blocks.shape() == Shape{8, 8, 3, 3});
  CHECK(same(blocks[7][7], z.slice({{7}, {7}})));
}

TEST_CASE("85. writes that keep a matrix symmetric") {
  Tensor s = zeros({3, 3});
  const auto set = [&](Int i, Int j, float value) {
    s.at({i, j}) = value;
    s.at({j, i}) = value;
  };
  set(0, 2, 5);
  set(1, 1, 3);
  CHECK(same(s, s.transpose()));
  CHECK(same(s, Tensor::of<int>({{0, 0, 5}, {0, 3, 0}, {5, 0, 0}})));
}

TEST_CASE("86. the sum of products of matrices and vectors") {
  const Tensor m = ones({4, 3, 3}), v = ones({4, 3, 1});
  CHECK(same(tensordot(m, v, {0, 2}, {0, 1}), full({3, 1}, 12)));
}

TEST_CASE("87. sums of blocks") { CHECK(same(sum(ones({16, 16}).reshape({4, 4, 4, 4}), {1, 3}), full({4, 4}, 16))); }

TEST_CASE("88. the game of life") {
  const auto next = [](const Tensor& z) {
    const Tensor around = unfold(unfold(z.pad({{1, 1}, {1, 1}}), 0, 3, 1), 1, 3, 1).sum({-2, -1}) - z;
    return (around == 3 || (z == 1 && around == 2)).to(DType::int32);
  };
  const Tensor blinker = Tensor::of<int>({{0, 0, 0}, {1, 1, 1}, {0, 0, 0}});
  CHECK(same(next(blinker), blinker.transpose()));
  CHECK(same(next(next(blinker)), blinker));
}

TEST_CASE("89. the largest elements") {
  CHECK(same(topk(Tensor::of<int>({5, 1, 9, 7}), 2).values, Tensor::of<int>({9, 7})));
}

TEST_CASE("90. all combinations") {
  CHECK(same(cartesian_product({Tensor::of<int>({1, 2}), Tensor::of<int>({4, 5})}),
             Tensor::of<int>({{1, 4}, {1, 5}, {2, 4}, {2, 5}})));
}

TEST_CASE("92. cubes in three ways") {
  const Tensor x = uniform(Key(92), {50});
  CHECK(allclose(pow(x, 3), x * x * x));
  CHECK(allclose(einsum("i,i,i->i", {x, x, x}), x * x * x));
}

TEST_CASE("93. the rows that hold an element of each row of another matrix") {
  const Tensor a = Tensor::of<int>({{1, 5, 0}, {2, 6, 3}, {4, 4, 1}}), b = Tensor::of<int>({{1, 2}, {5, 3}});
  const Tensor holds = any(a.reshape({-1, 1, 1, 3}) == b.unsqueeze(-1), {-2, -1});
  CHECK(same(nonzero(all(holds, 1)).reshape(-1), Tensor::of<int>({0, 1})));
}

TEST_CASE("94. the rows whose elements are not all equal") {
  const Tensor z = Tensor::of<int>({{1, 1, 1}, {1, 2, 1}, {3, 3, 3}});
  CHECK(same(z.take(nonzero(z.max(1) != z.min(1)).reshape(-1)), Tensor::of<int>({{1, 2, 1}})));
}

TEST_CASE("95. numbers as rows of bits") {
  const Tensor i = Tensor::of<int>({0, 1, 5, 128});
  CHECK(same(
      (i.unsqueeze(1) >> arange(8).flip()) & 1,
      Tensor::of<int>(
          {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1, 0, 1}, {1, 0, 0, 0, 0, 0, 0, 0}})));
}

TEST_CASE("96. the distinct rows of a matrix") {
  const Tensor z = Tensor::of<int>({{1, 2}, {0, 5}, {1, 2}, {0, 3}});
  const Tensor rows = z.take(lexsort({z.select(1, 1), z.select(1, 0)}));
  const Tensor first = concat({Tensor::of<bool>({true}), any(diff(rows, 1, 0) != 0, 1)});
  CHECK(same(rows.take(nonzero(first).reshape(-1)), Tensor::of<int>({{0, 3}, {0, 5}, {1, 2}})));
}

TEST_CASE("97. inner and outer products, sums and products by einsum") {
  const Tensor a = Tensor::of<int>({1, 2, 3}), b = Tensor::of<int>({4, 5, 6});
  CHECK(Int(einsum("i->", {a})) == 6);
  CHECK(same(einsum("i,i->i", {a, b}), a * b));
  CHECK(Int(einsum("i,i", {a, b})) == 32);
  CHECK(same(einsum("i,j->ij", {a, b}), outer(a, b)));
}

TEST_CASE("98. points at equal distances along a path") {
  const Tensor x = Tensor::of<float>({0, 3, 3}), y = Tensor::of<float>({0, 0, 1});
  const Tensor length = pad(cumsum(hypot(diff(x), diff(y)), 0), {1, 0});
  const Tensor at = linspace(0, float(length[-1]), 5);
  CHECK(same(interp(at, length, x), Tensor::of<int>({0, 1, 2, 3, 3})));
  CHECK(same(interp(at, length, y), Tensor::of<int>({0, 0, 0, 0, 1})));
}

TEST_CASE("99. the rows of whole numbers that sum to n") {
  const Tensor x = Tensor::of<float>({{1, 0, 3, 8}, {2, 0, 1, 1}, {1.5F, 2.5F, 1, 0}});
  const Tensor fits = all(x % 1 == 0, 1) && x.sum(1) == 4;
  CHECK(same(x.take(nonzero(fits).reshape(-1)), Tensor::of<int>({{2, 0, 1, 1}})));
}

TEST_CASE("100. a confidence interval of the mean by resampling") {
  const Tensor x = normal(Key(100), {100});
  const auto [draw, unused] = split(Key(101));
  const Tensor means = x.take(randint(draw, {1000, 100}, 0, 100)).mean(1);
  const Tensor ends = quantile(means, {0.025, 0.975}, 0);
  CHECK(float(ends[0]) < float(x.mean()));
  CHECK(float(x.mean()) < float(ends[1]));
  CHECK(float(ends[1] - ends[0]) == doctest::Approx(0.39).epsilon(0.25));  // 2 * 1.96 / sqrt(100)
}

}  // namespace numpy_exercises_later_test
