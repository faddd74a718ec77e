// What work calls where it is watched.
#pragma once

#include "runtime/observe.hpp"

namespace oriel::runtime {

/// Lets all work report by what this folder has. In the profile small a program has it by use (base/by_use.hpp).
void install_inspection() noexcept;

}  // namespace oriel::runtime
