#include "base/debug.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <mutex>

#include "base/activity.hpp"
#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/forever.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace {

using base::kDebugCount;

constexpr DebugCategory kCategories[] = {
    {"graph", 2,
     "1: the size of each new graph and the rewrite rules that fired; 2: every value of the rewritten graph"},
    {"schedule", 2,
     "1: the kernels of each new schedule and why each value is stored; 2: the operations in each kernel"},
    {"merge", 2, "1: each operand's views as written, merged and normalised; 2: index and valid expressions"},
    {"codegen", 3, "1: each kernel's domain before and after normalising; 2: its loop program; 3: its source"},
    {"memory", 2, "1: the blocks of each new schedule and their peak; 2: the block of every stored value"},
    {"cache", 1, "1: each schedule that was found again or had to be made, and how many of its kernels were compiled"},
    {"compile", 2,
     "1: each unit of kernels that a compiler built or the disk cache held, with its time, and what failed; 2: how "
     "each "
     "kernel is run from then on"},
    {"launch", 2,
     "1: each launch, with its time, bytes and operations; 2: each kernel as it starts, which shows where a program "
     "that "
     "hangs or crashes stands"},
    {"dynamic", 2,
     "1: each trace of a captured function, with the first guard that failed in each entry that was there, and each "
     "call beyond the limits, and whether an entry has a plan for many sizes; 2: the guards and kernels of each new "
     "entry, and the guards of such plans"},
};
static_assert(std::size(kCategories) == kDebugCount);

constexpr int kMostLevel = 9;

constexpr auto kLevels = base::ForkLock::debug;  // guards changes of the levels
constexpr auto kSink = base::ForkLock::sink;

constinit base::Forever<DebugSink> slot;  // guarded by kSink

using Levels = std::array<int, kDebugCount>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string names() {
  std::string list;
  for (const DebugCategory& c : kCategories) list += (list.empty() ? "" : ", ") + std::string(c.name);
  return list;
}

int category_index(std::string_view name) {
  for (int k = 0; k < kDebugCount; ++k)
    if (kCategories[k].name == name) return k;
  return -1;
}

[[noreturn]] void refuse(std::string_view operation, std::string_view item, std::string_view fault) {
  throw ParseError(
      operation, fmt::format("\"{}\" {}; use a comma list of category, category=level or level, with categories {} and "
                             "levels 0 to {}, as in \"schedule=2,launch\"",
                             base::escaped(item), fault, names(), kMostLevel));
}

bool is_level(std::string_view text) { return text.size() == 1 && text[0] >= '0' && text[0] <= '0' + kMostLevel; }

/// Does the text ask for the table of categories?
bool parse(std::string_view text, std::string_view operation, Levels& levels) {
  if (trimmed(text).empty()) {
    levels.fill(0);
    return false;
  }
  bool help = false;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    const std::size_t equals = item.find('=');
    const std::string_view name = trimmed(item.substr(0, equals));
    if (item.empty()) refuse(operation, text, "has an empty item");
    if (item == "help") {
      help = true;
    } else if (is_level(item)) {
      levels.fill(item[0] - '0');
    } else {
      const int category = category_index(name);
      const bool numeric = item.find_first_not_of("0123456789+-.") == std::string_view::npos;
      if (category < 0) refuse(operation, item, numeric ? "is no level" : "names no category");
      int level = 1;
      if (equals != std::string_view::npos) {
        const std::string_view number = trimmed(item.substr(equals + 1));
        if (!is_level(number)) refuse(operation, item, "has no level behind =");
        level = number[0] - '0';
      }
      levels[static_cast<std::size_t>(category)] = level;
    }
    if (comma == std::string_view::npos) return help;
    rest.remove_prefix(comma + 1);
  }
}

std::uint64_t packed_levels(const Levels& levels) {
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < levels.size(); ++k)
    bits |= static_cast<std::uint64_t>(levels[k]) << (base::Watch::kLevelBits * k);
  return bits;
}
static_assert(kMostLevel < 1 << base::Watch::kLevelBits);

/// The current context's levels. Reads ORIEL_DEBUG if they are not known.
Levels current_levels() {
  base::ContextState& context = base::current_context_state();
  base::load_debug(context);
  const base::Watch watch = base::watch_of(context);
  Levels levels{};
  for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = watch.level(static_cast<base::Debug>(k));
  return levels;
}

}  // namespace

std::span<const DebugCategory> debug_categories() { return kCategories; }

std::string debug_help() {
  std::string out = fmt::format(
      "ORIEL_DEBUG is a comma list, read from the left, of\n"
      "  category          its lines at level 1\n"
      "  category=level    a level from 0 (nothing) to {0}; beyond a category's own levels no more is said\n"
      "  level             all categories\n"
      "  help              prints this table\n"
      "Categories:\n",
      kMostLevel);
  for (const DebugCategory& c : kCategories) {
    std::string_view doc = c.doc;
    for (bool first = true; !doc.empty(); first = false) {
      const std::size_t end = doc.find("; ");
      out += fmt::format("  {:<10}{}\n", first ? c.name : "", doc.substr(0, end));
      doc.remove_prefix(end == std::string_view::npos ? doc.size() : end + 2);
    }
  }
  return out;
}

void set_debug(std::string_view text) {
  by_use::inspection();
  bool help = false;
  {
    const std::lock_guard guard(base::fork_mutex(kLevels));
    // After a call of set_debug, a malformed ORIEL_DEBUG no longer matters.
    Levels levels{};
    try {
      levels = current_levels();
    } catch (const ParseError&) {
    }
    help = parse(text, "set_debug", levels);
    base::change_watch(base::current_context_state(), base::Watch::kLevels,
                       packed_levels(levels) | base::Watch::kDebugKnown);
  }
  if (help) base::debug_print(debug_help());
}

std::string debug_text() {
  std::string out;
  const Levels levels = current_levels();
  for (std::size_t k = 0; k < levels.size(); ++k)
    if (levels[k] > 0) out += fmt::format("{}{}={}", out.empty() ? "" : ",", kCategories[k].name, levels[k]);
  return out;
}

int debug_level(std::string_view category) {
  const int k = category_index(category);
  if (k < 0)
    throw ArgumentError("debug_level",
                        fmt::format("\"{}\" names no category; there are {}", base::escaped(category), names()));
  return current_levels()[static_cast<std::size_t>(k)];
}

void set_debug_sink(DebugSink sink) {
  const std::lock_guard guard(base::fork_mutex(kSink));
  std::swap(slot.object, sink);  // the old sink is destroyed after the lock is released
}

namespace base {

void load_debug(ContextState& context, const std::optional<std::string>& text) {
  if (watch_of(context).has(Watch::kDebugKnown)) return;
  bool help = false;
  {
    const std::lock_guard guard(fork_mutex(kLevels));
    const std::optional<std::string> wanted = text ? text : env_text("ORIEL_DEBUG");
    Levels levels{};
    if (wanted) help = parse(*wanted, text ? "Context" : "ORIEL_DEBUG", levels);
    begin_watch(context, Watch::kDebugKnown, packed_levels(levels));
  }
  if (help) debug_print(debug_help());
}

namespace {

void say_lines(std::string_view prefix, std::string_view text) {
  DebugSink sink;
  {
    const std::lock_guard guard(base::fork_mutex(kSink));
    sink = slot.object;
  }
  // The sink gets one line at a time, even if several threads say lines.
  std::unique_lock<ForkMutex> one;
  if (sink) {
    const Activity::AwaitsTurn waits;
    one = std::unique_lock(fork_mutex(ForkLock::lines));
  }
  std::string line;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line.assign(prefix);
    line += escaped(text.substr(0, end), true);
    if (sink) {
      sink(line);
    } else {
      line += '\n';
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

void debug_say(std::uint16_t context, Debug category, std::string_view text) {
  const std::string_view name = kCategories[static_cast<int>(category)].name;
  say_lines(context == 0 ? fmt::format("oriel {}: ", name) : fmt::format("oriel {} of context {}: ", name, context),
            text);
}

void debug_print(std::string_view text) { say_lines("", text); }

}  // namespace base

}  // namespace oriel
