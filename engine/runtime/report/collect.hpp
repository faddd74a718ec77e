// The report of a process: what it planned, as data, as a page.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/context.hpp"
#include "oriel/explain.hpp"
#include "runtime/launch_step.hpp"
#include "runtime/plan.hpp"
#include "runtime/report/machine.hpp"

namespace oriel::runtime {

/// All launches of kernels of one name.
struct LaunchTimes {
  std::int64_t launches = 0;
  double seconds = 0;
  double fastest = 0;
};

/// What a page shows.
struct ReportData {
  std::string title;
  std::vector<Explanation> schedules;
  std::map<std::string, std::string> files;            ///< the paths of the program's files by their names in sites
  std::size_t left_out = 0;                            ///< schedules beyond the most kernels
  std::unordered_map<std::string, LaunchTimes> times;  ///< by the names of kernels
  MachineLimits machine;
};

/// As JSON, which may stand inside of a script element. Sources beyond `source_bytes` are null, those of kernels that
/// take the least time first, and so are accesses beyond `detail_bytes`.
std::string report_json(const ReportData& data, std::size_t source_bytes,
                        std::size_t detail_bytes = static_cast<std::size_t>(-1));
/// The same with as many accesses, then sources, as a page of 1 MB holds.
std::string bounded_json(const ReportData& data);
/// The page of some JSON.
std::string page_of(std::string_view json);
/// The page of the editor of views, which begins with this program.
std::string views_page(std::string_view program);

/// Reads ORIEL_REPORT, unless it is known. Throws ArgumentError if it is no name of a page.
void load_report(base::ContextState& context);
/// Keeps the explanation of a new plan for the page.
void add_to_report(const Explanation& explanation, const Plan& plan);
/// Adds a launch to the times of its kernel.
void add_to_report(const LaunchStep& step, double seconds);

}  // namespace oriel::runtime
