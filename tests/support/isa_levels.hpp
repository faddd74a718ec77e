// The instruction sets that a test or a measurement can go through here.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/error.hpp"

namespace oriel::test {

/// The levels that this machine has.
inline std::vector<std::string> isa_levels() {
  std::vector<std::string> levels;
  for (const char* level : {"baseline", "avx2", "avx512", "neon"}) {
    try {
      backend::isa::table(level);
      levels.emplace_back(level);
    } catch (const Error&) {
    }
  }
  return levels;
}

}  // namespace oriel::test
