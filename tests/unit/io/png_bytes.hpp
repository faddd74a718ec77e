// Builds PNG files byte by byte, uncompressed, so that tests can make broken files and kinds that Oriel never writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace oriel::testing {

inline std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16 & 255), static_cast<char>(n >> 8 & 255),
          static_cast<char>(n & 255)};
}

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

inline std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc32(body));
}

/// A zlib stream of one stored block of at most 65535 bytes.
inline std::string stored(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto low = static_cast<char>(bytes.size() & 255);
  const auto high = static_cast<char>(bytes.size() >> 8);
  return std::string("\x78\x01\x01") + low + high + static_cast<char>(~low) + static_cast<char>(~high) +
         std::string(bytes) + big_endian(b << 16 | a);
}

struct PngKind {
  std::uint32_t width, height;
  int depth, color;     // as in the IHDR chunk
  std::string extra{};  // chunks between IHDR and IDAT
  int interlace = 0;
};

/// `scanlines`: each line begins with its filter byte.
inline std::string png_bytes(const PngKind& kind, std::string_view scanlines) {
  const std::string header = big_endian(kind.width) + big_endian(kind.height) + static_cast<char>(kind.depth) +
                             static_cast<char>(kind.color) + std::string(2, '\0') + static_cast<char>(kind.interlace);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + kind.extra + chunk("IDAT", stored(scanlines)) +
         chunk("IEND", "");
}

}  // namespace oriel::testing
