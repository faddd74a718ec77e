#include "backend/eigen/products/row_states.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/eigen/tile/tiles.hpp"
#include "codegen/product_form.hpp"

namespace oriel::backend::eigen {

using codegen::round_up;
using graph::Op;

RowStates::RowStates(const isa::Table& table, DType dtype, std::int64_t groups)
    : table_(table),
      dtype_(dtype),
      log_bytes_(log_bytes_of(dtype)),
      state_bytes_(groups * isa::kPacket << log_bytes_) {}

void RowStates::place(char* memory) {
  memory_ = memory;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [state, number] :
       {std::pair<State, double>{kOne, 1}, {kLowest, -infinity}, {kNan, std::nan("")}, {kZero, 0}}) {
    const std::uint64_t bytes = register_bytes(graph::Scalar::of_float(dtype_, number), dtype_);
    table_.copy[log_bytes_](at(state), 0, 1, &bytes, 0, 0, 1, state_bytes_ >> log_bytes_);
  }
}

void RowStates::element(Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const {
  table_.element[static_cast<int>(op)][static_cast<int>(dtype_)](dst, a, b, c, round_up(n, isa::kPacket));
}

void RowStates::begin() {
  std::copy_n(at(kLowest), state_bytes_, at(kMost));
  std::copy_n(at(kZero), state_bytes_, at(kSum));
}

void RowStates::raise(std::int64_t group, bool first) {
  const isa::ReduceFns& largest = table_.reduce[isa::reduce_index(Op::ReduceMax)][static_cast<int>(dtype_)];
  largest.merge(at(kMore, group), at(first ? kMost : kMore, group), at(kBlockMost, group), isa::kPacket);
}

void RowStates::rescale(std::int64_t group) {
  const auto compute = [&](Op op, State dst, State a, State b, State c) {
    element(op, at(dst, group), at(a, group), at(b, group), at(c, group), isa::kPacket);
  };
  // -inf minus -inf counts as no change.
  compute(Op::Sub, kScale, kMost, kMore, kMore);
  compute(Op::Exp, kScale, kScale, kScale, kScale);
  compute(Op::Eq, kEqual, kMost, kMore, kMore);
  compute(Op::Where, kScale, kEqual, kOne, kScale);
  // While all scores are -inf, any finite number serves as the maximum: all powers are 0.
  compute(Op::Eq, kEqual, kMore, kLowest, kLowest);
  compute(Op::Where, kShift, kEqual, kZero, kMore);
  compute(Op::Mul, kSum, kSum, kScale, kScale);
}

void RowStates::add(std::int64_t group) {
  element(Op::Add, at(kSum, group), at(kSum, group), at(kBlockSum, group), nullptr, isa::kPacket);
}

void RowStates::settle(std::int64_t group) {
  std::copy_n(at(kMore, group), isa::kPacket << log_bytes_, at(kMost, group));
}

void RowStates::finish() {
  const std::int64_t all = state_bytes_ >> log_bytes_;
  element(Op::Eq, at(kEqual), at(kMost), at(kLowest), nullptr, all);
  element(Op::Where, at(kSum), at(kEqual), at(kNan), at(kSum), all);
}

}  // namespace oriel::backend::eigen
