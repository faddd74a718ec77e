#include "backend/eigen/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/small_plan.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "schedule/rates.hpp"

namespace oriel::backend::eigen {
namespace {

using codegen::Code;
using codegen::Instr;

constexpr schedule::Rates kTime = schedule::kRates;

double points_of(const Ints& extents) {
  double n = 1;
  for (const SymInt e : extents) n *= static_cast<double>(e.value());
  return n;
}

/// The relative cost of a dtype: an operation on elements of 8 bytes takes twice the time of 4 bytes.
double width(DType dtype) { return static_cast<double>(std::max<std::size_t>(itemsize(dtype), 4)) / 4; }

/// The cost of a list of instructions, in additions of 4 bytes.
double cost(const std::vector<Instr>& list) {
  double sum = 0;
  for (const Instr& i : list) {
    const double op = i.code == Code::Elementwise ? graph::row(i.op).cost : i.code == Code::Gather ? 4 : 1;
    sum += op * width(i.dtype);
  }
  return sum;
}

/// The nanoseconds of all instructions on the tile machine. With `products`, reductions that run as products are left
/// out.
double tile_time(const codegen::LoopProgram& program, const Plan& plan, bool products) {
  const double outer = points_of(program.outer);
  double sum = 0;
  for (const codegen::Stage& stage : program.stages) {
    const double rows = outer * points_of(stage.columns);
    double body = cost(stage.body);
    for (const codegen::Reduction& r : stage.reductions) body += width(r.dtype);
    const double inner = points_of(stage.inner);
    const bool odd = std::fmod(inner, isa::kPacket) != 0;
    if (!products || stage.reductions.empty()) sum += kTime.operation * rows * inner * body;
    if (!products && !plan.columns)
      sum += (odd ? kTime.odd_row : kTime.row) * rows * static_cast<double>(stage.reductions.size());
    sum += kTime.operation * rows * cost(stage.outer);
  }
  return sum;
}

double product_time(const codegen::Contraction& c) {
  return kTime.packed * width(c.dtype) * static_cast<double>(c.batches) * static_cast<double>(c.rows) *
         static_cast<double>(c.columns) * static_cast<double>(c.depth);
}

}  // namespace

double estimated_seconds(const codegen::LoopProgram& program, const Plan& plan) {
  double work = 0;
  if (plan.by_use != nullptr) {
    work = plan.by_use->nanoseconds();
    // The tile machine runs what follows small products.
    if (const SmallPlan* small = small_plan(plan); small != nullptr && !small->results)
      work += tile_time(program, plan, true);
  } else if (plan.parts != nullptr) {
    // Most reductions of fused kernels are products.
    for (const codegen::Stage& stage : program.stages) {
      const double rows = points_of(program.outer) * points_of(stage.columns);
      for (const codegen::Reduction& r : stage.reductions)
        work += kTime.fused * width(r.dtype) * rows * points_of(stage.inner);
    }
    work += tile_time(program, plan, true);
  } else if (plan.contraction != nullptr) {
    work = product_time(plan.contraction->shape) + tile_time(program, plan, true);
  } else if (plan.windows != nullptr) {
    const codegen::Windows& w = plan.windows->shape;
    work = kTime.window * width(w.dtype) * static_cast<double>(w.slow_points * w.y_points * w.x_points) *
               static_cast<double>(w.taps.size()) +
           tile_time(program, plan, true);
  } else {
    work = tile_time(program, plan, false);
  }
  return 1e-9 * (kTime.start + std::max(work, kTime.byte * static_cast<double>(program.bytes)));
}

}  // namespace oriel::backend::eigen
