#include "backend/items/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/settings.hpp"
#include "memory/size_class.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::items {

DeviceMemory::DeviceMemory(std::unique_ptr<Driver> driver, Device device)
    : driver_(std::move(driver)),
      device_(device),
      largest_(static_cast<std::size_t>(driver_->table().largest_buffer)),
      queue_(*driver_, device),
      pool_bytes_(static_cast<std::size_t>(
          base::env_count("ORIEL_POOL_BYTES").value_or(std::max<std::int64_t>(driver_->table().memory / 2, 0)))) {}

// The work that uses the pool's blocks ends before they are released.
DeviceMemory::~DeviceMemory() { queue_.drain(); }

void* DeviceMemory::allocate(std::size_t bytes) {
  queue_.check_process("allocate");
  const auto refuse = [&](const std::string& why) {
    throw MemoryError("allocate", fmt::format("no memory for {} bytes on {}: {}; {} are in use here", bytes,
                                              device_.str(), why, statistics().live));
  };
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) ||
      (largest_ > 0 && bytes > largest_))
    refuse(fmt::format("a buffer has at most {}", largest_));
  constexpr std::size_t kSmallest = 256;  // even an empty buffer takes memory, so it has an address
  std::size_t wanted = mem::class_of(std::max(bytes, kSmallest)).bytes - mem::kSlack;
  if (largest_ > 0) wanted = std::min(wanted, largest_);
  const auto handed_out = [&] {
    counts_.live += wanted;
    counts_.peak = std::max(counts_.peak, counts_.live);
  };
  {
    const std::lock_guard lock(guard_);
    ++counts_.requests;
    const auto found = pool_.find(wanted);
    if (found != pool_.end()) {
      Block* const block = found->second.release();
      pool_.erase(found);
      counts_.pooled -= wanted;
      block->launch = 0;
      handed_out();
      return block;
    }
  }
  auto block = std::make_unique<Block>();
  block->bytes = wanted;
  int status = 0;
  block->buffer = driver_->make_buffer(wanted, nullptr, status);
  if (status != 0) {
    trim(0);
    block->buffer = driver_->make_buffer(wanted, nullptr, status);
  }
  if (status != 0) refuse(driver_->status_name(status));
  const std::lock_guard lock(guard_);
  ++counts_.system_allocations;
  handed_out();
  return block.release();
}

void DeviceMemory::release(void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  std::unique_ptr<Block> block(static_cast<Block*>(data));
  if (driver_->forks().lost()) {
    // In a forked child the driver's objects must not be touched.
    const Block* const left = block.release();
    if (left->host != nullptr && left->deleter) left->deleter(left->host);
    return;
  }
  if (block->host != nullptr) {
    // Kernels may still read the host's memory. Its owner may free or change it after this.
    queue_.drain();
    block->buffer.reset();
    if (block->deleter) block->deleter(block->host);
    return;
  }
  const std::lock_guard lock(guard_);
  const std::size_t bytes = block->bytes;
  counts_.live -= bytes;
  if (counts_.pooled + bytes > pool_bytes_) return;
  try {
    pool_.emplace(bytes, std::move(block));
    counts_.pooled += bytes;
  } catch (const std::bad_alloc&) {
    // There is no memory to remember the block: release it to the driver.
  }
}

void DeviceMemory::read(const void* data, void* host, std::size_t bytes) {
  queue_.check_process("read");
  const std::string what = fmt::format("{} bytes from {}", bytes, device_.str());
  const auto* block = static_cast<const Block*>(data);
  if (bytes > 0) driver_->check(driver_->read(block->buffer, host, bytes), "read", what);
  queue_.finish("read");
  std::unique_lock lock(guard_);
  const std::uint64_t launch = block->launch;
  lock.unlock();
  if (queue_.failed(launch))
    throw DeviceError("read", what + ": the kernel that was to write them failed; compute them again");
}

void DeviceMemory::write(void* data, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  queue_.check_process("write");
  auto* block = static_cast<Block*>(data);
  driver_->check(driver_->write(block->buffer, host, bytes), "write",
                 fmt::format("{} bytes to {}", bytes, device_.str()));
  const std::lock_guard lock(guard_);
  block->launch = 0;
}

void* DeviceMemory::adopt(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
  const DeviceTable& table = driver_->table();
  if (driver_->forks().lost() || !table.unified_memory || bytes == 0 ||
      reinterpret_cast<std::uintptr_t>(data) % table.alignment != 0)
    return nullptr;
  auto block = std::make_unique<Block>();
  int status = 0;
  block->buffer = driver_->make_buffer(bytes, data, status);
  if (status != 0) return nullptr;  // the caller copies instead
  block->bytes = bytes;
  block->host = data;
  block->deleter = std::move(deleter);
  return block.release();
}

MemoryStatistics DeviceMemory::statistics() const {
  if (driver_->forks().lost()) return counts_;
  const std::lock_guard lock(guard_);
  return counts_;
}

void DeviceMemory::trim(std::size_t keep) {
  if (driver_->forks().lost()) return;
  const std::lock_guard lock(guard_);
  while (!pool_.empty() && counts_.pooled > keep) {
    const auto largest = std::prev(pool_.end());
    counts_.pooled -= largest->first;
    pool_.erase(largest);
  }
}

void DeviceMemory::reset_peak() {
  if (driver_->forks().lost()) return;
  const std::lock_guard lock(guard_);
  counts_.peak = counts_.live;
}

}  // namespace oriel::backend::items
