#include "backend/eigen/tile/look_ahead.hpp"

#include <map>

#include "backend/eigen/tile/processor.hpp"

namespace oriel::backend::eigen {
namespace {

// Inputs of this size do not fit a second-level cache.
constexpr std::int64_t kFetchBytes = std::int64_t{1} << 20;

}  // namespace

void look_ahead(const codegen::LoopProgram& program, Plan& plan) {
  if (plan.columns) return;
  std::map<std::int32_t, int> stages;  // number of stages so far that load a buffer
  std::map<std::int32_t, TileStep*> last;
  for (StagePlan& stage : plan.stages) {
    for (TileStep& step : stage.body) {
      if (step.kind != StepKind::Load) continue;
      const MemoryAccess& r = plan.accesses[static_cast<std::size_t>(step.access)];
      if (program.arguments[static_cast<std::size_t>(r.buffer)].elements < kFetchBytes / r.bytes) continue;
      const int before = stages[r.buffer]++;
      if (before > 1) continue;
      TileStep*& first = last[r.buffer];
      if (before == 1 && first != nullptr) first->ahead = 0;
      if (before == 0 && processor().follows_streams) continue;
      step.ahead = (before == 1 ? stage.points : stage.step) * plan.block * r.bytes;
      first = &step;
    }
  }
}

}  // namespace oriel::backend::eigen
