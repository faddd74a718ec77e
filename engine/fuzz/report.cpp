#include "fuzz/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fuzz/describe.hpp"
#include "fuzz/drawing.hpp"

namespace oriel::fuzz {
namespace {

constexpr const char* kStyle = R"(
:root { --ink: #1c2430; --soft: #5d6b7d; --line: #d9dfe7; --paper: #ffffff; --band: #f5f7fa; --yes: #2f7d6b; --no: #8aa0bd;
        --unknown: #c8502f; --other: #b98a1d; --none: #e4e8ee; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 40px 0 8px; } h3 { font-size: 15px; margin: 20px 0 4px; }
p { margin: 4px 0 12px; color: var(--soft); } p.lead { color: var(--ink); }
code, pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--band); padding: 12px; overflow-x: auto; border-radius: 6px; }
.badge { display: inline-block; padding: 2px 12px; border-radius: 12px; color: #fff; font-weight: 600; }
.holds { background: var(--yes); } .broken { background: var(--unknown); }
.facts { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 16px 0; }
.facts div { font-size: 22px; } .facts small { display: block; color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table.data { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
table.data th { text-align: right; font-weight: 600; color: var(--soft); font-size: 13px; vertical-align: bottom; }
table.data th, table.data td { padding: 5px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
table.data th:first-child, table.data td:first-child { text-align: left; }
.bar { display: inline-flex; width: 150px; height: 12px; background: var(--none); border-radius: 2px; overflow: hidden; vertical-align: middle; }
.bar i { display: block; height: 100%; }
.yes { background: var(--yes); } .no { background: var(--no); } .unknown { background: var(--unknown); }
.key { font-size: 13px; color: var(--soft); } .key i { display: inline-block; width: 10px; height: 10px; margin: 0 4px 0 14px; border-radius: 2px; }
svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
.grids { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; }
table.grid { border-collapse: collapse; } table.grid td { width: 26px; height: 20px; text-align: center; font-size: 10px;
  border: 1px solid #fff; font-variant-numeric: tabular-nums; }
table.grid td.none { background: var(--none); color: #aab4c2; }
)";

class Page {
 public:
  Page(const CampaignOptions& options, const CampaignResult& result, const std::string& command)
      : options_(options), result_(result), command_(command) {
    for (const Kind kind : options.kinds) {
      if (tally(kind).cases > 0) kinds_.push_back(kind);
    }
  }

  std::string text() {
    head();
    by_kind();
    by_length();
    merge_times();
    hardest();
    counterexample();
    put("</main></body></html>\n");
    return fmt::to_string(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  const KindTally& tally(Kind kind) const { return result_.tallies[static_cast<std::size_t>(kind)]; }

  KindTally total() const {
    KindTally sum;
    for (const Kind kind : kinds_) sum.add(tally(kind));
    return sum;
  }

  static double percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100. * static_cast<double>(part) / static_cast<double>(whole);
  }

  void fact(const char* what, const std::string& value) { put("<div>{}<small>{}</small></div>", escaped(value), what); }

  void head() {
    put("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<title>oriel fuzz reshape, seed {}</title><style>{}</style></head><body><main>",
        options_.seed, kStyle);
    put("<h1>Fuzzing reshape</h1><p><code>{} --seed {} --sizes {}</code></p>", escaped(command_), options_.seed,
        options_.most_elements);
    if (result_.failure) {
      put("<span class=\"badge broken\">{} is broken</span>", info(result_.failure->smallest.failure.property).name);
    } else {
      put("<span class=\"badge holds\">all properties hold</span>");
    }
    const KindTally sum = total();
    put("<div class=\"facts\">");
    fact("cases", grouped(result_.cases));
    fact(options_.threads == 1 ? "a second, on 1 thread"
                               : fmt::format("a second, on {} threads", options_.threads).c_str(),
         grouped(static_cast<std::uint64_t>(static_cast<double>(result_.cases) / std::max(result_.seconds, 1e-9))));
    fact("are one view", fmt::format("{:.1f}%", percent(sum.one_view, sum.cases)));
    if (sum.merges > 0) {
      fact("merges undecided", fmt::format("{} of {}", grouped(sum.unknown), grouped(sum.merges)));
      fact("median merge", duration_text(sum.time_quantile(.5)));
      fact("99.9% of merges within", duration_text(sum.time_quantile(.999)));
    }
    put("</div>");
  }

  void by_kind() {
    put("<h2>By kind of case</h2><p>Verdicts are those of <code>merge</code> on two-view stacks. <em>Searched</em>: "
        "cases in "
        "which a step was settled by a search because no theorem did, and the steps it took on average. "
        "<em>Refined</em>: of "
        "some "
        "stacks of several views, those that are one view once axes are split. <em>Other form</em>: of some maps of "
        "several "
        "views that came up again, those whose canonical form is another one.</p>");
    put("<p class=\"key\"><i class=\"yes\"></i>merged<i class=\"no\"></i>no single view<i "
        "class=\"unknown\"></i>undecided</p>");
    put("<div class=\"scroll\"><table class=\"data\"><tr><th>kind</th><th>cases</th><th>one view</th><th>verdicts</th>"
        "<th>undecided</th><th>searched</th><th>steps</th><th>refined</th><th>other "
        "form</th><th>median</th><th>99.9%</th></tr>");
    for (const Kind kind : kinds_) {
      const KindTally& t = tally(kind);
      put("<tr><td title=\"{}\">{}</td><td>{}</td><td>{:.2f}%</td><td>", info(kind).summary, info(kind).name,
          grouped(t.cases), percent(t.one_view, t.cases));
      if (t.merges > 0) {
        put("<span class=\"bar\"><i class=\"yes\" style=\"width:{:.3f}%\"></i><i class=\"no\" "
            "style=\"width:{:.3f}%\"></i>"
            "<i class=\"unknown\" style=\"width:{:.3f}%\"></i></span>",
            percent(t.merged, t.merges), percent(t.refused, t.merges), percent(t.unknown, t.merges));
      } else {
        put("&ndash;");
      }
      put("</td><td>{}</td><td>{:.3f}%</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
          t.merges > 0 ? grouped(t.unknown) : "–", percent(t.searched, t.cases),
          t.searched > 0 ? fmt::format("{:.0f}", static_cast<double>(t.steps) / static_cast<double>(t.searched)) : "–",
          t.refinable.asked > 0 ? fmt::format("{:.1f}%", percent(t.refinable.found, t.refinable.asked)) : "–",
          t.seen_again > 0 ? fmt::format("{:.2f}%", percent(t.other_form, t.seen_again)) : "–",
          duration_text(t.time_quantile(.5)), duration_text(t.time_quantile(.999)));
    }
    put("</table></div>");
  }

  void by_length() {
    const KindTally sum = total();
    put("<h2>By length</h2><p>Views and movements of a case together, and the share of such cases that one view says; "
        "paler where fewer cases were seen.</p>");
    put("<div class=\"scroll\">{}</div>", shares_svg(sum.by_length));
  }

  void merge_times() {
    if (total().merges == 0) return;
    put("<h2>Time of a merge</h2><p>Each merge timed on its own, the clock's some 20 ns included; both axes are "
        "logarithmic, two bars "
        "an octave. What else runs on the machine shows in the tail.</p>");
    for (const Kind kind : kinds_) {
      if (tally(kind).merges > 0) put("<h3>{}</h3>{}", info(kind).name, histogram_svg(tally(kind).merge_time));
    }
  }

  void hardest() {
    put("<h2>The hardest cases</h2><p>Those whose decision took most steps of search, then those that took longest. A "
        "cell "
        "is the position "
        "of an index (darker is further); grey is invalid.</p>");
    for (const Kind kind : kinds_) {
      const std::vector<HardCase>& hard = tally(kind).hardest;
      if (hard.empty()) continue;
      put("<h3>{}</h3>", info(kind).name);
      for (std::size_t k = 0; k < std::min<std::size_t>(hard.size(), 3); ++k) {
        put("<p class=\"lead\"><code>{}</code><br><small>", escaped(program_text(hard[k].stack)));
        if (hard[k].steps > 0) put("{} steps of search", grouped(hard[k].steps));
        if (hard[k].nanoseconds > 0) {
          put("{}merged in {}", hard[k].steps > 0 ? ", " : "", duration_text(static_cast<double>(hard[k].nanoseconds)));
        }
        put("</small></p>{}", grid(kind, hard[k].stack));
      }
    }
  }

  void counterexample() {
    if (!result_.failure) return;
    put("<h2>The counterexample</h2>{}<pre>{}</pre>", grid(result_.failure->kind, result_.failure->smallest.smallest),
        escaped(describe(*result_.failure, options_, command_)));
  }

  std::string grid(Kind kind, const Case& c) {
    if (!info(checkable_kind(kind, c)).table) return "<p>too large to draw</p>";
    Table table;
    eager_.run(c, table);
    return index_grid(table);
  }

  const CampaignOptions& options_;
  const CampaignResult& result_;
  const std::string& command_;
  std::vector<Kind> kinds_;
  Eager eager_;
  fmt::memory_buffer text_;
};

}  // namespace

std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command) {
  return Page(options, result, command).text();
}

}  // namespace oriel::fuzz
