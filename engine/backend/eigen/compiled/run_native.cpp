// Runs compiled kernels over ranges of their points.
#include <algorithm>
#include <array>

#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/tile/machine.hpp"

namespace oriel::backend::eigen {

namespace {

// Blocks of results are large, so there are many tasks: otherwise the other threads would wait long for the last one.
constexpr std::int64_t kBlockTasksPerThread = 16;
// If points are elements, ranges begin at multiples of this, so that vectors have the same alignment. If there are few,
// each thread gets about one range.
constexpr std::int64_t kRange = 1024;
constexpr std::int64_t kShortRange = 16;

/// The points of a range, of which a thread takes whole ones.
std::int64_t range_of(const Plan& plan, int threads) {
  const bool rows = std::any_of(plan.stages.begin(), plan.stages.end(), [](const TileStage& s) { return s.loops; });
  if (rows && !plan.columns) return 1;
  if (plan.points >= threads * kRange) return kRange;
  return std::max(kShortRange, plan.points / threads / kShortRange * kShortRange);
}

void call(const TieredKernel& kernel, NativeFn native, void* const* arguments, const NativeScalar* scalars,
          std::int64_t first, std::int64_t last) {
  if (kernel.numbers.empty()) return native(arguments, scalars, first, last);
  const auto function = reinterpret_cast<SizedFn>(kernel.sized.unit->native.load(std::memory_order_acquire));
  function(arguments, scalars, first, last, kernel.numbers.data());
}

/// Runs a contraction's blocks of results, in ranges of the points that represent them (contraction_source.hpp).
void run_blocks(const TieredKernel& kernel, NativeFn native, const Team& threads, void* const* arguments,
                const NativeScalar* scalars) {
  const std::int64_t points = kernel.plan->points;
  const std::int64_t tasks = std::min(kernel.blocks, threads.count() * kBlockTasksPerThread);
  if (threads.count() == 1 || kernel.plan->work < kParallelWork || tasks < 2)
    return call(kernel, native, arguments, scalars, 0, points);
  const std::int64_t each = points / kernel.blocks;
  threads.run(tasks, [&](std::int64_t task) {
    const auto first = [&](std::int64_t t) {
      return t == tasks ? points : share_begin(kernel.blocks, t, tasks) * each;
    };
    call(kernel, native, arguments, scalars, first(task), first(task + 1));
  });
}

}  // namespace

std::int64_t native_shares(const Plan& plan, int threads) {
  const std::int64_t range = range_of(plan, threads);
  return plan.points / range + (plan.points % range != 0 ? 1 : 0);
}

void run_native(const TieredKernel& kernel, NativeFn native, const Team& threads, std::span<void* const> arguments,
                std::span<const graph::Scalar> parameters) {
  const Plan& plan = *kernel.plan;
  check_launch(plan, arguments, parameters);
  std::array<NativeScalar, 16> few;
  std::vector<NativeScalar> many;
  NativeScalar* scalars = few.data();
  if (plan.parameters > few.size()) {
    many.resize(plan.parameters);
    scalars = many.data();
  }
  for (const codegen::Constant& c : kernel.program.constants) {
    if (c.parameter < 0) continue;
    const graph::Scalar& given = parameters[static_cast<std::size_t>(c.parameter)];
    const graph::Scalar value = given.dtype == c.value.dtype ? given : given.cast(c.value.dtype);
    NativeScalar& scalar = scalars[c.parameter];
    if (is_floating(value.dtype)) {
      scalar.f = value.f;
    } else {
      scalar.i = value.i;
    }
  }
  InlineVector<void*, 16> moved;
  if (!kernel.bases.empty() && kernel.shared() == nullptr) {
    for (std::size_t k = 0; k < arguments.size(); ++k)
      moved.push_back(static_cast<char*>(arguments[k]) +
                      kernel.bases[k] * static_cast<std::int64_t>(itemsize(kernel.program.arguments[k].dtype)));
    arguments = {moved.data(), moved.size()};
  }
  if (kernel.blocks > 0) return run_blocks(kernel, native, threads, arguments.data(), scalars);
  const std::int64_t grain = range_of(plan, threads.count());
  const std::int64_t grains = native_shares(plan, threads.count());
  const std::int64_t tasks = tasks_for(plan.work, kTaskWork, std::min(grains, threads.count() * kTasksPerThread));
  if (threads.count() == 1 || plan.work < kParallelWork || tasks < 2) {
    return call(kernel, native, arguments.data(), scalars, 0, plan.points);
  }
  threads.run(tasks, [&](std::int64_t task) {
    const std::int64_t first = share_begin(grains, task, tasks) * grain;
    const bool last = task + 1 == tasks;  // the last task may be smaller
    call(kernel, native, arguments.data(), scalars, first,
         last ? plan.points : share_begin(grains, task + 1, tasks) * grain);
  });
}

}  // namespace oriel::backend::eigen
