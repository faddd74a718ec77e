#include "cli/shard_page.hpp"

#include <fmt/format.h>

#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kShardStyle = R"style(
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
pre { overflow-x: auto; padding: .7em; border: 1px solid #8884; border-radius: 4px; }
h2 { font: 600 15px ui-monospace, monospace; margin: 1.6em 0 .2em; }
p { margin: .2em 0 .5em; }
.map { display: grid; gap: 1px; width: max-content; max-width: 100%; overflow-x: auto; }
.map i { display: block; width: 22px; height: 22px; font: 10px/22px ui-monospace, monospace; text-align: center; color: #000;
  background: repeating-linear-gradient(45deg, #8883 0 2px, #0000 2px 6px); }
.map .gap { height: 8px; background: none; }
.key span { display: inline-block; padding: 0 .5em; margin-right: .3em; color: #000; }
)style";

std::string escaped_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// Hues as far apart as the golden angle puts them, so that neighbours differ for any number of ranks.
std::string colour(std::int64_t rank) {
  return fmt::format("hsl({:.0f} 70% 72%)", static_cast<double>(rank) * 137.508);
}

/// One colour, or stripes of all.
std::string background(const std::vector<std::int64_t>& ranks) {
  if (ranks.size() == 1) return colour(ranks[0]);
  std::string stops;
  const double share = 100. / static_cast<double>(ranks.size());
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    stops += fmt::format(",{} {:.1f}% {:.1f}%", colour(ranks[k]), static_cast<double>(k) * share,
                         static_cast<double>(k + 1) * share);
  }
  return fmt::format("linear-gradient(90deg{})", stops);
}

std::string map_of(const shards::Sharding& sharding) {
  const std::int64_t positions = numel(sharding.shape()).value();
  std::vector<std::vector<std::int64_t>> holders(static_cast<std::size_t>(positions));
  for (std::int64_t rank = 0; rank < sharding.mesh().ranks(); ++rank) {
    for (const shards::Box& box : sharding.held(rank)) {
      shards::for_each(box, [&](const shards::Row& row) {
        holders[static_cast<std::size_t>(row[shards::kPosition])].push_back(rank);
      });
    }
  }
  const Shape& shape = sharding.shape();
  const std::int64_t columns = shape.empty() ? 1 : shape.back().value();
  const std::int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2].value();
  std::string text = fmt::format("<div class=map style=\"grid-template-columns:repeat({},22px)\">", columns);
  for (std::int64_t position = 0; position < positions; ++position) {
    // Matrices of a tensor of more axes stand below each other.
    if (shape.size() > 2 && position > 0 && position % (rows * columns) == 0) {
      for (std::int64_t k = 0; k < columns; ++k) text += "<i class=gap></i>";
    }
    const auto& ranks = holders[static_cast<std::size_t>(position)];
    std::string names;
    for (const std::int64_t rank : ranks) names += fmt::format("{}{}", names.empty() ? "" : ", ", rank);
    if (ranks.empty()) {
      text += fmt::format("<i title=\"position {}: zero, on no rank\"></i>", position);
    } else {
      text += fmt::format("<i title=\"position {}: rank {}\" style=\"background:{}\">{}</i>", position, names,
                          background(ranks), ranks.size() == 1 ? names : "");
    }
  }
  return text + "</div>";
}

}  // namespace

std::string shard_page(const std::string& program, const std::vector<ShardStep>& steps, const std::string& text) {
  constexpr std::int64_t kMostCells = 1 << 14;
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\n"
      "<title>oriel shard: {0}</title>\n<style>{1}</style>\n<h1>oriel shard</h1>\n<pre>{2}</pre>\n",
      escaped_html(program), kShardStyle, escaped_html(text));
  page += "<p class=key>Ranks: ";
  for (std::int64_t rank = 0; rank < std::min<std::int64_t>(steps[0].sharding.mesh().ranks(), 64); ++rank) {
    page += fmt::format("<span style=\"background:{}\">{}</span>", colour(rank), rank);
  }
  page += "</p>\n";
  for (const ShardStep& step : steps) {
    const std::int64_t positions = numel(step.sharding.shape()).value();
    if (positions > kMostCells) {
      throw ArgumentError("shard",
                          fmt::format("a page of {} positions; it shows tensors of up to {}", positions, kMostCells));
    }
    page += fmt::format("<h2>{}</h2>\n<p>{}{}</p>\n{}\n", escaped_html(step.text), escaped_html(step.sharding.str()),
                        step.transfer ? ", by " + escaped_html(step.transfer->what.str()) : "", map_of(step.sharding));
  }
  return page + "</html>\n";
}

}  // namespace oriel::cli
