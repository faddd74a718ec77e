// What the executor reports for inspection: the profile of launches, dumps of new schedules, debug lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/debug.hpp"
#include "oriel/context.hpp"
#include "runtime/check.hpp"
#include "runtime/compiled.hpp"
#include "runtime/profile.hpp"

namespace oriel::runtime {

/// Is every launch timed and waited for? For a profile (oriel/profile.hpp), a report (oriel/report.hpp), the lines of
/// ORIEL_DEBUG=launch, or because results are checked.
constexpr bool times_launches(base::Watch watch) noexcept {
  return watch.profiling() || watch.reporting() || watch.debugging(base::Debug::Launch) || watch.checking();
}
using Clock = std::chrono::steady_clock;
inline Clock::time_point now() { return Clock::now(); }
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
/// Called before each launch.
inline void observe_start(base::Watch watch, std::uint16_t context, const LaunchStep& step) {
  if (watch.debugging(base::Debug::Launch, 2)) base::debug_say(context, base::Debug::Launch, step.name + " starts");
}

/// Does a setting of the context ask for reports on new schedules? The first call in a context reads the environment
/// and throws ParseError if a setting is malformed.
bool plan_watched(std::uint16_t context);
/// The numbers under which a plan is shown.
struct PlanNumbers {
  std::optional<std::size_t> dumped;     // the number of its dump
  std::optional<std::int64_t> reported;  // the number of its first kernel in the report of the process
};
/// What work calls where it is watched: a part that a program may have by use (base/by_use.hpp).
struct Inspection {
  /// Sets what a new context reports, from the options or else from the environment. Throws the error of a setting that
  /// has no meaning, and IoError for a directory that cannot be written.
  void (*load_reports)(base::ContextState& context, const ContextOptions& options) = nullptr;
  /// Called once for each new schedule of a context that is watched, before it is compiled: writes the dump
  /// (ORIEL_DUMP) and the debug lines (ORIEL_DEBUG) that are switched on. `nodes` is the number of nodes in the graph.
  /// Throws IoError if the dump cannot be written.
  PlanNumbers (*observe_plan)(const Plan& plan, std::size_t nodes) = nullptr;
  void (*say_schedule)(const CompiledSchedule& schedule, bool made, std::uint64_t kernels_compiled) = nullptr;
  /// Called after each launch that was timed. `watch`: of the context of the work. `repeated`: it computed what an
  /// earlier one had computed.
  void (*record_launch)(base::Watch watch, std::uint16_t context, const LaunchStep& step, double seconds,
                        bool repeated) = nullptr;
  // Of the headers dump.hpp, explain.hpp, profile.hpp and check.hpp.
  void (*dump_reports)(const CompiledSchedule& schedule) = nullptr;
  void (*keep_explanation)(std::span<const graph::NodePtr> pending, const Key& key) = nullptr;
  bool (*repeats_earlier)(std::uint16_t context, const LaunchStep& step, std::span<const Repeats::Operand> operands,
                          std::span<const graph::Scalar> numbers) = nullptr;
  std::optional<BadNumber> (*find_bad_number)(const LaunchStep& step, std::span<void* const> arguments,
                                              base::Watch watch, bool outputs,
                                              const std::vector<bool>& skipped) = nullptr;
  void (*refuse_result)(const LaunchStep& step, std::span<void* const> arguments, base::Watch watch,
                        const BadNumber& found, const CheckedValue& value) = nullptr;
};
/// That of the program. A program without it (base/by_use.hpp) reports nothing: loading a setting that asks for reports
/// is an ArgumentError.
const Inspection& inspection() noexcept;
void set_inspection(const Inspection& inspection) noexcept;

/// Called for each schedule before it runs, new or found in the cache.
inline void observe_schedule(const CompiledSchedule& schedule, bool made, std::uint64_t kernels_compiled) {
  if (base::watch_of(schedule.context).debugging(base::Debug::Cache))
    inspection().say_schedule(schedule, made, kernels_compiled);
}

}  // namespace oriel::runtime
