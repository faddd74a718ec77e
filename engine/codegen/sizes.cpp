#include "codegen/sizes.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "codegen/lower.hpp"
#include "codegen/stack.hpp"
#include "oriel/inline_vector.hpp"
#include "sym/estimate.hpp"

namespace oriel::codegen {

using graph::Sizes;

void add_sizes(const LoopProgram& program, Sizes& sizes) {
  sizes.add(program.outer);
  for (const Stage& stage : program.stages) {
    sizes.add(stage.columns);
    sizes.add(stage.inner);
  }
  for (const Access& access : program.accesses) sizes.add(stack_of(access));
  for (const Argument& argument : program.arguments) sizes.add(argument.elements);
  for (const Constant& constant : program.constants) sizes.add(constant.size);
}

void add_sizes(const KernelParts& parts, Sizes& sizes) {
  for (const LoweredKernel& kernel : parts.kernels) add_sizes(kernel.program, sizes);
  sizes.add(parts.fused.loops.extents);
  sizes.add(parts.fused.loops.units);
  for (const Ints& units : parts.fused.loops.units_of) sizes.add(units);
}

namespace {

/// As Sizes::At, for the hints.
struct AtHints {
  template <class T>
  T operator()(T value) const {
    graph::each_size(value, [](SymInt& n) { n = sym::estimate(n); });
    return value;
  }
};

template <class At>
LoopProgram sized_program(const LoopProgram& program, const At& sizes) {
  LoopProgram out = program;
  if (runs_alone(program)) {
    std::vector<Shape> shapes;
    for (const Access& access : program.accesses) shapes.push_back(sizes(stack_of(access).shape()));
    set_shapes(out, shapes);
    return out;
  }
  out.outer = sizes(program.outer);
  for (Stage& stage : out.stages) {
    stage.columns = sizes(stage.columns);
    stage.inner = sizes(stage.inner);
  }
  InlineVector<View, 2> views;
  for (Access& access : out.accesses) {
    if (!access.is_symbolic()) continue;
    views.clear();
    for (const View& view : stack_of(access).views()) views.push_back(sizes(view));
    access.remap(detail::trusted_stack({views.data(), views.size()}));
  }
  for (Argument& argument : out.arguments) argument.elements = sizes(argument.elements);
  for (Constant& constant : out.constants)
    if (constant.size.is_symbolic()) constant.value.i = sizes(std::exchange(constant.size, 0)).value();
  return out;
}

template <class At>
KernelParts sized_parts(const KernelParts& parts, const At& sizes) {
  KernelParts out;
  out.kernels.reserve(parts.kernels.size());
  for (const LoweredKernel& kernel : parts.kernels) {
    LoweredKernel& sized = out.kernels.emplace_back();
    sized.program = sized_program(kernel.program, sizes);
    sized.bindings = kernel.bindings;
    sized.notes = kernel.notes;
    sized.domain_before = kernel.domain_before;
    sized.change = kernel.change;
  }
  out.fused.between = parts.fused.between;
  out.fused.online = parts.fused.online;
  out.fused.loops.extents = sizes(parts.fused.loops.extents);
  out.fused.loops.units = sizes(parts.fused.loops.units);
  for (const Ints& units : parts.fused.loops.units_of) out.fused.loops.units_of.push_back(sizes(units));
  return out;
}

}  // namespace

LoopProgram at(const LoopProgram& program, const Sizes::At& sizes) { return sized_program(program, sizes); }
KernelParts at(const KernelParts& parts, const Sizes::At& sizes) { return sized_parts(parts, sizes); }
KernelParts at_hints(const KernelParts& parts) { return sized_parts(parts, AtHints()); }

LoweredKernel complete_symbolic(LoweredKernel kernel, std::int64_t row_bytes) {
  KernelParts alone;
  alone.kernels.push_back(kernel);
  LoweredKernel out = complete(at_hints(alone), row_bytes);
  LoopProgram& from = kernel.program;
  LoopProgram& to = out.program;
  to.outer = std::move(from.outer);
  for (std::size_t s = 0; s < to.stages.size(); ++s) {
    to.stages[s].columns = std::move(from.stages[s].columns);
    to.stages[s].inner = std::move(from.stages[s].inner);
  }
  const auto former = [&](std::size_t a) {
    return out.former_accesses.empty() ? a : static_cast<std::size_t>(out.former_accesses[a]);
  };
  for (std::size_t a = 0; a < to.accesses.size(); ++a) to.accesses[a] = std::move(from.accesses[former(a)]);
  to.arguments = std::move(from.arguments);
  to.constants = std::move(from.constants);
  return out;
}

std::vector<Binding> number_values(KernelParts& parts) {
  std::vector<Binding> values;
  const auto number_of = [&](schedule::EntryId entry, bool leaf) {
    std::size_t n = 0;
    while (n < values.size() && (values[n].entry != entry || values[n].leaf != leaf)) ++n;
    if (n == values.size()) values.push_back({entry, leaf});
    return static_cast<schedule::EntryId>(n);
  };
  for (LoweredKernel& kernel : parts.kernels)
    for (Binding& binding : kernel.bindings) binding.entry = number_of(binding.entry, binding.leaf);
  parts.fused.kernels.clear();
  for (schedule::EntryId& value : parts.fused.between) value = number_of(value, false);
  return values;
}

std::uint64_t hash_value(const KernelParts& parts) noexcept {
  std::uint64_t hash = parts.kernels.size();
  for (const LoweredKernel& kernel : parts.kernels) hash = base::mix(hash, hash_value(kernel.program));
  return hash;
}

bool same_parts(const KernelParts& a, const KernelParts& b) noexcept {
  const auto same_ints = [](const Ints& x, const Ints& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](SymInt m, SymInt n) { return identical(m, n); });
  };
  const auto same_value = [](const Binding& x, const Binding& y) { return x.entry == y.entry && x.leaf == y.leaf; };
  const auto same_kernel = [&](const LoweredKernel& x, const LoweredKernel& y) {
    return std::equal(x.bindings.begin(), x.bindings.end(), y.bindings.begin(), y.bindings.end(), same_value) &&
           same_program(x.program, y.program);
  };
  const schedule::SharedLoops& ours = a.fused.loops;
  const schedule::SharedLoops& theirs = b.fused.loops;
  return a.fused.online == b.fused.online && a.fused.between == b.fused.between &&
         same_ints(ours.extents, theirs.extents) && same_ints(ours.units, theirs.units) &&
         std::equal(ours.units_of.begin(), ours.units_of.end(), theirs.units_of.begin(), theirs.units_of.end(),
                    same_ints) &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(), same_kernel);
}

}  // namespace oriel::codegen
