// The op that a builder of nodes takes.
#pragma once

#include "base/by_use.hpp"
#include "graph/op.hpp"

namespace oriel::graph {

/// An op with all that its nodes need in the program (base/by_use.hpp): of an op that is known where it is given, that
/// is all that a linker finds there.
class UsedOp {
 public:
  [[gnu::always_inline]] UsedOp(Op op) : op_(op) {  // NOLINT(google-explicit-constructor): callers give an op
    if (ops::row(op).functor == ops::FunctorKind::Function) by_use::functions();
    if (ops::is_reduce(op) && op != Op::Sum) by_use::reductions();
  }
  operator Op() const noexcept { return op_; }  // NOLINT(google-explicit-constructor)

 private:
  Op op_;
};

}  // namespace oriel::graph
