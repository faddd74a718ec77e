// The buffer elements that make the source of windows.
#pragma once

#include <optional>

#include "codegen/window_layout.hpp"
#include "oriel/view.hpp"

namespace oriel::codegen {

/// The stack through which a source reads its buffer; nothing if some point may lie outside of the buffer.
std::optional<ShapeTracker> source_tracker(const WindowLoops& loops, const LoopProgram& program, const Windows& w,
                                           const WindowLayout& l, const Access& access);

}  // namespace oriel::codegen
