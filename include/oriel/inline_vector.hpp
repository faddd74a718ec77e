// A vector that stores its first elements without an allocation. Shapes, strides and ranges use it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <vector>  // with std::reverse_iterator; <iterator>, <memory> or <algorithm> would double the lines of this header

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

namespace detail {

template <class It>
concept ElementIterator = requires(It& it, const It& end) {
  *it;
  ++it;
  it != end;
};
template <class It>
concept CountableIterator = ElementIterator<It> && requires(const It& first, const It& last) {
  static_cast<std::size_t>(last - first);
};
[[noreturn]] void throw_out_of_range();  // std::out_of_range
[[noreturn]] void throw_too_long();      // std::length_error

}  // namespace detail

/// A std::vector that stores up to N elements inside the object. Members behave as those of std::vector, exceptions
/// included, with one difference: moving a vector of at most N elements moves the elements, so references to them
/// become invalid. T is copyable, and its move constructor does not throw.
///
///   oriel::Ints sizes{2, 3};
///   sizes.push_back(4);
///   oriel::Shape shape = std::vector<std::int64_t>{2, 3, 4};  // from any vector of integers
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_nothrow_move_constructible_v<T> && N > 0);

 public:
  /// As the members of std::vector with these names.
  /// @{
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  InlineVector() noexcept : data_(inline_data()) {}
  /// `count` value-initialised elements.
  explicit InlineVector(size_type count) : InlineVector() { resize(count); }
  InlineVector(size_type count, const T& value) : InlineVector() { assign(count, value); }
  InlineVector(std::initializer_list<T> list) : InlineVector() { append_copies(list.begin(), list.size()); }
  template <detail::ElementIterator It>
  InlineVector(It first, It last) : InlineVector() {
    assign(first, last);
  }
  /// The vector's elements, converted.
  template <class U, class Allocator>
  requires(std::same_as<U, T> || (std::integral<U> && !std::same_as<U, bool> && std::convertible_to<U, T>))
      InlineVector(const std::vector<U, Allocator>& list)  // NOLINT(google-explicit-constructor)
      : InlineVector(list.begin(), list.end()) {}

  InlineVector(const InlineVector& other) : InlineVector() { copy_from(other); }
  InlineVector(InlineVector&& other) noexcept : InlineVector() { take_over(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this == &other) return *this;
    clear();
    append_copies(other.data_, other.size_);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take_over(other);
    return *this;
  }
  InlineVector& operator=(std::initializer_list<T> list) {
    clear();
    append_copies(list.begin(), list.size());
    return *this;
  }
  ~InlineVector() {
    destroy(data_, size_);
    free_heap();
  }

  void assign(size_type count, const T& value) {
    const T copy = value;
    clear();
    reserve(count);
    while (size_ < count) construct(copy);
  }
  template <detail::ElementIterator It>
  void assign(It first, It last) {
    clear();
    if constexpr (detail::CountableIterator<It>) reserve(static_cast<size_type>(last - first));
    for (; first != last; ++first) emplace_back(*first);
  }
  void assign(std::initializer_list<T> list) { *this = list; }

  size_type size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_type capacity() const noexcept { return capacity_; }
  static constexpr size_type max_size() noexcept { return PTRDIFF_MAX / kElement; }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](size_type i) noexcept { return data_[i]; }
  const T& operator[](size_type i) const noexcept { return data_[i]; }
  /// Throws std::out_of_range.
  T& at(size_type i) { return data_[checked(i)]; }
  const T& at(size_type i) const { return data_[checked(i)]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

  void reserve(size_type count) {
    if (count > capacity_) grow(count);
  }
  void resize(size_type count) {
    reserve(count);
    while (size_ < count) construct();
    cut(count);
  }
  void resize(size_type count, const T& value) {
    if (count <= size_) return resize(count);
    const T copy = value;
    reserve(count);
    while (size_ < count) construct(copy);
  }
  void clear() noexcept { cut(0); }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T made(std::forward<Args>(args)...);  // before growing: the arguments may be elements of this vector
      grow(size_ + 1);
      return construct(std::move(made));
    }
    return construct(std::forward<Args>(args)...);
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() noexcept { cut(size_ - 1); }

  iterator insert(const_iterator at, const T& value) { return insert_moved(at, T(value)); }
  iterator insert(const_iterator at, T&& value) { return insert_moved(at, T(std::move(value))); }
  iterator insert(const_iterator at, size_type count, const T& value) {
    const auto index = at - data_;
    const size_type before = size_;
    resize(size_ + count, value);
    rotate(data_ + index, data_ + before, data_ + size_);
    return data_ + index;
  }
  template <detail::ElementIterator It>
  iterator insert(const_iterator at, It first, It last) {
    const auto index = at - data_;
    InlineVector added(first, last);  // a copy, because the range may lie in this vector
    const size_type before = size_;
    reserve(size_ + added.size_);
    for (T& value : added) emplace_back(std::move(value));
    rotate(data_ + index, data_ + before, data_ + size_);
    return data_ + index;
  }
  iterator insert(const_iterator at, std::initializer_list<T> list) { return insert(at, list.begin(), list.end()); }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    T* const to = data_ + (first - data_);
    T* end_of_moved = to;
    for (T* from = data_ + (last - data_); from != data_ + size_; ++from, ++end_of_moved) {
      if (from != end_of_moved) *end_of_moved = std::move(*from);
    }
    cut(static_cast<size_type>(end_of_moved - data_));
    return to;
  }

  void swap(InlineVector& other) noexcept {
    InlineVector kept(std::move(other));
    other = std::move(*this);
    *this = std::move(kept);
  }
  friend void swap(InlineVector& a, InlineVector& b) noexcept { a.swap(b); }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    if (a.size_ != b.size_) return false;
    for (size_type i = 0; i < a.size_; ++i) {
      if (!static_cast<bool>(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }
  friend bool operator<(const InlineVector& a, const InlineVector& b) {
    for (size_type i = 0; i < a.size_ && i < b.size_; ++i) {
      if (a.data_[i] < b.data_[i]) return true;
      if (b.data_[i] < a.data_[i]) return false;
    }
    return a.size_ < b.size_;
  }
  /// @}

 private:
  static constexpr std::size_t kElement = sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be a pointer

  T* inline_data() noexcept { return reinterpret_cast<T*>(inline_); }
  bool is_inline() const noexcept { return capacity_ <= N; }

  size_type checked(size_type i) const {
    if (i >= size_) detail::throw_out_of_range();
    return i;
  }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of bytes that are copied and not read
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
  // Few bytes are copied whole, used or not: a fixed number of instructions, without a call.
  static constexpr bool kCopyWhole = std::is_trivially_copyable_v<T> && N * kElement <= 128;

  // Precondition: the vector is empty.
  void copy_from(const InlineVector& other) {
    if constexpr (kCopyWhole) {
      if (other.is_inline()) {
        __builtin_memcpy(inline_, other.inline_, sizeof(inline_));
        size_ = other.size_;
        return;
      }
    }
    append_copies(other.data_, other.size_);
  }

  // Precondition: the vector is empty.
  void append_copies(const T* from, size_type count) {
    if (count > capacity_) grow(count);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (count > 0) __builtin_memcpy(static_cast<void*>(data_), from, count * kElement);
      size_ = count;
    } else {
      while (size_ < count) construct(from[size_]);
    }
  }

  // Precondition: there is room.
  template <class... Args>
  T& construct(Args&&... args) {
    T* const made = ::new (static_cast<void*>(data_ + size_)) T(std::forward<Args>(args)...);
    ++size_;
    return *made;
  }
  static void destroy(T* first, size_type count) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (size_type i = 0; i < count; ++i) first[i].~T();
    }
  }
  // Drops the elements from position `size` on.
  void cut(size_type size) noexcept {
    destroy(data_ + size, size_ - size);
    size_ = size;
  }
  // Moves elements to memory that holds none.
  static void relocate(T* from, size_type count, T* to) noexcept {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (count > 0) __builtin_memcpy(static_cast<void*>(to), from, count * kElement);
    } else {
      for (size_type i = 0; i < count; ++i) ::new (static_cast<void*>(to + i)) T(std::move(from[i]));
      destroy(from, count);
    }
  }
  static void reverse(T* first, T* last) noexcept(std::is_nothrow_move_assignable_v<T>) {
    for (; last - first > 1; ++first) {
      T kept(std::move(*first));
      *first = std::move(*--last);
      *last = std::move(kept);
    }
  }
  // Exchanges [first, middle) with [middle, last).
  static void rotate(T* first, T* middle, T* last) {
    reverse(first, middle);
    reverse(middle, last);
    reverse(first, last);
  }

  iterator insert_moved(const_iterator at, T&& value) {
    const auto index = at - data_;
    emplace_back(std::move(value));
    rotate(data_ + index, data_ + size_ - 1, data_ + size_);
    return data_ + index;
  }

  void grow(size_type least) {
    if (least > max_size()) detail::throw_too_long();
    const size_type doubled = capacity_ < max_size() / 2 ? 2 * capacity_ : max_size();
    const size_type capacity = least > doubled ? least : doubled;
    T* const data = allocate(capacity);
    relocate(data_, size_, data);
    free_heap();
    data_ = data;
    capacity_ = capacity;
  }
  static T* allocate(size_type capacity) {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      return static_cast<T*>(::operator new(capacity* kElement, std::align_val_t(alignof(T))));
    } else {
      return static_cast<T*>(::operator new(capacity* kElement));
    }
  }
  void free_heap() noexcept {
    if (is_inline()) return;
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(static_cast<void*>(data_), std::align_val_t(alignof(T)));
    } else {
      ::operator delete(static_cast<void*>(data_));
    }
  }
  void release() noexcept {
    destroy(data_, size_);
    free_heap();
    data_ = inline_data();
    size_ = 0;
    capacity_ = N;
  }
  // Precondition: the vector is empty and has no heap memory.
  void take_over(InlineVector& other) noexcept {
    if (kCopyWhole && other.is_inline()) {
      copy_from(other);
      other.size_ = 0;
      return;
    }
    if (other.is_inline()) {
      // The explicit bound keeps g++ from warning of reads past the storage.
      const size_type count = other.size_ <= N ? other.size_ : N;
      relocate(other.inline_data(), count, inline_data());
      size_ = count;
    } else {
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_data();
      other.capacity_ = N;
    }
    other.size_ = 0;
  }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  T* data_;
  size_type size_ = 0;
  size_type capacity_ = N;
  alignas(T) unsigned char inline_[N * kElement];
};

}  // namespace oriel
