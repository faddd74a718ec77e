#include "cli/shard_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/words.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

/// The text in front of the first blank, and the rest.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  const std::size_t end = text.find_first_of(" \t");
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), trim(text.substr(end))};
}

/// "4,2,3"; "" and "()" mean no numbers.
Ints shard_numbers(std::string_view text, std::string_view step) {
  if (in_parentheses(text)) text = trim(text.substr(1, text.size() - 2));
  Ints numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : split(text, ",")) numbers.push_back(parse_number(part, step, "shard"));
  return numbers;
}

/// Pairs between blanks, "1,1 0,0", or between commas, "0:2,1:3".
Ranges shard_pairs(std::string_view text, std::string_view step, char between) {
  Ranges pairs;
  for (const std::string_view part : split(text, between == ',' ? " \t" : ", \t")) {
    if (part.empty()) continue;
    const auto ends = split(part, std::string_view(&between, 1));
    if (ends.size() != 2) {
      throw ParseError("shard", fmt::format("'{}' in '{}' is not a pair; write {}", part, step,
                                            between == ',' ? "1,1 0,0: one before,after for each axis"
                                                           : "0:2,1:3: one lo:hi for each axis"));
    }
    pairs.push_back({parse_number(ends[0], step, "shard"), parse_number(ends[1], step, "shard")});
  }
  return pairs;
}

/// "rows=4,cols=2@1 halo 1,1 0,0": the mesh, and which axis each of its axes divides. Without @ the first mesh axis
/// divides the first axis, the next one the second, and those beyond the last axis divide that further.
shards::Sharding placed(const Shape& shape, std::string_view text, std::string_view step) {
  std::vector<shards::MeshAxis> mesh;
  std::vector<shards::AxisShards> axes(shape.size());
  std::vector<std::string> root;
  const std::size_t halo = text.find("halo");
  std::size_t next = 0;
  for (const std::string_view part : split(trim(text.substr(0, halo)), ",")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw ParseError("shard", fmt::format("'{}' in '{}' is no mesh axis; write NAME=SIZE, NAME=SIZE@AXIS, "
                                            "NAME=SIZE@all or NAME=SIZE@root, such as rows=4,cols=2@1",
                                            part, step));
    }
    const std::size_t at = part.find('@');
    const std::string name(trim(part.substr(0, equals)));
    mesh.push_back(
        {name, parse_number(trim(part.substr(equals + 1, at == std::string_view::npos ? at : at - equals - 1)), step,
                            "shard")});
    const std::string_view where = at == std::string_view::npos ? std::string_view() : trim(part.substr(at + 1));
    if (where == "root") {
      root.push_back(name);
    } else if (where == "all") {
      continue;
    } else if (!where.empty() || !shape.empty()) {
      const auto last = static_cast<std::int64_t>(shape.size()) - 1;
      const std::int64_t axis =
          !where.empty() ? parse_number(where, step, "shard") : std::min(static_cast<std::int64_t>(next++), last);
      if (axis < 0 || axis > last) {
        throw ParseError("shard", fmt::format("axis {} in '{}' of a tensor of {} axes", axis, step, shape.size()));
      }
      axes[static_cast<std::size_t>(axis)].mesh_axes.push_back(name);
    }
  }
  if (halo != std::string_view::npos) {
    const Ranges widths = shard_pairs(trim(text.substr(halo + 4)), step, ',');
    if (widths.size() != shape.size()) {
      throw ParseError("shard", fmt::format("{} pairs behind halo in '{}' for {} axes; write one before,after for each",
                                            widths.size(), step, shape.size()));
    }
    for (std::size_t d = 0; d < axes.size(); ++d) {
      axes[d].before = widths[d].lo.value();
      axes[d].after = widths[d].hi.value();
    }
  }
  return shards::Sharding::make(shards::Mesh(std::move(mesh)), shape, axes, root);
}

ShardStep sent_to(const shards::Sharding& from, shards::Sharding to, std::string_view step) {
  ShardTransfer transfer;
  if (from.is_pending()) {
    shards::Reduction plan = plan_reduction(from, to);
    transfer = {plan.what, {std::move(plan.contributions), std::move(plan.sums)}};
  } else {
    transfer.exchanges.emplace_back(from, to);
    transfer.what = recognise(transfer.exchanges[0], sample_of_ranks(from.mesh()));
  }
  return {std::string(step), std::move(to), std::move(transfer)};
}

ShardStep next_step(const shards::Sharding& before, std::string_view step) {
  const auto [word, rest] = first_word(step);
  const auto step_of = [&](shards::Sharding sharding) { return ShardStep{std::string(step), std::move(sharding), {}}; };
  if (word == "reshape") return step_of(before.reshape(shard_numbers(rest, step)));
  if (word == "permute") return step_of(before.permute(shard_numbers(rest, step)));
  if (word == "expand") return step_of(before.expand(shard_numbers(rest, step)));
  if (word == "flip") return step_of(before.flip(shard_numbers(rest, step)));
  if (word == "shrink") return step_of(before.shrink(shard_pairs(rest, step, ':')));
  if (word == "pad") return step_of(before.pad(shard_pairs(rest, step, ',')));
  if (word == "transpose") {
    Ints order;
    for (std::size_t d = before.shape().size(); d-- > 0;) order.push_back(d);
    return step_of(before.permute(order));
  }
  if (word == "sum") {
    const std::int64_t axis = parse_number(rest, step, "shard");
    return step_of(before.sum(axis < 0 ? before.shape().size() : static_cast<std::size_t>(axis)));
  }
  if (word == "to") return sent_to(before, placed(before.shape(), rest, step), step);
  throw ParseError("shard",
                   fmt::format("unknown step '{}' in '{}'; there are reshape, permute, transpose, expand, flip, "
                               "shrink, pad, sum and to",
                               word, step));
}

}  // namespace

std::vector<ShardStep> run_shard_program(std::string_view program) {
  const std::vector<std::string_view> parts = split(program, "|");
  const std::size_t close = parts[0].find(')');
  if (!parts[0].starts_with('(') || close == std::string_view::npos) {
    throw ParseError("shard",
                     fmt::format("'{}' does not begin with a shape in parentheses; write (8,6) rows=4", parts[0]));
  }
  const Shape shape = shard_numbers(parts[0].substr(0, close + 1), parts[0]);
  std::vector<ShardStep> steps;
  steps.push_back({std::string(parts[0]), placed(shape, trim(parts[0].substr(close + 1)), parts[0]), {}});
  for (std::size_t k = 1; k < parts.size(); ++k) {
    if (parts[k].empty()) throw ParseError("shard", "an empty step; between bars stands a movement, sum or to");
    steps.push_back(next_step(steps.back().sharding, parts[k]));
  }
  return steps;
}

}  // namespace oriel::cli
