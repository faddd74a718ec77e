// The texts of warnings.
#pragma once

#include <vector>

#include "lang/infer.hpp"
#include "lang/syntax/program.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {

/// The warnings that depend on the definition alone, in the order of its statements.
std::vector<ComprehensionWarning> warnings(const Program& program);
/// All warnings for some shapes, statement by statement. There are none about gathers that check their indices.
std::vector<ComprehensionWarning> warnings(const Program& program, const Inference& inference, Bounds bounds);

/// Passes the warnings to the sink, if there is one (set_comprehension_warning_sink).
void tell(const std::vector<ComprehensionWarning>& warnings);

}  // namespace oriel::lang
