#include "source/cpp/loop_order.hpp"

#include <algorithm>

#include "codegen/keep.hpp"

namespace oriel::source::cpp {

using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Stage;

namespace {

// Shorter last loops leave lanes of a packet empty. A loop that takes their place has this many points at least.
constexpr std::int64_t kShortestLast = 16;
constexpr std::int64_t kLongEnough = 64;
// Rows of at most this many points are reduced beside each other, as the tile machine does.
constexpr std::int64_t kRowBeside = 8;

bool has_work(const Stage& stage) { return !stage.body.empty() || !stage.reductions.empty(); }

}  // namespace

LoopProgram with_long_last_loop(LoopProgram program) {
  if (program.outer.empty()) return program;
  const bool rows = program.orientation == Orientation::Inner && std::ranges::any_of(program.stages, has_work);
  const auto is_short = [](const Stage& s) { return !has_work(s) || numel(s.inner, "render").value() <= kRowBeside; };
  if (rows && !std::ranges::all_of(program.stages, is_short)) return program;
  if (rows && !codegen::kept_values(program).empty()) return program;  // they are kept row by row
  program.orientation = Orientation::Outer;
  if (program.outer.back().value() >= kShortestLast) return program;
  const auto longest = std::ranges::max_element(program.outer, {}, [](const SymInt& extent) { return extent.value(); });
  if (longest->value() < kLongEnough) return program;
  const std::size_t outer = program.outer.size();
  const auto at = static_cast<std::size_t>(longest - program.outer.begin());
  Ints order;
  for (std::size_t d = 0; d < outer; ++d)
    if (d != at) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(static_cast<std::int64_t>(at));
  Ints extents;
  for (const SymInt d : order) extents.push_back(program.outer[static_cast<std::size_t>(d.value())]);
  program.outer = extents;
  for (codegen::Access& access : program.accesses) {
    Ints all = order;
    for (std::size_t d = outer; d < access.loops(); ++d) all.push_back(static_cast<std::int64_t>(d));
    access.permute(all);
  }
  return program;
}

}  // namespace oriel::source::cpp
