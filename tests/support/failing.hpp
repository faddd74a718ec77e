// Simulates a device that fails.
#pragma once

#include <stdexcept>
#include <string_view>

#include "oriel/debug.hpp"

namespace oriel::test {

// Debug lines report the starts of kernels, and a debug sink may throw. This sink throws when the kernel after
// `allowed` others starts, as if the device failed in it.
struct Failing {
  explicit Failing(int allowed) {
    set_debug("launch=2");
    set_debug_sink([left = 2 * allowed](std::string_view) mutable {
      if (left-- == 0) throw std::runtime_error("failed");
    });
  }
  ~Failing() {
    set_debug("");
    set_debug_sink(nullptr);
  }
};

}  // namespace oriel::test
