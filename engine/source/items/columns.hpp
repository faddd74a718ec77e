// Reductions along columns on CPUs: an item walks several neighbouring vectors of columns, a run of cache lines a row.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// The program as strips of columns, where its stages gather along columns of at least two vectors on a CPU device;
/// else nothing. Throws DeviceError as `render`.
std::optional<Rendered> render_columns(const codegen::LoopProgram& program, const ItemDialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
