// Writes what surrounds the bodies of functions: names, arguments, the header that describes operands and domain.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Arguments with their dtypes: partial results, or rows in local memory.
using Places = std::vector<std::pair<DType, std::string>>;

/// Fills in functions, body and header. Everything else must be there. Only the first function takes kept rows as
/// arguments.
void finish_source(const codegen::LoopProgram& program, const Dialect& dialect, Rendered& out,
                   const std::vector<std::string>& bodies, const std::vector<std::string>& parameter_names,
                   const Places& partials = {}, const Places& kept = {});

}  // namespace oriel::source::items
