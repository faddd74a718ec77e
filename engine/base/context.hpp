// What the engine keeps for each context: settings, and what the layers above have made for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "oriel/context.hpp"

namespace oriel::base {

/// What a layer above keeps for a context.
class ContextPart {
 public:
  virtual ~ContextPart() = default;
};
/// In the order in which they are destroyed.
enum class ContextSlot : std::uint8_t { caches, backends, count };

/// Thread safety: any thread.
class ContextState {
 public:
  explicit constexpr ContextState(std::uint16_t number = 0) noexcept : number_(number) {}
  ContextState(const ContextState&) = delete;
  ~ContextState();

  std::uint16_t number() const noexcept { return number_; }

  // Settings: -1, or kUnset, until the environment has been read or a call has set them.
  static constexpr std::uint32_t kUnset = 0xffffffff;
  std::atomic<std::uint32_t> default_device{kUnset};  // kind << 8 | index
  std::atomic<std::int64_t> lazy_nodes{-1};
  std::atomic<std::int64_t> lazy_bytes{-1};
  std::atomic<int> tier{-1};
  std::atomic<int> bounds{-1};
  // What the devices are made with; set before they are.
  int threads = 0;  // 0: of the environment
  std::optional<MemoryOptions> memory;

  /// The part in this slot, made by `make` (a unique_ptr) at the first call. Others wait for that.
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
    return there;  // another thread was quicker
  }

  const std::uint16_t number_;
  std::array<std::atomic<ContextPart*>, static_cast<std::size_t>(ContextSlot::count)> parts_{};
};

/// This thread's current context.
ContextState& current_context_state() noexcept;
/// The context of that number; null where it has ended.
ContextState* find_context(std::uint16_t number) noexcept;
/// The same; throws DeviceError for one that has ended.
ContextState& context_state(std::uint16_t number);
/// Makes it the current one of this thread. Returns which one was.
std::uint16_t enter_context(std::uint16_t number) noexcept;

/// A new context with settings from the options, else from the environment. Throws as they do.
std::uint16_t open_context(const ContextOptions& options);
/// Waits for work under way in other threads, then destroys what the context has.
void close_context(std::uint16_t number) noexcept;

// The settings of one context; the public functions are those of the current one.
Device default_device(ContextState& context);
LazyLimits lazy_limits(ContextState& context);
Bounds default_bounds(ContextState& context);
EigenTier eigen_tier(ContextState& context);
/// Throws ArgumentError for negative bounds.
void set_lazy_limits(ContextState& context, LazyLimits limits);

}  // namespace oriel::base
