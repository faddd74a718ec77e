#include "schedule/loops.hpp"

#include <algorithm>
#include <cstdlib>

#include "oriel/error.hpp"
#include "schedule/access_table.hpp"
#include "schedule/estimate.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

/// Finds the loops of a kernel. Instances are visited producers first, and each gets its slot and its access.
class LoopFinder {
 public:
  LoopFinder(KernelLoops& loops, const KernelGraph& graph)
      : loops_(loops),
        values_(loops.values_),
        nest_(loops.nest_),
        memory_(loops.memory_),
        arena_(*loops.arena_),
        graph_(graph),
        kernel_(*loops.kernel_),
        layout_(arena_, kernel_, values_, nest_),
        table_(arena_, graph, kernel_, layout_, memory_) {}

  void run() {
    find_operands();
    find_used();
    layout_.run();
    values_.slots_.resize(kernel_.instances.size());
    values_.access_of_.assign(kernel_.instances.size(), -1);
    reserve_accesses();
    for (std::size_t n = kernel_.instances.size(); n-- > 0;) place(n);
    for (const bool over : {false, true})
      for (const Output& o : kernel_.outputs)
        if ((table_.shared_argument(o.entry) >= 0) == over) place(o);
    for (LoopArgument& a : memory_.arguments)
      if (a.output) a.shares = table_.shared_argument(a.entry);
    normalise_loops();
  }

 private:
  std::size_t evaluated(const Output& o) const {
    return static_cast<std::size_t>(graph_.evaluated(loops_.id_, o).instance - kernel_.instances.data());
  }

  void find_operands() {
    const auto& list = kernel_.instances;
    const auto found = [&](EntryId entry, ScopeId scope, MapId map) {
      return static_cast<std::int32_t>(&graph_.find(entry, loops_.id_, scope, map) - list.data());
    };
    values_.operands_.resize(list.size());
    for (std::size_t n = 0; n < list.size(); ++n) {
      const Instance& i = list[n];
      auto& operands = values_.operands_[n];
      if (i.role == Role::Compute) {
        const Entry& e = arena_[i.entry];
        for (int k = values_.first_operand(n); k < e.arity; ++k)
          operands[static_cast<std::size_t>(k)] = found(e.source[k], i.at_scope, i.at_map);
      } else if (i.role != Role::Load && i.role != Role::Leaf) {
        operands[0] = found(i.source, i.scope, i.map);
      }
    }
  }

  // Loads that stand for what gathers read from, and for nothing else, are not used.
  void find_used() {
    const auto& list = kernel_.instances;
    std::vector<bool>& used = values_.used_;
    used.assign(list.size(), false);
    for (const Output& o : kernel_.outputs) used[evaluated(o)] = true;
    for (std::size_t n = 0; n < list.size(); ++n) {
      const Instance& i = list[n];
      if (!used[n]) continue;
      if (i.role == Role::Compute) {
        for (int k = values_.first_operand(n); k < arena_[i.entry].arity; ++k) used[values_.operand(n, k)] = true;
      } else if (i.role != Role::Load && i.role != Role::Leaf) {
        used[values_.source(n)] = true;
      }
    }
  }

  // Reserves one access for each instance that may have one, because moving an access is expensive.
  void reserve_accesses() {
    const auto& list = kernel_.instances;
    const auto reads = [this](const Instance& i) {
      return i.role == Role::Load || i.role == Role::Leaf || i.role == Role::Masked ||
             (i.role == Role::Compute && arena_[i.entry].op == Op::Gather);
    };
    const auto count = static_cast<std::size_t>(std::count_if(list.begin(), list.end(), reads));
    memory_.accesses.reserve(count + kernel_.outputs.size());
    memory_.arguments.reserve(std::min<std::size_t>(count + kernel_.outputs.size(), 16));
    memory_.stores.reserve(kernel_.outputs.size());
  }

  void place(std::size_t n) {
    const Instance& i = kernel_.instances[n];
    const StageSlot at = layout_.slot(i.at_scope, n);
    values_.slots_[n] = at;
    if ((i.role == Role::Load || i.role == Role::Alias) && !values_.used_[n]) return;
    if (i.role == Role::Alias || i.role == Role::Reduce) return;
    const Entry& e = arena_[i.entry];
    std::int32_t& access = values_.access_of_[n];
    switch (i.role) {
      case Role::Load:
        access =
            table_.add(table_.argument(i.entry, false), e.dtype, {i.entry, i.at_scope, i.at_map}, at, false, e.strides);
        memory_.accesses[static_cast<std::size_t>(access)].in_order = true;
        break;
      case Role::Leaf:
        if (!e.is_const()) access = table_.add(-1, DType::int64, {i.entry, i.at_scope, i.at_map}, at);
        break;
      case Role::Masked: {
        // Values that are read from memory there, or masked below, are 0 wherever this mask hides them, because the
        // maps below carry the mask along.
        std::size_t below = values_.source(n);
        while (kernel_.instances[below].role == Role::Alias) below = values_.source(below);
        const Role role = kernel_.instances[below].role;
        if (role == Role::Load || role == Role::Masked) return;
        access = table_.add(-1, DType::bool_, {i.source, i.scope, i.map}, at);
        break;
      }
      default: {
        if (e.op != Op::Gather) break;
        const Instance* whole = &graph_.find(i.source, loops_.id_, i.scope, i.map);
        while (whole->role == Role::Alias) whole = &graph_.find(whole->source, loops_.id_, whole->scope, whole->map);
        access = table_.add(table_.argument(whole->entry, false), arena_[whole->entry].dtype,
                            {whole->entry, i.scope, i.map}, at);
      }
    }
    if (at.body) nest_.stages[static_cast<std::size_t>(at.stage)].has_body = true;
  }

  void place(const Output& o) {
    const auto [instance, scope, map] = graph_.evaluated(loops_.id_, o);
    const std::size_t n = evaluated(o);
    StageSlot at = layout_.slot(scope, n);
    if (!at.body && table_.shared_argument(o.entry) >= 0) at.stage = static_cast<int>(nest_.stages.size()) - 1;
    const Entry& e = arena_[o.entry];
    const Ints* strides = e.op == Op::Buffer ? nullptr : e.strides;  // a copy of a leaf is row-major
    const std::int32_t a =
        table_.add(table_.argument(o.entry, true), e.dtype, {o.entry, scope, map}, at, true, strides);
    memory_.accesses[static_cast<std::size_t>(a)].in_order = true;
    if (at.body) nest_.stages[static_cast<std::size_t>(at.stage)].has_body = true;
    memory_.stores.push_back({n, at, a});
  }

  void normalise_loops() {
    Domain domain;
    domain.outer = nest_.outer;
    loops_.before_ = to_string(domain.outer);
    domain.inner.reserve(nest_.stages.size());
    for (const LoopStage& s : nest_.stages) {
      domain.inner.push_back(s.inner);
      if (!s.inner.empty()) loops_.before_ += " | " + to_string(s.inner);
    }
    domain.operands.reserve(memory_.accesses.size());
    for (LoopAccess& a : memory_.accesses)
      domain.operands.push_back({a.stage, std::move(a.tracker), a.store, static_cast<std::int64_t>(itemsize(a.dtype))});
    loops_.change_ = normalise(domain);
    nest_.outer = domain.outer;
    for (std::size_t s = 0; s < nest_.stages.size(); ++s) nest_.stages[s].inner = std::move(domain.inner[s]);
    for (std::size_t a = 0; a < memory_.accesses.size(); ++a)
      memory_.accesses[a].tracker = std::move(domain.operands[a].tracker);
  }

  KernelLoops& loops_;
  LoopValues& values_;
  LoopNest& nest_;
  LoopMemory& memory_;
  const Arena& arena_;
  const KernelGraph& graph_;
  const Kernel& kernel_;
  StageLayout layout_;
  AccessTable table_;
};

std::int32_t LoopMemory::argument_of(EntryId entry, bool output) const {
  for (std::size_t a = 0; a < arguments.size(); ++a)
    if (arguments[a].entry == entry && !arguments[a].leaf && arguments[a].output == output)
      return static_cast<std::int32_t>(a);
  return -1;
}

KernelLoops::KernelLoops(const Arena& arena, const KernelGraph& graph, KernelId kernel)
    : arena_(&arena), kernel_(&graph.kernels[static_cast<std::size_t>(kernel)]), id_(kernel), values_(arena, *kernel_) {
  LoopFinder(*this, graph).run();
}

std::vector<LoopAccess> KernelLoops::take_accesses() && { return std::move(memory_.accesses); }

int LoopValues::first_operand(std::size_t n) const {
  return (*arena_)[kernel_->instances[n].entry].op == Op::Gather ? 1 : 0;
}

std::size_t LoopValues::maker(std::size_t n) const {
  while (kernel_->instances[n].role == Role::Alias || (kernel_->instances[n].role == Role::Masked && access_of_[n] < 0))
    n = source(n);
  return n;
}

std::size_t LoopValues::number(std::size_t n) const {
  while (true) {
    n = maker(n);
    const Instance& i = kernel_->instances[n];
    const Entry& e = (*arena_)[i.entry];
    if (i.role != Role::Compute || e.op != Op::Cast || e.dtype != DType::float32 ||
        !is_half((*arena_)[e.source[0]].dtype))
      return n;
    n = operand(n, 0);
  }
}

namespace {

// The cost of an element that a loop reads, if the loop walks memory in order, repeats one value, or touches a cache
// line for each element. Each run along the loop, however short, also costs its start.
double step_cost(const ShapeTracker& tracker, std::size_t loop) {
  constexpr double kRunBegins = 8;
  const double begin = kRunBegins / static_cast<double>(std::max<std::int64_t>(estimate(tracker.shape()[loop]), 1));
  if (!tracker.single()) return 8 + begin;
  const std::int64_t stride = detail::estimated_step(tracker, loop);
  return (stride == 0 ? 0.5 : stride == 1 ? 1 : stride < 8 ? 2 : 4) + begin;
}

}  // namespace

void WalkCost::add(const ShapeTracker& tracker, DType dtype, std::size_t outer, double points) {
  const double weight = points * static_cast<double>(itemsize(dtype));
  rows_ += weight * step_cost(tracker, tracker.shape().size() - 1);
  columns_ += weight * step_cost(tracker, outer - 1);
}

bool walks_columns(const KernelLoops& loops) {
  if (loops.nest().outer.empty()) return false;
  WalkCost cost;
  for (const LoopAccess& a : loops.memory().accesses) {
    if (!a.in_order || a.stage == kOuterOnly) continue;
    const Ints& inner = loops.nest().stages[static_cast<std::size_t>(a.stage)].inner;
    if (inner.empty()) continue;
    double points = 1;
    for (const SymInt n : inner) points *= static_cast<double>(estimate(n));
    cost.add(a.tracker, a.dtype, loops.nest().outer.size(), points);
  }
  return cost.columns_pay();
}

}  // namespace oriel::schedule
