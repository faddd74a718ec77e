// Which rewrite rules each context uses.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

#include "oriel/context.hpp"

namespace oriel::base {
class ContextState;
}

namespace oriel::schedule {

struct Rule;

/// Rules about kernels, not about values. They are switched off by name, as rules about values are.
enum class KernelRule : std::uint8_t {
  FuseRows,       // "fuse rows": kernels that read each other's rows run as one (fused_kernels.hpp)
  OnlineSoftmax,  // "online softmax": its maximum and sum are carried from block to block (online_softmax.hpp)
};
inline constexpr int kKernelRules = 2;
std::string_view name(KernelRule rule);

/// The rules that are switched off.
class RulesOff {
 public:
  bool has(const Rule& rule) const;
  bool has(KernelRule rule) const { return bits_[static_cast<std::size_t>(rule)]; }
  bool none() const { return bits_.none(); }
  /// Switches all rules of this name; "all" means every rule. Throws ArgumentError, which names the operation, for an
  /// unknown name.
  void set(std::string_view name, bool off, std::string_view operation);

 private:
  std::bitset<128> bits_;  // one for each KernelRule, then one for each row of rules()
};

/// The rules that are off in the context with this number: none if it has ended. Throws as rules_version does.
RulesOff rules_off(std::uint16_t context);
/// 1 while all rules are on. Else a number that changes with every switch and that no other context has, so that
/// nothing made under other rules is reused. 1 for a context that has ended. The first call in a context reads
/// ORIEL_RULES_OFF (names with ; between them, or "all"), and throws ArgumentError if it names an unknown rule.
std::uint64_t rules_version(std::uint16_t context);

/// Reads which rules are off: from `options`, else from ORIEL_RULES_OFF. Does nothing if the context has read them
/// before. Throws ArgumentError for an unknown rule.
void load_rules(base::ContextState& context, const ContextOptions& options = {});
/// Switches rules of the current context. Throws ArgumentError for an unknown name; "all" means every rule.
void set_rule_enabled(std::string_view name, bool on);

}  // namespace oriel::schedule
