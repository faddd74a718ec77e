#include "backend/eigen/tile/plan_steps.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

using codegen::Code;
using codegen::Instr;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

namespace {

/// The instruction of the body that computes v in `dtype` by `op` from operands of `from`; null if there is none.
const Instr* made_by(const Stage& stage, ValueId v, Op op, DType from, DType dtype) {
  const auto at = std::find_if(stage.body.begin(), stage.body.end(), [&](const Instr& in) {
    return in.result == v && in.code == Code::Elementwise && in.op == op && in.from == from && in.dtype == dtype;
  });
  return at == stage.body.end() ? nullptr : &*at;
}

void remove_results(Stage& stage, const std::vector<ValueId>& gone) {
  std::erase_if(stage.body, [&](const Instr& in) {
    return in.result != codegen::kNoValue && std::find(gone.begin(), gone.end(), in.result) != gone.end();
  });
}

/// Finds what one sum adds.
class Summands {
 public:
  /// `readers`: of each value (count_readers).
  Summands(const std::vector<int>& readers, const Stage& stage, DType dtype)
      : readers_(readers), stage_(stage), dtype_(dtype) {}

  /// Sets the summand and the operands of `sum`, which reads v. False if v is nothing that could be computed on the
  /// fly.
  bool find(ValueId v, const std::function<bool(ValueId)>& outer, RowSum& sum, isa::Summand& summand) {
    if (dtype_ == DType::float64 && widened(v, 1, sum.a)) {
      summand = isa::Summand::Element;
      return true;
    }
    const Instr* const product = made(v, 1, Op::Mul, dtype_);
    if (product == nullptr) return false;
    const bool square = product->a == product->b;
    const Instr* const left = square ? made(product->a, 2, Op::Sub, dtype_) : nullptr;
    if (left != nullptr && outer(left->b) && narrow(left->a, 1, sum.a)) {
      summand = isa::Summand::Deviation;
      sum.is_uniform = true;
      sum.b = left->b;
      return true;
    }
    if (left != nullptr) gone_.pop_back();
    summand = isa::Summand::Product;
    if (square && narrow(product->a, 2, sum.a)) {
      sum.b = sum.a;
      return true;
    }
    return !square && narrow(product->a, 1, sum.a) && narrow(product->b, 1, sum.b);
  }

  /// The values that are no longer computed.
  const std::vector<ValueId>& gone() const noexcept { return gone_; }

 private:
  /// What computes v, if v is read `reads` times.
  const Instr* made(ValueId v, int reads, Op op, DType from) {
    const Instr* const in = made_by(stage_, v, op, from, dtype_);
    if (in == nullptr || readers_[static_cast<std::size_t>(v)] != reads) return nullptr;
    gone_.push_back(v);
    return in;
  }
  bool widened(ValueId v, int reads, ValueId& from) {
    const Instr* const cast = made(v, reads, Op::Cast, DType::float32);
    if (cast != nullptr) from = cast->a;
    return cast != nullptr;
  }
  /// The float32 value that v is.
  bool narrow(ValueId v, int reads, ValueId& from) {
    if (dtype_ == DType::float64) return widened(v, reads, from);
    from = v;
    return true;
  }

  const std::vector<int>& readers_;
  const Stage& stage_;
  DType dtype_;
  std::vector<ValueId> gone_;
};

/// Sums of float32 values in float64, and of their squares, that share a pass.
void join_moments(const std::vector<int>& readers, const isa::MomentFns& fns, Stage& stage, std::vector<RowSum>& sums) {
  const auto is_sum = [](const codegen::Reduction& r) { return r.op == Op::Sum && r.dtype == DType::float64; };
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const codegen::Reduction& first = stage.reductions[i];
    const Instr* const cast =
        is_sum(first) ? made_by(stage, first.input, Op::Cast, DType::float32, DType::float64) : nullptr;
    if (cast == nullptr || readers[static_cast<std::size_t>(cast->result)] != 3) continue;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const codegen::Reduction& second = stage.reductions[k];
      const Instr* const square =
          is_sum(second) ? made_by(stage, second.input, Op::Mul, DType::float64, DType::float64) : nullptr;
      if (square == nullptr || square->a != cast->result || square->b != cast->result ||
          readers[static_cast<std::size_t>(square->result)] != 1)
        continue;
      sums[i].a = sums[k].a = cast->a;
      sums[i].moments = fns;
      sums[i].squares = static_cast<std::int32_t>(k);
      sums[k].computed = true;
      remove_results(stage, {cast->result, square->result});
      break;
    }
  }
}

}  // namespace

void remove_unread(std::vector<Instr>& list, std::vector<int>& readers) {
  const auto count = [&](ValueId v) -> int& { return readers[static_cast<std::size_t>(v)]; };
  std::vector<Instr> kept;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (list[i].result == codegen::kNoValue || count(list[i].result) > 0)
      kept.push_back(list[i]);
    else
      codegen::each_operand(list[i], [&](ValueId v) { --count(v); });
  }
  list.assign(kept.rbegin(), kept.rend());
}

std::vector<int> count_readers(const std::vector<Stage>& stages, std::size_t values) {
  std::vector<int> readers(values);
  const auto read = [&](ValueId v) { ++readers[static_cast<std::size_t>(v)]; };
  for (const Stage& stage : stages) {
    codegen::each_instruction(stage, [&](const Instr& in) { codegen::each_operand(in, read); });
    for (const codegen::Reduction& r : stage.reductions) read(r.input);
  }
  return readers;
}

std::vector<RowSum> row_sums(const std::vector<int>& readers, const isa::Table& table, SummedRows rows, Stage& stage,
                             const std::function<bool(ValueId)>& outer) {
  // A store in the loops may overwrite an operand before the reduction reads it.
  const bool stores =
      std::any_of(stage.body.begin(), stage.body.end(), [](const Instr& in) { return in.code == Code::Store; });
  std::vector<RowSum> sums;
  for (const codegen::Reduction& r : stage.reductions) {
    RowSum& sum = sums.emplace_back();
    sum.a = r.input;
    const bool wide = r.dtype == DType::float64;
    // In float32 rows that share a tile are reduced as they lie.
    if (rows == SummedRows::None || (!wide && (r.dtype != DType::float32 || rows != SummedRows::One)) || stores ||
        r.op != Op::Sum)
      continue;
    RowSum found;
    isa::Summand summand = isa::Summand::Element;
    Summands summands(readers, stage, r.dtype);
    if (!summands.find(r.input, outer, found, summand)) continue;
    found.fns = table.sums[wide ? 1 : 0][static_cast<int>(summand)];
    if (found.fns.rows == nullptr) continue;
    remove_results(stage, summands.gone());
    sum = found;
  }
  if (rows != SummedRows::None && rows != SummedRows::Given && !stores && table.moments.rows != nullptr)
    join_moments(readers, table.moments, stage, sums);
  return sums;
}

void find_uniform_values(TileStage& stage, const std::vector<Chain>& chains) {
  for (Broadcast& b : stage.broadcasts) {
    const auto by_step = [&](const TileStep& step) {
      if (step.kind == StepKind::Chain) return chains[static_cast<std::size_t>(step.chain)].reads(b.to);
      return step.a == b.to || (!step.numbers && (step.b == b.to || step.c == b.to));
    };
    const auto by_sum = [&](const TileReduction& r) {
      return r.input == b.to || (r.sum.rows != nullptr && !r.is_uniform && r.second == b.to);
    };
    b.is_uniform = std::none_of(stage.body.begin(), stage.body.end(), by_step) &&
                   std::none_of(stage.reductions.begin(), stage.reductions.end(), by_sum);
  }
}

}  // namespace oriel::backend::eigen
