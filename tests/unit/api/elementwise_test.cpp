#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "oriel/oriel.hpp"

namespace elementwise_test {

using namespace oriel;

namespace {
using Floats = std::vector<float>;
using Bools = std::vector<bool>;
const Tensor x = Tensor::of<float>({-2, 0, 3});
const Tensor i = Tensor::of<int>({-7, 7, 5});
}  // namespace

TEST_CASE("arithmetic with numbers on either side") {
  CHECK((x + 1).to_vector<float>() == Floats{-1, 1, 4});
  CHECK((1 - x).to_vector<float>() == Floats{3, 1, -2});
  CHECK((2.0 * x).to_vector<float>() == Floats{-4, 0, 6});
  CHECK((i / 2).to_vector<float>() == Floats{-3.5F, 3.5F, 2.5F});
  CHECK((i % 3).to_vector<int>() == std::vector<int>{2, 1, 2});
  CHECK(floor_divide(i, 2).to_vector<int>() == std::vector<int>{-4, 3, 2});
  CHECK(trunc_divide(i, 2).to_vector<int>() == std::vector<int>{-3, 3, 2});
  CHECK(fmod(i, 3).to_vector<int>() == std::vector<int>{-1, 1, 2});
  CHECK(pow(i, 2).to_vector<int>() == std::vector<int>{49, 49, 25});
  CHECK((-x).to_vector<float>() == Floats{2, 0, -3});
  CHECK((+x).to_vector<float>() == Floats{-2, 0, 3});
  CHECK(clamp(x, -1, 1).to_vector<float>() == Floats{-1, 0, 1});
  CHECK(minimum(x, 0).to_vector<float>() == Floats{-2, 0, 0});
  CHECK(square(i).to_vector<int>() == std::vector<int>{49, 49, 25});
  CHECK(reciprocal(Tensor::of<int>({4})).to_vector<float>() == Floats{0.25F});
}

TEST_CASE("integers by 0 give 0, in every division") {
  for (const DType dtype : {DType::int8, DType::int32, DType::int64, DType::uint8, DType::uint64}) {
    const Tensor some = Tensor::of<int>({7, -7, 0, 100}).to(dtype).realize();
    const Tensor zero = Tensor::of<int>({0, 0, 0, 0}).to(dtype).realize();
    for (const auto divide : {floor_divide, trunc_divide, remainder, fmod}) {
      CHECK(divide(some, zero).to(DType::int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 0, 0});
      CHECK(divide(some, 0).to(DType::int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 0, 0});
    }
  }
  // Dividing the smallest integer by -1 wraps and leaves the remainder 0.
  const Tensor least = Tensor::of<int>({-128}).to(DType::int8).realize();
  const Tensor minus = Tensor::of<int>({-1}).to(DType::int8).realize();
  CHECK(floor_divide(least, minus).to(DType::int32).to_vector<int>() == std::vector<int>{-128});
  CHECK(trunc_divide(least, minus).to(DType::int32).to_vector<int>() == std::vector<int>{-128});
  CHECK(remainder(least, minus).to(DType::int32).to_vector<int>() == std::vector<int>{0});
  CHECK(fmod(least, minus).to(DType::int32).to_vector<int>() == std::vector<int>{0});
}

TEST_CASE("floor_divide of floats goes with remainder") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor a = Tensor::of<double>({5.5, inf, 1, -1, 7, -7, 1}).realize();
  const Tensor b = Tensor::of<double>({0.1, 1, -inf, inf, 0, 0, 0.1}).realize();
  const auto q = floor_divide(a, b).to_vector<double>();
  CHECK(q[0] == 54);
  CHECK(std::isnan(q[1]));
  CHECK(q[2] == -1);
  CHECK(q[3] == -1);
  CHECK(q[4] == inf);
  CHECK(q[5] == -inf);
  CHECK(q[6] == 9);
  // Once folded, and once with a number as divisor.
  CHECK(floor_divide(scalar(5.5, DType::float64), scalar(0.1, DType::float64)).item<double>() == 54);
  CHECK(floor_divide(a, 0.1).to_vector<double>()[0] == 54);
  const auto back = (floor_divide(a, b) * b + remainder(a, b)).to_vector<double>();
  CHECK(back[0] == 5.5);
  CHECK(back[6] == 1);
}

TEST_CASE("comparison, logic, bits") {
  CHECK((x > 0).to_vector<bool>() == Bools{false, false, true});
  CHECK((x >= 0).to_vector<bool>() == Bools{false, true, true});
  CHECK((x == 0).to_vector<bool>() == Bools{false, true, false});
  CHECK((x != 0).to_vector<bool>() == Bools{true, false, true});
  CHECK((x && i).to_vector<bool>() == Bools{true, false, true});
  CHECK((x || false).to_vector<bool>() == Bools{true, false, true});
  CHECK((!x).to_vector<bool>() == Bools{false, true, false});
  CHECK(logical_xor(x, true).to_vector<bool>() == Bools{false, true, false});
  CHECK((i & 3).to_vector<int>() == std::vector<int>{1, 3, 1});
  CHECK((~i).to_vector<int>() == std::vector<int>{6, -8, -6});
  CHECK((i << 1).to_vector<int>() == std::vector<int>{-14, 14, 10});
  CHECK((i >> 1).to_vector<int>() == std::vector<int>{-4, 3, 2});
  CHECK(isnan(Tensor::of<float>({NAN, 1})).to_vector<bool>() == Bools{true, false});
  CHECK(isfinite(Tensor::of<float>({NAN, 1, INFINITY})).to_vector<bool>() == Bools{false, true, false});
  CHECK(where(x > 0, x, -1).to_vector<float>() == Floats{-1, -1, 3});
}

TEST_CASE("functions") {
  CHECK(relu(x).to_vector<float>() == Floats{0, 0, 3});
  CHECK(sign(x).to_vector<float>() == Floats{-1, 0, 1});
  CHECK(abs(i).to_vector<int>() == std::vector<int>{7, 7, 5});
  CHECK(round(Tensor::of<float>({0.5F, 1.5F, -2.5F})).to_vector<float>() == Floats{0, 2, -2});
  CHECK(floor(i).dtype() == DType::int32);
  CHECK(sqrt(Tensor::of<int>({16})).to_vector<float>() == Floats{4});
  CHECK(sigmoid(scalar(0.0)).item<float>() == 0.5F);
  CHECK(sigmoid(scalar(-1000.0)).item<float>() == 0);
  CHECK(gelu(scalar(1.0)).item<float>() == doctest::Approx(0.8413447));
  CHECK(silu(scalar(1.0)).item<float>() == doctest::Approx(0.7310586));
  CHECK(gelu(Tensor::of<int>({1}).to(DType::float16)).dtype() == DType::float16);
  CHECK(cast(x, DType::int8).dtype() == DType::int8);
  CHECK(bitcast(Tensor::of<float>({1}), DType::int32).to_vector<int>() == std::vector<int>{0x3f800000});
}

TEST_CASE("angles, at every edge and in every quadrant") {
  const std::vector<double> edges{0.0,     -0.0,  1,      -1,       0.3,       -2.7, 1e-310,
                                  -1e-310, 1e300, -1e300, INFINITY, -INFINITY, NAN};
  const auto m = static_cast<std::int64_t>(edges.size());
  const Tensor e = Tensor::from(edges, {m});
  const auto near = [](double got, double want, double unit) {
    if (std::isnan(want)) return std::isnan(got);
    return std::signbit(got) == std::signbit(want) && std::fabs(got - want) <= 2 * unit * std::fabs(want);
  };
  const auto wide = atan2(e.reshape({m, 1}), e).to_vector<double>();
  const Tensor f = e.to(DType::float32);
  const auto narrow = atan2(f.reshape({m, 1}), f).to_vector<float>();
  const auto rounded = f.to_vector<float>();
  for (std::size_t y = 0; y < edges.size(); ++y) {
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const std::size_t at = y * edges.size() + k;
      INFO(edges[y], " ", edges[k]);
      CHECK(near(wide[at], std::atan2(edges[y], edges[k]), 0x1p-52));
      const double want = std::atan2(static_cast<double>(rounded[y]), static_cast<double>(rounded[k]));
      CHECK(near(static_cast<double>(narrow[at]), static_cast<double>(static_cast<float>(want)), 0x1p-23));
    }
  }
  CHECK(atan2(Tensor::of<int>({0, 1}), -1).to_vector<float>() == Floats{3.14159265F, 2.35619449F});
  CHECK(atan2(scalar(1), 1).dtype() == DType::float32);
  CHECK(atan2(true, Tensor::of<float>({0})).to_vector<float>() == Floats{1.57079633F});
  const Tensor half = Tensor::of<float>({1, -1}).to(DType::bfloat16);
  CHECK(atan2(half, 1.0).dtype() == DType::bfloat16);
  CHECK(atan2(half, 1.0).to(DType::float32).to_vector<float>()[0] == 0.78515625F);
}

TEST_CASE("comparisons compare the values of integers, whatever their dtypes and axes") {
  const Tensor one = Tensor::of<std::uint8_t>({1});
  CHECK((scalar(256, DType::uint16) > one).to_vector<bool>() == Bools{true});
  CHECK((scalar(-1, DType::int32) >= Tensor::of<std::uint8_t>({0})).to_vector<bool>() == Bools{false});
  CHECK((one == scalar(257, DType::int16)).to_vector<bool>() == Bools{false});
  CHECK((one != scalar(257, DType::int16)).to_vector<bool>() == Bools{true});
  CHECK((one < scalar(-255, DType::int64)).to_vector<bool>() == Bools{false});
  CHECK((one <= scalar(257, DType::int64)).to_vector<bool>() == Bools{true});
  const Tensor large = Tensor::from(std::vector<std::uint64_t>{0, 5, (1ULL << 53) + 1, ~0ULL}, {4});
  const Tensor small = Tensor::from(std::vector<std::int64_t>{-1, 5, 1LL << 53, -1}, {4});
  CHECK((large < small).to_vector<bool>() == Bools{false, false, false, false});
  CHECK((large <= small).to_vector<bool>() == Bools{false, true, false, false});
  CHECK((large > small).to_vector<bool>() == Bools{true, false, true, true});
  CHECK((large >= small).to_vector<bool>() == Bools{true, true, true, true});
  CHECK((large == small).to_vector<bool>() == Bools{false, true, false, false});
  CHECK((large != small).to_vector<bool>() == Bools{true, false, true, true});
  CHECK((small < large).to_vector<bool>() == Bools{true, false, true, true});
  CHECK((small >= large).to_vector<bool>() == Bools{false, true, false, false});
  CHECK((scalar(-1, DType::int8) < large).to_vector<bool>() == Bools{true, true, true, true});
  // Arithmetic wraps a tensor without axes to the dtype of the other, as in PyTorch; a number that does not fit is an
  // error.
  CHECK((scalar(256, DType::uint16) + one).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1});
  CHECK_THROWS_AS(256 + one, ArgumentError);
  CHECK_THROWS_AS(static_cast<void>(one < 256), ArgumentError);
}

TEST_CASE("a remainder of zero has the sign of a") {
  const Tensor zero = remainder(Tensor::of<float>({-0.0F, 0.0F, -6.0F}), Tensor::of<float>({3, -3, 3}));
  std::vector<int> signs;
  for (const float rest : zero.to_vector<float>()) signs.push_back(std::signbit(rest) ? 1 : 0);
  CHECK(signs == std::vector<int>{1, 0, 1});
}

TEST_CASE("compound assignment") {
  Tensor y = +i;
  y += 1;
  y *= 2;
  y -= i;
  CHECK(y.to_vector<int>() == std::vector<int>{-5, 9, 7});
  Tensor f = y.to(DType::float32);
  f /= 2;
  CHECK(f.to_vector<float>() == Floats{-2.5F, 4.5F, 3.5F});
  Tensor b = +i;
  b %= 4;
  b |= 8;
  b &= 9;
  b ^= 1;
  b <<= 2;
  b >>= 1;
  CHECK(b.to_vector<int>() == std::vector<int>{16, 16, 16});
  Tensor narrow = i.to(DType::int8);
  narrow += i;  // the sum is int32; storing it wraps to int8
  CHECK(narrow.dtype() == DType::int8);
  CHECK(narrow.to_vector<std::int8_t>() == std::vector<std::int8_t>{-14, 14, 10});
}

TEST_CASE("broadcasting") {
  const Tensor column = Tensor::of<float>({{1}, {2}});
  CHECK((column + x).to_vector<float>() == Floats{-1, 1, 4, 0, 2, 5});
  CHECK((zeros({0, 1}) + zeros({3})).shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(x + zeros({2}),
                       "add: (3) and (2) do not broadcast: axis -1 is 3 and 2; extents must agree or be 1", ShapeError);
}

TEST_CASE("refused operands") {
  const Tensor b = x > 0;
  CHECK_THROWS_WITH_AS(b - b, "sub: takes integers and floats, not bool; use ^ or logical_not, or cast first",
                       DTypeError);
  CHECK_THROWS_WITH_AS(-b, "neg: takes integers and floats, not bool", DTypeError);
  CHECK_THROWS_WITH_AS(x & x, "bitwise_and: takes bool and integers, not float32", DTypeError);
  CHECK_THROWS_WITH_AS(x << 1, "left_shift: takes integers, not float32", DTypeError);
  CHECK_THROWS_WITH_AS(~x, "bitwise_not: takes bool and integers, not float32", DTypeError);
  CHECK_THROWS_WITH_AS(floor_divide(b, b), "floor_divide: takes integers and floats, not bool", DTypeError);
  const Tensor small = Tensor::of<std::uint8_t>({1});
  CHECK_THROWS_WITH_AS(small + 300, "add: 300 does not fit uint8; cast the tensor to a wider dtype first",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(small + -1, "add: -1 does not fit uint8; cast the tensor to a wider dtype first", ArgumentError);
  CHECK_THROWS_AS(Tensor::of<std::uint64_t>({1}) + -1, ArgumentError);
  CHECK_THROWS_AS(i + std::numeric_limits<std::uint64_t>::max(), ArgumentError);
  CHECK((Tensor::of<std::uint64_t>({1}) + std::numeric_limits<std::uint64_t>::max()).to_vector<std::uint64_t>()[0] ==
        0);
  CHECK_THROWS_WITH_AS(x.bitcast(DType::int8), "bitcast: float32 to int8; give a dtype of 4 bytes", DTypeError);
}

TEST_CASE("tril and triu keep a triangle of every matrix, NaN elsewhere notwithstanding") {
  for (const std::int64_t rows : {1, 3, 5}) {
    for (const std::int64_t columns : {1, 4}) {
      const Tensor x = iota({2, rows, columns}) + 1;
      for (std::int64_t diagonal = -6; diagonal <= 6; ++diagonal) {
        const std::vector<std::int64_t> lower = tril(x, diagonal).to_vector<std::int64_t>();
        const std::vector<std::int64_t> upper = triu(x, diagonal).to_vector<std::int64_t>();
        for (std::int64_t n = 0; n < 2 * rows * columns; ++n) {
          const std::int64_t above = n % columns - n / columns % rows;
          CHECK(lower[static_cast<std::size_t>(n)] == (above <= diagonal ? n + 1 : 0));
          CHECK(upper[static_cast<std::size_t>(n)] == (above >= diagonal ? n + 1 : 0));
        }
      }
    }
  }
  const Tensor nan = full({2, 2}, std::nanf(""));
  CHECK(tril(nan).to_vector<float>()[1] == 0.0F);
  CHECK(tril(ones({3, 3}, DType::bool_)).dtype() == DType::bool_);
  CHECK(tril(zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(triu(ones({2, 2}), INT64_MAX).to_vector<float>() == std::vector<float>(4, 0.0F));
  CHECK(triu(ones({2, 2}), INT64_MIN).to_vector<float>() == std::vector<float>(4, 1.0F));
  CHECK_THROWS_AS(tril(arange(3)), ShapeError);
  CHECK_THROWS_AS(triu(2.0F), ShapeError);
}

}  // namespace elementwise_test
