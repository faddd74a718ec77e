#include "oriel/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/element_types.hpp"
#include "base/escape.hpp"
#include "base/parts.hpp"
#include "io/file.hpp"
#include "oriel/error.hpp"

namespace oriel {
namespace io {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{1} << 40;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

void check_format(const char* operation, const TextFormat& format) {
  const auto in_number = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
           c == '.' || c == '\n' || c == '\r';
  };
  const char delimiter = format.delimiter, comment = format.comment;
  if (delimiter == 0 || in_number(delimiter) || in_number(comment) || delimiter == comment) {
    throw ArgumentError(operation,
                        fmt::format("\"{}\" separates numbers and \"{}\" begins comments; give two "
                                    "characters that are no part of a number",
                                    base::escaped(std::string(1, delimiter)), base::escaped(std::string(1, comment))));
  }
  if (format.skip < 0) throw ArgumentError(operation, fmt::format("skip is {}; give a number >= 0", format.skip));
}

/// Where a field stands in a file, for errors. Lines and columns are counted from 1.
struct TextPlace {
  const std::string& path;
  std::int64_t line = 0;
  std::int64_t column = 0;

  [[noreturn]] void fail(std::string_view what) const {
    throw IoError("load_text", fmt::format("\"{}\", line {}, column {}: {}", base::escaped(path), line, column, what));
  }
};

/// A number as text, shortened for messages.
std::string shown(std::string_view field) {
  constexpr std::size_t kMost = 40;
  return base::escaped(std::string(field.substr(0, kMost))) + (field.size() > kMost ? "..." : "");
}

/// Of a number that is beyond the range of floats: is it too large? Else it is too small.
bool is_large(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  std::int64_t before_point = 0;  // digits from the first one that is not 0; negative: zeros behind the point
  bool started = false, fraction = false;
  for (const char c : number.substr(0, mark)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    started = started || c != '0';
    before_point += fraction ? (started ? 0 : -1) : (started ? 1 : 0);
  }
  number.remove_prefix(std::min(mark + 1, number.size()));
  if (number.starts_with('+')) number.remove_prefix(1);
  std::int64_t exponent = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), exponent).ec == std::errc::result_out_of_range)
    return !number.starts_with('-');
  return exponent > -before_point;
}

template <class T>
T parsed(std::string_view field, DType dtype, const TextPlace& place) {
  std::string_view digits = field;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);  // from_chars takes no plus
  const char* const end = digits.data() + digits.size();
  T number{};
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error == std::errc::invalid_argument || stop != end)
    place.fail(fmt::format("\"{}\" is no {}; name another delimiter, or skip lines that hold no numbers", shown(field),
                           name(dtype)));
  if (error == std::errc()) return number;
  if constexpr (!std::is_floating_point_v<T>) {
    place.fail(fmt::format("{} is beyond the range of {}", shown(field), name(dtype)));
  } else {  // rounded to infinity or to 0, where from_chars gives nothing
    number = is_large(digits) ? std::numeric_limits<T>::infinity() : T{0};
    return digits[0] == '-' ? -number : number;
  }
}

/// Calls take(field) for each field of a line.
template <class F>
void each_field(std::string_view line, char delimiter, F&& take) {
  if (delimiter != ' ') {
    for (;;) {
      const std::size_t end = line.find(delimiter);
      take(trimmed(line.substr(0, end)));
      if (end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
  }
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    std::size_t end = 0;
    while (end < line.size() && !is_blank(line[end])) ++end;
    take(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// Takes the first line, which ends with LF, CR LF or CR.
std::string_view next_line(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.empty()) text.remove_prefix(text.starts_with("\r\n") ? 2 : 1);
  return line;
}

/// The line's fields; none if it is no row: if it is empty, or nothing stands before its comment.
void find_fields(std::string_view line, const TextFormat& format, std::vector<std::string_view>& fields) {
  fields.clear();
  const std::size_t comment = format.comment == 0 ? std::string_view::npos : line.find(format.comment);
  line = line.substr(0, comment);
  const bool delimited = comment == std::string_view::npos && format.delimiter != ' ' &&
                         line.find(format.delimiter) != std::string_view::npos;  // tabs are blank
  if (delimited || !trimmed(line).empty())
    each_field(line, format.delimiter, [&](std::string_view field) { fields.push_back(field); });
}

/// The columns that are read of rows of so many fields.
std::vector<std::size_t> chosen_columns(const TextFormat& format, std::size_t fields) {
  std::vector<std::size_t> out;
  const auto count = static_cast<std::int64_t>(fields);
  for (const std::int64_t column : format.columns) {
    if (column < -count || column >= count) {
      throw ArgumentError("load_text", fmt::format("column {} is wanted of rows of {}; valid are {} to {}", column,
                                                   count, -count, count - 1));
    }
    out.push_back(static_cast<std::size_t>(column < 0 ? column + count : column));
  }
  for (std::size_t c = 0; format.columns.empty() && c < fields; ++c) out.push_back(c);
  return out;
}

/// What stands for a field that holds no number. Integers hold no NaN: theirs is 0.
template <class T>
T missing_number(double missing, DType dtype) {
  if constexpr (!std::is_floating_point_v<T>) {
    if (std::isnan(missing)) return 0;
    const double end = std::ldexp(1, std::numeric_limits<T>::digits);
    if (std::trunc(missing) != missing || missing >= end || missing < (std::is_signed_v<T> ? -end : 0)) {
      throw ArgumentError("load_text", fmt::format("missing is {}, which is no {}; give a number that it holds, or NaN "
                                                   "for 0",
                                                   missing, name(dtype)));
    }
  }
  return static_cast<T>(missing);
}

/// The numbers of a text as `T`, converted to `dtype` afterwards.
template <class T>
Tensor parse_text(std::string_view text, DType dtype, const TextFormat& format, const std::string& path, Site site) {
  const T missing = missing_number<T>(format.missing, dtype);
  std::vector<T> numbers;
  std::vector<std::string_view> fields;
  std::vector<std::size_t> chosen;
  std::size_t rows = 0, columns = 0;
  TextPlace place{path};
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (++place.line <= format.skip) continue;
    find_fields(line, format, fields);
    if (fields.empty()) continue;
    if (rows++ == 0) {
      columns = fields.size();
      chosen = chosen_columns(format, columns);
    }
    place.column = static_cast<std::int64_t>(std::min(columns, fields.size())) + 1;
    if (fields.size() > columns)
      place.fail(fmt::format("the first row has {} columns; give each row as many", columns));
    if (fields.size() < columns)
      place.fail(fmt::format("the row ends, and the first one has {} columns; give each row as many", columns));
    for (const std::size_t c : chosen) {
      const std::string_view field = fields[c];
      place.column = static_cast<std::int64_t>(c) + 1;
      if (std::ranges::find(format.missing_texts, field) != format.missing_texts.end())
        numbers.push_back(missing);
      else if (!field.empty())
        numbers.push_back(parsed<T>(field, dtype, place));
      else if (format.fill)
        numbers.push_back(missing);
      else
        place.fail("nothing stands between the delimiters; .fill = true takes a number for it");
    }
  }
  return Tensor::from(numbers, {rows, chosen.size()}, site).to(dtype, site);
}

/// The text of a file without the mark of UTF-8 at its start.
std::string_view unmarked(std::string_view text, const std::string& path) {
  if (text.starts_with("\xEF\xBB\xBF")) return text.substr(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw IoError("load_text",
                  fmt::format("\"{}\" begins with the byte order mark of UTF-16; give UTF-8", base::escaped(path)));
  }
  return text;
}

template <class T>
void append_number(std::string& out, T number) {
  char buffer[64];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

template <class T>
std::string text_of(const Tensor& x, const TextFormat& format, std::int64_t columns) {
  std::string out;
  std::string_view header = format.header;
  while (!header.empty()) out.append({format.comment, ' '}).append(next_line(header)).push_back('\n');
  std::int64_t column = 0;
  for (const T number : x.to_vector<T>()) {
    append_number(out, number);
    ++column;
    out.push_back(column == columns ? '\n' : format.delimiter);
    if (column == columns) column = 0;
  }
  return out;
}

}  // namespace
}  // namespace io

Tensor load_text(const std::string& path, DType dtype, const TextFormat& format, Site site) {
  base::need<base::kText>("load_text");
  const detail::CallSite call(site);
  io::check_format("load_text", format);
  try {
    io::Bytes bytes;
    io::InputFile file("load_text", path);
    file.read_rest(bytes, file.size() ? io::kMostTextBytes : io::most_piped_bytes);
    const std::string_view text = io::unmarked({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
    return base::with_element_type(dtype, [&]<class T>() {
      using Number = std::conditional_t<std::same_as<T, bool>, std::int64_t, std::conditional_t<Half<T>, float, T>>;
      return io::parse_text<Number>(text, dtype, format, path, site);
    });
  } catch (const std::bad_alloc&) {
    throw MemoryError("load_text", fmt::format("no memory to read \"{}\"", base::escaped(path)));
  }
}

void save_text(const std::string& path, const Tensor& x, const TextFormat& format, Site site) {
  base::need<base::kText>("save_text");
  const detail::CallSite call(site);
  io::check_format("save_text", format);
  if (!format.header.empty() && format.comment == 0)
    throw ArgumentError("save_text", "the header has no comment character in front, so it would be read as numbers");
  if (x.rank() != 1 && x.rank() != 2) {
    throw ShapeError("save_text",
                     fmt::format("{} has {} axes; give a matrix or a vector", to_string(x.shape()), x.rank()));
  }
  try {
    const std::int64_t columns = x.rank() == 2 ? x.extent(1) : 1;
    const DType dtype = x.dtype();
    std::string text;
    if (dtype == DType::float64)
      text = io::text_of<double>(x, format, columns);
    else if (is_floating(dtype))
      text = io::text_of<float>(x.to(DType::float32, site), format, columns);
    else if (dtype == DType::uint64)
      text = io::text_of<std::uint64_t>(x, format, columns);
    else
      text = io::text_of<std::int64_t>(x.to(DType::int64, site), format, columns);
    io::replace_file("save_text", path, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  } catch (const std::bad_alloc&) {
    throw MemoryError("save_text", fmt::format("no memory to write \"{}\"", base::escaped(path)));
  }
}

}  // namespace oriel
