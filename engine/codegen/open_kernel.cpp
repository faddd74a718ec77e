#include "codegen/open_kernel.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "base/hash.hpp"
#include "codegen/cost.hpp"
#include "codegen/keep.hpp"
#include "codegen/lower_sort.hpp"
#include "codegen/unused.hpp"

namespace oriel::codegen {

namespace {

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
  if (out.program.sorting) {
    close_sort(out, *kernel.shapes[1]);
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

}  // namespace

std::uint64_t hash_value(const OpenKernel& kernel) noexcept {
  std::uint64_t hash = hash_value(kernel.lowered.program);
  for (const schedule::LoopAccess& access : kernel.accesses) hash = base::mix(hash, hash_value(access.tracker));
  return hash;
}

bool same_kernel(const OpenKernel& a, const OpenKernel& b) {
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
         identical_all(ours.outer, theirs.outer) &&
         std::equal(ours.stages.begin(), ours.stages.end(), theirs.stages.begin(), theirs.stages.end(), same_loops) &&
         same_program(ours, theirs);
}

void add_sizes(const OpenKernel& kernel, graph::Sizes& sizes) {
  sizes.add(kernel.lowered.program.outer);
  for (const Stage& stage : kernel.lowered.program.stages) sizes.add(stage.inner);
  for (const schedule::LoopAccess& access : kernel.accesses) sizes.add(access.tracker);
  for (const Shape* shape : kernel.shapes) sizes.add(*shape);
  for (const OpenKernel::SizeConstant& constant : kernel.size_constants) sizes.add(constant.size);
}

LoweredKernel close_at(const OpenKernel& kernel, const graph::Sizes::At& at, std::int64_t row_bytes) {
  LoweredKernel out = kernel.lowered;
  LoopProgram& program = out.program;
  if (program.sorting) {
    close_sort(out, at(*kernel.shapes[1]));
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

}  // namespace oriel::codegen
