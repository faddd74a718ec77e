#include "source/other_language.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "source/cpp/render.hpp"
#include "source/items/render.hpp"
#include "source/opencl/dialect.hpp"

namespace oriel::source {

namespace {

/// Can work items run it? The scheduler gives devices nothing else (backend::Capabilities).
bool items_run(const codegen::LoopProgram& program) {
  return !program.scattering && !program.hosting && !program.online &&
         std::ranges::none_of(program.stages, [](const codegen::Stage& s) { return s.part > 0; });
}

}  // namespace

OtherSource in_other_language(const codegen::LoopProgram& program, std::string_view source) {
  OtherSource other{"C++", cpp::render(program)};
  if (other.text != source) return other;
  other = {"OpenCL C", ""};
  if (!items_run(program)) return other;
  items::DeviceTraits gpu;
  gpu.name = "a GPU";
  gpu.fp64 = gpu.fma = true;
  gpu.units = 64;
  gpu.argument_bytes = 4096;
  gpu.local_memory = std::int64_t{48} << 10;
  gpu.group_size = gpu.group_extent = 1024;
  try {
    other.text = items::render(program, opencl::dialect(), gpu, {}).source();
  } catch (const DeviceError&) {  // it takes more arguments than a GPU
  }
  return other;
}

}  // namespace oriel::source
