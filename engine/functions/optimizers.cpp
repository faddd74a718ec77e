// One step of each optimiser, on the elements of all parameters one after the other.
#include "oriel/optim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "formula/call.hpp"
#include "functions/packing.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::by_group;
using api::check_floats;
using api::check_like;
using api::flat;
using api::Group;
using api::groups_of;

namespace {

/// One update: p and its gradient in the dtype of the computation, what the rule remembers, and the step's number.
struct Update {
  Tensor p, g;
  std::span<Tensor> slots;
  Tensor t;
  const Operand& rate;
};

/// 1 - beta^t, without loss of digits.
Tensor correction(double beta, const Tensor& t) { return -expm1(t * std::log(beta)); }
Tensor mean_of(const Tensor& before, const Tensor& x, double beta) { return before + (1 - beta) * (x - before); }

// For each rule: how many slots it has, and p after the step. Slots are replaced.

std::size_t slots_of(const Sgd& rule) { return rule.momentum != 0 ? 1 : 0; }
Tensor updated(const Sgd& rule, const Update& u) {
  Tensor g = rule.weight_decay != 0 ? u.g + rule.weight_decay * u.p : u.g;
  if (rule.momentum != 0) {
    Tensor b = rule.momentum * u.slots[0] + (1 - rule.dampening) * g;
    if (rule.dampening != 0) b = where(u.t == 1, g, b);
    u.slots[0] = b;
    g = rule.nesterov ? g + rule.momentum * b : b;
  }
  return u.p - u.rate * g;
}

template <class Rule>
Tensor adam(const Rule& rule, const Update& u, const Tensor& p, const Tensor& g) {
  const Tensor m = u.slots[0] = mean_of(u.slots[0], g, rule.beta1);
  Tensor v = u.slots[1] = mean_of(u.slots[1], square(g), rule.beta2);
  if (rule.amsgrad) v = u.slots[2] = maximum(u.slots[2], v);
  const Tensor root = sqrt(v) * rsqrt(correction(rule.beta2, u.t)) + rule.epsilon;
  return p - u.rate / correction(rule.beta1, u.t) * (m / root);
}
std::size_t slots_of(const Adam& rule) { return rule.amsgrad ? 3 : 2; }
Tensor updated(const Adam& rule, const Update& u) {
  return adam(rule, u, u.p, rule.weight_decay != 0 ? u.g + rule.weight_decay * u.p : u.g);
}
std::size_t slots_of(const AdamW& rule) { return rule.amsgrad ? 3 : 2; }
Tensor updated(const AdamW& rule, const Update& u) {
  return adam(rule, u, rule.weight_decay != 0 ? u.p - u.rate * (rule.weight_decay * u.p) : u.p, u.g);
}

std::size_t slots_of(const RmsProp& rule) {
  return std::size_t{1} + (rule.centered ? 1 : 0) + (rule.momentum != 0 ? 1 : 0);
}
Tensor updated(const RmsProp& rule, const Update& u) {
  const Tensor g = rule.weight_decay != 0 ? u.g + rule.weight_decay * u.p : u.g;
  Tensor v = u.slots[0] = mean_of(u.slots[0], square(g), rule.alpha);
  if (rule.centered) {
    u.slots[1] = mean_of(u.slots[1], g, rule.alpha);
    v = v - square(u.slots[1]);
  }
  Tensor d = g / (sqrt(v) + rule.epsilon);
  if (rule.momentum != 0) d = u.slots.back() = rule.momentum * u.slots.back() + d;
  return u.p - u.rate * d;
}

std::size_t slots_of(const Lion& /*rule*/) { return 1; }
Tensor updated(const Lion& rule, const Update& u) {
  const Tensor direction = sign(mean_of(u.slots[0], u.g, rule.beta1));
  u.slots[0] = mean_of(u.slots[0], u.g, rule.beta2);
  const Tensor p = rule.weight_decay != 0 ? u.p - u.rate * (rule.weight_decay * u.p) : u.p;
  return p - u.rate * direction;
}

std::size_t slots_of(const Adafactor& /*rule*/) { return 2; }
Tensor updated(const Adafactor& rule, const Update& u) {
  const auto rms = [](const Tensor& x) { return sqrt(mean(square(x))); };
  const double least = rule.epsilon1 != 0              ? rule.epsilon1
                       : u.p.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon()
                                                       : double{std::numeric_limits<float>::epsilon()};
  const Tensor share = pow(u.t, rule.beta2_decay);
  const auto follow = [&](Tensor& slot, const Tensor& x) { return slot = slot + share * (x - slot); };
  Tensor v;
  if (u.p.rank() > 1) {
    const Tensor rows = follow(u.slots[0], mean(square(u.g), -1, true));
    const Tensor columns = follow(u.slots[1], mean(square(u.g), -2, true));
    v = rows * columns / maximum(mean(rows, -2, true), least);
  } else {
    v = follow(u.slots[0], square(u.g));
  }
  const Tensor d = u.g * rsqrt(maximum(v, least * least));
  const Tensor p = rule.weight_decay != 0 ? u.p - u.rate * (rule.weight_decay * u.p) : u.p;
  const Tensor size = maximum(rms(u.p), rule.epsilon2) * minimum(rsqrt(u.t), u.rate);
  return p - size / maximum(rms(d) / rule.clip, 1) * d;
}
/// The shapes of its slots for one parameter.
std::array<Shape, 2> factored(const Shape& shape) {
  if (shape.size() < 2) return {shape, Shape{0}};
  Shape rows = shape, columns = shape;
  rows.back() = 1;
  columns[columns.size() - 2] = 1;
  return {rows, columns};
}

}  // namespace

namespace detail {

OptimizerState start(const Optimizer& rule, std::span<const Tensor> parameters, Site site) {
  const CallSite call(site);
  check_floats("start", parameters);
  OptimizerState state;
  const Device device = parameters.empty() ? default_device() : parameters[0].device();
  state.step = zeros({}, DType::int64).to(device);
  if (std::holds_alternative<Adafactor>(rule)) {
    for (const Tensor& p : parameters)
      for (const Shape& shape : factored(p.shape())) state.slots.push_back(zeros(shape, p.dtype()).to(device));
    return state;
  }
  const std::size_t slots = std::visit([](const auto& r) { return slots_of(r); }, rule);
  for (const Group& group : groups_of(parameters)) {
    SymInt count = 0;
    for (const std::size_t k : group.members) count = count + parameters[k].numel();
    for (std::size_t k = 0; k < slots; ++k) state.slots.push_back(zeros({count}, group.dtype).to(device));
  }
  return state;
}

std::vector<Tensor> step(const Optimizer& rule, std::span<const Tensor> parameters, std::span<const Tensor> gradients,
                         OptimizerState& state, const Operand* rate, Site site) {
  const CallSite call(site);
  check_floats("step", parameters);
  check_like("step", gradients, parameters);
  state.step = state.step + 1;
  return std::visit(
      [&](const auto& r) {
        const bool apart = std::same_as<std::remove_cvref_t<decltype(r)>, Adafactor>;
        const std::vector<Group> groups = groups_of(parameters);
        const std::size_t slots = slots_of(r), wanted = (apart ? parameters.size() : groups.size()) * slots;
        if (state.slots.size() != wanted)
          throw ArgumentError("step",
                              fmt::format("the state has {} slots; this rule needs {} for these parameters: make "
                                          "it by start with the same options",
                                          state.slots.size(), wanted));
        const Operand own(r.rate, site);
        std::size_t slot = 0;
        const auto update = [&](const Tensor& p, const Tensor& g) {
          const DType dtype = api::wide_dtype(p.dtype());
          const std::span<Tensor> kept = std::span(state.slots).subspan(slot, slots);
          slot += slots;
          std::vector<Tensor> now;
          for (const Tensor& x : kept) now.push_back(x.to(dtype));
          const Update u{p.to(dtype), g.to(dtype), now, state.step.to(dtype), rate != nullptr ? *rate : own};
          Tensor next = updated(r, u).to(p.dtype());
          for (std::size_t k = 0; k < slots; ++k) kept[k] = now[k].to(p.dtype());
          return next;
        };
        if (!apart)
          return by_group(parameters,
                          [&](const Group& group) { return update(flat(group, parameters), flat(group, gradients)); });
        std::vector<Tensor> out;
        for (std::size_t k = 0; k < parameters.size(); ++k) out.push_back(update(parameters[k], gradients[k]));
        return out;
      },
      rule);
}

}  // namespace detail

namespace {
Tensor done(const char* operation, const Operand& t, const Operand& steps) {
  if (const double number = detail::Access::value(steps); number < 1)  // a tensor has no number
    throw ArgumentError(operation, fmt::format("{:g} steps; give at least 1", number));
  return cast(t, DType::float32) / steps;
}
}  // namespace

Tensor cosine_schedule(const Operand& t, const Operand& steps, double low) {
  const Tensor part = minimum(done("cosine_schedule", t, steps), 1);
  return low + (1 - low) * 0.5 * (1 + cos(part * std::numbers::pi));
}
Tensor warmup_schedule(const Operand& t, const Operand& steps, double low) {
  return low + (1 - low) * minimum(done("warmup_schedule", t, steps), 1);
}
Tensor step_schedule(const Operand& t, const Operand& every, double factor) {
  return pow(factor, floor(done("step_schedule", t, every)));
}

}  // namespace oriel
