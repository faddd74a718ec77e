// The lines that ORIEL_DEBUG asks for: a level for each category, and the sink that takes them.
#pragma once

#include <atomic>
#include <string_view>

#include "oriel/debug.hpp"

namespace oriel::base {

/// In the order of debug_categories().
enum class Debug { Graph, Schedule, Merge, Codegen, Memory, Cache, Compile, Launch };
inline constexpr int kDebugCount = 8;

namespace detail {
extern std::atomic<int> debug_levels[kDebugCount];
}

/// One relaxed load. ORIEL_DEBUG counts once load_debug has run.
inline bool debugging(Debug category, int level = 1) noexcept {
  return detail::debug_levels[static_cast<int>(category)].load(std::memory_order_relaxed) >= level;
}
/// Reads ORIEL_DEBUG unless that, or set_debug, has been done. Throws ParseError.
void load_debug();

/// Gives `text` to the sink, line by line, each after "oriel category: ".
void debug_say(Debug category, std::string_view text);
/// Gives `text` to the sink as it is, line by line.
void debug_print(std::string_view text);

}  // namespace oriel::base
