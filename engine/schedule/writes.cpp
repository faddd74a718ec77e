#include "schedule/writes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "schedule/describe.hpp"
#include "schedule/kernels.hpp"
#include "view/stacks/injective.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

constexpr std::size_t kReachCap = 4096;  // kernels visited when asking for a circle; beyond, the answer is "maybe"

std::string memory_name(const Arena& arena, EntryId storage) {
  return arena[storage].op == Op::Buffer ? value_name(storage) : "the memory of " + value_name(storage);
}

void refuse(Write& w, std::string why) {
  w.home = kNone;
  w.staged = false;
  w.alone = false;
  w.note = "not in place: " + std::move(why);
}

// A leaf is overwritten only for a value that stays: the last write of such a chain is a requested value.
void spare_leaves(const Arena& arena, WriteTable& table) {
  std::vector<bool> kept = table.wanted;
  for (std::size_t k = table.writes.size(); k-- > 0;) {
    Write& w = table.writes[k];
    if (w.home == kNone) continue;
    if (kept[static_cast<std::size_t>(w.entry)])
      kept[static_cast<std::size_t>(w.home)] = true;
    else if (arena[w.home].op == Op::Buffer)
      refuse(w,
             "the written value is only an intermediate, and a tensor's memory is overwritten only for a requested "
             "result");
  }
}

std::vector<KernelId> producers_first(const KernelGraph& graph) {
  std::vector<KernelId> order;
  const std::size_t n = graph.kernels.size();
  std::vector<std::uint8_t> state(n, 0);  // 0 unseen, 1 open, 2 done
  std::vector<std::pair<KernelId, std::size_t>> stack;
  for (auto k = static_cast<KernelId>(n); k-- > 0;) {
    if (state[static_cast<std::size_t>(k)] == 0) stack.emplace_back(k, 0);
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      auto& s = state[static_cast<std::size_t>(at)];
      if (s == 2) {
        stack.pop_back();
        continue;
      }
      s = 1;
      const auto& deps = graph.kernels[static_cast<std::size_t>(at)].depends_on;
      if (next < deps.size()) {
        const KernelId d = deps[next++];
        if (state[static_cast<std::size_t>(d)] == 1)
          throw InternalError("schedule", "kernels depend on each other in a circle");
        if (state[static_cast<std::size_t>(d)] == 0) stack.emplace_back(d, 0);
      } else {
        s = 2;
        order.push_back(at);
        stack.pop_back();
      }
    }
  }
  return order;
}

// Does the kernel gather from this value, anywhere in it?
bool gathers(const Kernel& kernel, EntryId entry) {
  return std::find(kernel.gathered.begin(), kernel.gathered.end(), entry) != kernel.gathered.end();
}

// The map with the parallel axes in front, as the maps of reductions have them: then equal maps mean that each
// parallel point reads what it alone overwrites, and it does so in a later stage.
ShapeTracker rows_first(const Kernel& kernel, const ShapeTracker& map) {
  if (!kernel.outer_known) return map;
  Ints order;
  for (const bool outer : {true, false})
    for (std::size_t d = 0; d < kernel.outer_axes.size(); ++d)
      if (kernel.outer_axes[d] == outer) order.push_back(d);
  return map.permute(order).simplify();
}

class Orderer {
 public:
  Orderer(const Arena& arena, KernelGraph& graph, WriteTable& table) : arena_(arena), graph_(graph), table_(table) {}

  bool run() {
    bool fits = true;
    find_highest();
    for (Write& w : table_.writes)
      if (w.home != kNone && graph_.stored_by[static_cast<std::size_t>(w.entry)] >= 0) fits = order(w) && fits;
    return fits;
  }

 private:
  Kernel& kernel(KernelId k) { return graph_.kernels[static_cast<std::size_t>(k)]; }

  bool order(Write& w) {
    const KernelId last = graph_.stored_by[static_cast<std::size_t>(w.entry)];
    const KernelId base = graph_.bases[static_cast<std::size_t>(&w - table_.writes.data())];
    const KernelId first = base >= 0 ? base : last;
    EntryId below = w.home;
    for (; below != kNone; below = table_.home(below)) {
      if (!after_readers(w, below, first, last)) return false;
      const KernelId before = graph_.stored_by[static_cast<std::size_t>(below)];
      if (before < 0) continue;  // a write that nobody needs is not carried out: the memory below it counts
      if (reaches(before, first, w.entry))
        return give_up(w, fmt::format("{} is made after the write", value_name(below)));
      wait(first, before);
      break;
    }
    return true;
  }

  bool after_readers(Write& w, EntryId read, KernelId first, KernelId last) {
    for (const Use& p : graph_.uses[static_cast<std::size_t>(read)]) {
      if (p.instance < 0) continue;
      const Instance& load = kernel(p.kernel).instances[static_cast<std::size_t>(p.instance)];
      if (load.role != Role::Load) continue;
      if (p.kernel == last || p.kernel == first) {
        // The second kernel cannot read what the first one has overwritten.
        if ((p.kernel == last && first != last) || !keeps_apart(w.entry, p.kernel, load))
          return stage(w, p.kernel == last);
      } else if (reaches(p.kernel, first, w.entry)) {
        return give_up(w, fmt::format("{} is read after the write", value_name(read)));
      } else {
        wait(first, p.kernel);
      }
    }
    return true;
  }

  void wait(KernelId k, KernelId before) {
    auto& list = kernel(k).depends_on;
    if (k == before || std::find(list.begin(), list.end(), before) != list.end()) return;
    list.push_back(before);
    dependents_[static_cast<std::size_t>(before)].push_back(k);
    raise(k, highest_[static_cast<std::size_t>(before)]);
  }

  bool give_up(Write& w, std::string why) {
    refuse(w, std::move(why));
    return false;
  }

  // Another kernel, which can run before, computes the other results of this kernel. If there is none, the value is
  // stored aside before anything is overwritten. If that has been done already, or if the whole target is replaced
  // anyway, the write takes other memory.
  bool stage(Write& w, bool by_value) {
    const KernelId stored = graph_.stored_by[static_cast<std::size_t>(w.entry)];
    if (by_value && !w.alone && writes_all(arena_[w.entry]) && kernel(stored).outputs.size() > 1) {
      w.alone = true;
      return false;
    }
    if (w.staged || !by_value || writes_all(arena_[w.entry]))
      return give_up(w, fmt::format("one point of its kernel reads an element of {} that another point overwrites",
                                    value_name(w.home)));
    w.staged = true;
    return false;
  }

  // Does this load see only elements that its own point overwrites after it, or none that the kernel overwrites?
  bool keeps_apart(EntryId written, KernelId k, const Instance& load) {
    if (gathers(kernel(k), load.entry)) return false;
    for (const Output& o : kernel(k).outputs) {
      if (o.entry != written || reads_its_own(graph_, k, o, load)) continue;
      if (!detail::disjoint(graph_.maps[load.at_map], graph_.maps[graph_.evaluated(k, o).map])) return false;
    }
    return true;
  }

  // A kernel that needs another one needs the values that the other one stores. So a kernel whose needed values all
  // come before a write cannot need the write, and most searches end where they begin.
  void find_highest() {
    highest_.assign(graph_.kernels.size(), kNone);
    dependents_.resize(graph_.kernels.size());
    for (KernelId k = 0; k < static_cast<KernelId>(graph_.kernels.size()); ++k) {
      for (const KernelId d : kernel(k).depends_on) dependents_[static_cast<std::size_t>(d)].push_back(k);
    }
    for (const KernelId k : producers_first(graph_)) {
      EntryId& highest = highest_[static_cast<std::size_t>(k)];
      for (const Output& o : kernel(k).outputs) highest = std::max(highest, o.entry);
      for (const KernelId d : kernel(k).depends_on) highest = std::max(highest, highest_[static_cast<std::size_t>(d)]);
    }
  }

  void raise(KernelId from, EntryId highest) {
    std::vector<KernelId> stack{from};
    while (!stack.empty()) {
      const auto k = static_cast<std::size_t>(stack.back());
      stack.pop_back();
      if (highest_[k] >= highest) continue;
      highest_[k] = highest;
      stack.insert(stack.end(), dependents_[k].begin(), dependents_[k].end());
    }
  }

  bool reaches(KernelId from, KernelId target, EntryId written) {
    if (highest_[static_cast<std::size_t>(from)] < written) return false;
    std::vector<KernelId> stack{from};
    std::vector<bool> seen(graph_.kernels.size());
    std::size_t visited = 0;
    while (!stack.empty()) {
      const KernelId k = stack.back();
      stack.pop_back();
      if (k == target) return true;
      if (highest_[static_cast<std::size_t>(k)] < written) continue;
      if (++visited > kReachCap) return true;
      for (const KernelId d : kernel(k).depends_on) {
        if (seen[static_cast<std::size_t>(d)]) continue;
        seen[static_cast<std::size_t>(d)] = true;
        stack.push_back(d);
      }
    }
    return false;
  }

  const Arena& arena_;
  KernelGraph& graph_;
  WriteTable& table_;
  std::vector<EntryId> highest_;  // one a kernel: the last value that it, or a kernel that it needs, stores
  std::vector<InlineVector<KernelId, 4>> dependents_;
};

}  // namespace

bool reads_its_own(const KernelGraph& graph, KernelId k, const Output& output, const Instance& load) {
  const Kernel& kernel = graph.kernels[static_cast<std::size_t>(k)];
  if (gathers(kernel, load.entry)) return false;
  const auto [instance, scope, map] = graph.evaluated(k, output);
  if (load.at_scope == scope && load.at_map == map) return true;
  return load.at_scope >= kFirstReduction && scope == kRootScope &&
         graph.maps[load.at_map] == rows_first(kernel, graph.maps[map]);
}

bool writes_all(const Entry& write) { return write.where() == nullptr; }

bool needs_base(const Arena& arena, const Write& write) {
  const Entry& e = arena[write.entry];
  if (writes_all(e) || numel(e.where()->shape()) == numel(e.shape())) return false;
  return write.home == kNone || e.source[0] != write.home;
}

WriteTable plan_writes_in_place(const Arena& arena, std::span<const EntryId> requested, const LeafGuard& guard) {
  WriteTable table;
  for (EntryId e = 0; e < static_cast<EntryId>(arena.size()); ++e)
    if (arena[e].op == Op::Assign) table.writes.push_back({e, arena[e].home, false, false, {}});
  if (table.writes.empty()) return table;
  table.index.assign(arena.size(), -1);
  std::vector<bool> wanted(arena.size()), taken(arena.size());
  for (const EntryId e : requested) wanted[static_cast<std::size_t>(e)] = true;
  for (std::size_t k = 0; k < table.writes.size(); ++k) {
    Write& w = table.writes[k];
    table.index[static_cast<std::size_t>(w.entry)] = static_cast<std::int32_t>(k);
    if (w.home == kNone) continue;
    const auto home = static_cast<std::size_t>(w.home);
    std::string guarded;
    if (arena[w.home].op == Op::Buffer)
      guarded = guard ? guard(arena[w.home].buffer()) : "is in memory that this plan must not overwrite";
    if (!guarded.empty())
      refuse(w, value_name(w.home) + " " + guarded);
    else if (arena[w.home].op == Op::Assign && wanted[home])
      refuse(w, value_name(w.home) + " was asked for as well");
    else if (taken[home])
      refuse(w, "another write has the memory of " + value_name(w.home));
    else
      taken[home] = true;
  }
  table.wanted = std::move(wanted);
  spare_leaves(arena, table);
  return table;
}

bool order_writes(const Arena& arena, KernelGraph& graph, WriteTable& table) {
  if (table.writes.empty()) return true;
  if (!Orderer(arena, graph, table).run()) {
    spare_leaves(arena, table);
    table.staged_value.assign(arena.size(), false);
    for (const Write& w : table.writes)
      if (w.staged) table.staged_value[static_cast<std::size_t>(arena[w.entry].source[1])] = true;
    return false;
  }
  for (const Write& w : table.writes)
    table.bottom.push_back(w.home == kNone ? w.entry : table.storage(w.home));  // homes come first
  for (Write& w : table.writes) {
    if (w.home == kNone) continue;
    w.note = "in place of " + memory_name(arena, table.storage(w.entry));
    if (w.staged) w.note += ", its value put aside first";
  }
  return true;
}

void order_kernels(const Arena& arena, KernelGraph& graph) {
  const std::size_t n = graph.kernels.size();
  graph.order = producers_first(graph);
  if (graph.writes.writes.empty()) return;
  std::vector<bool> late(n);
  for (const KernelId k : graph.order) {
    const Kernel& kernel = graph.kernels[static_cast<std::size_t>(k)];
    bool is_late = std::any_of(kernel.depends_on.begin(), kernel.depends_on.end(),
                               [&](KernelId d) { return late[static_cast<std::size_t>(d)]; });
    for (const Output& o : kernel.outputs)
      is_late =
          is_late || (graph.writes.home(o.entry) != kNone && arena[graph.writes.storage(o.entry)].op == Op::Buffer);
    late[static_cast<std::size_t>(k)] = is_late;
  }
  std::stable_partition(graph.order.begin(), graph.order.end(),
                        [&](KernelId k) { return !late[static_cast<std::size_t>(k)]; });
}

}  // namespace oriel::schedule
