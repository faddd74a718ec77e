// Random programs of reads, writes and views over a few storages, compared with a model that does each step at once.
// RC_PARAMS as for random_programs.
#include <rapidcheck.h>

#include "oriel/oriel.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"
#include "writes.hpp"

namespace rc {

template <>
struct Arbitrary<oriel::testing::WriteStep> {
  static Gen<oriel::testing::WriteStep> arbitrary() {
    using oriel::testing::WriteStep;
    return gen::build<WriteStep>(gen::set(&WriteStep::kind, oriel::test::any_of<std::uint32_t>(0, 1000)),
                                 gen::set(&WriteStep::dice, gen::container<std::array<std::uint32_t, 10>>(
                                                                oriel::test::any_of<std::uint32_t>(0, 1000))));
  }
};

template <>
struct Arbitrary<oriel::testing::WriteProgram> {
  static Gen<oriel::testing::WriteProgram> arbitrary() {
    using oriel::testing::WriteProgram;
    return gen::build<WriteProgram>(gen::set(&WriteProgram::steps));
  }
};

}  // namespace rc

namespace {

void agrees(const oriel::testing::WriteProgram& program) {
  const std::string fault = oriel::testing::run(program).fault;
  if (!fault.empty()) RC_FAIL(fault);
}

}  // namespace

int main() {
  oriel::test::fix_seed();
  const bool good = rc::check("lazy writes give what eager ones give", &agrees);
  return good ? 0 : 1;
}
