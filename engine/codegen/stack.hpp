// The stack of views behind an access: for codegen, which makes new accesses from it, and for what shows stacks to
// people. Renderers and backends read the access' numbers instead (scripts/check_includes).
#pragma once

#include "codegen/access.hpp"

namespace oriel::codegen {

inline const ShapeTracker& stack_of(const Access& access) noexcept { return access.stack_; }

}  // namespace oriel::codegen
