// A subject with a known fault, for tests of the fuzzer.
#pragma once

#include "fuzz/properties.hpp"

namespace oriel::test {

/// Violates soundness whenever an axis is padded in front and, at once or later, flipped.
class Faulty final : public fuzz::Subject {
 public:
  void check(fuzz::Kind, std::span<const fuzz::Case> cases, std::span<std::optional<fuzz::Failure>> failures,
             fuzz::KindTally& tally) override {
    for (std::size_t k = 0; k < cases.size(); ++k) {
      ++tally.cases;
      bool padded = false;
      for (const fuzz::Movement& movement : cases[k].movements) {
        if (movement.kind == fuzz::MovementKind::Pad) {
          for (const Range& range : movement.ranges) padded = padded || range.lo > 0;
        }
        if (movement.kind == fuzz::MovementKind::Flip && !movement.ints.empty() && padded) {
          failures[k] = fuzz::Failure{fuzz::Property::Soundness, "as planned"};
        }
      }
    }
  }
};

}  // namespace oriel::test
