#include "oriel/iterate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/build.hpp"
#include "oriel/error.hpp"
#include "view/layouts/iterate.hpp"

namespace oriel {

namespace {

std::string listed(const Ints& ints, const char* separator = ",") {
  std::vector<std::string> values;
  for (const SymInt n : ints) values.push_back(to_string(n));
  return fmt::format("{}", fmt::join(values, separator));
}

Iteration published(detail::Iteration it) {
  Iteration out;
  out.path = detail::name(it.path);
  out.order = std::move(it.order);
  out.strides.assign(it.effective.begin(), it.effective.end());
  for (const Ints& strides : it.outputs) out.outputs.push_back({it.shape, strides});
  out.shape = std::move(it.shape);
  out.loop_shape = std::move(it.loop_shape);
  out.loop_strides.assign(it.loop_strides.begin(), it.loop_strides.end());
  return out;
}

detail::MemoryPlace place_of(const IterationOperand& operand) {
  return operand.offset ? detail::MemoryPlace{0, *operand.offset} : detail::MemoryPlace{};
}

const Layout* checked(const IterationOperand& operand) {
  Layout::make(operand.layout.shape, operand.layout.strides);  // throws if they do not fit together
  return &operand.layout;
}

}  // namespace

Iteration iterate(ListOf<IterationOperand> inputs) {
  static const std::optional<IterationOperand> fresh;
  return iterate(inputs, {&fresh, 1});
}

Iteration iterate(std::span<const IterationOperand> inputs, std::span<const std::optional<IterationOperand>> outputs) {
  std::vector<const Layout*> in;
  std::vector<const Layout*> out;
  std::vector<detail::MemoryPlace> places;
  for (const std::optional<IterationOperand>& operand : outputs) {
    out.push_back(operand ? checked(*operand) : nullptr);
    places.push_back(operand ? place_of(*operand) : detail::MemoryPlace{});
  }
  for (const IterationOperand& operand : inputs) {
    in.push_back(checked(operand));
    places.push_back(place_of(operand));
  }
  return published(detail::iterate(in, out, places));
}

Iteration iterate_reduction(const IterationOperand& input, const Axes& axes, bool keepdim) {
  const Layout& layout = *checked(input);
  Ints reduced;
  if (axes.list()) {
    reduced = graph::normal_axes(*axes.list(), layout.rank(), {.operation = "iterate"});
  } else {
    for (std::size_t d = 0; d < layout.rank(); ++d) reduced.push_back(d);
  }
  Iteration out = published(detail::iterate_reduction(layout, reduced));
  out.outputs = {detail::reduction_layout(layout, reduced, keepdim)};
  return out;
}

std::string Iteration::str() const {
  std::string text = fmt::format("{:<11}({})\n", "shape", listed(shape));
  if (path == "none") {
    for (std::size_t k = 0; k < strides.size(); ++k)
      text += fmt::format("{:<11}({})\n", fmt::format("strides {}", k), listed(strides[k]));
    text += fmt::format("{:<11}{}  (fastest first)\n", "order", listed(order, " "));
  } else {
    text += fmt::format("{:<11}any: all are {}, memory is one run\n", "order",
                        path == "non_overlapping_dense" ? "dense with equal strides" : path);
  }
  text += fmt::format("{:<11}({}) by ({}) <-", "loops", listed(loop_shape), listed(loop_strides[0]));
  for (std::size_t k = 1; k < loop_strides.size(); ++k) text += fmt::format(" ({})", listed(loop_strides[k]));
  return text + '\n';
}

}  // namespace oriel
