// Values as little-endian bytes, and back with every read checked.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/escape.hpp"
#include "oriel/error.hpp"

namespace oriel::api {

/// Appends values to bytes.
class ByteWriter {
 public:
  void u8(std::uint8_t x) { number(x, 1); }
  void u32(std::size_t x) { number(x, 4); }
  void u64(std::uint64_t x) { number(x, 8); }
  void i64(std::int64_t x) { number(static_cast<std::uint64_t>(x), 8); }
  /// The length, then the bytes.
  void text(std::string_view x) {
    u64(x.size());
    bytes_ += x;
  }
  const std::string& bytes() const noexcept { return bytes_; }
  std::string& bytes() noexcept { return bytes_; }

 private:
  void number(std::uint64_t x, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(x >> 8 * i & 0xff);
  }
  std::string bytes_;
};

/// Reads what ByteWriter wrote. A read behind the end throws IoError, as fail() does.
class ByteReader {
 public:
  /// `path` is the file that errors name. Both must outlive the reader.
  ByteReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::int64_t i64() { return static_cast<std::int64_t>(number(8)); }
  bool flag() { return u8_below(2, "a flag") != 0; }
  std::string_view text() { return take(u64()); }
  /// A count of things of at least `bytes_each` bytes, which the rest of the bytes can hold.
  std::size_t count(std::size_t bytes_each) {
    const std::uint32_t n = u32();
    if (n > (bytes_.size() - at_) / bytes_each) fail(fmt::format("ends before its list of {} parts", n));
    return n;
  }
  /// A number below `end`. `what` says what it numbers.
  std::uint32_t below(std::size_t end, std::string_view what) { return checked(u32(), end, what); }
  std::uint8_t u8_below(std::size_t end, std::string_view what) {
    return static_cast<std::uint8_t>(checked(u8(), end, what));
  }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - at_) fail("ends too early");
    const std::string_view out = bytes_.substr(at_, static_cast<std::size_t>(n));
    at_ += static_cast<std::size_t>(n);
    return out;
  }
  bool at_end() const noexcept { return at_ == bytes_.size(); }
  const std::string& path() const noexcept { return path_; }
  /// Throws IoError: the file `why`.
  [[noreturn]] void fail(std::string_view why) const {
    throw IoError("load_function", fmt::format("\"{}\" {}", base::escaped(path_), why));
  }

 private:
  std::uint32_t checked(std::uint32_t x, std::size_t end, std::string_view what) const {
    if (x >= end) fail(fmt::format("is damaged: {} has the number {} of {}", what, x, end));
    return x;
  }
  std::uint64_t number(std::size_t count) {
    const std::string_view bytes = take(count);
    std::uint64_t x = 0;
    for (std::size_t i = count; i-- > 0;) x = x << 8 | static_cast<unsigned char>(bytes[i]);
    return x;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
  const std::string& path_;
};

}  // namespace oriel::api
