// What the engine keeps for each context: its settings, and the objects that higher layers made for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "oriel/context.hpp"

namespace oriel::base {

/// An object that a higher layer keeps for a context.
class ContextPart {
 public:
  virtual ~ContextPart() = default;
};
/// The parts, in the order in which they are destroyed.
enum class ContextSlot : std::uint8_t { caches, backends, dump, profile, explained, print, rules, count };

/// Thread safety: any thread.
class ContextState {
 public:
  explicit constexpr ContextState(std::uint16_t number = 0) noexcept : number_(number) {}
  ContextState(const ContextState&) = delete;
  ~ContextState();

  std::uint16_t number() const noexcept { return number_; }

  // Settings. -1 or kUnset means that neither the environment nor a call has set the value yet.
  static constexpr std::uint32_t kUnset = 0xffffffff;
  std::atomic<std::uint32_t> default_device{kUnset};  // kind << 8 | index
  std::atomic<std::int64_t> lazy_nodes{-1};
  std::atomic<std::int64_t> lazy_bytes{-1};
  std::atomic<int> tier{-1};
  std::atomic<int> bounds{-1};
  std::atomic<std::uint64_t> watch{0};          // base/watch.hpp
  std::atomic<std::uint64_t> rules_version{0};  // schedule/rule_switches.hpp; 0: not known yet
  // Options that devices are made with. Set them before the first device is made.
  int threads = 0;  // 0: as the environment says
  std::optional<MemoryOptions> memory;

  /// Returns the part in this slot. The first call makes it with `make`, which returns a unique_ptr. If threads call it
  /// at the same time, each may call `make`, and one result is kept.
  template <class T, class Make>
  T& part(ContextSlot slot, const Make& make) {
    std::atomic<ContextPart*>& place = parts_[static_cast<std::size_t>(slot)];
    ContextPart* there = place.load(std::memory_order_acquire);
    if (there == nullptr) there = fill(place, [&]() -> std::unique_ptr<ContextPart> { return make(); });
    return static_cast<T&>(*there);
  }

 private:
  template <class Make>
  static ContextPart* fill(std::atomic<ContextPart*>& place, const Make& make) {
    std::unique_ptr<ContextPart> made = make();
    ContextPart* there = nullptr;
    if (place.compare_exchange_strong(there, made.get())) return made.release();
    return there;  // another thread was faster
  }

  const std::uint16_t number_;
  std::array<std::atomic<ContextPart*>, static_cast<std::size_t>(ContextSlot::count)> parts_{};
};

/// This thread's current context.
ContextState& current_context_state() noexcept;
/// The context with this number, or null if it has ended.
ContextState* find_context(std::uint16_t number) noexcept;
/// The same, but throws DeviceError if the context has ended.
ContextState& context_state(std::uint16_t number);
/// Makes the context current in this thread. Returns the number of the previous one.
std::uint16_t enter_context(std::uint16_t number) noexcept;

/// Makes a context. Its settings come from the options, or else from the environment. Throws what reading them throws.
std::uint16_t open_context(const ContextOptions& options);
/// Waits for work under way in other threads, then destroys the context's parts.
void close_context(std::uint16_t number) noexcept;

// The settings of one context. The public functions apply these to the current context.
Device default_device(ContextState& context);
LazyLimits lazy_limits(ContextState& context);
Bounds default_bounds(ContextState& context);
EigenTier eigen_tier(ContextState& context);
/// The tier that this build gives to those who want `wanted`. A build without the compiled tier (meson's option
/// compiled) runs every kernel on the tile machine. There EigenTier::compile throws ArgumentError; `from` is the
/// setting.
EigenTier given_tier(EigenTier wanted, const char* from);
/// Throws ArgumentError for negative bounds.
void set_lazy_limits(ContextState& context, LazyLimits limits);

}  // namespace oriel::base
