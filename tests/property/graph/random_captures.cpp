// Random programs as captured functions: traced once and run on new data, they give the bits of the plain engine.
// RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <iostream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arbitrary_program.hpp"
#include "formula/call.hpp"
#include "leaf.hpp"
#include "oriel/oriel.hpp"
#include "saved_programs.hpp"
#include "support/property_main.hpp"

namespace oriel::testing {
namespace {

constexpr std::uint32_t kRounds = 8;

/// The program that the captured callable builds. It is global, because a captured callable holds no state.
const Program* current = nullptr;

std::pair<Tensor, Tensor> run(std::span<const Tensor> leaves) {
  const LeavesFrom given(leaves);
  const Built built = build(*current);
  if (built.values.empty()) throw std::logic_error("the program has no values here");
  const auto [last, middle] = testing::results(built);
  return {built.values[last], built.values[middle]};
}

void check(const Tensor& captured, const Tensor& plain, const char* which, std::uint32_t round) {
  if (captured.shape() != plain.shape() || captured.dtype() != plain.dtype() || captured.strides() != plain.strides())
    RC_FAIL(std::string(which) + " is " + captured.str() + ", and " + plain.str() + " of the plain engine");
  if (bits_of(captured) != bits_of(plain)) RC_FAIL(std::string(which) + " differs in round " + std::to_string(round));
}

void agrees(const Program& program) {
  current = &program;
  CallersMemories memories;  // of leaves; must outlive the tensors below
  std::vector<LeafKind> kinds;
  {
    LeafNotes notes;
    if (build(program).values.empty()) return;
    kinds = std::move(notes.kinds);
  }
  const auto f = oriel::function([](const std::vector<Tensor>& leaves) { return run(leaves); },
                                 {.traces = std::numeric_limits<int>::max()});
  std::vector<std::vector<Tensor>> calls;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    std::vector<Tensor> leaves;
    for (const LeafKind& kind : kinds) {
      const Leaf made = make_leaf(kind.dtype, kind.shape, kind.seed + 77 * round);
      if (made.memory) memories.push_back(made.memory);
      Tensor leaf = made.tensor;
      // Some leaves are pending. The same entry must serve them.
      if (round % 4 == 2) leaf = where(full(kind.shape, true), leaf, leaf);
      leaves.push_back(leaf);
    }
    calls.push_back(leaves);
    const auto [last, middle] = f(leaves);
    const auto [plain_last, plain_middle] = run(leaves);
    // Two results of a captured function that name one storage keep sharing it, and the storage is computed as a whole.
    // The plain engine may join a view's movements with those of its storage and compute the view by itself, with sums
    // in another order. So the storage is realised first and the view is read from its elements.
    detail::Cell* const last_cell = &detail::Access::cell(plain_last);
    detail::Cell* const middle_cell = &detail::Access::cell(plain_middle);
    if (detail::Storage* const storage = last_cell->storage();
        middle_cell->storage() == storage && last_cell != middle_cell) {
      detail::Access::naming(detail::CellPtr(storage)).realize();
      storage->set_contents(storage->node());
    }
    realize({plain_last, plain_middle});
    check(last, plain_last, "the last value", round);
    check(middle, plain_middle, "the middle value", round);
  }
  RC_ASSERT(f.counts().traces == 1U);
  RC_ASSERT(f.counts().hits == kRounds - 1);
  // Leaves of other processes would lie in other memory: views, strides, borrowed memory. Those of random_dynamic do.
  if (const std::string differs = SavedPrograms().check(f, calls, false); !differs.empty()) RC_FAIL(differs);
}

}  // namespace
}  // namespace oriel::testing

int main() {
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  using oriel::testing::Program;
  return rc::check("captured once, a random program gives the plain engine's bits on new data",
                   [](const Program& program) { oriel::testing::agrees(program); })
             ? 0
             : 1;
}
