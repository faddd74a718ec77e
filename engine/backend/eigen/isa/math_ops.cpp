// Functions of floats over packets. ../README.md states their errors.
#include "backend/eigen/isa/elements.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T>
void add_functions(Table& t) {
#define ORIEL_ELEMENTWISE(op, ...) add_element<Op::op, dtype_of<T>, T, op, true>(t);
  ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE
}

}  // namespace

void add_math_ops(Table& table) {
  add_functions<float>(table);
  add_functions<double>(table);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
