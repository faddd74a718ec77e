#include "runtime/profile.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/by_use.hpp"
#include "base/debug.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"
#include "schedule/describe.hpp"

namespace oriel {

namespace {

using base::fork_mutex;
using base::ForkLock;
using base::Watch;

constexpr std::size_t kMostLines = 4;  // of kernels of one name; further ones are dots

void print_rest(std::uint16_t context, const Profile& rest) noexcept {
  if (rest.kernels.empty()) return;
  try {
    if (context != 0) base::debug_print(fmt::format("profile of context {}", context));
    base::debug_print(runtime::profile_text(rest, runtime::measure_machine()));
  } catch (...) {  // a sink threw, and nobody is left to report it to
  }
}

/// What a context has recorded. Guarded by ForkLock::profile.
struct Recorder : base::ContextPart {
  explicit Recorder(std::uint16_t number) : context(number) {}
  /// The end of the context. The default context never ends.
  ~Recorder() override {
    if (prints_rest) print_rest(context, take());
  }
  /// What was recorded since the last call.
  Profile take() {
    for (std::size_t k = 0; k < lines.size(); ++k)
      for (const Site line : lines[k]) runtime::add_sites(profile.kernels[k].site, schedule::site_text(line));
    index_of.clear();
    lines.clear();
    repeats = {};
    Profile taken = std::exchange(profile, {});
    std::ranges::stable_sort(taken.kernels, std::ranges::greater(), &KernelProfile::seconds);
    return taken;
  }

  const std::uint16_t context;
  bool prints_rest = false;
  Profile profile;  // `kernels` in the order of their first launch
  std::unordered_map<std::string, std::size_t> index_of;
  std::vector<std::vector<Site>> lines;  // of the kernels
  runtime::Repeats repeats;
};

Recorder& recorder(base::ContextState& context) {
  return context.part<Recorder>(base::ContextSlot::profile,
                                [&] { return std::make_unique<Recorder>(context.number()); });
}

Profile take_from(base::ContextState& context) {
  Recorder& r = recorder(context);
  const std::lock_guard guard(fork_mutex(ForkLock::profile, context.number()));
  return r.take();
}

void record(base::ContextState& context, bool on) {
  base::change_watch(context, Watch::kProfile, (on ? Watch::kProfile : 0) | Watch::kProfileKnown);
}

template <class Number>
Number total(const std::vector<KernelProfile>& kernels, Number KernelProfile::*part) {
  Number sum = 0;
  for (const KernelProfile& k : kernels) sum += k.*part;
  return sum;
}

}  // namespace

double Profile::seconds() const { return total(kernels, &KernelProfile::seconds); }
std::int64_t Profile::bytes() const { return total(kernels, &KernelProfile::bytes); }
std::int64_t Profile::flops() const { return total(kernels, &KernelProfile::flops); }

std::string Profile::str() const {
  std::size_t width = 6;
  for (const KernelProfile& k : kernels) width = std::max(width, k.kernel.size());
  std::string out = fmt::format("{:<{}} {:>9} {:>12} {:>12} {:>14} {:>9} {:>14} {:>9}\n", "kernel", width, "launches",
                                "ms", "fastest ms", "bytes", "GB/s", "operations", "GFLOP/s");
  std::int64_t launched = 0;
  for (const KernelProfile& k : kernels) {
    launched += k.launches;
    out +=
        fmt::format("{:<{}} {:>9} {:>12.4f} {:>12.4f} {:>14} {:>9.2f} {:>14} {:>9.2f}\n", k.kernel, width, k.launches,
                    k.seconds * 1e3, k.fastest * 1e3, k.bytes, k.gigabytes_per_second(), k.flops, k.gigaflops());
  }
  return out + fmt::format("{:<{}} {:>9} {:>12.4f} {:>12} {:>14} {:>9} {:>14}\n", "all", width, launched,
                           seconds() * 1e3, "", bytes(), "", flops());
}

namespace profile {

void start() {
  by_use::inspection();
  record(base::current_context_state(), true);
}

void stop() { record(base::current_context_state(), false); }

bool recording() {
  base::ContextState& context = base::current_context_state();
  runtime::load_profile(context);
  return base::watch_of(context).profiling();
}

Profile take() { return take_from(base::current_context_state()); }

}  // namespace profile

ProfileScope::ProfileScope() : context_(base::current_context_state().number()), was_recording_(profile::recording()) {
  profile::take();
  profile::start();
}

ProfileScope::~ProfileScope() {
  base::ContextState* const context = base::find_context(context_);
  if (context != nullptr && !was_recording_) record(*context, false);
}

Profile ProfileScope::take() { return take_from(base::context_state(context_)); }

namespace runtime {

void load_profile(base::ContextState& context, std::optional<bool> on) {
  if (base::watch_of(context).has(Watch::kProfileKnown)) return;
  const std::lock_guard guard(fork_mutex(ForkLock::profile, context.number()));
  if (!on) {
    const std::string text = base::env_text("ORIEL_PROFILE").value_or("0");
    if (text != "0" && text != "1")
      throw ParseError("ORIEL_PROFILE", fmt::format("\"{}\" is neither 0 (off) nor 1 (on)", base::escaped(text)));
    on = text == "1";
  }
  if (!base::begin_watch(context, Watch::kProfileKnown, *on ? Watch::kProfile : 0) || !*on) return;
  if (context.number() == 0)
    std::atexit([] { print_rest(0, take_from(base::context_state(0))); });
  else
    recorder(context).prints_rest = true;
}

void add_to_profile(std::uint16_t number, const LaunchStep& step, double seconds, bool repeated) {
  base::ContextState* const context = base::find_context(number);
  if (context == nullptr) return;
  Recorder& r = recorder(*context);
  const std::lock_guard guard(fork_mutex(ForkLock::profile, number));
  Profile& p = r.profile;
  if (p.launches.size() < Profile::kMostLaunches)
    p.launches.push_back({step.name, seconds, step.bytes, step.flops});
  else
    ++p.launches_left_out;
  const auto [it, fresh] = r.index_of.emplace(step.name, p.kernels.size());
  if (fresh) {
    p.kernels.push_back({step.name, 0, 0, seconds, 0, 0, {}});
    r.lines.emplace_back();
  }
  std::vector<Site>& lines = r.lines[it->second];
  for (const Site line : step.lines) {
    const auto same = [&](Site other) { return other.file == line.file && other.line == line.line; };
    if (lines.size() <= kMostLines && std::ranges::none_of(lines, same)) lines.push_back(line);
  }
  KernelProfile& k = p.kernels[it->second];
  ++k.launches;
  if (repeated) ++k.repeated;
  k.seconds += seconds;
  k.fastest = std::min(k.fastest, seconds);
  k.bytes += step.bytes;
  k.flops += step.flops;
}

bool repeats_earlier(std::uint16_t number, const LaunchStep& step, std::span<const Repeats::Operand> operands,
                     std::span<const graph::Scalar> numbers) {
  base::ContextState* const context = base::find_context(number);
  if (context == nullptr) return false;
  Recorder& r = recorder(*context);
  const std::lock_guard guard(fork_mutex(ForkLock::profile, number));
  return r.repeats.add(step.kernel.get(), operands, numbers);
}

void add_sites(std::string& all, std::string_view more) {
  constexpr std::string_view kFurther = "...";
  while (!more.empty()) {
    const std::string_view one = more.substr(0, more.find(','));
    more.remove_prefix(std::min(more.size(), one.size() + 1));
    std::vector<std::string_view> known;
    for (std::string_view rest = all; !rest.empty();) {
      known.push_back(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(rest.size(), known.back().size() + 1));
    }
    if (one.empty() || std::ranges::find(known, one) != known.end() || known.size() > kMostLines) continue;
    all += (all.empty() ? "" : ",") + std::string(known.size() < kMostLines ? one : kFurther);
  }
}

std::string sites_of(const ExplainedKernel& kernel) {
  std::string sites;
  for (const ExplainedOutput& output : kernel.outputs) add_sites(sites, output.site);
  return sites;
}

namespace {

constexpr double kFull = 1.005;  // printed as more than 100 %
constexpr const char* kBeyondLimit =
    "more than 100 %: copies bound what reads and writes alike, and float32 multiply-adds bound operations. "
    "Reads alone, operations on smaller elements, and kernels that skip a part of what is counted may be faster.";

std::string amount(double x, std::string_view unit) {
  for (const auto& [size, prefix] :
       {std::pair(1e12, "T"), std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")}) {
    if (x >= size) return fmt::format("{:.3g} {}{}", x / size, prefix, unit);
  }
  return fmt::format("{:.3g} {}", x, unit);
}

}  // namespace

std::string profile_text(const Profile& profile, const MachineLimits& limits,
                         const std::function<std::string(const std::string& kernel)>& hint) {
  const double total = profile.seconds();
  const auto of_one = [](const KernelProfile& k, std::int64_t all) {
    return static_cast<double>(all) / static_cast<double>(k.launches);
  };
  const auto share = [&](const KernelProfile& k) {
    return k.fastest > 0 ? limits.seconds(of_one(k, k.bytes), of_one(k, k.flops)) / k.fastest : 1;
  };
  std::size_t line = 4, name = 6;
  for (const KernelProfile& k : profile.kernels) {
    line = std::max(line, base::escaped(k.site).size());
    name = std::max(name, base::escaped(k.kernel).size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}} {:>10} {:>6} {:>9} {:>10} {:>10} {:>9}\n", "line", line, "kernel",
                                 name, "ms", "share", "launches", "bytes of 1", "op of 1", "of limit");
  for (const KernelProfile& k : profile.kernels) {
    text += fmt::format("{:<{}}  {:<{}} {:>10.3f} {:>4.0f} % {:>9} {:>10} {:>10} {:>7.0f} %\n", base::escaped(k.site),
                        line, base::escaped(k.kernel), name, k.seconds * 1e3, total > 0 ? 100 * k.seconds / total : 0,
                        k.launches, amount(of_one(k, k.bytes), "B"), amount(of_one(k, k.flops), "op"), 100 * share(k));
  }
  for (const KernelProfile& k : profile.kernels) {
    if (k.repeated == 0) continue;
    text += fmt::format(
        "repeated: {}{} computed in {} of {} launches what an earlier one had computed from the same operands\n",
        base::escaped(k.kernel), k.site.empty() ? "" : " at " + base::escaped(k.site), k.repeated, k.launches);
  }
  const double copy = limits.bytes_per_second, fastest = limits.speed(0);
  text += fmt::format("this machine: copies {}/s{}, multiply-adds {}/s\n", amount(copy, "B"),
                      fastest > copy ? fmt::format(" in memory and up to {}/s in caches", amount(fastest, "B")) : "",
                      amount(limits.flops_per_second, "op"));
  if (std::ranges::any_of(profile.kernels, [&](const KernelProfile& k) { return share(k) > kFull; }))
    text += fmt::format("{}\n", kBeyondLimit);
  // The most time that a kernel could save at its limit.
  const auto saving = [&](const KernelProfile& k) { return k.seconds * (1 - std::min(1.0, share(k))); };
  const auto best = std::ranges::max_element(profile.kernels, {}, saving);
  if (best == profile.kernels.end() || total <= 0) return text;
  const auto most = std::ranges::max_element(profile.kernels, {}, &KernelProfile::seconds);
  const auto part = [&](const KernelProfile& k) {
    return fmt::format("{:.0f} % of the time is {}{}", 100 * k.seconds / total, base::escaped(k.kernel),
                       k.site.empty() ? "" : fmt::format(" ({})", base::escaped(k.site)));
  };
  text += '\n';
  if (most->seconds > best->seconds)
    text += fmt::format("{}, which reaches {:.0f} % of its limit.\n", part(*most), 100 * share(*most));
  if (saving(*best) <= 0) return text + "Every kernel reaches its limit. Less work, or fewer kernels, would gain.\n";
  const double bytes = of_one(*best, best->bytes), flops = of_one(*best, best->flops);
  const std::string reach =
      bytes / limits.speed(bytes) > flops / limits.flops_per_second
          ? amount(bytes, "B") + " at the speed of a copy" + (limits.speed(bytes) > copy ? " in caches" : "")
          : amount(flops, "op") + " at the peak";
  text += fmt::format("The next gain: {}, which takes {:.1f} times its limit ({}).\n", part(*best),
                      share(*best) > 0 ? 1 / share(*best) : 0, reach);
  const std::string why = hint ? hint(best->kernel) : "";
  if (!why.empty()) text += base::escaped(why, true) + "\n";
  if (best->launches == 1)
    text += "It ran once: a first launch also waits for new memory. Repeat the work to compare.\n";
  return text;
}

}  // namespace runtime

}  // namespace oriel
