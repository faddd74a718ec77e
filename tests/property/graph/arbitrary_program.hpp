// Random programs for RapidCheck.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>

#include "program.hpp"
#include "support/sized.hpp"

namespace rc {

template <>
struct Arbitrary<oriel::testing::Step> {
  static Gen<oriel::testing::Step> arbitrary() {
    using oriel::testing::Step;
    return gen::build<Step>(gen::set(&Step::kind, oriel::test::any_of<std::uint32_t>(0, oriel::testing::kind_count())),
                            gen::set(&Step::dice, gen::container<std::array<std::uint32_t, 8>>(
                                                      oriel::test::any_of<std::uint32_t>(0, 1000))));
  }
};

template <>
struct Arbitrary<oriel::testing::Program> {
  static Gen<oriel::testing::Program> arbitrary() {
    using oriel::testing::Program;
    return gen::build<Program>(gen::set(&Program::steps));
  }
};

}  // namespace rc
