#include "io/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/escape.hpp"
#include "oriel/error.hpp"

namespace oriel::io {
namespace {

struct Kind {
  std::string_view code;  // without the byte order
  DType dtype;
  bool complex = false;
};
constexpr std::array kKinds{
    Kind{"b1", DType::bool_},         Kind{"i1", DType::int8},           Kind{"i2", DType::int16},
    Kind{"i4", DType::int32},         Kind{"i8", DType::int64},          Kind{"u1", DType::uint8},
    Kind{"u2", DType::uint16},        Kind{"u4", DType::uint32},         Kind{"u8", DType::uint64},
    Kind{"f2", DType::float16},       Kind{"f4", DType::float32},        Kind{"f8", DType::float64},
    Kind{"c8", DType::float32, true}, Kind{"c16", DType::float64, true},
};

/// Parses the subset of Python that the format's dictionaries use.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader run() {
    NpyHeader header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        const Kind& elements = kind();
        header.dtype = elements.dtype;
        header.complex = elements.complex;
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = extents();
      } else {
        fail(fmt::format("the header's key '{}' is unknown or comes twice", shown(key)));
      }
      if (!take(',') && look() != '}') fail("the header is no dictionary of descr, fortran_order and shape");
    }
    skip();
    if (at_ != text_.size()) fail("the header goes on behind its dictionary");
    if (!descr || !order || !shape) fail("the header lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { refuse_npy(path_, what); }
  // A word of the header for a message: words may have any length and any bytes.
  static std::string shown(std::string_view word) {
    constexpr std::size_t kMost = 40;
    return base::escaped(word.substr(0, kMost)) + (word.size() > kMost ? "..." : "");
  }
  /// White space, and comments from # to the end of the line.
  void skip() {
    constexpr std::string_view kSpace = " \t\n\r\f";
    while (at_ < text_.size() && (text_[at_] == '#' || kSpace.find(text_[at_]) != std::string_view::npos))
      at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
  }
  char look() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (look() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("the header has no '{}' where one belongs", c));
  }

  std::string_view quoted() {
    const char quote = look();
    if (quote != '\'' && quote != '"') fail("the header is no dictionary of descr, fortran_order and shape");
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a string in the header does not end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  const Kind& kind() {
    if (look() == '[') fail("the elements are records; save one field at a time");
    const std::string_view code = quoted();
    const bool ordered = std::string_view("<>=|").find(code.substr(0, 1)) != std::string_view::npos && !code.empty();
    const std::string_view word = code.substr(ordered ? 1 : 0);
    for (const Kind& known : kKinds) {
      if (known.code != word) continue;
      if (code[0] == '>' && itemsize(known.dtype) > 1) {
        fail(fmt::format("elements are big-endian ('{}'); save x.astype('<{}')", code, word));
      }
      return known;
    }
    fail(
        fmt::format("elements of '{}' have no dtype here; bool, integers, float16, float32, float64, complex64 and "
                    "complex128 are read",
                    shown(code)));
  }

  bool boolean() {
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      skip();
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail("fortran_order is neither True nor False");
  }

  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> out;
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t extent = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) fail("an extent of the shape is no number from 0 to 2^63 - 1");
      at_ += static_cast<std::size_t>(end - begin);
      if (text_.substr(at_, 1) == "L") ++at_;  // Python 2 wrote long integers with this suffix
      out.push_back(extent);
      if (!take(',') && look() != ')') fail("the shape is no tuple");
    }
    return out;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& path) { return HeaderReader(text, path).run(); }

Bytes npy_header(const NpyHeader& header) {
  std::string_view code;
  for (const Kind& kind : kKinds) {
    if (kind.dtype == header.dtype && kind.complex == header.complex) code = kind.code;
  }
  std::string shape;
  for (const std::int64_t extent : header.shape) shape += fmt::format("{}, ", extent);
  if (header.shape.size() > 1) shape.resize(shape.size() - 2);
  if (header.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}", itemsize(header.dtype) == 1 ? '|' : '<',
                  code, header.fortran ? "True" : "False", shape);
  constexpr std::size_t kAlign = 64;
  const bool large = text.size() + kAlign > 65535;
  const std::size_t before = large ? 12 : 10;
  text.append((kAlign - (before + text.size() + 1) % kAlign) % kAlign, ' ');
  text += '\n';
  Bytes out{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<unsigned char>(large ? 2 : 1), 0};
  for (std::size_t k = 0; k < before - 8; ++k) out.push_back(static_cast<unsigned char>(text.size() >> (8 * k)));
  out.insert(out.end(), text.begin(), text.end());
  return out;
}

void refuse_npy(const std::string& path, std::string_view what) {
  throw IoError("read_npy", fmt::format("\"{}\": {}", base::escaped(path), what));
}

}  // namespace oriel::io
