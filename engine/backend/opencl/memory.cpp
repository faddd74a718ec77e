#include "backend/opencl/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::opencl {
namespace {

// Even an empty buffer takes memory, so it has an address.
constexpr std::size_t kSmallest = 256;

/// Four size classes for each power of two, as on the host.
std::size_t class_bytes(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, kSmallest);
  const std::size_t base = std::bit_floor(wanted);
  const std::size_t step = base / 4;  // at least kSmallest / 4
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
  return (wanted + step - 1) / step * step;
}

}  // namespace

DeviceMemory::DeviceMemory(const Api& api, const DeviceTable& table, Device device)
    : api_(api),
      device_(device),
      largest_(table.largest_buffer),
      unified_(table.unified_memory),
      alignment_(table.alignment),
      queue_(api, table, device),
      pool_bytes_(static_cast<std::size_t>(
          base::env_count("ORIEL_POOL_BYTES").value_or(std::max<std::int64_t>(table.memory / 2, 0)))) {}

// The work that uses the pool's blocks ends before they are released.
DeviceMemory::~DeviceMemory() { queue_.drain(); }

void* DeviceMemory::allocate(std::size_t bytes) {
  queue_.check_process("allocate");
  const auto refuse = [&](const std::string& why) {
    throw MemoryError("allocate", fmt::format("no memory for {} bytes on {}: {}; {} are in use here", bytes,
                                              device_.str(), why, statistics().live));
  };
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) ||
      (largest_ > 0 && bytes > static_cast<std::size_t>(largest_)))
    refuse(fmt::format("a buffer has at most {}", largest_));
  std::size_t wanted = class_bytes(bytes);
  if (largest_ > 0) wanted = std::min(wanted, static_cast<std::size_t>(largest_));
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
  cl_int status = CL_SUCCESS;
  const auto create = [&] {
    block->memory = Memory(api_, api_.clCreateBuffer(queue_.context(), CL_MEM_READ_WRITE, wanted, nullptr, &status));
  };
  create();
  if (status != CL_SUCCESS) {
    trim(0);
    create();
  }
  if (status != CL_SUCCESS) refuse(status_name(status));
  const std::lock_guard lock(guard_);
  ++counts_.system_allocations;
  handed_out();
  return block.release();
}

void DeviceMemory::release(void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  std::unique_ptr<Block> block(static_cast<Block*>(data));
  if (driver_lost()) {
    // In a forked child the driver's objects must not be touched.
    const Block* const left = block.release();
    if (left->host != nullptr && left->deleter) left->deleter(left->host);
    return;
  }
  if (block->host != nullptr) {
    // Kernels may still read the host's memory. Its owner may free or change it after this.
    queue_.drain();
    block->memory.reset();
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
  if (bytes > 0) {
    check(api_.clEnqueueReadBuffer(queue_.handle(), block->memory.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
          "read", what);
  }
  queue_.finish("read");
  std::uint64_t launch = 0;
  {
    const std::lock_guard lock(guard_);
    launch = block->launch;
  }
  if (queue_.failed(launch))
    throw DeviceError("read", what + ": the kernel that was to write them failed; compute them again");
}

void DeviceMemory::written(void* data, std::uint64_t launch) {
  const std::lock_guard lock(guard_);
  static_cast<Block*>(data)->launch = launch;
}

void DeviceMemory::write(void* data, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  queue_.check_process("write");
  auto* block = static_cast<Block*>(data);
  check(api_.clEnqueueWriteBuffer(queue_.handle(), block->memory.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
        "write", fmt::format("{} bytes to {}", bytes, device_.str()));
  const std::lock_guard lock(guard_);
  block->launch = 0;
}

void* DeviceMemory::adopt(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
  if (driver_lost() || !unified_ || bytes == 0 || reinterpret_cast<std::uintptr_t>(data) % alignment_ != 0)
    return nullptr;
  auto block = std::make_unique<Block>();
  cl_int status = CL_SUCCESS;
  block->memory = Memory(
      api_, api_.clCreateBuffer(queue_.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &status));
  if (status != CL_SUCCESS) return nullptr;  // the caller copies instead
  block->bytes = bytes;
  block->host = data;
  block->deleter = std::move(deleter);
  return block.release();
}

MemoryStatistics DeviceMemory::statistics() const {
  if (driver_lost()) return counts_;
  const std::lock_guard lock(guard_);
  return counts_;
}

void DeviceMemory::trim(std::size_t keep) {
  if (driver_lost()) return;
  const std::lock_guard lock(guard_);
  while (!pool_.empty() && counts_.pooled > keep) {
    const auto largest = std::prev(pool_.end());
    counts_.pooled -= largest->first;
    pool_.erase(largest);
  }
}

void DeviceMemory::reset_peak() {
  if (driver_lost()) return;
  const std::lock_guard lock(guard_);
  counts_.peak = counts_.live;
}

}  // namespace oriel::backend::opencl
