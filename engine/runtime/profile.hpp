// The recording behind oriel/profile.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "base/context.hpp"
#include "oriel/profile.hpp"
#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Begins to record in the context if `on` says so, or ORIEL_PROFILE if it is not given. Does nothing if the variable
/// was read before or start or stop was called. Throws ParseError if the variable is malformed.
void load_profile(base::ContextState& context, std::optional<bool> on = std::nullopt);
/// Does nothing if the context has ended.
void add_to_profile(std::uint16_t context, const LaunchStep& step, double seconds);

}  // namespace oriel::runtime
