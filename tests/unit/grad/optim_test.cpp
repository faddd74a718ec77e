// Optimisers, clipping and schedules beside what PyTorch recorded (tests/data/torch_optim.py); a step of training as
// one captured function.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oriel/optim.hpp"
#include "oriel/oriel.hpp"

namespace oriel::optim_test {
namespace {

using nlohmann::json;

struct Pair {
  Tensor w, b;
};
auto oriel_members(Pair& p) { return std::tie(p.w, p.b); }
auto oriel_members(const Pair& p) { return std::tie(p.w, p.b); }

const json& recorded() {
  static const json file = json::parse(std::ifstream(ORIEL_TEST_DATA "/torch_optim.json"));
  return file;
}
Pair pair_of(const json& row, DType dtype = DType::float64) {
  const Tensor all = Tensor::from(row.get<std::vector<double>>()).to(dtype);
  return {all.slice({{0, 12}}).reshape({3, 4}), all.slice({{12, 17}})};
}
double difference(const Pair& got, const json& row) {
  const Pair want = pair_of(row);
  const Tensor apart = concat({(got.w - want.w).reshape({-1}), got.b - want.b});
  return max(abs(apart)).item<double>();
}

Optimizer rule_of(const std::string& name, const json& o) {
  const auto at = [&](const char* key, double otherwise) { return o.value(key, otherwise); };
  if (name == "Sgd")
    return Sgd{at("rate", 1e-3), at("momentum", 0), at("dampening", 0), at("nesterov", 0) != 0, at("weight_decay", 0)};
  if (name == "Adam")
    return Adam{at("rate", 1e-3),    at("beta1", 0.9),      at("beta2", 0.999),
                at("epsilon", 1e-8), at("weight_decay", 0), at("amsgrad", 0) != 0};
  if (name == "AdamW")
    return AdamW{at("rate", 1e-3),    at("beta1", 0.9),         at("beta2", 0.999),
                 at("epsilon", 1e-8), at("weight_decay", 1e-2), at("amsgrad", 0) != 0};
  if (name == "RmsProp")
    return RmsProp{at("rate", 1e-2),      at("alpha", 0.99), at("epsilon", 1e-8),
                   at("weight_decay", 0), at("momentum", 0), at("centered", 0) != 0};
  if (name == "Lion") return Lion{at("rate", 1e-4), at("beta1", 0.9), at("beta2", 0.99), at("weight_decay", 0)};
  REQUIRE(name == "Adafactor");
  return Adafactor{at("rate", 1e-2),     at("beta2_decay", -0.8), at("epsilon1", 0),
                   at("epsilon2", 1e-3), at("clip", 1),           at("weight_decay", 0)};
}

}  // namespace

TEST_CASE("20 steps of every rule are PyTorch's") {
  const json& file = recorded();
  CHECK(file["rules"].size() == 12);
  for (const json& c : file["rules"]) {
    CAPTURE(c[0].get<std::string>());
    CAPTURE(c[1].dump());
    const Optimizer rule = rule_of(c[0].get<std::string>(), c[1]);
    Pair parameters = pair_of(file["start"]);
    OptimizerState state = start(rule, parameters);
    for (std::size_t t = 0; t < 20; ++t) {
      const auto [next, after] = step(rule, parameters, pair_of(file["gradients"][t]), state);
      parameters = next;
      state = after;
      CAPTURE(t);
      CHECK(difference(parameters, c[2][t]) < 1e-14);
    }
    CHECK(state.step.item<std::int64_t>() == 20);
  }
}

TEST_CASE("float32 and halves follow, in their own dtype") {
  const json& file = recorded();
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    CAPTURE(std::string(name(dtype)));
    for (const json& c : file["rules"]) {
      const Optimizer rule = rule_of(c[0].get<std::string>(), c[1]);
      Pair parameters = pair_of(file["start"], dtype);
      OptimizerState state = start(rule, parameters);
      for (std::size_t t = 0; t < 5; ++t)
        std::tie(parameters, state) = [&] {
          auto both = step(rule, parameters, pair_of(file["gradients"][t], dtype), state);
          return std::pair(both.parameters, both.state);
        }();
      CHECK(parameters.w.dtype() == dtype);
      for (const Tensor& slot : state.slots) CHECK(slot.dtype() == dtype);
      if (c[0] == "Lion") continue;  // a sign of what is nearly zero
      CHECK(difference(parameters, c[2][4]) < (dtype == DType::float32 ? 1e-6 : dtype == DType::float16 ? 0.02 : 0.15));
    }
  }
}

TEST_CASE("clipping and accumulation") {
  const json& file = recorded();
  const json& clipped = file["clipped"];
  const Pair g = pair_of(file["gradients"][0]);
  CHECK(norm_of(g).item<double>() == doctest::Approx(clipped["norm"].get<double>()).epsilon(1e-14));
  CHECK(difference(clip_norm(g, 1), clipped["by_norm"]) < 1e-15);
  CHECK(difference(clip_norm(g, 100), file["gradients"][0]) == 0);
  CHECK(difference(clip_value(g, 0.5), clipped["by_value"]) == 0);
  const Pair twice = accumulate(g, g, 0.5);
  CHECK(all(twice.w == g.w * 1.5).item<bool>());
  CHECK(all(twice.b == g.b * 1.5).item<bool>());
}

TEST_CASE("schedules") {
  for (const json& c : recorded()["schedules"]) {
    const auto name = c[0].get<std::string>();
    const auto n = c[1][0].get<std::int64_t>();
    const auto factor = c[1][1].get<double>();
    for (std::size_t t = 0; t < c[2].size(); ++t) {
      const Tensor step = scalar(static_cast<std::int64_t>(t));
      const Tensor got = name == "cosine"   ? cosine_schedule(step, n, factor)
                         : name == "warmup" ? warmup_schedule(step, n, factor)
                                            : step_schedule(step, n, factor);
      CAPTURE(name);
      CAPTURE(t);
      CHECK(static_cast<double>(got.item<float>()) == doctest::Approx(c[2][t].get<double>()).epsilon(1e-6));
    }
  }
  CHECK_THROWS_WITH_AS(cosine_schedule(3, 0), "cosine_schedule: 0 steps; give at least 1", ArgumentError);
}

TEST_CASE("a rate of a call takes the place of the rule's") {
  const json& file = recorded();
  const Pair p = pair_of(file["start"]), g = pair_of(file["gradients"][0]);
  const OptimizerState state = start(Sgd{}, p);
  const Pair by_number = step(Sgd{.rate = 0.25}, p, g, state).parameters;
  const Pair by_rate = step(Sgd{}, p, g, state, 0.25).parameters;
  const Pair by_schedule = step(Sgd{}, p, g, state, 0.5 * step_schedule(state.step + 1, 1, 0.5)).parameters;
  CHECK(all(by_number.w == by_rate.w).item<bool>());
  CHECK(all(by_number.w == by_schedule.w).item<bool>());
}

TEST_CASE("several dtypes, and a structure of any form") {
  const std::tuple<Tensor, std::vector<Tensor>> p(ones({2, 2}), {ones({3}, DType::float64), ones({})});
  const auto [next, after] = step(Sgd{.rate = 0.5}, p, p, start(Sgd{}, p));
  CHECK(std::get<0>(next).to_vector<float>() == std::vector<float>(4, 0.5F));
  CHECK(std::get<1>(next)[0].to_vector<double>() == std::vector<double>(3, 0.5));
  CHECK(std::get<1>(next)[1].item<float>() == 0.5F);
}

TEST_CASE("errors name the parameter") {
  const Pair p{ones({2, 3}), ones({3})};
  const OptimizerState state = start(Adam{}, p);
  CHECK_THROWS_WITH_AS((void)step(Adam{}, p, Pair{ones({3, 2}), ones({3})}, state),
                       "step: the gradient of parameter 0 is (3, 2); the parameter is (2, 3)", ShapeError);
  CHECK_THROWS_WITH_AS((void)step(Adam{}, p, Pair{ones({2, 3}), ones({3}, DType::float64)}, state),
                       "step: the gradient of parameter 1 is float64; the parameter is float32", DTypeError);
  CHECK_THROWS_WITH_AS((void)step(Sgd{}, p, p, state),
                       "step: the state has 2 slots; this rule needs 0 for these parameters: make it by start with the "
                       "same options",
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)start(Adam{}, ones({2}, DType::int32)), "start: parameter 0 is int32; give floats",
                       DTypeError);
}

TEST_CASE("a step of training is one captured function, whose update is one kernel") {
  const auto train = oriel::function(
      [](Pair network, OptimizerState state, Tensor x, Tensor y) {
        const auto loss_of = [&](const Pair& n) { return mse_loss(matmul(x, n.w) + n.b, y); };
        const auto [loss, gradient] = value_and_grad(loss_of)(network);
        const auto [next, after] = step(Adam{.rate = 0.05}, network, clip_norm(gradient, 1), state);
        return std::tuple(loss, next, after);
      },
      {.names = {"network", "state", "x", "y"}});
  const auto plain = [](Pair network, OptimizerState state, Tensor x, Tensor y) {
    const Tensor apart = matmul(x, network.w) + network.b - y;
    const Tensor g = apart * (2.0 / static_cast<double>(apart.count()));
    return step(Adam{.rate = 0.05}, network, clip_norm(Pair{matmul(x.transpose(), g), sum(g, 0)}, 1), state);
  };
  const Tensor x = normal(Key(1), {32, 4}), want = normal(Key(2), {4, 3}), y = matmul(x, want) + 1;
  Pair network = packed(Pair{zeros({4, 3}), zeros({3})});
  OptimizerState state = start(Adam{}, network);
  Pair other = network;
  OptimizerState others = state;
  Tensor loss;
  MemoryStatistics early{};
  for (int k = 0; k < 1000; ++k) {
    if (k == 10) early = memory();
    std::tie(loss, network, state) = train(network, state, x, y);
    if (k >= 5) continue;
    const auto [next, after] = plain(other, others, x, y);
    other = next;
    others = after;
    CHECK(allclose(network.w, other.w));
    CHECK(allclose(network.b, other.b));
  }
  // Two blocks for each of the parameters and the slots, by turns: nothing is allocated any more.
  CHECK(memory().live == early.live);
  CHECK(memory().system_allocations == early.system_allocations);
  CHECK(loss.item<float>() < 1e-3F);
  CHECK(train.counts().traces == 1);
  const auto entries = train.entries();
  CHECK(entries[0].kernels.size() == 5);
}

}  // namespace oriel::optim_test
