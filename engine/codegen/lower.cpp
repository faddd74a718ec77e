#include "codegen/lower.hpp"

#include <algorithm>
#include <map>

#include "codegen/cost.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "codegen/keep.hpp"
#include "oriel/error.hpp"
#include "schedule/loop_product.hpp"

namespace oriel::codegen {

using graph::Op;
using graph::Scalar;
using schedule::Instance;
using schedule::kFirstReduction;
using schedule::Role;
using schedule::StageSlot;

namespace {

/// Instances are visited producers first, and each becomes the instructions that make its value, in its slot of the
/// kernel's stages (schedule/loops.hpp).
class Lowering {
 public:
  explicit Lowering(schedule::KernelLoops loops)
      : arena_(loops.arena()), loops_(std::move(loops)), kernel_(loops_.kernel()) {}

  LoweredKernel run() {
    take_loops();
    emit_instances();
    for (const schedule::LoopStore& s : loops_.memory().stores) emit_store(s);
    place_instructions();
    return std::move(out_);
  }

 private:
  LoopProgram& program() { return out_.program; }

  void take_loops() {
    program().outer = loops_.nest().outer;
    program().stages.reserve(loops_.nest().stages.size());
    for (const schedule::LoopStage& s : loops_.nest().stages) program().stages.emplace_back().inner = s.inner;
    code_.resize(program().stages.size());
    program().arguments.reserve(loops_.memory().arguments.size());
    out_.bindings.reserve(loops_.memory().arguments.size());
    int serials[] = {0, 0};
    for (const schedule::LoopArgument& a : loops_.memory().arguments) {
      const schedule::Entry& e = arena_[a.entry];
      program().arguments.push_back({e.dtype, numel(e.shape()), a.output,
                                     (a.output ? "out" : "in") + std::to_string(serials[a.output ? 1 : 0]++),
                                     a.shares});
      out_.bindings.push_back({a.entry, a.leaf});
    }
    std::vector<schedule::LoopAccess> accesses = std::move(loops_).take_accesses();
    program().accesses.reserve(accesses.size());
    out_.notes.reserve(accesses.size());
    for (schedule::LoopAccess& a : accesses) {
      program().accesses.emplace_back(a.argument, a.dtype, std::move(a.tracker));
      out_.notes.push_back({loops_.id(), a.entry, a.scope, a.map});
    }
    out_.domain_before = loops_.before();
    out_.change = loops_.change();
  }

  ValueId new_value(DType dtype) {
    program().values.push_back(dtype);
    return static_cast<ValueId>(program().values.size() - 1);
  }

  ValueId emit(StageSlot at, Instr instr) {
    auto& code = code_[static_cast<std::size_t>(at.stage)];
    if (instr.code != Code::Store) {
      // Reductions that share a stage are lowered one by one. Instructions that they have in common are found here.
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
    std::vector<Instr>& list = at.body ? code.body : code.outer;
    if (list.empty()) list.reserve(8);
    list.push_back(instr);
    return instr.result;
  }

  std::int32_t constant(const Constant& c) {
    auto& list = program().constants;
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].parameter == c.parameter && identical(list[k].size, c.size) &&
          (c.parameter >= 0 || list[k].value == c.value) && list[k].value.dtype == c.value.dtype)
        return static_cast<std::int32_t>(k);
    list.push_back(c);
    return static_cast<std::int32_t>(list.size() - 1);
  }

  void emit_instances() {
    value_.assign(kernel_.instances.size(), kNoValue);
    for (std::size_t n = kernel_.instances.size(); n-- > 0;) value_[n] = emit_instance(n);
  }

  ValueId emit_instance(std::size_t n) {
    const Instance& i = kernel_.instances[n];
    if ((i.role == Role::Load || i.role == Role::Alias) && !loops_.values().used(n)) return kNoValue;
    const schedule::Entry& e = arena_[i.entry];
    const StageSlot at = loops_.values().slot(n);
    const std::int32_t a = loops_.values().access(n);
    const DType dtype = register_dtype(e.dtype);
    switch (i.role) {
      case Role::Alias:
        return value_[loops_.values().source(n)];
      case Role::Load:
        return emit(at, {Code::Load, Op::Buffer, dtype, e.dtype, kNoValue, kNoValue, kNoValue, kNoValue, a});
      case Role::Leaf:
        if (e.is_const()) {
          const Constant c =
              e.parameter >= 0 ? Constant{Scalar::of_int(dtype, 0), e.parameter} : Constant{e.scalar().cast(dtype), -1};
          return emit(at, {Code::Const, Op::Const, dtype, dtype, kNoValue, kNoValue, kNoValue, kNoValue, constant(c)});
        } else {
          return emit(at,
                      {Code::Index, Op::Iota, DType::int64, DType::int64, kNoValue, kNoValue, kNoValue, kNoValue, a});
        }
      case Role::Masked: {
        const ValueId value = value_[loops_.values().source(n)];
        if (a < 0) return value;  // this mask hides nothing that is not hidden below it
        const ValueId valid =
            emit(at, {Code::Valid, Op::Pad, DType::bool_, DType::bool_, kNoValue, kNoValue, kNoValue, kNoValue, a});
        const std::int32_t c = constant({Scalar::of_int(dtype, 0), -1});
        const ValueId zero =
            emit(at, {Code::Const, Op::Const, dtype, dtype, kNoValue, kNoValue, kNoValue, kNoValue, c});
        return emit(at, {Code::Elementwise, Op::Where, dtype, dtype, kNoValue, valid, value, zero, -1});
      }
      case Role::Reduce: {
        const auto r = static_cast<std::size_t>(i.scope - kFirstReduction);
        const ValueId input = value_[loops_.values().source(n)];
        ValueId result = new_value(dtype);
        code_[static_cast<std::size_t>(loops_.nest().stage_of_reduction[r])].reductions.push_back(
            {e.op, dtype, schedule::source_of(loops_, n), kernel_.reductions[r].windows, input, result});
        if (is_half(e.dtype) && !graph::row(e.op).keeps_half)
          result = emit(at, {Code::Round, e.op, dtype, e.dtype, kNoValue, result});
        return result;
      }
      case Role::Compute:
        return e.op == Op::Gather ? emit_gather(n, e, at) : emit_compute(n, e, at);
    }
    throw InternalError("lower", "an instance without a role");
  }

  ValueId emit_int(StageSlot at, Op op, DType dtype, DType from, ValueId a, ValueId b, ValueId c = kNoValue) {
    return emit(at, {Code::Elementwise, op, dtype, from, kNoValue, a, b, c, -1});
  }
  ValueId emit_int_constant(StageSlot at, std::int32_t c) {
    return emit(at, {Code::Const, Op::Const, DType::int64, DType::int64, kNoValue, kNoValue, kNoValue, kNoValue, c});
  }
  ValueId emit_number(StageSlot at, std::int64_t value) {
    return emit_int_constant(at, constant({Scalar::of_int(DType::int64, value), -1}));
  }
  ValueId emit_size(StageSlot at, SymInt size) {
    if (!size.is_symbolic()) return emit_number(at, size.value());
    return emit_int_constant(at, constant({Scalar::of_int(DType::int64, 0), -1, size}));
  }

  ValueId emit_gather(std::size_t n, const schedule::Entry& e, StageSlot at) {
    const std::int32_t a = loops_.values().access(n);
    const schedule::Entry& from = arena_[out_.notes[static_cast<std::size_t>(a)].entry];
    ValueId position = value_[loops_.values().operand(n, 1)];
    if (from.strides != nullptr) position = place_in_memory(at, position, from.shape(), *from.strides);
    return emit(
        at, {Code::Gather, Op::Gather, register_dtype(e.dtype), from.dtype, kNoValue, position, kNoValue, kNoValue, a});
  }

  // Turns a row-major position into the position of the element in dense memory with these strides. A position outside
  // becomes -1.
  ValueId place_in_memory(StageSlot at, ValueId position, const Shape& shape, const Ints& strides) {
    const ValueId zero = emit_number(at, 0);
    const ValueId all = emit_size(at, numel(shape));
    ValueId place = zero;
    SymInt below = 1;
    for (std::size_t d = shape.size(); d-- > 0; below *= shape[d]) {
      ValueId index = emit_int(at, Op::FloorDiv, DType::int64, DType::int64, position, emit_size(at, below));
      index = emit_int(at, Op::Remainder, DType::int64, DType::int64, index, emit_size(at, shape[d]));
      index = emit_int(at, Op::Mul, DType::int64, DType::int64, index, emit_size(at, strides[d]));
      place = emit_int(at, Op::Add, DType::int64, DType::int64, place, index);
    }
    const ValueId above = emit_int(at, Op::Le, DType::bool_, DType::int64, zero, position);
    const ValueId under = emit_int(at, Op::Lt, DType::bool_, DType::int64, position, all);
    const ValueId inside = emit_int(at, Op::And, DType::bool_, DType::bool_, above, under);
    return emit_int(at, Op::Where, DType::int64, DType::int64, inside, place, emit_number(at, -1));
  }

  ValueId emit_compute(std::size_t n, const schedule::Entry& e, StageSlot at) {
    ValueId v[3] = {kNoValue, kNoValue, kNoValue};
    for (int k = 0; k < e.arity; ++k) v[k] = value_[loops_.values().operand(n, k)];
    // The second source of Where says the dtype of its operands; for all other ops it is the first.
    const DType from = arena_[e.source[e.op == Op::Where ? 1 : 0]].dtype;
    const DType dtype = register_dtype(e.dtype);
    if (e.op == Op::Bitcast) {
      // Registers hold halves as floats, so a bitcast between halves goes by way of their bits.
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

  void emit_store(const schedule::LoopStore& s) {
    const DType dtype = program().accesses[static_cast<std::size_t>(s.access)].dtype;
    emit(s.slot, {Code::Store, Op::Buffer, dtype, register_dtype(dtype), kNoValue, value_[s.instance], kNoValue,
                  kNoValue, s.access});
  }

  void place_instructions() {
    auto& stages = program().stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].body = std::move(code_[s].body);
      stages[s].outer = std::move(code_[s].outer);
      stages[s].reductions = std::move(code_[s].reductions);
    }
    if (stages.front().outer.empty() && stages.size() > 1) stages.erase(stages.begin());
  }

  struct StageCode {
    std::vector<Instr> body;
    std::vector<Reduction> reductions;
    std::vector<Instr> outer;
  };

  const schedule::Arena& arena_;
  schedule::KernelLoops loops_;  // its accesses are in out_
  const schedule::Kernel& kernel_;
  LoweredKernel out_;
  std::vector<StageCode> code_;
  std::vector<ValueId> value_;
  std::map<std::tuple<int, bool, Code, Op, DType, DType, ValueId, ValueId, ValueId, std::int32_t>, ValueId> numbered_;
};

// Adds what follows from the numbers of a program that has all of them, and keeps rows. With fewer loads it may no
// longer run along rows. Then there are no rows to keep, and it stays unchanged.
void complete(LoweredKernel& kernel, std::int64_t row_bytes) {
  finish(kernel.program);
  if (runs_alone(kernel.program) || !may_keep_rows(kernel.program)) return;
  LoopProgram kept = kernel.program;
  if (!keep_rows(kept, row_bytes)) return;
  if (choose_orientation(kept) != kernel.program.orientation) return;
  kernel.program = std::move(kept);
  kernel.former_accesses = drop_unused_accesses(kernel.program);
  std::vector<AccessNote> notes;
  for (const std::int32_t a : kernel.former_accesses)
    if (!kernel.notes.empty()) notes.push_back(kernel.notes[static_cast<std::size_t>(a)]);
  kernel.notes = std::move(notes);
  finish(kernel.program);
}

LoweredKernel lower_one(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel) {
  const schedule::Kernel& k = graph.kernels[static_cast<std::size_t>(kernel)];
  if (k.alone) return lower_alone(arena, graph, kernel);
  return Lowering(schedule::KernelLoops(arena, graph, kernel)).run();
}

}  // namespace

KernelParts lower_parts(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel) {
  KernelParts out;
  const schedule::FusedKernels* fused = graph.fused_with(kernel);
  if (fused == nullptr) {
    out.kernels.push_back(lower_one(arena, graph, kernel));
    return out;
  }
  out.fused = *fused;
  out.kernels.reserve(fused->kernels.size());
  for (const schedule::KernelId k : fused->kernels) out.kernels.push_back(lower_one(arena, graph, k));
  return out;
}

LoweredKernel complete(KernelParts parts, std::int64_t row_bytes) {
  std::vector<const LoweredKernel*> list;
  for (LoweredKernel& kernel : parts.kernels) {
    complete(kernel, row_bytes);
    list.push_back(&kernel);
  }
  if (list.size() == 1) return std::move(parts.kernels.front());
  return join(list, parts.fused);
}

LoweredKernel lower(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel,
                    std::int64_t row_bytes) {
  return complete(lower_parts(arena, graph, kernel), row_bytes);
}

}  // namespace oriel::codegen
