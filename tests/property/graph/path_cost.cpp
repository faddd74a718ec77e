#include "path_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "backend/eigen/backend.hpp"
#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/products/online_softmax.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "codegen/unroll.hpp"

namespace oriel::testing {

namespace {

using namespace backend::eigen;
using codegen::Access;
using codegen::Code;
using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Stage;

// Nanoseconds, measured as those of engine/schedule/rates.hpp.
struct Rates {
  double launch = 2000, byte = 0.012;
  // An element of 4 bytes in tiles: in order, one value for a run, apart, and for each view beyond the first.
  double operation = 0.04, reduce = 0.1, store = 0.1, cheap = 0.02, gather = 1;
  double load = 0.08, load_repeated = 0.15, load_apart = 0.22, load_view = 0.35;
  // A multiplication of 4 bytes.
  double blocked = 0.02, blocked_integer = 0.08, streamed = 0.05, dots = 0.05, window = 0.04, side_by_side = 0.05;
  // An element that is packed: into a lane, read, computed, for a vector, through two views, through more.
  double lane = 0.1, pack = 0.12, pack_computed = 0.5, pack_for_vector = 0.1, pack_boxes = 0.3, pack_stacked = 8;
};
constexpr Rates kRates;

double real(std::int64_t n) { return static_cast<double>(n); }
double points(const Ints& extents) {
  double n = 1;
  for (const SymInt e : extents) n *= real(e.value());
  return n;
}
double words(DType dtype) { return static_cast<double>(itemsize(codegen::register_dtype(dtype))) / 4; }

/// The stride along the loop that tiles run along: the last loop with more than one point, in the order that the
/// program's orientation says.
std::int64_t fast_stride(const LoopProgram& program, const Access& access, bool inner) {
  const bool along_inner = inner && program.orientation == codegen::Orientation::Inner;
  std::size_t end = along_inner ? access.loops() : std::min(access.loops(), program.outer.size());
  while (end > 0) {
    --end;
    if (access.extent(end) != 1) return std::abs(access.coefficient(end));
  }
  return 0;
}

double load_cost(const LoopProgram& program, const Instr& in, bool inner) {
  const Access& access = program.accesses[static_cast<std::size_t>(in.aux)];
  const double size = std::max(0.5, words(access.dtype));
  if (!access.affine()) return (kRates.load + kRates.load_view * real(std::ssize(access.maps()) - 1)) * size;
  const std::int64_t stride = fast_stride(program, access, inner);
  return (stride == 1 || !inner ? kRates.load : stride == 0 ? kRates.load_repeated : kRates.load_apart) * size;
}

double instruction_cost(const LoopProgram& program, const Instr& in, bool inner) {
  if (in.code == Code::Elementwise)
    return kRates.operation * graph::row(in.op).cost * std::max(0.5, std::max(words(in.dtype), words(in.from)));
  if (in.code == Code::Load) return load_cost(program, in, inner);
  if (in.code == Code::Gather) return kRates.gather;
  return in.code == Code::Store ? kRates.store * std::max(0.5, words(in.from)) : kRates.cheap;
}

double tiles(const LoopProgram& program) {
  double cost = 0;
  for (const Stage& stage : program.stages) {
    double body = 0, after = 0;
    for (const Instr& in : stage.body) body += instruction_cost(program, in, true);
    for (const codegen::Reduction& r : stage.reductions) body += kRates.reduce * words(r.dtype);
    for (const Instr& in : stage.outer) after += instruction_cost(program, in, false);
    cost += points(program.outer) * points(stage.columns) * (points(stage.inner) * body + after);
  }
  return cost;
}

double factor(const LoopProgram& program, const ContractionPlan& plan, bool left) {
  const FactorPlan& f = left ? plan.left : plan.right;
  if (f.direct) return 0;
  const LoopProgram made = codegen::factor_program(program, plan.shape, left);
  double each = plan.path != Path::Blocked ? kRates.pack_for_vector
                : f.load != nullptr        ? kRates.pack
                                           : kRates.pack_computed;
  const auto stacked =
      std::ranges::find_if(made.accesses, [](const Access& a) { return a.buffer >= 0 && !a.affine(); });
  if (stacked != made.accesses.end()) each += stacked->maps().size() > 2 ? kRates.pack_stacked : kRates.pack_boxes;
  return tiles(made) + points(made.outer) * each;
}

double product(const LoopProgram& program, const ContractionPlan& plan) {
  const Contraction& c = plan.shape;
  double rate = plan.product->loose ? kRates.blocked : kRates.blocked_integer;
  std::int64_t rows = c.rows, columns = c.columns;
  if (plan.path == Path::Streamed) rate = kRates.streamed;
  if (plan.path == Path::Dots) rate = kRates.dots;
  if (plan.path == Path::Blocked) {
    // Counts the idle lanes and rows of register blocks, with the widths of the widest instruction set, so that
    // estimates are the same on every machine.
    const std::int64_t lanes = 64 >> plan.log_bytes;
    columns = (columns + lanes - 1) / lanes * lanes;
    rows = (rows + 3) / 4 * 4;
  }
  const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
  return real(c.batches) * real(rows) * real(columns) * real(c.depth) * rate * size + factor(program, plan, true) +
         factor(program, plan, false) + tiles(codegen::epilogue_program(program, c));
}

double small_products(const LoopProgram& program, const SmallPlan& plan) {
  const Contraction& c = plan.shape;
  const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
  const double moved = real((c.rows + c.columns) * c.depth + c.rows * c.columns);
  const double each = kRates.side_by_side * real(c.rows * c.columns * c.depth) + kRates.lane * moved;
  return size * real(c.batches) * each + (plan.results ? 0 : tiles(codegen::epilogue_program(program, c)));
}

double windows(const LoopProgram& program, const WindowsPlan& plan) {
  const codegen::Windows& w = plan.shape;
  const double size = real(std::int64_t{1} << plan.log_bytes) / 4;
  const double taps = real(w.slow_points) * real(w.y_points) * real(w.x_points) * real(std::ssize(w.taps));
  return taps * kRates.window * size + (plan.memory ? 0 : tiles(codegen::source_program(program, w))) +
         tiles(codegen::epilogue_program(program, w));
}

double parts(const LoopProgram& program, const PartsPlan& plan) {
  if (plan.online != nullptr) {
    const codegen::OnlineParts& softmax = plan.online->parts;
    return product(softmax.scores, *plan.online->scores) + tiles(softmax.weights) +
           product(softmax.products, *plan.online->products);
  }
  double cost = 0;
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const LoopProgram part = codegen::part_program(program, static_cast<int>(p), false);
    const auto& multiplied = plan.parts[p].product;
    cost += multiplied != nullptr ? product(part, *multiplied) : tiles(part);
  }
  return cost;
}

double work(const LoopProgram& program, const Plan& plan) {
  const backend::eigen::SmallPlan* const small = small_plan(plan);
  if (plan.by_use != nullptr && small == nullptr) return plan.by_use->nanoseconds();
  if (plan.parts != nullptr) return parts(program, *plan.parts);
  if (plan.windows != nullptr) return windows(program, *plan.windows);
  if (plan.contraction != nullptr) return product(program, *plan.contraction);
  if (small != nullptr) return small_products(program, *small);
  return tiles(program);
}

}  // namespace

double path_cost(backend::Backend& device, const LoopProgram& program, std::string* text) {
  const LoopProgram runs = codegen::unrolled(program).value_or(program);
  const auto kernel = device.compile(program);
  const Plan& plan = *static_cast<const TieredKernel&>(*kernel).plan;
  if (plan.path == backend::KernelPath::Nothing) return 0;
  const double cost = kRates.launch + kRates.byte * real(runs.bytes) + work(runs, plan);
  if (text != nullptr) *text += fmt::format("    {:9.0f} ns {} on {}\n", cost, program.name, backend::text(plan.path));
  return cost;
}

}  // namespace oriel::testing
