// Random programs over short rows, of which several stages of a kernel reduce 0 to 16 elements, beside the oracle.
// RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include <algorithm>
#include <iterator>

#include "agreement.hpp"
#include "arbitrary_program.hpp"
#include "support/property_main.hpp"

namespace oriel::testing {
namespace {

// Leaves of short rows, and values that several stages of a kernel reduce.
Program of_rows(Program program) {
  program.rows = true;
  program.steps.resize(std::clamp<std::size_t>(program.steps.size(), 2, 8));
  program.steps.front().kind = kLeaf;
  for (std::size_t k = 1; k < program.steps.size(); ++k) {
    std::uint32_t& kind = program.steps[k].kind;
    constexpr std::uint32_t kKinds[] = {kRowed, kReduced, kRowed, kElementwise[0], kElementwise[1], kComposed, kLeaf};
    kind = kKinds[kind % std::size(kKinds)];
  }
  return program;
}

}  // namespace
}  // namespace oriel::testing

int main() {
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  using namespace oriel::testing;
  const auto programs = [] {
    return *rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Program>()), &of_rows);
  };
  return rc::check("the engine agrees with the oracle on programs that reduce short rows",
                   [&] { agrees(programs(), *rc::gen::arbitrary<bool>()); })
             ? 0
             : 1;
}
