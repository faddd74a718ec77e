#include "fuzz/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuzz/describe.hpp"
#include "fuzz/numbers.hpp"
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

}  // namespace

std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command) {
  return runtime::answer_page(Report(options, result).page(command));
}

}  // namespace oriel::fuzz
