#include "schedule/inlining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "oriel/error.hpp"
#include "view/stacks/index_maps.hpp"

namespace oriel::schedule {

using graph::Op;

bool Budget::limited(KernelId k) const {
  const FusionLimits& limits = FormingPart::limits(kernel(k));
  return limits.arguments < FusionLimits::kUnlimited || limits.parameters < FusionLimits::kUnlimited;
}

void Budget::need(EntryId v, KernelId k) {
  if (!limited(k) || (is_number(v) && !is_parameter(v)) || !needed_.insert(pair(v, k)).second) return;
  ++(is_parameter(v) ? kernel(k).parameters : kernel(k).open);
}

void Budget::turn(EntryId v, std::span<const Use> uses) {
  KernelId last = -1;
  for (const Use& p : uses) {
    if (p.kernel == last) continue;
    last = p.kernel;
    if (!is_parameter(v) && needed_.contains(pair(v, p.kernel))) --kernel(p.kernel).open;
  }
}

void Budget::load(EntryId v, KernelId k) {
  if (limited(k) && loaded_.insert(pair(v, k)).second) ++kernel(k).loads;
}

bool Budget::room(KernelId k, EntryId v, int outputs) const {
  if (!limited(k)) return true;
  const FusionLimits& limits = FormingPart::limits(kernel(k));
  int buffers = kernel(k).loads + kernel(k).open + static_cast<int>(kernel(k).outputs.size()) + outputs;
  int parameters = kernel(k).parameters;
  const Entry& e = arena_[v];
  for (int s = 0; s < e.arity; ++s) {
    const EntryId source = e.source[s];
    if (std::find(e.source, e.source + s, source) != e.source + s || needed_.contains(pair(source, k))) continue;
    if (is_parameter(source))
      ++parameters;
    else if (!is_number(source))
      ++buffers;
  }
  return buffers <= limits.arguments && parameters <= limits.parameters;
}

std::string Budget::full(KernelId k) const {
  const FusionLimits& limits = FormingPart::limits(kernel(k));
  return fmt::format("its kernel has as many arguments as the device takes ({} buffers, {} numbers)", limits.arguments,
                     limits.parameters);
}

KernelId Inliner::new_kernel(EntryId root, const Shape& domain) {
  Kernel& fresh = graph_.kernels.emplace_back();
  fresh.root = root;
  fresh.root_shape = domain;
  fresh.device = arena_.device(root);
  return static_cast<KernelId>(graph_.kernels.size() - 1);
}

void Inliner::add_use(EntryId v, KernelId k, ScopeId scope, MapId map) {
  auto& list = uses(v);
  const Use use{k, scope, map, -1};
  if (!list.empty() && same_use(list.back(), use)) return;
  list.push_back(use);
  budget_.need(v, k);
}

std::int32_t Inliner::add_instance(KernelId k, const Instance& instance) {
  auto& list = kernel(k).instances;
  list.push_back(instance);
  return static_cast<std::int32_t>(list.size() - 1);
}

// Kernels are formed in ascending order, so the uses mostly are sorted already.
void Inliner::sort(EntryId v) {
  auto& list = uses(v);
  if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
}

void Inliner::settle(EntryId v) {
  auto& list = uses(v);
  sort(v);
  list.erase(std::unique(list.begin(), list.end(), same_use), list.end());
  const std::size_t before = list.size();
  for (std::size_t i = 0; i < before; ++i) {
    if (list[i].instance >= 0) continue;
    const Use p = list[i];
    Kernel& k = kernel(p.kernel);
    if (p.scope == kOuterScope || (p.scope == kRootScope && !k.outer_known) || k.empty(p.scope)) continue;
    std::vector<bool> keep = k.outer_axes;
    if (p.scope >= kFirstReduction) {
      keep.assign(k.outer_shape.size(), true);
      keep.resize(graph_.maps[p.map].shape().size(), false);
    }
    bool outer_only = true;
    for (std::size_t d = 0; d < keep.size() && outer_only; ++d)
      outer_only = keep[d] || !graph_.maps.depends_on(p.map, d);
    if (!outer_only) continue;
    const MapId map = graph_.maps.restrict_to(p.map, keep);
    list[i].instance = add_instance(p.kernel, {v, Role::Alias, p.scope, p.map, v, kOuterScope, map});
    list.push_back({p.kernel, kOuterScope, map, -1});
  }
  if (list.size() != before) {
    sort(v);
    list.erase(std::unique(list.begin(), list.end(), same_use), list.end());
  }
}

std::vector<bool> Inliner::needed_axes(const Kernel& k, MapId map) const {
  std::vector<bool> axes(k.root_shape.size());
  for (std::size_t d = 0; d < axes.size(); ++d) axes[d] = graph_.maps.depends_on(map, d);
  return axes;
}

void Inliner::load_at(EntryId v, std::size_t i, KernelId from) {
  Use& p = uses(v)[i];
  p.instance = add_instance(p.kernel, {v, Role::Load, p.scope, p.map, kNone, kRootScope, -1});
  Kernel& k = kernel(p.kernel);
  budget_.load(v, p.kernel);
  if (from >= 0 && std::find(k.depends_on.begin(), k.depends_on.end(), from) == k.depends_on.end())
    k.depends_on.push_back(from);
}

void Inliner::read_anywhere(EntryId v, KernelId k) {
  gathered_[static_cast<std::size_t>(v)] = true;
  auto& list = kernel(k).gathered;
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}

void Inliner::inline_at(EntryId v, std::size_t i) {
  const Entry& e = arena_[v];
  const Use p = uses(v)[i];
  Instance instance{v, Role::Compute, p.scope, p.map, kNone, p.scope, p.map};
  switch (graph::row(e.op).op_class) {
    case graph::OpClass::Leaf:
      if (e.op == Op::Buffer) return load_at(v, i, -1);
      instance.role = Role::Leaf;
      break;
    case graph::OpClass::Write:  // of all; others are stored
      instance.role = Role::Alias;
      instance.source = e.source[1];
      add_use(e.source[1], p.kernel, p.scope, p.map);
      break;
    case graph::OpClass::Gather: {
      const Shape& domain = graph_.maps[p.map].shape();
      instance.source = e.source[0];
      instance.map = graph_.maps.add(detail::always_first(domain));
      read_anywhere(e.source[0], p.kernel);
      add_use(e.source[0], p.kernel, p.scope, instance.map);
      add_use(e.source[1], p.kernel, p.scope, p.map);
      break;
    }
    case graph::OpClass::Transfer:
    case graph::OpClass::Sort:
    case graph::OpClass::Scan:
    case graph::OpClass::Scatter:
    case graph::OpClass::Host:
      throw InternalError("schedule", "a copy, a sort, a scan, a scatter or a call of the host inside of a kernel");
    case graph::OpClass::Elementwise:
      for (int s = 0; s < e.arity; ++s) add_use(e.source[s], p.kernel, p.scope, p.map);
      break;
    case graph::OpClass::Movement: {
      const EntryId source = e.source[0];
      instance.source = source;
      instance.map = graph_.maps.compose_movement(p.map, e, arena_[source].shape());
      const graph::Elements elements = graph::row(e.op).elements;
      const bool masks = elements == graph::Elements::Padded || elements == graph::Elements::Any;
      instance.role =
          masks && !properties(source).keeps_zero && graph_.maps.masked(instance.map) ? Role::Masked : Role::Alias;
      add_use(source, p.kernel, p.scope, instance.map);
      break;
    }
    case graph::OpClass::Reduce:
      return inline_reduction(v, i);
  }
  uses(v)[i].instance = add_instance(p.kernel, instance);
}

void Inliner::inline_reduction(EntryId v, std::size_t i) {
  const Entry& e = arena_[v];
  const Use p = uses(v)[i];
  Kernel& k = kernel(p.kernel);
  if (p.scope == kRootScope) {
    if (!k.outer_known) k.choose_outer(needed_axes(k, p.map));
    const MapId map = graph_.maps.restrict_to(p.map, k.outer_axes);
    uses(v)[i].instance = add_instance(p.kernel, {v, Role::Alias, p.scope, p.map, v, kOuterScope, map});
    uses(v).push_back({p.kernel, kOuterScope, map, -1});
    inline_reduction(v, uses(v).size() - 1);
    sort(v);
    return;
  }
  const Ints& axes = std::get<Ints>(e.node->arg);
  const Shape& source_shape = arena_[e.source[0]].shape();
  const auto scope = static_cast<ScopeId>(kFirstReduction + static_cast<ScopeId>(k.reductions.size()));
  k.reductions.push_back({v, false, reduced_extents(source_shape, axes)});
  const MapId body = graph_.maps.into_reduction(p.map, source_shape, axes);
  uses(v)[i].instance = add_instance(p.kernel, {v, Role::Reduce, p.scope, p.map, e.source[0], scope, body});
  add_use(e.source[0], p.kernel, scope, body);
}

}  // namespace oriel::schedule
