// Reductions along columns on CPUs: an item takes several neighbouring vectors of columns, so it reads whole cache
// lines of each row.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Renders the program as strips of columns. Returns nullopt unless the device is a CPU and the stages reduce along
/// columns of at least two vectors. Throws DeviceError as `render` does.
std::optional<Rendered> render_columns(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
