#include "view/layouts/iterate.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "oriel/error.hpp"
#include "view/layouts/layout.hpp"

namespace oriel::detail {
namespace {

std::uint64_t magnitude(SymInt stride) {
  const std::int64_t s = stride.value();
  return s < 0 ? 0 - static_cast<std::uint64_t>(s) : static_cast<std::uint64_t>(s);
}

/// The operand's strides over `shape`: 0 on axes that it lacks or that are broadcast. An axis with extent 1 in both
/// keeps its stride.
Ints effective_strides(const Layout& operand, const Shape& shape) {
  Ints strides(shape.size());
  const std::size_t ahead = shape.size() - operand.rank();
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    if (operand.shape[d] != 1 || shape[ahead + d] == 1) strides[ahead + d] = operand.strides[d];
  }
  return strides;
}

// -1 if axis a is faster than axis b, 1 if it is slower, 0 if undecided. The first operand that decides wins.
int compare(const Shape& shape, std::span<const Ints* const> operands, std::size_t reduced, std::size_t a,
            std::size_t b) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::uint64_t stride_a = magnitude((*operands[k])[a]);
    const std::uint64_t stride_b = magnitude((*operands[k])[b]);
    if (k < reduced && (stride_a == 0) != (stride_b == 0)) return stride_a == 0 ? -1 : 1;
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    // For equal strides the longer axis is slower. If a is not longer, the next operand decides.
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

// An insertion sort that starts from row-major order, as in PyTorch: the comparison is not transitive, so other sorts
// could give other results. In the first `reduced` operands, the outputs of a reduction, axes of stride 0 come first.
Ints sorted_axes(const Shape& shape, std::span<const Ints* const> operands, std::size_t reduced = 0) {
  const std::size_t rank = shape.size();
  Ints order(rank);
  for (std::size_t k = 0; k < rank; ++k) order[k] = rank - 1 - k;
  const auto axis = [&](std::size_t k) { return static_cast<std::size_t>(order[k].value()); };
  for (std::size_t k = 1; k < rank; ++k) {
    std::size_t at = k;
    for (std::size_t below = k; below-- > 0;) {
      const int comparison = compare(shape, operands, reduced, axis(below), axis(at));
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

bool is_row_major(const Ints& order) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] != order.size() - 1 - k) return false;
  }
  return true;
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

IterationPath fast_path(Operands inputs, Operands outputs, const Ints& strides) {
  bool contiguous = true;
  bool channels_last = true;
  bool dense = true;
  bool equal = true;
  each_defined(inputs, outputs, [&](const Layout& operand) {
    contiguous = contiguous && contiguous_branching(operand.shape, operand.strides);
    channels_last = channels_last && operand.rank() == 4 && channels_last_branching(operand.shape, operand.strides);
    equal = equal && operand.strides == strides;
  });
  if (contiguous) return IterationPath::contiguous;
  if (channels_last) return IterationPath::channels_last;
  if (!equal) return IterationPath::general;
  each_defined(inputs, outputs,
               [&](const Layout& operand) { dense = dense && operand.is_non_overlapping_and_dense(); });
  return dense ? IterationPath::non_overlapping_dense : IterationPath::general;
}

// The fast path: every operand occupies one contiguous run of memory, so one loop suffices.
void set_up_fast(Iteration& it, Operands inputs, Operands outputs, const Ints& strides) {
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
  if (loops == 1) it.loop_shape.push_back(numel(it.shape, "iterate"));
  it.loop_strides.assign(inputs.size() + outputs.size(), Ints(loops, SymInt(1)));
}

// Strides of a new output: dense in the order of the loops, fastest first. An extent of 0 is not counted as 1.
Ints dense_in_order(const Shape& shape, const Ints& order) {
  Ints strides(order.size());
  SymInt next = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    strides[k] = next;
    if (k + 1 < order.size()) next *= shape[static_cast<std::size_t>(order[k].value())];
  }
  return strides;
}

Ints permuted(const Ints& ints, const Ints& order) {
  Ints result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[k] = ints[static_cast<std::size_t>(order[k].value())];
  return result;
}

bool can_join(const Shape& shape, const StridesList& strides, std::size_t a, std::size_t b) {
  if (shape[a] == 1 || shape[b] == 1) return true;
  for (const Ints& operand : strides) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[a].value(), operand[a].value(), &reach) || operand[b] != reach) return false;
  }
  return true;
}

// Joins two neighbouring loops if every operand steps evenly from the one into the other.
void join_loops(Shape& shape, StridesList& strides) {
  if (shape.size() <= 1) return;
  std::size_t last = 0;
  const auto keep_strides_of = [&](std::size_t d) {
    for (Ints& operand : strides) operand[last] = operand[d];
  };
  for (std::size_t d = 1; d < shape.size(); ++d) {
    if (can_join(shape, strides, last, d)) {
      if (shape[last] == 1) keep_strides_of(d);
      shape[last] *= shape[d];
      continue;
    }
    if (++last == d) continue;
    keep_strides_of(d);
    shape[last] = shape[d];
  }
  shape.resize(last + 1);
  for (Ints& operand : strides) operand.resize(last + 1);
}

void set_up_loops(Iteration& it) {
  it.loop_shape = permuted(it.shape, it.order);
  join_loops(it.loop_shape, it.loop_strides);
}

Shape common_shape(Operands inputs, Operands outputs, bool& same) {
  Shape shape;
  bool first = true;
  for (const Layout* input : inputs) {
    if (first) {
      shape = input->shape;
      first = false;
    } else if (input->shape != shape) {
      same = false;
      const Shape before = shape;
      if (const auto axis = broadcast_into(shape, input->shape)) {
        throw ShapeError("iterate", "shapes " + to_string(before) + " and " + to_string(input->shape) +
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
    } else if (output->shape != shape) {
      throw ShapeError("iterate", "an output of shape " + to_string(output->shape) + " was provided for a result of " +
                                      to_string(shape) + "; outputs do not broadcast");
    }
  }
  numel(shape, "iterate");
  return shape;
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
  const std::size_t rank = std::max(common.size(), shape.size());
  const auto extent = [&](const Shape& of, std::size_t k) { return k <= of.size() ? of[of.size() - k] : SymInt(1); };
  Shape result(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const SymInt a = extent(common, k);
    const SymInt b = extent(shape, k);
    if (a != b && a != 1 && b != 1) return rank - k;
    result[rank - k] = a == 1 ? b : a;
  }
  common = std::move(result);
  return std::nullopt;
}

Iteration iterate(Operands inputs) {
  static constexpr const Layout* kNew[] = {nullptr};
  return iterate(inputs, kNew);
}

Iteration iterate(Operands inputs, Operands outputs, std::span<const MemoryPlace> places) {
  const Layout* last = last_defined(inputs, outputs);
  if (last == nullptr) throw ArgumentError("iterate", "no operands came; give at least one");
  check_overlap(inputs, outputs, places);
  Iteration it;
  bool same = true;
  it.shape = common_shape(inputs, outputs, same);
  if (same) it.path = fast_path(inputs, outputs, last->strides);
  if (it.path != IterationPath::general) {
    set_up_fast(it, inputs, outputs, last->strides);
    return it;
  }
  for (const Layout* input : inputs) it.effective.push_back(effective_strides(*input, it.shape));

  boost::container::small_vector<const Ints*, 8> voters;
  for (const Layout* output : outputs) {
    if (output != nullptr) voters.push_back(&output->strides);
  }
  for (const Ints& strides : it.effective) voters.push_back(&strides);
  it.order = sorted_axes(it.shape, {voters.data(), voters.size()});

  const bool row_major = is_row_major(it.order);
  for (const Layout* output : outputs) {
    if (output != nullptr) {
      it.outputs.push_back(output->strides);
      it.loop_strides.push_back(permuted(output->strides, it.order));
      continue;
    }
    it.loop_strides.push_back(dense_in_order(it.shape, it.order));
    if (row_major) {
      it.outputs.push_back(contiguous_strides(it.shape));
      continue;
    }
    Ints& strides = it.outputs.emplace_back(it.shape.size());
    for (std::size_t k = 0; k < it.order.size(); ++k) {
      strides[static_cast<std::size_t>(it.order[k].value())] = it.loop_strides.back()[k];
    }
  }
  for (const Ints& strides : it.effective) it.loop_strides.push_back(permuted(strides, it.order));
  set_up_loops(it);
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
  it.shape = input.shape;
  numel(it.shape, "iterate");
  it.effective.push_back(input.strides);
  Ints& output = it.outputs.emplace_back(reduction_layout(input, axes, true).strides);
  for (const SymInt axis : axes) output[static_cast<std::size_t>(axis.value())] = 0;
  const std::array<const Ints*, 2> voters{&output, &it.effective[0]};
  it.order = sorted_axes(it.shape, voters, 1);
  it.loop_strides.push_back(permuted(output, it.order));
  it.loop_strides.push_back(permuted(input.strides, it.order));
  set_up_loops(it);
  return it;
}

Ints iteration_order(const Layout& layout) {
  const std::array<const Ints*, 1> voters{&layout.strides};
  return sorted_axes(layout.shape, voters);
}

}  // namespace oriel::detail
