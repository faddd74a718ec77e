#include "capture/captured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/context.hpp"
#include "base/debug.hpp"
#include "base/escape.hpp"
#include "capture/verify.hpp"
#include "formula/call.hpp"
#include "inspect/collect.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "runtime/tape.hpp"
#include "runtime/trace.hpp"
#include "schedule/describe.hpp"

namespace oriel::detail {

using api::CallKey;
using api::CapturedEntry;
using api::CapturedInputs;
using base::Debug;

Captured::Captured(FunctionOptions its_options, int& its_traces, Site its_site)
    : options(std::move(its_options)),
      site(its_site),
      traces_of_type(its_traces),
      entries_(new std::atomic<const CapturedEntry*>[options.limit]()) {}

Captured::~Captured() {
  for (std::size_t i = 0; i < options.limit; ++i) delete entries_[i].load(std::memory_order_acquire);
  for (Replaced* old = replaced_.load(std::memory_order_acquire); old != nullptr;) delete std::exchange(old, old->next);
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

std::size_t Captured::living() const {
  const std::vector<const CapturedEntry*> all = entries();
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const CapturedEntry* e) { return !e->ended(); }));
}

std::uint64_t Captured::earlier_runs() const noexcept {
  std::uint64_t runs = 0;
  for (const Replaced* old = replaced_.load(std::memory_order_acquire); old != nullptr; old = old->next)
    runs += old->entry->runs();
  return runs;
}

const CapturedEntry* Captured::add(std::unique_ptr<CapturedEntry>& entry, const CallKey& key) {
  for (std::size_t i = 0; i < options.limit; ++i) {
    const CapturedEntry* there = nullptr;
    if (entries_[i].compare_exchange_strong(there, entry.get(), std::memory_order_acq_rel)) return entry.release();
    if (there->holds(key)) return there;
  }
  // There is no room but that of contexts which have ended.
  for (std::size_t i = 0; i < options.limit; ++i) {
    const CapturedEntry* there = entries_[i].load(std::memory_order_acquire);
    if (there->holds(key)) return there;
    if (!there->ended()) continue;
    auto old = std::make_unique<Replaced>();
    if (!entries_[i].compare_exchange_strong(there, entry.get(), std::memory_order_acq_rel)) {
      if (there->holds(key)) return there;  // another thread was faster
      continue;
    }
    old->entry.reset(there);
    old->next = replaced_.load(std::memory_order_relaxed);
    while (!replaced_.compare_exchange_weak(old->next, old.get(), std::memory_order_acq_rel)) {
    }
    static_cast<void>(old.release());
    return entry.release();
  }
  return entry.get();
}

Shared<Captured> make_captured(FunctionOptions options, int& traces, Site site) {
  constexpr std::size_t kMostEntries = 1 << 16;
  if (options.limit > kMostEntries) {
    throw ArgumentError("function",
                        fmt::format("a limit of {} entries; accepted are 0 to {}", options.limit, kMostEntries));
  }
  // Names go into reports, and into the comments of exports.
  for (std::string& name : options.names) name = base::escaped(name);
  return Shared<Captured>::make(std::move(options), traces, site);
}

// What is differentiated or mapped has to see the operations.
bool in_trace() noexcept { return runtime::tracing() || runtime::Tape::current() || runtime::StandIns::current(); }

bool run_captured(const Captured& captured, const CapturedArguments& arguments, CapturedResults& results) {
  if (captured.due_for_verification()) return false;  // capture() has the callable
  CallKey key;
  CapturedInputs inputs;
  api::gather(arguments, inputs, key);
  const CapturedEntry* entry = captured.find(key);
  if (entry == nullptr) return false;
  entry->run(inputs, key, arguments, results);
  return true;
}

namespace {

std::string joined(const std::vector<FunctionMiss>& misses, std::string_view between) {
  std::string text;
  for (const FunctionMiss& miss : misses) text += (text.empty() ? "" : std::string(between)) + miss_text(miss);
  return text;
}

std::vector<FunctionMiss> misses_of(const Captured& captured, const CallKey& key) {
  std::vector<FunctionMiss> misses;
  for (const CapturedEntry* entry : captured.entries()) misses.push_back(entry->first_miss(key, misses.size()));
  return misses;
}

/// Why no more entries may be made; empty if they may.
std::string exhausted(const Captured& captured) {
  if (captured.living() >= captured.options.limit)
    return fmt::format("there may be no more than {} (FunctionOptions::limit)",
                       counted(captured.options.limit, "entry"));
  if (captured.traces_of_type.load(std::memory_order_relaxed) >= captured.options.traces)
    return fmt::format("its callable may be traced no more than {} (FunctionOptions::traces)",
                       counted(static_cast<std::uint64_t>(captured.options.traces), "time"));
  return {};
}

/// Does fact k differ from that of an earlier trace?
bool differs(const CapturedEntry& entry, const std::vector<api::FactName>& names, const CallKey& key, std::size_t k) {
  if (entry.traced.size() != key.size() || entry.names[k].subject != names[k].subject) return false;
  return entry.traced[k] != key[k];
}

/// Sizes that are equal share a symbol (SizePolicy::duck). Those that were different in an earlier trace get symbols of
/// their own: that they are equal now is chance. Sizes that share one are given one name.
void tell_apart(const std::vector<const CapturedEntry*>& earlier, const std::vector<api::FactName>& names,
                const CallKey& key, std::vector<api::SizeChoice>& choices) {
  const auto shares = [](const api::SizeChoice& choice) {
    return choice.policy == SizePolicy::duck && choice.mark.name.empty();
  };
  const auto were_equal = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(earlier, [&](const CapturedEntry* entry) {
      const auto has_fact = [&](std::size_t k) {
        return entry->traced.size() == key.size() && entry->names[k].subject == names[k].subject;
      };
      return !has_fact(a) || !has_fact(b) || entry->traced[a] == entry->traced[b];
    });
  };
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!shares(choices[i])) continue;
    std::vector<std::size_t> group{i};
    bool apart = false;
    for (std::size_t j = i + 1; j < choices.size(); ++j) {
      if (!shares(choices[j]) || key[choices[j].fact] != key[choices[i].fact]) continue;
      const bool equal = were_equal(choices[i].fact, choices[j].fact);
      if (equal) group.push_back(j);
      apart = apart || !equal;
    }
    if (!apart) continue;
    for (const std::size_t k : group) {
      choices[k].policy = SizePolicy::dynamic;
      if (group.size() > 1) choices[k].mark.name = fmt::format("size {} of the traced call", choices[i].fact);
    }
  }
}

/// Chooses the sizes that become symbols: those that are marked, and others as the options say.
std::vector<api::SizeChoice> choose_sizes(const Captured& captured, const CapturedArguments& arguments,
                                          const CapturedInputs& inputs, const std::vector<api::FactName>& names,
                                          const CallKey& key) {
  std::vector<api::SizeChoice> out;
  const std::vector<const CapturedEntry*> earlier = captured.entries();
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!names[k].may_be_symbol()) continue;
    const Dynamic dynamic = captured.options.dynamic;
    api::SizeChoice choice{k, SizePolicy::duck, false, {}};
    choice.origin = inputs.storages[static_cast<std::size_t>(inputs.storage_of[names[k].tensor])].node->site;
    bool symbolic = dynamic == Dynamic::yes;
    if (dynamic == Dynamic::automatic || dynamic == Dynamic::unbacked) {
      choice.policy = dynamic == Dynamic::automatic ? SizePolicy::dynamic : SizePolicy::unbacked;
      for (const CapturedEntry* entry : earlier) symbolic = symbolic || differs(*entry, names, key, k);
    }
    choice.place = names[k].kind == api::FactName::Kind::place;
    const bool markable = names[k].kind == api::FactName::Kind::size;
    for (const detail::Storage::SizeMark& mark : Access::cell(*arguments.tensors[names[k].tensor]).storage()->marks()) {
      if (!markable) break;
      if (mark.axis != names[k].axis) continue;
      symbolic = mark.kind != detail::Storage::SizeMark::Kind::fixed;
      if (mark.kind == detail::Storage::SizeMark::Kind::unbacked) choice.policy = SizePolicy::unbacked;
      choice.marked = symbolic && !mark.size.lenient;
      choice.mark = mark.size;
      if (symbolic) choice.origin = mark.site;
    }
    if (symbolic) out.push_back(std::move(choice));
  }
  tell_apart(earlier, names, key, out);
  return out;
}

void say_entry(std::uint16_t context, const Captured& captured, const CapturedEntry& entry) {
  const base::Watch watch = base::watch_of(context);
  if (watch.reporting()) {
    // The lines of inputs tell the guards on dtypes and sizes; those on symbolic sizes have lines of their own.
    runtime::add_to_report({called(captured), lines_of(facts_of(captured, entry))});
  }
  if (!watch.debugging(Debug::Dynamic)) return;
  std::vector<std::string> kernels;
  for (const api::CapturedPlan* plan : entry.some_plans())
    for (const runtime::LaunchStep& step : plan->launches->schedule().steps) kernels.push_back(step.name);
  const std::vector<std::string> guards = entry.guard_texts();
  std::string text =
      fmt::format("traced {}: {} kernels under {} guards\n", called(captured), kernels.size(), guards.size());
  for (const FunctionMiss& miss : entry.misses) text += "  because " + miss_text(miss) + '\n';
  if (watch.debugging(Debug::Dynamic, 2)) {
    for (const std::string& guard : guards) text += "  guard " + guard + '\n';
    for (const std::string& kernel : kernels) text += "  kernel " + kernel + '\n';
  }
  base::debug_say(context, Debug::Dynamic, text);
}

}  // namespace

void refuse_call(const Captured& captured, const CapturedArguments& arguments) {
  if (in_trace())
    throw ArgumentError("function", fmt::format("{} was called while another captured function was traced; call it "
                                                "outside of it, and pass its results",
                                                called(captured)));
  CallKey key;
  CapturedInputs inputs;
  api::gather(arguments, inputs, key);
  throw ArgumentError(
      "function",
      fmt::format("no entry of {} serves this call, and there is no callable to trace: {}; let the program that saves "
                  "it call it with arguments like these first, or load it into a function with Function::load",
                  called(captured), joined(misses_of(captured, key), "; ")));
}

bool capture(Captured& captured, const CapturedArguments& arguments, const TracerBase& tracer,
             CapturedResults& results) {
  const std::uint16_t context = api::context_of(arguments);
  if (base::ContextState* const state = base::find_context(context)) base::load_debug(*state);
  CallKey key;
  CapturedInputs inputs;
  api::gather(arguments, inputs, key);
  const CapturedEntry* entry = captured.find(key);
  std::unique_ptr<CapturedEntry> fresh;
  if (entry == nullptr) {
    std::vector<FunctionMiss> misses = misses_of(captured, key);
    if (const std::string why = exhausted(captured); !why.empty()) {
      if (captured.options.strict)
        throw ArgumentError("function", fmt::format("no entry of {} serves this call, and {}: {}", called(captured),
                                                    why, joined(misses, "; ")));
      captured.plain.fetch_add(1, std::memory_order_relaxed);
      if (base::watch_of(context).debugging(Debug::Dynamic))
        base::debug_say(context, Debug::Dynamic,
                        fmt::format("ran {} directly: {}\n  {}", called(captured), why, joined(misses, "\n  ")));
      return false;
    }
    captured.traces_of_type.fetch_add(1, std::memory_order_relaxed);
    const CapturedNames names = tracer.names(captured.options);
    std::vector<api::FactName> about = api::name_facts(arguments, inputs, names);
    const std::vector<api::SizeChoice> choices = choose_sizes(captured, arguments, inputs, about, key);
    fresh = api::trace(arguments, inputs, key, std::move(about), choices, tracer, captured.site,
                       captured.options.guards_per_size);
    captured.traces.fetch_add(1, std::memory_order_relaxed);
    fresh->inputs = api::describe_inputs(arguments, inputs, names, [&](std::size_t tensor) {
      return fresh->shapes.empty() ? nullptr : &fresh->shapes[tensor];
    });
    fresh->misses = std::move(misses);
    fresh->origin = api::record_origin(arguments, inputs, names, choices, tracer.form(fresh->like.get()));
    say_entry(context, captured, *fresh);
    entry = captured.add(fresh, key);
  }
  if (captured.options.verify != 0) {
    captured.verified.fetch_add(1, std::memory_order_relaxed);
    api::check_trace(captured, *entry, arguments, key, tracer);
  }
  entry->run(inputs, key, arguments, results);
  return true;
}

Tensor number_tensor(double value, DType dtype, Device device) {
  return Access::tensor(
      graph::constant(graph::Scalar::of_float(dtype, value), {}, device, {"function", Site::unknown()}));
}

}  // namespace oriel::detail
