// Compares what the schedule decided about a program with its instructions and accesses.
#include <fmt/format.h>

#include "codegen/definitions.hpp"
#include "codegen/join.hpp"
#include "oriel/error.hpp"

namespace oriel::codegen {

using graph::Op;
using schedule::ReductionSource;

namespace {

bool computes(const Instr* in, Op op) { return in != nullptr && in->code == Code::Elementwise && in->op == op; }

// Is the reduction's source what the schedule says?
bool sums_product(const LoopProgram& program, std::size_t stage, const Reduction& r) {
  const bool converted = r.source == ReductionSource::ConvertedProduct;
  const Definitions definitions(program, stage);
  const Instr* product = definitions.of(r.input);
  if (converted && computes(product, Op::Mul)) return false;
  for (int steps = 0; converted && steps < 2 && product != nullptr && !computes(product, Op::Mul); ++steps)
    product = definitions.of(product->a);
  std::vector<Instr> made;
  return r.op == Op::Sum && computes(product, Op::Mul) && (converted || product->dtype == r.dtype) &&
         definitions.gather(product->a, made) && definitions.gather(product->b, made);
}

// What is stored is exp(y - most) / (the sum of exp(y - most)), perhaps rounded, and `most` the maximum of a row.
bool is_softmax(const LoopProgram& program) {
  if (parts_of(program) != 3 || program.arguments.size() < 2 || !program.arguments[program.arguments.size() - 2].local)
    return false;
  const std::vector<const Instr*> definitions = definitions_of(program);
  const auto made = [&](ValueId v) { return v == kNoValue ? nullptr : definitions[static_cast<std::size_t>(v)]; };
  std::vector<const Reduction*> reductions;
  const Instr* store = nullptr;
  for (const Stage& stage : program.stages) {
    if (stage.part != 1) continue;
    if (!stage.reductions.empty() && (stage.reductions.size() > 1 || stage.inner.size() != 1)) return false;
    for (const Reduction& r : stage.reductions) reductions.push_back(&r);
    for (const Instr& in : stage.body)
      if (in.code == Code::Store) store = &in;
  }
  if (store == nullptr || reductions.size() != 2) return false;
  const Reduction& most = *reductions[0];
  const Reduction& sum = *reductions[1];
  const auto is_power = [&](const Instr* in) {
    return computes(in, Op::Exp) && computes(made(in->a), Op::Sub) && made(in->a)->b == most.result;
  };
  const Instr* quotient = made(store->a);
  if (quotient != nullptr && quotient->code == Code::Round) quotient = made(quotient->a);
  return most.op == Op::ReduceMax && sum.op == Op::Sum && most.dtype == sum.dtype && is_power(made(sum.input)) &&
         computes(quotient, Op::Div) && quotient->b == sum.result && is_power(made(quotient->a));
}

}  // namespace

void verify_decisions(const LoopProgram& program) {
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    for (const Reduction& r : program.stages[s].reductions)
      if (r.source != ReductionSource::Values && !sums_product(program, s, r))
        throw InternalError("verify", fmt::format("kernel {}: stage {}: {} of v{} sums no product", program.name, s,
                                                  graph::name(r.op), r.input));
  if (program.online && !is_softmax(program))
    throw InternalError("verify", "kernel " + program.name + ": no softmax runs with a running maximum and sum there");
}

}  // namespace oriel::codegen
