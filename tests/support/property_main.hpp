// How the properties over random graphs begin.
#pragma once

#include <iostream>

#include "fixed_seed.hpp"
#include "oriel/oriel.hpp"

namespace oriel::test {

/// What main returns if there is no such device: meson counts the test as skipped.
inline constexpr int kSkipped = 77;

/// Fixes the seed (see fix_seed), switches the lazy limits and the check of positions off, and opens the default
/// device. Returns false, having said so, if there is none.
inline bool begin_property() {
  fix_seed();
  set_lazy_limits({.nodes = 0, .bytes = 0});
  set_default_bounds(Bounds::zero);  // some positions are outside
  try {
    set_default_device(default_device());
  } catch (const DeviceError& error) {
    std::cout << "skipped: " << error.what() << '\n';
    return false;
  }
  return true;
}

}  // namespace oriel::test
