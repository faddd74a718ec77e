// Numbers that an online softmax keeps for each row.
#pragma once

#include <cstdint>

#include "backend/eigen/isa/table.hpp"
#include "graph/scalar.hpp"

namespace oriel::backend::eigen {

/// The maxima and sums of some rows so far, and what follows from them, in the dtype of the sums. The numbers of a
/// group of rows lie in one packet.
///
/// Thread safety: none; each thread has its own.
class RowStates {
 public:
  enum State : int {
    kMost,       // the maximum of the scores so far
    kMore,       // the same with the current block
    kShift,      // what the current block's scores are shifted by
    kScale,      // what rescales sums under kMost to kMore
    kSum,        // the sum of the powers so far
    kBlockMost,  // the maximum in a part of the current block
    kBlockSum,   // the sum of the powers in a part of the current block
    kEqual,      // the last comparison
    kOne,
    kLowest,
    kNan,
    kZero,
    kStates
  };

  RowStates(const isa::Table& table, DType dtype, std::int64_t groups);

  /// Bytes of memory that place() is given.
  std::int64_t bytes() const { return kStates * state_bytes_; }
  /// `memory` must outlive the object, or the next call.
  void place(char* memory);

  /// The numbers of a group of rows.
  char* at(State state, std::int64_t group = 0) const {
    return memory_ + state * state_bytes_ + (group * isa::kPacket << log_bytes_);
  }
  /// dst = op(a, b, c) for n numbers, in whole packets.
  void element(graph::Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const;

  /// Before the first block: no maximum, and a sum of 0.
  void begin();
  /// Takes the scores of a part of the block, whose maxima are in kBlockMost, into the maxima. `first`: it is the
  /// block's first part.
  void raise(std::int64_t group, bool first);
  /// Rescales what was summed under the old maxima to the new ones, and computes kScale and kShift.
  void rescale(std::int64_t group);
  /// Adds kBlockSum to the sums.
  void add(std::int64_t group);
  /// After a block: its maxima are the old ones.
  void settle(std::int64_t group);
  /// After the last block: rows of only -inf have no weights, and their sums become NaN.
  void finish();

 private:
  const isa::Table& table_;
  DType dtype_;
  int log_bytes_;
  std::int64_t state_bytes_;
  char* memory_ = nullptr;
};

}  // namespace oriel::backend::eigen
