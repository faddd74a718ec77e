// Elementwise ops on float32 and float64 whose results IEEE 754 defines exactly.
#include "backend/eigen/isa/elements.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T>
void add_floats(Table& t) {
#define ORIEL_ELEMENTWISE(op, ...) add_element<Op::op, dtype_of<T>, T, op>(t);
  ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE
}

}  // namespace

void add_float_ops(Table& table) {
  add_floats<float>(table);
  add_floats<double>(table);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
