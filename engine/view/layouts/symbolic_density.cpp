// Density of symbolic layouts. If it is known for all values, the answer is a bool; else it is one opaque condition.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <vector>

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

bool known_true(sym::Environment& environment, SymBool condition) {
  return environment.known(sym::expression_in(environment, condition)).value_or(false);
}

// True if the strides are known to be dense in some order of axes. Finds the order from the fastest axis on.
bool known_dense_in_some_order(sym::Environment& environment, const Shape& shape, const Ints& strides) {
  boost::container::small_vector<std::size_t, 8> left;
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
  return sym::predicate(kDensityPredicate, dense_numbers, sizes_and_strides);
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
  if (environment.has_unbacked(condition)) return false;
  return sym::make_condition(condition);
}

}  // namespace oriel::detail
