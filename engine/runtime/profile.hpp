// The recording behind oriel/profile.hpp.
#pragma once

#include "oriel/profile.hpp"
#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Is a profile being recorded? False if ORIEL_PROFILE is malformed.
bool recording() noexcept;
/// Reads ORIEL_PROFILE, unless it was read before or start or stop was called. Throws ParseError if it is malformed.
void load_profile();
void add_to_profile(const LaunchStep& step, double seconds);

}  // namespace oriel::runtime
