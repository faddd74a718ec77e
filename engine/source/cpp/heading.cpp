#include "source/cpp/heading.hpp"

#include "source/heading.hpp"

namespace oriel::source::cpp {

std::string heading(const codegen::LoopProgram& program, const std::vector<std::string>& buffers) {
  Heading out;
  out.add("Kernel {}", program.name);
  out.add(
      "Build with -std=c++17 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-strict-aliasing; and Eigen "
      "3.4 where it is included.");
  out.add_blank();
  out.add_loops(program);
  for (std::size_t a = 0; a < program.arguments.size(); ++a)
    out.add("arguments[{}] {}: {}", a, buffers[a], Heading::argument(program.arguments[a]));
  for (std::size_t c = 0; c < program.constants.size(); ++c) {
    const codegen::Constant& constant = program.constants[c];
    if (constant.parameter >= 0) out.add("parameters[{}] c{}: {}", constant.parameter, c, name(constant.value.dtype));
  }
  out.add_accesses(program, buffers);
  return out.text();
}

}  // namespace oriel::source::cpp
