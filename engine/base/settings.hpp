// Reads settings from the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oriel::base {

/// The variable's text, or nullopt if it is unset or empty or this process is privileged (environment.hpp).
std::optional<std::string> env_text(const char* name);
/// The variable as a decimal number >= 0, or nullopt if it is unset or empty. Throws ArgumentError, which names the
/// variable, for other text.
std::optional<std::int64_t> env_count(const char* name);

}  // namespace oriel::base
