// Random programs are exported and built together into one program without Oriel. Its bits are compared with the
// engine's; some find a position outside its axis. ORIEL_EXPORTS="count seed", e.g. ORIEL_EXPORTS="60 7".
#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <utility>

#include "../../unit/export/program.hpp"
#include "oriel/oriel.hpp"
#include "program.hpp"
#include "schedule/rules.hpp"
#include "support/unchecked_positions.hpp"

using namespace oriel;

namespace {

testing::Program random_program(std::mt19937& random) {
  testing::Program program;
  program.steps.resize(4 + random() % 20);
  for (testing::Step& step : program.steps) {
    step.kind = static_cast<std::uint32_t>(random() % testing::kind_count());
    for (std::uint32_t& die : step.dice) die = static_cast<std::uint32_t>(random() % 1000);
  }
  // Random steps rarely make fused kernels, so some programs end with a step that does.
  if (random() % 3 == 0) program.steps.back().kind = testing::kChained;
  return program;
}

/// The program, and whether it checks positions. It does not if the calls refuse one that they know.
std::pair<testing::Built, bool> build(const testing::Program& program, std::mt19937& random) {
  if (random() % 2 == 0) {
    set_default_bounds(Bounds::checked);
    try {
      return {testing::build(program), true};
    } catch (const IndexError&) {
    }
  }
  const test::UncheckedPositions unchecked;
  return {testing::build(program), false};
}

bool refuses(const std::vector<Tensor>& results) {
  try {
    realize(results);
  } catch (const IndexError&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("exports of random programs give the engine's bits") {
  std::istringstream wanted(std::getenv("ORIEL_EXPORTS") != nullptr ? std::getenv("ORIEL_EXPORTS") : "10 1");
  int count = 0;
  unsigned seed = 0;
  REQUIRE((wanted >> count >> seed));
  set_lazy_limits({.nodes = 0, .bytes = 0});
  // Exports have no online softmax: a softmax between two products is rounded as if it stood alone.
  schedule::set_rule_enabled("online softmax", false);
  std::mt19937 random(seed);
  const test::TemporaryFolder folder;
  testing::CallersMemories memories;  // of all programs
  test::Program together(folder);
  std::vector<testing::Program> programs;
  for (int p = 0; p < count; ++p) {
    const testing::Program program = random_program(random);
    const auto [built, checked] = build(program, random);
    // A bitcast would show the bits of a NaN, which may differ. Exports have no host functions.
    const std::string text = testing::paste_ready(program);
    if (built.values.empty() || text.find("bitcast") != std::string::npos || text.find("fft(") != std::string::npos)
      continue;
    memories.insert(memories.end(), built.memories.begin(), built.memories.end());
    const auto [last, middle] = testing::results(built);
    const std::vector<Tensor> results{built.values[last], built.values[middle]};
    const std::string name = "random" + std::to_string(p);
    const int tile = 16 << static_cast<int>(random() % 5);
    // Leaves become constants in the source, so that the program needs no files.
    const ExportedFiles files = export_cpp(results, folder.path(),
                                           {.name = name,
                                            .embed_bytes = std::int64_t{1} << 40,
                                            .longest_tile = tile,
                                            .tiles_in_scratch = random() % 2 == 0});
    together.add({name, files, {}, results, "", checked && refuses(results) ? "position" : "ok"});
    programs.push_back(program);
  }
  together.write();
  together.build("g++", test::level_flags());
  together.run();
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const test::Exported& e = together.exports()[p];
    if (e.status != "ok") continue;
    for (std::size_t o = 0; o < e.outputs.size(); ++o) {
      const ExportedTensor& t = e.files.outputs[o];
      const std::int64_t at = test::difference(t.dtype, together.result(e, o), test::bytes_of(e.outputs[o], t.bytes));
      CAPTURE(o);
      CHECK_MESSAGE(at < 0, "element ", at, " of ", testing::paste_ready(programs[p]));
    }
  }
}
