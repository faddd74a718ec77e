#include "fuzz/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace oriel::fuzz {
namespace {

// The most entries of a table that is printed.
constexpr std::size_t kReadable = 400;

std::vector<std::int64_t> positions_of(const Table& table) {
  std::vector<std::int64_t> positions = table.at;
  for (std::int64_t& position : positions) position = position == kInvalid ? -1 : position;
  return positions;
}

std::string commented(std::string_view text) {
  std::string out = "// ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "// ";
  }
  return out;
}

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t n = 0; n < values.size(); ++n) {
    text += n == 0 ? "" : n % 16 == 0 ? ",\n      " : ", ";
    text += std::to_string(values[n]);
  }
  return text;
}

}  // namespace

std::string table_text(std::span<const std::int64_t> positions, const Shape& shape) {
  std::size_t width = 1;
  for (const std::int64_t position : positions) width = std::max(width, fmt::formatted_size("{}", position));
  const std::size_t columns = shape.empty() ? 1 : static_cast<std::size_t>(shape.back().value());
  const std::size_t rows = shape.size() < 2 ? 1 : static_cast<std::size_t>(shape[shape.size() - 2].value());
  std::string text;
  for (std::size_t n = 0; n < positions.size(); ++n) {
    text += fmt::format("{}{:>{}}", n % columns == 0 ? "  " : " ", positions[n], width);
    if ((n + 1) % columns != 0) continue;
    text += '\n';
    if ((n + 1) % (columns * rows) == 0 && n + 1 < positions.size()) text += '\n';
  }
  return text;
}

std::string cpp_program(const Case& c, Kind kind, const Failure& failure) {
  std::string text =
      fmt::format("{}: {}\n#include <cstdio>\n#include <vector>\n\n#include \"oriel/oriel.hpp\"\n\nint main() {{\n",
                  commented(std::string(info(failure.property).name)), commented(failure.seen).substr(3));
  Eager eager;
  Table table;
  std::vector<std::int64_t> positions;
  if (info(checkable_kind(kind, c)).table) {
    eager.run(c, table);
    positions = positions_of(table);
  }
  const bool embed = !positions.empty() && positions.size() <= kReadable;
  const std::string expected = fmt::format(
      "  // The position of each index in row-major order, -1 where there is none.\n"
      "  const std::vector<std::int64_t> expected{{\n      {}}};\n",
      list_text(positions));
  if (failure.property == Property::Kernels) {
    text += tensor_statements(c) + expected;
    text +=
        "  const std::vector<float> got = (x + 0).to_vector<float>();\n"
        "  for (std::size_t n = 0; n < got.size(); ++n) {\n"
        "    if (got[n] != static_cast<float>(expected[n] + 1)) return 1;\n  }\n  return 0;\n}\n";
    return text;
  }
  text += tracker_statements(c);
  text += "  const oriel::ShapeTracker simple = tracker.simplify();\n";
  text += "  std::printf(\"%s\\nsimplified: %s\\n\", tracker.str().c_str(), simple.str().c_str());\n";
  if (embed) {
    text += expected + "  if (simple.table() != expected) return 1;\n";
  } else if (!positions.empty()) {
    text += "  if (simple.table() != tracker.table()) return 1;\n";
  }
  if (!positions.empty() && eager.fit(table))
    text += "  if (!simple.single()) return 1;  // one view says this table\n";
  text += "  if (!(simple.simplify() == simple)) return 1;\n  return 0;\n}\n";
  return text;
}

std::string describe(Kind kind, const Counterexample& smallest, const std::string& found, bool external) {
  const Case& c = smallest.smallest;
  const Failure& broken = smallest.failure;
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} broken: {}\n", info(broken.property).name, info(broken.property).summary);
  fmt::format_to(out, "  {}\n\n", broken.seen);
  fmt::format_to(out, "found {}; smallest of {} tried:\n\n", found, smallest.tried);
  if (info(checkable_kind(kind, c)).table) {
    Eager eager;
    Table table;
    eager.run(c, table);
    Shape shape;
    for (const std::int64_t extent : table.shape) shape.push_back(extent);
    const std::optional<View> fit = eager.fit(table);
    fmt::format_to(out, "table (-1: invalid), {}:\n",
                   fit ? "which is the one view " + fit->str() : "which no single view has");
    if (table.at.size() <= kReadable) {
      fmt::format_to(out, "{}\n", table_text(positions_of(table), shape));
    } else {
      fmt::format_to(out, "  {} entries; `oriel view --table` below lists them\n\n", table.at.size());
    }
  }
  const std::string program = program_text(c);
  fmt::format_to(out, "oriel view:\n  oriel view --table \"{}\"\n\n", program);
  fmt::format_to(out, "JSON (a line of `oriel view --jsonl`, and of a corpus):\n  {}\n\n", json_text(c));
  if (!smallest.program.empty()) fmt::format_to(out, "in the program's own words:\n{}\n\n", smallest.program);
  if (!external) fmt::format_to(out, "C++:\n{}\n", cpp_program(c, kind, broken));
  return fmt::to_string(text);
}

std::string describe(const CampaignFailure& failure, const CampaignOptions& options, const std::string& command) {
  const std::string_view kind = info(failure.kind).name;
  return describe(failure.kind, failure.smallest,
                  fmt::format("in {} case {} of seed {}", kind, failure.number, options.seed), options.external) +
         fmt::format("again:\n  {} --kinds {} --seed {} --sizes {} --skip {} --cases 1\n", command, kind, options.seed,
                     options.most_elements, failure.number);
}

}  // namespace oriel::fuzz
