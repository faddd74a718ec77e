// The report of a process: what it planned, as data, as a page.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/context.hpp"
#include "oriel/explain.hpp"
#include "runtime/compiled.hpp"
#include "runtime/machine.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// All launches of a kernel.
struct LaunchTimes {
  std::int64_t launches = 0;
  double seconds = 0;
  double fastest = 0;
  std::int64_t repeated = 0;  ///< launches that computed what an earlier one had computed (runtime/profile.hpp)
};

/// The launches in time. Times are in seconds from the first one on.
struct Timeline {
  struct Launch {
    std::int64_t name = 0;     ///< the number of its kernel's name
    std::int64_t kernel = -1;  ///< the number of its kernel in the report; -1 if it is not there
    double start = 0;
    double seconds = 0;
    std::int64_t thread = 0;      ///< by the order of the threads' first launches
    std::int64_t live_bytes = 0;  ///< that tensors of its device held when it ended
  };
  std::vector<std::string> names;
  std::vector<Launch> launches;  ///< the first 2,000
  std::int64_t left_out = 0;
};

/// A trace of a captured function.
struct ReportedTrace {
  std::string function;                                    ///< "the captured function of a.cpp:3"
  std::vector<std::pair<std::string, std::string>> lines;  ///< {"input", "x: float32 (s0, 4)"}, {"guard", "..."}
};

/// What a page shows.
struct ReportData {
  std::string title;
  std::vector<Explanation> schedules;
  std::map<std::string, std::string> files;  ///< the paths of the program's files by their names in sites
  std::size_t left_out = 0;                  ///< schedules beyond the most kernels
  std::vector<LaunchTimes> times;            ///< by the numbers of kernels, which count through all schedules
  Timeline timeline;
  std::vector<ReportedTrace> traces;  ///< the first 100
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

/// The answer of a command as a page.
struct AnswerPage {
  struct Table {
    std::string title;
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
  };
  /// Drawn with the positions as a picture.
  struct Stack {
    std::string title;
    std::vector<View> views;   ///< innermost first
    std::string program = {};  ///< as `oriel view` takes it, in the place of views
  };
  /// Rows with a bar each, whose length is a share of the longest.
  struct Bars {
    struct Row {
      std::string label;
      double share = 0;
      std::string text;
    };
    std::string title;
    std::vector<Row> rows;
  };
  std::string title;
  std::string text;  ///< what the command prints
  std::vector<Table> tables;
  std::vector<Stack> stacks;
  std::vector<Bars> bars = {};
};
std::string answer_page(const AnswerPage& answer);

/// Writes the page of what these would run, and its data beside it. Throws ArgumentError unless the path ends in .html,
/// IoError if a file cannot be written.
void write_report(std::span<const graph::NodePtr> roots, const std::string& path);

/// Reads ORIEL_REPORT, unless it is known. Throws ArgumentError if it is no name of a page.
void load_report(base::ContextState& context);
/// Keeps the explanation of a new plan for the page. Returns the number of its first kernel; nothing if it is left out.
std::optional<std::int64_t> add_to_report(const Explanation& explanation, const Plan& plan);
/// Keeps a trace for the page.
void add_to_report(ReportedTrace trace);
/// Adds a launch to the times of its kernel.
void add_to_report(const LaunchStep& step, double seconds, bool repeated);

}  // namespace oriel::runtime
