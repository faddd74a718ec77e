// Random programs: what the engine computes against the oracle. RC_PARAMS sets the number, length and seed, e.g.
// RC_PARAMS="max_success=10000 max_size=60 seed=7".
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "agreement.hpp"
#include "arbitrary_program.hpp"
#include "functions/scatter_parts.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"
#include "runtime/executor.hpp"
#include "support/fixed_seed.hpp"

namespace oriel::testing {
namespace {

// Asks for numbers in between: all values are named, and each is asked about in an order that the program draws. What
// was computed twice is in memory, so each later question is one launch.
void agrees_asked(const Program& program) {
  const Built built = build(program);
  const std::vector<Tensor>& values = built.values;
  std::vector<std::vector<reference::Number>> wanted;
  for (const Tensor& value : values) wanted.push_back(reference::interpret(value));
  const std::size_t first = program.steps.empty() ? 0 : program.steps.back().dice[0];
  for (int round = 0; round < 4; ++round) {
    const std::uint64_t before = runtime::counters().kernels_launched;
    // Each question is a kernel, which drivers take long to compile.
    for (std::size_t k = 0; k < values.size(); k += default_device() == Device::eigen() ? 1 : 3) {
      const Tensor& value = values[(first + (first % 2 == 0 ? k : values.size() - 1 - k)) % values.size()];
      try {
        sum(value.to(DType::float32)).realize();
      } catch (const Error& error) {
        RC_FAIL(std::string("the engine refused a question: ") + error.what());
      }
    }
    if (round >= 2 && default_device() == Device::eigen())
      RC_ASSERT(runtime::counters().kernels_launched - before <= values.size());
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string fault = reference::difference(values[k], wanted[k], reference::elements(values[k]));
    if (!fault.empty()) RC_FAIL(fmt::format("value {}: {}", k, fault));
  }
}

// The graph of the CPU, which scatters, is the oracle's: devices that do not are given a graph of many other ops.
void agrees_with_cpu(const Program& program) {
  const Device device = default_device();
  set_default_device(Device::eigen());
  const Built there = build(program);
  set_default_device(device);
  const Built here = build(program);
  if (here.values.empty()) return;
  RC_ASSERT(here.values.size() == there.values.size());
  for (std::size_t k = 0; k < here.values.size(); ++k) {
    const std::string fault = reference::difference(here.values[k], reference::interpret(there.values[k]),
                                                    reference::elements(here.values[k]));
    if (!fault.empty()) RC_FAIL(fmt::format("value {}: {}", k, fault));
  }
}

// A leaf in memory of the caller and a few elementwise steps. Their results must not overwrite the leaf.
Program over_callers_memory(Program program) {
  program.in_callers_memory = true;
  program.steps.resize(std::clamp<std::size_t>(program.steps.size(), 2, 5));
  program.steps.front().kind = kLeaf;
  for (std::size_t k = 1; k < program.steps.size(); ++k) {
    std::uint32_t& kind = program.steps[k].kind;
    kind = kElementwise[kind % std::size(kElementwise)];
  }
  return program;
}

// A leaf, what may be made of it, and values that are combined at positions.
Program of_scatters(Program program) {
  program.scatters = true;
  program.steps.resize(std::clamp<std::size_t>(program.steps.size(), 3, 5));
  program.steps.front().kind = kLeaf;
  for (std::size_t k = 2; k < program.steps.size(); ++k) program.steps[k].kind = kGathered;
  return program;
}

}  // namespace
}  // namespace oriel::testing

int main() {
  oriel::test::fix_seed();
  oriel::set_lazy_limits({.nodes = 0, .bytes = 0});
  oriel::set_default_bounds(oriel::Bounds::zero);  // some positions are outside
  // Programs are small, and devices without scatters sort the positions of large ones alone.
  if (std::getenv("ORIEL_TEST_SORTED_SCATTERS") != nullptr) oriel::api::most_compared_pairs = 0;
  try {
    oriel::set_default_device(oriel::default_device());
    // Opens the device to which ORIEL_TEST_SPAN sends values.
    if (oriel::testing::spans_devices()) static_cast<void>(oriel::full({1}, 1).to(oriel::Device::opencl()));
  } catch (const oriel::DeviceError& error) {
    std::cout << "skipped: " << error.what() << '\n';
    return 77;
  }
  using oriel::testing::Program;
  const bool good = rc::check("the engine agrees with the oracle on random programs",
                              [](const Program& program) { oriel::testing::agrees(program, true); });
  const bool dropped = rc::check("and where the program holds the results alone",
                                 [](const Program& program) { oriel::testing::agrees(program, false); });
  const bool asked = rc::check("and where it asks for numbers in between, and computes nothing a third time",
                               [](const Program& program) { oriel::testing::agrees_asked(program); });
  const bool apart = rc::check("and leaves the caller's memory alone", [] {
    using namespace oriel::testing;
    const auto programs = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Program>());
    agrees(*rc::gen::map(programs, &over_callers_memory), false);
  });
  const bool combined = rc::check("and combines at positions as the CPU does", [] {
    using namespace oriel::testing;
    agrees_with_cpu(*rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Program>()), &of_scatters));
  });
  return good && dropped && asked && apart && combined ? 0 : 1;
}
