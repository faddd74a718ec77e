#include "backend/eigen/products/windows_plan.hpp"

#include <algorithm>

#include "backend/eigen/tile/tiles.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Windows;

namespace {

// The most elements of a source that stay in the second-level cache, and the most of one row before it is cut.
constexpr std::int64_t kBlockElements = std::int64_t{32} * 1024;
constexpr std::int64_t kCutRow = 4096;

class WindowsPlanner {
 public:
  WindowsPlanner(const LoopProgram& program, const isa::Table& table)
      : program_(program), table_(table), plan_(std::make_shared<WindowsPlan>()) {}

  std::shared_ptr<const WindowsPlan> run() {
    std::optional<Windows> found = codegen::window_form(program_);
    if (!found) return nullptr;
    plan_->shape = std::move(*found);
    const Windows& w = plan_->shape;
    plan_->table = &table_;
    plan_->fns = &table_.window[static_cast<int>(w.dtype)];
    plan_->log_bytes = log_bytes_of(w.dtype);
    plan_source();
    plan_results();
    choose_blocks();
    return plan_;
  }

 private:
  void plan_source() {
    const Windows& w = plan_->shape;
    const LoopProgram program = codegen::source_program(program_, w);
    TileFrame frame;
    frame.split = w.slow_loops + w.plane_loops.size();
    frame.tile = kSourceTile;
    frame.wanted = w.source;
    plan_->source = make_framed_plan(program, table_, frame);
    const std::vector<Instr>& list = program.stages[0].outer;
    const std::vector<TileStep>& steps = plan_->source.plan->stages[0].outer;
    if (list.size() == 1 && steps.size() == 1 && steps[0].kind == StepKind::Load) {
      const Access& access = program.accesses[0];
      if (register_dtype(access.dtype) == access.dtype) plan_->load = steps.data();
      plan_->memory = in_memory(access, frame.split);
    }
    if (w.weight == codegen::kNoValue) return;
    const LoopProgram weights = codegen::weight_program(program_, w);
    frame.split = w.slow_loops;
    frame.tile = static_cast<std::int64_t>(w.taps.size());
    frame.wanted = w.weight;
    plan_->weights = make_framed_plan(weights, table_, frame);
  }

  /// A matrix for each point of the loops before `split`, where the last loop walks memory.
  std::optional<Matrices> in_memory(const Access& access, std::size_t split) const {
    const Windows& w = plan_->shape;
    if (!access.affine() || access.boxed() || access.dtype != w.dtype) return std::nullopt;
    if (access.coefficient(split + 1) != 1 || w.step != 1 || w.x_points < plan_->fns->packet) return std::nullopt;
    return matrices(access, split);
  }

  static std::optional<Matrices> matrices(const Access& access, std::size_t split) {
    const std::size_t last = access.loops() - 1;
    return codegen::matrices_of(access, {0, split}, {split, last}, {last, last + 1});
  }

  void plan_results() {
    const Windows& w = plan_->shape;
    const LoopProgram program = codegen::epilogue_program(program_, w);
    const std::size_t last = program.outer.size() - 1;
    const ResultsPlan made = eigen::plan_results(program, w.result, w.dtype, last, kWindowTile, table_);
    plan_->epilogue = made.epilogue;
    // Packets would pass the end of short rows.
    if (made.stored == nullptr || !made.stored->affine() || made.stored->boxed() ||
        made.stored->coefficient(last) != 1 || w.x_points < plan_->fns->packet)
      return;
    plan_->results = matrices(*made.stored, w.slow_loops);
  }

  // Blocks take as much of a plane as the second-level cache holds. Rows are cut only if a few of them exceed it.
  void choose_blocks() {
    const Windows& w = plan_->shape;
    std::int64_t& y = plan_->y_block;
    std::int64_t& x = plan_->x_block;
    y = w.y_points;
    x = w.x_points;
    const auto elements = [&] {
      return w.planes * ((y - 1) * w.row_step + w.row_span + 1) * ((x - 1) * w.step + w.column_span + 1);
    };
    // At least half of the elements that a block computes belong to no other block.
    while (elements() > kBlockElements && y > 1 && (y / 2) * w.row_step > w.row_span) y = (y + 1) / 2;
    while (elements() > kBlockElements && x > kCutRow && (x / 2) * w.step > w.column_span) x = (x + 1) / 2;
    while (y > 1 && y * x > kBlockElements) y = (y + 1) / 2;
    // A cut costs nothing if the source is read where it lies.
    while (plan_->memory && x > kCutRow && y * x > kBlockElements) x = (x + 1) / 2;
  }

  const LoopProgram& program_;
  const isa::Table& table_;
  std::shared_ptr<WindowsPlan> plan_;
};

}  // namespace

std::shared_ptr<const WindowsPlan> plan_windows(const LoopProgram& program, const isa::Table& table) {
  return WindowsPlanner(program, table).run();
}

std::string describe_windows(const WindowsPlan& plan) {
  return "windows: " + codegen::to_string(plan.shape) +
         (plan.memory ? " read as they lie" : " computed once an element") +
         (plan.weights ? ", each tap with its weight" : "");
}

}  // namespace oriel::backend::eigen
