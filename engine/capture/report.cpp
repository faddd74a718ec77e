// Texts about the entries of a captured function, for users.
#include <fmt/format.h>

#include <algorithm>

#include "base/activity.hpp"
#include "capture/captured.hpp"
#include "formula/call.hpp"
#include "graph/build.hpp"
#include "oriel/error.hpp"
#include "schedule/describe.hpp"
#include "sym/environment.hpp"

namespace oriel {

namespace {

detail::Storage& marked_storage(const Tensor& x, std::int64_t axis, std::string_view operation, std::size_t& at) {
  detail::Cell& cell = detail::Access::cell(x);
  at = graph::normal_axis(axis, x.rank(), {operation, Site::unknown()});
  if (cell.view_cell() != nullptr)
    throw ArgumentError(operation, fmt::format("{} is a view, and only a tensor with memory of its own can be marked; "
                                               "mark the tensor that it shows, or a copy of the view (x + 0), or let "
                                               "FunctionOptions::dynamic choose the view's symbols",
                                               x.str()));
  return *cell.storage();
}

/// For example "s0 = x.size(0), at least 2".
std::string symbol_line(const ShapeEnv::Symbol& symbol) {
  std::string line = fmt::format("{} = {}", symbol.name, symbol.source);
  if (!symbol.replacement.empty()) line += fmt::format(", which is {}", symbol.replacement);
  if (symbol.range.lo) line += fmt::format(", at least {}", *symbol.range.lo);
  if (symbol.range.hi) line += fmt::format(", at most {}", *symbol.range.hi);
  return line;
}

}  // namespace

void mark_dynamic(const Tensor& x, std::int64_t axis, DynamicSize size, Site site) {
  std::size_t at = 0;
  detail::Storage& storage = marked_storage(x, axis, "mark_dynamic", at);
  const std::int64_t now = x.shape()[at].value();
  if (size.multiple_of < 1)
    throw ArgumentError("mark_dynamic", fmt::format("a multiple of {}; give a number of at least 1", size.multiple_of));
  const bool fits = now >= size.lo.value_or(now) && now <= size.hi.value_or(now) && now % size.multiple_of == 0;
  if (!fits) {
    throw ArgumentError("mark_dynamic",
                        fmt::format("axis {} of {} is {}; it was stated to be from {} to {} and a multiple of {}", at,
                                    x.str(), now, size.lo ? fmt::format("{}", *size.lo) : "0",
                                    size.hi ? fmt::format("{}", *size.hi) : "any", size.multiple_of));
  }
  storage.mark({at, detail::Storage::SizeMark::Kind::dynamic, std::move(size), site});
}

void mark_static(const Tensor& x, std::int64_t axis) {
  std::size_t at = 0;
  detail::Storage& storage = marked_storage(x, axis, "mark_static", at);
  storage.mark({at, detail::Storage::SizeMark::Kind::fixed});
}

void mark_unbacked(const Tensor& x, std::int64_t axis, Site site) {
  std::size_t at = 0;
  detail::Storage& storage = marked_storage(x, axis, "mark_unbacked", at);
  storage.mark({at, detail::Storage::SizeMark::Kind::unbacked, {}, site});
}

namespace detail {

using api::CapturedEntry;

std::string called(const Captured& captured) {
  const std::string site = schedule::site_text(captured.site);
  return site.empty() ? "a captured function" : "the captured function of " + site;
}

std::string counted(std::uint64_t count, std::string_view what) {
  if (count == 1) return fmt::format("1 {}", what);
  return what == "entry" ? fmt::format("{} entries", count) : fmt::format("{} {}s", count, what);
}

std::string miss_text(const FunctionMiss& miss) {
  return fmt::format("entry {} needs {}; the call has {}", miss.entry, miss.guard, miss.value);
}

FunctionEntry facts_of(const Captured& captured, const CapturedEntry& entry) {
  FunctionEntry e;
  e.site = schedule::site_text(captured.site);
  e.inputs = entry.inputs;
  e.guards = entry.guard_texts();
  if (entry.symbolic()) {
    for (const ShapeEnv::Symbol& symbol : entry.symbols.env().symbols()) e.symbols.push_back(symbol_line(symbol));
    for (const sym::Environment::Symbol& symbol : entry.symbols.env().environment().symbols.all())
      e.origins.push_back(entry.symbols.origin_of(symbol.expr));
    e.decisions = entry.size_guards->decisions();
    for (const api::CapturedStage& stage : entry.stages) {
      e.sizes = std::max(e.sizes, stage.plans().size());
      e.scheduled = std::max(e.scheduled, stage.scheduled());
      e.plan_bytes += stage.plans().bytes();
    }
  }
  for (const api::CapturedPlan* plan : entry.some_plans()) {
    for (const runtime::LaunchStep& step : plan->launches->schedule().steps) e.kernels.push_back(step.name);
    e.kept_bytes += plan->launches->kept_bytes();
  }
  {
    const base::Activity work;  // so that a fork waits
    const backend::KeptFactors::Counts packed = entry.kept.counts();
    e.packed = packed.copies;
    e.packed_bytes = packed.bytes;
  }
  e.misses = entry.misses;
  e.calls = entry.runs();
  return e;
}

std::vector<FunctionEntry> entries(const Captured& captured) {
  std::vector<FunctionEntry> out;
  for (const CapturedEntry* entry : captured.entries()) out.push_back(facts_of(captured, *entry));
  return out;
}

std::vector<std::pair<std::string, std::string>> lines_of(const FunctionEntry& e) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const FunctionMiss& miss : e.misses) lines.emplace_back("because", miss_text(miss));
  for (const std::string& input : e.inputs) lines.emplace_back("input", input);
  for (std::size_t k = 0; k < e.symbols.size(); ++k)
    lines.emplace_back("symbol", e.symbols[k] + (e.origins[k].empty() ? "" : ", " + e.origins[k]));
  for (const std::string& decision : e.decisions) lines.emplace_back("guard", decision);
  if (!e.symbols.empty())
    lines.emplace_back("sizes", fmt::format("{} met, {} scheduled", counted(e.sizes, "set"), e.scheduled));
  if (e.plan_bytes >= 1 << 20) lines.emplace_back("plans", fmt::format("{} MiB", e.plan_bytes >> 20));
  for (const std::string& kernel : e.kernels) lines.emplace_back("kernel", kernel);
  if (e.packed != 0)
    lines.emplace_back("packed", fmt::format("{}, {} bytes", counted(e.packed, "weight"), e.packed_bytes));
  if (e.kept_bytes != 0) lines.emplace_back("keeps", fmt::format("{} bytes between kernels", e.kept_bytes));
  return lines;
}

FunctionCounts counts(const Captured& captured) {
  FunctionCounts c;
  c.hits = captured.earlier_runs();
  for (const CapturedEntry* entry : captured.entries()) c.hits += entry->runs();
  c.traces = captured.traces.load(std::memory_order_relaxed);
  c.plain = captured.plain.load(std::memory_order_relaxed);
  c.verified = captured.verified.load(std::memory_order_relaxed);
  c.hits -= std::min(c.hits, c.traces);
  return c;
}

std::string explain(const Captured& captured) {
  const std::vector<FunctionEntry> all = entries(captured);
  const FunctionCounts c = counts(captured);
  std::string out =
      fmt::format("{}: {}, at most {}; {} hit, {} traced, {} ran directly\n", called(captured),
                  counted(all.size(), "entry"), captured.options.limit, counted(c.hits, "call"), c.traces, c.plain);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FunctionEntry& e = all[i];
    out += fmt::format("entry {}: {}, {}, {}\n", i, counted(e.calls, "call"), counted(e.kernels.size(), "kernel"),
                       counted(e.guards.size(), "guard"));
    for (const auto& [what, text] : lines_of(e)) out += fmt::format("  {:<8} {}\n", what, text);
  }
  return out;
}

}  // namespace detail

}  // namespace oriel
