// Elements read where they lie in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace oriel {

/// What Tensor::data() gives: a tensor's elements, row-major, in the memory that they lie in. Holds this memory, so
/// that they stay as they are for as long as it or a copy of it lives, whatever becomes of the tensor: writes to the
/// tensor meanwhile go to other memory. (Of a tensor made by Tensor::borrow the memory stays the lender's to keep
/// alive.) Cheap to copy. Thread safety: const access from any thread.
///
///   for (const float v : x.data<float>()) ...;
///   const auto held = x.data<float>();  // of x as it is here; so that x changes in place again, let it go
template <class T>
class Elements {
 public:
  using value_type = T;
  using const_iterator = const T*;
  using iterator = const T*;

  Elements() = default;
  Elements(std::shared_ptr<const T> first, std::size_t size) noexcept : first_(std::move(first)), size_(size) {}

  const T* data() const noexcept { return first_.get(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  operator std::span<const T>() const& noexcept { return {data(), size_}; }  // NOLINT(google-explicit-constructor)
  operator std::span<const T>() const&& = delete;                            // its memory would be gone

 private:
  std::shared_ptr<const T> first_;
  std::size_t size_ = 0;
};

}  // namespace oriel
