#include "memory/host.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "oriel/error.hpp"

namespace oriel::memory {
namespace {

constexpr std::size_t kAlignment = 64;
// Behind the last byte, so that whole packets may be read.
constexpr std::size_t kSlack = 64;
constexpr std::size_t kLargest = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2;
// From here on blocks are mapped on their own, on borders of huge pages.
constexpr std::size_t kMapped = std::size_t{4} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Four classes for each power of two: at most a quarter of a block is waste.
constexpr std::size_t kClassesPerDoubling = 4;
constexpr std::size_t kClasses = 64 * kClassesPerDoubling;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass class_of(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(bytes + kSlack, 2 * kAlignment);
  const auto doubling = static_cast<std::size_t>(std::bit_width(wanted - 1));  // 2^(doubling-1) < wanted <= 2^doubling
  const std::size_t base = std::size_t{1} << (doubling - 1);
  const std::size_t step = base / kClassesPerDoubling;
  const std::size_t part = (wanted - base + step - 1) / step;  // 1 .. 4
  const std::size_t size = (base + part * step + kAlignment - 1) / kAlignment * kAlignment;
  return {doubling * kClassesPerDoubling + part - 1, size};
}

void* from_system(std::size_t bytes) {
  if (bytes < kMapped) return std::aligned_alloc(kAlignment, bytes);
  void* data = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) / kHugePage * kHugePage);
#if defined(MADV_HUGEPAGE)
  if (data != nullptr) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

}  // namespace

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kLargest;
}

namespace {

class PooledHostAllocator final : public HostAllocator {
 public:
  ~PooledHostAllocator() override { trim(0); }

  Device device() const override { return Device::eigen(); }

  void* allocate(std::size_t bytes) override {
    // No machine has this much; the system might promise it all the same.
    if (bytes > kLargest || bytes > machine_) refuse(bytes);
    const SizeClass size = class_of(bytes);
    {
      const std::lock_guard lock(mutex_);
      auto& blocks = pool_[size.index];
      if (!blocks.empty()) {
        void* data = blocks.back();
        blocks.pop_back();
        counts_.pooled -= size.bytes;
        handed_out(size.bytes);
        return data;
      }
    }
    void* data = from_system(size.bytes);
    if (data == nullptr) {
      trim(0);
      data = from_system(size.bytes);
    }
    if (data == nullptr) refuse(bytes);
    const std::lock_guard lock(mutex_);
    ++counts_.system_allocations;
    handed_out(size.bytes);
    return data;
  }

  void release(void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    const SizeClass size = class_of(bytes);
    {
      const std::lock_guard lock(mutex_);
      counts_.live -= size.bytes;
      if (counts_.pooled + size.bytes <= limit_) {
        try {
          pool_[size.index].push_back(data);
          counts_.pooled += size.bytes;
          return;
        } catch (const std::bad_alloc&) {
          // No room to note the block: it goes back to the system.
        }
      }
    }
    std::free(data);
  }

  void read(const void* data, void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(host, data, bytes);
  }
  void write(void* data, const void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(data, host, bytes);
  }

  PoolStatistics statistics() const override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

  void trim(std::size_t keep) override {
    const std::lock_guard lock(mutex_);
    // The largest first: few calls give back the most.
    for (std::size_t c = kClasses; c-- > 0 && counts_.pooled > keep;) {
      while (!pool_[c].empty() && counts_.pooled > keep) {
        std::free(pool_[c].back());
        pool_[c].pop_back();
        counts_.pooled -= class_bytes(c);
      }
    }
  }

  void set_pool_limit(std::size_t bytes) override {
    {
      const std::lock_guard lock(mutex_);
      limit_ = bytes;
    }
    trim(bytes);
  }

  void reset_peak() override {
    const std::lock_guard lock(mutex_);
    counts_.peak = counts_.live;
  }

 private:
  [[noreturn]] void refuse(std::size_t bytes) const {
    throw MemoryError("allocate", "no memory for " + std::to_string(bytes) + " bytes on eigen; the machine has " +
                                      std::to_string(machine_) + ", of which " + std::to_string(statistics().live) +
                                      " are in use here");
  }

  static std::size_t class_bytes(std::size_t index) {
    const std::size_t base = std::size_t{1} << (index / kClassesPerDoubling - 1);
    const std::size_t size = base + (index % kClassesPerDoubling + 1) * (base / kClassesPerDoubling);
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }

  void handed_out(std::size_t bytes) {
    counts_.live += bytes;
    counts_.peak = std::max(counts_.peak, counts_.live);
  }

  const std::size_t machine_ = machine_memory();
  mutable std::mutex mutex_;
  std::array<std::vector<void*>, kClasses + kClassesPerDoubling> pool_;
  PoolStatistics counts_;
  std::size_t limit_ = machine_ / 2;
};

}  // namespace

std::shared_ptr<HostAllocator> host_allocator() {
  // Never destroyed: static tensors may give their buffers back after it would have been.
  static const auto* allocator = new std::shared_ptr<HostAllocator>(make_host_allocator());
  return *allocator;
}

std::shared_ptr<HostAllocator> make_host_allocator() { return std::make_shared<PooledHostAllocator>(); }

}  // namespace oriel::memory
