#include "memory/buffer.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "base/activity.hpp"

namespace oriel::mem {

namespace {

struct alignas(64) Made {
  std::atomic<std::int64_t> bytes{0};
};
constinit std::array<Made, base::Activity::kMost> made{};

void count(std::size_t bytes) noexcept {
  made[static_cast<std::size_t>(base::thread_stripe())].bytes.fetch_add(static_cast<std::int64_t>(bytes),
                                                                        std::memory_order_relaxed);
}

}  // namespace

std::int64_t bytes_made() noexcept {
  std::int64_t sum = 0;
  for (const Made& m : made) sum += m.bytes.load(std::memory_order_relaxed);
  return sum;
}

Buffer::Buffer(std::shared_ptr<Allocator> allocator, std::size_t bytes)
    : allocator_(std::move(allocator)),
      data_(allocator_->allocate(bytes)),
      bytes_(bytes),
      device_(allocator_->device()) {
  count(bytes);
}

Buffer::Buffer(Device device, void* data, std::size_t bytes, std::function<void(void*)> deleter)
    : deleter_(std::move(deleter)), data_(data), bytes_(bytes), device_(device), borrowed_(true) {
  count(bytes);
}

Buffer::Buffer(std::shared_ptr<Allocator> allocator, void* data, std::size_t bytes, bool writable)
    : allocator_(std::move(allocator)),
      data_(data),
      bytes_(bytes),
      device_(allocator_->device()),
      borrowed_(true),
      writable_(writable) {
  count(bytes);
}

Buffer::~Buffer() {
  if (allocator_) {
    allocator_->release(data_, bytes_);
  } else if (deleter_) {
    deleter_(data_);
  }
}

}  // namespace oriel::mem
