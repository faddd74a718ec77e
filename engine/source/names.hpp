// Names that are valid in every language of the C family.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::source {

/// `name` with _ for every character that a name may not have, and with _ in front if it would begin with a digit.
std::string identifier(const std::string& name);

/// What a reduction is called in names: "sum", "prod", "max", "min", "or", "and".
std::string reduction_name(graph::Op op);

/// The names of a program's arguments, all different.
std::vector<std::string> argument_names(const codegen::LoopProgram& program);

}  // namespace oriel::source
