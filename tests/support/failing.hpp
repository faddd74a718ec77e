// A device that fails.
#pragma once

#include <stdexcept>
#include <string_view>

#include "oriel/debug.hpp"

namespace oriel::test {

// Launches are told to a sink, and a sink may throw: a device that fails after `allowed` kernels.
struct Failing {
  explicit Failing(int allowed) {
    set_debug("launch");
    set_debug_sink([left = allowed](std::string_view) mutable {
      if (left-- == 0) throw std::runtime_error("failed");
    });
  }
  ~Failing() {
    set_debug("");
    set_debug_sink(nullptr);
  }
};

}  // namespace oriel::test
