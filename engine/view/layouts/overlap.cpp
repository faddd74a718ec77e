#include "view/layouts/overlap.hpp"

#include "oriel/error.hpp"

namespace oriel::detail {

Overlap overlap(const Layout& a, const MemoryPlace& at_a, const Layout& b, const MemoryPlace& at_b) {
  if (at_a.storage < 0 || at_a.storage != at_b.storage) return Overlap::none;
  const SymInt count_a = a.numel(), count_b = b.numel();
  if (count_a == 0 || count_b == 0) return Overlap::none;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return Overlap::unknown;
  // Dense layouts have no reversed axis, so index 0 has the lowest position.
  const SymInt end_a = at_a.offset + count_a, end_b = at_b.offset + count_b;
  if (at_a.offset == at_b.offset && end_a == end_b) return a.strides == b.strides ? Overlap::full : Overlap::partial;
  return at_a.offset < end_b && at_b.offset < end_a ? Overlap::partial : Overlap::none;
}

std::optional<std::size_t> repeated_axis(const Layout& layout) {
  if (layout.is_non_overlapping_and_dense()) return std::nullopt;
  for (std::size_t d = 0; d < layout.rank(); ++d)
    if (layout.strides[d] == 0 && layout.shape[d] > 1) return d;
  return std::nullopt;
}

void check_overlap(std::span<const Layout* const> inputs, std::span<const Layout* const> outputs,
                   std::span<const MemoryPlace> places) {
  if (!places.empty() && places.size() != inputs.size() + outputs.size()) {
    throw ArgumentError("iterate", std::to_string(places.size()) + " places came for " +
                                       std::to_string(inputs.size() + outputs.size()) +
                                       " operands; give one per operand, or none");
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] == nullptr) continue;
    const Layout& output = *outputs[o];
    if (const auto axis = repeated_axis(output)) {
      throw ShapeError("iterate",
                       "unsupported operation: more than one element of the written-to tensor refers to a single "
                       "memory location: the output " +
                           output.str() + " has stride 0 on axis " + std::to_string(*axis) +
                           "; give a tensor that holds each element once");
    }
    if (places.empty()) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == outputs[o]) continue;
      const MemoryPlace &to = places[o], &from = places[outputs.size() + i];
      if (overlap(output, to, *inputs[i], from) != Overlap::partial) continue;
      throw ShapeError("iterate",
                       "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                       "single memory location: the output " +
                           output.str() + " at " + to_string(to.offset) + " and input " + std::to_string(i) + ", " +
                           inputs[i]->str() + " at " + to_string(from.offset) +
                           "; they must be the same elements at the same indices, or share none");
    }
  }
}

}  // namespace oriel::detail
