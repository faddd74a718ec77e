#include "codegen/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "oriel/inline_vector.hpp"

namespace oriel::codegen {
namespace {

using Steps = InlineVector<std::int64_t, 4>;

bool same_coefficients(const Access& a, const Access& b) {
  if (a.loops() != b.loops()) return false;
  for (std::size_t d = 0; d < a.loops(); ++d) {
    if (a.coefficient(d) != b.coefficient(d)) return false;
  }
  return true;
}

// Is there a point at which both are valid? Each point of a roll or a concat reads one of its accesses alone.
bool at_one_point(const Access& a, const Access& b) {
  for (std::size_t d = 0; d < a.loops(); ++d) {
    if (std::max(a.begin(d), b.begin(d)) >= std::min(a.end(d), b.end(d))) return false;
  }
  return true;
}

// Writes `shift` as steps along the loops, the loop with the longest step first. nullopt if a remainder is left, or if
// a loop has too few points for its steps.
std::optional<Steps> steps_of(const Access& access, std::int64_t shift) {
  Steps order(access.loops()), steps(access.loops(), 0);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto length = [&](std::int64_t d) { return std::abs(access.coefficient(static_cast<std::size_t>(d))); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
  for (const std::int64_t loop : order) {
    const auto d = static_cast<std::size_t>(loop);
    const std::int64_t step = length(loop);
    if (step == 0) break;
    // The nearest number of steps: the neighbour above on the right is one row up and one column on.
    const std::int64_t rest = std::abs(shift) % step, whole = std::abs(shift) / step + (rest > step / 2 ? 1 : 0);
    if (whole >= access.extent(d)) return std::nullopt;
    const std::int64_t moved = shift < 0 ? -whole : whole;
    shift -= moved * step;
    steps[d] = access.coefficient(d) < 0 ? -moved : moved;
  }
  return shift == 0 ? std::optional(std::move(steps)) : std::nullopt;
}

// An argument that is read, by the first of its affine accesses.
struct Reads {
  std::int32_t argument = -1;
  std::size_t first = 0;
  bool several = false;
};

// The reads of different elements at a point, and the extents of the least box that holds them, by outer loop.
struct Stencil {
  std::int64_t reads = 0;
  std::vector<std::int64_t> extents;
};

std::optional<Stencil> stencil_of(const LoopProgram& program, const Reads& reads) {
  const Access& first = program.accesses[reads.first];
  InlineVector<std::int64_t, 8> shifts{0};
  Steps least(first.loops(), 0), most(first.loops(), 0);
  for (std::size_t a = reads.first + 1; a < program.accesses.size(); ++a) {
    const Access& access = program.accesses[a];
    if (access.buffer != reads.argument || !access.affine() || !same_coefficients(access, first) ||
        !at_one_point(access, first))
      continue;
    const std::int64_t shift = access.offset() - first.offset();
    if (std::find(shifts.begin(), shifts.end(), shift) != shifts.end()) continue;
    const std::optional<Steps> steps = steps_of(first, shift);
    if (!steps) continue;
    shifts.push_back(shift);
    for (std::size_t d = 0; d < steps->size(); ++d) {
      least[d] = std::min(least[d], (*steps)[d]);
      most[d] = std::max(most[d], (*steps)[d]);
    }
  }
  if (shifts.size() < 2) return std::nullopt;
  Stencil stencil{static_cast<std::int64_t>(shifts.size()), {}};
  for (std::size_t d = 0; d < least.size(); ++d) stencil.extents.push_back(most[d] - least[d] + 1);
  return stencil;
}

}  // namespace

std::string stencil_text(const LoopProgram& program) {
  if (!std::holds_alternative<Elementwise>(program.form)) return {};
  InlineVector<Reads, 8> list;
  bool any = false;
  for (std::size_t a = 0; a < program.accesses.size(); ++a) {
    const Access& access = program.accesses[a];
    if (access.buffer < 0 || !access.affine()) continue;
    const Argument& argument = program.arguments[static_cast<std::size_t>(access.buffer)];
    if (argument.output || argument.local) continue;
    if (list.empty()) list.resize(program.arguments.size());
    Reads& reads = list[static_cast<std::size_t>(access.buffer)];
    any = any || reads.argument >= 0;
    reads.several = reads.argument >= 0;
    if (!reads.several) reads = {access.buffer, a, false};
  }
  if (!any) return {};
  std::int64_t most = 0;
  std::string text;
  for (const Reads& reads : list) {
    const std::optional<Stencil> stencil = reads.several ? stencil_of(program, reads) : std::nullopt;
    if (!stencil || stencil->reads <= most) continue;
    most = stencil->reads;
    text = fmt::format("stencil: {} reads of {} in {}", most,
                       program.arguments[static_cast<std::size_t>(reads.argument)].name,
                       fmt::join(stencil->extents, " x "));
  }
  return text;
}

}  // namespace oriel::codegen
