// Random programs over symbolic sizes are captured and exported, and all built together into one program without Oriel.
// At other sizes its bits are those of a capture at these sizes, and it refuses sizes that the program does not take.
// ORIEL_EXPORTS="count seed", e.g. ORIEL_EXPORTS="60 7".
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "../../unit/export/symbolic_program.hpp"
#include "dynamic_program.hpp"
#include "oriel/error.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "schedule/rules.hpp"

namespace oriel::testing {
namespace {

using Sizes = std::array<std::int64_t, kSizes>;

Program random_program(std::mt19937& random) {
  Program program;
  program.steps.resize(2 + random() % 7);
  for (Step& step : program.steps) {
    step.kind = static_cast<std::uint32_t>(random() % 8);
    for (std::uint32_t& die : step.dice) die = static_cast<std::uint32_t>(random() % 1000);
  }
  for (auto& axes : program.leaves)
    for (std::uint32_t& axis : axes) axis = static_cast<std::uint32_t>(random() % kSizes);
  return program;
}

std::string text(const Program& program) {
  std::ostringstream out;
  for (const auto& axes : program.leaves) out << " (" << axes[0] << ", " << axes[1] << ")";
  for (const Step& step : program.steps) {
    out << "; " << step.kind;
    for (const std::uint32_t d : step.dice) out << ' ' << d;
  }
  return out.str();
}

std::vector<Tensor> leaves_of(const Program& program, const Sizes& sizes, std::uint32_t seed) {
  std::vector<Tensor> leaves;
  for (const auto& axes : program.leaves) leaves.push_back(leaf({sizes[axes[0]], sizes[axes[1]]}, seed++).realize());
  return leaves;
}

/// The sizes in the order in which the arguments name them first.
std::vector<std::int64_t> arguments_of(const Program& program, const Sizes& sizes) {
  std::vector<std::int64_t> out;
  std::array<bool, kSizes> seen{};
  for (const auto& axes : program.leaves) {
    for (const std::uint32_t axis : axes)
      if (!std::exchange(seen[axis], true)) out.push_back(sizes[axis]);
  }
  return out;
}

struct Check {
  std::size_t of, run;
  std::vector<Tensor> want;  // empty if the program does not take these sizes
  std::string what;
};

// The third result is a view of the first one.
const auto kCallable = [](const std::vector<Tensor>& leaves) {
  const auto [last, middle] = run(leaves);
  return std::tuple(last, middle, last.unsqueeze(0));
};

}  // namespace

TEST_CASE("exports of random programs of symbolic sizes give the bits of a capture") {
  std::istringstream wanted(std::getenv("ORIEL_EXPORTS") != nullptr ? std::getenv("ORIEL_EXPORTS") : "12 1");
  int count = 0;
  unsigned seed = 0;
  REQUIRE((wanted >> count >> seed));
  // Exports have no online softmax: a softmax between two products is rounded as if it stood alone.
  schedule::set_rule_enabled("online softmax", false);
  std::mt19937 random(seed);
  const test::TemporaryFolder folder;
  test::SymbolicProgram together(folder);
  std::vector<Check> checks;
  int refusals = 0;
  for (int p = 0; p < count; ++p) {
    const Program program = random_program(random);
    current = &program;
    const auto f = oriel::function(kCallable, {.traces = 1 << 30, .dynamic = Dynamic::yes, .names = {"x"}});
    const std::vector<Tensor> traced = leaves_of(program, {5, 8, 12}, 3);
    const std::string name = "open" + std::to_string(p);
    std::optional<std::size_t> number;
    ExportedFunction files;
    try {
      f(traced);
      files = f.export_cpp(folder.path(), {.name = name,
                                           .entry = f.entry_of(traced),
                                           .longest_tile = 16 << static_cast<int>(random() % 5),
                                           .tiles_in_scratch = random() % 2 == 0});
    } catch (const InternalError&) {
      throw;
    } catch (const ArgumentError&) {  // counts that depend on data, or sizes that are all fixed
      ++refusals;
      continue;
    } catch (const ShapeError&) {
      ++refusals;
      continue;
    }
    number = together.add(name, files);
    for (int round = 0; round < 6; ++round) {
      Sizes sizes{};
      for (std::int64_t& size : sizes)
        size = static_cast<std::int64_t>(round == 5 ? 20 + random() % 60 : 2 + random() % 13);
      const std::vector<Tensor> leaves = leaves_of(program, sizes, static_cast<std::uint32_t>(random()));
      std::vector<Tensor> given;
      for (const ExportedArgument& t : files.inputs)
        given.push_back(leaves[static_cast<std::size_t>(t.name.back() - '0')]);
      Check check{*number, 0, {}, text(program)};
      try {
        const auto fixed = oriel::function(kCallable, {.traces = 1 << 30, .dynamic = Dynamic::no});
        const auto [last, middle, view] = fixed(leaves);
        check.want = {last, middle, view};
      } catch (const InternalError&) {
        throw;
      } catch (const Error&) {  // the program does not take these sizes
      }
      check.run = together.add_run(*number, arguments_of(program, sizes), given);
      checks.push_back(std::move(check));
    }
  }
  together.build_and_run();
  std::size_t served = 0;
  for (const Check& check : checks) {
    CAPTURE(check.what);
    const bool ok = together.run(check.of, check.run).status == "ok";
    if (!ok) continue;
    ++served;
    REQUIRE(!check.want.empty());
    together.check(check.of, check.run, check.want);
  }
  MESSAGE(served, " of ", checks.size(), " runs were served; ", refusals, " programs were not exported");
  CHECK(2 * refusals < count);
  CHECK(3 * served > checks.size());
}

}  // namespace oriel::testing
