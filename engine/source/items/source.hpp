// What stands around the bodies of functions: names, arguments, the header that tells operands and domain.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// How many numbers a kernel may take as arguments beside its buffers and parameters.
std::size_t room_for_numbers(const codegen::LoopProgram& program, const DeviceTraits& table);

/// Arguments of a type: partial results, or rows in local memory.
using Places = std::vector<std::pair<DType, std::string>>;

/// Fills in functions, body and header, once all else is there. Kept rows are arguments of the first function alone.
void finish_source(const codegen::LoopProgram& program, const ItemDialect& dialect, Rendered& out,
                   const std::vector<std::string>& bodies, const std::vector<std::string>& parameter_names,
                   const Places& partials = {}, const Places& kept = {});

}  // namespace oriel::source::items
