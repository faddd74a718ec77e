// Procedures on symbolic views and layouts that keep only the guards on which their results rest (sym/needed.hpp).
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oriel/view.hpp"
#include "sym/needed.hpp"
#include "view/canonical.hpp"

namespace oriel::detail {

/// @{
/// An expression among the sizes, by which their environment is found; null if there is none.
const sym::Node* some_node(const Ints& sizes);
const sym::Node* some_node(const Ranges& ranges);
const sym::Node* some_node(const View& view);
const sym::Node* some_node(std::span<const View> stack);
template <class First, class... Rest>
const sym::Node* some_node(const First& first, const Rest&... rest) {
  const sym::Node* const node = some_node(first);
  if constexpr (sizeof...(rest) > 0) return node != nullptr ? node : some_node(rest...);
  return node;
}
/// @}

void add_numbers(std::vector<SymInt>& numbers, const Ints& sizes);
std::vector<SymInt> numbers_of(const View& view);
/// Whether the views are the same map. Both are made canonical first: what is known now may say more than it did.
bool same_view(const View& a, const View& b);
/// Whether the numbers are equal.
bool same_numbers(const std::vector<SymInt>& a, const std::vector<SymInt>& b);

/// The view that `work` finds.
template <class Work>
View view_with_needed_guards(const sym::Node* n, const Work& work) {
  return sym::with_needed_guards(n, work, numbers_of, same_view);
}

/// The view that `work` finds, or that there is none.
template <class Work>
std::optional<View> view_if_any_with_needed_guards(const sym::Node* n, const Work& work) {
  return sym::with_needed_guards(
      n, work, [](const std::optional<View>& view) { return view ? numbers_of(*view) : std::vector<SymInt>(); },
      [](const std::optional<View>& a, const std::optional<View>& b) {
        return a.has_value() == b.has_value() && (!a || same_view(*a, *b));
      });
}

}  // namespace oriel::detail
