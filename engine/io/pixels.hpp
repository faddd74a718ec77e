// An image as plain numbers, between the files' formats and tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::io {

using Bytes = std::vector<unsigned char>;
using ByteSpan = std::span<const unsigned char>;

/// The most bytes of pixels an image may have: far above photographs, and below what a forged header can ask for.
inline constexpr std::int64_t kMaxPixelBytes = std::int64_t{1} << 30;

/// Row-major samples of one or two bytes in the machine's order, the channels of a pixel side by side.
struct Format {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::int64_t sample_bytes = 1;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels * sample_bytes); }
  std::size_t total_bytes() const { return static_cast<std::size_t>(height) * row_bytes(); }
  /// Whether the pixels stay within kMaxPixelBytes; extents are at least 1 and below 2^31, so nothing overflows here.
  bool fits() const { return width <= kMaxPixelBytes / (height * channels * sample_bytes); }
};

struct Pixels {
  Format format;
  std::unique_ptr<unsigned char[]> data;  // aligned as new aligns: enough for two-byte samples

  explicit Pixels(const Format& f)
      : format(f), data(std::make_unique_for_overwrite<unsigned char[]>(f.total_bytes())) {}
};

/// Throws IoError: read_image: "path": what.
[[noreturn]] void refuse(const std::string& path, std::string_view what);
/// Throws IoError where the format does not fit kMaxPixelBytes.
void check_size(const std::string& path, const Format& format);

// The formats. `path` is for messages; all faults of the bytes are IoErrors.

bool is_pnm(ByteSpan start) noexcept;
/// How much of a PGM or PPM file there is to read, header included.
struct PnmBytes {
  std::size_t most = 0;
  bool exact = false;  // raw samples: what follows them is another image
};
/// By the file's start, or nothing where the header goes on behind it. Throws IoError for a header that is none.
std::optional<PnmBytes> pnm_file_bytes(ByteSpan start, const std::string& path);
Pixels decode_pnm(ByteSpan file, const std::string& path);
/// PGM for one channel, PPM for three.
Bytes encode_pnm(const Format& format, const unsigned char* data);

bool is_png(ByteSpan start) noexcept;
Pixels decode_png(ByteSpan file, const std::string& path);
Bytes encode_png(const Format& format, const unsigned char* data, const std::string& path);

}  // namespace oriel::io
