#include "backend/eigen/tile/row_sums.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

using codegen::Code;
using codegen::Instr;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

namespace {

int times_read(const std::vector<Stage>& stages, ValueId v) {
  int count = 0;
  for (const Stage& stage : stages) {
    for (const std::vector<Instr>* list : {&stage.body, &stage.outer}) {
      for (const Instr& in : *list) count += (in.a == v) + (in.b == v) + (in.c == v);
    }
    for (const codegen::Reduction& r : stage.reductions) count += r.input == v;
  }
  return count;
}

/// The instruction of the body that computes v by `op` from float32 operands only; the body's end if there is none.
std::vector<Instr>::iterator made_by(Stage& stage, ValueId v, Op op) {
  return std::find_if(stage.body.begin(), stage.body.end(), [&](const Instr& in) {
    return in.result == v && in.code == Code::Elementwise && in.op == op && in.aux < 0 && in.from == DType::float32 &&
           in.dtype == DType::float32;
  });
}

}  // namespace

std::vector<RowSum> row_sums(const std::vector<Stage>& stages, const isa::Table& table, bool blocks_of_a_row,
                             Stage& stage, const std::function<bool(ValueId)>& one_number) {
  // A store in the loops may overwrite an operand before the reduction reads it.
  const bool stores =
      std::any_of(stage.body.begin(), stage.body.end(), [](const Instr& in) { return in.code == Code::Store; });
  std::vector<RowSum> sums;
  for (const codegen::Reduction& r : stage.reductions) {
    RowSum& sum = sums.emplace_back();
    sum.a = r.input;
    if (!blocks_of_a_row || stores || r.op != Op::Sum || r.dtype != DType::float32 || times_read(stages, r.input) != 1)
      continue;
    const auto product = made_by(stage, r.input, Op::Mul);
    if (product == stage.body.end()) continue;
    sum = {table.sum_of_products, false, product->a, product->b};
    stage.body.erase(product);
    if (sum.a != sum.b || times_read(stages, sum.a) != 2) continue;
    const auto difference = made_by(stage, sum.a, Op::Sub);
    if (difference == stage.body.end() || !one_number(difference->b)) continue;
    sum = {table.sum_of_squares, true, difference->a, difference->b};
    stage.body.erase(difference);
  }
  return sums;
}

void find_uniform_values(StagePlan& stage, const std::vector<Chain>& chains) {
  for (Broadcast& b : stage.broadcasts) {
    const auto by_step = [&](const TileStep& step) {
      if (step.kind == StepKind::Chain) return chains[static_cast<std::size_t>(step.chain)].reads(b.to);
      return step.a == b.to || (!step.numbers && (step.b == b.to || step.c == b.to));
    };
    const auto by_sum = [&](const ReducePlan& r) {
      return r.input == b.to || (r.row != nullptr && !r.is_uniform && r.second == b.to);
    };
    b.is_uniform = std::none_of(stage.body.begin(), stage.body.end(), by_step) &&
                   std::none_of(stage.reductions.begin(), stage.reductions.end(), by_sum);
  }
}

}  // namespace oriel::backend::eigen
