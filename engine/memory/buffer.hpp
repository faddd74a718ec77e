// A buffer: a piece of a device's memory with a version.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "oriel/device.hpp"
#include "oriel/memory.hpp"

namespace oriel::mem {

/// Allocates the memory of buffers. There is one allocator per device.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual Device device() const = 0;
  /// True if the pointers that `allocate` returns are addresses in host memory.
  virtual bool on_host() const { return false; }
  /// Allocates at least `bytes` bytes, aligned to 64 and readable up to the next multiple of 64. Throws MemoryError,
  /// which names the size.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  /// Copies between `data` and host memory; `data` came from allocate (or was borrowed).
  virtual void read(const void* data, void* host, std::size_t bytes) = 0;
  virtual void write(void* data, const void* host, std::size_t bytes) = 0;
  virtual MemoryStatistics statistics() const { return {}; }
  /// Gives pooled blocks back to the system until at most `keep` bytes are pooled.
  virtual void trim(std::size_t keep) { static_cast<void>(keep); }
  /// Sets the peak to the bytes that are live now.
  virtual void reset_peak() {}
};

/// A buffer. When the last shared_ptr to it is gone, it returns its memory to the allocator or calls the user's
/// deleter.
class Buffer {
 public:
  /// New memory with undefined contents.
  Buffer(std::shared_ptr<Allocator> allocator, std::size_t bytes);
  /// The caller's host memory. `deleter` runs when the buffer is destroyed; it is empty for borrowed memory.
  Buffer(Device device, void* data, std::size_t bytes, std::function<void(void*)> deleter);
  /// Memory that a device made from memory of the caller. `data` is returned to the allocator like its own memory.
  Buffer(std::shared_ptr<Allocator> allocator, void* data, std::size_t bytes, bool writable);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  /// Is this the caller's memory, perhaps adopted by a device? Such memory has no padding after the last byte and no
  /// guaranteed alignment. Only a write to the tensor itself (writable()) may change its elements.
  bool borrowed() const noexcept { return borrowed_; }
  /// nullptr for the caller's memory that is read and written as host memory.
  Allocator* allocator() const noexcept { return allocator_.get(); }
  /// False for borrowed memory (without a deleter), which is only read.
  bool writable() const noexcept { return allocator_ != nullptr ? writable_ : deleter_ != nullptr; }
  /// Are the elements numbers that a function was called with, such as the levels of quantiles? An exported function
  /// holds them: numbers are no inputs.
  bool numbers() const noexcept { return numbers_; }
  void mark_numbers() noexcept { numbers_ = true; }
  /// Counts writes; a lazy reader is identified by buffer and version. Changed by the work that wrote into the buffer;
  /// nobody else reads the buffer at that time (runtime/usage.hpp).
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  void bump_version() noexcept { version_.store(version() + 1, std::memory_order_relaxed); }

 private:
  std::shared_ptr<Allocator> allocator_;
  std::function<void(void*)> deleter_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Device device_;
  bool borrowed_ = false;
  bool writable_ = true;
  bool numbers_ = false;
  std::atomic<std::uint64_t> version_{0};
};
using BufferPtr = std::shared_ptr<Buffer>;

/// The number of holders of the buffer. Everything that former holders did happened before this returns.
inline long holders_of(const BufferPtr& buffer) noexcept {
  // use_count() alone orders nothing. Releasing a temporary copy orders this thread after earlier releases.
  const long holders = buffer.use_count();
  static_cast<void>(BufferPtr(buffer));
  return holders;
}

/// The bytes of all buffers that this process has made so far, including destroyed ones. It only grows.
std::int64_t bytes_made() noexcept;

}  // namespace oriel::mem
