#include "memory/buffer.hpp"

#include <atomic>
#include <utility>

namespace oriel::mem {

namespace {

std::atomic<std::int64_t> made{0};

void count(std::size_t bytes) noexcept { made.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }

}  // namespace

std::int64_t bytes_made() noexcept { return made.load(std::memory_order_relaxed); }

Buffer::Buffer(std::shared_ptr<Allocator> allocator, std::size_t bytes)
    : allocator_(std::move(allocator)),
      data_(allocator_->allocate(bytes)),
      bytes_(bytes),
      device_(allocator_->device()) {
  count(bytes);
}

Buffer::Buffer(Device device, void* data, std::size_t bytes, std::function<void(void*)> deleter)
    : deleter_(std::move(deleter)), data_(data), bytes_(bytes), device_(device) {
  count(bytes);
}

Buffer::Buffer(std::shared_ptr<Allocator> allocator, void* data, std::size_t bytes, bool writable)
    : allocator_(std::move(allocator)), data_(data), bytes_(bytes), device_(allocator_->device()), writable_(writable) {
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
