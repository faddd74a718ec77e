#include "backend/eigen/tile/machine.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/eigen/tile/worker.hpp"
#include "ops/functions/reduce.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

/// Distributes blocks of outer points. Each thread takes its blocks through all stages.
void run_outer_parallel(const Launch& launch, const Team& threads) {
  const Plan& plan = launch.plan;
  const std::int64_t tasks = tasks_for(plan.work, kTaskWork, std::min(plan.blocks, threads.count() * kTasksPerThread));
  threads.run(tasks, [&](std::int64_t task) {
    Worker worker(launch);
    const std::int64_t end = share_begin(plan.blocks, task + 1, tasks);
    for (std::int64_t b = share_begin(plan.blocks, task, tasks); b < end; ++b) worker.run_block(b);
  });
}

/// The element instructions of a stage's loops for a block of n outer points.
double loop_work(const TileStage& stage, std::int64_t n, std::int64_t points) {
  return static_cast<double>(stage.body_work) * static_cast<double>(n) * static_cast<double>(points);
}

/// Runs a stage's loops for one block of outer points. The inner range is cut where a subtree of the fixed order ends.
void run_split_loops(const Launch& launch, const Team& threads, const TileStage& stage, Worker& main,
                     std::int64_t first, std::int64_t n) {
  const Plan& plan = launch.plan;
  std::int64_t chunk = isa::kBlock;
  while (stage.points / chunk > 0 &&
         (stage.points / chunk > threads.count() * kTasksPerThread || loop_work(stage, n, chunk) < kTaskWork)) {
    chunk *= 2;
  }
  const std::int64_t chunks = stage.points / chunk + (stage.points % chunk != 0 ? 1 : 0);
  if (chunks < 2) {
    main.run_loops(stage, first, n, 0, stage.points, nullptr, nullptr);
    return;
  }
  const std::int64_t row = plan.block * 8;
  const std::int64_t part = static_cast<std::int64_t>(stage.reductions.size()) * row;
  std::vector<char> partial(static_cast<std::size_t>(part * chunks));
  // Tasks on this thread use its slots too. Save the slots' pointers into other stages.
  const std::vector<void*> kept(main.slots(), main.slots() + plan.offsets.size());
  threads.run(chunks, [&](std::int64_t c) {
    Worker worker(launch);
    const std::int64_t end = c * chunk + std::min(chunk, stage.points - c * chunk);
    worker.run_loops(stage, first, n, c * chunk, end, kept.data(), partial.data() + c * part);
  });
  std::copy(kept.begin(), kept.end(), main.slots());
  std::vector<char*> values(static_cast<std::size_t>(chunks));
  for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
    const TileReduction& r = stage.reductions[k];
    for (std::int64_t c = 0; c < chunks; ++c) {
      values[static_cast<std::size_t>(c)] = partial.data() + c * part + static_cast<std::int64_t>(k) * row;
    }
    const char* whole = join_chunks(*r.fns, values, n);
    std::memcpy(main.slots()[r.result], whole, static_cast<std::size_t>(n) << r.log_bytes);
  }
}

/// For few outer points and many inner ones: each block of outer points goes through the stages one by one, and all
/// threads work on it.
void run_inner_parallel(const Launch& launch, const Team& threads) {
  const Plan& plan = launch.plan;
  Worker main(launch);
  for (std::int64_t b = 0; b < plan.blocks; ++b) {
    const std::int64_t first = b * plan.block;
    const std::int64_t n = std::min(plan.block, plan.points - first);
    for (const TileStage& stage : plan.stages) {
      if (stage.loops) run_split_loops(launch, threads, stage, main, first, n);
      main.run_outer(stage, first, n);
    }
  }
}

/// Does any stage have loops that threads can share?
bool splits(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const TileStage& stage) {
    return stage.loops && stage.points > isa::kBlock && loop_work(stage, plan.block, stage.points) >= 2 * kTaskWork;
  });
}

}  // namespace

char* join_chunks(const isa::ReduceFns& fns, const std::vector<char*>& values, std::int64_t n) {
  std::vector<char*> waiting(64);
  ops::BlockTree tree;
  const auto combine = [&](char* a, char*& b) {
    fns.merge(a, a, b, n);
    b = a;
  };
  for (char* value : values) tree.add(waiting.data(), value, combine);
  char* whole = nullptr;
  tree.take(waiting.data(), whole, combine);
  return whole;
}

void check_launch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters) {
  if (arguments.size() < plan.arguments) {
    throw InternalError("launch", "kernel " + plan.name + " takes " + std::to_string(plan.arguments) +
                                      " buffers; got " + std::to_string(arguments.size()));
  }
  if (parameters.size() < plan.parameters) {
    throw InternalError("launch", "kernel " + plan.name + " takes " + std::to_string(plan.parameters) +
                                      " scalars; got " + std::to_string(parameters.size()));
  }
}

bool shares_rows(const Plan& plan, int threads) {
  return !plan.keeps && threads > 1 && plan.work >= kParallelWork && plan.blocks < std::int64_t{2} * threads &&
         splits(plan);
}

void run_tiles(const Plan& plan, const Team& threads, std::span<void* const> arguments,
               std::span<const graph::Scalar> parameters) {
  const BoundLaunch bound(plan, arguments, parameters);
  const Launch& launch = bound.launch();
  if (threads.count() == 1 || plan.work < kParallelWork) {
    Worker worker(launch);
    for (std::int64_t b = 0; b < plan.blocks; ++b) worker.run_block(b);
  } else if (shares_rows(plan, threads.count())) {
    run_inner_parallel(launch, threads);
  } else {
    run_outer_parallel(launch, threads);
  }
}

}  // namespace oriel::backend::eigen
