// Sorts: rows in order, or the positions of their elements.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Renders a program that sorts (LoopProgram::sorting); nullopt for others. Elements become unsigned keys in their
/// order, which are sorted from the lowest digits up; each pass keeps the order of equal digits. A group sorts a row
/// that fits its local memory there. Longer rows are cut into shares: for each digit of 8 bits, one function counts the
/// digits of each share, one adds up what is before each share, and one moves the elements, after it has sorted them by
/// tiles.
std::optional<Rendered> render_sort(const codegen::LoopProgram& program, const Dialect& dialect,
                                    const DeviceTraits& table);

}  // namespace oriel::source::items
