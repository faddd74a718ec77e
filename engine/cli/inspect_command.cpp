#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <vector>

#include "base/escape.hpp"
#include "base/subprocess.hpp"
#include "base/temporary_file.hpp"
#include "cli/command.hpp"
#include "cli/json.hpp"
#include "oriel/error.hpp"
#include "oriel/profile.hpp"
#include "runtime/profile.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kInspectUsage =
    R"usage(usage: oriel inspect [-o FILE.html] [--perfetto FILE.json] PROGRAM [ARGUMENTS]
       oriel inspect --diff BEFORE.json AFTER.json

Runs a program that uses Oriel and writes a page of what it computed (report.html): its kernels with the reason why each
one ends, views as pictures, times beside the machine's limits, memory, and the generated source. The page needs no
network. The same data stands beside it as JSON.

  oriel inspect build/tests/examples/photo tests/data/ascent.pgm photo.png
  oriel inspect -o edges.html oriel eval edges.tc --in X=photo.png --out Y=edges.png

--perfetto writes a trace, too: the launches by thread and the memory over time, for ui.perfetto.dev and other readers of
the Trace Event Format. A page and a trace hold the first 2,000 launches.

--diff compares the data of two pages: kernels that are new, gone, or whose shortest launch takes another time.

A program may write such a page itself: ORIEL_REPORT=FILE.html, or oriel::report (oriel/report.hpp).
)usage";

constexpr const char* kProfileUsage = R"usage(usage: oriel profile PROGRAM [ARGUMENTS]

Runs a program that uses Oriel and prints its kernels by time: the line that built the result, the name, time, share of
all, launches, bytes, operations and the share of what this machine reaches (the larger of bytes at the speed of a copy
of so much data and operations at the peak, measured when the program ends); then where the next gain lies.

  oriel profile build/tests/examples/photo tests/data/ascent.pgm photo.png

Each launch is waited for, so that its time is its own.
)usage";

/// Runs the program with a variable set. Returns its exit status. Throws IoError if it cannot be started.
int run_with(const std::string& operation, std::span<const std::string> arguments, const std::string& variable) {
  const base::SubprocessResult done = base::run_in_place(arguments, {&variable, 1});
  if (!done.trouble.empty()) throw IoError(operation, done.trouble);
  return done.status;
}

/// Do both paths lead to one file, which may not be there yet?
bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto place = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return place(a) == place(b);
}

std::string missing(const std::string& program) {
  return fmt::format("\"{}\" wrote no report: it computed nothing with Oriel, or ended before its end (abort, _exit)",
                     base::escaped(program));
}

struct Row {
  std::string kernel;
  std::string sites;
  std::string hint;  // what keeps it from its limit
  std::int64_t launches = 0;
  double seconds = 0;
  double fastest = 0;
  double bytes = 0;  // of all launches
  double flops = 0;
};

/// The kernels of all schedules, in the order of their numbers.
std::vector<const Json*> kernels_of(const Json& report) {
  std::vector<const Json*> kernels;
  for (const Json& schedule : report.at("schedules"))
    for (const Json& kernel : schedule.at("kernels")) kernels.push_back(&kernel);
  return kernels;
}

/// A row for each name: kernels of one name in several schedules together.
std::vector<Row> rows_of(const Json& report) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> row_of;
  for (const Json* const kernel : kernels_of(report)) {
    const std::string name = kernel->at("name");
    const std::int64_t launches = kernel->at("launches");
    if (name.empty() || launches == 0) continue;
    const auto [at, fresh] = row_of.emplace(name, rows.size());
    if (fresh) rows.emplace_back();
    Row& row = rows[at->second];
    row.kernel = name;
    row.fastest =
        fresh ? kernel->at("fastest").get<double>() : std::min(row.fastest, kernel->at("fastest").get<double>());
    row.launches += launches;
    row.seconds += kernel->at("seconds").get<double>();
    row.bytes += kernel->at("bytes").get<double>() * static_cast<double>(launches);
    row.flops += kernel->at("flops").get<double>() * static_cast<double>(launches);
    runtime::add_sites(row.sites, kernel->value("sites", ""));  // older data has none
    if (!fresh) continue;
    row.hint = kernel->at("method");
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::seconds);
  return rows;
}

std::string profile_text(const Json& report) {
  Profile profile;
  std::map<std::string, std::string> hints;
  for (const Row& row : rows_of(report)) {
    profile.kernels.push_back({row.kernel, row.launches, row.seconds, row.fastest, std::llround(row.bytes),
                               std::llround(row.flops), row.sites});
    hints[row.kernel] = row.hint;
  }
  const Json& machine = report.at("machine");
  runtime::MachineLimits limits{machine.at("bytes_per_second"), machine.at("flops_per_second"), {}};
  for (const Json& size : machine.at("copies")) limits.copies.push_back({size.at(0), size.at(1)});
  return runtime::profile_text(profile, limits, [&](const std::string& kernel) { return hints[kernel]; });
}

/// The data of a report as a trace: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
/// (Trace Event Format). Times are in microseconds.
std::string trace_of(const Json& report) {
  const std::vector<const Json*> kernels = kernels_of(report);
  const Json& timeline = report.at("timeline");
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"args", {{"name", report.at("title")}}}});
  for (const Json& launch : timeline.at("launches")) {
    const std::string name = timeline.at("names").at(launch.at(0).get<std::size_t>());
    const double start = launch.at(1), seconds = launch.at(2);
    Json event = {{"ph", "X"},           {"cat", "kernel"},   {"name", name},        {"pid", 1},
                  {"tid", launch.at(3)}, {"ts", start * 1e6}, {"dur", seconds * 1e6}};
    if (const std::int64_t number = launch.at(5); number >= 0) {
      const Json& kernel = *kernels.at(static_cast<std::size_t>(number));
      event["args"] = {
          {"lines", kernel.at("sites")}, {"bytes", kernel.at("bytes")}, {"operations", kernel.at("flops")}};
    }
    events.push_back(std::move(event));
    events.push_back({{"ph", "C"},
                      {"name", "memory of tensors"},
                      {"pid", 1},
                      {"ts", (start + seconds) * 1e6},
                      {"args", {{"bytes", launch.at(4)}}}});
  }
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump() + "\n";
}

/// Throws IoError.
void write_trace(const std::string& path, const std::string& report) {
  std::ifstream in(report);
  const std::string trace = trace_of(Json::parse(in));
  std::ofstream out(path);
  out << trace;
  out.close();
  if (!out) throw IoError("inspect", fmt::format("cannot write \"{}\"", path));
}

/// The rows of the data of a report. Throws IoError, which names the file, for other data.
std::vector<Row> rows_in(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw IoError("inspect", fmt::format("cannot read \"{}\"", path));
  try {
    const Json report = Json::parse(in);
    return rows_of(report);
  } catch (const Json::exception&) {
    throw IoError("inspect",
                  fmt::format("\"{}\" is no data of a report; `oriel inspect` writes it beside the page", path));
  }
}

/// A line for each kernel that differs, the largest difference of all launches first.
std::string differences(const std::vector<Row>& old_rows, const std::vector<Row>& new_rows) {
  const auto find = [](const std::vector<Row>& rows, const std::string& kernel) {
    return std::ranges::find(rows, kernel, &Row::kernel);
  };
  std::vector<std::pair<double, std::string>> lines;
  const auto total = [](const std::vector<Row>& rows) {
    double sum = 0;
    for (const Row& row : rows) sum += row.seconds;
    return sum;
  };
  for (const Row& row : new_rows) {
    const auto old = find(old_rows, row.kernel);
    if (old == old_rows.end()) {
      lines.emplace_back(row.seconds, fmt::format("new     {}: {:.3f} ms in {} launches", row.kernel, row.seconds * 1e3,
                                                  row.launches));
      continue;
    }
    const double factor = row.fastest / old->fastest;
    if (factor > 1.05 || factor < 0.95) {
      lines.emplace_back(
          std::abs(row.seconds - old->seconds),
          fmt::format("{} {}: {:.4f} -> {:.4f} ms ({:.2f} times as long)", factor > 1 ? "slower " : "faster ",
                      row.kernel, old->fastest * 1e3, row.fastest * 1e3, factor));
    }
  }
  for (const Row& row : old_rows) {
    if (find(new_rows, row.kernel) == new_rows.end())
      lines.emplace_back(row.seconds, fmt::format("gone    {}: {:.3f} ms in {} launches", row.kernel, row.seconds * 1e3,
                                                  row.launches));
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &std::pair<double, std::string>::first);
  std::string text;
  for (const auto& [size, line] : lines) text += base::escaped(line) + "\n";
  return text + fmt::format("{} kernels in {:.3f} ms before, {} in {:.3f} ms after\n", old_rows.size(),
                            total(old_rows) * 1e3, new_rows.size(), total(new_rows) * 1e3);
}

int run_inspect(Arguments arguments, const Streams& streams) {
  std::string path = "report.html";
  std::string trace;
  std::size_t first = 0;
  for (; first < arguments.size() && arguments[first].starts_with("-"); ++first) {
    const std::string& option = arguments[first];
    if (asks_help(option)) {
      streams.out << kInspectUsage;
      return 0;
    }
    if (option == "--diff") {
      if (arguments.size() != first + 3) throw UsageError("--diff takes two files of data, such as a.json and b.json");
      streams.out << differences(rows_in(arguments[first + 1]), rows_in(arguments[first + 2]));
      return 0;
    }
    if (option != "-o" && option != "--perfetto") throw UsageError(fmt::format("unknown option '{}'", option));
    if (first + 1 == arguments.size()) throw UsageError(option + " takes a file");
    (option == "-o" ? path : trace) = arguments[++first];
  }
  if (first == arguments.size()) throw UsageError("a program is missing");
  if (!path.ends_with(".html")) throw UsageError(fmt::format("'{}' does not end in .html", path));
  const std::string data = path.substr(0, path.size() - std::string_view(".html").size()) + ".json";
  for (const std::string& own : {path, data})
    if (!trace.empty() && same_place(trace, own))
      throw UsageError(
          fmt::format("--perfetto {}: the page is written to {} and its data to {}; give the trace another "
                      "name",
                      trace, path, data));
  std::error_code ignored;
  const auto before = std::filesystem::last_write_time(path, ignored);
  const bool there = !ignored;
  const int status =
      run_with("inspect", arguments.subspan(first), "ORIEL_REPORT=" + std::filesystem::absolute(path).string());
  const auto after = std::filesystem::last_write_time(path, ignored);
  if (ignored || (there && before == after)) {
    streams.err << "oriel: inspect: " << missing(arguments[first]) << '\n';
    return status != 0 ? status : 1;
  }
  streams.out << "wrote " << base::escaped(path) << '\n';
  if (!trace.empty()) {
    write_trace(trace, data);
    streams.out << "wrote " << base::escaped(trace) << '\n';
  }
  return status;
}

int run_profile(Arguments arguments, const Streams& streams) {
  if (arguments.empty()) throw UsageError("a program is missing");
  if (arguments[0].starts_with("-")) throw UsageError(fmt::format("unknown option '{}'", arguments[0]));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("oriel-profile-" + base::random_digits());
  struct Removed {
    const std::filesystem::path& folder;
    ~Removed() {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  } const removed{folder};
  try {
    std::filesystem::create_directories(folder);
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError("profile", error.what());
  }
  const int status = run_with("profile", arguments, "ORIEL_REPORT=" + (folder / "profile.html").string());
  std::ifstream in(folder / "profile.json");
  if (!in) {
    streams.err << "oriel: profile: " << missing(arguments[0]) << '\n';
    return status != 0 ? status : 1;
  }
  streams.out << profile_text(Json::parse(in));
  return status;
}

}  // namespace

constexpr Command kInspect{"inspect", "run a program and write a page of its kernels, views, times and sources",
                           [] { return std::string(kInspectUsage); }, run_inspect, true};
constexpr Command kProfile{"profile", "run a program and print its kernels by time, with the next gain",
                           [] { return std::string(kProfileUsage); }, run_profile, true};

}  // namespace oriel::cli
