#include "runtime/report/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/debug.hpp"
#include "base/settings.hpp"
#include "base/watch.hpp"
#include "oriel/error.hpp"
#include "oriel/report.hpp"
#include "runtime/dump.hpp"

namespace oriel {

namespace {

using base::Watch;
using runtime::ReportData;

constexpr std::size_t kMostKernels = 1000;
constexpr std::string_view kEnding = ".html";

/// The page that is written at the end of the process. Never destroyed: work may run in other objects' destructors.
struct Collected {
  std::optional<std::string> path;
  ReportData data;
  std::size_t kernels = 0;
  bool at_exit = false;
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

void write(std::string_view operation, const std::string& path, const ReportData& data) {
  const std::string json = runtime::bounded_json(data);
  const std::filesystem::path page(path);
  const std::string folder = page.has_parent_path() ? page.parent_path().string() : ".";
  const runtime::DumpFile files[] = {{page.filename().string(), runtime::page_of(json)},
                                     {page.stem().string() + ".json", json}};
  runtime::write_files(operation, folder, files);
}

int threads_of_machine() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

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
  data.machine = runtime::measure_machine(threads_of_machine());
  write("ORIEL_REPORT", path, data);
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

void report(std::span<const Tensor> tensors, const std::string& path) {
  check_path("report", path);
  ReportData data;
  data.title = std::filesystem::path(path).stem().string();
  data.schedules.push_back(explain(tensors));
  data.machine = runtime::measure_machine(threads_of_machine());
  write("report", path, data);
}

void report(std::initializer_list<Tensor> tensors, const std::string& path) {
  report(std::span<const Tensor>(tensors.begin(), tensors.size()), path);
}

namespace runtime {

void load_report(base::ContextState& context) {
  if (base::watch_of(context).has(Watch::kReportKnown)) return;
  const std::optional<std::string> path = base::env_text("ORIEL_REPORT");
  if (path) check_path("ORIEL_REPORT", *path);
  collect_into(context, path);
}

void add_to_report(const Explanation& explanation, const Plan& plan) {
  const std::lock_guard guard(collected_guard());
  Collected& c = collected();
  if (!c.path) return;
  if (c.kernels + explanation.kernels.size() > kMostKernels) {
    ++c.data.left_out;
    return;
  }
  c.kernels += explanation.kernels.size();
  c.data.schedules.push_back(explanation);
  for (schedule::EntryId v = 0; v < static_cast<schedule::EntryId>(plan.arena->size()); ++v) {
    const graph::Site& site = (*plan.arena)[v].node->site;
    if (site.file == nullptr) continue;
    const std::string_view file = site.file;
    c.data.files.emplace(file.substr(file.find_last_of('/') + 1), file);
  }
}

void add_to_report(const LaunchStep& step, double seconds) {
  const std::lock_guard guard(collected_guard());
  LaunchTimes& times = collected().data.times[step.name];
  times.fastest = times.launches == 0 ? seconds : std::min(times.fastest, seconds);
  times.seconds += seconds;
  ++times.launches;
}

}  // namespace runtime

}  // namespace oriel
