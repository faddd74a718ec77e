#include "source/cpp/frame.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "oriel/error.hpp"

namespace oriel::source::cpp {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

struct Size {
  std::int64_t bytes;
  std::int64_t alignment;
};

class Sizes {
 public:
  Sizes(std::int64_t tile, std::int64_t rows) : tile_(tile), rows_(rows) {}

  Size of(std::string_view type) const {
    if (type.ends_with('*')) return {8, 8};
    const std::size_t bracket = type.find('<');
    if (bracket == std::string_view::npos) return {element(type), 8};
    const std::string_view name = type.substr(0, bracket);
    const std::vector<std::string_view> list = arguments(type.substr(bracket + 1, type.size() - bracket - 2));
    if (name == "Shifted") return {16, 8};
    if (name == "Tile" && list.size() == 1) return values(list[0], tile_);
    if (name == "Rows" && list.size() == 1) return values(list[0], rows_);
    if (name == "Values" && list.size() == 2) return values(list[0], number(list[1]));
    // Lanes, 64 blocks that wait, three counts.
    if (name == "RowReduction" && list.size() == 2)
      return {rounded((kReductionLanes + 64) * element(list[1]), kAlignment) + kAlignment, kAlignment};
    if (name == "ColumnReduction" && list.size() == 4)
      return {(kReductionLanes + number(list[3])) * values(list[1], number(list[2])).bytes + kAlignment, kAlignment};
    refuse(type);
  }

 private:
  [[noreturn]] static void refuse(std::string_view type) {
    throw InternalError("render", "the size of " + std::string(type) + " in a frame is not known");
  }

  static std::int64_t element(std::string_view type) {
    for (const std::string_view known : {"float", "std::int32_t", "std::uint32_t"})
      if (type == known) return 4;
    for (const std::string_view known : {"double", "std::int64_t", "std::uint64_t", "Int"})
      if (type == known) return 8;
    for (const std::string_view known : {"std::int16_t", "std::uint16_t"})
      if (type == known) return 2;
    for (const std::string_view known : {"bool", "std::int8_t", "std::uint8_t"})
      if (type == known) return 1;
    refuse(type);
  }

  static Size values(std::string_view type, std::int64_t n) {
    return {rounded(n * element(type), kAlignment), kAlignment};
  }

  std::int64_t number(std::string_view text) const {
    if (text == "kTile") return tile_;
    std::int64_t value = -1;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) refuse(text);
    return value;
  }

  // Apart at commas that are in no inner brackets.
  static std::vector<std::string_view> arguments(std::string_view text) {
    std::vector<std::string_view> list;
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] == '<') ++depth;
      if (i < text.size() && text[i] == '>') --depth;
      if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
      std::string_view one = text.substr(from, i - from);
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      list.push_back(one);
      from = i + 1;
    }
    return list;
  }

  std::int64_t tile_;
  std::int64_t rows_;
};

}  // namespace

int tile_length(const std::vector<std::int64_t>& extents, int longest) {
  int best = longest;
  double least = 0;
  for (int length = longest; length >= 16; length /= 2) {
    double cost = 0;
    for (const std::int64_t n : extents) {
      const auto tiles = static_cast<double>((n + length - 1) / length);
      cost += tiles * (length + 24) / static_cast<double>(std::max<std::int64_t>(n, 1));
    }
    if (length == longest || cost < least) {
      best = length;
      least = cost;
    }
  }
  return best;
}

std::int64_t frame_bytes(std::string_view members, std::int64_t tile, std::int64_t rows) {
  const Sizes sizes(tile, rows);
  std::int64_t bytes = 0;
  while (!members.empty()) {
    const std::size_t end = members.find('\n');
    std::string_view line = members.substr(0, end);
    members.remove_prefix(end == std::string_view::npos ? members.size() : end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) continue;
    const Size size = sizes.of(line.substr(0, line.rfind(' ')));
    bytes = rounded(bytes, size.alignment) + size.bytes;
  }
  return std::max(rounded(bytes, kAlignment), kAlignment);
}

}  // namespace oriel::source::cpp
