// Copies that turn: squares loaded as rows along another axis than they are stored along, turned in registers.
#pragma once

#include <optional>

#include "backend/opencl/device_table.hpp"
#include "backend/opencl/render.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::opencl {

/// An elementwise program as squares of points, where what it loads runs along another loop than the last, along which
/// it stores; else nothing. Throws DeviceError as `render`.
std::optional<Rendered> render_squares(const codegen::LoopProgram& program, const DeviceTable& table,
                                       const RenderOptions& options);

}  // namespace oriel::backend::opencl
