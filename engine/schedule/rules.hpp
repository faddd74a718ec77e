// Rewrite rules: data, one a row, each exact in its dtype.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "schedule/arena.hpp"

namespace oriel::schedule {

/// A rule looks at an entry whose sources are final and names what it equals, or nothing. The result must have the
/// entry's shape, dtype and, element for element, its bits (NaN payloads aside).
struct Rule {
  std::string_view name;  // "x*1 -> x": also what ORIEL_RULES_OFF takes
  graph::Op op;
  std::optional<EntryId> (*apply)(Arena& arena, const Entry& entry);
};

/// All rules, grouped by op.
std::span<const Rule> rules();
/// The rules for one op, in the order in which they are tried.
std::span<const Rule> rules_for(graph::Op op);
/// Rules that work on kernels, not on values. They are switched off by name as the others are.
enum class KernelRule : std::uint8_t {
  JoinRows,        // "join rows": kernels that read each other's rows run as one (joined_kernels.hpp)
  RunningSoftmax,  // "running softmax": its maximum and sum are carried from block to block (running_softmax.hpp)
};
inline constexpr int kKernelRules = 2;
std::string_view name(KernelRule rule);
bool enabled(KernelRule rule);

/// False for a rule that set_rule_enabled or ORIEL_RULES_OFF (names with ; between them, or "all") switched off.
bool enabled(const Rule& rule);
/// Throws ArgumentError for an unknown name; "all" means every rule.
void set_rule_enabled(std::string_view name, bool on);
/// Changes with every switch: schedules made under other rules are not reused.
/// Throws ArgumentError where ORIEL_RULES_OFF names an unknown rule.
std::uint64_t rules_version();

}  // namespace oriel::schedule
