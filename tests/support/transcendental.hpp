// The ops whose results need not be correctly rounded.
#pragma once

#include "graph/op.hpp"

namespace oriel::test {

inline bool transcendental(graph::Op op) {
  using graph::Op;
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Tanh:
    case Op::Erf:
    case Op::Pow:
    case Op::Atan2:
      return true;
    default:
      return false;
  }
}

}  // namespace oriel::test
