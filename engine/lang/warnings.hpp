// Warnings in words.
#pragma once

#include <vector>

#include "lang/infer.hpp"
#include "lang/program.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {

/// Those of the definition alone, in the order of its statements.
std::vector<ComprehensionWarning> warnings(const Program& program);
/// Those of the definition for some shapes, statement by statement; `checked` tells whether gathers look at their
/// indices, and then none is told of.
std::vector<ComprehensionWarning> warnings(const Program& program, const Inference& inference, bool checked);

/// Hands them to the sink, if there is one (set_comprehension_warning_sink).
void tell(const std::vector<ComprehensionWarning>& warnings);

}  // namespace oriel::lang
