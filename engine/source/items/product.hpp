// Contractions on CPUs by blocks: panels of both factors in local memory, tiles of results in registers.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "schedule/pattern_limits.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Below this side and depth, packing panels costs more than it saves. Below this work, launching another kernel does.
inline constexpr schedule::PatternLimits kProductPatterns{.product_work = 1 << 16,
                                                          .product_side = 24,
                                                          .product_depth = 16,
                                                          .integer_products = false,
                                                          .vector_work = -1,
                                                          .window_work = -1};

/// Renders the program as one function over blocks of results. Returns nullopt unless it is a contraction
/// (codegen/contraction.hpp) of floats, large enough, on a CPU device. `options.shape` selects the sizes of blocks.
/// Throws DeviceError as `render` does.
std::optional<Rendered> render_product(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
