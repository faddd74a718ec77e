// PBM, PGM and PPM, plain and raw: http://netpbm.sourceforge.net/doc/pbm.html, pgm.html and ppm.html.
#include <fmt/format.h>

#include <cstring>

#include "io/pixels.hpp"
#include "oriel/error.hpp"

namespace oriel::io {
namespace {

constexpr std::int64_t kMaxExtent = 2147483647;
constexpr std::int64_t kMaxSample = 65535;

bool is_space(unsigned char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(unsigned char c) noexcept { return c >= '0' && c <= '9'; }

void store(unsigned char* to, std::uint16_t value) noexcept { std::memcpy(to, &value, sizeof value); }

class PnmReader {
 public:
  PnmReader(ByteSpan file, const std::string& path, bool start_only)
      : file_(file), path_(path), start_only_(start_only) {}

  std::optional<PnmBytes> bytes() {
    const Format format = header();
    if (cut_) return {};
    check_space();
    if (!plain()) return PnmBytes{place_ + 1 + raw_bytes(format), true};
    const std::size_t samples = format.total_bytes() / static_cast<std::size_t>(format.sample_bytes);
    return PnmBytes{place_ + kPlainSample * samples + kPlainComments, false};
  }

  Pixels read() {
    const Format format = header();
    const bool plain = this->plain();
    check_space();
    if (!plain) ++place_;
    check_length(format, plain);

    Pixels pixels(format);
    const std::size_t count = format.total_bytes() / static_cast<std::size_t>(format.sample_bytes);
    unsigned char* to = pixels.data.get();
    if (bitmap()) {
      for (std::size_t i = 0; i < count; ++i) to[i] = (plain ? plain_bit(i, count) : raw_bit(format, i)) ? 0 : 255;
    } else if (!plain && most_ == 255) {
      std::memcpy(to, file_.data() + place_, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t sample = plain ? plain_sample(i, count) : raw_sample();
        if (sample > most_) {
          refuse(path_, fmt::format("sample {} is {}, above the maximum {} of the header", i, sample, most_));
        }
        const std::int64_t scaled = most_ == full_ ? sample : (sample * full_ + most_ / 2) / most_;
        if (full_ == 255) {
          to[i] = static_cast<unsigned char>(scaled);
        } else {
          store(to + 2 * i, static_cast<std::uint16_t>(scaled));
        }
      }
    }
    if (plain) check_end(count);
    return pixels;
  }

 private:
  // Bytes of text allowed per plain sample: digits, white space and comments.
  static constexpr std::size_t kPlainSample = 16;
  static constexpr std::size_t kPlainComments = std::size_t{1} << 20;

  bool plain() const { return file_[1] < '4'; }
  bool bitmap() const { return file_[1] == '1' || file_[1] == '4'; }
  /// Rows of a bitmap are packed, eight pixels to a byte.
  std::size_t raw_bytes(const Format& format) const {
    if (!bitmap()) return format.total_bytes();
    return static_cast<std::size_t>(format.height) * ((static_cast<std::size_t>(format.width) + 7) / 8);
  }

  Format header() {
    const unsigned char kind = file_[1];
    place_ = 2;
    Format format;
    format.channels = kind == '3' || kind == '6' ? 3 : 1;
    format.width = header_number("width", kMaxExtent);
    format.height = header_number("height", kMaxExtent);
    most_ = bitmap() ? 1 : header_number("maximum", kMaxSample);
    format.sample_bytes = most_ > 255 ? 2 : 1;
    full_ = most_ > 255 ? 65535 : 255;
    if (!cut_) check_size(path_, format);
    return format;
  }

  void check_space() const {
    if (plain() || (place_ < file_.size() && is_space(file_[place_]))) return;
    refuse(path_,
           fmt::format("one white-space byte must follow the {} in the header", bitmap() ? "height" : "maximum"));
  }

  // Skips white space, and comments from # to the end of the line.
  void skip_space() {
    while (place_ < file_.size() && (is_space(file_[place_]) || file_[place_] == '#')) {
      if (file_[place_] == '#') {
        while (place_ < file_.size() && file_[place_] != '\n') ++place_;
      } else {
        ++place_;
      }
    }
  }

  // The number at place_, or -1 if there is no digit. The value stops growing beyond `limit`.
  std::int64_t number(std::int64_t limit) {
    if (place_ >= file_.size() || !is_digit(file_[place_])) return -1;
    std::int64_t value = 0;
    for (; place_ < file_.size() && is_digit(file_[place_]); ++place_) {
      if (value <= limit) value = value * 10 + (file_[place_] - '0');
    }
    return value;
  }

  std::int64_t header_number(const char* what, std::int64_t limit) {
    skip_space();
    const std::int64_t value = number(limit);
    if (start_only_ && place_ == file_.size()) {
      cut_ = true;  // the rest of the header, or of this number, may follow
      return 1;
    }
    if (value < 1 || value > limit) {
      refuse(path_, fmt::format("the header's {} is {}; a whole number from 1 to {} must stand there", what,
                                value < 0    ? "missing"
                                : value == 0 ? "0"
                                             : "out of range",
                                limit));
    }
    return value;
  }

  // Checks the file's length before any memory is allocated, so that a forged header costs nothing. A plain sample
  // needs at least a digit and a space; that of a bitmap, a digit.
  void check_length(const Format& format, bool plain) {
    const std::size_t samples = format.total_bytes() / static_cast<std::size_t>(format.sample_bytes);
    const std::size_t needed = !plain ? raw_bytes(format) : bitmap() ? samples : 2 * samples - 1;
    const std::size_t there = file_.size() - place_;
    if (there < needed) {
      refuse(
          path_,
          fmt::format("cut short: {} x {} pixels need {}{} bytes after the header and {} are there; get the whole file",
                      format.width, format.height, plain ? "at least " : "", needed, there));
    }
  }

  std::int64_t raw_sample() {
    if (full_ == 255) return file_[place_++];
    const std::int64_t high = file_[place_];
    const std::int64_t low = file_[place_ + 1];
    place_ += 2;
    return high * 256 + low;
  }

  bool raw_bit(const Format& format, std::size_t i) const {
    const auto width = static_cast<std::size_t>(format.width);
    const std::size_t column = i % width;
    const unsigned byte = file_[place_ + i / width * ((width + 7) / 8) + column / 8];
    return (byte >> (7 - column % 8) & 1U) != 0;
  }

  // Digits of a plain bitmap need no white space between them.
  bool plain_bit(std::size_t i, std::size_t count) {
    find_sample(i, count);
    const unsigned char digit = file_[place_];
    if (digit != '0' && digit != '1') {
      refuse(path_, fmt::format("byte {} is no pixel of a bitmap; these are the digits 0 and 1", place_));
    }
    ++place_;
    return digit == '1';
  }

  void find_sample(std::size_t i, std::size_t count) {
    skip_space();
    if (place_ >= file_.size()) {
      refuse(path_,
             fmt::format("cut short: the header promises {} samples and {} are there; get the whole file", count, i));
    }
  }

  std::int64_t plain_sample(std::size_t i, std::size_t count) {
    find_sample(i, count);
    const std::int64_t value = number(kMaxSample);
    if (value < 0) {
      refuse(path_,
             fmt::format("byte {} is not part of a number; samples are decimal numbers between white space", place_));
    }
    return value;
  }

  void check_end(std::size_t count) {
    skip_space();
    if (place_ < file_.size()) {
      refuse(path_,
             fmt::format("more stands after the {} samples that the header promises; correct its width and height",
                         count));
    }
  }

  ByteSpan file_;
  const std::string& path_;
  bool start_only_;   // only the start of the file was given
  bool cut_ = false;  // the text ends inside the header
  std::size_t place_ = 0;
  std::int64_t most_ = 255;  // the file's maximum sample value, and the tensor's
  std::int64_t full_ = 255;
};

}  // namespace

bool is_pnm(ByteSpan start) noexcept {
  return start.size() >= 2 && start[0] == 'P' && start[1] >= '1' && start[1] <= '6';
}

std::optional<PnmBytes> pnm_file_bytes(ByteSpan start, const std::string& path) {
  return PnmReader(start, path, true).bytes();
}

Pixels decode_pnm(ByteSpan file, const std::string& path) { return PnmReader(file, path, false).read(); }

Bytes encode_pnm(const Format& format, const unsigned char* data) {
  const std::string header = fmt::format("{}\n{} {}\n{}\n", format.channels == 1 ? "P5" : "P6", format.width,
                                         format.height, format.sample_bytes == 1 ? 255 : 65535);
  Bytes file(header.begin(), header.end());
  const std::size_t total = format.total_bytes();
  if (format.sample_bytes == 1) {
    file.insert(file.end(), data, data + total);
    return file;
  }
  file.reserve(file.size() + total);
  for (std::size_t i = 0; i < total; i += 2) {
    std::uint16_t sample = 0;
    std::memcpy(&sample, data + i, sizeof sample);
    file.push_back(static_cast<unsigned char>(sample >> 8));
    file.push_back(static_cast<unsigned char>(sample & 255));
  }
  return file;
}

}  // namespace oriel::io
