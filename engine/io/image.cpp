#include "oriel/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "base/escape.hpp"
#include "io/file.hpp"
#include "io/pixels.hpp"
#include "oriel/error.hpp"

namespace oriel {
namespace io {
namespace {

// Twice kMaxPixelBytes, because plain text is longer than its pixels.
constexpr std::size_t kMaxFileBytes = std::size_t{2} << 30;
constexpr std::size_t kStartBytes = 8;
// The longest header of a PBM, PGM or PPM file; comments can make it long.
constexpr std::size_t kMaxPnmHeader = std::size_t{1} << 20;
/// Bytes read at a time, so that a forged header cannot make us allocate more memory than the file fills.
constexpr std::size_t kReadAtOnce = std::size_t{16} << 20;

// Reads only as many bytes as the header announces, because a pipe may never end.
void read_pnm(InputFile& file, Bytes& bytes, const std::string& path) {
  std::optional<PnmBytes> wanted = pnm_file_bytes(bytes, path);
  while (!wanted && bytes.size() < kMaxPnmHeader) {
    const std::size_t before = bytes.size();
    file.read(bytes, before);
    if (bytes.size() == before) return;  // truncated; the decoder reports it
    wanted = pnm_file_bytes(bytes, path);
  }
  if (!wanted) refuse(path, fmt::format("its first {} bytes hold no whole header", kMaxPnmHeader));
  if (!wanted->exact) return file.read_rest(bytes, wanted->most);
  while (bytes.size() < wanted->most) {
    const std::size_t before = bytes.size();
    file.read(bytes, std::min(wanted->most - before, kReadAtOnce));
    if (bytes.size() == before) return;
  }
}

Pixels decode(const std::string& path) {
  InputFile file("read_image", path);
  Bytes bytes;
  file.read(bytes, kStartBytes);
  const bool pnm = is_pnm(bytes);
  if (!pnm && !is_png(bytes)) {
    refuse(path, bytes.empty()
                     ? "the file is empty; PBM, PGM, PPM (P1 to P6) and PNG files are read"
                     : "neither PBM, PGM nor PPM (P1 to P6) nor PNG by its first bytes; convert it to one of these");
  }
  if (!pnm) {
    if (!file.size()) file.read(bytes, kPngStart - bytes.size());
    file.read_rest(bytes, file.size() ? kMaxFileBytes : std::min(most_png_bytes(bytes), kMaxFileBytes));
    return decode_png(bytes, path);
  }
  if (const auto size = file.size(); size && *size > kMaxFileBytes) file.read_rest(bytes, kMaxFileBytes);  // throws
  read_pnm(file, bytes, path);
  return decode_pnm(bytes, path);
}

template <class T>
Tensor to_tensor(Pixels pixels, Site site) {
  const Format& f = pixels.format;
  const Shape shape = f.channels == 1 ? Shape{f.height, f.width} : Shape{f.height, f.width, f.channels};
  return Tensor::adopt(
      reinterpret_cast<T*>(pixels.data.release()), shape,
      [](T* data) { delete[] reinterpret_cast<unsigned char*>(data); }, site);
}

enum class FileType { png, pgm, ppm };

FileType type_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  std::string ending = dot == std::string::npos ? "" : path.substr(dot);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (ending == ".png") return FileType::png;
  if (ending == ".pgm") return FileType::pgm;
  if (ending == ".ppm") return FileType::ppm;
  throw ArgumentError("write_image",
                      fmt::format("\"{}\" names no format; end the name on .png, .pgm or .ppm", base::escaped(path)));
}

Format format_of(const Tensor& image, FileType type) {
  if (image.dtype() != DType::uint8 && image.dtype() != DType::uint16) {
    throw DTypeError("write_image", fmt::format("an image of {} has no pixels; give uint8 or uint16, for example "
                                                "round(clamp(x, 0, 1) * 255).to(DType::uint8)",
                                                name(image.dtype())));
  }
  const Shape& shape = image.shape();
  const auto refuse_shape = [&](std::string_view wanted) {
    throw ShapeError("write_image", fmt::format("shape {}; {}", to_string(shape), wanted));
  };
  const bool rank_fits = shape.size() == 2 || shape.size() == 3;
  const std::int64_t channels = shape.size() == 3 ? shape[2].value() : 1;
  if (type == FileType::pgm && (!rank_fits || channels != 1)) refuse_shape("a .pgm holds (height, width)");
  if (type == FileType::ppm && (!rank_fits || channels != 3)) refuse_shape("a .ppm holds (height, width, 3)");
  if (!rank_fits || channels < 1 || channels > 4)
    refuse_shape("a .png holds (height, width) or (height, width, 1 to 4 channels)");
  constexpr std::int64_t kMaxExtent = 2147483647;
  for (std::size_t d = 0; d < 2; ++d) {
    if (shape[d] < 1 || shape[d] > kMaxExtent) refuse_shape("an image is 1 to 2147483647 pixels high and wide");
  }
  const Format format{shape[0].value(), shape[1].value(), channels, image.dtype() == DType::uint8 ? 1 : 2};
  if (!format.fits()) refuse_shape(fmt::format("an image holds up to {} bytes; cut it into parts", kMaxPixelBytes));
  return format;
}

}  // namespace

void refuse(const std::string& path, std::string_view what) {
  throw IoError("read_image", fmt::format("\"{}\": {}", base::escaped(path), what));
}

void check_size(const std::string& path, const Format& format) {
  if (format.fits()) return;
  refuse(path, fmt::format("{} x {} pixels of {} bytes are more than the {} bytes that are read; cut it into parts",
                           format.width, format.height, format.channels * format.sample_bytes, kMaxPixelBytes));
}

}  // namespace io

Tensor read_image(const std::string& path, Site site) {
  const detail::CallSite call(site);
  try {
    io::Pixels pixels = io::decode(path);
    return pixels.format.sample_bytes == 1 ? io::to_tensor<std::uint8_t>(std::move(pixels), site)
                                           : io::to_tensor<std::uint16_t>(std::move(pixels), site);
  } catch (const std::bad_alloc&) {
    throw MemoryError("read_image", fmt::format("no memory to read \"{}\"", base::escaped(path)));
  }
}

void write_image(const std::string& path, const Tensor& image, Site site) {
  const detail::CallSite call(site);
  const io::FileType type = io::type_of(path);
  const io::Format format = io::format_of(image, type);
  try {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint16_t> words;
    const unsigned char* data = nullptr;
    if (format.sample_bytes == 1) {
      bytes = image.to_vector<std::uint8_t>();
      data = bytes.data();
    } else {
      words = image.to_vector<std::uint16_t>();
      data = reinterpret_cast<const unsigned char*>(words.data());
    }
    io::replace_file("write_image", path,
                     type == io::FileType::png ? io::encode_png(format, data, path) : io::encode_pnm(format, data));
  } catch (const std::bad_alloc&) {
    throw MemoryError("write_image", fmt::format("no memory to encode \"{}\"", base::escaped(path)));
  }
}

}  // namespace oriel
