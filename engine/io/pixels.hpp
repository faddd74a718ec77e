// An image as numbers: the step between file formats and tensors.
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

/// The most bytes of pixels of an image: far more than photographs need, and a limit for forged headers.
inline constexpr std::int64_t kMaxPixelBytes = std::int64_t{1} << 30;

/// The format of row-major samples of one or two bytes in the machine's byte order, with the channels of a pixel
/// adjacent.
struct Format {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::int64_t sample_bytes = 1;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels * sample_bytes); }
  std::size_t total_bytes() const { return static_cast<std::size_t>(height) * row_bytes(); }
  /// True if the pixels fit kMaxPixelBytes. Nothing overflows, because extents are at least 1 and below 2^31.
  bool fits() const { return width <= kMaxPixelBytes / (height * channels * sample_bytes); }
};

struct Pixels {
  Format format;
  std::unique_ptr<unsigned char[]> data;  // new[] aligns it sufficiently for two-byte samples

  explicit Pixels(const Format& f)
      : format(f), data(std::make_unique_for_overwrite<unsigned char[]>(f.total_bytes())) {}
};

/// Throws IoError with the text: read_image: "path": what.
[[noreturn]] void refuse(const std::string& path, std::string_view what);
/// Throws IoError if the format does not fit kMaxPixelBytes.
void check_size(const std::string& path, const Format& format);

// The decoders and encoders of the formats. `path` is for messages. Invalid bytes are IoErrors.

bool is_pnm(ByteSpan start) noexcept;
/// How many bytes of a PBM, PGM or PPM file to read, header included.
struct PnmBytes {
  std::size_t most = 0;
  bool exact = false;  // raw samples: bytes after them belong to another image
};
/// Determined from the file's start; nullopt if the header does not end in it. Throws IoError for an invalid header.
std::optional<PnmBytes> pnm_file_bytes(ByteSpan start, const std::string& path);
Pixels decode_pnm(ByteSpan file, const std::string& path);
/// Encodes PGM for one channel, PPM for three.
Bytes encode_pnm(const Format& format, const unsigned char* data);

bool is_png(ByteSpan start) noexcept;
/// An upper bound for the size of a PNG file with these first 33 bytes: twice its rows plus 64 MiB for data other than
/// pixels. Only files made of very small chunks are larger. It limits how much is read from a pipe.
std::size_t most_png_bytes(ByteSpan start) noexcept;
inline constexpr std::size_t kPngStart = 33;  // the signature and the header's chunk
Pixels decode_png(ByteSpan file, const std::string& path);
Bytes encode_png(const Format& format, const unsigned char* data, const std::string& path);

}  // namespace oriel::io
