// The tensors of a structure as one tensor for each dtype; gradients that are clipped and added up in that form.
#include "functions/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "formula/call.hpp"
#include "graph/movements.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/optim.hpp"
#include "oriel/reduce.hpp"

namespace oriel::api {

namespace {

/// Where the row-major elements of a view begin in its storage, if they lie there one after the other.
std::optional<SymInt> place_of(detail::ViewCell& view) {
  const graph::NodePtr base = graph::iota(view.storage()->shape());
  const graph::NodePtr node = view.over(base);
  std::vector<const graph::Node*> movements;
  for (const graph::Node* n = node.get(); n != base.get(); n = n->sources[0].get()) movements.push_back(n);
  ShapeTracker map(base->shape);
  for (std::size_t k = movements.size(); k-- > 0;) map = graph::moved(map, *movements[k]);
  map = map.simplify();
  if (map.views().size() != 1) return {};
  View only = map.views()[0];
  const SymInt place = std::exchange(only.offset, 0);
  return only.is_contiguous() ? std::optional(place) : std::nullopt;
}

/// The storage of all parts of a group, if they are views of one that has all their elements in order: what `cut` made.
std::optional<Tensor> storage_of(const Group& group, std::span<const Tensor> parts) {
  detail::Storage* const storage = detail::Access::cell(parts[group.members[0]]).storage();
  if (storage->shape().size() != 1 || storage->shape()[0].is_symbolic()) return {};
  SymInt at = 0;
  for (const std::size_t k : group.members) {
    detail::Cell& cell = detail::Access::cell(parts[k]);
    if (cell.storage() != storage || cell.view_cell() == nullptr || numel(cell.shape()).is_symbolic()) return {};
    const std::optional<SymInt> place = place_of(*cell.view_cell());
    if (!place || *place != at) return {};
    at = at + parts[k].numel();
  }
  if (storage->shape()[0] != at) return {};
  return detail::Access::naming(detail::CellPtr(storage));
}

}  // namespace

std::vector<Group> groups_of(std::span<const Tensor> parts) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto same = [&](const Group& group) { return group.dtype == parts[k].dtype(); };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(group, {parts[k].dtype(), {}});
    group->members.push_back(k);
  }
  return groups;
}

Tensor flat(const Group& group, std::span<const Tensor> parts) {
  if (std::optional<Tensor> storage = storage_of(group, parts)) return *std::move(storage);
  std::vector<Tensor> rows;
  for (const std::size_t k : group.members) rows.push_back(parts[k].reshape({-1}));
  return rows.size() == 1 ? rows[0] : concat(rows);
}

void cut(const Group& group, const Tensor& elements, std::span<const Tensor> like, std::vector<Tensor>& out) {
  SymInt first = 0;
  for (const std::size_t k : group.members) {
    const SymInt next = first + like[k].numel();
    out[k] = elements.shrink({{first, next}}).reshape(like[k].shape());
    first = next;
  }
}

void check_like(const char* operation, std::span<const Tensor> parts, std::span<const Tensor> like) {
  if (parts.size() != like.size())
    throw ArgumentError(operation,
                        fmt::format("{} gradients for {} parameters; give one for each", parts.size(), like.size()));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].shape() != like[k].shape())
      throw ShapeError(operation, fmt::format("the gradient of parameter {} is {}; the parameter is {}", k,
                                              to_string(parts[k].shape()), to_string(like[k].shape())));
    if (parts[k].dtype() != like[k].dtype())
      throw DTypeError(operation, fmt::format("the gradient of parameter {} is {}; the parameter is {}", k,
                                              name(parts[k].dtype()), name(like[k].dtype())));
  }
}

void check_floats(const char* operation, std::span<const Tensor> parts) {
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (!is_floating(parts[k].dtype()))
      throw DTypeError(operation, fmt::format("parameter {} is {}; give floats", k, name(parts[k].dtype())));
}

}  // namespace oriel::api

namespace oriel::detail {

using api::by_group;
using api::check_floats;
using api::check_like;
using api::flat;
using api::Group;

std::vector<Tensor> packed(std::span<const Tensor> parts, Site site) {
  const CallSite call(site);
  return by_group(parts, [&](const Group& group) { return flat(group, parts) + 0; });
}

Tensor norm_of(std::span<const Tensor> parts, Site site) {
  const CallSite call(site);
  std::optional<Tensor> total;
  for (const Group& group : api::groups_of(parts)) {
    const Tensor part = sum(square(flat(group, parts).to(api::wide_dtype(group.dtype))));
    total = total ? *total + part : part;
  }
  return total ? sqrt(*total) : scalar(0.0F);
}

std::vector<Tensor> clip_norm(std::span<const Tensor> parts, const Operand& most, Site site) {
  const CallSite call(site);
  check_floats("clip_norm", parts);
  const Tensor factor = minimum(most / (norm_of(parts, site) + 1e-6), 1);
  return by_group(parts, [&](const Group& group) { return flat(group, parts) * factor.to(group.dtype); });
}
std::vector<Tensor> clip_value(std::span<const Tensor> parts, const Operand& most, Site site) {
  const CallSite call(site);
  return by_group(parts, [&](const Group& group) {
    const Tensor x = flat(group, parts);
    return clamp(x, -most, most).to(group.dtype);
  });
}
std::vector<Tensor> accumulate(std::span<const Tensor> sums, std::span<const Tensor> parts, const Operand& share,
                               Site site) {
  const CallSite call(site);
  check_like("accumulate", parts, sums);
  return by_group(sums,
                  [&](const Group& group) { return (flat(group, sums) + share * flat(group, parts)).to(group.dtype); });
}

}  // namespace oriel::detail
