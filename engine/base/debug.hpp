// Debug lines (ORIEL_DEBUG): their levels, which each context has, and the sink that receives the lines of all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/watch.hpp"
#include "oriel/debug.hpp"

namespace oriel::base {

/// Sets the context's levels from `text`, or from ORIEL_DEBUG if there is none, unless they are known already. Throws
/// ParseError, which names Context for a text.
void load_debug(ContextState& context, const std::optional<std::string>& text = std::nullopt);

/// Passes `text` to the sink line by line, each line with the prefix "oriel category: ", for a context other than the
/// default one "oriel category of context N: ".
void debug_say(std::uint16_t context, Debug category, std::string_view text);
/// Passes `text` to the sink line by line, without a prefix.
void debug_print(std::string_view text);

}  // namespace oriel::base
