#include "runtime/memory_assignment.hpp"

#include <numeric>
#include <string>

#include "oriel/error.hpp"

namespace oriel::runtime {

using schedule::EntryId;

std::int64_t bytes_of(const schedule::Entry& e) { return bytes_of(e.shape(), e.dtype); }

std::int64_t bytes_of(const Shape& shape, DType dtype) {
  const SymInt size = numel(shape, "realize");
  if (size.is_symbolic()) return 0;
  const std::int64_t elements = size.value();
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(itemsize(dtype)), &bytes)) {
    throw OverflowError("realize", "the bytes of " + std::string(name(dtype)) + " " + to_string(shape) +
                                       " do not fit a signed 64-bit integer; realise a part of it");
  }
  return bytes;
}

LeafNumbers::LeafNumbers(const Key& key) {
  for (std::size_t i = 0; i < key.leaves.size(); ++i)
    number_.emplace(key.leaves[i].get(), static_cast<std::int32_t>(i));
}

MemoryAssignment::MemoryAssignment(Plan& plan, const LeafNumbers& leaves)
    : plan_(plan),
      leaves_(leaves),
      output_(plan.arena->size(), -1),
      memory_of_(plan.arena->size()),
      temporary_(plan.arena->size(), -1) {
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    output_[static_cast<std::size_t>(plan.outputs[i].entry)] = static_cast<std::int32_t>(i);
  std::iota(memory_of_.begin(), memory_of_.end(), EntryId{0});
  place_writes();
  place_taken();
}

/// All writes to one memory share one place: a leaf, the output that the last write is, or a block.
void MemoryAssignment::place_writes() {
  const schedule::Arena& arena = *plan_.arena;
  const schedule::WriteTable& writes = plan_.graph.writes;
  for (const schedule::Write& w : writes.writes) {
    const EntryId storage = writes.storage(w.entry);
    memory_of_[static_cast<std::size_t>(w.entry)] = storage;
    const std::int32_t output = output_[static_cast<std::size_t>(w.entry)];
    if (output < 0 || w.home == schedule::kNone) continue;
    if (arena[storage].op == graph::Op::Buffer)
      plan_.outputs[static_cast<std::size_t>(output)].home = leaves_.of(arena[storage].buffer().get());
  }
  // Values that an output overwrites in place lie in the output's memory too.
  for (auto w = writes.writes.rbegin(); w != writes.writes.rend(); ++w)
    if (w->home != schedule::kNone && arena[w->home].op == graph::Op::Assign)
      output_[static_cast<std::size_t>(w->home)] = output_[static_cast<std::size_t>(w->entry)];
}

/// Values that reuse memory lie where the previous value lies: in the output that the last of them is, in a leaf,
/// or in the block of the first.
void MemoryAssignment::place_taken() {
  const schedule::KernelGraph& graph = plan_.graph;
  const schedule::Arena& arena = *plan_.arena;
  if (graph.donors.empty()) return;
  const auto each = [&](schedule::KernelId k, const auto& visit) {
    for (const schedule::Output& o : graph.kernels[static_cast<std::size_t>(k)].outputs)
      if (const EntryId taken = graph.donor_of(o.entry); taken != schedule::kNone)
        visit(static_cast<std::size_t>(o.entry), taken);
  };
  for (auto k = graph.order.rbegin(); k != graph.order.rend(); ++k) {
    each(*k, [&](std::size_t value, EntryId taken) {
      const std::int32_t output = output_[value];
      if (arena[taken].op == graph::Op::Buffer) {
        plan_.outputs[static_cast<std::size_t>(output)].home = leaves_.of(arena[taken].buffer().get());
      } else if (output >= 0) {
        output_[static_cast<std::size_t>(taken)] = output;
        taken_bytes_ += bytes_of(arena[taken]);
      }
    });
  }
  for (const schedule::KernelId k : graph.order) {
    each(k, [&](std::size_t value, EntryId taken) {
      if (output_[value] >= 0) return;
      memory_of_[value] = memory_of_[static_cast<std::size_t>(taken)];
      taken_bytes_ += bytes_of(arena[static_cast<EntryId>(value)]);
    });
  }
}

std::int32_t& MemoryAssignment::temporary_at(EntryId entry, std::size_t step) {
  const EntryId first = memory_of_[static_cast<std::size_t>(entry)];
  std::int32_t& temporary = temporary_[static_cast<std::size_t>(first)];
  if (temporary >= 0) lifetimes_[static_cast<std::size_t>(temporary)].last = static_cast<std::int32_t>(step);
  return temporary;
}

void MemoryAssignment::store(const schedule::Kernel& kernel, std::size_t step) {
  for (const schedule::Output& o : kernel.outputs) {
    if (output_[static_cast<std::size_t>(o.entry)] >= 0) continue;
    std::int32_t& temporary = temporary_at(o.entry, step);
    if (temporary >= 0) continue;
    temporary = static_cast<std::int32_t>(lifetimes_.size());
    const auto now = static_cast<std::int32_t>(step);
    lifetimes_.push_back({bytes_of((*plan_.arena)[o.entry]), now, now, kernel.device});
    first_values_.push_back(o.entry);
  }
}

ArgumentSource MemoryAssignment::source(const codegen::Binding& binding, std::size_t step) {
  if (binding.leaf) return {ArgumentSource::Kind::Leaf, leaves_.of((*plan_.arena)[binding.entry].buffer().get())};
  if (const std::int32_t output = output_[static_cast<std::size_t>(binding.entry)]; output >= 0)
    return {ArgumentSource::Kind::Output, output};
  const std::int32_t temporary = temporary_at(binding.entry, step);
  if (temporary < 0) throw InternalError("schedule", "a value is read before it is stored");
  return {ArgumentSource::Kind::Temporary, temporary};
}

schedule::MemoryPlan MemoryAssignment::memory() const {
  schedule::MemoryPlan memory = schedule::plan_memory(lifetimes_);
  memory.unshared_bytes += taken_bytes_;
  return memory;
}

}  // namespace oriel::runtime
