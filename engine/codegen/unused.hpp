// Accesses that no instruction names any more.
#pragma once

#include "codegen/lower.hpp"

namespace oriel::codegen {

/// Drops them with their notes; the others come in the order in which instructions name them.
void drop_unused_accesses(LoweredKernel& kernel);

}  // namespace oriel::codegen
