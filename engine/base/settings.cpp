#include "oriel/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string_view>

#include "base/context.hpp"
#include "base/environment.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel {

namespace base {

std::optional<std::string> env_text(const char* name) {
  std::optional<std::string> text;
  if (const auto& environment = ThreadEnvironment::current(); environment != nullptr) {
    text = find_variable(*environment, name);
  } else if (const char* value = privileged() ? nullptr : std::getenv(name); value != nullptr) {
    text = value;
  }
  if (text && text->empty()) text.reset();
  return text;
}

std::optional<std::int64_t> env_count(const char* name) {
  const std::optional<std::string> text = env_text(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, fault] = std::from_chars(text->data(), end, value);
  if (fault != std::errc{} || stop != end || value < 0) {
    throw ArgumentError(name, fmt::format("\"{}\" is not a whole number >= 0 (0 means no bound)", escaped(*text)));
  }
  return value;
}

}  // namespace base

namespace base {

LazyLimits lazy_limits(ContextState& context) {
  // Every operation reads these, so it costs two loads and no lock.
  if (context.lazy_bytes.load(std::memory_order_acquire) < 0) {
    const std::lock_guard lock(fork_mutex(ForkLock::settings));
    if (context.lazy_bytes.load(std::memory_order_relaxed) < 0) {
      const std::int64_t nodes = env_count("ORIEL_LAZY_NODES").value_or(LazyLimits{}.nodes);
      const std::int64_t bytes = env_count("ORIEL_LAZY_BYTES").value_or(LazyLimits{}.bytes);
      context.lazy_nodes.store(nodes, std::memory_order_relaxed);
      context.lazy_bytes.store(bytes, std::memory_order_release);
    }
  }
  return {context.lazy_nodes.load(std::memory_order_relaxed), context.lazy_bytes.load(std::memory_order_relaxed)};
}

void set_lazy_limits(ContextState& context, LazyLimits limits) {
  if (limits.nodes < 0 || limits.bytes < 0) {
    throw ArgumentError("set_lazy_limits", fmt::format("nodes {} and bytes {} must be >= 0 (0 means no bound)",
                                                       limits.nodes, limits.bytes));
  }
  const std::lock_guard lock(fork_mutex(ForkLock::settings));
  context.lazy_nodes.store(limits.nodes, std::memory_order_relaxed);
  context.lazy_bytes.store(limits.bytes, std::memory_order_release);
}

namespace {

constexpr std::string_view kTiers[] = {"tile", "compile", "auto"};
constexpr std::string_view kBounds[] = {"zero", "checked"};

/// The value of a setting whose values are `words`: as a call set it, else as the variable says, else the default.
/// `slot` is -1 until the environment has been read.
int chosen(std::atomic<int>& slot, const char* variable, std::span<const std::string_view> words, const char* what,
           int otherwise) {
  int value = slot.load(std::memory_order_relaxed);
  if (value >= 0) return value;
  if (const auto text = env_text(variable)) {
    const auto found = std::find(words.begin(), words.end(), *text);
    if (found == words.end()) {
      throw ArgumentError(variable,
                          fmt::format("\"{}\" is no {}; use {}", base::escaped(*text), what, fmt::join(words, ", ")));
    }
    otherwise = static_cast<int>(found - words.begin());
  }
  slot.compare_exchange_strong(value, otherwise, std::memory_order_relaxed);
  return slot.load(std::memory_order_relaxed);
}

}  // namespace

EigenTier eigen_tier(ContextState& context) {
  return given_tier(static_cast<EigenTier>(
                        chosen(context.tier, "ORIEL_EIGEN", kTiers, "tier", static_cast<int>(EigenTier::automatic))),
                    "ORIEL_EIGEN");
}

Bounds default_bounds(ContextState& context) {
  return static_cast<Bounds>(
      chosen(context.bounds, "ORIEL_BOUNDS", kBounds, "treatment of bounds", static_cast<int>(Bounds::checked)));
}

}  // namespace base

LazyLimits lazy_limits() { return base::lazy_limits(base::current_context_state()); }
void set_lazy_limits(LazyLimits limits) { base::set_lazy_limits(base::current_context_state(), limits); }

EigenTier eigen_tier() { return base::eigen_tier(base::current_context_state()); }
void set_eigen_tier(EigenTier tier) {
  static_cast<void>(base::given_tier(tier, "set_eigen_tier"));
  base::current_context_state().tier.store(static_cast<int>(tier), std::memory_order_relaxed);
}

Bounds default_bounds() { return base::default_bounds(base::current_context_state()); }
void set_default_bounds(Bounds bounds) {
  base::current_context_state().bounds.store(static_cast<int>(bounds), std::memory_order_relaxed);
}

}  // namespace oriel
