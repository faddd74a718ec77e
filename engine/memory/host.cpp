#include "memory/host.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "base/activity.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "memory/machine.hpp"
#include "oriel/error.hpp"

namespace oriel::mem {
namespace {

constexpr std::size_t kAlignment = 64;
// Padding after the last byte, so that whole vectors can be read.
constexpr std::size_t kSlack = 64;
constexpr std::size_t kLargest = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2;
// Blocks of at least this size are mapped separately and aligned to huge pages.
constexpr std::size_t kMapped = std::size_t{4} << 20;
// Four size classes per power of two, plus the padding. At most a quarter of a block is wasted, and nothing for a power
// of two.
constexpr std::size_t kClassesPerDoubling = 4;
// Small blocks go to a shelf of the thread that gives them back first, which it shares with few others: all threads
// that run small kernels would write to one pool twice a kernel otherwise.
constexpr std::size_t kShelved = std::size_t{16} << 10;  // the largest on a shelf, without the slack
constexpr std::size_t kOnShelf = 8;                      // blocks
constexpr std::size_t kShelves = base::Activity::kMost;
constexpr std::size_t kMostShelved = kShelves * kOnShelf * (kShelved + kSlack);
constexpr std::size_t kClasses = 64 * kClassesPerDoubling;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass class_of(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, kAlignment);
  const auto doubling = static_cast<std::size_t>(std::bit_width(wanted - 1));  // 2^(doubling-1) < wanted <= 2^doubling
  const std::size_t base = std::size_t{1} << (doubling - 1);
  const std::size_t step = base / kClassesPerDoubling;
  const std::size_t part = (wanted - base + step - 1) / step;  // 1 .. 4
  const std::size_t size = (base + part * step + kAlignment - 1) / kAlignment * kAlignment;
  return {doubling * kClassesPerDoubling + part - 1, size + kSlack};
}

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

void* from_system(std::size_t bytes, HugePages pages) {
  return bytes < kMapped ? std::aligned_alloc(kAlignment, bytes) : advised_memory(bytes, pages);
}

// Memory from the huge pages that the administrator has reserved, or null.
void* from_reserve(std::size_t bytes) {
#if defined(MAP_HUGETLB)
  void* data =
      mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
#else
  static_cast<void>(bytes);
  return nullptr;
#endif
}

using Clock = std::chrono::steady_clock;

}  // namespace

void* advised_memory(std::size_t bytes, HugePages pages) {
  void* data = std::aligned_alloc(kHugePage, whole_pages(bytes));
#if defined(MADV_HUGEPAGE)
  // This is advice only. A system without huge pages declines it and uses ordinary pages.
  if (data != nullptr) madvise(data, whole_pages(bytes), pages == HugePages::off ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
  return data;
}

namespace {

class PooledHostAllocator final : public HostAllocator {
 public:
  PooledHostAllocator(const MemoryOptions& options, Device device) : device_(device), options_(options) {
    shelves_used_ = options.pool_bytes >= 4 * kMostShelved;
  }
  ~PooledHostAllocator() override { trim(0); }

  Device device() const override { return device_; }

  void* allocate(std::size_t bytes) override {
    // The machine does not have this much, but the system might promise it.
    if (bytes > kLargest || bytes > machine_) refuse(bytes);
    const SizeClass size = class_of(bytes);
    if (void* data = from_shelf(size); data != nullptr) {
      handed_out(size.bytes);
      return data;
    }
    HugePages pages{};
    {
      const std::lock_guard lock(guard());
      ++counts_.requests;
      pages = options_.huge_pages;
      auto& blocks = pool_[size.index];
      if (!blocks.empty()) {
        void* data = blocks.back().data;
        blocks.pop_back();
        counts_.pooled -= size.bytes;
        handed_out(size.bytes);
        return data;
      }
    }
    void* data = fresh(size.bytes, pages);
    if (data == nullptr) {
      trim(0);
      data = fresh(size.bytes, pages);
    }
    if (data == nullptr) refuse(bytes);
    const std::lock_guard lock(guard());
    ++counts_.system_allocations;
    handed_out(size.bytes);
    return data;
  }

  void release(void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    const SizeClass size = class_of(bytes);
    const Clock::time_point clock = Clock::now();
    live_.fetch_sub(size.bytes, std::memory_order_relaxed);
    if (clock < next_look_.load(std::memory_order_relaxed) && to_shelf(data, size, clock)) return;
    {
      const std::lock_guard lock(guard());
      const Clock::time_point time = clock + passed_;
      const std::size_t shelved = shelves_used_ ? kMostShelved : 0;
      if (counts_.pooled + size.bytes + shelved <= options_.pool_bytes) {
        try {
          pool_[size.index].push_back({data, time});
          counts_.pooled += size.bytes;
          data = nullptr;
        } catch (const std::bad_alloc&) {
          // There is no memory for the pool's bookkeeping, so the block goes back to the system.
        }
      }
      sweep(time);
    }
    if (data != nullptr) give_back(data, size.bytes);
  }

  void read(const void* data, void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(host, data, bytes);
  }
  void write(void* data, const void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(data, host, bytes);
  }

  MemoryStatistics statistics() const override {
    const std::lock_guard lock(guard());
    MemoryStatistics all = counts_;
    for (const Shelf& shelf : shelves_) {
      const base::SpinGuard one(base::SpinSet::shelves, &shelf);
      all.requests += shelf.requests;
      for (std::size_t k = 0; k < shelf.blocks; ++k) all.pooled += class_bytes(shelf.sizes[k]);
    }
    all.live = live_.load(std::memory_order_relaxed);
    all.peak = peak_.load(std::memory_order_relaxed);
    return all;
  }

  void trim(std::size_t keep) override {
    const std::lock_guard lock(guard());
    clear_shelves();
    // The largest first: few calls give back the most.
    for (std::size_t c = kClasses; c-- > 0 && counts_.pooled > keep;) {
      while (!pool_[c].empty() && counts_.pooled > keep) {
        free_block(pool_[c].back().data, class_bytes(c));
        pool_[c].pop_back();
        counts_.pooled -= class_bytes(c);
      }
    }
  }

  MemoryOptions options() const override {
    const std::lock_guard lock(guard());
    return options_;
  }

  void set_options(const MemoryOptions& options) override {
    {
      const std::lock_guard lock(guard());
      options_ = options;
      clear_shelves();
      shelves_used_ = options.pool_bytes >= 4 * kMostShelved;
      sweep_at({});
      sweep(now());
    }
    trim(options.pool_bytes);
  }

  void pass_time(double seconds) override {
    const std::lock_guard lock(guard());
    clear_shelves();  // by the time before
    sweep_at({});
    passed_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  void reset_peak() override { peak_.store(live_.load(std::memory_order_relaxed), std::memory_order_relaxed); }

 private:
  struct Block {
    void* data;
    Clock::time_point since;
  };

  base::ForkMutex& guard() const { return base::fork_mutex(base::ForkLock::host_memory, device_.context); }

  Clock::time_point now() const { return Clock::now() + passed_; }

  void* fresh(std::size_t bytes, HugePages pages) {
    if (pages == HugePages::reserved && bytes >= kMapped) {
      if (void* data = from_reserve(bytes)) {
        const std::lock_guard lock(guard());
        reserved_.insert(data);
        return data;
      }
    }
    return from_system(bytes, pages);
  }

  void give_back(void* data, std::size_t bytes) noexcept {
    const std::lock_guard lock(guard());
    free_block(data, bytes);
  }

  // Under the lock.
  void free_block(void* data, std::size_t bytes) noexcept {
    if (reserved_.erase(data) > 0)
      munmap(data, whole_pages(bytes));
    else
      std::free(data);
  }

  // The oldest blocks of a class are in front, because the newest are handed out first. Precondition: the lock is held.
  void sweep(Clock::time_point time) noexcept {
    if (options_.pool_seconds <= 0) next_look_.store(Clock::time_point::max(), std::memory_order_relaxed);
    if (options_.pool_seconds <= 0 || time < next_sweep_) return;
    const auto age = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.pool_seconds));
    sweep_at(time + age / 4);
    clear_shelves();
    for (std::size_t c = 0; c < pool_.size(); ++c) {
      std::vector<Block>& blocks = pool_[c];
      const auto kept =
          std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) { return time - b.since < age; });
      for (auto b = blocks.begin(); b != kept; ++b) {
        free_block(b->data, class_bytes(c));
        counts_.pooled -= class_bytes(c);
      }
      blocks.erase(blocks.begin(), kept);
    }
  }

  [[noreturn]] void refuse(std::size_t bytes) const {
    throw MemoryError("allocate", "no memory for " + std::to_string(bytes) + " bytes on " + device_.str() +
                                      "; the machine has " + std::to_string(machine_) + ", of which " +
                                      std::to_string(statistics().live) + " are in use here");
  }

  static std::size_t class_bytes(std::size_t index) {
    const std::size_t base = std::size_t{1} << (index / kClassesPerDoubling - 1);
    const std::size_t size = base + (index % kClassesPerDoubling + 1) * (base / kClassesPerDoubling);
    return (size + kAlignment - 1) / kAlignment * kAlignment + kSlack;
  }

  void handed_out(std::size_t bytes) {
    const std::size_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) continue;
  }

  /// Blocks that a thread gave back last.
  struct alignas(64) Shelf {
    std::size_t blocks = 0;
    std::uint64_t requests = 0;  // that were met here
    std::array<std::uint16_t, kOnShelf> sizes{};
    std::array<void*, kOnShelf> data{};
    std::array<Clock::time_point, kOnShelf> since{};
  };
  Shelf& own_shelf() { return shelves_[static_cast<std::size_t>(base::thread_stripe())]; }

  void* from_shelf(const SizeClass& size) {
    if (size.bytes > kShelved + kSlack) return nullptr;
    Shelf& shelf = own_shelf();
    const base::SpinGuard one(base::SpinSet::shelves, &shelf);
    for (std::size_t k = shelf.blocks; k-- > 0;) {
      if (shelf.sizes[k] != size.index) continue;
      void* const data = shelf.data[k];
      // The others stay in the order in which they came.
      for (std::size_t next = k + 1; next < shelf.blocks; ++next) {
        shelf.sizes[next - 1] = shelf.sizes[next];
        shelf.data[next - 1] = shelf.data[next];
        shelf.since[next - 1] = shelf.since[next];
      }
      --shelf.blocks;
      ++shelf.requests;
      return data;
    }
    return nullptr;
  }

  bool to_shelf(void* data, const SizeClass& size, Clock::time_point clock) noexcept {
    if (size.bytes > kShelved + kSlack || !shelves_used_.load(std::memory_order_relaxed)) return false;
    Shelf& shelf = own_shelf();
    const base::SpinGuard one(base::SpinSet::shelves, &shelf);
    if (shelf.blocks == kOnShelf) return false;
    shelf.sizes[shelf.blocks] = static_cast<std::uint16_t>(size.index);
    shelf.data[shelf.blocks] = data;
    shelf.since[shelf.blocks] = clock;
    ++shelf.blocks;
    return true;
  }

  // To the pool. Under the lock.
  void clear_shelves() noexcept {
    for (Shelf& shelf : shelves_) {
      for (;;) {
        std::size_t size = 0;
        Block block{};
        {
          const base::SpinGuard one(base::SpinSet::shelves, &shelf);
          if (shelf.blocks == 0) break;
          --shelf.blocks;
          size = shelf.sizes[shelf.blocks];
          block = {shelf.data[shelf.blocks], shelf.since[shelf.blocks] + passed_};
        }
        try {
          // Among the blocks of its class by age.
          auto& blocks = pool_[size];
          blocks.insert(std::upper_bound(blocks.begin(), blocks.end(), block,
                                         [](const Block& a, const Block& b) { return a.since < b.since; }),
                        block);
          counts_.pooled += class_bytes(size);
        } catch (const std::bad_alloc&) {
          free_block(block.data, class_bytes(size));  // no room to note it
        }
      }
    }
  }

  void sweep_at(Clock::time_point time) noexcept {
    next_sweep_ = time;
    next_look_.store(time == Clock::time_point{} ? time : time - passed_, std::memory_order_relaxed);
  }

  const Device device_;
  const std::size_t machine_ = machine_memory();
  // On lines of their own: all threads write to these.
  alignas(64) std::atomic<std::size_t> live_{0};
  std::atomic<std::size_t> peak_{0};
  // And all threads read these.
  alignas(64) std::atomic<bool> shelves_used_{false};
  std::atomic<Clock::time_point> next_look_{Clock::time_point{}};  // by the clock: the next sweep
  alignas(64) std::array<Shelf, kShelves> shelves_;
  std::array<std::vector<Block>, kClasses + kClassesPerDoubling> pool_;
  MemoryStatistics counts_;
  MemoryOptions options_;
  Clock::time_point next_sweep_;
  Clock::duration passed_{};
  std::unordered_set<void*> reserved_;  // blocks of reserved huge pages
};

}  // namespace

MemoryOptions default_options() {
  MemoryOptions options;
  options.pool_bytes = machine_memory() / 2;
  return options;
}

MemoryOptions options_from_environment() {
  MemoryOptions options = default_options();
  const auto number = [](const char* name, auto& value, auto most) {
    const std::optional<std::string> text = base::env_text(name);
    if (!text) return;
    const char* end = text->data() + text->size();
    auto read = value;
    const auto [stop, fault] = std::from_chars(text->data(), end, read);
    if (fault != std::errc{} || stop != end || !(read >= 0) || read > most) {
      throw ArgumentError(name, fmt::format("\"{}\" is not a number from 0 to {}", base::escaped(*text), most));
    }
    value = read;
  };
  number("ORIEL_POOL_BYTES", options.pool_bytes, kLargest);
  number("ORIEL_POOL_SECONDS", options.pool_seconds, kMostSeconds);
  if (const std::optional<std::string> text = base::env_text("ORIEL_HUGE_PAGES")) {
    if (*text == "off")
      options.huge_pages = HugePages::off;
    else if (*text == "advise")
      options.huge_pages = HugePages::advise;
    else if (*text == "reserved")
      options.huge_pages = HugePages::reserved;
    else
      throw ArgumentError("ORIEL_HUGE_PAGES",
                          fmt::format("\"{}\" is none of off, advise, reserved", base::escaped(*text)));
  }
  return options;
}

std::shared_ptr<HostAllocator> host_allocator() {
  // Never destroyed: static tensors may give their buffers back after it would have been. So its holders need not be
  // counted either, in a place that all threads would write to for each buffer.
  static HostAllocator* const allocator = new PooledHostAllocator(options_from_environment(), Device::eigen());
  return {std::shared_ptr<void>(), allocator};
}

std::shared_ptr<HostAllocator> make_host_allocator(const MemoryOptions& options, Device device) {
  return std::make_shared<PooledHostAllocator>(options, device);
}

}  // namespace oriel::mem
