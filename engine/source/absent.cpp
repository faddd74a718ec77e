// In place of this folder in the profile small, where nothing is compiled from sources: dumps have none.
#include <string>

#include "base/absent.hpp"
#include "source/cpp/render.hpp"

namespace oriel::source::cpp {

std::string render(const codegen::LoopProgram& /*program*/) { base::throw_absent("source", "sources of kernels"); }
std::string render_beside(const codegen::LoopProgram& /*program*/, SharedHelpers& /*shared*/) {
  base::throw_absent("ORIEL_DUMP", "sources of kernels");
}

}  // namespace oriel::source::cpp
