// Joins the loops of a joint iteration where all operands step evenly from one loop into the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "view/layouts/iterate.hpp"
#include "view/plain.hpp"

namespace oriel::detail {

/// On symbols: every operand steps evenly from loop a into loop b, for all values in range.
inline bool steps_evenly(SymInt extent, const StridesList& strides, std::size_t a, std::size_t b) {
  return std::all_of(strides.begin(), strides.end(), [&](const Ints& operand) {
    return sym::known(operand[b] == extent * operand[a]).value_or(false);
  });
}

/// The same as a decision; also true if one of the loops has extent 1.
inline bool can_join_symbolic(const Shape& shape, const StridesList& strides, std::size_t a, std::size_t b) {
  const SymInt extent = shape[a];
  if (or_false(extent == 1) || or_false(shape[b] == 1)) return true;
  sym::Conditions even;
  for (const Ints& operand : strides) even.push_back(or_false(operand[b] == extent * operand[a]));
  return sym::all_of({even.data(), even.size()});
}

/// The same on plain numbers. A product beyond 64 bits equals no stride.
inline bool can_join_plain(const Shape& shape, const StridesList& strides, std::size_t a, std::size_t b) {
  const Plain extent(shape[a]);
  if (extent == 1 || Plain(shape[b]) == 1) return true;
  for (const Ints& operand : strides) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(extent.value(), operand[a].value(), &reach)) return false;
    if (operand[b].value() != reach) return false;
  }
  return true;
}

/// Joins two neighbouring loops if every operand steps evenly from the one into the other.
template <Number N>
void join_loops(Shape& shape, StridesList& strides) {
  if (shape.size() <= 1) return;
  std::size_t last = 0;
  const auto keep_strides_of = [&](std::size_t d) {
    for (Ints& operand : strides) operand[last] = operand[d];
  };
  for (std::size_t d = 1; d < shape.size(); ++d) {
    bool joins = false;
    if constexpr (std::same_as<N, SymInt>) {
      // With extent 1 the strides of both loops are then equal, so either may be kept.
      if (steps_evenly(shape[last], strides, last, d)) {
        shape[last] = shape[last] * shape[d];
        continue;
      }
      joins = can_join_symbolic(shape, strides, last, d);
    } else {
      joins = can_join_plain(shape, strides, last, d);
    }
    if (joins) {
      if (or_false(N(shape[last]) == 1)) keep_strides_of(d);
      shape[last] = N(shape[last]) * N(shape[d]);
      continue;
    }
    if (++last == d) continue;
    keep_strides_of(d);
    shape[last] = shape[d];
  }
  shape.resize(last + 1);
  for (Ints& operand : strides) operand.resize(last + 1);
}

}  // namespace oriel::detail
