#include "oriel/losses.hpp"

#include <fmt/format.h>

#include "base/parts.hpp"
#include "formula/position_check.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;

namespace {

Value total(const Value& losses) {
  Ints all;
  for (std::size_t d = 0; d < losses.shape().size(); ++d) all.push_back(d);
  return all.empty() ? losses : losses.reduce(Op::Sum, all).drop(all);
}

Value reduced(const Value& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  Value sum = total(losses);
  if (reduction == Reduction::sum) return sum;
  if (reduction == Reduction::mean) return sum.binary(Op::Div, numel(losses.shape()));
  return losses.shape().empty() ? sum : sum.binary(Op::Div, losses.shape()[0]);
}

template <class F>
Tensor loss(const char* name, const Operand& x, const Operand& y, Reduction reduction, F&& f) {
  base::need<base::kLosses>(name);
  return api::composed(
      name, [&](const Value& a, const Value& b) { return reduced(f(a, b), reduction); }, x, y);
}

/// Targets and losses by class: the classes lie along `axis` of the logarithms.
struct Classes {
  Classes(const char* name, const Operand& x, const Tensor& target, const ClassOptions& given)
      : call(name, x),
        options(given),
        dtype(api::floating_dtype(api::common_dtype({&x}))),
        logs(call, call.node(x, api::wide_dtype(dtype), {}, default_device())),
        targets(call, Access::node(target)) {
    const Shape& shape = logs.shape();
    if (shape.empty()) throw ShapeError(name, "() has no axis of classes");
    axis = shape.size() == 1 ? 0 : 1;
    if (options.weight != nullptr && (options.weight->rank() != 1 || options.weight->size(0) != shape[axis])) {
      throw ShapeError(name, fmt::format("weights {} for {} classes; give one number for each",
                                         to_string(options.weight->shape()), to_string(shape[axis])));
    }
    if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
      throw ArgumentError(name, fmt::format("label_smoothing is {}; give a number in [0, 1]", options.label_smoothing));
    }
  }

  /// The weights of classes, along the axis of classes; 1 everywhere if there are none.
  Value weights() const {
    Shape aligned(logs.shape().size(), SymInt(1));
    if (options.weight == nullptr) return logs.like(1);
    aligned[axis] = logs.shape()[axis];
    return Value(call, call.cast(Access::node(*options.weight), logs.dtype())).reshape(aligned);
  }
  Value over_classes(const Value& v) const { return v.reduce(Op::Sum, {axis}).drop({axis}); }

  /// The losses of classes by their numbers, and their weights.
  Tensor by_index() const {
    Shape expected = logs.shape();
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(axis));
    if (!is_integer(targets.dtype())) {
      throw DTypeError(call.operation(), fmt::format("targets are integers, not {}", name(targets.dtype())));
    }
    if (targets.shape() != expected) {
      throw ShapeError(call.operation(), fmt::format("targets {} for {}; give {}", to_string(targets.shape()),
                                                     to_string(logs.shape()), to_string(expected)));
    }
    Shape lifted = expected;
    lifted.insert(lifted.begin() + static_cast<std::ptrdiff_t>(axis), SymInt(1));
    const Value number = targets.to(DType::int64).reshape(lifted);
    const Value ignored = number == static_cast<double>(options.ignore_index);
    const api::IndexedAxis classes{logs.shape()[axis], axis, false, options.ignore_index};
    const Bounds unknown = api::checked_now(call, targets.node(), classes, options.bounds);
    const Value hit = (api::positions(call, logs.shape(), axis, logs.device()) == number) & !ignored;
    const Value here(call, api::and_checked(call, hit.node(), targets.node(), classes, unknown));
    const Value weight = weights();
    const double smoothing = options.label_smoothing;
    Value losses = -over_classes(where(here, logs * weight, 0));
    if (smoothing > 0) {
      const Value everywhere = -over_classes(where(ignored, 0, logs * weight));
      losses = losses * (1 - smoothing) + (everywhere * smoothing).binary(Op::Div, classes.extent);
    }
    if (options.reduction != Reduction::mean) return reduced(losses, options.reduction).to(dtype).tensor();
    const Value counted = over_classes(where(here, weight.broadcast(logs.shape()), 0));
    return (total(losses) / total(counted)).to(dtype).tensor();
  }

  /// The losses of probabilities.
  Tensor by_probability() const {
    if (targets.shape() != logs.shape()) {
      throw ShapeError(call.operation(), fmt::format("probabilities {} for {}; the shapes must agree",
                                                     to_string(targets.shape()), to_string(logs.shape())));
    }
    Value wanted = targets.to(logs.dtype());
    const double smoothing = options.label_smoothing;
    const SymInt classes = logs.shape()[axis];
    if (smoothing > 0) wanted = wanted * (1 - smoothing) + wanted.like(smoothing).binary(Op::Div, classes);
    return reduced(-over_classes(logs * wanted * weights()), options.reduction).to(dtype).tensor();
  }

  Call call;
  ClassOptions options;
  DType dtype;
  Value logs;
  Value targets;
  std::size_t axis = 0;
};

Tensor with_logits(const Operand& x, const Operand& y, const Tensor* positive, Reduction reduction) {
  return loss("binary_cross_entropy_with_logits", x, y, reduction, [&](const Value& v, const Value& t) {
    const Value tail = log1p(exp(-abs(v))) + max(-v, 0);  // -log(sigmoid(v))
    if (positive == nullptr) return (1 - t) * v + tail;
    const Value weight(v.call(), v.call().cast(Access::node(*positive), v.dtype()));
    return (1 - t) * v + ((weight - 1) * t + 1) * tail;
  });
}

}  // namespace

Tensor mse_loss(const Operand& x, const Operand& y, Reduction reduction) {
  return loss("mse_loss", x, y, reduction, [](const Value& a, const Value& b) {
    const Value d = a - b;
    return d * d;
  });
}

Tensor l1_loss(const Operand& x, const Operand& y, Reduction reduction) {
  return loss("l1_loss", x, y, reduction, [](const Value& a, const Value& b) { return abs(a - b); });
}

Tensor smooth_l1_loss(const Operand& x, const Operand& y, double beta, Reduction reduction) {
  if (!(beta >= 0)) throw ArgumentError("smooth_l1_loss", fmt::format("beta is {}; give a number >= 0", beta));
  return loss("smooth_l1_loss", x, y, reduction, [=](const Value& a, const Value& b) {
    const Value d = abs(a - b);
    return beta == 0 ? d : where(d < beta, d * d * 0.5 / beta, d - beta / 2);
  });
}

Tensor huber_loss(const Operand& x, const Operand& y, double delta, Reduction reduction) {
  if (!(delta > 0)) throw ArgumentError("huber_loss", fmt::format("delta is {}; give a number > 0", delta));
  return loss("huber_loss", x, y, reduction, [=](const Value& a, const Value& b) {
    const Value d = abs(a - b);
    return where(d <= delta, d * d * 0.5, (d - delta / 2) * delta);
  });
}

Tensor nll_loss(const Operand& log_probabilities, const Tensor& target, const ClassOptions& options) {
  base::need<base::kLosses>("nll_loss");
  const Classes classes("nll_loss", log_probabilities, target, options);
  if (options.label_smoothing != 0) throw ArgumentError("nll_loss", "takes no label_smoothing; cross_entropy does");
  return classes.by_index();
}

Tensor cross_entropy(const Operand& logits, const Tensor& target, const ClassOptions& options) {
  base::need<base::kLosses>("cross_entropy");
  Classes classes("cross_entropy", logits, target, options);
  const Value& x = classes.logs;
  const Value shifted = x - x.reduce(Op::ReduceMax, {classes.axis});
  classes.logs = shifted - log(exp(shifted).reduce(Op::Sum, {classes.axis}));
  return is_floating(target.dtype()) ? classes.by_probability() : classes.by_index();
}

Tensor binary_cross_entropy(const Operand& p, const Operand& y, Reduction reduction) {
  return loss("binary_cross_entropy", p, y, reduction,
              [](const Value& v, const Value& t) { return (t - 1) * max(log(1 - v), -100) - t * max(log(v), -100); });
}

Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& y, Reduction reduction) {
  return with_logits(x, y, nullptr, reduction);
}
Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& y, const Tensor& positive_weight,
                                        Reduction reduction) {
  return with_logits(x, y, &positive_weight, reduction);
}

Tensor kl_div(const Operand& x, const Operand& y, bool log_target, Reduction reduction) {
  return loss("kl_div", x, y, reduction, [=](const Value& v, const Value& t) {
    if (log_target) return exp(t) * (t - v);
    return where(t == 0, 0, t * log(t)) - t * v;
  });
}

}  // namespace oriel
