// In place of this folder in the profile small, where nothing is compiled from sources: explanations show the loop
// program in their place, and dumps are refused.
#include <string>

#include "base/absent.hpp"
#include "source/cpp/render.hpp"

namespace oriel::source::cpp {

std::string render(const codegen::LoopProgram& program) { return codegen::to_string(program); }
std::string render_beside(const codegen::LoopProgram& /*program*/, SharedHelpers& /*shared*/) {
  base::throw_absent("ORIEL_DUMP", "sources of kernels");
}

}  // namespace oriel::source::cpp
