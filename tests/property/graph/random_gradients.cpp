// Random functions beside central differences, to the second order. RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/property_main.hpp"
#include "support/sized.hpp"

namespace oriel::testing {
namespace {

using Dice = std::array<std::uint32_t, 3>;

/// One operation on a matrix, which keeps numbers near 1 and mostly their shape.
Tensor step(const Tensor& x, const Tensor& other, const Dice& dice, std::string& text) {
  const std::int64_t axis = dice[1] / 7 % 2;
  const auto named = [&](const char* name, Tensor out) {
    text += std::string(" ") + name;
    return out;
  };
  switch (dice[0] / 3 % 33) {
    case 0:
      return named("exp", exp(x * 0.3));
    case 1:
      return named("log", log(square(x) + 0.5));
    case 2:
      return named("tanh", tanh(x));
    case 3:
      return named("sin", sin(x));
    case 4:
      return named("rsqrt", rsqrt(square(x) + 0.7));
    case 5:
      return named("sigmoid", sigmoid(x));
    case 6:
      return named("mul", x * other);
    case 7:
      return named("div", x / (square(other) + 0.6));
    case 8:
      return named("pow", pow(square(x) + 0.5, 0.5 * tanh(other)));
    case 9:
      return named("atan2", atan2(x, square(other) + 0.5));
    case 10:
      return named("sum", x + sum(x, axis, true) * 0.2);
    case 11:
      return named("softmax", softmax(x, axis) + x * 0.1);
    case 12:
      return named("logsumexp", x - logsumexp(x, axis, true));
    case 13:
      return named("prod", x + prod(tanh(x), axis, true));
    case 14:
      return named("max", x * 0.5 + max(x, axis, true));
    case 15:
      return named("maximum", maximum(x, other * 0.9));
    case 16:
      return named("where", where(x > other, x * 2, other - x));
    case 17:
      return named("cumsum", cumsum(x, axis) * 0.3);
    case 18:
      return named("cumprod", cumprod(tanh(x) + 0.3, axis));
    case 19:
      return named("recurrence", linear_recurrence(tanh(x), other, axis));
    case 20:
      return named("sort", sort(x, axis, dice[2] % 2 == 0) * other);
    case 21:
      return named("take", take(x, Tensor::of<int>({1, 0, 1}), axis).slice({{0, 2}, {0, 2}}).sum() + x);
    case 22:
      return named("put_add", put_add(x, Tensor::of<int>({1, 1}), take(other, Tensor::of<int>({0, 1}), axis), axis));
    case 23:
      return named("matmul", matmul(x, matmul(other.transpose(0, 1), x)) * 0.2);
    case 24:
      return named("windows", [&] {
        const Tensor around = pad(x, axis == 0 ? Ranges{{1, 1}, {0, 0}} : Ranges{{0, 0}, {1, 1}});
        const Tensor weights = Tensor::of<double>({0.5, -1, 0.3});
        return x + sum(unfold(around, axis, 3, 1) * weights, -1) * 0.4;
      }());
    case 25:
      return named("movement", flip(roll(x, 1, axis), Axes(axis)) * other);
    case 26:
      return named("write", [&] {
        Tensor y = x * 1;
        y.slice({{0, 1}}) = other.slice({{1, 2}});
        return y * x;
      }());
    case 27:
      return named("layer_norm", layer_norm(x, Axes(axis), 0.1));
    case 28:
      return named("norm", x / (norm(x, 2, axis, true) + 0.5));
    case 29:
      return named("cumsum back", cumsum(x, axis, {.reverse = true, .exclusive = true}) * other);
    case 30:
      return named("largest", x * 0.5 + max_with_indices(x, axis, true).values * other);
    case 31:
      return named("scan",
                   associative_scan([](const Tensor& a, const Tensor& b) { return a * b; }, tanh(x) + 0.3, axis));
    default:
      return named("cummax", cummax(x, axis).values * other);
  }
}

void agrees(const std::vector<Dice>& steps, std::uint64_t seed) {
  std::string text;
  const auto f = [&](const Tensor& x, const Tensor& w) {
    text.clear();
    Tensor y = x, other = w;
    for (const Dice& dice : steps) {
      Tensor next = step(y, other, dice, text);
      if (dice[2] / 5 % 3 == 0) other = y;
      y = next;
    }
    return y;
  };
  const auto numbers = [&](std::uint64_t k) {
    return uniform(Key(seed * 2 + k), {3, 4}, -1.3, 1.3, DType::float64).realize();
  };
  const Tensor x = numbers(0), w = numbers(1);
  // Beside a kink a difference says nothing; a smaller step is not beside it.
  const auto ok = [&](const auto& g, const Tensor& a, const Tensor& b) {
    const GradientCheck far = check_gradient_with({.step = 1e-5, .tolerance = 1e-5}, g, a, b);
    if (far.ok || std::isnan(far.derivative + far.difference)) return std::string();
    const GradientCheck near = check_gradient_with({.step = 1e-7, .tolerance = 1e-3}, g, a, b);
    return near.ok ? std::string() : far.str();
  };
  const std::string first = ok(f, x, w);
  if (!first.empty()) RC_FAIL("the derivative of" + text + ": " + first);
  // By an argument that the loss does not reach.
  const Tensor beside = grad<2>([&](Tensor a, Tensor b, Tensor) { return mean(f(a, b)); })(x, w, numbers(2).sum(0));
  RC_ASSERT(beside.to_vector<double>() == std::vector<double>(4, 0));
  const auto gradient = grad<0, 1>([&](Tensor a, Tensor b) { return mean(f(a, b)); });
  const std::string second = ok(gradient, x, w);
  if (!second.empty()) RC_FAIL("the second derivative of" + text + ": " + second);
}

}  // namespace
}  // namespace oriel::testing

int main() {
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  using namespace oriel::testing;
  return rc::check("derivatives agree with differences",
                   [] {
                     auto steps = *rc::gen::resize(8, rc::gen::container<std::vector<Dice>>(rc::gen::container<Dice>(
                                                          oriel::test::any_of<std::uint32_t>(0, 1000))));
                     agrees(steps, *rc::gen::inRange<std::uint64_t>(0, 1000));
                   })
             ? 0
             : 1;
}
