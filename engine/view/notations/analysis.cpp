// What an access of a layout costs: runs, lines, banks, cycles.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

void check(const AccessModel& model) {
  for (const auto& [what, number] : {std::pair("element_bytes", model.element_bytes),
                                     {"vector", model.vector},
                                     {"lanes", model.lanes},
                                     {"line_bytes", model.line_bytes},
                                     {"banks", model.banks},
                                     {"bank_bytes", model.bank_bytes}}) {
    if (number < 1)
      throw ArgumentError("layout", fmt::format("the model's {} is {}; it has to be positive", what, number));
  }
}

void find_runs(const std::vector<std::int64_t>& positions, Analysis& found) {
  const std::size_t n = positions.size();
  // A run may be used as a vector if each aligned group of that many indices is one: between two groups it may break.
  std::int64_t aligned = 0;  // gcd of the places where a run breaks, and of the size
  std::int64_t run = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const bool goes_on = k > 0 && positions[k] >= 0 && positions[k - 1] >= 0 && positions[k] == positions[k - 1] + 1;
    run = positions[k] < 0 ? 0 : goes_on ? run + 1 : 1;
    found.longest_run = std::max(found.longest_run, run);
    if (!goes_on) aligned = std::gcd(aligned, static_cast<std::int64_t>(k));
  }
  found.vector = std::gcd(aligned, static_cast<std::int64_t>(n));
  if (found.vector == 0 || found.valid != found.size) found.vector = 1;
}

/// One access of a group: the lines and the words of banks from its lowest position on.
struct Group {
  std::int64_t lines = 0;
  std::int64_t bytes = 0;  // distinct
  std::int64_t conflicts = 1;
};

Group examine(std::span<const std::int64_t> positions, const AccessModel& model) {
  std::vector<std::int64_t> distinct;
  for (const std::int64_t position : positions) {
    if (position >= 0) distinct.push_back(position);
  }
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  Group group;
  if (distinct.empty()) return group;
  group.bytes = static_cast<std::int64_t>(distinct.size()) * model.element_bytes;
  std::int64_t line = -1;
  for (const std::int64_t position : distinct) {
    const std::int64_t first = (position - distinct[0]) * model.element_bytes / model.line_bytes;
    const std::int64_t last = ((position - distinct[0] + 1) * model.element_bytes - 1) / model.line_bytes;
    group.lines += last - std::max(line + 1, first) + 1;
    line = last;
  }
  std::unordered_map<std::int64_t, std::int64_t> words;  // of each bank
  std::int64_t before = -1;
  for (const std::int64_t position : distinct) {
    const std::int64_t word = position * model.element_bytes / model.bank_bytes;
    if (word == before) continue;
    before = word;
    group.conflicts = std::max(group.conflicts, ++words[word % model.banks]);
  }
  return group;
}

std::vector<std::int64_t> cycles_of(const std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> lengths;
  std::vector<bool> seen(positions.size());
  for (std::size_t start = 0; start < positions.size(); ++start) {
    std::int64_t length = 0;
    for (std::size_t k = start; !seen[k]; k = static_cast<std::size_t>(positions[k])) {
      seen[k] = true;
      ++length;
    }
    if (length > 0) lengths.push_back(length);
  }
  std::ranges::sort(lengths, std::greater<>());
  return lengths;
}

}  // namespace

Analysis Map::analyze(const AccessModel& model) const {
  check(model);
  const std::vector<std::int64_t> positions = table(kMostIndices);
  Analysis found;
  found.size = static_cast<std::int64_t>(positions.size());
  std::unordered_set<std::int64_t> distinct;
  std::int64_t highest = -1;
  for (const std::int64_t position : positions) {
    if (position < 0) continue;
    found.lowest = found.valid == 0 ? position : std::min(found.lowest, position);
    highest = std::max(highest, position);
    ++found.valid;
    distinct.insert(position);
  }
  found.distinct = static_cast<std::int64_t>(distinct.size());
  found.injective = found.distinct == found.valid;
  found.footprint = found.valid == 0 ? 0 : highest - found.lowest + 1;
  find_runs(positions, found);
  found.lines = examine(positions, model).lines;
  const std::size_t together = static_cast<std::size_t>(model.lanes) * static_cast<std::size_t>(model.vector);
  std::int64_t bytes = 0;
  for (std::size_t first = 0; first < positions.size(); first += together) {
    const Group group =
        examine(std::span(positions).subspan(first, std::min(together, positions.size() - first)), model);
    ++found.groups;
    found.transactions += group.lines;
    found.bank_conflicts = std::max(found.bank_conflicts, group.conflicts);
    bytes += group.bytes;
  }
  if (found.transactions > 0)
    found.coalescing = static_cast<double>(bytes) / static_cast<double>(found.transactions * model.line_bytes);
  if (found.valid == found.size && found.injective && found.lowest == 0 && found.footprint == found.size)
    found.cycles = cycles_of(positions);
  return found;
}

}  // namespace oriel::layouts
