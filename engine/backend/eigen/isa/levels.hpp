// Names the instruction-set levels that this build contains.
#pragma once

#include <string>

namespace oriel::backend::isa {

/// For example "baseline, avx2 and avx512 (not on this machine)"; on 64-bit Arm "neon".
std::string levels_text();

}  // namespace oriel::backend::isa
