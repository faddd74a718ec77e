#include "backend/eigen/tile/memory_access.hpp"

#include <bit>
#include <utility>

#include "source/cpp/frame.hpp"

namespace oriel::backend::eigen {

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

}  // namespace oriel::backend::eigen
