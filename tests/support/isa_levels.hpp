// The instruction sets that tests and measurements can use on this machine.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/error.hpp"

namespace oriel::test {

/// The levels of this machine, each once: on machines with `neon`, `baseline` is another name for it and is left out.
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
