// Optimisers: how parameters follow their gradients; schedules of the rate, clipping and accumulation.
//
// Parameters are any structure that captured functions take: tensors, tuples, vectors and structs of them. Nothing here
// has a hidden state, so a whole step of training is one captured function:
//
//   const auto train = oriel::function([](Network network, OptimizerState state, Tensor x, Tensor labels) {
//     const auto loss_of = [&](const Network& n) { return cross_entropy(n(x), labels); };
//     const auto [loss, gradient] = value_and_grad(loss_of)(network);
//     const auto [next, after] = step(AdamW{.rate = 1e-3}, network, clip_norm(gradient, 1), state);
//     return std::tuple(loss, next, after);
//   });
//   Network network = packed(Network(Key(1)));
//   OptimizerState state = start(AdamW{}, network);
//   for (...) std::tie(loss, network, state) = train(network, state, x, labels);
//
// The parameters of one dtype are updated together, by one kernel: what `step` returns are views of one storage, and
// the slots of a state are one tensor for all of them. `packed` gives the first parameters that form, so that the
// second step needs no other trace. Adafactor, whose slots are rows and columns, updates one tensor after the other.
//
// The rules are PyTorch's (torch.optim; https://docs.pytorch.org/docs/stable/optim.html), with its defaults; Lion is
// that of Chen et al., "Symbolic discovery of optimization algorithms" (2023). p is a parameter, g its gradient, r the
// rate, d the decay of weights, t = 1, 2, .. the step. Halves are computed in float32 and rounded once.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/grad.hpp"
#include "oriel/operand.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// g += d p;  b = momentum b + (1 - dampening) g, in the first step b = g;  with nesterov g + momentum b takes the
/// place of b;  p -= r b. Without momentum p -= r g. (torch.optim.SGD)
struct Sgd {
  double rate = 1e-3;       ///< r: what g, or b, is multiplied by
  double momentum = 0;      ///< the share that b keeps; 0: there is no b
  double dampening = 0;     ///< the share of g that does not enter b
  bool nesterov = false;    ///< looks one step ahead; without momentum it changes nothing
  double weight_decay = 0;  ///< d: the share of p that is added to g
};
/// g += d p;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  p -= r m / (1 - beta1^t) / (sqrt(v / (1 -
/// beta2^t)) + epsilon). With amsgrad the largest v so far takes its place in the root. (torch.optim.Adam)
struct Adam {
  double rate = 1e-3;       ///< r: what a step is multiplied by
  double beta1 = 0.9;       ///< the share that m keeps, in [0, 1)
  double beta2 = 0.999;     ///< the share that v keeps, in [0, 1)
  double epsilon = 1e-8;    ///< is added to the root, so that nothing is divided by 0
  double weight_decay = 0;  ///< d: the share of p that is added to g
  bool amsgrad = false;     ///< the root takes the largest v so far
};
/// As Adam, but p *= 1 - r d in place of g += d p. (torch.optim.AdamW)
struct AdamW {
  double rate = 1e-3;          ///< r: what a step is multiplied by
  double beta1 = 0.9;          ///< the share that m keeps, in [0, 1)
  double beta2 = 0.999;        ///< the share that v keeps, in [0, 1)
  double epsilon = 1e-8;       ///< is added to the root, so that nothing is divided by 0
  double weight_decay = 1e-2;  ///< d: each step shrinks p by r d
  bool amsgrad = false;        ///< the root takes the largest v so far
};
/// g += d p;  v = alpha v + (1 - alpha) g^2;  centered: a = alpha a + (1 - alpha) g, else a = 0;  u = g /
/// (sqrt(v - a^2) + epsilon);  with momentum b = momentum b + u takes the place of u;  p -= r u. (torch.optim.RMSprop)
struct RmsProp {
  double rate = 1e-2;       ///< r: what u, or b, is multiplied by
  double alpha = 0.99;      ///< the share that v and a keep, in [0, 1)
  double epsilon = 1e-8;    ///< is added to the root, so that nothing is divided by 0
  double weight_decay = 0;  ///< d: the share of p that is added to g
  double momentum = 0;      ///< the share that b keeps; 0: there is no b
  bool centered = false;    ///< the root is of the variance of g
};
/// p -= r (sign(beta1 m + (1 - beta1) g) + d p);  m = beta2 m + (1 - beta2) g. (Algorithm 2 of Chen et al., 2023)
struct Lion {
  double rate = 1e-4;       ///< r: how far a step moves each element
  double beta1 = 0.9;       ///< the share of m in the sign, in [0, 1)
  double beta2 = 0.99;      ///< the share that m keeps, in [0, 1)
  double weight_decay = 0;  ///< d: each step shrinks p by r d
};
/// b = 1 - t^beta2_decay. Of a matrix, or of the last two axes: rows = b rows + (1 - b) mean(g^2, -1), columns the same
/// along -2, v = rows columns / max(mean(rows), epsilon1); else v = b v + (1 - b) g^2.  u = g / sqrt(max(v,
/// epsilon1^2)); p *= 1 - r d;  p -= max(epsilon2, rms(p)) min(r, 1 / sqrt(t)) u / max(1, rms(u) / clip), where rms(p)
/// is of p before the decay. epsilon1 0 stands for the epsilon of the dtype. (torch.optim.Adafactor)
struct Adafactor {
  double rate = 1e-2;         ///< r: the most that the rate is; 1 / sqrt(t) limits it
  double beta2_decay = -0.8;  ///< the exponent of t in 1 - b; at most 0
  double epsilon1 = 0;        ///< the least v is its square; 0: by the dtype
  double epsilon2 = 1e-3;     ///< the least that stands for rms(p)
  double clip = 1;            ///< the most that rms(u) is
  double weight_decay = 0;    ///< d: each step shrinks p by r d
};

/// The options of one of the rules.
using Optimizer = std::variant<Sgd, Adam, AdamW, RmsProp, Lion, Adafactor>;

/// What a rule remembers between steps. A structure of tensors: it goes into captured functions and files.
struct OptimizerState {
  Tensor step;                ///< how many there were: int64 without axes
  std::vector<Tensor> slots;  ///< momenta, means of squares: for each dtype of the parameters one after the other
};
inline auto oriel_members(OptimizerState& state) { return std::tie(state.step, state.slots); }
inline auto oriel_members(const OptimizerState& state) { return std::tie(state.step, state.slots); }

/// What step returns: `auto [parameters, state] = step(..)`.
template <class P>
struct Stepped {
  P parameters;          ///< after the step, in the structure of those before
  OptimizerState state;  ///< after the step: for the next one
};

namespace detail {

OptimizerState start(const Optimizer& rule, std::span<const Tensor> parameters, Site site);
/// The new parameters. Replaces the state. `rate`: in place of that of the rule, unless null.
std::vector<Tensor> step(const Optimizer& rule, std::span<const Tensor> parameters, std::span<const Tensor> gradients,
                         OptimizerState& state, const Operand* rate, Site site);
/// Views of one storage for each dtype: of the elements one after the other.
std::vector<Tensor> packed(std::span<const Tensor> parts, Site site);
std::vector<Tensor> clip_norm(std::span<const Tensor> parts, const Operand& most, Site site);
std::vector<Tensor> clip_value(std::span<const Tensor> parts, const Operand& most, Site site);
std::vector<Tensor> accumulate(std::span<const Tensor> sums, std::span<const Tensor> parts, const Operand& share,
                               Site site);
Tensor norm_of(std::span<const Tensor> parts, Site site);

}  // namespace detail

/// The state before the first step: zeros.
template <class P>
[[nodiscard]] OptimizerState start(const Optimizer& rule, const P& parameters, Site site = Site::here()) {
  return detail::start(rule, detail::parts_of(parameters), site);
}
/// The parameters and the state after one step. `gradients` has the structure of `parameters`. Throws ShapeError and
/// DTypeError for gradients that do not fit the parameters, and ArgumentError for a state of another rule.
///   auto [next, after] = step(Adam{}, network, gradients, state);
template <class P>
[[nodiscard]] Stepped<P> step(const Optimizer& rule, const P& parameters, const P& gradients,
                              const OptimizerState& state, Site site = Site::here()) {
  OptimizerState after = state;
  const std::vector<Tensor> next =
      detail::step(rule, detail::parts_of(parameters), detail::parts_of(gradients), after, nullptr, site);
  return {detail::with_parts(parameters, next), std::move(after)};
}
/// The same at another rate than the rule's: a number, or a tensor without axes such as that of a schedule.
///   step(Adam{}, network, gradients, state, 1e-3 * cosine_schedule(state.step, 1000))
template <class P>
[[nodiscard]] Stepped<P> step(const Optimizer& rule, const P& parameters, const P& gradients,
                              const OptimizerState& state, const Operand& rate, Site site = Site::here()) {
  OptimizerState after = state;
  const std::vector<Tensor> next =
      detail::step(rule, detail::parts_of(parameters), detail::parts_of(gradients), after, &rate, site);
  return {detail::with_parts(parameters, next), std::move(after)};
}

/// The same elements as views of one storage for each dtype, as step returns them.
template <class P>
[[nodiscard]] P packed(const P& parameters, Site site = Site::here()) {
  return detail::with_parts(parameters, detail::packed(detail::parts_of(parameters), site));
}
/// The root of the sum of the squares of all elements.
template <class P>
[[nodiscard]] Tensor norm_of(const P& parts, Site site = Site::here()) {
  return detail::norm_of(detail::parts_of(parts), site);
}
/// All gradients times min(1, most / (norm + 1e-6)), where norm is norm_of them. (torch.nn.utils.clip_grad_norm_)
template <class P>
[[nodiscard]] P clip_norm(const P& gradients, const Operand& most, Site site = Site::here()) {
  return detail::with_parts(gradients, detail::clip_norm(detail::parts_of(gradients), most, site));
}
/// Each element clamped to [-most, most]. (torch.nn.utils.clip_grad_value_)
template <class P>
[[nodiscard]] P clip_value(const P& gradients, const Operand& most, Site site = Site::here()) {
  return detail::with_parts(gradients, detail::clip_value(detail::parts_of(gradients), most, site));
}
/// sum + share * gradients, part by part: gradients of several batches before one step.
///   for (k < 4) sum = accumulate(sum, gradient_of(batch(k)), 0.25);
template <class P>
[[nodiscard]] P accumulate(const P& sum, const P& gradients, const Operand& share = 1, Site site = Site::here()) {
  return detail::with_parts(sum, detail::accumulate(detail::parts_of(sum), detail::parts_of(gradients), share, site));
}

// ---- Schedules: factors of a rate, as float32, of the number of steps that were done, an integer or a tensor of
// integers such as OptimizerState::step; `steps` is a number or a tensor, too. They are multiplied with each other and
// with the rate. All throw ArgumentError for a number of steps below 1.

/// low + (1 - low) (1 + cos(pi min(t, steps) / steps)) / 2. (torch: CosineAnnealingLR, until its end)
[[nodiscard]] Tensor cosine_schedule(const Operand& t, const Operand& steps, double low = 0);
/// low + (1 - low) min(t, steps) / steps. (torch: LinearLR)
[[nodiscard]] Tensor warmup_schedule(const Operand& t, const Operand& steps, double low = 0);
/// factor^floor(t / every). (torch: StepLR)
[[nodiscard]] Tensor step_schedule(const Operand& t, const Operand& every, double factor = 0.1);

#define ORIEL_OPTIONS(type, ...)                                       \
  inline auto oriel_members(type& o) { return std::tie(__VA_ARGS__); } \
  inline auto oriel_members(const type& o) { return std::tie(__VA_ARGS__); }
/// The options of a rule may be arguments of captured functions: guards.
/// @{
ORIEL_OPTIONS(Sgd, o.rate, o.momentum, o.dampening, o.nesterov, o.weight_decay)
ORIEL_OPTIONS(Adam, o.rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.amsgrad)
ORIEL_OPTIONS(AdamW, o.rate, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.amsgrad)
ORIEL_OPTIONS(RmsProp, o.rate, o.alpha, o.epsilon, o.weight_decay, o.momentum, o.centered)
ORIEL_OPTIONS(Lion, o.rate, o.beta1, o.beta2, o.weight_decay)
ORIEL_OPTIONS(Adafactor, o.rate, o.beta2_decay, o.epsilon1, o.epsilon2, o.clip, o.weight_decay)
/// @}
#undef ORIEL_OPTIONS

}  // namespace oriel
