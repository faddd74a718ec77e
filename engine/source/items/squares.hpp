// Transposing copies: squares are loaded along one axis, transposed in registers, and stored along another axis.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Renders an elementwise program by squares of points. Returns nullopt unless it loads contiguously along another loop
/// than the last, along which it stores. Throws DeviceError as `render` does.
std::optional<Rendered> render_squares(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
