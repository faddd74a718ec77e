#include "view/needed.hpp"

#include "sym/decide.hpp"

namespace oriel::detail {

const sym::Node* some_node(const Ints& sizes) {
  for (const SymInt n : sizes) {
    if (n.is_symbolic()) return n.node();
  }
  return nullptr;
}

const sym::Node* some_node(const Ranges& ranges) {
  for (const Range& range : ranges) {
    if (range.lo.is_symbolic()) return range.lo.node();
    if (range.hi.is_symbolic()) return range.hi.node();
  }
  return nullptr;
}

const sym::Node* some_node(const View& view) {
  if (view.offset.is_symbolic()) return view.offset.node();
  return some_node(view.shape, view.strides, view.mask);
}

const sym::Node* some_node(std::span<const View> stack) {
  for (const View& view : stack)
    if (const sym::Node* const node = some_node(view)) return node;
  return nullptr;
}

void add_numbers(std::vector<SymInt>& numbers, const Ints& sizes) {
  numbers.insert(numbers.end(), sizes.begin(), sizes.end());
}

std::vector<SymInt> numbers_of(const View& view) {
  std::vector<SymInt> numbers{view.offset};
  add_numbers(numbers, view.shape);
  add_numbers(numbers, view.strides);
  for (const Range& range : view.mask) numbers.insert(numbers.end(), {range.lo, range.hi});
  return numbers;
}

bool same_view(const View& a, const View& b) { return a.canonical() == b.canonical(); }

bool same_numbers(const std::vector<SymInt>& a, const std::vector<SymInt>& b) {
  if (a.size() != b.size()) return false;
  sym::Conditions equal;
  for (std::size_t k = 0; k < a.size(); ++k) equal.push_back(a[k] == b[k]);
  return sym::all_of({equal.data(), equal.size()});
}

}  // namespace oriel::detail
