#include "backend/eigen/tile/plan_tables.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/eigen/tile/registers.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "source/cpp/frame.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

// More constants than this are filled where they are used, so that their registers do not push out the others.
constexpr std::size_t kMaxPinned = 24;

/// How an access that is walked by `walk` reads or writes memory. `overwritten`: an output is stored over its argument.
/// `slack` and `own` are set for loads that may have to be so.
MemoryAccess make_memory_access(const codegen::LoopProgram& program, const isa::Table& table,
                                const codegen::Access& access, AccessWalker walk, bool store, bool overwritten) {
  MemoryAccess r;
  r.walk = std::move(walk);
  r.buffer = access.buffer;
  r.bytes = static_cast<std::int32_t>(itemsize(access.dtype));
  r.same = !is_half(access.dtype);
  if (r.buffer >= 0) {
    const codegen::Argument& argument = program.arguments[static_cast<std::size_t>(r.buffer)];
    r.elements = argument.elements.value();
    r.slack = !store && !overwritten && !argument.local;
    r.own = !store && overwritten;
    // If the kernel reads the same memory, its lines are in the caches already.
    r.stream = store && r.same && argument.shares < 0 && !argument.local &&
               argument.elements >= source::cpp::kStreamBytes / r.bytes;
  }
  if (access.dtype == DType::float16) {
    r.copy = store ? table.narrow_float16 : table.widen_float16;
  } else if (access.dtype == DType::bfloat16) {
    r.copy = store ? table.narrow_bfloat16 : table.widen_bfloat16;
  } else {
    r.copy = table.copy[std::countr_zero(itemsize(access.dtype))];
  }
  return r;
}

}  // namespace

PlanTables::PlanTables(const LoopProgram& program, const isa::Table& table, bool framed, Plan& plan)
    : program_(program), table_(table), framed_(framed), plan_(plan) {
  // One output over an input is stored last. Several may each overwrite what another is about to store.
  copied_inputs_ = std::count_if(program_.arguments.begin(), program_.arguments.end(),
                                 [](const codegen::Argument& a) { return a.shares >= 0; }) > 1;
  overwritten_.assign(program_.arguments.size(), false);
  for (const codegen::Argument& a : program_.arguments)
    if (a.shares >= 0) overwritten_[static_cast<std::size_t>(a.shares)] = true;
}

Slot PlanTables::new_slot(std::int64_t offset) {
  plan_.offsets.push_back(offset);
  return static_cast<Slot>(plan_.offsets.size()) - 1;
}

Slot PlanTables::pin(const Instr& in) {
  if (in.code == Code::Const) {
    const std::pair<std::int32_t, int> key{in.aux, index(in.dtype)};
    if (const auto found = pinned_constants_.find(key); found != pinned_constants_.end()) return found->second;
    if (plan_.pinned.size() >= kMaxPinned) return kNoSlot;
    return pinned_constants_[key] = add_pinned(log_bytes_of(in.dtype), add_constant(in.aux, in.dtype), -1);
  }
  if (in.code == Code::Load) {
    const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
    if (!access.affine() || plan_.pinned.size() >= kMaxPinned) return kNoSlot;
    AccessWalker walk(access, 0, false);
    if (!walk.uniform()) return kNoSlot;
    return add_pinned(log_bytes_of(in.dtype), -1, add_access(access, std::move(walk), false));
  }
  return kNoSlot;
}

bool PlanTables::repeats(const Instr& in) const {
  const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
  if (plan_.period == 0 || program_.arguments[static_cast<std::size_t>(access.buffer)].local) return false;
  if (overwritten_[static_cast<std::size_t>(access.buffer)]) return false;
  const std::int64_t period = period_of(access, program_.outer.size());
  return period > 0 && plan_.period % period == 0;
}

Slot PlanTables::add_pinned(int log_bytes, std::int32_t constant, std::int32_t access) {
  Pinned p;
  p.slot = new_slot(plan_.arena_bytes);
  p.log_bytes = static_cast<std::int8_t>(log_bytes);
  p.constant = constant;
  p.access = access;
  plan_.arena_bytes += Registers::bytes(plan_.pinned_length, log_bytes);
  plan_.pinned.push_back(p);
  return p.slot;
}

std::int32_t PlanTables::add_constant(std::int32_t aux, DType dtype) {
  const codegen::Constant& constant = program_.constants[static_cast<std::size_t>(aux)];
  TileConstant c;
  c.value = constant.value;
  c.dtype = dtype;
  c.parameter = constant.parameter;
  plan_.constants.push_back(c);
  plan_.constant_bytes.push_back(constant.parameter >= 0 ? 0 : register_bytes(constant.value, dtype));
  return static_cast<std::int32_t>(plan_.constants.size()) - 1;
}

std::int32_t PlanTables::add_access(const Access& access, AccessWalker walk, bool store) {
  const bool overwritten = access.buffer >= 0 && overwritten_[static_cast<std::size_t>(access.buffer)];
  plan_.accesses.push_back(make_memory_access(program_, table_, access, std::move(walk), store, overwritten));
  MemoryAccess& r = plan_.accesses.back();
  r.slack = r.slack && !framed_;
  r.own = r.own && copied_inputs_;
  plan_.streams = plan_.streams || r.stream;
  return static_cast<std::int32_t>(plan_.accesses.size()) - 1;
}

}  // namespace oriel::backend::eigen
