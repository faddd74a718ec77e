// The first half of the public collection "100 numpy exercises", as far as it concerns tensors: its numbers stand
// before the cases. Each is the program that a user would write, with its result.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "numpy_exercises.hpp"

namespace numpy_exercises_test {

using namespace oriel;
using exercises::same;

namespace {
using Int = std::int64_t;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("3-4. ten zeros, and their bytes") {
  const Tensor z = zeros(10);
  CHECK(same(z, Tensor::of<float>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(z.count() * itemsize(z.dtype()) == 40);
}

TEST_CASE("6. zeros whose fifth element is 1") {
  Tensor z = zeros(10);
  z[4] = 1;
  CHECK(same(z, Tensor::of<int>({0, 0, 0, 0, 1, 0, 0, 0, 0, 0})));
}

TEST_CASE("7-8. the numbers from 10 to 49, reversed") {
  const Tensor z = arange(10, 50);
  CHECK(z.count() == 40);
  CHECK(Int(z[0]) == 10);
  CHECK(Int(z[-1]) == 49);
  const Tensor back = z.flip();
  CHECK(Int(back[0]) == 49);
  CHECK(Int(back[1]) == 48);
  CHECK(Int(back[-1]) == 10);
}

TEST_CASE("9. a matrix of the numbers 0 to 8") {
  CHECK(same(arange(9).reshape({3, 3}), Tensor::of<int>({{0, 1, 2}, {3, 4, 5}, {6, 7, 8}})));
}

TEST_CASE("10. the positions of elements that are not 0") {
  CHECK(same(nonzero(Tensor::of<int>({1, 2, 0, 0, 4, 0})).reshape(-1), Tensor::of<int>({0, 1, 4})));
}

TEST_CASE("11. a unit matrix") { CHECK(same(eye(3), Tensor::of<int>({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}))); }

TEST_CASE("12-14. random arrays, their ends and their mean") {
  const Tensor cube = uniform(Key(12), {3, 3, 3});
  CHECK(cube.shape() == Shape{3, 3, 3});
  const Tensor z = uniform(Key(13), {10, 10});
  CHECK(float(z.min()) >= 0);
  CHECK(float(z.max()) < 1);
  CHECK(float(z.min()) < 0.1F);
  CHECK(float(z.max()) > 0.9F);
  const Tensor line = uniform(Key(14), {30});
  CHECK(float(line.mean()) == doctest::Approx(float(line.sum()) / 30));
  CHECK(std::fabs(float(line.mean()) - 0.5F) < 0.25F);
}

TEST_CASE("15. ones around zeros") {
  Tensor z = ones({4, 5});
  z.slice({{1, -1}, {1, -1}}) = 0;
  CHECK(same(z, Tensor::of<int>({{1, 1, 1, 1, 1}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 1}, {1, 1, 1, 1, 1}})));
}

TEST_CASE("16. zeros around an array") {
  CHECK(same(ones({1, 2}).pad({{1, 1}, {1, 1}}), Tensor::of<int>({{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}})));
}

TEST_CASE("17. NaN in expressions") {
  const Tensor nan = scalar(kNan);
  CHECK(same(0 * nan, nan));
  CHECK_FALSE(bool(nan == nan));
  CHECK_FALSE(bool(std::numeric_limits<float>::infinity() > nan));
  CHECK(same(nan - nan, nan));
  CHECK_FALSE(bool(isin(nan, nan.reshape(1))));  // Python's `nan in {nan}` compares objects
  CHECK_FALSE(bool(scalar(0.3, DType::float64) == 3 * scalar(0.1, DType::float64)));
}

TEST_CASE("18. the numbers 1 to 4 below the diagonal") {
  CHECK(same(diag(arange(1, 5), -1),
             Tensor::of<int>({{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 2, 0, 0, 0}, {0, 0, 3, 0, 0}, {0, 0, 0, 4, 0}})));
}

TEST_CASE("19, 21. a checkerboard, by slices and by tiles") {
  Tensor z = zeros({8, 8}, DType::int64);
  z.slice({{.start = 1, .step = 2}, {.step = 2}}) = 1;
  z.slice({{.step = 2}, {.start = 1, .step = 2}}) = 1;
  CHECK(same(z, tile(Tensor::of<int>({{0, 1}, {1, 0}}), {4, 4})));
  const Tensor index = indices({8, 8});
  CHECK(same(z, (index[0] + index[1]) % 2));
}

TEST_CASE("20. the index of the 100th element of a shape") {
  const auto index = unravel_index(99, {6, 7, 8});
  CHECK(Int(index[0]) == 1);
  CHECK(Int(index[1]) == 5);
  CHECK(Int(index[2]) == 3);
}

TEST_CASE("22. a matrix of mean 0 and deviation 1") {
  const Tensor x = uniform(Key(22), {5, 5});
  const Tensor z = (x - x.mean()) / x.stddev({}, false, 0);
  CHECK(std::fabs(float(z.mean())) < 1e-6F);
  CHECK(float(z.stddev({}, false, 0)) == doctest::Approx(1));
}

TEST_CASE("24. a product of matrices") { CHECK(same(matmul(ones({5, 3}), ones({3, 2})), full({5, 2}, 3))); }

TEST_CASE("25. the elements between 3 and 8, negated in place") {
  Tensor z = arange(11);
  z.assign_where(z > 3 && z < 8, -z);
  CHECK(same(z, Tensor::of<int>({0, 1, 2, 3, -4, -5, -6, -7, 8, 9, 10})));
}

TEST_CASE("27. what integers can do") {
  const Tensor z = Tensor::of<int>({0, 1, 2});
  CHECK(same(pow(z, z), Tensor::of<int>({1, 1, 4})));
  CHECK(same((2 << z) >> 2, Tensor::of<int>({0, 1, 2})));
  CHECK(same(z / 1 / 1, z));
  CHECK((z / 1).dtype() == DType::float32);
  CHECK(same(z < -z, Tensor::of<bool>({false, false, false})));
}

TEST_CASE("28. divisions by zero") {
  const Tensor zero = scalar(0.0F);
  CHECK(same(zero / zero, scalar(kNan)));
  CHECK(same(floor_divide(scalar(0), scalar(0)), scalar(0)));  // of integers 0, where NumPy warns
  CHECK(same(scalar(kNan).to(DType::int64), scalar(0)));       // NumPy leaves it open
}

TEST_CASE("29. rounded away from zero") {
  const Tensor z = Tensor::of<float>({-2.5F, -0.1F, 0, 0.1F, 3});
  CHECK(same(copysign(ceil(abs(z)), z), Tensor::of<int>({-3, -1, 0, 1, 3})));
}

TEST_CASE("30. what two arrays have in common") {
  const Tensor a = Tensor::of<int>({5, 1, 3, 1}), b = Tensor::of<int>({3, 9, 1});
  CHECK(same(unique(a.masked_select(isin(a, b))), Tensor::of<int>({1, 3})));
}

TEST_CASE("32. the root of -1 is NaN") { CHECK(same(sqrt(scalar(-1)), scalar(kNan))); }

TEST_CASE("35. (A + B) * (-A / 2) in place") {
  Tensor a = ones(3), b = full(3, 2.0F);
  b += a;
  a /= 2;
  a *= -1;
  a *= b;
  CHECK(same(a, full(3, -1.5)));
}

TEST_CASE("36. the whole part of positive numbers in four ways") {
  const Tensor z = uniform(Key(36), {20}, 0, 10);
  const Tensor whole = floor(z);
  CHECK(same(z - z % 1, whole));
  CHECK(same(floor_divide(z, 1), whole));
  CHECK(same(trunc(z), whole));
  CHECK(same(z.to(DType::int64), whole));
}

TEST_CASE("37. rows of the numbers 0 to 4") {
  CHECK(same(zeros({3, 5}) + arange(5), Tensor::of<int>({{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}})));
}

TEST_CASE("38. an array from a generator") {
  CHECK(same(Tensor::generate({10}, [](std::span<const Int> i) { return i[0]; }), arange(10)));
}

TEST_CASE("39. ten numbers between 0 and 1, both excluded") {
  const Tensor z = linspace(0, 1, 12).slice({{1, -1}});
  CHECK(z.count() == 10);
  CHECK(allclose(z, arange(1, 11) / 11.0F));
}

TEST_CASE("40. a sorted array") {
  const Tensor z = sort(uniform(Key(40), {10}));
  CHECK(bool(all(diff(z) >= 0)));
}

TEST_CASE("42. are two arrays equal?") {
  const Tensor a = Tensor::of<float>({1, 2}), b = a + 1e-9F;
  CHECK(allclose(a, b));
  CHECK(bool(all(a == a)));
  CHECK_FALSE(bool(all(a == a + 1)));
}

TEST_CASE("43. an array that stays as it is") {
  const Tensor mine = zeros(3);
  Tensor theirs = +mine;  // a storage of its own
  theirs[0] = 1;
  CHECK(same(mine, zeros(3)));
}

TEST_CASE("44. from Cartesian coordinates to polar ones") {
  const Tensor z = Tensor::of<float>({{3, 4}, {-1, 0}});
  const Tensor x = z.select(1, 0), y = z.select(1, 1);
  CHECK(same(hypot(x, y), Tensor::of<int>({5, 1})));
  CHECK(allclose(atan2(y, x), Tensor::of<float>({0.92729522F, 3.14159265F})));
}

TEST_CASE("45. the largest element becomes 0") {
  Tensor z = Tensor::of<float>({3, 9, 4});
  z.assign_at(z.argmax(), 0);
  CHECK(same(z, Tensor::of<int>({3, 0, 4})));
}

TEST_CASE("46. the coordinates of a grid over the unit square") {
  const auto grid = meshgrid({linspace(0, 1, 3), linspace(0, 1, 2)}, Indexing::xy);
  CHECK(same(grid[0], Tensor::of<float>({{0, 0.5F, 1}, {0, 0.5F, 1}})));
  CHECK(same(grid[1], Tensor::of<float>({{0, 0, 0}, {1, 1, 1}})));
}

TEST_CASE("47. Cauchy's matrix and its determinant") {
  const Tensor x = arange(8).to(DType::float64), y = x + 0.5;
  const Tensor c = 1.0 / (x.unsqueeze(1) - y);
  CHECK(c.shape() == Shape{8, 8});
  CHECK(double(c.at({3, 1})) == doctest::Approx(1 / 1.5));
  CHECK(double(det(c)) == doctest::Approx(3638.163637117973));
}

TEST_CASE("48. the limits of dtypes") {
  for (const DType dtype : {DType::int8, DType::int32, DType::int64}) {
    CHECK(Int(scalar(iinfo(dtype).min, dtype) - 1) == static_cast<Int>(iinfo(dtype).max));  // wraps
  }
  for (const DType dtype : {DType::float32, DType::float64}) {
    CHECK(bool(isinf(scalar(finfo(dtype).max, dtype) * 2)));
    CHECK(bool(scalar(1, dtype) + finfo(dtype).eps > 1));
  }
}

TEST_CASE("49. all elements in print") {
  PrintOptions options;
  options.threshold = 1'000'000'000;
  CHECK(to_string(zeros({40, 40}), options).find("...") == std::string::npos);
}

TEST_CASE("50. the element next to a number") {
  const Tensor z = arange(100);
  CHECK(Int(z.take(abs(z - 61.7F).argmin())) == 62);
}

}  // namespace numpy_exercises_test
