// In place of reports in the profile small: nothing is kept for a page, and who asks for one is told what has them.
#include "base/absent.hpp"
#include "base/settings.hpp"
#include "base/watch.hpp"
#include "inspect/collect.hpp"
#include "oriel/report.hpp"

namespace oriel {

namespace {

[[noreturn]] void no_reports(std::string_view operation) { base::throw_absent(operation, "reports"); }

}  // namespace

void set_report_file(const std::optional<std::string>& path) {
  if (path) no_reports("set_report_file");
}

namespace runtime {

void write_report(std::span<const graph::NodePtr> /*roots*/, const std::string& /*path*/) { no_reports("report"); }

void load_report(base::ContextState& context) {
  if (base::watch_of(context).has(base::Watch::kReportKnown)) return;
  if (base::env_text("ORIEL_REPORT")) no_reports("ORIEL_REPORT");
  base::change_watch(context, base::Watch::kReport, base::Watch::kReportKnown);
}

std::optional<std::int64_t> add_to_report(const Explanation& /*explanation*/, const Plan& /*plan*/) {
  return std::nullopt;
}
void add_to_report(ReportedTrace /*trace*/) {}
void add_to_report(const LaunchStep& /*step*/, double /*seconds*/, bool /*repeated*/) {}

}  // namespace runtime

}  // namespace oriel
