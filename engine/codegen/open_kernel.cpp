#include "codegen/open_kernel.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "base/hash.hpp"
#include "codegen/cost.hpp"
#include "codegen/join.hpp"
#include "codegen/keep.hpp"
#include "codegen/lower_host.hpp"
#include "codegen/lower_scan.hpp"
#include "codegen/lower_scatter.hpp"
#include "codegen/lower_sort.hpp"
#include "codegen/unused.hpp"

namespace oriel::codegen {

namespace {

// The same for a kernel of one op that sorts, scans or scatters.
void close_alone_kernel(LoweredKernel& kernel, std::span<const Shape> shapes) {
  if (kernel.program.sorting) return close_sort(kernel, shapes);
  if (kernel.program.scanning) return close_scan(kernel, shapes);
  if (kernel.program.hosting) return close_host(kernel, shapes);
  close_scatter(kernel, shapes);
}

// Adds what follows from the numbers of a program that has all of them, and keeps rows. With fewer loads it may no
// longer run along rows. Then there are no rows to keep, and it stays unchanged.
void complete(LoweredKernel& kernel, std::int64_t row_bytes) {
  finish(kernel.program);
  if (!may_keep_rows(kernel.program)) return;
  LoopProgram kept = kernel.program;
  if (!keep_rows(kept, row_bytes)) return;
  if (choose_orientation(kept) != kernel.program.orientation) return;
  kernel.program = std::move(kept);
  drop_unused_accesses(kernel);
  finish(kernel.program);
}

}  // namespace

LoweredKernel close(OpenKernel&& kernel, std::int64_t row_bytes) {
  LoweredKernel out = std::move(kernel.lowered);
  if (runs_alone(out.program)) {
    boost::container::small_vector<Shape, 3> shapes;
    for (const Shape* shape : kernel.shapes) shapes.push_back(*shape);
    close_alone_kernel(out, {shapes.data(), shapes.size()});
    return out;
  }
  for (std::size_t a = 0; a < kernel.shapes.size(); ++a)
    out.program.arguments[a].elements = numel(*kernel.shapes[a]).value();
  out.program.accesses.reserve(kernel.accesses.size());
  for (schedule::LoopAccess& access : kernel.accesses)
    out.program.accesses.emplace_back(access.argument, access.dtype, std::move(access.tracker));
  complete(out, row_bytes);
  return out;
}

namespace {

bool identical_all(const Ints& a, const Ints& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](SymInt x, SymInt y) { return identical(x, y); });
}

bool identical_views(const View& a, const View& b) {
  const auto same_range = [](const Range& x, const Range& y) { return identical(x.lo, y.lo) && identical(x.hi, y.hi); };
  return identical_all(a.shape, b.shape) && identical_all(a.strides, b.strides) && identical(a.offset, b.offset) &&
         std::equal(a.mask.begin(), a.mask.end(), b.mask.begin(), b.mask.end(), same_range);
}

bool same_access(const schedule::LoopAccess& a, const schedule::LoopAccess& b) {
  const auto ours = a.tracker.views(), theirs = b.tracker.views();
  return a.argument == b.argument && a.dtype == b.dtype &&
         std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), identical_views);
}

std::uint64_t hash_of(const OpenKernel& kernel) noexcept {
  std::uint64_t hash = hash_value(kernel.lowered.program);
  for (const schedule::LoopAccess& access : kernel.accesses) hash = base::mix(hash, hash_value(access.tracker));
  return hash;
}

bool same_kernel(const OpenKernel& a, const OpenKernel& b) {
  const auto same_value = [](const Binding& x, const Binding& y) { return x.entry == y.entry && x.leaf == y.leaf; };
  const auto same_sizes = [](const Shape* x, const Shape* y) { return identical_all(*x, *y); };
  const auto same_constant = [](const OpenKernel::SizeConstant& x, const OpenKernel::SizeConstant& y) {
    return x.constant == y.constant && identical(x.size, y.size);
  };
  const auto same_loops = [](const Stage& x, const Stage& y) { return identical_all(x.inner, y.inner); };
  const LoopProgram& ours = a.lowered.program;
  const LoopProgram& theirs = b.lowered.program;
  return std::equal(a.accesses.begin(), a.accesses.end(), b.accesses.begin(), b.accesses.end(), same_access) &&
         std::equal(a.shapes.begin(), a.shapes.end(), b.shapes.begin(), b.shapes.end(), same_sizes) &&
         std::equal(a.size_constants.begin(), a.size_constants.end(), b.size_constants.begin(), b.size_constants.end(),
                    same_constant) &&
         std::equal(a.lowered.bindings.begin(), a.lowered.bindings.end(), b.lowered.bindings.begin(),
                    b.lowered.bindings.end(), same_value) &&
         identical_all(ours.outer, theirs.outer) &&
         std::equal(ours.stages.begin(), ours.stages.end(), theirs.stages.begin(), theirs.stages.end(), same_loops) &&
         same_program(ours, theirs);
}

bool same_rows(const schedule::SharedLoops& a, const schedule::SharedLoops& b) {
  return identical_all(a.extents, b.extents) && identical_all(a.units, b.units) &&
         std::equal(a.units_of.begin(), a.units_of.end(), b.units_of.begin(), b.units_of.end(), identical_all);
}

void add_sizes_of(const OpenKernel& kernel, graph::Sizes& sizes) {
  sizes.add(kernel.lowered.program.outer);
  for (const Stage& stage : kernel.lowered.program.stages) sizes.add(stage.inner);
  for (const schedule::LoopAccess& access : kernel.accesses) sizes.add(access.tracker);
  for (const Shape* shape : kernel.shapes) sizes.add(*shape);
  for (const OpenKernel::SizeConstant& constant : kernel.size_constants) sizes.add(constant.size);
}

LoweredKernel closed(const OpenKernel& kernel, const graph::Sizes::At& at, std::int64_t row_bytes) {
  LoweredKernel out = kernel.lowered;
  LoopProgram& program = out.program;
  if (runs_alone(program)) {
    boost::container::small_vector<Shape, 3> shapes;
    for (const Shape* shape : kernel.shapes) shapes.push_back(at(*shape));
    close_alone_kernel(out, {shapes.data(), shapes.size()});
    return out;
  }
  program.outer = at(program.outer);
  for (Stage& stage : program.stages) stage.inner = at(stage.inner);
  for (std::size_t a = 0; a < kernel.shapes.size(); ++a)
    program.arguments[a].elements = numel(at(*kernel.shapes[a])).value();
  program.accesses.reserve(kernel.accesses.size());
  boost::container::small_vector<View, 2> views;
  for (const schedule::LoopAccess& access : kernel.accesses) {
    views.clear();
    for (const View& view : access.tracker.views()) views.push_back(at(view));
    program.accesses.emplace_back(access.argument, access.dtype, detail::trusted_stack({views.data(), views.size()}));
  }
  for (const OpenKernel::SizeConstant& constant : kernel.size_constants)
    program.constants[static_cast<std::size_t>(constant.constant)].value.i = at(constant.size).value();
  complete(out, row_bytes);
  return out;
}

schedule::JoinedKernels closed(const schedule::JoinedKernels& joined, const graph::Sizes::At& at) {
  schedule::JoinedKernels out;
  out.between = joined.between;
  out.running = joined.running;
  out.loops.extents = at(joined.loops.extents);
  out.loops.units = at(joined.loops.units);
  for (const Ints& units : joined.loops.units_of) out.loops.units_of.push_back(at(units));
  return out;
}

}  // namespace

bool OpenStep::between(std::size_t number) const {
  return !values[number].leaf && std::ranges::find(program.joined.between, static_cast<schedule::EntryId>(number)) !=
                                     program.joined.between.end();
}

OpenStep open_step(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel) {
  OpenStep out;
  const auto number_of = [&](schedule::EntryId entry, bool leaf) {
    std::size_t n = 0;
    while (n < out.values.size() && (out.values[n].entry != entry || out.values[n].leaf != leaf)) ++n;
    if (n == out.values.size()) out.values.push_back({entry, leaf});
    return static_cast<schedule::EntryId>(n);
  };
  const auto add = [&](schedule::KernelId k) {
    OpenKernel& added = out.program.kernels.emplace_back(lower_open(arena, graph, k));
    for (Binding& binding : added.lowered.bindings) binding.entry = number_of(binding.entry, binding.leaf);
    // What explain() tells is told of plans with numbers alone.
    added.lowered.notes.clear();
    added.lowered.domain_before.clear();
  };
  const schedule::JoinedKernels* joined = graph.joined_with(kernel);
  if (joined == nullptr) {
    add(kernel);
    return out;
  }
  for (const schedule::KernelId k : joined->kernels) add(k);
  for (const schedule::EntryId value : joined->between) out.program.joined.between.push_back(number_of(value, false));
  out.program.joined.loops = joined->loops;
  out.program.joined.running = joined->running;
  return out;
}

std::uint64_t hash_value(const OpenProgram& program) noexcept {
  std::uint64_t hash = program.kernels.size();
  for (const OpenKernel& kernel : program.kernels) hash = base::mix(hash, hash_of(kernel));
  return hash;
}

bool same_program(const OpenProgram& a, const OpenProgram& b) {
  return a.joined.running == b.joined.running && a.joined.between == b.joined.between &&
         same_rows(a.joined.loops, b.joined.loops) &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(), same_kernel);
}

void add_sizes(const OpenProgram& program, graph::Sizes& sizes) {
  for (const OpenKernel& kernel : program.kernels) add_sizes_of(kernel, sizes);
  sizes.add(program.joined.loops.extents);
  sizes.add(program.joined.loops.units);
  for (const Ints& units : program.joined.loops.units_of) sizes.add(units);
}

LoweredKernel close_at(const OpenProgram& program, const graph::Sizes::At& at, std::int64_t row_bytes) {
  if (program.kernels.size() == 1) return closed(program.kernels.front(), at, row_bytes);
  std::vector<LoweredKernel> kernels;
  std::vector<const LoweredKernel*> list;
  kernels.reserve(program.kernels.size());
  for (const OpenKernel& kernel : program.kernels) list.push_back(&kernels.emplace_back(closed(kernel, at, row_bytes)));
  return join(list, closed(program.joined, at));
}

}  // namespace oriel::codegen
