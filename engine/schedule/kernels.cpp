#include "schedule/kernels.hpp"

#include <algorithm>
#include <optional>

#include "oriel/error.hpp"
#include "schedule/boundaries.hpp"
#include "schedule/inlining.hpp"
#include "schedule/kernel_patterns.hpp"
#include "schedule/value_properties.hpp"
#include "view/stacks/index_maps.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

/// Entries are visited consumers first. At its turn an entry knows all of its uses, is inlined there or
/// stored once, and adds the uses of its sources.
class Former {
 public:
  Former(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits, const WriteTable& writes,
         std::span<const RequestReason> reasons)
      : arena_(arena),
        limits_(limits),
        reasons_(reasons),
        properties_(find_properties(arena)),
        budget_({arena, limits, properties_, g_}),
        inliner_({arena, limits, properties_, g_}, budget_),
        patterns_({arena, limits, properties_, g_}),
        output_merging_({arena, limits, properties_, g_}, patterns_, budget_),
        boundaries_({arena, limits, properties_, g_}, budget_, patterns_, inliner_) {
    g_.writes = writes;
    g_.bases.assign(writes.writes.size(), -1);
    const std::size_t n = arena.size();
    g_.uses.resize(n);
    g_.stored_by.assign(n, -1);
    requested_.assign(n, false);
    needed_.assign(n, false);
    copied_to_.assign(n, std::nullopt);
    alone_on_.assign(n, Op::Buffer);
    for (EntryId r : requested) requested_[static_cast<std::size_t>(r)] = true;
  }

  KernelGraph run() {
    for (auto v = static_cast<EntryId>(arena_.size()); v-- > 0;) visit(v);
    for (Kernel& k : g_.kernels)
      for (ReductionScope& r : k.reductions) r.windows = patterns_.windows(r.entry);
    return std::move(g_);
  }

 private:
  const ValueProperties& properties(EntryId v) const { return properties_[static_cast<std::size_t>(v)]; }

  const FusionLimits& limits(const Kernel& k) const { return limits_.of(k.device); }
  std::string why_wanted(EntryId v) const {
    const auto found = std::ranges::find(reasons_, v, &RequestReason::first);
    return found == reasons_.end() ? "its value was asked for" : found->second;
  }
  void visit(EntryId v) {
    inliner_.settle(v);
    budget_.turn(v, {inliner_.uses(v).data(), inliner_.uses(v).size()});
    const bool wanted = requested_[static_cast<std::size_t>(v)];
    if (inliner_.uses(v).empty() && !wanted && !needed_[static_cast<std::size_t>(v)]) return;
    const Write* write = g_.writes.of(v);
    if (write != nullptr && !writes_all(arena_[v])) return store_write(v, *write);
    if (arena_[v].op == Op::Copy || graph::runs_alone(arena_[v].op)) return store_closed(v, wanted);
    std::string reason;
    if (!g_.writes.staged_value.empty() && g_.writes.staged_value[static_cast<std::size_t>(v)])
      reason = "it is written over elements that it reads at other positions";
    else if (const auto to = copied_to_[static_cast<std::size_t>(v)]; to && arena_[v].op != Op::Buffer && !wanted)
      reason = "it is copied to " + to->str();
    else if (const Op op = alone_on_[static_cast<std::size_t>(v)];
             op != Op::Buffer && arena_[v].op != Op::Buffer && !wanted)
      reason = graph::is_sort(op)      ? "it is sorted"
               : graph::is_scan(op)    ? "it is scanned"
               : graph::is_scatter(op) ? "it is scattered"
                                       : "a host function reads it";
    else if (inliner_.gathered(v) && arena_[v].op != Op::Buffer && !wanted)
      reason = "a gather reads it anywhere";
    else if (wanted && write != nullptr)
      reason = "it is written";
    else if (wanted)
      reason = why_wanted(v);
    else
      reason = graph::is_reduce(arena_[v].op) ? boundaries_.of_reduction(v) : boundaries_.of_value(v);
    if (!reason.empty()) {
      store(v, std::move(reason));
    } else {
      for (std::size_t i = 0; i < inliner_.uses(v).size(); ++i)
        if (inliner_.uses(v)[i].instance < 0) inliner_.inline_at(v, i);
    }
  }

  // A kernel that evaluates v anyway, each element once, and may store it for the others.
  std::int32_t host_use(EntryId v) {
    if (inliner_.gathered(v)) return -1;  // it is whole before any reader runs
    auto& list = inliner_.uses(v);
    const auto active = std::count_if(list.begin(), list.end(), [](const Use& p) { return p.instance < 0; });
    if (active < 2 && !requested_[static_cast<std::size_t>(v)])
      return -1;  // it is stored to get it out of its one kernel
    int tried = 0;
    for (std::size_t i = 0; i < list.size() && tried < 8; ++i) {
      const Use& p = list[i];
      if (p.instance >= 0 || p.scope >= kFirstReduction) continue;
      ++tried;
      const Kernel& k = inliner_.kernel(p.kernel);
      if (k.closed() || k.device != arena_.device(v) || static_cast<int>(k.outputs.size()) >= limits(k).outputs ||
          static_cast<int>(k.instances.size()) >= limits(k).instructions || !budget_.room(p.kernel, v, 1))
        continue;
      if (!g_.maps.bijective(p.map, numel(arena_[v].shape()))) continue;
      if (graph::is_reduce(arena_[v].op) && !boundaries_.of_stage(v, p).empty()) continue;
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
    const bool empty = properties(v).empty;
    const bool alone = g_.writes.of(v) != nullptr && g_.writes.of(v)->alone;
    std::int32_t host = empty || alone ? -1 : host_use(v);
    KernelId k = -1;
    Use home{};
    if (host >= 0) {
      home = inliner_.uses(v)[static_cast<std::size_t>(host)];
      k = home.kernel;
    } else {
      k = empty || alone ? -1 : output_merging_.kernel_to_extend(v);
      if (k < 0) {
        k = inliner_.new_kernel(v, arena_[v].shape());
        if (!empty && !alone) output_merging_.add(v, k);
      }
      home = {k, kRootScope, g_.maps.identity(arena_[v].shape()), -1};
    }
    g_.stored_by[static_cast<std::size_t>(v)] = k;
    for (std::size_t i = 0; i < inliner_.uses(v).size(); ++i) {
      if (static_cast<std::int32_t>(i) == host || inliner_.uses(v)[i].instance >= 0) continue;
      // Kernels of other devices, copies aside, need only numbers and positions: they compute them again.
      const Kernel& there = inliner_.kernel(inliner_.uses(v)[i].kernel);
      there.copy || there.device == inliner_.kernel(k).device ? inliner_.load_at(v, i, k) : inliner_.inline_at(v, i);
    }
    inliner_.kernel(k).outputs.push_back({v, home.scope, home.map, std::move(reason)});
    if (empty) return;
    if (host < 0) {
      inliner_.uses(v).push_back(home);
      host = static_cast<std::int32_t>(inliner_.uses(v).size() - 1);
      if (inliner_.kernel(k).outer_known) {  // a sibling of a reduction: its root scope is all outer
        inliner_.settle(v);
        for (host = 0; inliner_.uses(v)[static_cast<std::size_t>(host)].instance >= 0;) ++host;
      }
    }
    inliner_.inline_at(v, static_cast<std::size_t>(host));
    inliner_.sort(v);
  }

  // A write has kernels of its own. The domain is the value's shape, and stores go through the write's map. If the
  // target's other elements are not in memory yet, another kernel puts them there first.
  void store_write(EntryId v, const Write& write) {
    const Entry& e = arena_[v];
    const auto fresh = [&](const Shape& domain, EntryId source, MapId map, std::string reason) {
      const KernelId k = inliner_.new_kernel(v, domain);
      const MapId identity = g_.maps.identity(domain);
      const std::int32_t instance =
          inliner_.add_instance(k, {v, Role::Alias, kRootScope, map, source, kRootScope, identity});
      inliner_.kernel(k).outputs.push_back({v, kRootScope, map, std::move(reason)});
      inliner_.add_use(source, k, kRootScope, identity);
      return Use{k, kRootScope, map, instance};
    };
    const Use home = fresh(arena_[e.source[1]].shape(), e.source[1], g_.maps.add(*e.where()), "it is written");
    g_.stored_by[static_cast<std::size_t>(v)] = home.kernel;
    for (std::size_t i = 0; i < inliner_.uses(v).size(); ++i)
      if (inliner_.uses(v)[i].instance < 0) inliner_.load_at(v, i, home.kernel);
    inliner_.uses(v).push_back(home);
    if (write.home != kNone && numel(e.where()->shape()) != numel(e.shape()))
      needed_[static_cast<std::size_t>(write.home)] = true;
    if (needs_base(arena_, write)) {
      const Use base = fresh(e.shape(), e.source[0], g_.maps.identity(e.shape()),
                             "it copies the elements that the next write does not change");
      inliner_.uses(v).push_back(base);
      inliner_.kernel(home.kernel).depends_on.push_back(base.kernel);
      g_.bases[static_cast<std::size_t>(&write - g_.writes.writes.data())] = base.kernel;
    }
    inliner_.sort(v);
  }

  // A copy, a sort, a scan, a scatter or a call of the host, whose kernel holds nothing else.
  void store_closed(EntryId v, bool wanted) {
    const Entry& e = arena_[v];
    const KernelId k = inliner_.new_kernel(v, e.shape());
    const bool copy = e.op == Op::Copy;
    Kernel& made = inliner_.kernel(k);
    (copy ? made.copy : made.alone) = true;
    g_.stored_by[static_cast<std::size_t>(v)] = k;
    for (std::size_t i = 0; i < inliner_.uses(v).size(); ++i)
      if (inliner_.uses(v)[i].instance < 0) inliner_.load_at(v, i, k);
    const MapId all = g_.maps.identity(e.shape());
    const EntryId source = e.source[0];
    // A scatter reads its sources anywhere, as a gather does, and so does a host function.
    const MapId read =
        graph::is_scatter(e.op) || graph::is_host(e.op) ? g_.maps.add(detail::always_first(e.shape())) : all;
    inliner_.uses(v).push_back(
        {k, kRootScope, all, inliner_.add_instance(k, {v, Role::Alias, kRootScope, all, source, kRootScope, read})});
    inliner_.sort(v);
    const std::string reason = wanted                    ? why_wanted(v)
                               : copy                    ? "it is read on " + e.device->str()
                               : graph::is_sort(e.op)    ? "a sort is a kernel of its own"
                               : graph::is_scan(e.op)    ? "a scan is a kernel of its own"
                               : graph::is_scatter(e.op) ? "a scatter is a kernel of its own"
                                                         : "a call of the host is a kernel of its own";
    inliner_.kernel(k).outputs.push_back({v, kRootScope, all, reason});
    for (int s = 0; s < e.arity; ++s) {
      inliner_.add_use(e.source[s], k, kRootScope, read);
      if (read != all) inliner_.read_anywhere(e.source[s], k);
      if (!copy) alone_on_[static_cast<std::size_t>(e.source[s])] = e.op;
    }
    if (copy) copied_to_[static_cast<std::size_t>(source)] = *e.device;
  }

  const Arena& arena_;
  const DeviceLimits& limits_;
  const std::span<const RequestReason> reasons_;
  const std::vector<ValueProperties> properties_;
  KernelGraph g_;
  Budget budget_;
  Inliner inliner_;
  KernelPatterns patterns_;
  OutputMerging output_merging_;
  Boundaries boundaries_;
  std::vector<bool> requested_;
  std::vector<std::optional<Device>> copied_to_;
  std::vector<Op> alone_on_;  // the sort, scan or scatter that reads it; Buffer if none does
  std::vector<bool> needed_;  // to be in memory for a write of a part, though nothing reads it
};

}  // namespace

KernelGraph form_kernels(const Arena& arena, std::span<const EntryId> requested, const DeviceLimits& limits,
                         const LeafGuard& guard, std::span<const RequestReason> reasons) {
  WriteTable writes = plan_writes_in_place(arena, requested, guard);
  while (true) {
    KernelGraph graph = Former(arena, requested, limits, writes, reasons).run();
    if (!order_writes(arena, graph, writes)) continue;  // ends: each round takes a hope away
    graph.writes = std::move(writes);
    order_kernels(arena, graph);
    return graph;
  }
}

}  // namespace oriel::schedule
