#include "backend/eigen/tile/pair_ops.hpp"

#include <cstddef>

#include "backend/eigen/tile/chains.hpp"

namespace oriel::backend::eigen {

using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

namespace {

// `aux` of a joined instruction: the first operation and the side of a pair, or the operation whose exp is taken.
constexpr std::int32_t kSides = 2;
constexpr std::int32_t kExpOf = kSides * isa::kPairCount;
constexpr std::int32_t kExpOfNegative = kExpOf + isa::kPairCount;
constexpr std::int32_t kExpOfNegativeMagnitude = kExpOfNegative + 1;

bool on_float32(const Instr& in) {
  return in.code == Code::Elementwise && in.from == DType::float32 && in.dtype == DType::float32 && in.aux == -1;
}

class Pairer {
 public:
  Pairer(const LoopProgram& program, const isa::Table& table, ValueId wanted)
      : table_(table),
        readers_(count_readers(program.stages, program.values.size(), wanted)),
        place_(program.values.size(), -1),
        stages_(program.stages) {
    order_chains(stages_, readers_, table);
  }

  std::vector<Stage> run() {
    for (Stage& stage : stages_) {
      pair(stage.body);
      pair(stage.outer);
    }
    return std::move(stages_);
  }

 private:
  /// The instruction before `at` in the list that computes v, if only one reader needs v; else null.
  const Instr* maker(const std::vector<Instr>& list, ValueId v) const {
    if (v == kNoValue || readers_[static_cast<std::size_t>(v)] != 1) return nullptr;
    const std::int32_t at = place_[static_cast<std::size_t>(v)];
    return at >= 0 && on_float32(list[static_cast<std::size_t>(at)]) ? &list[static_cast<std::size_t>(at)] : nullptr;
  }

  void pair(std::vector<Instr>& list) {
    std::vector<bool> gone(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      Instr& in = list[i];
      for (ValueId joined = join(list, in); joined != kNoValue; joined = join(list, in)) {
        gone[static_cast<std::size_t>(place_[static_cast<std::size_t>(joined)])] = true;
      }
      if (in.result != kNoValue) place_[static_cast<std::size_t>(in.result)] = static_cast<std::int32_t>(i);
    }
    std::vector<Instr> left;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].result != kNoValue) place_[static_cast<std::size_t>(list[i].result)] = -1;
      if (!gone[i]) left.push_back(list[i]);
    }
    list = std::move(left);
  }

  /// Joins the instruction that computes an operand with `in`. Returns that operand, or kNoValue.
  ValueId join(const std::vector<Instr>& list, Instr& in) {
    if (in.code == Code::Elementwise && in.aux == kExpOfNegative) {
      const Instr* first = maker(list, in.a);
      if (first == nullptr || first->op != Op::Abs || table_.exp_of_negative_magnitude == nullptr) return kNoValue;
      return take(in, in.a, *first, kNoValue, kExpOfNegativeMagnitude);
    }
    if (!on_float32(in)) return kNoValue;
    if (in.op == Op::Exp) {
      const Instr* first = maker(list, in.a);
      if (first == nullptr) return kNoValue;
      const int which = isa::pair_index(first->op);
      if (first->op == Op::Neg && table_.exp_of_negative != nullptr)
        return take(in, in.a, *first, kNoValue, kExpOfNegative);
      if (which < 0 || table_.exp_of[which] == nullptr) return kNoValue;
      return take(in, in.a, *first, kNoValue, kExpOf + which);
    }
    const int second = isa::pair_index(in.op);
    if (second < 0 || in.a == in.b) return kNoValue;
    for (const bool right : {false, true}) {
      const ValueId v = right ? in.b : in.a;
      const Instr* first = maker(list, v);
      if (first == nullptr) continue;
      const int which = isa::pair_index(first->op);
      if (which < 0 || table_.pair[which][second][right ? 1 : 0] == nullptr) continue;
      return take(in, v, *first, right ? in.a : in.b, which * kSides + (right ? 1 : 0));
    }
    return kNoValue;
  }

  static ValueId take(Instr& in, ValueId v, const Instr& first, ValueId other, std::int32_t aux) {
    in.a = first.a;
    in.b = first.b;
    in.c = other;
    in.aux = aux;
    return v;
  }

  const isa::Table& table_;
  std::vector<int> readers_;
  std::vector<std::int32_t> place_;  // place in the current list
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<Stage> pair_ops(const LoopProgram& program, const isa::Table& table, ValueId wanted) {
  return Pairer(program, table, wanted).run();
}

isa::ElementFn with_numbers(const Instr& in, const isa::Table& table) {
  if (in.code != Code::Elementwise || in.aux < 0 || in.aux >= kExpOfNegative) return nullptr;
  if (in.aux >= kExpOf) return table.exp_with_number[in.aux - kExpOf];
  // If the order of operands does not matter, c on the left is the same as c on the right.
  if (in.aux % kSides != 0 && in.op != Op::Add && in.op != Op::Mul) return nullptr;
  return table.pair_with_numbers[in.aux / kSides][isa::pair_index(in.op)];
}

isa::ElementFn paired(const Instr& in, const isa::Table& table) {
  if (in.code != Code::Elementwise || in.aux < 0) return nullptr;
  if (in.aux == kExpOfNegativeMagnitude) return table.exp_of_negative_magnitude;
  if (in.aux == kExpOfNegative) return table.exp_of_negative;
  if (in.aux >= kExpOf) return table.exp_of[in.aux - kExpOf];
  return table.pair[in.aux / kSides][isa::pair_index(in.op)][in.aux % kSides];
}

}  // namespace oriel::backend::eigen
