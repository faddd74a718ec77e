#include "backend/tile_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "backend/backend.hpp"
#include "codegen/cost.hpp"
#include "codegen/definitions.hpp"

namespace oriel::backend {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::LoopProgram;
using codegen::Stage;
using schedule::kRates;
using schedule::kRatesInOrder;
using schedule::Rates;

namespace {

double points(const Ints& extents) {
  double n = 1;
  for (const SymInt e : extents) n *= static_cast<double>(e.value());
  return n;
}

double words(DType dtype) { return static_cast<double>(itemsize(codegen::register_dtype(dtype))) / 4; }

// The stride along the loop that tiles run along: the last loop with more than one point, in the order that the
// program's orientation says.
std::int64_t fast_stride(const LoopProgram& program, const Access& access, bool inner) {
  const bool along_inner = inner && program.orientation == codegen::Orientation::Inner;
  std::size_t end = along_inner ? access.loops() : std::min(access.loops(), program.outer.size());
  while (end > 0) {
    --end;
    if (access.extent(end) != 1) return std::abs(access.coefficient(end));
  }
  return 0;
}

double load_cost(const LoopProgram& program, const Instr& in, bool inner, const Rates& rates) {
  const Access& access = program.accesses[static_cast<std::size_t>(in.aux)];
  const double size = std::max(0.5, words(access.dtype));
  if (!access.affine())
    return (rates.load + rates.load_view * static_cast<double>(std::ssize(access.maps()) - 1)) * size;
  const std::int64_t stride = fast_stride(program, access, inner);
  return (stride == 1 || !inner ? rates.load : stride == 0 ? rates.load_repeated : rates.load_apart) * size;
}

}  // namespace

double instruction_cost(const LoopProgram& program, const Stage& /*stage*/, const Instr& in, bool inner,
                        const Rates& rates) {
  switch (in.code) {
    case Code::Elementwise:
      return rates.operation * graph::row(in.op).cost * std::max(0.5, std::max(words(in.dtype), words(in.from)));
    case Code::Load:
      return load_cost(program, in, inner, rates);
    case Code::Gather:
      return rates.gather;
    case Code::Store:
      return rates.store * std::max(0.5, words(in.from));
    case Code::Index:
    case Code::Valid:
    case Code::Const:
    case Code::Round:
      return rates.cheap;
  }
  return 0;
}

double stage_cost(const LoopProgram& program, const Stage& stage, const Rates& rates) {
  double body = 0, after = 0;
  for (const Instr& in : stage.body) body += instruction_cost(program, stage, in, true, rates);
  for (const codegen::Reduction& r : stage.reductions) body += rates.reduce * words(r.dtype);
  for (const Instr& in : stage.outer) after += instruction_cost(program, stage, in, false, rates);
  return points(program.outer) * points(stage.columns) * (points(stage.inner) * body + after);
}

double tile_cost(const LoopProgram& program, const Rates& rates) {
  double cost = 0;
  for (const Stage& stage : program.stages) cost += stage_cost(program, stage, rates);
  return cost;
}

PathReport tile_path_report(const LoopProgram& program) {
  PathReport report;
  report.path = points(program.outer) == 0 ? KernelPath::Nothing
                : reduces(program.form)    ? KernelPath::Reductions
                                           : KernelPath::Elementwise;
  const double cost = tile_cost(program, kRates);
  const double rest = kRates.launch + kRates.byte * static_cast<double>(program.bytes);
  report.parts.push_back({report.path, cost});
  report.nanoseconds = cost + rest;
  report.limit = tile_cost(program, kRatesInOrder) + rest;
  return report;
}

std::optional<LoopProgram> without_padding(const LoopProgram& program) {
  Ranges box;
  for (const SymInt e : program.outer) box.push_back({0, e});
  const Ranges all = box;
  for (const Instr& in : program.stages[0].body) {
    if (in.code != Code::Load) continue;
    const Access& access = program.accesses[static_cast<std::size_t>(in.aux)];
    for (std::size_t d = 0; access.boxed() && d < box.size(); ++d) {
      box[d].lo = std::max(box[d].lo, SymInt(access.begin(d)));
      box[d].hi = std::min(box[d].hi, SymInt(access.end(d)));
    }
  }
  if (box == all || std::any_of(box.begin(), box.end(), [](const Range& r) { return r.hi <= r.lo; }))
    return std::nullopt;
  LoopProgram out = program;
  for (std::size_t d = 0; d < box.size(); ++d) out.outer[d] = box[d].extent();
  for (Access& access : out.accesses) access.restrict(box);
  codegen::finish(out);
  return out;
}

std::optional<LoopProgram> alone(const LoopProgram& program, std::size_t stage, std::size_t reduction) {
  const Stage& from = program.stages[stage];
  const codegen::Reduction& r = from.reductions[reduction];
  LoopProgram out = codegen::without_loops(program, program.outer);
  out.outer.insert(out.outer.end(), from.columns.begin(), from.columns.end());
  Stage& to = out.stages[0];
  to.inner = from.inner;
  to.reductions = {r};
  if (!codegen::Definitions(program, stage).gather(r.input, to.body)) return std::nullopt;
  const std::size_t rank = out.outer.size() + to.inner.size();
  for (Instr& in : to.body) {
    if (!codegen::reads(in)) continue;
    const Access& access = program.accesses[static_cast<std::size_t>(in.aux)];
    if (access.loops() != rank) return std::nullopt;  // read after an earlier stage's loops
    in.aux = static_cast<std::int32_t>(out.accesses.size());
    out.accesses.push_back(access);
  }
  const SymInt results = numel(out.outer, "path");
  codegen::Argument result;
  result.dtype = r.dtype;
  result.elements = results.value();
  result.output = true;
  result.name = "out";
  std::erase_if(out.arguments, [](const codegen::Argument& a) { return a.local; });
  if (out.arguments.size() != program.arguments.size()) return std::nullopt;
  for (codegen::Argument& a : out.arguments) a.shares = -1;
  Access store = Access::row_major(static_cast<std::int32_t>(out.arguments.size()), r.dtype, out.outer);
  out.arguments.push_back(result);
  Instr put;
  put.code = Code::Store;
  put.dtype = put.from = r.dtype;
  put.a = r.result;
  put.aux = static_cast<std::int32_t>(out.accesses.size());
  out.accesses.push_back(std::move(store));
  to.outer.push_back(put);
  codegen::finish_new(out);
  return out;
}

}  // namespace oriel::backend
