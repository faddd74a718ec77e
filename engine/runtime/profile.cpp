#include "runtime/profile.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/debug.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace {

using base::fork_mutex;
using base::ForkLock;

struct Recorder {
  Profile profile;  // `kernels` in the order of their first launch
  std::unordered_map<std::string, std::size_t> index_of;
};
// Never destroyed: it is read while the process ends.
Recorder& recorder() {
  static auto& r = *new Recorder();
  return r;
}

enum : int { kUnreadProfile = -1, kProfileOff = 0, kProfileOn = 1 };
std::atomic<int> profile_mode{kUnreadProfile};

void print_the_rest() {
  const Profile rest = profile::take();
  if (rest.kernels.empty()) return;
  try {
    base::debug_print(rest.str());
  } catch (...) {  // a sink threw, and nobody is left to report it to
  }
}

}  // namespace

double Profile::seconds() const {
  double sum = 0;
  for (const KernelProfile& k : kernels) sum += k.seconds;
  return sum;
}

std::int64_t Profile::bytes() const {
  std::int64_t sum = 0;
  for (const KernelProfile& k : kernels) sum += k.bytes;
  return sum;
}

std::int64_t Profile::flops() const {
  std::int64_t sum = 0;
  for (const KernelProfile& k : kernels) sum += k.flops;
  return sum;
}

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

void start() { profile_mode.store(kProfileOn, std::memory_order_relaxed); }

void stop() { profile_mode.store(kProfileOff, std::memory_order_relaxed); }

bool recording() {
  runtime::load_profile();
  return profile_mode.load(std::memory_order_relaxed) == kProfileOn;
}

Profile take() {
  Recorder& r = recorder();
  Profile taken;
  {
    const std::lock_guard guard(fork_mutex(ForkLock::profile));
    std::swap(taken, r.profile);
    r.index_of.clear();
  }
  std::stable_sort(taken.kernels.begin(), taken.kernels.end(),
                   [](const KernelProfile& a, const KernelProfile& b) { return a.seconds > b.seconds; });
  return taken;
}

}  // namespace profile

ProfileScope::ProfileScope() : was_recording_(profile::recording()) {
  profile::take();
  profile::start();
}

ProfileScope::~ProfileScope() {
  if (!was_recording_) profile::stop();
}

namespace runtime {

void load_profile() {
  if (profile_mode.load(std::memory_order_relaxed) != kUnreadProfile) return;
  const std::lock_guard guard(fork_mutex(ForkLock::profile));
  int first = kProfileOff;
  if (const auto text = base::env_text("ORIEL_PROFILE")) {
    if (*text != "0" && *text != "1")
      throw ParseError("ORIEL_PROFILE", fmt::format("\"{}\" is neither 0 (off) nor 1 (on)", base::escaped(*text)));
    first = *text == "1" ? kProfileOn : kProfileOff;
  }
  int unread = kUnreadProfile;
  if (profile_mode.compare_exchange_strong(unread, first) && first == kProfileOn) std::atexit(print_the_rest);
}

bool recording() noexcept {
  const int now = profile_mode.load(std::memory_order_relaxed);
  if (now != kUnreadProfile) return now == kProfileOn;
  try {
    load_profile();
  } catch (...) {
    return false;
  }
  return profile_mode.load(std::memory_order_relaxed) == kProfileOn;
}

void add_to_profile(const LaunchStep& step, double seconds) {
  Recorder& r = recorder();
  const std::lock_guard guard(fork_mutex(ForkLock::profile));
  Profile& p = r.profile;
  if (p.launches.size() < Profile::kMostLaunches)
    p.launches.push_back({step.name, seconds, step.bytes, step.flops});
  else
    ++p.launches_left_out;
  const auto [it, fresh] = r.index_of.emplace(step.name, p.kernels.size());
  if (fresh) p.kernels.push_back({step.name, 0, 0, seconds, 0, 0});
  KernelProfile& k = p.kernels[it->second];
  ++k.launches;
  k.seconds += seconds;
  k.fastest = std::min(k.fastest, seconds);
  k.bytes += step.bytes;
  k.flops += step.flops;
}

}  // namespace runtime

}  // namespace oriel
