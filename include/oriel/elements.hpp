// Read access to a tensor's elements without a copy.
#pragma once

#include <cstddef>
#include <span>

#include "oriel/api.hpp"
#include "oriel/shared.hpp"

namespace ORIEL_API oriel {

/// The result of Tensor::data(): a tensor's elements in row-major order, in the memory in which they are stored. The
/// object keeps this memory alive. While it or a copy of it lives, the elements do not change, even if the tensor is
/// written or destroyed: writes to the tensor go to other memory. (The memory of a tensor made by Tensor::borrow
/// belongs to the caller, who must keep it alive.) Cheap to copy. Thread safety: const access from any thread.
///
///   for (const float v : x.data<float>()) ...;
///   const auto held = x.data<float>();  // the present elements; while it lives, writes to x cannot be in place
template <class T>
class Elements {
 public:
  using value_type = T;             ///< an element
  using const_iterator = const T*;  ///< a pointer
  using iterator = const T*;        ///< a pointer

  Elements() = default;
  /// `size` elements, which live as long as a copy of `first` does.
  Elements(detail::Shared<const T> first, std::size_t size) noexcept : first_(std::move(first)), size_(size) {}

  /// The address of the first element.
  const T* data() const noexcept { return first_.get(); }
  /// The number of elements.
  std::size_t size() const noexcept { return size_; }
  /// As std::span.
  /// @{
  bool empty() const noexcept { return size_ == 0; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  /// @}
  /// All elements.
  operator std::span<const T>() const& noexcept { return {data(), size_}; }  // NOLINT(google-explicit-constructor)
  operator std::span<const T>() const&& = delete;                            // its memory would be gone

 private:
  detail::Shared<const T> first_;
  std::size_t size_ = 0;
};

}  // namespace oriel
