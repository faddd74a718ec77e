#include "base/context.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/activity.hpp"
#include "base/debug.hpp"
#include "base/forever.hpp"
#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::base {

namespace {

constexpr std::size_t kNumbers = 65536;
constexpr int kMostThreads = 1024;

// Nothing here has a constructor or destructor that runs, because static tensors use it before main and after it.
constinit Forever<ContextState> standard;
constinit std::array<std::atomic<ContextState*>, kNumbers> others{};  // indexed by number
constinit std::uint32_t used = 0;                                     // numbers handed out; guarded by the lock

thread_local std::uint16_t current = 0;

}  // namespace

ContextState::~ContextState() {
  change_watch(*this, Watch::kReports, 0);
  for (const std::atomic<ContextPart*>& part : parts_) delete part.load(std::memory_order_acquire);
}

ContextState* find_context(std::uint16_t number) noexcept {
  return number == 0 ? &standard.object : others[number].load(std::memory_order_acquire);
}

ContextState& context_state(std::uint16_t number) {
  if (ContextState* const state = find_context(number)) return *state;
  throw DeviceError("context",
                    fmt::format("there is no context {}: it has ended or was never made; copy what is needed later "
                                "to another context before it ends, with to(device of the other context)",
                                number));
}

ContextState& current_context_state() noexcept {
  ContextState* const state = find_context(current);
  return state == nullptr ? standard.object : *state;
}

std::uint16_t enter_context(std::uint16_t number) noexcept { return std::exchange(current, number); }

std::uint16_t open_context(const ContextOptions& options) {
  if (options.threads && (*options.threads < 1 || *options.threads > kMostThreads)) {
    throw ArgumentError(
        "Context", fmt::format("{} threads; accepted is a whole number from 1 to {}", *options.threads, kMostThreads));
  }
  const std::lock_guard guard(fork_mutex(ForkLock::contexts));
  if (used + 1 >= kNumbers) {
    throw DeviceError("Context", fmt::format("this process has made {} contexts, which is the most; keep some and use "
                                             "them again",
                                             used));
  }
  auto state = std::make_unique<ContextState>(static_cast<std::uint16_t>(used + 1));
  if (options.device)
    state->default_device.store(static_cast<std::uint32_t>(options.device->kind) << 8 | options.device->index);
  if (options.lazy_limits) set_lazy_limits(*state, *options.lazy_limits);
  if (options.bounds) state->bounds.store(static_cast<int>(*options.bounds));
  if (options.tier) state->tier.store(static_cast<int>(given_tier(*options.tier, "Context")));
  state->threads = options.threads.value_or(0);
  state->memory = options.memory;
  // Read the settings now, so that a later change of the environment does not affect this context.
  static_cast<void>(default_device(*state));
  static_cast<void>(lazy_limits(*state));
  static_cast<void>(default_bounds(*state));
  static_cast<void>(eigen_tier(*state));
  load_debug(*state, options.debug);
  ++used;
  others[used].store(state.release(), std::memory_order_release);
  return static_cast<std::uint16_t>(used);
}

void close_context(std::uint16_t number) noexcept {
  const std::unique_ptr<ContextState> state(others[number].exchange(nullptr));
  Activity::wait_for_others();
}

}  // namespace oriel::base
