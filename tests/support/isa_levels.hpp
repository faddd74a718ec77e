// The instruction sets that a test or a measurement can go through here.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/error.hpp"

namespace oriel::test {

/// The levels that this machine has, each once: where there is `neon`, `baseline` is another name for it.
inline std::vector<std::string> isa_levels() {
  if (std::string(backend::isa::table("baseline").name) == "neon") return {"neon"};
  std::vector<std::string> levels;
  for (const char* level : {"baseline", "avx2", "avx512"}) {
    try {
      backend::isa::table(level);
      levels.emplace_back(level);
    } catch (const Error&) {
    }
  }
  return levels;
}

}  // namespace oriel::test
