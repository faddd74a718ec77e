#include "cli/fuzz_command.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>
#include <thread>

#include "backend/backend.hpp"
#include "base/escape.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "fuzz/campaign.hpp"
#include "fuzz/describe.hpp"
#include "fuzz/external_subject.hpp"
#include "fuzz/numbers.hpp"
#include "fuzz/replay.hpp"
#include "fuzz/report.hpp"
#include "oriel/device.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr int kBroken = 1;

/// The options of the command line.
struct FuzzRequest {
  fuzz::CampaignOptions campaign;
  std::vector<std::string> kinds;
  std::vector<std::string> properties;
  std::string external;
  double timeout = 10;
  std::string report;
  std::string replay;
  bool quiet = false;
};

std::string footer() {
  std::string text = "Kinds:\n";
  for (const fuzz::KindInfo& kind : fuzz::kinds()) {
    text += fmt::format("  {:<10}{}{}\n", kind.name, kind.summary, kind.on_own ? " (only if asked for)" : "");
  }
  text += "Properties:\n";
  for (const fuzz::PropertyInfo& property : fuzz::properties()) {
    text += fmt::format("  {:<14}{}\n", property.name, property.summary);
  }
  return text +
         "Exit status: 0 if all properties hold, 1 if one is violated, 2 if the command line is wrong.\n"
         "Case N of a kind and seed is the same whatever else runs, on any number of threads.";
}

/// Finds the entry of a table by its name.
template <class Entries>
const auto& named(const Entries& entries, const std::string& name, const char* what) {
  for (const auto& entry : entries) {
    if (entry.name == name) return entry;
  }
  std::string known;
  for (const auto& entry : entries) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  throw ArgumentError("fuzz", fmt::format("unknown {} '{}'; there are {}", what, name, known));
}

void complete(FuzzRequest& request) {
  for (const std::string& name : request.kinds) {
    request.campaign.kinds.push_back(named(fuzz::kinds(), name, "kind").kind);
  }
  auto& kinds = request.campaign.kinds;
  if (kinds.empty()) {
    for (const fuzz::KindInfo& kind : fuzz::kinds()) {
      const bool asked = request.external.empty() || kind.kind != fuzz::Kind::Each;
      if (!kind.on_own && asked) kinds.push_back(kind.kind);
    }
  }
  const bool kernels = std::find(kinds.begin(), kinds.end(), fuzz::Kind::Kernels) != kinds.end();
  if (kernels && kinds.size() > 1) {
    throw ArgumentError("fuzz", "kind 'kernels' runs on its own; give it as the only one");
  }
  if (kernels && !request.external.empty()) {
    throw ArgumentError("fuzz", "kind 'kernels' fuzzes this build's kernels; an external program has none");
  }
  if (!request.external.empty() && std::find(kinds.begin(), kinds.end(), fuzz::Kind::Each) != kinds.end()) {
    throw ArgumentError("fuzz", "kind 'each' has movements of Oriel that the protocol lacks");
  }
  if (request.external.empty() && !request.properties.empty()) {
    throw ArgumentError("fuzz", "--properties chooses what an --external program is held to; Oriel is held to all");
  }
  if (kernels) request.campaign.make_subject = fuzz::make_kernel_subject;
  if (request.external.empty()) return;
  fuzz::ExternalOptions external{request.external, {}, request.timeout};
  for (const std::string& name : request.properties) {
    const fuzz::Property property = named(fuzz::properties(), name, "property").property;
    const auto possible = fuzz::external_properties();
    if (std::find(possible.begin(), possible.end(), property) == possible.end()) {
      throw ArgumentError("fuzz", fmt::format("property '{}' cannot be seen from outside a program", name));
    }
    external.properties.push_back(property);
  }
  if (external.properties.empty()) external.properties = fuzz::external_properties();
  request.campaign.external = true;
  request.campaign.make_subject = [external] { return fuzz::make_external_subject(external); };
}

void print_summary(const fuzz::CampaignOptions& options, const fuzz::CampaignResult& result, std::ostream& out) {
  constexpr const char* row = "{:<10}{:>14}{:>10}{:>9}{:>10}{:>9}{:>12}{:>10}{:>10}\n";
  out << fmt::format(row, "kind", "cases", "one view", "unknown", "searched", "refined", "other form", "median",
                     "99.9%");
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : fmt::format("{:.2f}%", 100. * static_cast<double>(part) / static_cast<double>(whole));
  };
  for (const fuzz::Kind kind : options.kinds) {
    const fuzz::KindTally& tally = result.tallies[static_cast<std::size_t>(kind)];
    if (tally.cases == 0) continue;
    out << fmt::format(row, fuzz::info(kind).name, fuzz::grouped(tally.cases), share(tally.one_view, tally.cases),
                       fuzz::grouped(tally.unknown), share(tally.searched, tally.cases),
                       share(tally.refinable.found, tally.refinable.asked), share(tally.other_form, tally.seen_again),
                       fuzz::duration_text(tally.time_quantile(.5)), fuzz::duration_text(tally.time_quantile(.999)));
  }
  out << fmt::format("{} cases in {:.1f} s on {} thread{}: {} a second\n", fuzz::grouped(result.cases), result.seconds,
                     options.threads, options.threads == 1 ? "" : "s",
                     fuzz::grouped(static_cast<std::uint64_t>(static_cast<double>(result.cases) / result.seconds)));
}

/// A progress line that overwrites itself, only on a terminal.
std::function<void(std::uint64_t, std::uint64_t, double)> progress_on(std::ostream& err, std::uint64_t cases) {
  if (!is_terminal(err)) return {};
  return [&err, cases](std::uint64_t done, std::uint64_t unknown, double seconds) {
    const double rate = static_cast<double>(done) / std::max(seconds, 1e-9);
    const double left = rate > 0 ? static_cast<double>(cases - std::min(done, cases)) / rate : 0;
    err << fmt::format("\r{} of {} cases, {} a second, about {} left, {} unknown \x1b[K", fuzz::grouped(done),
                       fuzz::grouped(cases), fuzz::grouped(static_cast<std::uint64_t>(rate)), span_text(left),
                       fuzz::grouped(unknown))
        << std::flush;
  };
}

/// A validator for non-negative integers: CLI11 accepts -1 as the largest unsigned number, and nan as non-negative.
CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, fault] = std::from_chars(text.data(), end, value);
        if (fault == std::errc{} && stop == end) return std::string();
        return fmt::format("'{}' is no whole number from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
      },
      "");
}

CLI::Validator seconds(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, fault] = std::from_chars(text.data(), end, value);
        if (fault == std::errc{} && stop == end && value >= least && value <= most) return std::string();
        return fmt::format("'{}' is no number of seconds from {} to {}", text, least, most);
      },
      "");
}

int run_campaign_on(const FuzzRequest& request, const std::string& command, std::ostream& out, std::ostream& err) {
  const bool terminal = static_cast<bool>(request.campaign.progress);
  const fuzz::CampaignResult result = fuzz::run_campaign(request.campaign);
  if (terminal) err << "\r\x1b[K";
  print_summary(request.campaign, result, out);
  if (!request.report.empty()) {
    std::ofstream file(request.report);
    file << fuzz::report_page(request.campaign, result, command);
    file.close();
    if (!file) throw IoError("fuzz", "cannot write the report to '" + request.report + "'");
    out << "report: " << request.report << '\n';
  }
  if (!result.failure) {
    out << "all properties hold\n";
    return 0;
  }
  // Escaped, because it contains output of an external program.
  out << '\n' << base::escaped(fuzz::describe(*result.failure, request.campaign, command), true);
  return kBroken;
}

int run_replay(const FuzzRequest& request, std::ostream& out) {
  std::ifstream file(request.replay);
  if (!file) throw IoError("fuzz", "cannot read '" + request.replay + "'");
  const fuzz::ReplayResult result = fuzz::replay(file, request.campaign.make_subject);
  for (const std::string& failure : result.failures) out << base::escaped(failure, true);
  out << fmt::format("{} cases replayed, {} broken\n", result.cases, result.failures.size());
  return result.failures.empty() ? 0 : kBroken;
}

int run_request(FuzzRequest& request, std::ostream& out, std::ostream& err) {
  complete(request);
  std::string command = "oriel fuzz reshape";
  if (!request.external.empty()) command += fmt::format(" --external '{}'", request.external);
  if (!request.replay.empty()) return run_replay(request, out);
  out << fmt::format("seed {}\n", request.campaign.seed);
  if (!request.quiet) request.campaign.progress = progress_on(err, request.campaign.cases);
  if (request.campaign.kinds[0] != fuzz::Kind::Kernels) return run_campaign_on(request, command, out, err);
  // Sets each computing device in turn as the default device, because new tensors use that.
  const Device before = default_device();
  int status = 0;
  for (const Device device : devices()) {
    if (!backend::computes(device) || status != 0) continue;
    out << "device " << device.str() << '\n';
    set_default_device(device);
    try {
      status = run_campaign_on(request, command, out, err);
    } catch (...) {
      set_default_device(before);
      throw;
    }
  }
  set_default_device(before);
  return status;
}

}  // namespace

int run_fuzz(std::span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  FuzzRequest request;
  request.campaign.seed = std::random_device()();
  request.campaign.threads = std::max(1U, std::thread::hardware_concurrency());
  CLI::App app("Property-based fuzzing of views: random cases against brute force, with the smallest failure shown.",
               "oriel fuzz");
  app.require_subcommand(1);
  CLI::App* reshape = app.add_subcommand("reshape", "movements, reshape and merging of views");
  reshape->footer(footer());
  reshape->add_option("--cases", request.campaign.cases, "number of cases, of all kinds together")
      ->check(whole_number())
      ->capture_default_str();
  reshape->add_option("--seed", request.campaign.seed, "seed of the cases; random by default")->check(whole_number());
  reshape->add_option("--time", request.campaign.seconds, "seconds after which no new cases begin; 0: no limit")
      ->check(seconds(0, 1e9));
  reshape->add_option("--sizes", request.campaign.most_elements, "approximate number of elements of a base")
      ->check(CLI::Range(8, 5000))
      ->capture_default_str();
  reshape->add_option("--kinds", request.kinds, "kinds of cases, separated by commas; all but 'kernels' by default")
      ->delimiter(',');
  reshape->add_option("--threads", request.campaign.threads, "threads; an external program runs once in each")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  reshape->add_option("--skip", request.campaign.skip, "skip this many cases of each kind")->check(whole_number());
  reshape->add_option("--external", request.external,
                      "fuzz this shell command instead: it answers cases line by line (engine/fuzz/PROTOCOL.md)");
  reshape->add_option("--properties", request.properties, "properties to check on an external program; all by default")
      ->delimiter(',');
  reshape->add_option("--timeout", request.timeout, "seconds that an external program may take for an answer")
      ->check(seconds(0.1, 3600))
      ->capture_default_str();
  reshape->add_option("--report", request.report, "also write a report to this file, as one HTML page");
  reshape->add_option("--replay", request.replay, "check only the cases of this file (one JSON object per line)");
  reshape->add_flag("--quiet", request.quiet, "show no progress, which a terminal shows");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    std::ostringstream said;  // may contain words of the command line
    const bool help = app.exit(error, out, said) == 0;
    err << base::escaped(said.str(), true);
    return help ? 0 : kUsageError;
  }
  try {
    return run_request(request, out, err);
  } catch (const ArgumentError& error) {
    failed(error, err);
    return kUsageError;
  }
}

}  // namespace oriel::cli
