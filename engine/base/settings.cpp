#include "oriel/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string_view>

#include "base/environment.hpp"
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
    throw ArgumentError(name, fmt::format("\"{}\" is not a whole number >= 0 (0 means no bound)", *text));
  }
  return value;
}

}  // namespace base

namespace {

// Read at every operation, so two relaxed loads and no lock; -1 until the environment has been read.
std::atomic<std::int64_t> limit_nodes{-1};
std::atomic<std::int64_t> limit_bytes{-1};

void read_environment() {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::settings));
  if (limit_bytes.load(std::memory_order_relaxed) >= 0) return;
  const std::int64_t nodes = base::env_count("ORIEL_LAZY_NODES").value_or(LazyLimits{}.nodes);
  const std::int64_t bytes = base::env_count("ORIEL_LAZY_BYTES").value_or(LazyLimits{}.bytes);
  limit_nodes.store(nodes, std::memory_order_relaxed);
  limit_bytes.store(bytes, std::memory_order_release);
}

}  // namespace

LazyLimits lazy_limits() {
  if (limit_bytes.load(std::memory_order_acquire) < 0) read_environment();
  return {limit_nodes.load(std::memory_order_relaxed), limit_bytes.load(std::memory_order_relaxed)};
}

void set_lazy_limits(LazyLimits limits) {
  if (limits.nodes < 0 || limits.bytes < 0) {
    throw ArgumentError("set_lazy_limits", fmt::format("nodes {} and bytes {} must be >= 0 (0 means no bound)",
                                                       limits.nodes, limits.bytes));
  }
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::settings));
  limit_nodes.store(limits.nodes, std::memory_order_relaxed);
  limit_bytes.store(limits.bytes, std::memory_order_release);
}

namespace {

constexpr std::string_view kTiers[] = {"tile", "compile", "auto"};
std::atomic<int> tier_slot{-1};  // -1 until the environment has been read

}  // namespace

EigenTier eigen_tier() {
  int slot = tier_slot.load(std::memory_order_relaxed);
  if (slot < 0) {
    int first = static_cast<int>(EigenTier::automatic);
    if (const auto text = base::env_text("ORIEL_EIGEN")) {
      const auto* const found = std::find(std::begin(kTiers), std::end(kTiers), *text);
      if (found == std::end(kTiers)) {
        throw ArgumentError("ORIEL_EIGEN", fmt::format("\"{}\" is no tier; use {}", *text, fmt::join(kTiers, ", ")));
      }
      first = static_cast<int>(found - std::begin(kTiers));
    }
    int unread = -1;
    tier_slot.compare_exchange_strong(unread, first, std::memory_order_relaxed);
    slot = tier_slot.load(std::memory_order_relaxed);
  }
  return static_cast<EigenTier>(slot);
}

void set_eigen_tier(EigenTier tier) { tier_slot.store(static_cast<int>(tier), std::memory_order_relaxed); }

}  // namespace oriel
