#include "schedule/memory_plan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include "graph/build.hpp"
#include "schedule/estimate.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// The most steps of the walk over the kernels that run after one that would overwrite a leaf. With more, leaves are not
// overwritten.
constexpr std::size_t kMostSteps = 1 << 20;

// Does each row-major position lie at the same place in memory?
bool same_order(const Entry& a, const Entry& b) {
  if (a.strides == nullptr || b.strides == nullptr) return a.strides == b.strides;
  return graph::known_same(*a.strides, *b.strides) && graph::known_same(a.shape(), b.shape());
}

class Donation {
 public:
  Donation(const Arena& arena, std::span<const EntryId> requested, const LeafDies& dies, KernelGraph& graph)
      : arena_(arena), dies_(dies), graph_(graph) {
    requested_.assign(arena.size(), false);
    for (const EntryId e : requested) requested_[at(e)] = true;
    in_output_ = requested_;
    untouched_.assign(arena.size(), false);
    for (const Write& w : graph.writes.writes) {
      untouched_[at(w.entry)] = true;
      if (w.home == kNone) continue;
      untouched_[at(w.home)] = true;
      untouched_[at(graph.writes.storage(w.entry))] = true;
    }
    // Fused kernels read and store at the step of the last one.
    for (std::size_t k = 0; k < graph.fused_in.size(); ++k) {
      if (graph.fused_in[k] < 0) continue;
      for (const Instance& i : graph.kernels[k].instances)
        if (i.role == Role::Load) untouched_[at(i.entry)] = true;
      for (const Output& o : graph.kernels[k].outputs) untouched_[at(o.entry)] = true;
    }
    overwrites_.assign(graph.kernels.size(), false);
    for (const Write& w : graph.writes.writes) {
      const KernelId k = graph.stored_by[at(w.entry)];
      if (k < 0 || w.home == kNone || arena[graph.writes.storage(w.entry)].op != Op::Buffer) continue;
      overwrites_[at(k)] = true;
      if (const KernelId base = graph.bases[static_cast<std::size_t>(&w - graph.writes.writes.data())]; base >= 0)
        overwrites_[at(base)] = true;
    }
  }

  // From the last kernel back: where a value ends up is known before what it may reuse.
  void run() {
    std::vector<bool> read(arena_.size(), false);
    std::vector<EntryId> last;
    for (std::size_t step = graph_.order.size(); step-- > 0;) {
      const KernelId k = graph_.order[step];
      last.clear();
      for (const Instance& i : kernel(k).instances) {
        if (i.role != Role::Load || read[at(i.entry)]) continue;
        read[at(i.entry)] = true;
        last.push_back(i.entry);
      }
      for (const Output& o : kernel(k).outputs) {
        if (last.empty()) break;
        settle(step, o, last);
      }
    }
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  const Kernel& kernel(KernelId k) const { return graph_.kernels[at(k)]; }

  void settle(std::size_t step, const Output& o, std::vector<EntryId>& last) {
    const Entry& to = arena_[o.entry];
    if (kernel(graph_.order[step]).closed() || untouched_[at(o.entry)] || to.op == Op::Buffer || numel(to.shape()) == 0)
      return;
    for (auto e = last.begin(); e != last.end(); ++e) {
      if (!fits(step, o, *e)) continue;
      if (graph_.donors.empty()) graph_.donors.assign(arena_.size(), kNone);
      graph_.donors[at(o.entry)] = *e;
      if (arena_[*e].op == Op::Buffer)
        overwrites_[at(graph_.order[step])] = true;
      else
        in_output_[at(*e)] = in_output_[at(o.entry)];
      last.erase(e);
      return;
    }
    for (const EntryId e : last) {
      if (!fits(step, o, e, true)) continue;
      graph_.other_dtypes.emplace_back(o.entry, e);
      return;
    }
  }

  // May the output take the memory of `e`, which has its dtype, or (`another`) another one of the same size?
  bool fits(std::size_t step, const Output& o, EntryId e, bool another = false) {
    const Entry& from = arena_[e];
    const Entry& to = arena_[o.entry];
    if (untouched_[at(e)] || requested_[at(e)] || (from.dtype != to.dtype) != another ||
        itemsize(from.dtype) != itemsize(to.dtype) || !certain(numel(from.shape()) == numel(to.shape())) ||
        !same_order(from, to)) {
      return false;
    }
    const KernelId k = graph_.order[step];
    const bool leaf = from.op == Op::Buffer;
    if (leaf ? !in_output_[at(o.entry)] || !dies_(e) : graph_.stored_by[at(e)] < 0 || graph_.stored_by[at(e)] == k)
      return false;
    for (const Instance& i : kernel(k).instances)
      if (i.role == Role::Load && i.entry == e && !reads_its_own(graph_, k, o, i)) return false;
    return !leaf || all_late_behind(step);
  }

  // Does every later kernel overwrite a leaf too, or need one that does, if the kernel at `step` overwrites one?
  bool all_late_behind(std::size_t step) {
    std::vector<bool> late(graph_.kernels.size(), false);
    late[at(graph_.order[step])] = true;
    for (std::size_t s = step + 1; s < graph_.order.size(); ++s) {
      if (++steps_ > kMostSteps) return false;
      const KernelId k = graph_.order[s];
      const auto& needs = kernel(k).depends_on;
      if (!overwrites_[at(k)] && std::none_of(needs.begin(), needs.end(), [&](KernelId d) { return late[at(d)]; }))
        return false;
      late[at(k)] = true;
    }
    return true;
  }

  const Arena& arena_;
  const LeafDies& dies_;
  KernelGraph& graph_;
  std::vector<bool> requested_;
  std::vector<bool> in_output_;   // by entry: its memory is that of a value that was asked for
  std::vector<bool> untouched_;   // by entry: a write, memory that a write reuses, what fused kernels use
  std::vector<bool> overwrites_;  // by kernel: a leaf
  std::size_t steps_ = 0;
};

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.block_of.assign(lifetimes.size(), -1);
  std::vector<std::int32_t> by_start(lifetimes.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::int32_t a, std::int32_t b) {
    return lifetimes[static_cast<std::size_t>(a)].first < lifetimes[static_cast<std::size_t>(b)].first;
  });
  std::map<std::tuple<DeviceKind, int, int>, std::multimap<std::int64_t, std::int32_t>> free_on;  // bytes -> block
  const auto free_of = [&](Device device) -> auto& { return free_on[{device.kind, device.index, device.context}]; };
  using Ending = std::pair<std::int32_t, std::int32_t>;  // (last, block)
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> busy;
  for (std::int32_t i : by_start) {
    const Lifetime& life = lifetimes[static_cast<std::size_t>(i)];
    plan.unshared_bytes += life.bytes;
    while (!busy.empty() && busy.top().first < life.first) {
      const std::int32_t block = busy.top().second;
      busy.pop();
      const auto b = static_cast<std::size_t>(block);
      free_of(plan.block_device[b]).emplace(plan.block_bytes[b], block);
    }
    auto& free = free_of(life.device);
    auto fit = free.lower_bound(life.bytes);
    if (fit == free.end() && !free.empty()) fit = std::prev(free.end());  // the largest grows least
    std::int32_t block = 0;
    if (fit == free.end()) {
      block = static_cast<std::int32_t>(plan.block_bytes.size());
      plan.block_bytes.push_back(life.bytes);
      plan.block_device.push_back(life.device);
    } else {
      block = fit->second;
      free.erase(fit);
      auto& bytes = plan.block_bytes[static_cast<std::size_t>(block)];
      bytes = std::max(bytes, life.bytes);
    }
    plan.block_of[static_cast<std::size_t>(i)] = block;
    busy.emplace(life.last, block);
  }
  plan.peak_bytes = std::accumulate(plan.block_bytes.begin(), plan.block_bytes.end(), std::int64_t{0});
  return plan;
}

void donate_memory(const Arena& arena, std::span<const EntryId> requested, const LeafDies& dies, KernelGraph& graph) {
  Donation(arena, requested, dies, graph).run();
}

}  // namespace oriel::schedule
