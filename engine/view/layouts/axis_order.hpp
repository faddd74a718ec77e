// The order of the loops of a joint iteration: the axes of a shape, sorted by the strides of the operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "oriel/layout.hpp"
#include "view/plain.hpp"

namespace oriel::detail {

/// The axis at place k of an order, which is a plain number even if the sizes are symbols.
inline std::size_t axis_at(const Ints& order, std::size_t k) {
  return static_cast<std::size_t>(order[k].representation());
}

/// The numbers in the given order of axes.
inline Ints permuted(const Ints& ints, const Ints& order) {
  Ints result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[k] = ints[axis_at(order, k)];
  return result;
}

inline bool is_row_major(const Ints& order) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (axis_at(order, k) != order.size() - 1 - k) return false;
  }
  return true;
}

/// @{
/// The stride without its sign. On symbols this asks for the sign.
inline std::uint64_t magnitude(Plain stride) {
  const std::int64_t s = stride.value();
  return s < 0 ? 0 - static_cast<std::uint64_t>(s) : static_cast<std::uint64_t>(s);
}
inline SymInt magnitude(SymInt stride) { return or_false(stride < 0) ? -stride : stride; }
/// @}

/// -1 if axis a is faster than axis b, 1 if it is slower, 0 if undecided. The first operand that decides wins.
inline int compare_axes(const Shape& shape, std::span<const Ints* const> operands, std::size_t reduced, std::size_t a,
                        std::size_t b) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto stride_a = magnitude(Plain((*operands[k])[a]));
    const auto stride_b = magnitude(Plain((*operands[k])[b]));
    const bool broadcast_a = stride_a == 0;
    const bool broadcast_b = stride_b == 0;
    if (k < reduced && broadcast_a != broadcast_b) return broadcast_a ? -1 : 1;
    if (broadcast_a || broadcast_b) continue;
    if (stride_a < stride_b) return -1;
    if (stride_a > stride_b) return 1;
    // For equal strides the longer axis is slower. If a is not longer, the next operand decides.
    if (Plain(shape[a]) > Plain(shape[b])) return 1;
  }
  return 0;
}

/// compare_axes on symbols, with as few guards as the answer needs. With `only_slower` only the result 1 is meaningful:
/// -1 and 0 may be confused.
inline int compare_axes_symbolic(const Shape& shape, std::span<const Ints* const> operands, std::size_t reduced,
                                 std::size_t a, std::size_t b, bool only_slower) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const SymInt stride_a = magnitude((*operands[k])[a]);
    const SymInt stride_b = magnitude((*operands[k])[b]);
    if (k < reduced) {
      const bool broadcast_a = or_false(stride_a == 0);
      if (broadcast_a != or_false(stride_b == 0)) return broadcast_a ? -1 : 1;
    }
    if (sym::known(stride_a == 0).value_or(false) || sym::known(stride_b == 0).value_or(false)) continue;
    const SymBool longer = or_false(shape[a] > shape[b]);
    if (sym::known(stride_a == stride_b).value_or(false)) {
      // Equal strides decide only if a is the longer axis and they are not 0.
      if (sym::hint(longer) == true && !or_false(stride_a == 0) && longer) return 1;
      if (sym::hint(longer) == false) static_cast<void>(static_cast<bool>(longer));
      continue;
    }
    const bool last = only_slower && k + 1 == operands.size();
    const SymBool faster = or_false(stride_a < stride_b);
    if (sym::hint(faster) == true && last) return faster ? -1 : 0;
    if (or_false(stride_b == 0)) continue;
    if (sym::hint(stride_a > stride_b) == true) return stride_a > stride_b ? 1 : 0;
    if (or_false(stride_a == 0)) continue;
    if (last) return or_false((stride_a > stride_b) | ((stride_a == stride_b) & longer)) ? 1 : 0;
    if (faster) return -1;
    if (or_false(stride_a > stride_b) || longer) return 1;
  }
  return 0;
}

/// The axes of `shape`, fastest first. The sort is an insertion sort that starts from row-major order, as in PyTorch:
/// the comparison is not transitive, so another sort could give another result. In the first `reduced` operands, the
/// outputs of a reduction, axes of stride 0 come first.
template <Number N>
Ints sorted_axes(const Shape& shape, std::span<const Ints* const> operands, std::size_t reduced = 0) {
  const std::size_t rank = shape.size();
  Ints order(rank);
  for (std::size_t k = 0; k < rank; ++k) order[k] = static_cast<std::int64_t>(rank - 1 - k);
  for (std::size_t k = 1; k < rank; ++k) {
    std::size_t at = k;
    for (std::size_t below = k; below-- > 0;) {
      const std::size_t a = axis_at(order, below);
      const std::size_t b = axis_at(order, at);
      int comparison = 0;
      if constexpr (std::same_as<N, SymInt>) {
        comparison = compare_axes_symbolic(shape, operands, reduced, a, b, below == 0);
      } else {
        comparison = compare_axes(shape, operands, reduced, a, b);
      }
      if (comparison > 0) {
        std::swap(order[below], order[at]);
        at = below;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  return order;
}

}  // namespace oriel::detail
