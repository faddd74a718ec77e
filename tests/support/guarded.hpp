// Memory between guard pages: an access just outside it ends the process, with or without a sanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace oriel::test {

/// `bytes` bytes between two inaccessible pages. They end at the end of a page, or begin at the beginning of one. The
/// rest of the page, and initially the bytes themselves, are filled with a pattern that is NaN in every float dtype.
class Guarded {
 public:
  enum class Side { End, Begin };

  Guarded(std::size_t bytes, Side side) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inside_ = bytes == 0 ? page : (bytes + page - 1) / page * page;
    all_ = inside_ + 2 * page;
    void* const memory = mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<char*>(memory);
    first_ = mapped_ + page;
    if (mprotect(first_, inside_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::memset(first_, kFilled, inside_);
    data_ = side == Side::End ? first_ + inside_ - bytes : first_;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(mapped_, all_); }

  void* data() const { return data_; }
  /// True if the other bytes on the data's pages are unchanged.
  bool intact() const {
    for (const char* p = first_; p < first_ + inside_; ++p) {
      if ((p < data_ || p >= data_ + bytes_) && static_cast<unsigned char>(*p) != kFilled) return false;
    }
    return true;
  }

 private:
  static constexpr int kFilled = 0xff;
  std::size_t bytes_;
  std::size_t inside_ = 0;
  std::size_t all_ = 0;
  char* mapped_ = nullptr;
  char* first_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace oriel::test
