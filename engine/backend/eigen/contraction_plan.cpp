#include "backend/eigen/contraction_plan.hpp"

#include <algorithm>

#include "backend/eigen/tiles.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

// Depths that one register block sums: its panels stay in the first and second cache. It fixes the order of summation,
// so it is the same on every machine.
constexpr std::int64_t kDepth = 384;
// Below so many products the tile machine is done before panels are packed.
constexpr std::int64_t kSmallestWork = 4096;

/// The one stride of axes [from, to) of a view, if they walk memory evenly; 0 where they have one point.
std::optional<std::int64_t> even_stride(const View& view, std::size_t from, std::size_t to) {
  std::int64_t stride = 0;
  std::int64_t extent = 1;
  for (std::size_t d = to; d-- > from;) {
    if (view.shape[d] == 1) continue;
    if (extent == 1) {
      stride = view.strides[d].value();
    } else if (view.strides[d].value() != stride * extent) {
      return std::nullopt;
    }
    extent *= view.shape[d].value();
  }
  return stride;
}

/// `access` as matrices; its loops are the batches between the given axes, and two groups before and behind them.
std::optional<Matrices> matrices(const Access& access, std::size_t batch, std::size_t batch_end) {
  if (!access.affine() || access.view().masked()) return std::nullopt;
  const View& view = access.view();
  Matrices m;
  m.buffer = access.buffer;
  m.offset = view.offset.value();
  for (std::size_t d = batch; d < batch_end; ++d) {
    m.extents.push_back(view.shape[d].value());
    m.strides.push_back(view.strides[d].value());
  }
  return m;
}

class ContractionPlanner {
 public:
  ContractionPlanner(const LoopProgram& program, const isa::Table& table)
      : program_(program), table_(table), plan_(std::make_shared<ContractionPlan>()) {}

  std::shared_ptr<const ContractionPlan> run() {
    std::optional<Contraction> found = codegen::find_contraction(program_);
    if (!found) return nullptr;
    plan_->shape = std::move(*found);
    Contraction& c = plan_->shape;
    plan_->table = &table_;
    plan_->product = &table_.product[static_cast<int>(c.dtype)];
    plan_->log_bytes = log_bytes_of(c.dtype);
    if (plan_->product->block == nullptr) return nullptr;
    // Packets lie along columns: few columns would leave most of their lanes idle.
    if (c.columns < plan_->product->packet && c.rows > c.columns) {
      std::swap(c.left, c.right);
      std::swap(c.row_loops, c.column_loops);
      std::swap(c.rows, c.columns);
    }
    if (!pays()) return nullptr;
    const std::int64_t blocks = (c.depth + kDepth - 1) / kDepth;
    plan_->depth_block = (c.depth + blocks - 1) / blocks;
    plan_->left = factor(true);
    plan_->right = factor(false);
    plan_results();
    return plan_;
  }

 private:
  bool pays() const {
    const Contraction& c = plan_->shape;
    const auto work = static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(c.depth);
    return c.rows > 1 && c.columns > 1 && c.depth > 1 && work >= kSmallestWork;
  }

  FactorPlan factor(bool left) {
    const Contraction& c = plan_->shape;
    const LoopProgram program = codegen::factor_program(program_, c, left);
    const std::size_t inner = program_.stages[c.stage].inner.size();
    FactorPlan out;
    out.points = left ? c.rows : c.columns;
    Frame frame;
    frame.split = inner;
    frame.tile = kFactorTile;
    frame.wanted = left ? c.left : c.right;
    out.values = make_framed_plan(program, table_, frame);
    const std::vector<Instr>& list = program.stages[0].outer;
    const std::vector<Step>& steps = out.values.plan->stages[0].outer;
    if (list.size() != 1 || steps.size() != 1 || steps[0].kind != StepKind::Load) return out;
    out.load = &steps[0];
    const Access& access = program.accesses[0];
    const std::size_t own = inner + c.batch_loops.size();
    const auto step = even_stride(access.view(), 0, inner);
    const auto row = even_stride(access.view(), own, access.view().rank());
    if (access.dtype != c.dtype || !step || !row) return out;
    out.memory = matrices(access, inner, own);
    if (out.memory) {
      out.memory->row = *row;
      out.memory->step = *step;
    }
    return out;
  }

  void plan_results() {
    const Contraction& c = plan_->shape;
    const LoopProgram program = codegen::epilogue_program(program_, c);
    const std::size_t rows = c.batch_loops.size();
    const std::size_t columns = rows + c.row_loops.size();
    Frame frame;
    frame.split = columns;
    frame.tile = kResultTile;
    frame.given = c.result;
    plan_->epilogue = make_framed_plan(program, table_, frame);
    const std::vector<Instr>& list = program.stages[0].outer;
    if (list.size() != 1 || list[0].code != Code::Store || list[0].a != c.result) return;
    const Access& access = program.accesses[0];
    // Sums are built up where they are stored: nothing may be read there any more.
    if (access.dtype != c.dtype || program.arguments[static_cast<std::size_t>(access.buffer)].shares >= 0) return;
    const auto row = even_stride(access.view(), rows, columns);
    const auto step = even_stride(access.view(), columns, access.view().rank());
    if (!row || !step || *step != 1) return;
    plan_->results = matrices(access, 0, rows);
    if (plan_->results) {
      plan_->results->row = *row;
      plan_->results->step = *step;
    }
  }

  const LoopProgram& program_;
  const isa::Table& table_;
  std::shared_ptr<ContractionPlan> plan_;
};

}  // namespace

std::shared_ptr<const ContractionPlan> plan_contraction(const LoopProgram& program, const isa::Table& table) {
  return ContractionPlanner(program, table).run();
}

std::shared_ptr<const Plan> make_plan(const LoopProgram& program, const isa::Table& table, std::int64_t tile) {
  std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
  plan->contraction = plan_contraction(program, table);
  return plan;
}

}  // namespace oriel::backend::eigen
