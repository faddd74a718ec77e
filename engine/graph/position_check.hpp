// Host functions that only check positions.
#pragma once

#include <string_view>

#include "graph/host_function.hpp"

namespace oriel::graph {

/// What a file calls these functions begins with this, which no function of a user has.
inline constexpr std::string_view kPositionCheck = "check_positions";

/// Does the function give true, or throw? A plan for an export has true in its place.
inline bool only_checks(const HostFunction& function) { return function.saved.starts_with(kPositionCheck); }

}  // namespace oriel::graph
