#include "backend/eigen/products/contraction_plan.hpp"

#include <cstdlib>
#include <numeric>

#include "backend/eigen/tile/tiles.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

namespace {

// Columns of a block that runs on panels: about this many, and at most how many if lines of an image are gathered.
constexpr std::int64_t kColumns = 512;
constexpr std::int64_t kGatheredLines = 768;
// A factor is not packed if the other one has at most this many panels of columns, or rows. Rows that lie at most
// kNearRows bytes apart are near.
constexpr std::int64_t kDirectPanels = 4;
constexpr std::int64_t kDirectRows = 64;
constexpr std::int64_t kNearRows = 2048;

class ContractionPlanner {
 public:
  ContractionPlanner(const LoopProgram& program, codegen::ProductForm form, const isa::Table& table)
      : program_(program), form_(std::move(form)), table_(table), plan_(std::make_shared<ContractionPlan>()) {}

  std::shared_ptr<const ContractionPlan> run() {
    plan_->shape = std::move(form_.shape);
    plan_->table = &table_;
    plan_->product = &table_.product[static_cast<int>(plan_->shape.dtype)];
    plan_->log_bytes = log_bytes_of(plan_->shape.dtype);
    plan_->depth_block = form_.depth_block;
    plan_->segment = form_.segment;
    plan_->path = form_.path;
    plan_->left = factor(true, std::move(form_.left));
    plan_->right = factor(false, std::move(form_.right));
    choose_direct();
    choose_columns();
    plan_results();
    return plan_;
  }

 private:
  // A factor is not packed if the other factor has too few panels to make up for the packing, or if the factor's rows
  // lie so close together that a block of it stays in the second-level cache.
  void choose_direct() {
    const Contraction& c = plan_->shape;
    const std::optional<Matrices>& lies = plan_->right.memory;
    if (plan_->path == Path::Dots || (plan_->path == Path::Streamed && lies && lies->row == 1))
      plan_->right.direct = true;
    if (plan_->path != Path::Blocked) {
      const std::optional<Matrices>& few = plan_->left.memory;
      plan_->left.direct = few && (few->step == 1 || (plan_->path == Path::Streamed && few->row == 1));
    }
    if (plan_->path != Path::Blocked || !plan_->product->loose) return;
    const std::int64_t panel = static_cast<std::int64_t>(plan_->product->packet) * plan_->product->packets;
    const std::optional<Matrices>& left = plan_->left.memory;
    const std::optional<Matrices>& right = plan_->right.memory;
    plan_->left.direct = left && (left->row == 1 || left->step == 1) && c.columns <= kDirectPanels * panel;
    plan_->right.direct = right && right->row == 1 && c.columns % plan_->product->packet == 0 &&
                          (c.rows <= kDirectRows || (std::abs(right->step) << plan_->log_bytes) <= kNearRows);
  }

  // Elements of padded images are gathered in fewer boxes if a block of columns ends with a line of the image.
  void choose_columns() {
    const Contraction& c = plan_->shape;
    const std::int64_t panel = static_cast<std::int64_t>(plan_->product->packet) * plan_->product->packets;
    plan_->columns = (kColumns + panel - 1) / panel * panel;
    if (plan_->right.memory || c.column_loops.size() < 2) return;
    const std::int64_t lines = std::lcm(panel, program_.outer[c.column_loops.back()].value());
    if (lines != 0 && lines <= kGatheredLines) plan_->columns = kGatheredLines / lines * lines;
  }

  FactorPlan factor(bool left, codegen::FactorForm form) {
    const Contraction& c = plan_->shape;
    LoopProgram program = codegen::factor_program(program_, c, left);
    const std::size_t inner = program_.stages[c.stage].inner.size();
    FactorPlan out{std::move(form), {}, nullptr, false, {}};
    for (const Access& access : program.accesses) {
      if (access.buffer < 0) continue;
      const std::string& name = program.arguments[static_cast<std::size_t>(access.buffer)].name;
      if (out.sources.find(name) == std::string::npos) out.sources += (out.sources.empty() ? "" : ", ") + name;
    }
    TileFrame frame;
    frame.split = inner;
    frame.tile = kFactorTile;
    if (out.order == codegen::PackOrder::Points) {
      frame.split = program.outer.size() - inner;
      frame.tile = kPointsTile;
      program = codegen::by_points(std::move(program), inner);
    }
    frame.wanted = left ? c.left : c.right;
    out.values = make_framed_plan(program, table_, frame);
    const std::vector<Instr>& list = program.stages[0].outer;
    const std::vector<TileStep>& steps = out.values.plan->stages[0].outer;
    if (list.size() != 1 || steps.size() != 1 || steps[0].kind != StepKind::Load) return out;
    out.load = steps.data();
    return out;
  }

  void plan_results() {
    const Contraction& c = plan_->shape;
    const LoopProgram program = codegen::epilogue_program(program_, c);
    const std::size_t rows = c.batch_loops.size();
    const std::size_t columns = rows + c.row_loops.size();
    const ResultsPlan made = eigen::plan_results(program, c.result, c.dtype, columns, kResultTile, table_);
    plan_->epilogue = made.epilogue;
    if (made.stored == nullptr) return;
    const Access& access = *made.stored;
    plan_->results = codegen::matrices_of(access, {0, rows}, {rows, columns}, {columns, access.loops()});
    if (plan_->results && plan_->results->step != 1) plan_->results.reset();
  }

  const LoopProgram& program_;
  codegen::ProductForm form_;
  const isa::Table& table_;
  std::shared_ptr<ContractionPlan> plan_;
};

}  // namespace

ResultsPlan plan_results(const LoopProgram& after, codegen::ValueId result, DType dtype, std::size_t split,
                         std::int64_t tile, const isa::Table& table) {
  TileFrame frame;
  frame.split = split;
  frame.tile = tile;
  frame.given = result;
  ResultsPlan out{make_framed_plan(after, table, frame)};
  const std::vector<Instr>& list = after.stages[0].outer;
  if (list.size() != 1 || list[0].code != Code::Store || list[0].a != result) return out;
  const Access& access = after.accesses[0];
  if (access.dtype == dtype && after.arguments[static_cast<std::size_t>(access.buffer)].shares < 0)
    out.stored = &access;
  return out;
}

std::shared_ptr<const ContractionPlan> plan_contraction(const LoopProgram& program, const isa::Table& table) {
  std::optional<codegen::ProductForm> form = codegen::product_form(program);
  return form ? ContractionPlanner(program, std::move(*form), table).run() : nullptr;
}

std::shared_ptr<const ContractionPlan> plan_part(const LoopProgram& part, const Contraction& product,
                                                 const isa::Table& table) {
  std::optional<codegen::ProductForm> form = codegen::part_form(part, product);
  return form ? ContractionPlanner(part, std::move(*form), table).run() : nullptr;
}

KernelPath path_of(const ContractionPlan& plan) {
  switch (plan.path) {
    case Path::Blocked:
      return KernelPath::Blocked;
    case Path::Streamed:
      return KernelPath::Streamed;
    case Path::Dots:
      return KernelPath::DotProducts;
  }
  return KernelPath::Blocked;
}

std::string describe_product(const ContractionPlan& plan) {
  const auto factor = [](const FactorPlan& f) {
    return (f.sources.empty() ? "constants" : f.sources) + (f.direct ? " read as they lie"
                                                            : f.order == codegen::PackOrder::Points
                                                                ? " packed along the depth"
                                                                : " packed");
  };
  const char* path = plan.path == Path::Blocked ? "blocked" : plan.path == Path::Streamed ? "streamed" : "dot products";
  const std::int64_t segments = (plan.shape.depth + plan.segment - 1) / plan.segment;
  return "contraction: " + codegen::to_string(plan.shape) + " (rows, columns, depth); " + path + ", rows from " +
         factor(plan.left) + ", columns from " + factor(plan.right) +
         (segments > 1 ? ", depth in " + std::to_string(segments) + " segments" : "");
}

}  // namespace oriel::backend::eigen
