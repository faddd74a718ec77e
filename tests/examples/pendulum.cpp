// Fits the parameters of a differential equation, a damped pendulum, to observed angles: by gradients through 200 steps
// of an integrator. Each ten steps are computed again in the backward pass (checkpoint), which keeps the memory small.
#include <oriel/optim.hpp>
#include <oriel/oriel.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <tuple>
#include <vector>

namespace {

using namespace oriel;

constexpr int kSteps = 200, kApart = 10;
constexpr double kTime = 0.05;  // of one step

/// angle'' = -pull sin(angle) - friction angle'. The logarithms, so that both stay positive.
struct Pendulum {
  Tensor pull, friction;
};
auto oriel_members(Pendulum& p) { return std::tie(p.pull, p.friction); }
auto oriel_members(const Pendulum& p) { return std::tie(p.pull, p.friction); }

struct Motion {
  Tensor angle, speed;
};
auto oriel_members(Motion& m) { return std::tie(m.angle, m.speed); }
auto oriel_members(const Motion& m) { return std::tie(m.angle, m.speed); }

/// Ten steps of the midpoint rule.
Motion moved(const Pendulum& p, const Motion& from) {
  const Tensor pull = exp(p.pull), friction = exp(p.friction);
  const auto force = [&](const Tensor& angle, const Tensor& speed) { return -pull * sin(angle) - friction * speed; };
  Tensor angle = from.angle, speed = from.speed;
  for (int k = 0; k < kApart; ++k) {
    const Tensor half_angle = angle + 0.5 * kTime * speed, half_speed = speed + 0.5 * kTime * force(angle, speed);
    angle = angle + kTime * half_speed;
    speed = speed + kTime * force(half_angle, half_speed);
  }
  return {angle, speed};
}

/// The angles after every ten steps: (20, pendulums).
template <class Moved>
Tensor observed(const Pendulum& p, Motion m, Moved&& segment) {
  std::vector<Tensor> seen;
  for (int k = 0; k < kSteps; k += kApart) {
    m = segment(p, m);
    seen.push_back(m.angle);
  }
  return stack(seen);
}

Tensor loss_of(const Pendulum& p, const Motion& from, const Tensor& wanted, bool again) {
  const Tensor seen = again ? observed(p, from, checkpoint(moved)) : observed(p, from, moved);
  return mean(square(seen - wanted));
}

const auto fit = oriel::function(
    [](Pendulum p, OptimizerState state, Motion from, Tensor wanted) {
      const auto [loss, gradient] =
          value_and_grad([&](const Pendulum& q) { return loss_of(q, from, wanted, true); })(p);
      const auto [next, after] = step(Adam{.rate = 0.05}, p, gradient, state);
      return std::tuple(loss, next, after);
    },
    {.names = {"pendulum", "state", "from", "wanted"}});

}  // namespace

int main() {
  try {
    const auto of = [](double pull, double friction) {
      return Pendulum{scalar(std::log(pull), DType::float64), scalar(std::log(friction), DType::float64)};
    };
    const Pendulum truth = of(9.81 / 1.5, 0.25);
    const Motion from{linspace(0.3, 1.5, 16, DType::float64).realize(), zeros({16}, DType::float64).realize()};
    const Tensor exact = observed(truth, from, moved);
    const Tensor wanted = (exact + normal(Key(5), exact.shape(), 0, 0.01, DType::float64)).realize();

    // The same gradient, whether values are kept or computed again.
    const auto gradient = [&](bool again) {
      return grad([&](const Pendulum& p) { return loss_of(p, from, wanted, again); })(of(5, 0.5));
    };
    const Pendulum kept = gradient(false), computed = gradient(true);
    for (const auto& [name, g] : {std::pair("kept", kept), std::pair("computed again", computed)}) {
      const Explanation work = explain({g.pull, g.friction});
      std::cout << name << ": " << work.kernels.size() << " kernels, " << work.memory.peak_bytes
                << " bytes between them\n";
    }
    const bool same = allclose(kept.pull, computed.pull) && allclose(kept.friction, computed.friction);

    Pendulum p = packed(of(5, 0.5));
    OptimizerState state = start(Adam{}, p);
    Tensor loss;
    for (int k = 0; k < 200; ++k) std::tie(loss, p, state) = fit(p, state, from, wanted);
    const double pull = exp(p.pull).item<double>(), friction = exp(p.friction).item<double>();
    std::cout << std::setprecision(4) << "pull " << pull << " (6.54), friction " << friction << " (0.25), loss "
              << loss.item<double>() << ", " << fit.entries()[0].kernels.size() << " kernels a step\n";
    return same && std::abs(pull - 6.54) < 0.02 && std::abs(friction - 0.25) < 0.01 ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
