#include "base/watch.hpp"

#include "base/context.hpp"

namespace oriel::base {

namespace {

/// Counts a context whose word has changed.
void count(std::uint64_t before, std::uint64_t after) noexcept {
  const int change =
      static_cast<int>((after & Watch::kReports) != 0) - static_cast<int>((before & Watch::kReports) != 0);
  if (change != 0) detail::watched_contexts.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace

constinit std::atomic<int> detail::watched_contexts{0};

Watch detail::look_up_watch(std::uint16_t context) noexcept {
  const ContextState* const state = find_context(context);
  return state == nullptr ? Watch(0) : watch_of(*state);
}

Watch watch_of(const ContextState& context) noexcept { return Watch(context.watch.load(std::memory_order_relaxed)); }

void change_watch(ContextState& context, std::uint64_t mask, std::uint64_t bits) noexcept {
  std::uint64_t before = context.watch.load(std::memory_order_relaxed);
  while (!context.watch.compare_exchange_weak(before, (before & ~mask) | bits, std::memory_order_relaxed)) {
  }
  count(before, (before & ~mask) | bits);
}

bool begin_watch(ContextState& context, std::uint64_t known, std::uint64_t bits) noexcept {
  std::uint64_t before = context.watch.load(std::memory_order_relaxed);
  do {
    if ((before & known) != 0) return false;
  } while (!context.watch.compare_exchange_weak(before, before | known | bits, std::memory_order_relaxed));
  count(before, before | known | bits);
  return true;
}

}  // namespace oriel::base
