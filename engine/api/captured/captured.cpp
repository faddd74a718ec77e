#include "api/captured/captured.hpp"

#include <fmt/format.h>

#include "api/call.hpp"
#include "base/debug.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "schedule/describe.hpp"

namespace oriel::detail {

using api::CapturedEntry;
using api::CapturedInputs;
using api::Facts;
using base::Debug;

Captured::Captured(FunctionOptions its_options, std::atomic<int>& its_traces, Site its_site)
    : options(std::move(its_options)),
      site(its_site),
      traces_of_type(its_traces),
      entries_(new std::atomic<const CapturedEntry*>[options.limit]()) {}

Captured::~Captured() {
  for (std::size_t i = 0; i < options.limit; ++i) delete entries_[i].load(std::memory_order_acquire);
}

std::vector<const CapturedEntry*> Captured::entries() const {
  std::vector<const CapturedEntry*> out;
  for (std::size_t i = 0; i < options.limit; ++i) {
    const CapturedEntry* entry = entries_[i].load(std::memory_order_acquire);
    if (entry == nullptr) break;
    out.push_back(entry);
  }
  return out;
}

const CapturedEntry* Captured::add(std::unique_ptr<CapturedEntry>& entry, const Facts& facts) {
  for (std::size_t i = 0; i < options.limit; ++i) {
    const CapturedEntry* there = nullptr;
    if (entries_[i].compare_exchange_strong(there, entry.get(), std::memory_order_acq_rel)) return entry.release();
    if (there->holds(facts)) return there;
  }
  return entry.get();
}

std::shared_ptr<Captured> make_captured(FunctionOptions options, std::atomic<int>& traces, Site site) {
  constexpr std::size_t kMostEntries = 1 << 16;
  if (options.limit > kMostEntries) {
    throw ArgumentError("function",
                        fmt::format("a limit of {} entries; accepted are 0 to {}", options.limit, kMostEntries));
  }
  return std::make_shared<Captured>(std::move(options), traces, site);
}

bool in_trace() noexcept { return runtime::tracing(); }

bool run_captured(const Captured& captured, const CapturedArguments& arguments, CapturedResults& results) {
  Facts facts;
  CapturedInputs inputs;
  api::gather(arguments, inputs, facts);
  const CapturedEntry* entry = captured.find(facts);
  if (entry == nullptr) return false;
  entry->run(inputs, arguments, results);
  return true;
}

namespace {

std::string called(const Captured& captured) {
  const std::string site = schedule::site_text(captured.site);
  return site.empty() ? "a captured function" : "the captured function of " + site;
}

/// "1 kernel", "2 kernels", "2 entries"
std::string counted(std::uint64_t count, std::string_view what) {
  if (count == 1) return fmt::format("1 {}", what);
  return what == "entry" ? fmt::format("{} entries", count) : fmt::format("{} {}s", count, what);
}

std::string miss_text(const FunctionMiss& miss) {
  return fmt::format("entry {} needs {}; the call has {}", miss.entry, miss.guard, miss.value);
}

std::string joined(const std::vector<FunctionMiss>& misses, std::string_view between) {
  std::string text;
  for (const FunctionMiss& miss : misses) text += (text.empty() ? "" : std::string(between)) + miss_text(miss);
  return text;
}

std::vector<FunctionMiss> misses_of(const Captured& captured, const Facts& facts) {
  std::vector<FunctionMiss> misses;
  for (const CapturedEntry* entry : captured.entries()) misses.push_back(entry->first_miss(facts, misses.size()));
  return misses;
}

/// Beyond the limits: why, or empty.
std::string exhausted(const Captured& captured) {
  if (captured.entries().size() >= captured.options.limit)
    return fmt::format("there may be no more than {} (FunctionOptions::limit)",
                       counted(captured.options.limit, "entry"));
  if (captured.traces_of_type.load(std::memory_order_relaxed) >= captured.options.traces)
    return fmt::format("its callable may be traced no more than {} (FunctionOptions::traces)",
                       counted(static_cast<std::uint64_t>(captured.options.traces), "time"));
  return {};
}

void say_entry(const Captured& captured, const CapturedEntry& entry) {
  if (!base::debugging(Debug::Dynamic)) return;
  const auto& steps = entry.launches->schedule().steps;
  std::string text =
      fmt::format("traced {}: {} kernels under {} guards\n", called(captured), steps.size(), entry.guards.size());
  for (const FunctionMiss& miss : entry.misses) text += "  because " + miss_text(miss) + '\n';
  if (base::debugging(Debug::Dynamic, 2)) {
    for (const api::CapturedGuard& g : entry.guards)
      text += "  guard " + entry.names[static_cast<std::size_t>(g.fact)].guard(g.value) + '\n';
    for (const runtime::LaunchStep& step : steps) text += "  kernel " + step.name + '\n';
  }
  base::debug_say(Debug::Dynamic, text);
}

}  // namespace

bool capture(Captured& captured, const CapturedArguments& arguments, const TracerBase& tracer,
             CapturedResults& results) {
  base::load_debug();
  Facts facts;
  CapturedInputs inputs;
  api::gather(arguments, inputs, facts);
  const CapturedEntry* entry = captured.find(facts);
  std::unique_ptr<CapturedEntry> fresh;
  if (entry == nullptr) {
    std::vector<FunctionMiss> misses = misses_of(captured, facts);
    if (const std::string why = exhausted(captured); !why.empty()) {
      if (captured.options.strict)
        throw ArgumentError("function", fmt::format("no entry of {} serves this call, and {}: {}", called(captured),
                                                    why, joined(misses, "; ")));
      captured.plain.fetch_add(1, std::memory_order_relaxed);
      if (base::debugging(Debug::Dynamic))
        base::debug_say(Debug::Dynamic,
                        fmt::format("ran {} directly: {}\n  {}", called(captured), why, joined(misses, "\n  ")));
      return false;
    }
    captured.traces_of_type.fetch_add(1, std::memory_order_relaxed);
    fresh = api::trace(arguments, inputs, facts, tracer, captured.site);
    captured.traces.fetch_add(1, std::memory_order_relaxed);
    const CapturedNames names = tracer.names(captured.options);
    fresh->names = api::name_facts(arguments, inputs, names);
    fresh->inputs = api::describe_inputs(arguments, inputs, names);
    fresh->misses = std::move(misses);
    say_entry(captured, *fresh);
    entry = captured.add(fresh, facts);
  }
  entry->run(inputs, arguments, results);
  return true;
}

std::vector<FunctionEntry> entries(const Captured& captured) {
  std::vector<FunctionEntry> out;
  for (const CapturedEntry* entry : captured.entries()) {
    FunctionEntry& e = out.emplace_back();
    e.site = schedule::site_text(captured.site);
    e.inputs = entry->inputs;
    for (const api::CapturedGuard& g : entry->guards)
      e.guards.push_back(entry->names[static_cast<std::size_t>(g.fact)].guard(g.value));
    for (const runtime::LaunchStep& step : entry->launches->schedule().steps) e.kernels.push_back(step.name);
    e.misses = entry->misses;
    e.calls = entry->launches->runs();
    e.kept_bytes = entry->launches->kept_bytes();
  }
  return out;
}

FunctionCounts counts(const Captured& captured) {
  FunctionCounts c;
  for (const CapturedEntry* entry : captured.entries()) c.hits += entry->launches->runs();
  c.traces = captured.traces.load(std::memory_order_relaxed);
  c.plain = captured.plain.load(std::memory_order_relaxed);
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
    for (const FunctionMiss& miss : e.misses) out += "  because  " + miss_text(miss) + '\n';
    for (const std::string& input : e.inputs) out += "  input    " + input + '\n';
    for (const std::string& kernel : e.kernels) out += "  kernel   " + kernel + '\n';
    if (e.kept_bytes != 0) out += fmt::format("  keeps    {} bytes between kernels\n", e.kept_bytes);
  }
  return out;
}

Tensor number_tensor(double value, DType dtype, Device device) {
  return Access::tensor(
      graph::constant(graph::Scalar::of_float(dtype, value), {}, device, {"function", Site::unknown()}));
}

}  // namespace oriel::detail
