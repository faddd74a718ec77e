#include "schedule/loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "oriel/error.hpp"
#include "schedule/estimate.hpp"
#include "view/index_maps.hpp"
#include "view/questions.hpp"

namespace oriel::schedule {

using graph::Op;

/// Instances are visited producers first. Each gets the level at which it is known: 0 before any reduction, n + 1 after
/// the reductions of level n.
class LoopFinder {
 public:
  LoopFinder(KernelLoops& loops, const KernelGraph& graph)
      : loops_(loops), values_(loops.values_), arena_(*loops.arena_), graph_(graph), kernel_(*loops.kernel_) {}

  void run() {
    find_operands();
    find_used();
    find_levels();
    lay_out_stages();
    values_.slots_.resize(kernel_.instances.size());
    values_.access_of_.assign(kernel_.instances.size(), -1);
    reserve_accesses();
    for (std::size_t n = kernel_.instances.size(); n-- > 0;) place(n);
    for (const bool over : {false, true})
      for (const Output& o : kernel_.outputs)
        if ((shared_argument(o.entry) >= 0) == over) place(o);
    for (LoopArgument& a : loops_.arguments_)
      if (a.output) a.shares = shared_argument(a.entry);
    normalise_loops();
  }

 private:
  bool all_outer() const { return !kernel_.outer_known; }
  /// Without reductions the root's domain is the outer one.
  ScopeId effective(ScopeId scope) const { return scope == kRootScope && all_outer() ? kOuterScope : scope; }
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

  void find_levels() {
    const auto& list = kernel_.instances;
    level_.assign(list.size(), 0);
    reduction_level_.assign(kernel_.reductions.size(), 0);
    for (std::size_t n = list.size(); n-- > 0;) {
      const Instance& i = list[n];
      switch (i.role) {
        case Role::Load:
        case Role::Leaf:
          break;
        case Role::Compute:
          for (int k = values_.first_operand(n); k < arena_[i.entry].arity; ++k)
            level_[n] = std::max(level_[n], level_[values_.operand(n, k)]);
          break;
        case Role::Alias:
        case Role::Masked:
          level_[n] = level_[values_.source(n)];
          break;
        case Role::Reduce: {
          const int body = level_[values_.source(n)];
          reduction_level_[static_cast<std::size_t>(i.scope - kFirstReduction)] = body;
          level_[n] = body + 1;
          break;
        }
      }
    }
  }

  void lay_out_stages() {
    int top = -1;
    for (const int l : reduction_level_) top = std::max(top, l);
    std::vector<LoopStage>& stages = loops_.stages_;
    stages.reserve(kernel_.reductions.size() + 2);
    stages.emplace_back();
    stage_level_.reserve(kernel_.reductions.size() + 2);
    stage_level_.push_back(-1);
    loops_.stage_of_reduction_.assign(kernel_.reductions.size(), -1);
    for (int l = 0; l <= top; ++l) {
      const std::size_t level_begin = stages.size();
      for (std::size_t r = kernel_.reductions.size(); r-- > 0;) {
        if (reduction_level_[r] != l) continue;
        const Shape& extents = kernel_.reductions[r].extents;
        std::size_t s = level_begin;
        while (s < stages.size() && stages[s].inner != extents) ++s;
        if (s == stages.size()) {
          stages.push_back({extents, {}, false});
          stage_level_.push_back(l);
        }
        stages[s].reductions.push_back(r);
        loops_.stage_of_reduction_[r] = static_cast<int>(s);
      }
    }
    loops_.outer_ = all_outer() ? kernel_.root_shape : kernel_.outer_shape;
    if (all_outer() || kernel_.outer_shape.size() == kernel_.root_shape.size()) return;
    LoopStage last;
    for (std::size_t d = 0; d < kernel_.root_shape.size(); ++d)
      if (!kernel_.outer_axes[d]) last.inner.push_back(kernel_.root_shape[d]);
    root_stage_ = static_cast<int>(stages.size());
    stages.push_back(std::move(last));
    stage_level_.push_back(top + 1);
  }

  // Reserves one access for each instance that may have one, because moving an access is expensive.
  void reserve_accesses() {
    const auto& list = kernel_.instances;
    const auto reads = [this](const Instance& i) {
      return i.role == Role::Load || i.role == Role::Leaf || i.role == Role::Masked ||
             (i.role == Role::Compute && arena_[i.entry].op == Op::Gather);
    };
    const auto count = static_cast<std::size_t>(std::count_if(list.begin(), list.end(), reads));
    loops_.accesses_.reserve(count + kernel_.outputs.size());
    loops_.arguments_.reserve(std::min<std::size_t>(count + kernel_.outputs.size(), 16));
    loops_.stores_.reserve(kernel_.outputs.size());
  }

  // The slot for values that a scope evaluates at a level.
  StageSlot slot(ScopeId scope, int level) const {
    scope = effective(scope);
    if (scope >= kFirstReduction)
      return {loops_.stage_of_reduction_[static_cast<std::size_t>(scope - kFirstReduction)], true};
    if (scope == kRootScope && root_stage_ >= 0) return {root_stage_, true};
    // After the last stage of the level that completes it.
    int s = 0;
    for (int k = 0; k < static_cast<int>(stage_level_.size()); ++k)
      if (k != root_stage_ && stage_level_[static_cast<std::size_t>(k)] < level) s = k;
    return {s, false};
  }

  void place(std::size_t n) {
    const Instance& i = kernel_.instances[n];
    const StageSlot at = slot(i.at_scope, level_[n]);
    values_.slots_[n] = at;
    if ((i.role == Role::Load || i.role == Role::Alias) && !values_.used_[n]) return;
    if (i.role == Role::Alias || i.role == Role::Reduce) return;
    const Entry& e = arena_[i.entry];
    std::int32_t& access = values_.access_of_[n];
    switch (i.role) {
      case Role::Load:
        access = add(argument(i.entry, false), e.dtype, {i.entry, i.at_scope, i.at_map}, at, false, e.strides);
        loops_.accesses_[static_cast<std::size_t>(access)].in_order = true;
        break;
      case Role::Leaf:
        if (!e.is_const()) access = add(-1, DType::int64, {i.entry, i.at_scope, i.at_map}, at);
        break;
      case Role::Masked: {
        // Values that are read from memory there, or masked below, are 0 wherever this mask hides them, because the
        // maps below carry the mask along.
        std::size_t below = values_.source(n);
        while (kernel_.instances[below].role == Role::Alias) below = values_.source(below);
        const Role role = kernel_.instances[below].role;
        if (role == Role::Load || role == Role::Masked) return;
        access = add(-1, DType::bool_, {i.source, i.scope, i.map}, at);
        break;
      }
      default: {
        if (e.op != Op::Gather) break;
        const Instance* whole = &graph_.find(i.source, loops_.id_, i.scope, i.map);
        while (whole->role == Role::Alias) whole = &graph_.find(whole->source, loops_.id_, whole->scope, whole->map);
        access = add(argument(whole->entry, false), arena_[whole->entry].dtype, {whole->entry, i.scope, i.map}, at);
      }
    }
    if (at.body) loops_.stages_[static_cast<std::size_t>(at.stage)].has_body = true;
  }

  void place(const Output& o) {
    const auto [instance, scope, map] = graph_.evaluated(loops_.id_, o);
    const std::size_t n = evaluated(o);
    StageSlot at = slot(scope, level_[n]);
    if (!at.body && shared_argument(o.entry) >= 0) at.stage = static_cast<int>(stage_level_.size()) - 1;
    const Entry& e = arena_[o.entry];
    const Ints* strides = e.op == Op::Buffer ? nullptr : e.strides;  // a copy of a leaf is row-major
    const std::int32_t a = add(argument(o.entry, true), e.dtype, {o.entry, scope, map}, at, true, strides);
    loops_.accesses_[static_cast<std::size_t>(a)].in_order = true;
    if (at.body) loops_.stages_[static_cast<std::size_t>(at.stage)].has_body = true;
    loops_.stores_.push_back({n, at, a});
  }

  /// What is read or stored, and from where in the schedule.
  struct Read {
    EntryId entry;
    ScopeId scope;
    MapId map;
  };

  std::int32_t argument(EntryId entry, bool output) {
    const bool leaf = !output && arena_[entry].op == Op::Buffer;
    std::vector<LoopArgument>& list = loops_.arguments_;
    const auto next = static_cast<std::int32_t>(list.size());
    if (list.size() < kFewArguments) {
      for (std::size_t a = 0; a < list.size(); ++a)
        if (list[a].entry == entry && list[a].leaf == leaf && list[a].output == output)
          return static_cast<std::int32_t>(a);
    } else {
      if (argument_ids_.empty())
        for (std::size_t a = 0; a < list.size(); ++a)
          argument_ids_.emplace(std::make_tuple(list[a].entry, list[a].leaf, list[a].output),
                                static_cast<std::int32_t>(a));
      const auto [known, fresh] = argument_ids_.emplace(std::make_tuple(entry, leaf, output), next);
      if (!fresh) return known->second;
    }
    list.push_back({entry, leaf, output, -1});
    return next;
  }

  // The argument, if any, that is read and whose memory the value is then written to.
  std::int32_t shared_argument(EntryId written) const {
    const EntryId taken = graph_.taken_by(written);
    const bool write = graph_.writes.home(written) != kNone;
    if (taken == kNone && !write) return -1;
    const std::vector<LoopArgument>& list = loops_.arguments_;
    for (std::size_t a = 0; a < list.size(); ++a)
      if (!list[a].output &&
          (write ? graph_.writes.storage(list[a].entry) == graph_.writes.storage(written) : list[a].entry == taken))
        return static_cast<std::int32_t>(a);
    return -1;
  }

  // The map over the stage's outer loops, then its inner loops; the axes of the root scope are permuted to this order.
  // It gives positions of the value's row-major elements or, with `strides`, positions in memory with these strides.
  std::int32_t add(std::int32_t argument, DType dtype, Read read, StageSlot at, bool store = false,
                   const Ints* strides = nullptr) {
    const int stage = at.body ? at.stage : kOuterOnly;
    const auto [known, fresh] = access_ids_.emplace(std::make_tuple(argument, stage, read.map, store, dtype),
                                                    static_cast<std::int32_t>(loops_.accesses_.size()));
    if (!fresh) return known->second;
    ShapeTracker tracker = graph_.maps[read.map];
    if (effective(read.scope) == kRootScope && root_stage_ >= 0) {
      Ints order;
      for (const bool outer : {true, false})
        for (std::size_t d = 0; d < kernel_.outer_axes.size(); ++d)
          if (kernel_.outer_axes[d] == outer) order.push_back(d);
      tracker = tracker.permute(order);
    }
    if (strides != nullptr) tracker = detail::in_memory(tracker, arena_[read.entry].shape(), *strides);
    loops_.accesses_.push_back(
        {argument, dtype, read.entry, read.scope, read.map, stage, store, false, std::move(tracker)});
    return known->second;
  }

  void normalise_loops() {
    Domain domain;
    domain.outer = loops_.outer_;
    loops_.before_ = to_string(domain.outer);
    domain.inner.reserve(loops_.stages_.size());
    for (const LoopStage& s : loops_.stages_) {
      domain.inner.push_back(s.inner);
      if (!s.inner.empty()) loops_.before_ += " | " + to_string(s.inner);
    }
    domain.operands.reserve(loops_.accesses_.size());
    for (LoopAccess& a : loops_.accesses_)
      domain.operands.push_back({a.stage, std::move(a.tracker), a.store, static_cast<std::int64_t>(itemsize(a.dtype))});
    loops_.change_ = normalise(domain);
    loops_.outer_ = domain.outer;
    for (std::size_t s = 0; s < loops_.stages_.size(); ++s) loops_.stages_[s].inner = std::move(domain.inner[s]);
    for (std::size_t a = 0; a < loops_.accesses_.size(); ++a)
      loops_.accesses_[a].tracker = std::move(domain.operands[a].tracker);
  }

  KernelLoops& loops_;
  LoopValues& values_;
  const Arena& arena_;
  const KernelGraph& graph_;
  const Kernel& kernel_;
  std::vector<int> level_;
  std::vector<int> reduction_level_;
  std::vector<int> stage_level_;
  int root_stage_ = -1;
  static constexpr std::size_t kFewArguments = 16;                        // so many are searched one by one
  std::map<std::tuple<EntryId, bool, bool>, std::int32_t> argument_ids_;  // empty for few
  std::map<std::tuple<std::int32_t, int, MapId, bool, DType>, std::int32_t> access_ids_;
};

KernelLoops::KernelLoops(const Arena& arena, const KernelGraph& graph, KernelId kernel)
    : arena_(&arena), kernel_(&graph.kernels[static_cast<std::size_t>(kernel)]), id_(kernel), values_(arena, *kernel_) {
  LoopFinder(*this, graph).run();
}

std::vector<LoopAccess> KernelLoops::take_accesses() && { return std::move(accesses_); }

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

KernelForm KernelLoops::form() const noexcept {
  if (kernel_->reductions.empty()) return KernelForm::Elementwise;
  const auto loops = std::count_if(stages_.begin(), stages_.end(), [](const LoopStage& s) { return s.loops(); });
  return loops == 1 ? KernelForm::Reduction : KernelForm::Rows;
}

std::int32_t KernelLoops::argument_of(EntryId entry, bool output) const {
  for (std::size_t a = 0; a < arguments_.size(); ++a)
    if (arguments_[a].entry == entry && !arguments_[a].leaf && arguments_[a].output == output)
      return static_cast<std::int32_t>(a);
  return -1;
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
  if (loops.outer().empty()) return false;
  WalkCost cost;
  for (const LoopAccess& a : loops.accesses()) {
    if (!a.in_order || a.stage == kOuterOnly) continue;
    const Ints& inner = loops.stages()[static_cast<std::size_t>(a.stage)].inner;
    if (inner.empty()) continue;
    double points = 1;
    for (const SymInt n : inner) points *= static_cast<double>(estimate(n));
    cost.add(a.tracker, a.dtype, loops.outer().size(), points);
  }
  return cost.columns_pay();
}

}  // namespace oriel::schedule
