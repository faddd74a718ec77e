// Derivatives of losses, normalisations and layers beside PyTorch's (tests/data/torch_gradients.py).
#include <numbers>

#include "recorded_gradients.hpp"

namespace oriel::testing::recorded_losses_test {
namespace {

Reduction reduction_of(const Sample& s) {
  const std::string text = s.text("reduction", "mean");
  return text == "none"        ? Reduction::none
         : text == "sum"       ? Reduction::sum
         : text == "batchmean" ? Reduction::batch_mean
                               : Reduction::mean;
}
Tensor reduced(const Sample& s, const Tensor& x) {
  const Reduction by = reduction_of(s);
  return by == Reduction::none ? x : by == Reduction::sum ? sum(x) : mean(x);
}
Axes last_axes(const Sample& s) {
  Ints axes;
  for (std::size_t k = 0; k < s.ints("normalized_shape").size(); ++k) axes.push_back(-1 - static_cast<std::int64_t>(k));
  return axes;
}
/// weight and bias of normalisations, where they are.
NormOptions norm_options(const Sample& s) {
  NormOptions out{.eps = s.number("eps", 1e-5)};
  if (s.has("weight")) out.weight = &s.tensor("weight");
  if (s.has("bias")) out.bias = &s.tensor("bias");
  return out;
}
ClassOptions class_options(const Sample& s) {
  ClassOptions out{.ignore_index = s.whole("ignore_index", -100),
                   .label_smoothing = s.number("label_smoothing"),
                   .reduction = reduction_of(s)};
  if (s.has("weight")) out.weight = &s.tensor("weight");
  return out;
}
Tensor cosine(const Tensor& a, const Tensor& b) {
  constexpr double kLeast = 1.1920929e-07;  // added to the squares
  return sum(a * b, -1) / sqrt((sum(a * a, -1) + kLeast) * (sum(b * b, -1) + kLeast));
}
Tensor weighted(const Sample& s, const Tensor& x) { return s.has("weight") ? x * s.tensor("weight") : x; }

Programs programs() {
  Programs f;
  f["nn.functional.binary_cross_entropy"] = [](const Sample& s) {
    return binary_cross_entropy(s.x(), s.y(), reduction_of(s));
  };
  f["nn.functional.binary_cross_entropy_with_logits"] = [](const Sample& s) {
    if (!s.has("weight") && !s.has("pos_weight"))
      return binary_cross_entropy_with_logits(s.x(), s.y(), reduction_of(s));
    const Tensor each = s.has("pos_weight")
                            ? binary_cross_entropy_with_logits(s.x(), s.y(), s.tensor("pos_weight"), Reduction::none)
                            : binary_cross_entropy_with_logits(s.x(), s.y(), Reduction::none);
    return reduced(s, weighted(s, each));
  };
  f["nn.functional.cross_entropy"] = [](const Sample& s) { return cross_entropy(s.x(), s.y(), class_options(s)); };
  f["nn.functional.nll_loss"] = [](const Sample& s) { return nll_loss(s.x(), s.y(), class_options(s)); };
  f["nn.functional.kl_div"] = [](const Sample& s) {
    return kl_div(s.x(), s.y(), s.flag("log_target"), reduction_of(s));
  };
  f["nn.functional.l1_loss"] = [](const Sample& s) { return l1_loss(s.x(), s.y(), reduction_of(s)); };
  f["nn.functional.mse_loss"] = [](const Sample& s) { return mse_loss(s.x(), s.y(), reduction_of(s)); };
  f["nn.functional.huber_loss"] = [](const Sample& s) {
    return huber_loss(s.x(), s.y(), s.number("delta", 1), reduction_of(s));
  };
  f["nn.functional.smooth_l1_loss"] = [](const Sample& s) {
    return smooth_l1_loss(s.x(), s.y(), s.number("beta", 1), reduction_of(s));
  };
  f["nn.functional.gaussian_nll_loss"] = [](const Sample& s) {
    // The variance is bounded below without a share in the derivative.
    const Tensor v = s.tensor("a1"), bounded = v + stop_gradient(maximum(v, s.number("eps", 1e-6)) - v);
    const Tensor each = (log(bounded) + square(s.x() - s.y()) / bounded) * 0.5;
    return reduced(s, s.flag("full") ? each + 0.5 * std::log(2 * std::numbers::pi) : each);
  };
  f["nn.functional.hinge_embedding_loss"] = [](const Sample& s) {
    const Tensor beyond = relu(s.number("margin", 1) - s.x());
    return reduced(s, where(s.y() == 1, 0, beyond) + where(s.y() == -1, 0, s.x()));
  };
  f["nn.functional.margin_ranking_loss"] = [](const Sample& s) {
    return reduced(s, relu(-s.tensor("a1") * (s.x() - s.y()) + s.number("margin")));
  };
  f["nn.functional.multilabel_soft_margin_loss"] = [](const Sample& s) {
    const Tensor each = -(s.y() * logsigmoid(s.x()) + (1 - s.y()) * logsigmoid(-s.x()));
    return reduced(s, mean(weighted(s, each), -1));
  };
  f["nn.functional.poisson_nll_loss"] = [](const Sample& s) {
    const Tensor& x = s.x();
    Tensor each = s.flag("log_input", true) ? exp(x) - s.y() * x : x - s.y() * log(x + s.number("eps", 1e-8));
    if (s.flag("full")) {
      const Tensor y = s.y(), most = y * log(y) - y + 0.5 * log(y * (2 * std::numbers::pi));
      each = each + where(y > 1, most, 0);
    }
    return reduced(s, each);
  };
  f["nn.functional.soft_margin_loss"] = [](const Sample& s) { return reduced(s, log1p(exp(-s.y() * s.x()))); };
  f["nn.functional.triplet_margin_loss"] = [](const Sample& s) {
    const double p = s.number("p", 2), eps = s.number("eps", 1e-6);
    const auto distance = [&](const Tensor& a, const Tensor& b) { return norm(a - b + eps, p, -1); };
    const Tensor near = distance(s.x(), s.y()), far = distance(s.x(), s.tensor("a1"));
    const Tensor other = s.flag("swap") ? minimum(far, distance(s.y(), s.tensor("a1"))) : far;
    return reduced(s, relu(near - other + s.number("margin", 1)));
  };
  f["nn.functional.cosine_embedding_loss"] = [](const Sample& s) {
    const Tensor same = cosine(s.x(), s.y()), &label = s.tensor("a1");
    const Tensor apart = relu(same - s.number("margin"));
    return reduced(s, where(label == 1, 1 - same, 0) + where(label == -1, apart, 0));
  };
  f["nn.functional.layer_norm"] = [](const Sample& s) {
    const Tensor x = layer_norm(s.x(), last_axes(s), s.number("eps", 1e-5));
    return (s.has("weight") ? x * s.tensor("weight") : x) + (s.has("bias") ? s.tensor("bias") : scalar(0));
  };
  f["nn.functional.group_norm"] = [](const Sample& s) {
    return group_norm(s.x(), s.whole("num_groups"), norm_options(s));
  };
  f["nn.functional.instance_norm"] = [](const Sample& s) { return instance_norm(s.x(), norm_options(s)); };
  f["nn.functional.batch_norm"] = [](const Sample& s) {
    const SymInt channels = s.x().size(1);
    Tensor running = zeros({channels}, DType::float64), variance = ones({channels}, DType::float64);
    return batch_norm_training(s.x(), running, variance, norm_options(s));
  };
  f["nn.functional.rms_norm"] = [](const Sample& s) {
    const Tensor x = rms_norm(s.x(), last_axes(s), {.eps = s.number("eps", 1e-5)});
    return s.has("a1") ? x * s.tensor("a1") : x;
  };
  f["nn.functional.linear"] = [](const Sample& s) {
    if (s.y().rank() == 1) return sum(s.x() * s.y(), -1);
    return s.has("a1") ? linear(s.x(), s.y(), s.tensor("a1")) : linear(s.x(), s.y());
  };
  f["nn.functional.bilinear"] = [](const Sample& s) {
    const Tensor out = einsum("...i,oij,...j->...o", {s.x(), s.tensor("a1"), s.y()});
    return s.has("a2") ? out + s.tensor("a2") : out;
  };
  f["nn.functional.embedding"] = [](const Sample& s) {
    // The line of the padding takes no gradient.
    const std::int64_t padding = s.whole("padding_idx", -100), lines = s.x().size(0).value();
    const Tensor line = iota({lines}).reshape({lines, 1});
    const Tensor free = where(line == (padding < 0 ? padding + lines : padding), stop_gradient(s.x()), s.x());
    return embedding(s.y(), free);
  };
  f["nn.functional.local_response_norm"] = [](const Sample& s) {
    const std::int64_t n = s.whole("size");
    const Tensor x = s.x(), around = pad(square(x), {{0, 0}, {n / 2, (n - 1) / 2}, {0, 0}});
    const Tensor mean_square = mean(unfold(around, 1, n, 1), -1);
    return x / pow(mean_square * s.number("alpha", 1e-4) + s.number("k", 1), s.number("beta", 0.75));
  };
  f["nn.functional.scaled_dot_product_attention"] = [](const Sample& s) {
    AttentionOptions options{.causal = s.flag("is_causal"), .scale = s.number("scale")};
    if (s.has("attn_mask")) options.mask = &s.tensor("attn_mask");
    return scaled_dot_product_attention(s.x(), s.y(), s.tensor("a1"), options);
  };
  return f;
}

}  // namespace

TEST_CASE("derivatives of losses and normalisations are PyTorch's") { run_recorded_gradients("losses", programs()); }

}  // namespace oriel::testing::recorded_losses_test
