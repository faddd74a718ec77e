// Sizes as numbers for estimates of cost, and conditions as certainties: without guards.
#pragma once

#include <cstdint>
#include <optional>

#include "oriel/symint.hpp"
#include "sym/decide.hpp"

namespace oriel::sym {

/// The size, or its value for the hints if it is symbolic, without a guard. So it may decide how fast a kernel is, but
/// never whether it is right. Throws DataDependentError for a size without a hint.
inline std::int64_t estimate(SymInt n) {
  if (!n.is_symbolic()) [[likely]]
    return n.value();
  const std::optional<std::int64_t> hint = sym::hint(n);
  return hint ? *hint : n.value();
}

/// Does the condition hold for all sizes? False if that is not known, without a guard: for what may be left undone.
inline bool certain(SymBool condition) {
  return condition.is_symbolic() ? known(condition).value_or(false) : static_cast<bool>(condition);
}

}  // namespace oriel::sym
