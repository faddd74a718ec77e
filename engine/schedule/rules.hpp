// Rewrite rules: a table with one row for each rule. Each is exact in its dtype, but for factored sums of floats.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "schedule/arena.hpp"
#include "schedule/rule_switches.hpp"

namespace oriel::schedule {

/// A rule looks at an entry whose sources are final. It returns an equal entry, or nothing. The result has the entry's
/// shape and dtype, and the bits of each element, except for the payload of a NaN. One rule multiplies and adds floats
/// in another order (factored_sums.hpp).
struct Rule {
  std::string_view name;  // "x*1 -> x": also what ORIEL_RULES_OFF takes
  graph::Op op;
  std::optional<EntryId> (*apply)(Arena& arena, const Entry& entry);
};

/// All rules, grouped by op.
std::span<const Rule> rules();
/// The rules for one op, in the order in which they are tried.
std::span<const Rule> rules_for(graph::Op op);

}  // namespace oriel::schedule
