// Density of symbolic layouts. If it is known for all values, the answer is a bool; else it is one opaque condition.
#include <algorithm>
#include <optional>
#include <vector>

#include "oriel/inline_vector.hpp"
#include "sym/build.hpp"
#include "sym/environment.hpp"
#include "view/layouts/density_predicate.hpp"
#include "view/layouts/layout.hpp"

namespace oriel::detail {
namespace {

// Density of numbers: `numbers` holds the sizes, then the strides.
bool dense_numbers(std::span<const std::int64_t> numbers) {
  const auto half = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  return non_overlapping_and_dense(Shape(numbers.begin(), half), Ints(half, numbers.end()));
}

// True where a layout surely has indices and an axis of several positions, but no such axis has a stride that may be 1,
// or two have equal strides, or one has none above 0.
bool surely_sparse(std::span<const sym::Expr> sizes, std::span<const sym::Expr> strides) {
  const auto has_indices = [](sym::Expr size) { return size->bounds.lo >= 1; };
  if (!std::all_of(sizes.begin(), sizes.end(), has_indices)) return false;
  bool may_have_stride_one = false;
  bool has_extent = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d]->is_constant(1)) continue;
    may_have_stride_one |= strides[d]->bounds.contains(1);
    if (sizes[d]->bounds.lo < 2) continue;
    has_extent = true;
    if (strides[d]->bounds.hi <= 0) return true;
    for (std::size_t other = 0; other < d; ++other) {
      if (strides[other] == strides[d] && sizes[other]->bounds.lo >= 2) return true;
    }
  }
  return has_extent && !may_have_stride_one;
}

// What the expressions show of density. True where a size is 0, or each stride is the product of the sizes of faster
// axes in some order of the axes.
std::optional<bool> dense_form(std::span<const sym::Expr> expressions) {
  const std::size_t rank = expressions.size() / 2;
  const auto sizes = expressions.first(rank);
  const auto strides = expressions.subspan(rank);
  if (std::any_of(sizes.begin(), sizes.end(), [](sym::Expr size) { return size->is_constant(0); })) return true;
  if (surely_sparse(sizes, strides)) return false;
  InlineVector<std::size_t, 8> left;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!sizes[d]->is_constant(1)) left.push_back(d);
  }
  sym::Expr expected = expressions.front()->pool->constant(1);
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](std::size_t d) { return strides[d] == expected; });
    if (next == left.end()) return std::nullopt;
    expected = sym::mul(expected, sizes[*next]);
    left.erase(next);
  }
  return true;
}

bool known_true(sym::Environment& environment, SymBool condition) {
  return environment.known(sym::expression_in(environment, condition)).value_or(false);
}

// True if the strides are known to be dense in some order of axes. Finds the order from the fastest axis on.
bool known_dense_in_some_order(sym::Environment& environment, const Shape& shape, const Ints& strides) {
  InlineVector<std::size_t, 8> left;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!known_true(environment, shape[d] == 1)) left.push_back(d);
  }
  SymInt expected = 1;
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(),
                                   [&](std::size_t d) { return known_true(environment, strides[d] == expected); });
    if (next == left.end()) return false;
    expected *= shape[*next];
    left.erase(next);
  }
  return true;
}

}  // namespace

sym::Expr density_predicate(std::span<const sym::Expr> sizes_and_strides) {
  return sym::predicate(kDensityPredicate, dense_numbers, sizes_and_strides, dense_form);
}

SymBool symbolic_density(const Shape& shape, const Ints& strides) {
  const sym::Node* first = nullptr;
  for (const Ints* list : {&shape, &strides}) {
    for (const SymInt n : *list) {
      if (n.is_symbolic()) first = n.node();
    }
  }
  sym::Environment& environment = sym::environment_of(first);
  if (known_true(environment, contiguous_formula(shape, strides)) ||
      known_true(environment, channels_last_formula(shape, strides)) ||
      known_dense_in_some_order(environment, shape, strides)) {
    return true;
  }
  std::vector<sym::Expr> arguments;
  for (const Ints* list : {&shape, &strides}) {
    for (const SymInt n : *list)
      arguments.push_back(environment.knowledge.replaced(sym::expression_in(environment, n)));
  }
  const sym::Expr condition = density_predicate(arguments);
  if (environment.symbols.has_unbacked(condition)) return false;
  return sym::make_condition(condition);
}

}  // namespace oriel::detail
