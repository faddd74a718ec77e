#include "schedule/kernels.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "schedule/budget.hpp"
#include "schedule/estimate.hpp"
#include "schedule/facts.hpp"
#include "schedule/kernel_forms.hpp"
#include "schedule/recomputation.hpp"
#include "schedule/siblings.hpp"
#include "view/index_maps.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

/// Entries are visited consumers first. At its turn an entry knows every place that needs it, is inlined there or
/// stored once, and hands the places of its sources on.
class Former {
 public:
  Former(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits, const WritePlan& writes,
         std::span<const EntryId> early)
      : arena_(arena), limits_(limits), early_(early), budget_(arena, limits, g_) {
    g_.writes = writes;
    g_.bases.assign(writes.writes.size(), -1);
    const std::size_t n = arena.size();
    g_.places.resize(n);
    g_.stored_by.assign(n, -1);
    requested_.assign(n, false);
    needed_.assign(n, false);
    gathered_.assign(n, false);
    copied_to_.assign(n, std::nullopt);
    sorted_.assign(n, false);
    for (EntryId r : requested) requested_[static_cast<std::size_t>(r)] = true;
    facts_ = learn_facts(arena);
    forms_.emplace(arena_, limits_, facts_, g_);
    siblings_.emplace(arena_, limits_, facts_, g_, *forms_, budget_);
    recomputation_.emplace(arena_, limits_, facts_, g_, *forms_);
  }

  KernelGraph run() {
    for (auto v = static_cast<EntryId>(arena_.size()); v-- > 0;) visit(v);
    return std::move(g_);
  }

 private:
  const Facts& facts(EntryId v) const { return facts_[static_cast<std::size_t>(v)]; }

  Kernel& kernel(KernelId k) { return g_.kernels[static_cast<std::size_t>(k)]; }
  KernelId new_kernel(EntryId root, const Shape& domain) {
    Kernel& fresh = g_.kernels.emplace_back();
    fresh.root = root;
    fresh.root_shape = domain;
    fresh.device = arena_.device(root);
    return static_cast<KernelId>(g_.kernels.size() - 1);
  }
  const FusionLimits& limits(const Kernel& k) const { return limits_.of(k.device); }
  auto& places(EntryId v) { return g_.places[static_cast<std::size_t>(v)]; }

  void add_place(EntryId v, KernelId k, ScopeId scope, MapId map) {
    auto& list = places(v);
    const Place place{k, scope, map, -1};
    if (!list.empty() && same_place(list.back(), place)) return;
    list.push_back(place);
    budget_.need(v, k);
  }

  std::int32_t add_instance(KernelId k, const Instance& instance) {
    auto& list = kernel(k).instances;
    list.push_back(instance);
    return static_cast<std::int32_t>(list.size() - 1);
  }

  // Kernels are formed in ascending order, so the places mostly are sorted already.
  template <class Places>
  static void sort_places(Places& list) {
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
  }

  // Moves places that need the parallel axes alone to the outer scope, sorts and joins equal ones.
  void settle(EntryId v) {
    auto& list = places(v);
    sort_places(list);
    list.erase(std::unique(list.begin(), list.end(), same_place), list.end());
    const std::size_t before = list.size();
    for (std::size_t i = 0; i < before; ++i) {
      if (list[i].instance >= 0) continue;
      const Place p = list[i];
      Kernel& k = kernel(p.kernel);
      if (p.scope == kOuterScope || (p.scope == kRootScope && !k.outer_known) || k.empty(p.scope)) continue;
      std::vector<bool> keep = k.outer_axes;
      if (p.scope >= kFirstReduction) {
        keep.assign(k.outer_shape.size(), true);
        keep.resize(g_.maps[p.map].shape().size(), false);
      }
      bool outer_only = true;
      for (std::size_t d = 0; d < keep.size() && outer_only; ++d) outer_only = keep[d] || !g_.maps.depends_on(p.map, d);
      if (!outer_only) continue;
      const MapId map = g_.maps.restrict_to(p.map, keep);
      list[i].instance = add_instance(p.kernel, {v, Role::Alias, p.scope, p.map, v, kOuterScope, map});
      list.push_back({p.kernel, kOuterScope, map, -1});
    }
    if (list.size() != before) {
      sort_places(list);
      list.erase(std::unique(list.begin(), list.end(), same_place), list.end());
    }
  }

  void visit(EntryId v) {
    settle(v);
    budget_.turn(v, {places(v).data(), places(v).size()});
    const bool wanted = requested_[static_cast<std::size_t>(v)];
    if (places(v).empty() && !wanted && !needed_[static_cast<std::size_t>(v)]) return;
    const Write* write = g_.writes.of(v);
    if (write != nullptr && !writes_all(arena_[v])) return store_write(v, *write);
    if (arena_[v].op == Op::Copy || graph::is_sort(arena_[v].op)) return store_closed(v, wanted);
    std::string reason;
    if (!g_.writes.staged_value.empty() && g_.writes.staged_value[static_cast<std::size_t>(v)])
      reason = "it is written over elements that it reads at other positions";
    else if (gathered_[static_cast<std::size_t>(v)] && arena_[v].op != Op::Buffer && !wanted)
      reason = "a gather reads it anywhere";
    else if (const auto to = copied_to_[static_cast<std::size_t>(v)]; to && arena_[v].op != Op::Buffer && !wanted)
      reason = "it is copied to " + to->str();
    else if (sorted_[static_cast<std::size_t>(v)] && arena_[v].op != Op::Buffer && !wanted)
      reason = "it is sorted";
    else if (wanted && write != nullptr)
      reason = "it is written";
    else if (wanted)
      reason = std::find(early_.begin(), early_.end(), v) == early_.end()
                   ? "its value was asked for"
                   : "it is still held, and what it reads is overwritten";
    else
      reason = graph::is_reduce(arena_[v].op) ? reduction_boundary(v) : value_boundary(v);
    if (!reason.empty()) {
      store(v, std::move(reason));
    } else {
      for (std::size_t i = 0; i < places(v).size(); ++i)
        if (places(v)[i].instance < 0) inline_at(v, i);
    }
  }

  // The axes of the kernel's root on which the value at a root-scope map depends.
  std::vector<bool> needed_axes(const Kernel& k, MapId map) const {
    std::vector<bool> axes(k.root_shape.size());
    for (std::size_t d = 0; d < axes.size(); ++d) axes[d] = g_.maps.depends_on(map, d);
    return axes;
  }

  // Do the points that need v outnumber its elements by more than the limit?
  bool repeats(SymInt points, EntryId v, std::int64_t most) const {
    if (points.is_symbolic() || facts(v).symbolic) return points >= numel(arena_[v].shape()) * (most + 1);
    return points.value() / facts(v).elements > most;
  }

  // Why a computed (not stored) value cannot be recomputed where it is needed; empty when it can.
  std::string value_boundary(EntryId v) {
    const Entry& e = arena_[v];
    if (!graph::is_elementwise(e.op) && e.op != Op::Gather) return {};
    const Facts f = facts(v);
    if (f.empty) return {};
    for (const Place& p : places(v))
      if (p.instance < 0 && !budget_.room(p.kernel, v, 0)) return budget_.full(p.kernel);
    if (f.recompute_always || (e.op == Op::Cast && facts(e.source[0]).work == 0)) return {};
    for (bool again = true; again;) {
      again = false;
      for (const Place& p : places(v)) {
        if (p.instance >= 0) continue;
        Kernel& k = kernel(p.kernel);
        const SymInt size = k.size(p.scope);
        const std::int64_t points = estimate(size);
        if (std::string why = forms_->end_of_results(v, points); !why.empty()) return why;
        if (!repeats(size, v, limits(k).expand_factor)) continue;
        if (f.row_level && p.scope == kRootScope && !k.outer_known && points > 0) {
          std::vector<bool> axes = needed_axes(k, p.map);
          if (g_.maps.injective(p.map, axes)) {
            k.choose_outer(std::move(axes));
            again = true;
            break;
          }
        }
        if (g_.maps.masked(p.map))
          return fmt::format("evaluated at {} points, padding included, for {} elements (limit {} times)", points,
                             f.elements, limits(k).expand_factor);
        return fmt::format("recomputed {} times by an expand (limit {})", points / f.elements, limits(k).expand_factor);
      }
      if (again) settle(v);
    }
    for (const Place& p : places(v)) {
      if (p.instance >= 0) continue;
      const Kernel& k = kernel(p.kernel);
      if (static_cast<int>(k.instances.size()) >= limits(k).instructions)
        return fmt::format("its kernel is full ({} values)", k.instances.size());
    }
    return recomputation_->loss(v);
  }

  // Why a reduction cannot be a stage of the one kernel that needs it; empty when it can.
  std::string reduction_boundary(EntryId v) {
    const Place* only = nullptr;
    std::int64_t at = 0, in_kernels = 0;
    for (const Place& p : places(v)) {
      if (p.instance >= 0) continue;
      if (only == nullptr || only->kernel != p.kernel) ++in_kernels;
      ++at;
      only = &p;
    }
    if (in_kernels > 1) return fmt::format("a reduction that {} kernels need", in_kernels);
    if (at > 1) return fmt::format("a reduction needed at {} places of one kernel", at);
    return stage_obstacle(v, *only);
  }

  std::string stage_obstacle(EntryId v, const Place& p) {
    Kernel& k = kernel(p.kernel);
    if (static_cast<int>(k.instances.size()) >= limits(k).instructions)
      return fmt::format("its kernel is full ({} values)", k.instances.size());
    if (p.scope >= kFirstReduction)
      return "a reduction over what another reduction walks: it differs from point to point there";
    std::vector<bool> axes;
    if (p.scope == kOuterScope)
      axes.assign(k.outer_shape.size(), true);
    else if (!k.outer_known)
      axes = needed_axes(k, p.map);
    else
      return "a reduction with other parallel axes than the kernel's first";
    if (k.empty(p.scope)) return "a reduction inside an empty kernel";
    if (!g_.maps.single(p.map)) return "the view above this reduction mixes its positions";
    if (!g_.maps.injective(p.map, axes)) {
      return fmt::format("a reduction that would run {} times to give {}", k.points(p.scope), facts(v).elements);
    }
    return forms_->loss(v, p, std::move(axes));
  }

  // A kernel that evaluates v anyway, each element once, and may store it for the others.
  std::int32_t host_place(EntryId v) {
    if (gathered_[static_cast<std::size_t>(v)]) return -1;  // it is whole before any reader runs
    auto& list = places(v);
    const auto active = std::count_if(list.begin(), list.end(), [](const Place& p) { return p.instance < 0; });
    if (active < 2 && !requested_[static_cast<std::size_t>(v)])
      return -1;  // it is stored to get it out of its one kernel
    int tried = 0;
    for (std::size_t i = 0; i < list.size() && tried < 8; ++i) {
      const Place& p = list[i];
      if (p.instance >= 0 || p.scope >= kFirstReduction) continue;
      ++tried;
      const Kernel& k = kernel(p.kernel);
      if (k.closed() || k.device != arena_.device(v) || static_cast<int>(k.outputs.size()) >= limits(k).outputs ||
          static_cast<int>(k.instances.size()) >= limits(k).instructions || !budget_.room(p.kernel, v, 1))
        continue;
      if (!g_.maps.bijective(p.map, numel(arena_[v].shape()))) continue;
      if (graph::is_reduce(arena_[v].op) && !stage_obstacle(v, p).empty()) continue;
      bool good = true;
      for (std::size_t j = 0; j < list.size() && good; ++j) {
        if (j == i || list[j].instance >= 0) continue;
        good = list[j].kernel != p.kernel && !g_.may_reach(p.kernel, list[j].kernel);
      }
      if (good) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

  void store(EntryId v, std::string reason) {
    const bool empty = facts(v).empty;
    const bool alone = g_.writes.of(v) != nullptr && g_.writes.of(v)->alone;
    std::int32_t host = empty || alone ? -1 : host_place(v);
    KernelId k = -1;
    Place home{};
    if (host >= 0) {
      home = places(v)[static_cast<std::size_t>(host)];
      k = home.kernel;
    } else {
      k = empty || alone ? -1 : siblings_->find(v);
      if (k < 0) {
        k = new_kernel(v, arena_[v].shape());
        if (!empty && !alone) siblings_->add(v, k);
      }
      home = {k, kRootScope, g_.maps.identity(arena_[v].shape()), -1};
    }
    g_.stored_by[static_cast<std::size_t>(v)] = k;
    for (std::size_t i = 0; i < places(v).size(); ++i) {
      if (static_cast<std::int32_t>(i) == host || places(v)[i].instance >= 0) continue;
      // Kernels of other devices, copies aside, need only numbers and positions: they compute them again.
      const Kernel& there = kernel(places(v)[i].kernel);
      there.copy || there.device == kernel(k).device ? load_at(v, i, k) : inline_at(v, i);
    }
    kernel(k).outputs.push_back({v, home.scope, home.map, std::move(reason)});
    if (empty) return;
    if (host < 0) {
      places(v).push_back(home);
      host = static_cast<std::int32_t>(places(v).size() - 1);
      if (kernel(k).outer_known) {  // a sibling of a reduction: its root scope is all outer
        settle(v);
        for (host = 0; places(v)[static_cast<std::size_t>(host)].instance >= 0;) ++host;
      }
    }
    inline_at(v, static_cast<std::size_t>(host));
    sort_places(places(v));
  }

  // Kernels of its own: the domain of a write is the value's shape, and its stores go through the write's map. Where
  // other elements have to be there first, another kernel puts them there.
  void store_write(EntryId v, const Write& write) {
    const Entry& e = arena_[v];
    const auto fresh = [&](const Shape& domain, EntryId source, MapId map, std::string reason) {
      const KernelId k = new_kernel(v, domain);
      const MapId identity = g_.maps.identity(domain);
      const std::int32_t instance = add_instance(k, {v, Role::Alias, kRootScope, map, source, kRootScope, identity});
      kernel(k).outputs.push_back({v, kRootScope, map, std::move(reason)});
      add_place(source, k, kRootScope, identity);
      return Place{k, kRootScope, map, instance};
    };
    const Place home = fresh(arena_[e.source[1]].shape(), e.source[1], g_.maps.add(*e.where()), "it is written");
    g_.stored_by[static_cast<std::size_t>(v)] = home.kernel;
    for (std::size_t i = 0; i < places(v).size(); ++i)
      if (places(v)[i].instance < 0) load_at(v, i, home.kernel);
    places(v).push_back(home);
    if (write.home != kNone && numel(e.where()->shape()) != numel(e.shape()))
      needed_[static_cast<std::size_t>(write.home)] = true;
    if (needs_base(arena_, write)) {
      const Place base =
          fresh(e.shape(), e.source[0], g_.maps.identity(e.shape()), "the elements that the write after it leaves");
      places(v).push_back(base);
      kernel(home.kernel).depends_on.push_back(base.kernel);
      g_.bases[static_cast<std::size_t>(&write - g_.writes.writes.data())] = base.kernel;
    }
    sort_places(places(v));
  }

  // A copy or a sort, whose kernel holds nothing else.
  void store_closed(EntryId v, bool wanted) {
    const Entry& e = arena_[v];
    const KernelId k = new_kernel(v, e.shape());
    const bool copy = e.op == Op::Copy;
    (copy ? kernel(k).copy : kernel(k).sorts) = true;
    g_.stored_by[static_cast<std::size_t>(v)] = k;
    for (std::size_t i = 0; i < places(v).size(); ++i)
      if (places(v)[i].instance < 0) load_at(v, i, k);
    const MapId all = g_.maps.identity(e.shape());
    const EntryId source = e.source[0];
    places(v).push_back(
        {k, kRootScope, all, add_instance(k, {v, Role::Alias, kRootScope, all, source, kRootScope, all})});
    sort_places(places(v));
    const std::string reason = wanted ? "its value was asked for"
                               : copy ? "it is read on " + e.device->str()
                                      : "a sort is a kernel of its own";
    kernel(k).outputs.push_back({v, kRootScope, all, reason});
    add_place(source, k, kRootScope, all);
    if (copy)
      copied_to_[static_cast<std::size_t>(source)] = *e.device;
    else
      sorted_[static_cast<std::size_t>(source)] = true;
  }

  void load_at(EntryId v, std::size_t i, KernelId from) {
    Place& p = places(v)[i];
    p.instance = add_instance(p.kernel, {v, Role::Load, p.scope, p.map, kNone, kRootScope, -1});
    Kernel& k = kernel(p.kernel);
    budget_.load(v, p.kernel);
    if (from >= 0 && std::find(k.depends_on.begin(), k.depends_on.end(), from) == k.depends_on.end())
      k.depends_on.push_back(from);
  }

  void inline_at(EntryId v, std::size_t i) {
    const Entry& e = arena_[v];
    const Place p = places(v)[i];
    Instance instance{v, Role::Compute, p.scope, p.map, kNone, p.scope, p.map};
    switch (graph::row(e.op).op_class) {
      case graph::OpClass::Leaf:
        if (e.op == Op::Buffer) return load_at(v, i, -1);
        instance.role = Role::Leaf;
        break;
      case graph::OpClass::Write:  // of all; others are stored
        instance.role = Role::Alias;
        instance.source = e.source[1];
        add_place(e.source[1], p.kernel, p.scope, p.map);
        break;
      case graph::OpClass::Gather: {
        const Shape& domain = g_.maps[p.map].shape();
        instance.source = e.source[0];
        instance.map = g_.maps.add(detail::always_first(domain));
        gathered_[static_cast<std::size_t>(e.source[0])] = true;
        auto& list = kernel(p.kernel).gathered;
        if (std::find(list.begin(), list.end(), e.source[0]) == list.end()) list.push_back(e.source[0]);
        add_place(e.source[0], p.kernel, p.scope, instance.map);
        add_place(e.source[1], p.kernel, p.scope, p.map);
        break;
      }
      case graph::OpClass::Transfer:
      case graph::OpClass::Sort:
        throw InternalError("schedule", "a copy or a sort inside of a kernel");
      case graph::OpClass::Elementwise:
        for (int s = 0; s < e.arity; ++s) add_place(e.source[s], p.kernel, p.scope, p.map);
        break;
      case graph::OpClass::Movement: {
        const EntryId source = e.source[0];
        instance.source = source;
        instance.map = g_.maps.through(p.map, e, arena_[source].shape());
        const bool masks = e.op == Op::Pad || e.op == Op::RawView;
        instance.role = masks && !facts(source).keeps_zero && g_.maps.masked(instance.map) ? Role::Masked : Role::Alias;
        add_place(source, p.kernel, p.scope, instance.map);
        break;
      }
      case graph::OpClass::Reduce:
        return inline_reduction(v, i);
    }
    places(v)[i].instance = add_instance(p.kernel, instance);
  }

  void inline_reduction(EntryId v, std::size_t i) {
    const Entry& e = arena_[v];
    const Place p = places(v)[i];
    Kernel& k = kernel(p.kernel);
    if (p.scope == kRootScope) {
      if (!k.outer_known) k.choose_outer(needed_axes(k, p.map));
      const MapId map = g_.maps.restrict_to(p.map, k.outer_axes);
      places(v)[i].instance = add_instance(p.kernel, {v, Role::Alias, p.scope, p.map, v, kOuterScope, map});
      places(v).push_back({p.kernel, kOuterScope, map, -1});
      inline_reduction(v, places(v).size() - 1);
      sort_places(places(v));
      return;
    }
    const Ints& axes = std::get<Ints>(e.node->arg);
    const Shape& source_shape = arena_[e.source[0]].shape();
    const auto scope = static_cast<ScopeId>(kFirstReduction + static_cast<ScopeId>(k.reductions.size()));
    k.reductions.push_back({v, reduced_extents(source_shape, axes)});
    const MapId body = g_.maps.into_reduction(p.map, source_shape, axes);
    places(v)[i].instance = add_instance(p.kernel, {v, Role::Reduce, p.scope, p.map, e.source[0], scope, body});
    add_place(e.source[0], p.kernel, scope, body);
  }

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::span<const EntryId> early_;
  KernelGraph g_;
  Budget budget_;
  std::vector<bool> requested_;
  std::vector<bool> gathered_;  // a gather reads it
  std::vector<std::optional<Device>> copied_to_;
  std::vector<bool> sorted_;  // a sort reads it
  std::vector<bool> needed_;  // to be in memory for a write of a part, though nothing reads it
  std::vector<Facts> facts_;
  std::optional<KernelForms> forms_;
  std::optional<Siblings> siblings_;
  std::optional<Recomputation> recomputation_;
};

}  // namespace

KernelGraph form_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                         const LeafGuard& guard, std::span<const EntryId> early) {
  WritePlan writes = hope_for_writes(arena, requested, guard);
  while (true) {
    KernelGraph graph = Former(arena, requested, limits, writes, early).run();
    if (!order_writes(arena, graph, writes)) continue;  // ends: each round takes a hope away
    graph.writes = std::move(writes);
    order_kernels(arena, graph);
    return graph;
  }
}

}  // namespace oriel::schedule
