#include "view/layouts/predicates.hpp"

#include <algorithm>

#include "sym/decide.hpp"
#include "sym/environment.hpp"
#include "view/canonical.hpp"
#include "view/layouts/layout.hpp"
#include "view/needed.hpp"

namespace oriel::detail {
namespace {

// On symbols this is one condition, on the element count.
SymBool is_empty(const Shape& shape) {
  if (is_symbolic(shape)) return numel(shape) == 0;
  return std::any_of(shape.begin(), shape.end(), [](SymInt extent) -> bool { return extent == 0; });
}

// One condition for each axis: its extent is 1, or its stride is that of a dense layout in this order of axes.
sym::Conditions dense_conditions(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  sym::Conditions dense;
  SymInt expected = 1;
  for (const std::size_t d : order) {
    dense.push_back((shape[d] == 1) | (strides[d] == expected));
    expected = times(expected, shape[d]);
  }
  return dense;
}

SymBool conjunction(const sym::Conditions& conditions) {
  SymBool all = true;
  for (const SymBool condition : conditions) all = all & condition;
  return all;
}

// The axes of a row-major layout, fastest first.
InlineVector<std::size_t, 8> row_major_order(std::size_t rank) {
  InlineVector<std::size_t, 8> order(rank);
  for (std::size_t k = 0; k < rank; ++k) order[k] = rank - 1 - k;
  return order;
}

// The answer of a predicate on symbols where its branches need not be walked; a trace walks them all. If the formula
// has the same value for all sizes in range, that is the answer. If it is false for the hints, it rests on one axis
// (and on `empty`), so one guard suffices; branches would record one for each axis up to that one.
std::optional<bool> settled(SymBool empty, const sym::Conditions& dense) {
  const SymBool formula = empty | conjunction(dense);
  if (!formula.is_symbolic()) return static_cast<bool>(formula);
  if (sym::environment_of(formula.node()).options.mode == ShapeEnv::Mode::trace) return std::nullopt;
  if (const auto known = sym::known(formula)) return *known;
  if (sym::hint(formula).value_or(true)) return std::nullopt;
  return empty || sym::all_of({dense.data(), dense.size()});
}

}  // namespace

bool dense_branching(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  return is_plain(shape, strides) ? dense_as<Plain>(shape, strides, order) : dense_as<SymInt>(shape, strides, order);
}

SymBool dense_formula(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  return conjunction(dense_conditions(shape, strides, order));
}

namespace {

[[gnu::noinline]] bool contiguous_symbolic(const Shape& shape, const Ints& strides) {
  return sym::with_needed_guards(some_node(shape, strides), [&] {
    const auto order = row_major_order(shape.size());
    const SymBool empty = is_empty(shape);
    const sym::Conditions dense = dense_conditions(shape, strides, {order.data(), order.size()});
    if (const auto answer = settled(empty, dense)) return *answer;
    return empty || row_major_as<SymInt>(shape, strides);
  });
}

}  // namespace

bool contiguous_branching(const Shape& shape, const Ints& strides) {
  if (!is_plain(shape, strides)) return contiguous_symbolic(shape, strides);
  return has_zero_extent_as<Plain>(shape) || row_major_as<Plain>(shape, strides);
}

SymBool contiguous_formula(const Shape& shape, const Ints& strides) {
  const auto order = row_major_order(shape.size());
  return is_empty(shape) | dense_formula(shape, strides, {order.data(), order.size()});
}

namespace {

// Empty for ranks without a channels-last format.
std::span<const std::size_t> channels_last_order(std::size_t rank) {
  if (rank == 4) return kChannelsLast;
  return rank == 5 ? std::span<const std::size_t>(kChannelsLast3d) : std::span<const std::size_t>();
}

[[gnu::noinline]] bool channels_last_symbolic(const Shape& shape, const Ints& strides) {
  const auto order = channels_last_order(shape.size());
  if (order.empty()) return false;
  return sym::with_needed_guards(some_node(shape, strides), [&] {
    if (const auto answer = settled(false, dense_conditions(shape, strides, order))) return *answer;
    return dense_as<SymInt>(shape, strides, order);
  });
}

}  // namespace

bool channels_last_branching(const Shape& shape, const Ints& strides) {
  return is_plain(shape, strides) ? channels_last_as<Plain>(shape, strides) : channels_last_symbolic(shape, strides);
}

SymBool channels_last_formula(const Shape& shape, const Ints& strides) {
  // Branching on the rank is fine: it is a plain number even if sizes are symbolic.
  const auto order = channels_last_order(shape.size());
  return order.empty() ? SymBool(false) : dense_formula(shape, strides, order);
}

namespace {

template <Number N>
bool dense_when_sorted_as(const Shape& shape, const Ints& strides) {
  if (shape.size() == 1) return N(shape[0]) < 2 || N(strides[0]) == 1;
  InlineVector<std::size_t, 8> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (N(shape[d]) >= 2) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return N(strides[a]) < N(strides[b]); });
  return dense_as<N>(shape, strides, {order.data(), order.size()});
}

// Dense in one of the usual orders of axes, or in the order of the strides.
template <Number N>
bool dense_in_some_order(const Shape& shape, const Ints& strides) {
  if (has_zero_extent_as<N>(shape) || row_major_as<N>(shape, strides)) return true;
  return channels_last_as<N>(shape, strides) || dense_when_sorted_as<N>(shape, strides);
}

}  // namespace

bool dense_when_sorted(const Shape& shape, const Ints& strides) {
  return is_plain(shape, strides) ? dense_when_sorted_as<Plain>(shape, strides)
                                  : dense_when_sorted_as<SymInt>(shape, strides);
}

SymBool non_overlapping_and_dense(const Shape& shape, const Ints& strides) {
  if (is_plain(shape, strides)) return dense_in_some_order<Plain>(shape, strides);
  if (!is_symbolic(shape) && !is_symbolic(strides)) return dense_in_some_order<SymInt>(shape, strides);
  return symbolic_density(shape, strides);
}

namespace {

// like_channels_last as one conjunction of conditions. The loop on plain numbers tests for extents above 1. Here the
// product is taken anyway: no extent is 0, and a product with 1 changes nothing.
[[gnu::noinline]] bool like_channels_last_symbolic(const Shape& shape, const Ints& strides,
                                                   std::span<const std::size_t> order) {
  sym::Conditions like{(strides[1] == 0).negated()};
  SymInt least = 0;
  for (const std::size_t d : order) {
    like.push_back((shape[d] == 0).negated());
    like.push_back(strides[d] >= least);
    if (d == 0) like.push_back((least == strides[1]).negated());
    least = times(strides[d], shape[d]);
  }
  return sym::with_needed_guards(some_node(shape, strides), [&] { return sym::all_of({like.data(), like.size()}); });
}

}  // namespace

bool like_channels_last(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  if (shape.size() != order.size()) return false;
  if (!is_plain(shape, strides)) return like_channels_last_symbolic(shape, strides, order);
  const Plain channels(strides[1]);
  if (channels == 0) return false;
  Plain least = 0;
  for (const std::size_t d : order) {
    const Plain extent(shape[d]);
    const Plain stride(strides[d]);
    if (extent == 0 || stride < least) return false;
    // Shape (N, 1, 1, 1) with equal strides may also be a contiguous tensor, or one that was cut along its last axis.
    if (d == 0 && least == channels) return false;
    least = extent > 1 ? times(stride, extent) : stride;
  }
  return true;
}

Ints strides_in_order(const Shape& shape, std::span<const std::size_t> order) {
  Ints strides(shape.size());
  SymInt next = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    strides[order[k]] = next;
    if (k + 1 < order.size()) next *= shape[order[k]];
  }
  return strides;
}

}  // namespace oriel::detail
