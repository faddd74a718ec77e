// Positions outside of an axis are no errors while an object lives: for tests of what is read and left out there.
#pragma once

#include "oriel/settings.hpp"

namespace oriel::test {

class UncheckedPositions {
 public:
  UncheckedPositions() { set_default_bounds(Bounds::zero); }
  ~UncheckedPositions() { set_default_bounds(Bounds::checked); }
  UncheckedPositions(const UncheckedPositions&) = delete;
  UncheckedPositions& operator=(const UncheckedPositions&) = delete;
};

}  // namespace oriel::test
