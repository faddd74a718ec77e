// Fuzzes image files: the bytes give either an image, which survives writing and reading, or an IoError.
#include <cstring>
#include <exception>
#include <string_view>

#include "fuzz/target.hpp"
#include "io/pixels.hpp"
#include "oriel/error.hpp"
#include "unit/io/png_bytes.hpp"

using namespace oriel;
using fuzzing::require;

namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kAroundData = 12;  // a chunk's length, type and checksum

std::uint32_t read_big_endian(const unsigned char* from) {
  return std::uint32_t{from[0]} << 24 | std::uint32_t{from[1]} << 16 | std::uint32_t{from[2]} << 8 | from[3];
}

/// Corrects the checksum of every chunk. Mutations do not, so without this all of them would be refused there.
void mend_checksums(io::Bytes& file) {
  for (std::size_t at = kSignature; at + kAroundData <= file.size();) {
    const std::size_t length = read_big_endian(file.data() + at);
    if (length > file.size() - at - kAroundData) return;
    const std::string_view body(reinterpret_cast<const char*>(file.data() + at + 4), length + 4);
    const std::string sum = testing::big_endian(testing::crc32(body));
    std::memcpy(file.data() + at + 8 + length, sum.data(), sum.size());
    at += kAroundData + length;
  }
}

/// True if a legal header asks for so much work that it would slow the search down.
bool is_large(const io::Bytes& png) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  constexpr std::size_t size_at = 16;
  if (png.size() < size_at + 8) return false;
  const std::uint64_t width = read_big_endian(png.data() + size_at);
  const std::uint64_t height = read_big_endian(png.data() + size_at + 4);
  return width != 0 && height > most / width && height <= static_cast<std::uint64_t>(io::kMaxPixelBytes) / width;
}

void check(io::Bytes file) {
  const bool png = io::is_png(file);
  if (!png && !io::is_pnm(file)) return;
  if (png && is_large(file)) return;
  if (png) mend_checksums(file);
  const auto decode = [](const io::Bytes& bytes) {
    return io::is_png(bytes) ? io::decode_png(bytes, "x") : io::decode_pnm(bytes, "x");
  };
  io::Format format;
  io::Bytes samples;
  try {
    const io::Pixels pixels = decode(file);
    format = pixels.format;
    samples.assign(pixels.data.get(), pixels.data.get() + format.total_bytes());
  } catch (const IoError& error) {
    require(std::string_view(error.what()).starts_with("read_image: \"x\": "), error.what());
    return;
  }
  const auto returns = [&](const io::Bytes& written) {
    const io::Pixels back = decode(written);
    return back.format.width == format.width && back.format.height == format.height &&
           back.format.channels == format.channels && back.format.sample_bytes == format.sample_bytes &&
           std::memcmp(back.data.get(), samples.data(), samples.size()) == 0;
  };
  require(returns(io::encode_png(format, samples.data(), "x")), "not the same when written as PNG and read again");
  if (format.channels % 2 == 0) return;  // these have transparency
  require(returns(io::encode_pnm(format, samples.data())), "not the same when written as PGM or PPM and read again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(io::Bytes(data, data + size));
  } catch (const std::exception& error) {
    fuzzing::fail("threw: " + std::string(error.what()));
  }
  return 0;
}
