// PNG through libpng. libpng reports an error by longjmp, which must not skip destructors. So every call that can fail
// is in one of the small functions marked "jumps". These hold plain values only, call setjmp themselves and turn the
// jump into `false`. Objects with destructors live in their callers.
#include <csetjmp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "io/pixels.hpp"
#include "oriel/error.hpp"

namespace oriel::io {
namespace {

constexpr std::size_t kSignatureBytes = 8;

// The data shared with libpng's callbacks.
struct Traffic {
  ByteSpan input;  // the bytes not read yet
  Bytes* output = nullptr;
  bool no_memory = false;
  char message[160] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* traffic = static_cast<Traffic*>(png_get_error_ptr(png));
  std::strncpy(traffic->message, message, sizeof traffic->message - 1);
  png_longjmp(png, 1);
}

// Ignores libpng's warnings: nothing is printed for defects that it tolerates.
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto* traffic = static_cast<Traffic*>(png_get_io_ptr(png));
  if (count > traffic->input.size()) png_error(png, "the file is cut short");
  std::memcpy(to, traffic->input.data(), count);
  traffic->input = traffic->input.subspan(count);
}

void on_write(png_structp png, png_bytep from, std::size_t count) {
  auto* traffic = static_cast<Traffic*>(png_get_io_ptr(png));
  try {
    traffic->output->insert(traffic->output->end(), from, from + count);
  } catch (...) {
    traffic->no_memory = true;
  }
  if (traffic->no_memory) png_error(png, "out of memory");
}

void on_flush(png_structp) {}

struct Decoder {
  Traffic traffic;
  png_structp png = nullptr;
  png_infop info = nullptr;
  int passes = 1;  // passes over the rows: seven for interlaced images

  explicit Decoder(ByteSpan file) {
    traffic.input = file;
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &traffic, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Encoder {
  Traffic traffic;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Encoder(Bytes* file) {
    traffic.output = file;
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &traffic, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png, &info); }
};

// Jumps. Stores the format that read_rows will produce: palettes expanded, transparency as a channel, samples of whole
// bytes.
bool read_header(Decoder& decoder, Format& format) {
  png_structp png = decoder.png;
  png_infop info = decoder.info;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, &decoder.traffic, on_read);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size decides instead
  png_read_info(png, info);
  const int color = png_get_color_type(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  format.width = png_get_image_width(png, info);
  format.height = png_get_image_height(png, info);
  format.channels = color == PNG_COLOR_TYPE_PALETTE ? 3 : png_get_channels(png, info);
  if (transparent && (color & PNG_COLOR_MASK_ALPHA) == 0) ++format.channels;
  format.sample_bytes = png_get_bit_depth(png, info) == 16 ? 2 : 1;
  return true;
}

// Jumps. Separate from read_header because libpng allocates and clears memory for whole rows here, so their size must
// be checked first.
bool start_rows(Decoder& decoder, const Format& format) {
  png_structp png = decoder.png;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_expand(png);
  if (std::endian::native == std::endian::little) png_set_swap(png);
  decoder.passes = png_set_interlace_handling(png);
  png_read_update_info(png, decoder.info);
  if (png_get_rowbytes(png, decoder.info) != format.row_bytes())
    png_error(png, "rows of another length than the header says");
  return true;
}

// Jumps. Reads row by row: the list of row pointers that png_read_image takes can be larger than the pixels.
bool read_rows(Decoder& decoder, const Format& format, png_bytep to) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  for (int pass = 0; pass < decoder.passes; ++pass) {
    for (std::int64_t y = 0; y < format.height; ++y) {
      png_read_row(decoder.png, to + static_cast<std::size_t>(y) * format.row_bytes(), nullptr);
    }
  }
  png_read_end(decoder.png, nullptr);
  return true;
}

// Jumps.
bool write_all(Encoder& encoder, const Format& format, png_const_bytep from) {
  static constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
  png_structp png = encoder.png;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &encoder.traffic, on_write, on_flush);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png, encoder.info, static_cast<png_uint_32>(format.width), static_cast<png_uint_32>(format.height),
               static_cast<int>(format.sample_bytes * 8), kColors[format.channels - 1], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, encoder.info);
  if (format.sample_bytes == 2 && std::endian::native == std::endian::little) png_set_swap(png);
  for (std::int64_t y = 0; y < format.height; ++y) {
    png_write_row(png, from + static_cast<std::size_t>(y) * format.row_bytes());
  }
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

bool is_png(ByteSpan start) noexcept {
  return start.size() >= kSignatureBytes && png_sig_cmp(start.data(), 0, kSignatureBytes) == 0;
}

std::size_t most_png_bytes(ByteSpan start) noexcept {
  constexpr std::size_t kBeside = std::size_t{64} << 20;
  if (start.size() < kPngStart) return kBeside;
  const auto number = [&](std::size_t at) {
    return std::uint64_t{start[at]} << 24U | std::uint64_t{start[at + 1]} << 16U | std::uint64_t{start[at + 2]} << 8U |
           start[at + 3];
  };
  constexpr std::uint64_t kMostExtent = 0x7fffffff;
  const std::uint64_t width = std::min(number(16), kMostExtent);
  const std::uint64_t height = std::min(number(20), kMostExtent);
  const std::uint64_t row = width * 8 + 1;  // four channels of two bytes, plus the filter byte of the row
  constexpr std::uint64_t kMost = std::uint64_t{2} << 30;
  if (height != 0 && row > kMost / 2 / height) return kMost;
  return kBeside + 2 * static_cast<std::size_t>(row * height);
}

Pixels decode_png(ByteSpan file, const std::string& path) {
  Decoder decoder(file);
  if (decoder.info == nullptr) throw MemoryError("read_image", "libpng got no memory");
  const auto fail = [&] {
    refuse(path,
           fmt::format("not a whole, sound PNG: {}; get the file again from its source", decoder.traffic.message));
  };
  Format format;
  if (!read_header(decoder, format)) fail();
  check_size(path, format);
  if (!start_rows(decoder, format)) fail();
  Pixels pixels(format);
  if (!read_rows(decoder, format, pixels.data.get())) fail();
  return pixels;
}

Bytes encode_png(const Format& format, const unsigned char* data, const std::string& path) {
  Bytes file;
  Encoder encoder(&file);
  if (encoder.info == nullptr || !write_all(encoder, format, data)) {
    if (encoder.info == nullptr || encoder.traffic.no_memory) {
      throw MemoryError("write_image", fmt::format("no memory to encode \"{}\"", path));
    }
    throw IoError("write_image", fmt::format("\"{}\" cannot be encoded as PNG: {}", path, encoder.traffic.message));
  }
  return file;
}

}  // namespace oriel::io
