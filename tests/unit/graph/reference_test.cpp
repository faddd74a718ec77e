// The oracle itself, compared with numbers worked out by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace reference_test {

using namespace oriel;

namespace {

std::vector<double> values(const Tensor& x) {
  std::vector<double> out;
  for (const reference::Number& n : reference::interpret(x)) {
    out.push_back(is_floating(x.dtype()) ? n.f : static_cast<double>(n.i));
  }
  return out;
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("movements") {
  const Tensor x = Tensor::of<int>({{1, 2, 3}, {4, 5, 6}});
  CHECK(values(permute(x, {1, 0})) == Values{1, 4, 2, 5, 3, 6});
  CHECK(values(reshape(x, {3, 2})) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values(flip(x, 1)) == Values{3, 2, 1, 6, 5, 4});
  CHECK(values(shrink(x, {{1, 2}, {0, 2}})) == Values{4, 5});
  CHECK(values(pad(x, {{0, 1}, {1, 0}})) == Values{0, 1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0});
  CHECK(values(broadcast_to(x.select(0, 1), {2, 3})) == Values{4, 5, 6, 4, 5, 6});
  CHECK(values(unfold(x, 1, 2, 1)) == Values{1, 2, 2, 3, 4, 5, 5, 6});
}

TEST_CASE("elementwise and reductions") {
  const Tensor x = Tensor::of<float>({{1, -2, 3}, {4, 5, -6}});
  CHECK(values(sum(x, 0)) == Values{5, 3, -3});
  CHECK(values(max(x, 1)) == Values{3, 5});
  CHECK(values(prod(x)) == Values{720});
  CHECK(values(where(x > 0, x, 0)) == Values{1, 0, 3, 4, 5, 0});
  CHECK(values(x.to(DType::uint8)) == Values{1, 0, 3, 4, 5, 0});
  CHECK(values(Tensor::of<float>({1.5F, 2.5F, -0.5F}) + 0.0) == Values{1.5, 2.5, -0.5});
  CHECK(values(round(Tensor::of<float>({1.5F, 2.5F, -3.5F}))) == Values{2, 2, -4});
  CHECK(values(Tensor::of<float>({65519, 65520}).to(DType::float16)) == Values{65504, INFINITY});
  CHECK(values(max(full({0}, 1.0))) == Values{-INFINITY});
  CHECK(values(min(full({0}, 1, DType::uint8))) == Values{255});
}

TEST_CASE("errors travel, and what rounding decides is let go") {
  const Tensor x = exp(Tensor::of<float>({1, 2}));
  const auto n = reference::interpret(x);
  CHECK(n[0].error > 0);
  CHECK(n[0].f == doctest::Approx(2.718281828));
  CHECK(reference::interpret(x == exp(Tensor::of<float>({1, 2})))[0].loose);
  CHECK_FALSE(reference::interpret(x > 1)[0].loose);
  CHECK(reference::interpret(floor(x))[0].error < 1e-5);
  CHECK(reference::interpret(sum(arange(5).to(DType::float32)))[0].error == 0);
  CHECK(reference::interpret(sum(Tensor::of<float>({0.1F, 0.2F})))[0].error > 0);
}

TEST_CASE("a divisor that may be zero decides nothing") {
  const Tensor s = sum(Tensor::of<float>({1e8F, 1, -1e8F}));  // 1 or 0, depending on how the sums are rounded
  CHECK(std::fabs(reference::interpret(s)[0].f) <= reference::interpret(s)[0].error);
  for (const Tensor& q : {s / s, fmod(s, s), remainder(scalar(2.5F), s), floor_divide(s, s), trunc_divide(s, s)})
    CHECK(reference::interpret(q)[0].loose);
  CHECK_FALSE(reference::interpret(s / 2)[0].loose);
}

TEST_CASE("a negative base to an exponent that may be an integer has a power or none, and nothing else") {
  const auto power = [](reference::Number x, reference::Number y) {
    const reference::Number operands[] = {x, y};
    return reference::apply(graph::Op::Pow, DType::float32, DType::float32, operands);
  };
  const auto accepts = [](const reference::Number& want, double got) {
    return reference::accepts(DType::float32, want, reference::Number::floating(got));
  };
  const reference::Number rounded{.f = -3 + 1e-7, .error = 1e-6};
  const reference::Number one = power(rounded, rounded);
  CHECK(accepts(one, NAN));
  CHECK(accepts(one, -1.0 / 27));
  CHECK_FALSE(accepts(one, 1.0 / 27));
  CHECK_FALSE(accepts(one, -0.0371));
  CHECK_FALSE(accepts(one, INFINITY));
  const reference::Number either = power({.f = -2}, {.f = 2.5, .error = 0.5});
  CHECK(accepts(either, 4));
  CHECK(accepts(either, -8));
  CHECK(accepts(either, NAN));
  CHECK_FALSE(accepts(either, -8.1));
  const reference::Number none = power({.f = -2}, {.f = 2.5, .error = 0.1});
  CHECK(accepts(none, NAN));
  CHECK_FALSE(accepts(none, 4));
  CHECK(accepts(power({.f = -2}, {.f = 3}), -8));
  CHECK_FALSE(accepts(power({.f = -2}, {.f = 3}), NAN));
  const reference::Number operands[] = {one, {.f = 1}};
  CHECK(reference::apply(graph::Op::Add, DType::float32, DType::float32, operands).loose);
}

TEST_CASE("whether a number near zero is zero decides nothing") {
  const Tensor s = sum(Tensor::of<float>({1e8F, 1, -1e8F}));  // 1 or 0, as the sums are rounded
  CHECK(std::fabs(reference::interpret(s)[0].f) <= reference::interpret(s)[0].error);
  const Tensor far = s + 1000;
  const Tensor pole = s * 1e-5 + 1.5707;  // pi / 2 lies within its error
  CHECK(reference::interpret(pole)[0].error < 0.01);
  for (const Tensor& q : {s != 0, s == 0, s == s * 2, s.to(DType::bool_), s && s, norm(s, 0), pow(s, -1), tan(pole)})
    CHECK(reference::interpret(q)[0].loose);
  for (const Tensor& q : {far != 0, far == 0, far == s, far.to(DType::bool_), far && far, norm(far, 0), pow(far, -1)})
    CHECK_FALSE(reference::interpret(q)[0].loose);
}

TEST_CASE("an element at a position that rounding decides is let go") {
  const Tensor s = sum(Tensor::of<float>({{1e8F, 1, -1e8F}, {3, 4, 5}}), 1);
  CHECK(reference::interpret(take(Tensor::of<int>({7, 8}), (s > 0).to(DType::int64)))[0].loose);
  CHECK(values(take(Tensor::of<int>({7, 8}), (s > 0).to(DType::int64)))[1] == 8);
}

TEST_CASE("differences are named") {
  const Tensor x = Tensor::of<int>({{1, 2}, {3, 4}});
  auto want = reference::interpret(x);
  CHECK(reference::difference(x, want, reference::elements(x)).empty());
  want[2].i = 7;
  CHECK(reference::difference(x, want, reference::elements(x)) == "element (1, 0) is 3, expected 7");
}

}  // namespace reference_test
