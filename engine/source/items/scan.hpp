// Scans: what is combined up to each element along an axis.
#pragma once

#include <optional>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Renders a program that scans (LoopProgram::scanning); nullopt for others. Lines are cut into shares where there are
/// fewer of them than the device needs: one function combines each share, one combines what is before each, one scans
/// the shares. On GPUs, a group takes a share of neighbouring elements tile by tile through local memory; elsewhere,
/// and for lines that lie side by side in memory, an item takes a share of one line.
std::optional<Rendered> render_scan(const codegen::LoopProgram& program, const Dialect& dialect,
                                    const DeviceTraits& table);

}  // namespace oriel::source::items
