// What a context reports about its work: debug lines, a profile, dumps.
#pragma once

#include <atomic>
#include <cstdint>

namespace oriel::base {

class ContextState;

/// In the order of debug_categories().
enum class Debug { Graph, Schedule, Merge, Codegen, Memory, Cache, Compile, Launch, Dynamic };
inline constexpr int kDebugCount = 9;

/// Which reports are switched on, in one word that is read and changed at once.
class Watch {
 public:
  // Four bits for the level of each debug category, then one bit for each other report.
  static constexpr int kLevelBits = 4;
  static constexpr std::uint64_t kLevels = (std::uint64_t{1} << (kLevelBits * kDebugCount)) - 1;
  static constexpr std::uint64_t kProfile = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kDump = std::uint64_t{1} << 41;
  static constexpr std::uint64_t kCheckNan = std::uint64_t{1} << 42;       // results are looked at
  static constexpr std::uint64_t kCheckInfinite = std::uint64_t{1} << 43;  // for infinities, too
  static constexpr std::uint64_t kExplain = std::uint64_t{1} << 44;        // the last explanation is kept
  static constexpr std::uint64_t kReport = std::uint64_t{1} << 45;         // plans are kept for a page
  static constexpr std::uint64_t kReports = kLevels | kProfile | kDump | kCheckNan | kExplain | kReport;
  // Has the environment been read, or a call made that takes precedence?
  static constexpr std::uint64_t kDebugKnown = std::uint64_t{1} << 48;
  static constexpr std::uint64_t kProfileKnown = std::uint64_t{1} << 49;
  static constexpr std::uint64_t kDumpKnown = std::uint64_t{1} << 50;
  static constexpr std::uint64_t kCheckKnown = std::uint64_t{1} << 51;
  static constexpr std::uint64_t kExplainKnown = std::uint64_t{1} << 52;
  static constexpr std::uint64_t kReportKnown = std::uint64_t{1} << 53;
  static constexpr std::uint64_t kAllKnown =
      kDebugKnown | kProfileKnown | kDumpKnown | kCheckKnown | kExplainKnown | kReportKnown;

  constexpr explicit Watch(std::uint64_t bits) noexcept : bits_(bits) {}
  /// The level of a category, from 0 to 9.
  constexpr int level(Debug category) const noexcept {
    return static_cast<int>(bits_ >> (kLevelBits * static_cast<int>(category)) & ((1U << kLevelBits) - 1));
  }
  /// Are the lines of this category wanted, at this level?
  constexpr bool debugging(Debug category, int level = 1) const noexcept { return this->level(category) >= level; }
  constexpr bool profiling() const noexcept { return has(kProfile); }
  constexpr bool dumping() const noexcept { return has(kDump); }
  constexpr bool checking() const noexcept { return has(kCheckNan); }
  constexpr bool reporting() const noexcept { return has(kReport); }
  constexpr bool explaining() const noexcept { return has(kExplain); }
  constexpr bool has(std::uint64_t bits) const noexcept { return (bits_ & bits) == bits; }
  constexpr std::uint64_t bits() const noexcept { return bits_; }

 private:
  std::uint64_t bits_;
};

namespace detail {
extern std::atomic<int> watched_contexts;  // contexts that have any report switched on
Watch look_up_watch(std::uint16_t context) noexcept;
}  // namespace detail

/// What the context with this number reports; nothing if it has ended. While no context reports anything, this costs
/// one relaxed load. The environment has an effect only after it was read (runtime/observe.hpp).
inline Watch watch_of(std::uint16_t context) noexcept {
  if (detail::watched_contexts.load(std::memory_order_relaxed) == 0) return Watch(0);
  return detail::look_up_watch(context);
}

/// The word of a context, including which settings are known.
Watch watch_of(const ContextState& context) noexcept;
/// Replaces the bits that `mask` names.
void change_watch(ContextState& context, std::uint64_t mask, std::uint64_t bits) noexcept;
/// Adds the bits unless `known` is set already, and sets it. True if it was not set before.
bool begin_watch(ContextState& context, std::uint64_t known, std::uint64_t bits) noexcept;

}  // namespace oriel::base
