// Copies that turn: squares loaded as rows along another axis than they are stored along, turned in registers.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// An elementwise program as squares of points, where what it loads runs along another loop than the last, along which
/// it stores; else nothing. Throws DeviceError as `render`.
std::optional<Rendered> render_squares(const codegen::LoopProgram& program, const ItemDialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
