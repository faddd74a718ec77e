#include "fuzz/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fuzz/shrink.hpp"
#include "inspect/collect.hpp"

namespace oriel::fuzz {

namespace {

using runtime::AnswerPage;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.2f} %", 100 * share(part, whole));
}

class Report {
 public:
  Report(const CampaignOptions& options, const CampaignResult& result) : options_(options), result_(result) {
    for (const Kind kind : options.kinds) {
      if (tally(kind).cases > 0) kinds_.push_back(kind);
    }
  }

  AnswerPage page(const std::string& command) {
    KindTally sum;
    for (const Kind kind : kinds_) sum.add(tally(kind));
    page_.title =
        fmt::format("Fuzzing reshape: {}",
                    result_.failure ? std::string(info(result_.failure->smallest.failure.property).name) + " is broken"
                                    : "all properties hold");
    page_.text = fmt::format("{} --seed {} --sizes {}\n", command, options_.seed, options_.most_elements);
    page_.text +=
        "\nVerdicts are those of merge on stacks of two views. Searched: cases in which a step was settled by a "
        "search,\n"
        "because no theorem did. Refined: of some stacks of several views, those that are one view once axes are "
        "split.\n"
        "Other form: of some maps of several views that came up again, those whose canonical form is another one.\n";
    if (result_.failure) {
      page_.text += "\n" + describe(*result_.failure, options_, command);
      draw("The counterexample", result_.failure->kind, result_.failure->smallest.smallest);
    }
    totals(sum);
    by_kind();
    by_length(sum);
    for (const Kind kind : kinds_) merge_times(kind);
    for (const Kind kind : kinds_) hardest(kind);
    return std::move(page_);
  }

 private:
  const KindTally& tally(Kind kind) const { return result_.tallies[static_cast<std::size_t>(kind)]; }

  void totals(const KindTally& sum) {
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(result_.cases) / std::max(result_.seconds, 1e-9));
    AnswerPage::Table table{"The run", {"what", "number"}, {}};
    table.rows.push_back({"cases", grouped(result_.cases)});
    table.rows.push_back(
        {fmt::format("a second, on {} thread{}", options_.threads, options_.threads == 1 ? "" : "s"), grouped(rate)});
    table.rows.push_back({"are one view", percent(sum.one_view, sum.cases)});
    if (sum.merges > 0) {
      table.rows.push_back({"merges undecided", fmt::format("{} of {}", grouped(sum.unknown), grouped(sum.merges))});
      table.rows.push_back({"median merge", duration_text(sum.time_quantile(.5))});
      table.rows.push_back({"99.9 % of merges within", duration_text(sum.time_quantile(.999))});
    }
    page_.tables.push_back(std::move(table));
  }

  void by_kind() {
    AnswerPage::Table table{"By kind of case",
                            {"kind", "cases", "one view", "merged", "no single view", "undecided", "searched",
                             "steps of a search", "refined", "other form", "median merge", "99.9 %"},
                            {}};
    for (const Kind kind : kinds_) {
      const KindTally& t = tally(kind);
      const auto of_merges = [&](std::uint64_t n) { return t.merges > 0 ? grouped(n) : "-"; };
      table.rows.push_back(
          {std::string(info(kind).name), grouped(t.cases), percent(t.one_view, t.cases), of_merges(t.merged),
           of_merges(t.refused), of_merges(t.unknown), percent(t.searched, t.cases),
           t.searched > 0 ? fmt::format("{:.0f}", static_cast<double>(t.steps) / static_cast<double>(t.searched)) : "-",
           percent(t.refinable.found, t.refinable.asked), percent(t.other_form, t.seen_again),
           duration_text(t.time_quantile(.5)), duration_text(t.time_quantile(.999))});
    }
    page_.tables.push_back(std::move(table));
  }

  void by_length(const KindTally& sum) {
    AnswerPage::Bars bars{"By length: views and movements together, and the share that one view says", {}};
    for (std::size_t k = 0; k < kLongest; ++k) {
      const LengthTally& length = sum.by_length[k];
      if (length.cases == 0) continue;
      bars.rows.push_back({fmt::format("{}{}", k + 1, k + 1 == kLongest ? " or more" : ""),
                           share(length.one_view, length.cases),
                           fmt::format("{} of {}", percent(length.one_view, length.cases), grouped(length.cases))});
    }
    page_.bars.push_back(std::move(bars));
  }

  /// The bars are logarithmic: one of 10 is half as long as one of 100. The clock takes some 20 ns of each.
  void merge_times(Kind kind) {
    const KindTally& t = tally(kind);
    if (t.merges == 0) return;
    const double longest = std::log1p(static_cast<double>(*std::ranges::max_element(t.merge_time)));
    AnswerPage::Bars bars{
        fmt::format("Times of merges of {}, two rows an octave, the bars logarithmic", info(kind).name), {}};
    for (std::size_t b = 0; b < kTimeBuckets; ++b) {
      if (t.merge_time[b] == 0) continue;
      bars.rows.push_back({"from " + duration_text(bucket_start(b)),
                           std::log1p(static_cast<double>(t.merge_time[b])) / longest, grouped(t.merge_time[b])});
    }
    page_.bars.push_back(std::move(bars));
  }

  void hardest(Kind kind) {
    const std::vector<HardCase>& hard = tally(kind).hardest;
    for (std::size_t k = 0; k < std::min<std::size_t>(hard.size(), 3); ++k) {
      std::string title = fmt::format("Hard: {}", info(kind).name);
      if (hard[k].steps > 0) title += fmt::format(", {} steps of search", grouped(hard[k].steps));
      if (hard[k].nanoseconds > 0)
        title += fmt::format(", merged in {}", duration_text(static_cast<double>(hard[k].nanoseconds)));
      draw(std::move(title), kind, hard[k].stack);
    }
  }

  void draw(std::string title, Kind kind, const Case& c) {
    std::string program = program_text(c);
    if (!info(checkable_kind(kind, c)).table) {
      page_.tables.push_back({std::move(title), {"too large to draw"}, {{std::move(program)}}});
      return;
    }
    page_.stacks.push_back({std::move(title), {}, std::move(program)});
  }

  const CampaignOptions& options_;
  const CampaignResult& result_;
  std::vector<Kind> kinds_;
  AnswerPage page_;
};

// The most entries of a table that is printed.
constexpr std::size_t kReadable = 400;

std::vector<std::int64_t> positions_of(const Table& table) {
  std::vector<std::int64_t> positions = table.at;
  for (std::int64_t& position : positions) position = position == kInvalid ? -1 : position;
  return positions;
}

std::string commented(std::string_view text) {
  std::string out = "// ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "// ";
  }
  return out;
}

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t n = 0; n < values.size(); ++n) {
    text += n == 0 ? "" : n % 16 == 0 ? ",\n      " : ", ";
    text += std::to_string(values[n]);
  }
  return text;
}

}  // namespace

std::string grouped(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) text.push_back(',');
    text.push_back(digits[k]);
  }
  return text;
}

std::string duration_text(double nanoseconds) {
  if (nanoseconds <= 0) return "-";
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.1f} ms", nanoseconds / 1e6);
}

std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command) {
  return runtime::answer_page(Report(options, result).page(command));
}

std::string table_text(std::span<const std::int64_t> positions, const Shape& shape) {
  std::size_t width = 1;
  for (const std::int64_t position : positions) width = std::max(width, fmt::formatted_size("{}", position));
  const std::size_t columns = shape.empty() ? 1 : static_cast<std::size_t>(shape.back().value());
  const std::size_t rows = shape.size() < 2 ? 1 : static_cast<std::size_t>(shape[shape.size() - 2].value());
  std::string text;
  for (std::size_t n = 0; n < positions.size(); ++n) {
    text += fmt::format("{}{:>{}}", n % columns == 0 ? "  " : " ", positions[n], width);
    if ((n + 1) % columns != 0) continue;
    text += '\n';
    if ((n + 1) % (columns * rows) == 0 && n + 1 < positions.size()) text += '\n';
  }
  return text;
}

std::string cpp_program(const Case& c, Kind kind, const Failure& failure) {
  std::string text =
      fmt::format("{}: {}\n#include <cstdio>\n#include <vector>\n\n#include \"oriel/oriel.hpp\"\n\nint main() {{\n",
                  commented(std::string(info(failure.property).name)), commented(failure.seen).substr(3));
  Eager eager;
  Table table;
  std::vector<std::int64_t> positions;
  if (info(checkable_kind(kind, c)).table) {
    eager.run(c, table);
    positions = positions_of(table);
  }
  const bool embed = !positions.empty() && positions.size() <= kReadable;
  const std::string expected = fmt::format(
      "  // The position of each index in row-major order, -1 where there is none.\n"
      "  const std::vector<std::int64_t> expected{{\n      {}}};\n",
      list_text(positions));
  if (failure.property == Property::Kernels) {
    text += tensor_statements(c) + expected;
    text +=
        "  const std::vector<float> got = (x + 0).to_vector<float>();\n"
        "  for (std::size_t n = 0; n < got.size(); ++n) {\n"
        "    if (got[n] != static_cast<float>(expected[n] + 1)) return 1;\n  }\n  return 0;\n}\n";
    return text;
  }
  text += tracker_statements(c);
  text += "  const oriel::ShapeTracker simple = tracker.simplify();\n";
  text += "  std::printf(\"%s\\nsimplified: %s\\n\", tracker.str().c_str(), simple.str().c_str());\n";
  if (embed) {
    text += expected + "  if (simple.table() != expected) return 1;\n";
  } else if (!positions.empty()) {
    text += "  if (simple.table() != tracker.table()) return 1;\n";
  }
  if (!positions.empty() && eager.fit(table))
    text += "  if (!simple.single()) return 1;  // one view says this table\n";
  text += "  if (!(simple.simplify() == simple)) return 1;\n  return 0;\n}\n";
  return text;
}

std::string describe(Kind kind, const Counterexample& smallest, const std::string& found, bool external) {
  const Case& c = smallest.smallest;
  const Failure& broken = smallest.failure;
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} broken: {}\n", info(broken.property).name, info(broken.property).summary);
  fmt::format_to(out, "  {}\n\n", broken.seen);
  fmt::format_to(out, "found {}; smallest of {} tried:\n\n", found, smallest.tried);
  if (info(checkable_kind(kind, c)).table) {
    Eager eager;
    Table table;
    eager.run(c, table);
    Shape shape;
    for (const std::int64_t extent : table.shape) shape.push_back(extent);
    const std::optional<View> fit = eager.fit(table);
    fmt::format_to(out, "table (-1: invalid), {}:\n",
                   fit ? "which is the one view " + fit->str() : "which no single view has");
    if (table.at.size() <= kReadable) {
      fmt::format_to(out, "{}\n", table_text(positions_of(table), shape));
    } else {
      fmt::format_to(out, "  {} entries; `oriel view --table` below lists them\n\n", table.at.size());
    }
  }
  const std::string program = program_text(c);
  fmt::format_to(out, "oriel view:\n  oriel view --table \"{}\"\n\n", program);
  fmt::format_to(out, "JSON (a line of `oriel view --jsonl`, and of a corpus):\n  {}\n\n", json_text(c));
  if (!smallest.program.empty()) fmt::format_to(out, "in the program's own words:\n{}\n\n", smallest.program);
  if (!external) fmt::format_to(out, "C++:\n{}\n", cpp_program(c, kind, broken));
  return fmt::to_string(text);
}

std::string describe(const CampaignFailure& failure, const CampaignOptions& options, const std::string& command) {
  const std::string_view kind = info(failure.kind).name;
  return describe(failure.kind, failure.smallest,
                  fmt::format("in {} case {} of seed {}", kind, failure.number, options.seed), options.external) +
         fmt::format("again:\n  {} --kinds {} --seed {} --sizes {} --skip {} --cases 1\n", command, kind, options.seed,
                     options.most_elements, failure.number);
}

}  // namespace oriel::fuzz
