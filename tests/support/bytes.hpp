// The memory of a kernel's arguments.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "oriel/dtype.hpp"

namespace oriel::test {

/// The dtype of a register that holds elements of `d`.
inline DType register_dtype(DType d) { return d == DType::float16 || d == DType::bfloat16 ? DType::float32 : d; }

/// Bytes of one argument, as a kernel sees them: aligned, with nothing readable behind them.
class Bytes {
 public:
  Bytes(DType dtype, std::int64_t elements, std::size_t shift = 0) : dtype_(dtype), elements_(elements) {
    const std::size_t n = bytes();
    // The block ends with the data, so that the address sanitizer sees any step over it.
    const std::size_t pad = shift != 0 ? shift * itemsize(dtype) : 0;
    void* block = nullptr;
    if (posix_memalign(&block, 64, n + pad + (n == 0)) != 0) throw std::bad_alloc();
    storage_ = static_cast<char*>(block);
    data_ = storage_ + pad;
    std::memset(data_, 0, n);
  }
  Bytes(Bytes&& other) noexcept
      : dtype_(other.dtype_), elements_(other.elements_), storage_(other.storage_), data_(other.data_) {
    other.storage_ = nullptr;
  }
  Bytes(const Bytes& other) : Bytes(other.dtype_, other.elements_) { std::memcpy(data_, other.data_, bytes()); }
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { std::free(storage_); }

  void* data() const { return data_; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements_) * itemsize(dtype_); }
  DType dtype() const { return dtype_; }
  std::int64_t elements() const { return elements_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(static_cast<void*>(data_));
  }
  bool same_bits(const Bytes& other) const {
    return bytes() == other.bytes() && std::memcmp(data_, other.data_, bytes()) == 0;
  }

 private:
  DType dtype_;
  std::int64_t elements_;
  char* storage_;
  char* data_;
};

}  // namespace oriel::test
