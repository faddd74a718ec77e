// Random captured functions that write: to their own tensors, to arguments and to views of them, which may share
// storages. Run without capture on copies of the storages, the callable must leave the same elements, and its results
// must alias in the same way.
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"

namespace oriel::testing {
namespace {

struct CapturedStep {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 4> dice{};
};
std::ostream& operator<<(std::ostream& out, const CapturedStep& step) {
  out << "{" << step.kind;
  for (const std::uint32_t d : step.dice) out << ", " << d;
  return out << "}";
}

/// The steps that the captured callable takes. They are global, because a captured callable holds no state.
const std::vector<CapturedStep>* steps = nullptr;

constexpr std::int64_t kExtent = 3;
constexpr std::size_t kStorages = 3;

Tensor storage(std::uint32_t seed) {
  return Tensor::generate({kExtent, kExtent}, [&](auto) {
    seed = seed * 1664525 + 1013904223;
    return static_cast<std::int64_t>(seed >> 24);
  });
}

/// A view of x: transposed, flipped, or a row.
Tensor view(const Tensor& x, std::uint32_t dice) {
  switch (dice % 5) {
    case 0:
      return x.rank() == 2 ? x.transpose() : x;
    case 1:
      return x.flip(0);
    case 2:
      return x.rank() == 2 ? x.select(0, dice / 5 % kExtent) : x;
    case 3:
      return x.flip(-1);
    default:
      return x;
  }
}

/// The arguments of a call: views of the storages, sometimes several views of one storage.
std::vector<Tensor> arguments(const std::vector<Tensor>& storages, std::uint32_t dice) {
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < 4; ++k) {
    dice = dice * 1664525 + 1013904223;
    out.push_back(view(storages[(dice >> 8) % kStorages], dice >> 16));
  }
  return out;
}

std::vector<Tensor> run(std::vector<Tensor> handles) {
  for (const CapturedStep& step : *steps) {
    const Tensor x = handles[step.dice[0] % handles.size()], y = handles[step.dice[1] % handles.size()];
    Tensor target = view(x, step.dice[2]);
    const Tensor value = view(y, step.dice[3]);
    const bool fits = value.rank() <= target.rank();
    switch (step.kind % 5) {
      case 0:
        fits ? target.assign(value) : target.assign(7);
        break;
      case 1:
        fits ? target += value : target += 3;
        break;
      case 2:
        handles.push_back(target + value);
        break;
      case 3:
        handles.push_back(target * 2);
        break;
      default:
        handles.push_back(target);
    }
  }
  return {handles[0], handles.back(), handles[handles.size() / 2]};
}

std::vector<std::vector<std::int64_t>> elements(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<std::int64_t>> out;
  for (const Tensor& x : tensors) out.push_back(x.to_vector<std::int64_t>());
  return out;
}

void agrees(const std::vector<CapturedStep>& program, std::uint32_t seed) {
  steps = &program;
  const auto f = oriel::function([](const std::vector<Tensor>& xs) { return run(xs); },
                                 {.traces = std::numeric_limits<int>::max()});
  for (std::uint32_t round = 0; round < 4; ++round) {
    std::vector<Tensor> captured, plain;
    for (std::uint32_t k = 0; k < kStorages; ++k) {
      captured.push_back(storage(10 * round + k + seed));
      plain.push_back(storage(10 * round + k + seed));
    }
    if (round == 2) captured[0] += 1, plain[0] += 1;  // pending
    const std::vector<Tensor> before{+captured[0], +plain[0]};
    // Called twice on the same storages: the second call reads what the first call wrote.
    for (int call = 0; call < 2; ++call) {
      std::vector<Tensor> results = f(arguments(captured, seed));
      std::vector<Tensor> wanted = run(arguments(plain, seed));
      RC_ASSERT(elements(results) == elements(wanted));
      RC_ASSERT(elements(captured) == elements(plain));
      // A write to a result is a write to the storage that the result names.
      for (std::size_t k = 0; k < results.size(); ++k) {
        results[k] += static_cast<int>(k + 1);
        wanted[k] += static_cast<int>(k + 1);
        RC_ASSERT(elements(results) == elements(wanted));
        RC_ASSERT(elements(captured) == elements(plain));
      }
    }
    RC_ASSERT(elements({before[0]}) == elements({before[1]}));
  }
  RC_ASSERT(f.counts().traces == 1U);
}

}  // namespace
}  // namespace oriel::testing

namespace rc {
template <>
struct Arbitrary<oriel::testing::CapturedStep> {
  static Gen<oriel::testing::CapturedStep> arbitrary() {
    using oriel::testing::CapturedStep;
    return gen::build<CapturedStep>(gen::set(&CapturedStep::kind, oriel::test::any_of<std::uint32_t>(0, 1000)),
                                    gen::set(&CapturedStep::dice, gen::container<std::array<std::uint32_t, 4>>(
                                                                      oriel::test::any_of<std::uint32_t>(0, 1000))));
  }
};
}  // namespace rc

int main() {
  oriel::test::fix_seed();
  return rc::check("captured writes leave what the callable alone leaves",
                   [](const std::vector<oriel::testing::CapturedStep>& program) {
                     oriel::testing::agrees(program, *oriel::test::any_of<std::uint32_t>(0, 100000));
                   })
             ? 0
             : 1;
}
