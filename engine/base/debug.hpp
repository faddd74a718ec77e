// Debug lines (ORIEL_DEBUG): a level for each category, and the sink that receives the lines.
#pragma once

#include <atomic>
#include <string_view>

#include "oriel/debug.hpp"

namespace oriel::base {

/// In the order of debug_categories().
enum class Debug { Graph, Schedule, Merge, Codegen, Memory, Cache, Compile, Launch, Dynamic };
inline constexpr int kDebugCount = 9;

namespace detail {
extern std::atomic<int> debug_levels[kDebugCount];
}

/// True if the category has at least this level. Costs one relaxed load. ORIEL_DEBUG has an effect only after
/// load_debug.
inline bool debugging(Debug category, int level = 1) noexcept {
  return detail::debug_levels[static_cast<int>(category)].load(std::memory_order_relaxed) >= level;
}
/// Reads ORIEL_DEBUG, unless it was read before or set_debug was called. Throws ParseError.
void load_debug();

/// Passes `text` to the sink line by line, each line with the prefix "oriel category: ".
void debug_say(Debug category, std::string_view text);
/// Passes `text` to the sink line by line, without a prefix.
void debug_print(std::string_view text);

}  // namespace oriel::base
