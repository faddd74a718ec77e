// The functions of statistics.hpp and losses.hpp beside the answers of PyTorch and NumPy, and how they run.
#include "oriel/explain.hpp"
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_statistics_test {
namespace {

using A = RecordedArguments;

Axes axes_of(const A& a) { return a.has("axes") ? Axes(a.whole("axes")) : Axes(); }

NormOptions norm_options(const A& a, std::size_t first) {
  NormOptions options{.eps = a.number("eps")};
  if (a.tensors.size() > first) options.weight = &a[first];
  if (a.tensors.size() > first + 1) options.bias = &a[first + 1];
  return options;
}

Reduction reduction_of(const A& a) {
  const std::string name = a.text("reduction");
  return name == "none"   ? Reduction::none
         : name == "sum"  ? Reduction::sum
         : name == "mean" ? Reduction::mean
                          : Reduction::batch_mean;
}

RecordedFunctions statistics_functions() {
  RecordedFunctions f;
  const auto reduce = [&](const char* name, Tensor (*g)(const Operand&, const Axes&, KeepDim)) {
    f[name] = [g](const A& a) { return Results{g(a[0], axes_of(a), a.flag("keepdim"))}; };
  };
  reduce("nansum", nansum);
  reduce("nanprod", nanprod);
  reduce("nanmean", nanmean);
  reduce("nanmax", nanmax);
  reduce("nanmin", nanmin);
  f["cov"] = [](const A& a) { return Results{cov(a[0], a.whole("correction"))}; };
  f["corrcoef"] = [](const A& a) { return Results{corrcoef(a[0])}; };
  f["batch_norm"] = [](const A& a) { return Results{batch_norm(a[0], a[1], a[2], norm_options(a, 3))}; };
  f["batch_norm_training"] = [](const A& a) {
    Tensor mean = (a[1] + 0).realize(), variance = (a[2] + 0).realize();
    const Tensor y = batch_norm_training(a[0], mean, variance, norm_options(a, 3), a.number("momentum"));
    return Results{y, mean, variance};
  };
  f["group_norm"] = [](const A& a) { return Results{group_norm(a[0], a.whole("groups"), norm_options(a, 1))}; };
  f["instance_norm"] = [](const A& a) { return Results{instance_norm(a[0], norm_options(a, 1))}; };
  f["rms_norm"] = [](const A& a) { return Results{rms_norm(a[0], -1, norm_options(a, 1))}; };
  f["attention"] = [](const A& a) {
    AttentionOptions options{.causal = a.flag("causal"), .scale = a.number("scale")};
    if (a.tensors.size() > 3) options.mask = &a[3];
    return Results{scaled_dot_product_attention(a[0], a[1], a[2], options)};
  };
  return f;
}

RecordedFunctions loss_functions() {
  RecordedFunctions f;
  const auto pair = [&](const char* name, Tensor (*g)(const Operand&, const Operand&, Reduction)) {
    f[name] = [g](const A& a) { return Results{g(a[0], a[1], reduction_of(a))}; };
  };
  pair("mse_loss", mse_loss);
  pair("l1_loss", l1_loss);
  pair("binary_cross_entropy", binary_cross_entropy);
  f["smooth_l1_loss"] = [](const A& a) {
    return Results{smooth_l1_loss(a[0], a[1], a.number("beta"), reduction_of(a))};
  };
  f["huber_loss"] = [](const A& a) { return Results{huber_loss(a[0], a[1], a.number("delta"), reduction_of(a))}; };
  f["binary_cross_entropy_with_logits"] = [](const A& a) {
    if (a.tensors.size() < 3) return Results{binary_cross_entropy_with_logits(a[0], a[1], reduction_of(a))};
    return Results{binary_cross_entropy_with_logits(a[0], a[1], a[2], reduction_of(a))};
  };
  f["kl_div"] = [](const A& a) { return Results{kl_div(a[0], a[1], a.flag("log_target"), reduction_of(a))}; };
  const auto classes = [](const A& a) {
    ClassOptions options{.reduction = reduction_of(a)};
    if (a.tensors.size() > 2) options.weight = &a[2];
    if (a.has("ignore")) options.ignore_index = a.whole("ignore");
    if (a.has("smoothing")) options.label_smoothing = a.number("smoothing");
    return options;
  };
  f["nll_loss"] = [=](const A& a) { return Results{nll_loss(a[0], a[1], classes(a))}; };
  f["cross_entropy"] = [=](const A& a) { return Results{cross_entropy(a[0], a[1], classes(a))}; };
  return f;
}

Tensor numbers(const Shape& shape) { return ((remainder(iota(shape) * 7, 23) - 11) / 8).realize(); }

std::size_t kernels(const Tensor& y) { return explain(y).kernels.size(); }

}  // namespace

TEST_CASE("statistics and normalisations give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("statistics", statistics_functions(), 4e-6, few ? 17 : 1);
}

TEST_CASE("losses give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("losses", loss_functions(), 4e-6, few ? 29 : 1);
}

TEST_CASE("losses and normalisations are few kernels") {
  if (default_device() != Device::eigen()) return;
  const Tensor x = numbers({64, 100}), image = numbers({4, 8, 16, 16});
  const Tensor labels = remainder(arange(64) * 7, 100).realize();
  CHECK(kernels(mse_loss(x, x * 2)) == 1);
  CHECK(kernels(cross_entropy(x, labels, {.reduction = Reduction::none})) == 1);
  CHECK(kernels(rms_norm(x)) == 1);
  const Tensor mean = numbers({8}), variance = (numbers({8}) + 3).realize();
  CHECK(kernels(relu(batch_norm(image, mean, variance))) <= 2);  // 1 / deviation of each channel, once
  const Tensor q = numbers({2, 4, 96, 32}), k = numbers({2, 4, 96, 32});
  CHECK(kernels(scaled_dot_product_attention(q, k, k)) == 1);
  CHECK(kernels(scaled_dot_product_attention(q, k, k, {.causal = true})) == 1);
  const Tensor shared = numbers({2, 2, 96, 32});
  CHECK(kernels(scaled_dot_product_attention(q, shared, shared)) == 1);
}

TEST_CASE("statistics and losses in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor labels, Tensor w) {
        return std::tuple(cross_entropy(x, labels, {.weight = &w, .label_smoothing = 0.1}), rms_norm(x), cov(x),
                          nanmean(x, 0), scaled_dot_product_attention(x, x, x, {.causal = true}), mse_loss(x, x * 2));
      },
      {.dynamic = Dynamic::yes});
  const Tensor w = (numbers({6}) + 3).realize();
  for (const std::int64_t n : {5, 8, 17}) {
    const Tensor x = numbers({n, 6}), labels = remainder(arange(n), 6).realize();
    const auto [loss, normal, covariance, mean_x, attention, distance] = f(x, labels, w);
    CHECK(allclose(loss, cross_entropy(x, labels, {.weight = &w, .label_smoothing = 0.1})));
    CHECK(allclose(normal, rms_norm(x)));
    CHECK(allclose(covariance, cov(x), 1e-4, 1e-5));
    CHECK(allclose(mean_x, mean(x, 0), 1e-5, 1e-6));
    CHECK(allclose(attention, scaled_dot_product_attention(x, x, x, {.causal = true}), 1e-4, 1e-5));
    CHECK(allclose(distance, mean(x * x)));
  }
  CHECK(f.entries().size() == 1);
}

TEST_CASE("halves are rounded once") {
  const Tensor q = numbers({1, 2, 5, 8}).to(DType::float16).realize();
  const auto rounded = [](const Tensor& x) { return x.to(DType::float16).to(DType::float32).to_vector<float>(); };
  const auto wide = [&](const Tensor& x) { return x.to(DType::float32).realize(); };
  CHECK(rounded(scaled_dot_product_attention(q, q, q)) ==
        rounded(scaled_dot_product_attention(wide(q), wide(q), wide(q))));
  CHECK(rounded(group_norm(q, 1)) == rounded(group_norm(wide(q), 1)));
  CHECK(rounded(mse_loss(q, q * 0.5)) == rounded(mse_loss(wide(q), wide(q * 0.5))));
  CHECK(scaled_dot_product_attention(q, q, q).dtype() == DType::float16);
}

TEST_CASE("errors of statistics and losses name the function and what would do") {
  const Tensor x = numbers({4, 6}), w = numbers({3});
  const Tensor labels = arange(4);
  CHECK_THROWS_WITH_AS(nansum(x, 2), doctest::Contains("nansum: "), ShapeError);
  CHECK_THROWS_WITH_AS(cov(numbers({2, 2, 2})), doctest::Contains("cov: (2, 2, 2) has 3 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(batch_norm(x, w, w), doctest::Contains("batch_norm: means (3) for 6 channels"), ShapeError);
  CHECK_THROWS_WITH_AS(group_norm(x, 4), doctest::Contains("group_norm: 4 groups of 6 channels"), ArgumentError);
  CHECK_THROWS_WITH_AS(rms_norm(x, -1, {.eps = -1}), doctest::Contains("rms_norm: eps is -1"), ArgumentError);
  CHECK_THROWS_WITH_AS(instance_norm(x), doctest::Contains("instance_norm: (4, 6) has fewer than 3 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, labels, {.weight = &w}),
                       doctest::Contains("cross_entropy: weights (3) for 6 classes"), ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, arange(3)),
                       doctest::Contains("cross_entropy: targets (3) for (4, 6); give (4)"), ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, labels, {.label_smoothing = 2}), doctest::Contains("label_smoothing is 2"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(nll_loss(x, x), doctest::Contains("nll_loss: targets are integers, not float32"), DTypeError);
  CHECK_THROWS_WITH_AS(huber_loss(x, x, 0), doctest::Contains("huber_loss: delta is 0"), ArgumentError);
  CHECK_THROWS_WITH_AS(scaled_dot_product_attention(x, x, labels.to(DType::float32)),
                       doctest::Contains("q (4, 6), k (4, 6), v (4)"), ShapeError);
}

}  // namespace oriel::testing::recorded_statistics_test
