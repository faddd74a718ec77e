#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <thread>

#include "backend/backend.hpp"
#include "base/escape.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/words.hpp"
#include "fuzz/campaign.hpp"
#include "fuzz/external_subject.hpp"
#include "fuzz/report.hpp"
#include "fuzz/shard_properties.hpp"
#include "oriel/device.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr int kBroken = 1;

/// The options of the command line.
struct FuzzRequest {
  FuzzRequest() { campaign.threads = std::max(1U, std::thread::hardware_concurrency()); }

  fuzz::CampaignOptions campaign;
  std::vector<std::string> kinds;
  std::vector<std::string> properties;
  std::string external;
  double timeout = 10;
  std::string report;
  std::string replay;
  bool quiet = false;
};

std::string fuzz_usage() {
  const FuzzRequest defaults;
  std::string text = fmt::format(R"usage(usage: oriel fuzz reshape [OPTIONS]
       oriel fuzz shard [--cases N] [--seed N] [--time SECONDS]

Checks random views, their movements and merging against brute force, and shows the smallest case that fails. `oriel fuzz shard`
does the same for pairs of shardings of one tensor on 2 to 6 ranks: what ranks hold, send and sum (`oriel shard`).

  --cases N           number of cases, of all kinds together ({})
  --seed N            seed of the cases; random by default
  --time SECONDS      seconds after which no new cases begin; 0: no limit
  --sizes N           approximate number of elements of a base, from 8 to 5000 ({})
  --kinds KIND,..     kinds of cases; all but 'kernels' by default
  --threads N         threads, from 1 to 1024 ({}); an external program runs once in each
  --skip N            skip this many cases of each kind
  --external COMMAND  fuzz this shell command instead: it answers cases line by line (engine/fuzz/PROTOCOL.md)
  --properties NAME,..
                      properties to check on an external program; all by default. Without one: 'kernels' and
                      'adjoint', which --kinds kernels checks
  --timeout SECONDS   seconds that an external program may take for an answer, from 0.1 to 3600 ({})
  --report FILE       also write a report to this file, as one HTML page
  --replay FILE       check only the cases of this file (one JSON object per line)
  --quiet             show no progress, which a terminal shows

)usage",
                                 defaults.campaign.cases, defaults.campaign.most_elements, defaults.campaign.threads,
                                 defaults.timeout);
  text += "Kinds:\n";
  for (const fuzz::KindInfo& kind : fuzz::kinds()) {
    text += fmt::format("  {:<10}{}{}\n", kind.name, kind.summary, kind.on_own ? " (only if asked for)" : "");
  }
  text += "Properties:\n";
  for (const fuzz::PropertyInfo& property : fuzz::properties()) {
    text += fmt::format("  {:<14}{}\n", property.name, property.summary);
  }
  return text +
         "Exit status: 0 if all properties hold, 1 if one is violated, 2 if the command line is wrong.\n"
         "Case N of a kind and seed is the same whatever else runs, on any number of threads.\n";
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

/// Are these the properties of generated kernels alone?
bool are_of_kernels(const std::vector<std::string>& properties) {
  const auto of_kernels = [](const std::string& name) {
    const fuzz::Property property = named(fuzz::properties(), name, "property").property;
    return property == fuzz::Property::Kernels || property == fuzz::Property::Adjoint;
  };
  return !properties.empty() && std::all_of(properties.begin(), properties.end(), of_kernels);
}

void complete(FuzzRequest& request) {
  if (request.external.empty() && are_of_kernels(request.properties)) {
    request.properties.clear();
    if (request.kinds.empty()) request.kinds = {"kernels"};
  }
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

/// An option with a number in a range.
template <class Number>
Option number(std::string_view name, Number& place, Number least = 0,
              Number most = std::numeric_limits<Number>::max()) {
  return {
      name, [=, &place](const std::string& text) {
        Number value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, fault] = std::from_chars(text.data(), end, value);
        if (fault != std::errc{} || stop != end || !(value >= least && value <= most))
          throw UsageError(fmt::format("{}: '{}' is no {} from {} to {}", name, text,
                                       std::is_integral_v<Number> ? "whole number" : "number of seconds", least, most));
        place = value;
      }};
}

/// Reads the arguments behind `reshape`.
void read_arguments(Arguments arguments, FuzzRequest& request) {
  std::vector<std::string>* list = nullptr;  // further words belong to the last list
  const ReadValue more = [&list](const std::string& words) {
    if (list == nullptr) throw UsageError(fmt::format("unexpected argument '{}'", words));
    for (const std::string_view word : split(words, ",")) list->emplace_back(word);
  };
  const auto names = [&](std::vector<std::string>& place) {
    return [&](const std::string& words) {
      list = &place;
      more(words);
    };
  };
  fuzz::CampaignOptions& campaign = request.campaign;
  read_options(arguments,
               {number("--cases", campaign.cases),
                number("--seed", campaign.seed),
                number("--time", campaign.seconds, 0., 1e9),
                number<std::int64_t>("--sizes", campaign.most_elements, 8, 5000),
                {"--kinds", names(request.kinds)},
                number("--threads", campaign.threads, 1U, 1024U),
                number("--skip", campaign.skip),
                {"--external", into(request.external)},
                {"--properties", names(request.properties)},
                number("--timeout", request.timeout, 0.1, 3600.),
                {"--report", into(request.report)},
                {"--replay", into(request.replay)},
                {"--quiet", &request.quiet}},
               more);
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

/// Random pairs of shardings.
int run_shard_fuzz(Arguments arguments, std::ostream& out) {
  fuzz::ShardCampaign campaign;
  campaign.seed = std::random_device()();
  read_options(
      arguments,
      {number("--cases", campaign.cases), number("--seed", campaign.seed), number("--time", campaign.seconds, 0., 1e9)},
      [](const std::string& word) { throw UsageError(fmt::format("unexpected argument '{}'", word)); });
  out << fmt::format("seed {}\n", campaign.seed) << std::flush;
  const fuzz::ShardCampaignResult result = fuzz::run_shard_campaign(campaign);
  for (const auto& [name, count] : result.recognised) out << fmt::format("{:<16}{:>12}\n", name, fuzz::grouped(count));
  out << fmt::format("{} pairs of shardings in {:.1f} s, {} elements sent, {} partial sums reduced\n",
                     fuzz::grouped(result.cases), result.seconds, fuzz::grouped(result.elements),
                     fuzz::grouped(result.sums));
  out << (result.failure.empty() ? "all properties hold\n" : "\n" + result.failure);
  return result.failure.empty() ? 0 : kBroken;
}

int run_fuzz(Arguments arguments, const Streams& streams) {
  FuzzRequest request;
  request.campaign.seed = std::random_device()();
  if (arguments.empty() || arguments[0].starts_with('-'))
    throw UsageError("what to fuzz is missing: oriel fuzz reshape .. or oriel fuzz shard ..");
  if (arguments[0] == "shard") return run_shard_fuzz(arguments.subspan(1), streams.out);
  if (arguments[0] != "reshape")
    throw UsageError(fmt::format("unknown '{}'; there are reshape and shard", arguments[0]));
  read_arguments(arguments.subspan(1), request);
  try {
    return run_request(request, streams.out, streams.err);
  } catch (const ArgumentError& error) {
    failed(error, streams.err);
    return kUsageError;
  }
}

}  // namespace

constexpr Command kFuzz{"fuzz", "check random views and movements against brute force, for this engine or any other",
                        fuzz_usage, run_fuzz};

}  // namespace oriel::cli
