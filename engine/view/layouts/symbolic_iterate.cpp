#include "view/layouts/symbolic_iterate.hpp"

#include <vector>

#include "view/needed.hpp"

namespace oriel::detail {
namespace {

std::vector<SymInt> numbers_of_iteration(const Iteration& it) {
  std::vector<SymInt> numbers;
  const auto add = [&](const Ints& list) {
    numbers.emplace_back(std::int64_t(list.size()));
    add_numbers(numbers, list);
  };
  for (const Ints* list : {&it.shape, &it.order, &it.loop_shape}) add(*list);
  for (const StridesList* lists : {&it.effective, &it.outputs, &it.loop_strides}) {
    for (const Ints& list : *lists) add(list);
  }
  return numbers;
}

}  // namespace

Iteration iteration_with_needed_guards(const sym::Node* node, const std::function<void(Iteration&)>& work) {
  const auto found = [&] {
    Iteration it;
    work(it);
    return it;
  };
  return sym::with_needed_guards(node, found, numbers_of_iteration, [](const Iteration& a, const Iteration& b) {
    return a.path == b.path && same_numbers(numbers_of_iteration(a), numbers_of_iteration(b));
  });
}

}  // namespace oriel::detail
