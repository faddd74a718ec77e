// The elementwise functions of arithmetic.hpp and activations.hpp beside PyTorch's answers.
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_elementwise_test {
namespace {

using A = RecordedArguments;

RecordedFunctions elementwise_functions() {
  RecordedFunctions f;
  const auto unary = [&](const char* name, Tensor (*g)(const Operand&)) {
    f[name] = [g](const A& a) { return Results{g(a[0])}; };
  };
  const auto binary = [&](const char* name, Tensor (*g)(const Operand&, const Operand&)) {
    f[name] = [g](const A& a) { return Results{g(a[0], a[1])}; };
  };
  unary("frac", frac);
  unary("sinc", sinc);
  unary("deg2rad", deg2rad);
  unary("rad2deg", rad2deg);
  unary("signbit", signbit);
  unary("isposinf", isposinf);
  unary("isneginf", isneginf);
  unary("relu6", relu6);
  unary("hardsigmoid", hardsigmoid);
  unary("hardswish", hardswish);
  unary("selu", selu);
  unary("mish", mish);
  unary("logsigmoid", logsigmoid);
  unary("softsign", softsign);
  unary("tanhshrink", tanhshrink);
  unary("gelu_tanh", gelu_tanh);
  binary("logaddexp", logaddexp);
  binary("logaddexp2", logaddexp2);
  binary("xlogy", xlogy);
  binary("heaviside", heaviside);
  binary("fmax", fmax);
  binary("fmin", fmin);
  f["nan_to_num"] = [](const A& a) {
    if (!a.has("nan")) return Results{nan_to_num(a[0])};
    return Results{nan_to_num(a[0], a.number("nan"), a.number("up"), a.number("down"))};
  };
  f["logit"] = [](const A& a) { return Results{a.has("eps") ? logit(a[0], a.number("eps")) : logit(a[0])}; };
  f["round"] = [](const A& a) { return Results{round(a[0], static_cast<int>(a.whole("decimals")))}; };
  f["lerp"] = [](const A& a) { return Results{lerp(a[0], a[1], a[2])}; };
  const auto scale = [](const A& a) { return a.named["value"].is_number_integer(); };
  f["addcmul"] = [=](const A& a) {
    return Results{scale(a) ? addcmul(a[0], a[1], a[2], a.whole("value"))
                            : addcmul(a[0], a[1], a[2], a.number("value"))};
  };
  f["addcdiv"] = [](const A& a) { return Results{addcdiv(a[0], a[1], a[2], a.number("value"))}; };
  f["hardtanh"] = [](const A& a) {
    return Results{a.has("low") ? hardtanh(a[0], a.number("low"), a.number("high")) : hardtanh(a[0])};
  };
  f["leaky_relu"] = [](const A& a) { return Results{leaky_relu(a[0], a.number("slope"))}; };
  f["elu"] = [](const A& a) { return Results{elu(a[0], a.number("alpha"))}; };
  f["celu"] = [](const A& a) { return Results{celu(a[0], a.number("alpha"))}; };
  f["softplus"] = [](const A& a) { return Results{softplus(a[0], a.number("beta"), a.number("threshold"))}; };
  f["softshrink"] = [](const A& a) { return Results{softshrink(a[0], a.number("k"))}; };
  f["hardshrink"] = [](const A& a) { return Results{hardshrink(a[0], a.number("k"))}; };
  f["threshold"] = [](const A& a) { return Results{threshold(a[0], a.number("threshold"), a.number("value"))}; };
  f["glu"] = [](const A& a) { return Results{glu(a[0], a.whole("axis"))}; };
  f["diff"] = [](const A& a) { return Results{diff(a[0], a.whole("n"), a.whole("axis"))}; };
  f["trapezoid"] = [](const A& a) { return Results{trapezoid(a[0], a.number("dx"), a.whole("axis"))}; };
  f["trapezoid_at"] = [](const A& a) { return Results{trapezoid(a[0], a[1], a.whole("axis"))}; };
  return f;
}

}  // namespace

TEST_CASE("elementwise functions give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("elementwise", elementwise_functions(), 2e-6, few ? 23 : 1);
}

TEST_CASE("elementwise functions in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor y) {
        return softplus(lerp(x, y, 0.25)) + diff(pad(logaddexp(x, y), {{1, 0}}), 1) + mish(x);
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {5, 9, 33}) {
    const Tensor x = (arange(n) / 4).realize(), y = (arange(n) * -0.5).realize();
    const Tensor want = softplus(lerp(x, y, 0.25)) + diff(pad(logaddexp(x, y), {{1, 0}}), 1) + mish(x);
    CHECK(allclose(f(x, y), want));
  }
  CHECK(f.entries().size() == 1);
}

TEST_CASE("a composition is one kernel, and halves are rounded once") {
  const Tensor x = (arange(100) / 16).realize();
  CHECK(explain(hardswish(selu(x)) + softsign(x)).kernels.size() == 1);
  const Tensor half = x.to(DType::float16).realize();
  CHECK(allclose(mish(half).to(DType::float32), mish(half.to(DType::float32)).to(DType::float16).to(DType::float32), 0,
                 0));
  CHECK(mish(half).dtype() == DType::float16);
  CHECK(std::isnan(heaviside(Tensor::of<float>({NAN}), 2.0).item<float>()));
  CHECK(std::isnan(softshrink(Tensor::of<float>({NAN})).item<float>()));
}

TEST_CASE("errors of elementwise functions name the function") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  CHECK_THROWS_WITH_AS(glu(x), doctest::Contains("glu: axis 0 of (3) has the odd extent 3"), ShapeError);
  CHECK_THROWS_WITH_AS(lerp(x, Tensor::of<float>({1, 2}), 0.5), doctest::Contains("lerp: "), ShapeError);
  CHECK_THROWS_WITH_AS(diff(x, -1), doctest::Contains("diff: n is -1"), ArgumentError);
  CHECK_THROWS_WITH_AS(celu(x, 0), doctest::Contains("celu: alpha is 0"), ArgumentError);
  CHECK_THROWS_WITH_AS(round(Tensor::of<int>({15}), -1), doctest::Contains("round: int32 to -1 decimals"), DTypeError);
  CHECK_THROWS_WITH_AS(trapezoid(x, Tensor::of<float>({1, 2})), doctest::Contains("trapezoid: points of shape (2)"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(addcmul(x > 1, x > 1, x > 1, true), doctest::Contains("addcmul: takes integers and floats"),
                       DTypeError);
}

}  // namespace oriel::testing::recorded_elementwise_test
