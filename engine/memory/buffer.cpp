#include "memory/buffer.hpp"

#include <utility>

namespace oriel::mem {

Buffer::Buffer(std::shared_ptr<Allocator> allocator, std::size_t bytes)
    : allocator_(std::move(allocator)),
      data_(allocator_->allocate(bytes)),
      bytes_(bytes),
      device_(allocator_->device()) {}

Buffer::Buffer(Device device, void* data, std::size_t bytes, std::function<void(void*)> deleter)
    : deleter_(std::move(deleter)), data_(data), bytes_(bytes), device_(device) {}

Buffer::Buffer(std::shared_ptr<Allocator> allocator, void* data, std::size_t bytes, bool writable)
    : allocator_(std::move(allocator)),
      data_(data),
      bytes_(bytes),
      device_(allocator_->device()),
      writable_(writable) {}

Buffer::~Buffer() {
  if (allocator_) {
    allocator_->release(data_, bytes_);
  } else if (deleter_) {
    deleter_(data_);
  }
}

}  // namespace oriel::mem
