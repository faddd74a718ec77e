#include "inspect/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "backend/backend.hpp"
#include "base/debug.hpp"
#include "base/settings.hpp"
#include "base/watch.hpp"
#include "memory/buffer.hpp"
#include "oriel/error.hpp"
#include "oriel/report.hpp"
#include "runtime/dump.hpp"
#include "runtime/explain.hpp"
#include "runtime/observe.hpp"

namespace oriel {

namespace {

using base::Watch;
using runtime::ReportData;

constexpr std::size_t kMostKernels = 1000;
constexpr std::size_t kMostLaunches = 2000;
constexpr std::size_t kMostTraces = 100;
constexpr std::string_view kEnding = ".html";

/// The page that is written at the end of the process. Never destroyed: work may run in other objects' destructors.
struct Collected {
  std::optional<std::string> path;
  ReportData data;
  bool at_exit = false;
  std::optional<runtime::Clock::time_point> began;  // the first launch
  std::unordered_map<std::string, std::int64_t> name_numbers;
  std::map<std::thread::id, std::int64_t> threads;

  void add_launch(const runtime::LaunchStep& step, runtime::Clock::time_point end, double seconds, bool repeated,
                  std::int64_t live_bytes) {
    if (step.reported >= 0 && step.reported < std::ssize(data.times)) {
      runtime::LaunchTimes& times = data.times[static_cast<std::size_t>(step.reported)];
      times.fastest = times.launches == 0 ? seconds : std::min(times.fastest, seconds);
      times.seconds += seconds;
      ++times.launches;
      if (repeated) ++times.repeated;
    }
    runtime::Timeline& timeline = data.timeline;
    if (timeline.launches.size() == kMostLaunches) {
      ++timeline.left_out;
      return;
    }
    const double until = began ? std::chrono::duration<double>(end - *began).count() : seconds;
    if (!began)
      began = end - std::chrono::duration_cast<runtime::Clock::duration>(std::chrono::duration<double>(seconds));
    const auto [number, fresh] = name_numbers.emplace(step.name, static_cast<std::int64_t>(timeline.names.size()));
    if (fresh) timeline.names.push_back(step.name);
    const std::int64_t thread =
        threads.emplace(std::this_thread::get_id(), static_cast<std::int64_t>(threads.size())).first->second;
    timeline.launches.push_back(
        {number->second, step.reported, std::max(0.0, until - seconds), seconds, thread, live_bytes});
  }
};
Collected& collected() {
  static Collected& c = *new Collected;
  return c;
}
std::mutex& collected_guard() {
  static std::mutex& m = *new std::mutex;
  return m;
}

void check_path(std::string_view operation, const std::string& path) {
  if (!path.ends_with(kEnding) || path.size() == kEnding.size())
    throw ArgumentError(operation, fmt::format("\"{}\" is no name of a page; it ends in .html", path));
}

void write_page(std::string_view operation, const std::string& path, const ReportData& data) {
  const std::string json = runtime::bounded_json(data);
  const std::filesystem::path page(path);
  const std::string folder = page.has_parent_path() ? page.parent_path().string() : ".";
  const runtime::DumpFile files[] = {{page.filename().string(), runtime::page_of(json)},
                                     {page.stem().string() + ".json", json}};
  runtime::write_files(operation, folder, files);
}

void write_at_exit() noexcept try {
  ReportData data;
  std::string path;
  {
    const std::lock_guard guard(collected_guard());
    Collected& c = collected();
    if (!c.path) return;
    path = *c.path;
    data = std::move(c.data);
    c.path.reset();
  }
  data.title = std::filesystem::path(path).stem().string();
  data.machine = runtime::measure_machine();
  write_page("ORIEL_REPORT", path, data);
} catch (const std::exception& error) {
  try {
    base::debug_print(error.what());
  } catch (...) {  // nobody is left to report to
  }
}

void collect_into(base::ContextState& context, const std::optional<std::string>& path) {
  {
    const std::lock_guard guard(collected_guard());
    Collected& c = collected();
    c.path = path;
    if (path && !c.at_exit) c.at_exit = std::atexit(write_at_exit) == 0;
  }
  base::change_watch(context, Watch::kReport, (path ? Watch::kReport : 0) | Watch::kReportKnown);
}

}  // namespace

void set_report_file(const std::optional<std::string>& path) {
  if (path) check_path("set_report_file", *path);
  collect_into(base::current_context_state(), path);
}

namespace runtime {
namespace {

/// The text of the program that built a plan.
void add_files(ReportData& data, const Plan& plan) {
  for (schedule::EntryId v = 0; v < static_cast<schedule::EntryId>(plan.arena->size()); ++v) {
    const graph::Site& site = (*plan.arena)[v].node->site;
    if (site.file == nullptr) continue;
    const std::string_view file = site.file;
    data.files.emplace(file.substr(file.find_last_of('/') + 1), file);
  }
}

}  // namespace

void write_report(std::span<const graph::NodePtr> roots, const std::string& path) {
  check_path("report", path);
  ReportData data;
  data.title = std::filesystem::path(path).stem().string();
  data.schedules.push_back(explain(roots, [&](const Explanation&, const Plan& plan) { add_files(data, plan); }));
  data.machine = measure_machine();
  write_page("report", path, data);
}

void load_report(base::ContextState& context) {
  if (base::watch_of(context).has(Watch::kReportKnown)) return;
  const std::optional<std::string> path = base::env_text("ORIEL_REPORT");
  if (path) check_path("ORIEL_REPORT", *path);
  collect_into(context, path);
}

std::optional<std::int64_t> add_to_report(const Explanation& explanation, const Plan& plan) {
  const std::lock_guard guard(collected_guard());
  Collected& c = collected();
  if (!c.path) return std::nullopt;
  const std::size_t first = c.data.times.size();
  if (first + explanation.kernels.size() > kMostKernels) {
    ++c.data.left_out;
    return std::nullopt;
  }
  c.data.times.resize(first + explanation.kernels.size());
  c.data.schedules.push_back(explanation);
  add_files(c.data, plan);
  return static_cast<std::int64_t>(first);
}

void add_to_report(ReportedTrace trace) {
  const std::lock_guard guard(collected_guard());
  Collected& c = collected();
  if (c.path && c.data.traces.size() < kMostTraces) c.data.traces.push_back(std::move(trace));
}

void add_to_report(const LaunchStep& step, double seconds, bool repeated) {
  const Clock::time_point end = now();
  const auto live = static_cast<std::int64_t>(step.device->allocator()->statistics().live);
  const std::lock_guard guard(collected_guard());
  collected().add_launch(step, end, seconds, repeated, live);
}

}  // namespace runtime

}  // namespace oriel
