// Files of captured functions with a checksum that is right, whatever else is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oriel::test {

constexpr std::size_t kChecksumAt = 15 + 4 + 8;
constexpr std::size_t kBodyAt = kChecksumAt + 8;

/// CRC-64 bit by bit.
inline std::uint64_t crc64(std::string_view bytes) {
  std::uint64_t crc = ~std::uint64_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xc96c5795d7870f42 : 0);
  }
  return ~crc;
}

/// The file's bytes with a checksum that is right.
inline std::string sealed(std::string bytes) {
  const std::uint64_t crc = crc64(bytes.substr(0, kChecksumAt) + bytes.substr(kBodyAt));
  for (std::size_t k = 0; k < 8; ++k) bytes[kChecksumAt + k] = static_cast<char>(crc >> 8 * k & 0xff);
  return bytes;
}

}  // namespace oriel::test
