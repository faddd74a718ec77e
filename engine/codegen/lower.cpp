#include "codegen/lower.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "codegen/cost.hpp"
#include "codegen/keep.hpp"
#include "codegen/lower_sort.hpp"
#include "codegen/unused.hpp"
#include "oriel/error.hpp"
#include "view/merging/simplify.hpp"

namespace oriel::codegen {

using graph::Op;
using graph::Scalar;
using schedule::EntryId;
using schedule::Instance;
using schedule::kFirstReduction;
using schedule::kOuterScope;
using schedule::kRootScope;
using schedule::MapId;
using schedule::Role;
using schedule::ScopeId;

namespace {

/// Instances are visited producers first. Each gets the level at which it is known: 0 before any reduction, n + 1 after
/// the reductions of level n. Reductions of one level with the same extents form a stage; outer values follow the stage
/// that completes them.
class Lowering {
 public:
  Lowering(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId id,
           std::int64_t row_bytes)
      : arena_(arena),
        graph_(graph),
        id_(id),
        kernel_(graph.kernels[static_cast<std::size_t>(id)]),
        row_bytes_(row_bytes) {}

  LoweredKernel run() {
    find_used();
    find_levels();
    lay_out_stages();
    emit_instances();
    emit_outputs();
    place_instructions();
    normalise_domain();
    finish(out_.program);
    keep();
    return std::move(out_);
  }

 private:
  LoopProgram& program() { return out_.program; }
  bool all_outer() const { return !kernel_.outer_known; }
  /// Without reductions the root's domain is the outer one.
  ScopeId effective(ScopeId scope) const { return scope == kRootScope && all_outer() ? kOuterScope : scope; }
  const Instance& source_of(const Instance& i) const { return graph_.find(i.source, id_, i.scope, i.map); }
  std::size_t index_of(const Instance& i) const { return static_cast<std::size_t>(&i - kernel_.instances.data()); }
  const Instance& operand(const Instance& i, int k) const {
    return graph_.find(arena_[i.entry].source[k], id_, i.at_scope, i.at_map);
  }

  // What a gather reads from is no operand: it is there before the kernel runs.
  int first_operand(const Instance& i) const { return arena_[i.entry].op == Op::Gather ? 1 : 0; }

  // Loads that stand for what gathers read from, and for nothing else, give no instruction.
  void find_used() {
    const auto& list = kernel_.instances;
    used_.assign(list.size(), false);
    for (const schedule::Output& o : kernel_.outputs) used_[index_of(*graph_.evaluated(id_, o).instance)] = true;
    for (std::size_t n = 0; n < list.size(); ++n) {
      const Instance& i = list[n];
      if (!used_[n]) continue;
      if (i.role == Role::Compute) {
        for (int k = first_operand(i); k < arena_[i.entry].arity; ++k) used_[index_of(operand(i, k))] = true;
      } else if (i.role != Role::Load && i.role != Role::Leaf) {
        used_[index_of(source_of(i))] = true;
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
          for (int k = first_operand(i); k < arena_[i.entry].arity; ++k)
            level_[n] = std::max(level_[n], level_[index_of(operand(i, k))]);
          break;
        case Role::Alias:
        case Role::Masked:
          level_[n] = level_[index_of(source_of(i))];
          break;
        case Role::Reduce: {
          const int body = level_[index_of(source_of(i))];
          reduction_level_[static_cast<std::size_t>(i.scope - kFirstReduction)] = body;
          level_[n] = body + 1;
          break;
        }
      }
    }
  }

  void lay_out_stages() {
    int top = -1;
    for (int l : reduction_level_) top = std::max(top, l);
    // Slot 0: outer values that need no reduction. Dropped at the end if nothing came to be in it.
    Stage first;
    program().stages.push_back(first);
    stage_level_.push_back(-1);
    stage_of_reduction_.assign(kernel_.reductions.size(), -1);
    for (int l = 0; l <= top; ++l) {
      const std::size_t level_begin = program().stages.size();
      for (std::size_t r = kernel_.reductions.size(); r-- > 0;) {
        if (reduction_level_[r] != l) continue;
        const Shape& extents = kernel_.reductions[r].extents;
        std::size_t s = level_begin;
        while (s < program().stages.size() && program().stages[s].inner != extents) ++s;
        if (s == program().stages.size()) {
          Stage stage;
          stage.inner = extents;
          program().stages.push_back(stage);
          stage_level_.push_back(l);
        }
        stage_of_reduction_[r] = static_cast<int>(s);
      }
    }
    program().outer = all_outer() ? kernel_.root_shape : kernel_.outer_shape;
    root_stage_ = -1;
    if (!all_outer() && kernel_.outer_shape.size() < kernel_.root_shape.size()) {
      Stage stage;
      for (std::size_t d = 0; d < kernel_.root_shape.size(); ++d)
        if (!kernel_.outer_axes[d]) stage.inner.push_back(kernel_.root_shape[d]);
      program().stages.push_back(stage);
      stage_level_.push_back(top + 1);
      root_stage_ = static_cast<int>(program().stages.size()) - 1;
    }
    code_.resize(program().stages.size());
  }

  /// The stage whose loops a scope's instances run in, and whether in its body.
  struct Home {
    int stage;
    bool body;
  };
  Home home(ScopeId scope, int level) const {
    scope = effective(scope);
    if (scope >= kFirstReduction) return {stage_of_reduction_[static_cast<std::size_t>(scope - kFirstReduction)], true};
    if (scope == kRootScope && root_stage_ >= 0) return {root_stage_, true};
    // After the last stage of the level that completes it.
    int s = 0;
    for (int k = 0; k < static_cast<int>(stage_level_.size()); ++k)
      if (k != root_stage_ && stage_level_[static_cast<std::size_t>(k)] < level) s = k;
    return {s, false};
  }

  int last_stage() const { return static_cast<int>(stage_level_.size()) - 1; }

  ValueId new_value(DType dtype) {
    program().values.push_back(dtype);
    return static_cast<ValueId>(program().values.size() - 1);
  }

  ValueId emit(Home at, Instr instr) {
    auto& code = code_[static_cast<std::size_t>(at.stage)];
    if (instr.code != Code::Store) {
      // Reductions that share a stage are lowered one by one: what they have in common is found here.
      if (kernel_.reductions.size() > 1) {
        const auto key = std::make_tuple(at.stage, at.body, instr.code, instr.op, instr.dtype, instr.from, instr.a,
                                         instr.b, instr.c, instr.aux);
        const auto [it, fresh] = numbered_.emplace(key, kNoValue);
        if (!fresh) return it->second;
        it->second = instr.result = new_value(register_dtype(instr.dtype));
      } else {
        instr.result = new_value(register_dtype(instr.dtype));
      }
    }
    (at.body ? code.body : code.outer).push_back(instr);
    return instr.result;
  }

  std::int32_t argument(Binding binding, bool output) {
    for (std::size_t a = 0; a < out_.bindings.size(); ++a)
      if (out_.bindings[a].entry == binding.entry && out_.bindings[a].leaf == binding.leaf &&
          program().arguments[a].output == output)
        return static_cast<std::int32_t>(a);
    const schedule::Entry& e = arena_[binding.entry];
    int serial = 0;
    for (const Argument& a : program().arguments) serial += a.output == output;
    program().arguments.push_back(
        {e.dtype, numel(e.shape()).value(), output, fmt::format("{}{}", output ? "out" : "in", serial)});
    out_.bindings.push_back(binding);
    return static_cast<std::int32_t>(program().arguments.size() - 1);
  }

  // Before normalisation, over outer ++ inner of the stage (the root scope's axes brought into that order).
  // Positions are those of the value's row-major elements, or, with `strides`, of the memory in which these lie so.
  std::int32_t access(std::int32_t buffer, DType dtype, EntryId entry, ScopeId scope, MapId map, Home at, bool store,
                      const Ints* strides = nullptr) {
    const auto key =
        std::make_tuple(buffer, at.body ? at.stage : -1, at.body && at.stage == root_stage_, map, store, dtype);
    if (auto it = access_ids_.find(key); it != access_ids_.end()) return it->second;
    ShapeTracker tracker = graph_.maps[map];
    if (effective(scope) == kRootScope && root_stage_ >= 0) {
      Ints order;
      for (bool outer : {true, false})
        for (std::size_t d = 0; d < kernel_.outer_axes.size(); ++d)
          if (kernel_.outer_axes[d] == outer) order.push_back(d);
      tracker = tracker.permute(order);
    }
    if (strides != nullptr)
      tracker = detail::merged(tracker.over(View{arena_[entry].shape(), *strides, 0, {}}.canonical()));
    out_.notes.push_back({id_, entry, scope, map});
    program().accesses.push_back({buffer, dtype, std::move(tracker)});
    const auto id = static_cast<std::int32_t>(program().accesses.size() - 1);
    access_group_.push_back(at.body ? at.stage : kOuterOnly);
    access_store_.push_back(store);
    access_ids_.emplace(key, id);
    return id;
  }

  std::int32_t constant(const Constant& c) {
    auto& list = program().constants;
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].parameter == c.parameter && (c.parameter >= 0 || list[k].value == c.value) &&
          list[k].value.dtype == c.value.dtype)
        return static_cast<std::int32_t>(k);
    list.push_back(c);
    return static_cast<std::int32_t>(list.size() - 1);
  }

  void emit_instances() {
    value_.assign(kernel_.instances.size(), kNoValue);
    for (std::size_t n = kernel_.instances.size(); n-- > 0;) value_[n] = emit_instance(kernel_.instances[n], level_[n]);
  }

  ValueId emit_instance(const Instance& i, int level) {
    if ((i.role == Role::Load || i.role == Role::Alias) && !used_[index_of(i)]) return kNoValue;
    const schedule::Entry& e = arena_[i.entry];
    const Home at = home(i.at_scope, level);
    const DType dtype = register_dtype(e.dtype);
    switch (i.role) {
      case Role::Alias:
        return value_[index_of(source_of(i))];
      case Role::Load: {
        const bool leaf = e.op == Op::Buffer;
        const std::int32_t a =
            access(argument({i.entry, leaf}, false), e.dtype, i.entry, i.at_scope, i.at_map, at, false, e.strides);
        return emit(at, {Code::Load, Op::Buffer, dtype, e.dtype, kNoValue, kNoValue, kNoValue, kNoValue, a});
      }
      case Role::Leaf:
        if (e.is_const()) {
          const Constant c =
              e.parameter >= 0 ? Constant{Scalar::of_int(dtype, 0), e.parameter} : Constant{e.scalar().cast(dtype), -1};
          return emit(at, {Code::Const, Op::Const, dtype, dtype, kNoValue, kNoValue, kNoValue, kNoValue, constant(c)});
        } else {
          const std::int32_t a = access(-1, DType::int64, i.entry, i.at_scope, i.at_map, at, false);
          return emit(at,
                      {Code::Index, Op::Iota, DType::int64, DType::int64, kNoValue, kNoValue, kNoValue, kNoValue, a});
        }
      case Role::Masked: {
        const ValueId value = value_[index_of(source_of(i))];
        // What is read from memory there, or is masked below, is 0 wherever this mask hides it: the maps of what lies
        // below carry it along.
        const Instance* below = &source_of(i);
        while (below->role == Role::Alias) below = &source_of(*below);
        if (below->role == Role::Load || below->role == Role::Masked) return value;
        const std::int32_t a = access(-1, DType::bool_, i.source, i.scope, i.map, at, false);
        const ValueId valid =
            emit(at, {Code::Valid, Op::Pad, DType::bool_, DType::bool_, kNoValue, kNoValue, kNoValue, kNoValue, a});
        const std::int32_t c = constant({Scalar::of_int(dtype, 0), -1});
        const ValueId zero =
            emit(at, {Code::Const, Op::Const, dtype, dtype, kNoValue, kNoValue, kNoValue, kNoValue, c});
        return emit(at, {Code::Elementwise, Op::Where, dtype, dtype, kNoValue, valid, value, zero, -1});
      }
      case Role::Reduce: {
        const auto r = static_cast<std::size_t>(i.scope - kFirstReduction);
        const ValueId input = value_[index_of(source_of(i))];
        ValueId result = new_value(dtype);
        code_[static_cast<std::size_t>(stage_of_reduction_[r])].reductions.push_back({e.op, dtype, input, result});
        if (is_half(e.dtype) && !graph::row(e.op).keeps_half)
          result = emit(at, {Code::Round, e.op, dtype, e.dtype, kNoValue, result});
        return result;
      }
      case Role::Compute:
        return e.op == Op::Gather ? emit_gather(i, e, at) : emit_compute(i, e, at);
    }
    throw InternalError("lower", "an instance without a role");
  }

  ValueId emit_int(Home at, Op op, DType dtype, DType from, ValueId a, ValueId b, ValueId c = kNoValue) {
    return emit(at, {Code::Elementwise, op, dtype, from, kNoValue, a, b, c, -1});
  }
  ValueId emit_number(Home at, std::int64_t value) {
    const std::int32_t c = constant({Scalar::of_int(DType::int64, value), -1});
    return emit(at, {Code::Const, Op::Const, DType::int64, DType::int64, kNoValue, kNoValue, kNoValue, kNoValue, c});
  }

  ValueId emit_gather(const Instance& i, const schedule::Entry& e, Home at) {
    const Instance* whole = &graph_.find(i.source, id_, i.scope, i.map);
    while (whole->role == Role::Alias) whole = &source_of(*whole);
    const schedule::Entry& from = arena_[whole->entry];
    const Binding binding{whole->entry, from.op == Op::Buffer};
    ValueId position = value_[index_of(operand(i, 1))];
    if (from.strides != nullptr) position = place_in_memory(at, position, from.shape(), *from.strides);
    const std::int32_t a = access(argument(binding, false), from.dtype, whole->entry, i.scope, i.map, at, false);
    return emit(
        at, {Code::Gather, Op::Gather, register_dtype(e.dtype), from.dtype, kNoValue, position, kNoValue, kNoValue, a});
  }

  // From a row-major position to that of the element in dense memory with these strides; -1 stays outside.
  ValueId place_in_memory(Home at, ValueId position, const Shape& shape, const Ints& strides) {
    const ValueId zero = emit_number(at, 0);
    const ValueId all = emit_number(at, numel(shape).value());
    ValueId place = zero;
    SymInt below = 1;
    for (std::size_t d = shape.size(); d-- > 0; below *= shape[d]) {
      ValueId index = emit_int(at, Op::FloorDiv, DType::int64, DType::int64, position, emit_number(at, below.value()));
      index = emit_int(at, Op::Remainder, DType::int64, DType::int64, index, emit_number(at, shape[d].value()));
      index = emit_int(at, Op::Mul, DType::int64, DType::int64, index, emit_number(at, strides[d].value()));
      place = emit_int(at, Op::Add, DType::int64, DType::int64, place, index);
    }
    const ValueId above = emit_int(at, Op::Le, DType::bool_, DType::int64, zero, position);
    const ValueId under = emit_int(at, Op::Lt, DType::bool_, DType::int64, position, all);
    const ValueId inside = emit_int(at, Op::And, DType::bool_, DType::bool_, above, under);
    return emit_int(at, Op::Where, DType::int64, DType::int64, inside, place, emit_number(at, -1));
  }

  ValueId emit_compute(const Instance& i, const schedule::Entry& e, Home at) {
    ValueId v[3] = {kNoValue, kNoValue, kNoValue};
    for (int k = 0; k < e.arity; ++k) v[k] = value_[index_of(operand(i, k))];
    // Where's operands are typed by its second source; everything else by its first.
    const DType from = arena_[e.source[e.op == Op::Where ? 1 : 0]].dtype;
    const DType dtype = register_dtype(e.dtype);
    if (e.op == Op::Bitcast) {
      // From one half to the other by way of the bits themselves.
      const DType direct = is_half(from) && is_half(e.dtype) ? DType::uint16 : e.dtype;
      const ValueId bits =
          emit(at, {Code::Elementwise, Op::Bitcast, direct, from, kNoValue, v[0], kNoValue, kNoValue, -1});
      if (direct == e.dtype) return bits;
      return emit(at, {Code::Elementwise, Op::Bitcast, e.dtype, direct, kNoValue, bits, kNoValue, kNoValue, -1});
    }
    if (e.op == Op::Cast) {
      ValueId value = v[0];
      if (register_dtype(from) != dtype)
        value = emit(
            at, {Code::Elementwise, Op::Cast, dtype, register_dtype(from), kNoValue, value, kNoValue, kNoValue, -1});
      if (is_half(e.dtype)) value = emit(at, {Code::Round, Op::Cast, dtype, e.dtype, kNoValue, value});
      return value;
    }
    const ValueId value =
        emit(at, {Code::Elementwise, e.op, dtype, register_dtype(from), kNoValue, v[0], v[1], v[2], -1});
    if (is_half(e.dtype) && !graph::row(e.op).keeps_half)
      return emit(at, {Code::Round, e.op, dtype, e.dtype, kNoValue, value});
    return value;
  }

  // The input, if any, in whose memory a value goes.
  std::int32_t shared_input(EntryId written) const {
    const EntryId taken = graph_.taken_by(written);
    const bool write = graph_.writes.home(written) != schedule::kNone;
    if (taken == schedule::kNone && !write) return -1;
    for (std::size_t a = 0; a < out_.bindings.size(); ++a)
      if (!out_.program.arguments[a].output &&
          (write ? graph_.writes.storage(out_.bindings[a].entry) == graph_.writes.storage(written)
                 : out_.bindings[a].entry == taken))
        return static_cast<std::int32_t>(a);
    return -1;
  }

  // What goes over memory that the kernel reads comes last, when nothing else needs what it reads any more.
  void emit_outputs() {
    for (const bool over : {false, true})
      for (const schedule::Output& o : kernel_.outputs)
        if ((shared_input(o.entry) >= 0) == over) emit_output(o);
    for (std::size_t a = 0; a < out_.bindings.size(); ++a)
      if (program().arguments[a].output) program().arguments[a].shares = shared_input(out_.bindings[a].entry);
  }

  void emit_output(const schedule::Output& o) {
    const auto [instance, scope, map] = graph_.evaluated(id_, o);
    const std::size_t n = index_of(*instance);
    Home at = home(scope, level_[n]);
    if (!at.body && shared_input(o.entry) >= 0) at.stage = last_stage();
    const schedule::Entry& e = arena_[o.entry];
    const DType dtype = e.dtype;
    const Ints* strides = e.op == Op::Buffer ? nullptr : e.strides;  // a copy of a leaf is row-major
    const std::int32_t a = access(argument({o.entry, false}, true), dtype, o.entry, scope, map, at, true, strides);
    emit(at, {Code::Store, Op::Buffer, dtype, register_dtype(dtype), kNoValue, value_[n], kNoValue, kNoValue, a});
  }

  void place_instructions() {
    auto& stages = program().stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].body = std::move(code_[s].body);
      stages[s].outer = std::move(code_[s].outer);
      stages[s].reductions = std::move(code_[s].reductions);
    }
    if (stages.front().outer.empty() && stages.size() > 1) {
      stages.erase(stages.begin());
      for (int& g : access_group_) g = g == kOuterOnly ? g : g - 1;
    }
  }

  void normalise_domain() {
    Domain domain;
    domain.outer = program().outer;
    out_.domain_before = to_string(domain.outer);
    for (const Stage& s : program().stages) {
      domain.inner.push_back(s.inner);
      if (!s.inner.empty()) out_.domain_before += " | " + to_string(s.inner);
    }
    for (std::size_t a = 0; a < program().accesses.size(); ++a) {
      const Access& access = program().accesses[a];
      domain.operands.push_back(
          {access_group_[a], access.tracker, access_store_[a], static_cast<std::int64_t>(itemsize(access.dtype))});
    }
    out_.change = normalise(domain);
    program().outer = domain.outer;
    for (std::size_t s = 0; s < program().stages.size(); ++s) program().stages[s].inner = domain.inner[s];
    for (std::size_t a = 0; a < program().accesses.size(); ++a)
      program().accesses[a].tracker = std::move(domain.operands[a].tracker);
  }

  // Where fewer loads would turn rows into columns, what they keep is no row any more: all stays as it was.
  void keep() {
    LoopProgram kept = program();
    if (!keep_rows(kept, row_bytes_)) return;
    if (choose_orientation(kept) != program().orientation) return;
    program() = std::move(kept);
    drop_unused_accesses(out_);
    finish(program());
  }

  struct StageCode {
    std::vector<Instr> body;
    std::vector<Reduction> reductions;
    std::vector<Instr> outer;
  };

  const schedule::Arena& arena_;
  const schedule::KernelGraph& graph_;
  const schedule::KernelId id_;
  const schedule::Kernel& kernel_;
  const std::int64_t row_bytes_;
  LoweredKernel out_;
  std::vector<bool> used_;
  std::vector<int> level_;
  std::vector<int> reduction_level_;
  std::vector<int> stage_of_reduction_;
  std::vector<int> stage_level_;
  std::vector<StageCode> code_;
  std::vector<ValueId> value_;
  std::vector<int> access_group_;
  std::vector<bool> access_store_;
  std::map<std::tuple<std::int32_t, int, bool, MapId, bool, DType>, std::int32_t> access_ids_;
  std::map<std::tuple<int, bool, Code, Op, DType, DType, ValueId, ValueId, ValueId, std::int32_t>, ValueId> numbered_;
  int root_stage_ = -1;
};

}  // namespace

LoweredKernel lower(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel,
                    std::int64_t row_bytes) {
  if (graph.kernels[static_cast<std::size_t>(kernel)].sorts) return lower_sort(arena, graph, kernel);
  return Lowering(arena, graph, kernel, row_bytes).run();
}

}  // namespace oriel::codegen
