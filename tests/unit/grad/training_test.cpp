// Long training: flat memory, and nothing planned or compiled after the second step. ORIEL_TRAINING_STEPS: so many
// steps rather than 400 (10000 for the long form). Gradients have the same bits for any number of threads.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "oriel/optim.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing::training_test {
namespace {

int step_count() {
  const char* const given = std::getenv("ORIEL_TRAINING_STEPS");
  return given == nullptr ? 400 : std::atoi(given);
}

struct Network {
  Tensor kernel, w, b;
};
auto oriel_members(Network& n) { return std::tie(n.kernel, n.w, n.b); }
auto oriel_members(const Network& n) { return std::tie(n.kernel, n.w, n.b); }

/// A convolution, a maximum over windows and a layer over what is left.
Tensor loss_of(const Network& n, const Tensor& x, const Tensor& target) {
  const Tensor hidden = max_pool2d(relu(conv2d(x, n.kernel)), {2});
  return cross_entropy(matmul(hidden.reshape({x.size(0), -1}), n.w) + n.b, target);
}
Network first_network() {
  return packed(Network{normal(Key(1), {3, 1, 3, 3}) * 0.3, normal(Key(2), {27, 4}) * 0.3, zeros({4})});
}
const auto kTrain = [](Network network, OptimizerState state, Tensor x, Tensor target) {
  const auto loss = [&](const Network& n) { return loss_of(n, x, target); };
  const auto [value, gradient] = value_and_grad(loss)(network);
  const auto [next, after] = step(Adam{.rate = 0.01}, network, clip_norm(gradient, 1), state);
  return std::tuple(value, next, after);
};

/// The schedules that are made while one lives.
class Watch {
 public:
  Watch() : before_(debug_text()) {
    set_debug("0,cache");
    set_debug_sink([this](std::string_view line) { made += line.find("made") != std::string_view::npos ? 1 : 0; });
  }
  ~Watch() {
    set_debug_sink({});
    set_debug(before_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  int made = 0;

 private:
  std::string before_;
};

/// Trains, and compares what is held after the second step with what is held at the end.
template <class Step>
void trains(Step&& train) {
  const Tensor x = normal(Key(3), {16, 1, 8, 8}).realize();
  const Tensor target = remainder(iota({16}), 4).to(DType::int64).realize();
  Network network = first_network();
  OptimizerState state = start(Adam{}, network);
  Tensor loss;
  float first = 0;
  Watch watch;
  MemoryStatistics early{};
  int planned = 0;
  const int steps = step_count();
  for (int k = 0; k < steps; ++k) {
    std::tie(loss, network, state) = train(network, state, x, target);
    const float value = loss.template item<float>();
    if (k == 0) first = value;
    if (k == 1) planned = watch.made;
    if (k == 4) {  // two blocks for each of the parameters by turns
      reset_peak_memory();
      early = memory();
    }
  }
  MESSAGE(steps, " steps, ", planned, " schedules by the second, loss ", first, " to ", loss.template item<float>());
  CHECK(planned > 0);
  CHECK(watch.made == planned);
  CHECK(memory().live == early.live);
  CHECK(memory().system_allocations == early.system_allocations);
  CHECK(loss.template item<float>() < first * 0.5F);
}

TEST_CASE("steps of a captured function take no more memory, and plan nothing") {
  const auto captured = oriel::function(kTrain);
  trains([&](const Network& n, const OptimizerState& s, const Tensor& x, const Tensor& y) {
    return captured(n, s, x, y);
  });
  CHECK(captured.counts().traces == 1);
}

TEST_CASE("steps that are not captured take no more memory, and plan nothing") {
  trains([&](const Network& n, const OptimizerState& s, const Tensor& x, const Tensor& y) {
    auto [loss, next, after] = kTrain(n, s, x, y);
    realize(detail::parts_of(loss, next, after));
    return std::tuple(loss, next, after);
  });
}

TEST_CASE("gradients have the same bits for any number of threads") {
  std::vector<std::vector<float>> found;
  for (const int threads : {1, 2, 3, 4}) {
    const Context context({.threads = threads});
    const ContextScope scope(context);
    const Tensor x = normal(Key(3), {64, 1, 8, 8}).realize(), target = remainder(iota({64}), 4).to(DType::int64);
    const Network g = grad([&](const Network& n) { return loss_of(n, x, target); })(first_network());
    const Tensor w = uniform(Key(4), {300, 200}).realize();
    const Tensor scores = grad([&](Tensor a) { return sum(square(softmax(matmul(a, a.transpose())))); })(w);
    const Tensor rows = grad([](Tensor a) { return sum(square(cumsum(sort(a, 1), 1))); })(w);
    found.push_back(
        concat({g.kernel.reshape(-1), g.w.reshape(-1), g.b.reshape(-1), scores.reshape(-1), rows.reshape(-1)})
            .to_vector<float>());
    CHECK(std::memcmp(found[0].data(), found.back().data(), found[0].size() * sizeof(float)) == 0);
  }
}

}  // namespace
}  // namespace oriel::testing::training_test
