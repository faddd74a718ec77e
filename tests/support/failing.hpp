// A device that fails.
#pragma once

#include <stdexcept>
#include <string_view>

#include "oriel/debug.hpp"

namespace oriel::test {

// The starts and ends of kernels are told to a sink, and a sink may throw: a device that fails in the kernel that
// follows `allowed` others.
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
