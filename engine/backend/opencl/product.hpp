// Sums of products as blocks: panels of both factors in local memory, tiles of results in registers.
#pragma once

#include <optional>

#include "backend/opencl/device_table.hpp"
#include "backend/opencl/render.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::opencl {

/// The program as one function over blocks of results, where it is a contraction (codegen/contraction.hpp) of floats
/// that is large enough, on a CPU device; else nothing. `options.shape` picks the blocks. Throws DeviceError as
/// `render`.
std::optional<Rendered> render_product(const codegen::LoopProgram& program, const DeviceTable& table,
                                       const RenderOptions& options);

}  // namespace oriel::backend::opencl
