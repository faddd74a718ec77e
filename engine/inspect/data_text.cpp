// The data of a report as JSON, and the page around it.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "inspect/collect.hpp"
#include "inspect/json.hpp"
#include "inspect/page_text.hpp"
#include "runtime/profile.hpp"

namespace oriel::runtime {
namespace {

constexpr std::uintmax_t kLargestFile = 100'000;  // bytes of the program's text that a page holds of each file
constexpr std::size_t kMostFiles = 8;

/// The views as texts, which the page evaluates. One of symbolic sizes has no numbers: its expressions are shown alone.
void write_stack(JsonWriter& json, std::string_view name, const std::vector<View>& views) {
  const auto symbolic = [](const View& view) {
    return std::ranges::any_of(view.shape, [](SymInt n) { return n.is_symbolic(); }) ||
           std::ranges::any_of(view.strides, [](SymInt n) { return n.is_symbolic(); }) || view.offset.is_symbolic();
  };
  json.key(name).begin('[');
  if (std::ranges::none_of(views, symbolic)) {
    for (const View& view : views) json.text(view.str());
  }
  json.end(']');
}

std::string_view kind_name(ExplainedOperand::Kind kind) {
  switch (kind) {
    case ExplainedOperand::Kind::load:
      return "reads";
    case ExplainedOperand::Kind::store:
      return "writes";
    case ExplainedOperand::Kind::index:
      return "position";
    case ExplainedOperand::Kind::valid:
      return "validity";
  }
  return "";
}

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin('[');
  for (const std::string& text : texts) json.text(text);
  json.end(']');
}

void write_operand(JsonWriter& json, const ExplainedOperand& operand) {
  json.begin('{').key("kind").text(kind_name(operand.kind)).key("name").text(operand.name);
  json.key("value").text(operand.value).key("memory").text(operand.memory).key("dtype").text(name(operand.dtype));
  write_texts(json, "steps", operand.steps);
  write_stack(json, "written", operand.written);
  write_stack(json, "merged", operand.merged);
  write_stack(json, "normalised", operand.normalised);
  json.key("index").text(operand.index).key("valid").text(operand.valid).end('}');
}

/// A kernel with its number, counted through all schedules, and what its launches took.
struct ListedKernel {
  const ExplainedKernel* kernel;
  std::int64_t number;
  LaunchTimes times;

  double cost() const { return times.launches > 0 ? times.seconds : kernel->estimated_nanoseconds * 1e-9; }
};

std::vector<ListedKernel> listed(const ReportData& data) {
  std::vector<ListedKernel> all;
  for (const Explanation& schedule : data.schedules) {
    for (const ExplainedKernel& kernel : schedule.kernels)
      all.push_back(
          {&kernel, std::ssize(all), all.size() < data.times.size() ? data.times[all.size()] : LaunchTimes()});
  }
  return all;
}

/// The values and operands of a kernel.
std::pair<std::string, std::string> details_of(const ExplainedKernel& kernel) {
  JsonWriter values, operands;
  values.begin('[');
  for (const std::string& value : kernel.values) values.text(value);
  operands.begin('[');
  for (const ExplainedOperand& operand : kernel.operands) write_operand(operands, operand);
  return {values.end(']').str(), operands.end(']').str()};
}

/// The kernels that a page gives the sources and details of.
struct Written {
  std::set<const ExplainedKernel*> sources, details;
  /// By details: the number of the kernel that has them, counted through all schedules.
  std::map<std::pair<std::string, std::string>, std::int64_t> holder;
};

void write_kernel(JsonWriter& json, const ReportData& data, const ListedKernel& listed, const Written& written) {
  const ExplainedKernel& kernel = *listed.kernel;
  const bool source = written.sources.contains(&kernel);
  json.begin('{').key("name").text(kernel.name).key("device").text(kernel.device.str());
  json.key("runs").boolean(kernel.runs).key("sites").text(sites_of(kernel)).key("outputs").begin('[');
  for (const ExplainedOutput& o : kernel.outputs) {
    json.begin('{').key("value").text(o.value).key("text").text(o.text).key("site").text(o.site);
    json.key("reason").text(o.reason).key("where").text(o.where).end('}');
  }
  json.end(']');
  write_texts(json, "rows", kernel.rows);
  const auto found = details_of(kernel);
  if (written.details.contains(&kernel)) {
    json.key("values").raw(found.first).key("operands").raw(found.second);
  } else {
    json.key("values").null().key("operands").null();
    if (const auto holder = written.holder.find(found); holder != written.holder.end())
      json.key("same_as").number(holder->second);
  }
  json.key("before").text(kernel.domain_before).key("after").text(kernel.domain_after);
  json.key("method").text(kernel.method).key("path").text(kernel.path);
  json.key("estimated_nanoseconds").number(kernel.estimated_nanoseconds);
  json.key("tier").text(kernel.tier).key("flops").number(kernel.flops).key("bytes").number(kernel.bytes);
  json.key("launches").number(listed.times.launches).key("seconds").number(listed.times.seconds);
  json.key("fastest").number(listed.times.fastest).key("repeated").number(listed.times.repeated);
  json.key("limit").number(data.machine.seconds(static_cast<double>(kernel.bytes), static_cast<double>(kernel.flops)));
  json.key("program").text(source ? kernel.program : "").key("source");
  if (source)
    json.text(kernel.source);
  else
    json.null();
  json.end('}');
}

/// The kernels whose texts of these sizes fit, the most expensive first. A kernel of size 0 has none of its own.
template <class Size>
std::set<const ExplainedKernel*> fitting(std::vector<ListedKernel> all, std::size_t bytes, const Size& size_of) {
  std::ranges::stable_sort(all, std::ranges::greater(), &ListedKernel::cost);
  std::set<const ExplainedKernel*> chosen;
  for (const ListedKernel& listed : all) {
    const std::size_t size = size_of(*listed.kernel);
    if (size == 0 || size > bytes) continue;
    bytes -= size;
    chosen.insert(listed.kernel);
  }
  return chosen;
}

/// Kernels of one name and source give it once.
std::set<const ExplainedKernel*> with_source(const ReportData& data, std::size_t bytes) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  return fitting(listed(data), bytes, [&](const ExplainedKernel& kernel) {
    const bool first = seen.emplace(kernel.name, kernel.source).second;
    return first ? kernel.source.size() + kernel.program.size() : 0;
  });
}

/// Kernels of the same details give them once.
std::set<const ExplainedKernel*> with_details(const ReportData& data, std::size_t bytes) {
  std::set<std::pair<std::string, std::string>> seen;
  return fitting(listed(data), bytes, [&](const ExplainedKernel& kernel) {
    const auto [found, first] = seen.insert(details_of(kernel));
    return first ? found->first.size() + found->second.size() : 0;
  });
}

void write_files(JsonWriter& json, const ReportData& data) {
  json.key("sources").begin('{');
  std::size_t files = 0;
  for (const auto& [name, path] : data.files) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) in.open(name, std::ios::binary | std::ios::ate);  // where the program was started
    if (!in || static_cast<std::uintmax_t>(in.tellg()) > kLargestFile || files == kMostFiles) continue;
    ++files;
    in.seekg(0);
    json.key(name).begin('[');
    for (std::string line; std::getline(in, line);) json.text(line);
    json.end(']');
  }
  json.end('}');
}

/// Seconds in whole nanoseconds, which is what clocks tell.
double rounded(double seconds) { return std::round(seconds * 1e9) / 1e9; }

void write_timeline(JsonWriter& json, const Timeline& timeline) {
  json.key("timeline").begin('{');
  write_texts(json, "names", timeline.names);
  json.key("launches").begin('[');
  for (const Timeline::Launch& launch : timeline.launches) {
    json.begin('[').number(launch.name).number(rounded(launch.start)).number(rounded(launch.seconds));
    json.number(launch.thread).number(launch.live_bytes).number(launch.kernel).end(']');
  }
  json.end(']').key("left_out").number(timeline.left_out).end('}');
}

void write_schedule(JsonWriter& json, const ReportData& data, const Explanation& schedule,
                    std::span<const ListedKernel> kernels, const Written& written) {
  json.begin('{').key("nodes").number(static_cast<std::int64_t>(schedule.nodes));
  json.key("values").number(static_cast<std::int64_t>(schedule.values)).key("rules").begin('[');
  for (const FiredRule& rule : schedule.rules) {
    json.begin('{').key("name").text(rule.name).key("times").number(std::int64_t{rule.times});
    write_texts(json, "reasons", rule.reasons);
    json.end('}');
  }
  json.end(']')
      .key("view_merges")
      .begin('{')
      .key("merges")
      .number(static_cast<std::int64_t>(schedule.view_merges.merges));
  json.key("searches").number(static_cast<std::int64_t>(schedule.view_merges.searches));
  json.key("undecided").number(static_cast<std::int64_t>(schedule.view_merges.undecided)).end('}');
  json.key("kernels").begin('[');
  for (const ListedKernel& kernel : kernels) write_kernel(json, data, kernel, written);
  json.end(']').key("memory").begin('{').key("block_bytes").begin('[');
  for (const std::int64_t bytes : schedule.memory.block_bytes) json.number(bytes);
  json.end(']').key("peak_bytes").number(schedule.memory.peak_bytes);
  json.key("bytes_without_reuse").number(schedule.memory.bytes_without_reuse);
  json.key("output_bytes").number(schedule.memory.output_bytes).end('}').end('}');
}

}  // namespace

std::string report_json(const ReportData& data, std::size_t source_bytes, std::size_t detail_bytes) {
  JsonWriter json;
  json.begin('{').key("version").number(std::int64_t{1}).key("kind").text("report").key("title").text(data.title);
  json.key("device").text(data.schedules.empty() ? "" : data.schedules[0].device.str());
  json.key("machine").begin('{').key("bytes_per_second").number(data.machine.bytes_per_second);
  json.key("flops_per_second").number(data.machine.flops_per_second).key("copies").begin('[');
  for (const MachineLimits::Copies& size : data.machine.copies)
    json.begin('[').number(size.bytes).number(size.bytes_per_second).end(']');
  json.end(']').end('}');
  json.key("left_out").number(static_cast<std::int64_t>(data.left_out));
  write_files(json, data);
  write_timeline(json, data.timeline);
  json.key("traces").begin('[');
  for (const ReportedTrace& trace : data.traces) {
    json.begin('{').key("function").text(trace.function).key("lines").begin('[');
    for (const auto& [what, text] : trace.lines) json.begin('[').text(what).text(text).end(']');
    json.end(']').end('}');
  }
  json.end(']');
  Written written{with_source(data, source_bytes), with_details(data, detail_bytes), {}};
  const std::vector<ListedKernel> all = listed(data);
  for (const ListedKernel& one : all) {
    if (written.details.contains(one.kernel)) written.holder.emplace(details_of(*one.kernel), one.number);
  }
  json.key("schedules").begin('[');
  std::span<const ListedKernel> rest = all;
  for (const Explanation& schedule : data.schedules) {
    write_schedule(json, data, schedule, rest.first(schedule.kernels.size()), written);
    rest = rest.subspan(schedule.kernels.size());
  }
  return json.end(']').end('}').str();
}

std::string bounded_json(const ReportData& data) {
  constexpr std::size_t kMostBytes = 1'000'000;
  const std::size_t page = std::string_view(kPage).size();
  const auto left_beside = [&](std::size_t detail_bytes) {
    const std::size_t taken = report_json(data, 0, detail_bytes).size() + page;
    return kMostBytes - std::min(taken, kMostBytes);
  };
  const std::size_t details = left_beside(0);
  if (details == 0 && !data.files.empty()) {  // the program's text goes before what only the page has
    ReportData smaller = data;
    smaller.files.clear();
    return bounded_json(smaller);
  }
  // Escapes of line ends and brackets add about a quarter to a source.
  return report_json(data, left_beside(details) / 4 * 3, details);
}

std::string page_of(std::string_view json) {
  std::string page = kPage;
  constexpr std::string_view mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), json);
}

std::string views_page(std::string_view program) {
  JsonWriter json;
  json.begin('{').key("version").number(std::int64_t{1}).key("kind").text("views").key("program").text(program);
  return page_of(json.end('}').str());
}

std::string answer_page(const AnswerPage& answer) {
  JsonWriter json;
  json.begin('{').key("version").number(std::int64_t{1}).key("kind").text("answer").key("title").text(answer.title);
  json.key("text").text(answer.text).key("tables").begin('[');
  for (const AnswerPage::Table& table : answer.tables) {
    json.begin('{').key("title").text(table.title);
    write_texts(json, "head", table.head);
    json.key("rows").begin('[');
    for (const std::vector<std::string>& row : table.rows) {
      json.begin('[');
      for (const std::string& cell : row) json.text(cell);
      json.end(']');
    }
    json.end(']').end('}');
  }
  json.end(']').key("stacks").begin('[');
  for (const AnswerPage::Stack& stack : answer.stacks) {
    json.begin('{').key("title").text(stack.title);
    write_stack(json, "views", stack.views);
    if (!stack.program.empty()) json.key("program").text(stack.program);
    json.end('}');
  }
  json.end(']').key("bars").begin('[');
  for (const AnswerPage::Bars& bars : answer.bars) {
    json.begin('{').key("title").text(bars.title).key("rows").begin('[');
    for (const AnswerPage::Bars::Row& row : bars.rows)
      json.begin('[').text(row.label).number(row.share).text(row.text).end(']');
    json.end(']').end('}');
  }
  return page_of(json.end(']').end('}').str());
}

}  // namespace oriel::runtime
