// Runs each loop as it stands and with its state realised in each round, compares the results, and counts launches.
#include <cstdio>

#include "loops.hpp"
using namespace oriel;

namespace {

struct Measured {
  Ended ended;
  std::int64_t launches = 0;
};

Measured measure(Ended (*loop)(Each), Each each) {
  ProfileScope scope;
  Measured measured{loop(each)};
  measured.ended.result.realize();
  for (const KernelProfile& kernel : scope.take().kernels) measured.launches += kernel.launches;
  return measured;
}

}  // namespace

int main() {
  constexpr std::pair<const char*, Ended (*)(Each)> kLoops[] = {{"fixed point", &fixed_point},
                                                                {"conjugate gradients", &conjugate_gradients},
                                                                {"connected components", &components},
                                                                {"particle filter", &particles},
                                                                {"decoder", &decoder}};
  bool good = true;
  for (const auto& [name, loop] : kLoops) {
    const Measured asks = measure(loop, [](Tensor&) {});
    const Measured realises = measure(loop, [](Tensor& value) { value.realize(); });
    const bool same = allclose(asks.ended.result, realises.ended.result, 1e-3, 1e-4);
    std::printf("%-22s %3d rounds, %5lld launches, with realize() %5lld\n", name, asks.ended.rounds,
                static_cast<long long>(asks.launches), static_cast<long long>(realises.launches));
    if (!same) std::printf("%s: the results differ\n", name);
    if (asks.launches > 2 * realises.launches) std::printf("%s: work is repeated\n", name);
    good = good && same && asks.launches <= 2 * realises.launches;
  }
  return good ? 0 : 1;
}
