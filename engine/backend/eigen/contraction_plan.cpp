#include "backend/eigen/contraction_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "backend/eigen/parts.hpp"
#include "backend/eigen/sort.hpp"
#include "backend/eigen/tiles.hpp"
#include "backend/eigen/windows_plan.hpp"
#include "codegen/join.hpp"

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
// Bytes of the widest packets.
constexpr std::int64_t kWidestPacket = 64;
// Depths from which few results are summed in segments, so that threads can share them; of a segment, at least; and
// segments times blocks of results, and times results, at most.
constexpr std::int64_t kLongDepth = 8192;
constexpr std::int64_t kLeastSegment = 4096;
constexpr std::int64_t kMostSegments = 64;
constexpr std::int64_t kMostPartial = std::int64_t{4} << 20;
// Columns of a block that runs on panels: about as many, and where lines of an image are gathered, at most.
constexpr std::int64_t kColumns = 512;
constexpr std::int64_t kGatheredLines = 768;
// Results that are one block, whatever the machine.
constexpr std::int64_t kBlockRows = 256;
constexpr std::int64_t kBlockColumns = 512;
// Columns from which a right factor that has to be gathered pays for one row.
constexpr std::int64_t kGatheredColumns = 64;
// Panels of columns, and rows, up to which the other factor is not packed; bytes between rows that are near.
constexpr std::int64_t kDirectPanels = 4;
constexpr std::int64_t kDirectRows = 64;
constexpr std::int64_t kNearRows = 2048;
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

/// Does a load walk memory along the depth, the first `inner` axes, and jump along the last one?
bool runs_along_depth(const Access& access, std::size_t inner) {
  const View& top = access.tracker.views().back();
  const std::size_t rank = top.rank();
  if (access.buffer < 0 || rank == inner || std::abs(top.strides[rank - 1].value()) < 2) return false;
  for (std::size_t d = 0; d < inner; ++d) {
    if (std::abs(top.strides[d].value()) == 1) return true;
  }
  return false;
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
  ContractionPlanner(const LoopProgram& program, const Contraction& product, const isa::Table& table, bool part)
      : program_(program), table_(table), part_(part), plan_(std::make_shared<ContractionPlan>()) {
    plan_->shape = product;
  }

  std::shared_ptr<const ContractionPlan> run() {
    Contraction& c = plan_->shape;
    plan_->table = &table_;
    plan_->product = &table_.product[static_cast<int>(c.dtype)];
    plan_->log_bytes = log_bytes_of(c.dtype);
    if (plan_->product->block == nullptr) return nullptr;
    // Packets lie along columns: few columns would leave most of their lanes idle. Not by the level's own packets, as
    // the order of a long sum depends on which are the rows.
    if (!part_ && c.columns << plan_->log_bytes < kWidestPacket && c.rows > c.columns) {
      std::swap(c.left, c.right);
      std::swap(c.row_loops, c.column_loops);
      std::swap(c.rows, c.columns);
    }
    if (c.depth < 2 || products() < kSmallestWork || (c.rows < 2 && c.columns < 2)) return nullptr;
    const std::int64_t blocks = (c.depth + kDepth - 1) / kDepth;
    plan_->depth_block = (c.depth + blocks - 1) / blocks;
    plan_->left = factor(true);
    plan_->right = factor(false);
    if (!part_ && !choose_path()) return nullptr;
    choose_direct();
    choose_columns();
    choose_segments();
    plan_results();
    return plan_;
  }

 private:
  double products() const {
    const Contraction& c = plan_->shape;
    return static_cast<double>(c.rows) * static_cast<double>(c.columns) * static_cast<double>(c.depth);
  }

  /// False where the tile machine does as well.
  bool choose_path() {
    const Contraction& c = plan_->shape;
    const std::optional<Matrices>& memory = plan_->right.memory;
    const bool floats = plan_->product->loose;
    if (memory && memory->step == 1 && memory->row != 1 && c.rows == 1 && floats) {
      plan_->path = Path::Dots;
    } else if (memory && memory->row == 1 && c.rows <= kStreamedRows && floats) {
      plan_->path = Path::Streamed;
      plan_->right.direct = true;
    } else if (c.rows == 1 && floats && c.columns >= kGatheredColumns && !plan_->right.turned) {
      plan_->path = Path::Streamed;
    } else {
      return c.rows > 1;
    }
    return true;
  }

  // A factor is read as it lies where few panels of the other one would pay for packing it, or where its rows lie so
  // close together that a block of it keeps to the second cache.
  void choose_direct() {
    const Contraction& c = plan_->shape;
    if (plan_->path == Path::Dots) plan_->right.direct = true;
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

  // What is gathered from padded images comes as few boxes where a block of columns ends with a line of the image.
  void choose_columns() {
    const Contraction& c = plan_->shape;
    const std::int64_t panel = static_cast<std::int64_t>(plan_->product->packet) * plan_->product->packets;
    plan_->columns = (kColumns + panel - 1) / panel * panel;
    if (plan_->right.memory || c.column_loops.size() < 2) return;
    const std::int64_t lines = std::lcm(panel, program_.outer[c.column_loops.back()].value());
    if (lines <= kGatheredLines) plan_->columns = kGatheredLines / lines * lines;
  }

  // The order of the sum must not depend on the threads, so neither does the cut.
  void choose_segments() {
    const Contraction& c = plan_->shape;
    plan_->segment = c.depth;
    if (c.depth <= kLongDepth || part_) return;
    const auto quotient_up = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
    const std::int64_t blocks = c.batches * quotient_up(c.rows, kBlockRows) * quotient_up(c.columns, kBlockColumns);
    const std::int64_t segments =
        std::min({kMostSegments / blocks, c.depth / kLeastSegment, kMostPartial / (c.batches * c.rows * c.columns)});
    if (segments < 2) return;
    const std::int64_t least = quotient_up(c.depth, segments);
    if (plan_->path == Path::Dots) {
      // Where a subtree of the order of reductions ends.
      plan_->segment = isa::kBlock;
      while (plan_->segment < least) plan_->segment *= 2;
    } else {
      plan_->segment = quotient_up(least, plan_->depth_block) * plan_->depth_block;
    }
  }

  FactorPlan factor(bool left) {
    const Contraction& c = plan_->shape;
    const LoopProgram program = codegen::factor_program(program_, c, left);
    const std::size_t inner = program_.stages[c.stage].inner.size();
    FactorPlan out;
    out.points = left ? c.rows : c.columns;
    for (const Access& access : program.accesses) {
      if (access.buffer < 0) continue;
      const std::string& name = program.arguments[static_cast<std::size_t>(access.buffer)].name;
      if (out.sources.find(name) == std::string::npos) out.sources += (out.sources.empty() ? "" : ", ") + name;
    }
    Frame frame;
    frame.split = inner;
    frame.tile = kFactorTile;
    frame.wanted = left ? c.left : c.right;
    out.values = make_framed_plan(program, table_, frame);
    const std::size_t own = inner + c.batch_loops.size();
    for (const Access& access : program.accesses) out.turned = out.turned || runs_along_depth(access, inner);
    const std::vector<Instr>& list = program.stages[0].outer;
    const std::vector<Step>& steps = out.values.plan->stages[0].outer;
    if (list.size() != 1 || steps.size() != 1 || steps[0].kind != StepKind::Load) return out;
    out.load = &steps[0];
    const Access& access = program.accesses[0];
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
    // Results are stored while other factors' elements are still read.
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
  const bool part_;
  std::shared_ptr<ContractionPlan> plan_;
};

}  // namespace

std::shared_ptr<const ContractionPlan> plan_contraction(const LoopProgram& program, const isa::Table& table) {
  if (!program.form.contraction) return nullptr;
  return ContractionPlanner(program, *program.form.contraction, table, false).run();
}

std::shared_ptr<const ContractionPlan> plan_part(const LoopProgram& part, const Contraction& product,
                                                 const isa::Table& table) {
  return ContractionPlanner(part, product, table, true).run();
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

namespace {

// Of a program of one part.
KernelPath path_of(const LoopProgram& program, const Plan& plan) {
  if (plan.points == 0) return KernelPath::Nothing;
  if (plan.windows != nullptr) return KernelPath::Windows;
  if (plan.contraction != nullptr) return path_of(*plan.contraction);
  const bool reduces = std::any_of(program.stages.begin(), program.stages.end(),
                                   [](const codegen::Stage& s) { return !s.reductions.empty(); });
  return reduces ? KernelPath::Reductions : KernelPath::Elementwise;
}

}  // namespace

std::string describe_product(const ContractionPlan& plan) {
  const auto factor = [](const FactorPlan& f) {
    return (f.sources.empty() ? "constants" : f.sources) + (f.direct ? " read as they lie" : " packed");
  };
  const char* path = plan.path == Path::Blocked ? "blocked" : plan.path == Path::Streamed ? "streamed" : "dot products";
  const std::int64_t segments = (plan.shape.depth + plan.segment - 1) / plan.segment;
  return "contraction: " + codegen::to_string(plan.shape) + " (rows, columns, depth); " + path + ", rows from " +
         factor(plan.left) + ", columns from " + factor(plan.right) +
         (segments > 1 ? ", depth in " + std::to_string(segments) + " segments" : "");
}

std::string describe_contraction(const LoopProgram& program, const isa::Table& table) {
  if (codegen::parts_of(program) > 1) return describe_parts(program, table);
  if (!program.form.contraction) return {};
  if (const auto plan = plan_contraction(program, table)) return describe_product(*plan);
  return "contraction: " + codegen::to_string(*program.form.contraction) + " (rows, columns, depth); tile by tile";
}

std::shared_ptr<const Plan> make_plan(const LoopProgram& program, const isa::Table& table, std::int64_t tile) {
  if (program.sorting) {
    auto plan = std::make_shared<Plan>();
    plan->name = program.name;
    plan->table = &table;
    plan->sorting = make_sort_plan(program, table);
    plan->arguments = program.arguments.size();
    plan->points = program.sorting->rows;
    if (plan->points > 0) plan->path = KernelPath::Sort;
    return plan;
  }
  if (codegen::parts_of(program) > 1) {
    auto plan = std::make_shared<Plan>();
    plan->name = program.name;
    plan->table = &table;
    plan->parts = plan_parts(program, table, tile);
    for (const codegen::Argument& a : program.arguments) plan->arguments += a.local ? 0 : 1;
    for (const codegen::Constant& c : program.constants)
      if (c.parameter >= 0) plan->parameters = std::max(plan->parameters, static_cast<std::size_t>(c.parameter) + 1);
    plan->points = plan->parts->batches * plan->parts->rows;
    if (plan->points > 0) plan->path = plan->parts->running != nullptr ? KernelPath::Running : KernelPath::Rows;
    return plan;
  }
  std::shared_ptr<Plan> plan = make_tile_plan(program, table, tile);
  plan->windows = plan_windows(program, table);
  if (plan->windows == nullptr) plan->contraction = plan_contraction(program, table);
  plan->path = path_of(program, *plan);
  return plan;
}

}  // namespace oriel::backend::eigen
