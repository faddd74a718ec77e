#include "view/layouts/iterate.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "sym/decide.hpp"
#include "view/layouts/axis_order.hpp"
#include "view/layouts/join_loops.hpp"
#include "view/layouts/layout.hpp"
#include "view/layouts/predicates.hpp"
#include "view/layouts/symbolic_iterate.hpp"
#include "view/needed.hpp"

namespace oriel::detail {
namespace {

// The functions are templates over the kind of integer (view/plain.hpp): Plain if all sizes and strides are plain
// numbers, else SymInt. On symbols a question is asked only if its answer changes the result, and questions that hold
// for all values in range come first, because they record no guard.

template <Number N>
bool equal_sizes(const Ints& a, const Ints& b) {
  if constexpr (std::same_as<N, Plain>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](SymInt x, SymInt y) { return identical(x, y); });
  } else {
    if (a.size() != b.size()) return false;
    return all_axes<SymInt>(a.size(), [&](std::size_t d) { return or_false(a[d] == b[d]); });
  }
}

/// The operand's strides over `shape`: 0 on axes that it lacks or that are broadcast. An axis with extent 1 in both
/// keeps its stride.
template <Number N>
Ints effective_strides(const Layout& operand, const Shape& shape) {
  Ints strides(shape.size());
  const std::size_t ahead = shape.size() - operand.rank();
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    const N own(operand.shape[d]);
    const N common(shape[ahead + d]);
    if constexpr (std::same_as<N, SymInt>) {
      // An axis that is not broadcast keeps its stride whether or not its extent is 1.
      if (sym::known(own == common).value_or(false)) {
        strides[ahead + d] = operand.strides[d];
        continue;
      }
    }
    if (own != 1 || or_false(common == 1)) strides[ahead + d] = operand.strides[d];
  }
  return strides;
}

template <class Visit>
void each_defined(Operands inputs, Operands outputs, Visit&& visit) {
  for (const Layout* output : outputs) {
    if (output != nullptr) visit(*output);
  }
  for (const Layout* input : inputs) visit(*input);
}

// The last operand that is not null, or null.
const Layout* last_defined(Operands inputs, Operands outputs) {
  if (!inputs.empty()) return inputs.back();
  for (std::size_t k = outputs.size(); k-- > 0;) {
    if (outputs[k] != nullptr) return outputs[k];
  }
  return nullptr;
}

template <Number N>
bool contiguous_as(const Layout& operand) {
  if constexpr (std::same_as<N, Plain>) {
    return row_major_as<Plain>(operand.shape, operand.strides) || has_zero_extent_as<Plain>(operand.shape);
  } else {
    const SymBool formula = contiguous_formula(operand.shape, operand.strides);
    if (sym::known(formula).value_or(false)) return true;
    // A negative answer rests on one axis, a positive one on the whole formula.
    if (sym::hint(formula) == false) return contiguous_branching(operand.shape, operand.strides);
    return or_false(formula);
  }
}

// On symbols the answer is one condition, not a branch on each axis.
template <Number N>
bool channels_last_2d_as(const Layout& operand) {
  if constexpr (std::same_as<N, Plain>) {
    return channels_last_as<Plain>(operand.shape, operand.strides);
  } else {
    const SymBool formula = channels_last_formula(operand.shape, operand.strides);
    if (sym::hint(formula) == false) return channels_last_branching(operand.shape, operand.strides);
    return or_false(formula);
  }
}

// Precondition: all operands have the shape of `last`, which is one of them.
template <Number N>
IterationPath fast_path(Operands inputs, Operands outputs, const Layout& last) {
  if constexpr (std::same_as<N, SymInt>) {
    // Each fast path needs `last` to be dense. If it is not for the hints, that alone is the reason.
    const SymBool dense = non_overlapping_and_dense(last.shape, last.strides);
    if (sym::hint(dense) == false && !dense) return IterationPath::general;
  }
  bool contiguous = true;
  bool channels_last = last.rank() == 4;
  bool equal = true;
  each_defined(inputs, outputs, [&](const Layout& operand) {
    contiguous = contiguous && contiguous_as<N>(operand);
    channels_last = channels_last && channels_last_2d_as<N>(operand);
    equal = equal && equal_sizes<N>(operand.strides, last.strides);
  });
  if (contiguous) return IterationPath::contiguous;
  if (channels_last) return IterationPath::channels_last;
  if (!equal || !last.is_non_overlapping_and_dense()) return IterationPath::general;
  return IterationPath::non_overlapping_dense;
}

// The fast path: every operand occupies one contiguous run of memory, so one loop suffices.
void set_up_fast(Iteration& it, SymInt count, Operands inputs, Operands outputs, const Ints& strides) {
  for (const Layout* output : outputs) {
    if (output != nullptr) {
      it.outputs.push_back(output->strides);
    } else if (it.path == IterationPath::contiguous) {
      it.outputs.push_back(contiguous_strides(it.shape));
    } else if (it.path == IterationPath::channels_last) {
      it.outputs.push_back(strides_in_order(it.shape, kChannelsLast));
    } else {
      it.outputs.push_back(strides);
    }
  }
  const std::size_t loops = it.shape.empty() ? 0 : 1;
  if (loops == 1) it.loop_shape.push_back(count);
  it.loop_strides.assign(inputs.size() + outputs.size(), Ints(loops, SymInt(1)));
}

// Strides of a new output: dense in the order of the loops, fastest first. An extent of 0 is not counted as 1.
template <Number N>
Ints dense_in_order(const Shape& shape, const Ints& order) {
  Ints strides(order.size());
  N next = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    strides[k] = next;
    if (k + 1 < order.size()) next *= N(shape[axis_at(order, k)]);
  }
  return strides;
}

template <Number N>
void set_up_loops(Iteration& it) {
  it.loop_shape = permuted(it.shape, it.order);
  join_loops<N>(it.loop_shape, it.loop_strides);
}

template <Number N>
std::optional<std::size_t> broadcast_into_as(Shape& common, const Shape& shape) {
  const std::size_t rank = std::max(common.size(), shape.size());
  const auto extent = [&](const Shape& of, std::size_t k) { return k <= of.size() ? N(of[of.size() - k]) : N(1); };
  Shape result(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const N a = extent(common, k);
    const N b = extent(shape, k);
    if constexpr (std::same_as<N, SymInt>) {
      // Ask first what is known for all values: sizes may depend on data, and then other questions have no answer.
      const bool a_grows = sym::known(a == 1).value_or(false);
      if (a_grows || sym::known(b == 1).value_or(false)) {
        result[rank - k] = a_grows ? b : a;
        continue;
      }
    }
    if (a == b || b == 1) {
      result[rank - k] = a;
    } else if (a == 1) {
      result[rank - k] = b;
    } else {
      return rank - k;
    }
  }
  common = std::move(result);
  return std::nullopt;
}

template <Number N>
Shape common_shape(Operands inputs, Operands outputs, bool& same) {
  Shape shape;
  bool first = true;
  for (const Layout* input : inputs) {
    if (first) {
      shape = input->shape;
      first = false;
    } else if (!equal_sizes<N>(input->shape, shape)) {
      same = false;
      if (const auto axis = broadcast_into_as<N>(shape, input->shape)) {
        throw ShapeError("iterate", "shapes " + to_string(shape) + " and " + to_string(input->shape) +
                                        " differ on axis " + std::to_string(*axis) +
                                        "; aligned at the last axis, extents must agree or be 1");
      }
    }
  }
  for (const Layout* output : outputs) {
    if (output == nullptr) continue;
    if (first) {
      shape = output->shape;
      first = false;
    } else if (!equal_sizes<N>(output->shape, shape)) {
      throw ShapeError("iterate", "an output of shape " + to_string(output->shape) + " was provided for a result of " +
                                      to_string(shape) + "; outputs do not broadcast");
    }
  }
  return shape;
}

template <Number N>
void iterate_as(Iteration& it, Operands inputs, Operands outputs, const Layout& last) {
  bool same = true;
  it.shape = common_shape<N>(inputs, outputs, same);
  const SymInt count = numel(it.shape, "iterate");
  if (same) it.path = fast_path<N>(inputs, outputs, last);
  if (it.path != IterationPath::general) return set_up_fast(it, count, inputs, outputs, last.strides);
  for (const Layout* input : inputs) it.effective.push_back(effective_strides<N>(*input, it.shape));

  InlineVector<const Ints*, 8> voters;
  for (const Layout* output : outputs) {
    if (output != nullptr) voters.push_back(&output->strides);
  }
  for (const Ints& strides : it.effective) voters.push_back(&strides);
  it.order = sorted_axes<N>(it.shape, {voters.data(), voters.size()});

  const bool row_major = is_row_major(it.order);
  for (const Layout* output : outputs) {
    if (output != nullptr) {
      it.outputs.push_back(output->strides);
      it.loop_strides.push_back(permuted(output->strides, it.order));
      continue;
    }
    it.loop_strides.push_back(dense_in_order<N>(it.shape, it.order));
    if (row_major) {
      it.outputs.push_back(contiguous_strides(it.shape));
      continue;
    }
    Ints& strides = it.outputs.emplace_back(it.shape.size());
    for (std::size_t k = 0; k < it.order.size(); ++k) strides[axis_at(it.order, k)] = it.loop_strides.back()[k];
  }
  for (const Ints& strides : it.effective) it.loop_strides.push_back(permuted(strides, it.order));
  set_up_loops<N>(it);
}

void order_reduction(Iteration& it, Ints order) {
  it.order = std::move(order);
  it.loop_strides.push_back(permuted(it.outputs[0], it.order));
  it.loop_strides.push_back(permuted(it.effective[0], it.order));
}

// The loops of a reduction, of which the shape and the strides are set.
template <Number N>
void reduce_as(Iteration& it) {
  const std::array<const Ints*, 2> voters{it.outputs.data(), it.effective.data()};
  order_reduction(it, sorted_axes<N>(it.shape, voters, 1));
  set_up_loops<N>(it);
}

Iteration iterate_symbolic(Operands inputs, Operands outputs, const Layout& last) {
  const sym::Node* node = nullptr;
  each_defined(inputs, outputs, [&](const Layout& operand) {
    if (node == nullptr) node = some_node(operand.shape, operand.strides);
  });
  return iteration_with_needed_guards(node, [&](Iteration& it) { iterate_as<SymInt>(it, inputs, outputs, last); });
}

// The shape of a reduction and the strides of its operands.
void start_reduction(Iteration& it, const Layout& input, const Ints& axes) {
  it.shape = input.shape;
  numel(it.shape, "iterate");
  it.effective.push_back(input.strides);
  Ints& output = it.outputs.emplace_back(reduction_layout(input, axes, true).strides);
  for (const SymInt axis : axes) output[static_cast<std::size_t>(axis.value())] = 0;
}

}  // namespace

std::string_view name(IterationPath path) noexcept {
  switch (path) {
    case IterationPath::contiguous:
      return "contiguous";
    case IterationPath::channels_last:
      return "channels_last";
    case IterationPath::non_overlapping_dense:
      return "non_overlapping_dense";
    default:
      return "none";
  }
}

std::optional<std::size_t> broadcast_into(Shape& common, const Shape& shape) {
  return is_plain(common, shape) ? broadcast_into_as<Plain>(common, shape) : broadcast_into_as<SymInt>(common, shape);
}

Iteration iterate(Operands inputs) {
  static constexpr const Layout* kNew[] = {nullptr};
  return iterate(inputs, kNew);
}

Iteration iterate(Operands inputs, Operands outputs, std::span<const MemoryPlace> places) {
  const Layout* last = last_defined(inputs, outputs);
  if (last == nullptr) throw ArgumentError("iterate", "no operands came; give at least one");
  check_overlap(inputs, outputs, places);
  PlainTest test;
  each_defined(inputs, outputs, [&](const Layout& operand) {
    test.add(operand.shape);
    test.add(operand.strides);
  });
  Iteration it;
  if (test.all_plain()) {
    iterate_as<Plain>(it, inputs, outputs, *last);
  } else {
    it = iterate_symbolic(inputs, outputs, *last);
  }
  return it;
}

Layout reduction_layout(const Layout& input, const Ints& axes, bool keepdim) {
  Shape shape;
  for (std::size_t d = 0; d < input.rank(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), SymInt(d)) != axes.end();
    if (!reduced) shape.push_back(input.shape[d]);
    if (reduced && keepdim) shape.push_back(1);
  }
  return Layout::contiguous(shape);
}

Iteration iterate_reduction(const Layout& input, const Ints& axes) {
  Iteration it;
  start_reduction(it, input, axes);
  if (is_plain(it.shape, input.strides, it.outputs[0])) {
    reduce_as<Plain>(it);
  } else {
    it = iteration_with_needed_guards(some_node(input.shape, input.strides), [&](Iteration& found) {
      start_reduction(found, input, axes);
      reduce_as<SymInt>(found);
    });
  }
  return it;
}

Ints iteration_order(const Layout& layout) {
  const std::array<const Ints*, 1> voters{&layout.strides};
  return is_plain(layout.shape, layout.strides) ? sorted_axes<Plain>(layout.shape, voters)
                                                : sorted_axes<SymInt>(layout.shape, voters);
}

}  // namespace oriel::detail
