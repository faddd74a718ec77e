#include "fuzz/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace oriel::fuzz {
namespace {

// The most entries of a table that is drawn.
constexpr std::size_t kMostCells = 900;

}  // namespace

std::string grouped(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) text.push_back(',');
    text.push_back(digits[k]);
  }
  return text;
}

std::string duration_text(double nanoseconds) {
  if (nanoseconds <= 0) return "-";
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.1f} ms", nanoseconds / 1e6);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string histogram_svg(const std::array<std::uint64_t, kTimeBuckets>& counts) {
  constexpr std::size_t first = 8;  // 16 ns: shorter times only measure the clock itself
  constexpr std::size_t last = 48;  // 16 ms
  constexpr int step = 18;
  constexpr int height = 110;
  std::uint64_t most = 1;
  for (const std::uint64_t count : counts) most = std::max(most, count);
  const double scale = height / std::log10(static_cast<double>(most) * 1.5 + 1);
  std::string svg = fmt::format(R"(<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)",
                                (last - first) * step + 90, height + 26);
  for (std::uint64_t level = 1; level <= most; level *= 10) {
    const double y = height - std::log10(static_cast<double>(level) + 1) * scale;
    svg += fmt::format(
        "<line x1=\"40\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e8ee\"/>"
        "<text x=\"36\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        (last - first) * step + 50, y, y, y + 4,
        level < 1000        ? std::to_string(level)
        : level < 1'000'000 ? fmt::format("{}k", level / 1000)
                            : fmt::format("{}M", level / 1'000'000));
  }
  for (std::size_t b = first; b <= last; ++b) {
    std::uint64_t count = counts[b];
    // Buckets beyond the ends are added to the end bars.
    if (b == first) {
      for (std::size_t k = 0; k < first; ++k) count += counts[k];
    }
    if (b == last) {
      for (std::size_t k = last + 1; k < kTimeBuckets; ++k) count += counts[k];
    }
    const auto x = static_cast<double>((b - first) * step + 44);
    if (count > 0) {
      const double bar = std::max(1., std::log10(static_cast<double>(count) + 1) * scale);
      svg += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"#2f7d6b\"><title>{} merges from {}"
          "</title></rect>",
          x, height - bar, step - 3, bar, grouped(count), duration_text(bucket_start(b)));
    }
    if (b % 4 == 0) {
      svg += fmt::format(R"(<text x="{:.0f}" y="{}">{}</text>)", x, height + 16, duration_text(bucket_start(b)));
    }
  }
  return svg + "</svg>";
}

std::string shares_svg(const std::array<LengthTally, kLongest>& by_length) {
  constexpr int step = 20;
  constexpr int height = 130;
  std::uint64_t most = 1;
  for (const LengthTally& length : by_length) most = std::max(most, length.cases);
  const int width = static_cast<int>(kLongest) * step + 60;
  std::string svg =
      fmt::format(R"(<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)", width, height + 30);
  for (int level = 0; level <= 100; level += 25) {
    const double y = height + 4 - 1.2 * level;
    svg += fmt::format(
        "<line x1=\"40\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e8ee\"/>"
        "<text x=\"36\" y=\"{:.1f}\" text-anchor=\"end\">{}%</text>",
        width - 10, y, y, y + 4, level);
  }
  for (std::size_t k = 0; k < kLongest; ++k) {
    const LengthTally& length = by_length[k];
    if (length.cases == 0) continue;
    const double share = 100. * static_cast<double>(length.one_view) / static_cast<double>(length.cases);
    const double shade =
        .25 + .75 * std::log1p(static_cast<double>(length.cases)) / std::log1p(static_cast<double>(most));
    const int x = static_cast<int>(k) * step + 44;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"#2f7d6b\" fill-opacity=\"{:.2f}\">"
        "<title>length {}{}: {:.2f}% of {} cases</title></rect>"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>",
        x, height + 4 - 1.2 * share, step - 4, 1.2 * share, shade, k + 1, k + 1 == kLongest ? " or more" : "", share,
        grouped(length.cases), x + step / 2 - 2, height + 20, k + 1, k + 1 == kLongest ? "+" : "");
  }
  return svg + "</svg>";
}

std::string index_grid(const Table& table) {
  if (table.at.empty()) return "<p>no index</p>";
  if (table.at.size() > kMostCells) return fmt::format("<p>{} entries: too many to draw</p>", grouped(table.at.size()));
  const std::size_t rank = table.shape.size();
  const std::size_t columns = rank == 0 ? 1 : static_cast<std::size_t>(table.shape[rank - 1]);
  const std::size_t rows = rank < 2 ? 1 : static_cast<std::size_t>(table.shape[rank - 2]);
  std::int64_t least = INT64_MAX;
  std::int64_t greatest = INT64_MIN;
  for (const std::int64_t position : table.at) {
    if (position == kInvalid) continue;
    least = std::min(least, position);
    greatest = std::max(greatest, position);
  }
  std::string html = "<div class=\"grids\">";
  for (std::size_t n = 0; n < table.at.size(); ++n) {
    if (n % (rows * columns) == 0) html += "<table class=\"grid\">";
    if (n % columns == 0) html += "<tr>";
    if (table.at[n] == kInvalid) {
      html += "<td class=\"none\">&middot;</td>";
    } else {
      const double span = std::max(1., static_cast<double>(greatest) - static_cast<double>(least));
      const double depth = (static_cast<double>(table.at[n]) - static_cast<double>(least)) / span;
      html += fmt::format("<td style=\"background:hsl(205,45%,{:.0f}%);color:{}\">{}</td>", 92 - depth * 62,
                          depth > .5 ? "#fff" : "#1c2430", table.at[n]);
    }
    if ((n + 1) % columns == 0) html += "</tr>";
    if ((n + 1) % (rows * columns) == 0) html += "</table>";
  }
  return html + "</div>";
}

}  // namespace oriel::fuzz
