// Elementwise ops on integers and bool. Arithmetic wraps. No operand traps, so the unused lanes of a packet may hold
// anything.
#include "backend/eigen/isa/elements.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <DType kDType, class T>
void add_integers(Table& t) {
#define ORIEL_ELEMENTWISE(op, ...) add_element<Op::op, kDType, T, op>(t);
  ORIEL_ELEMENTWISE_OPS(ORIEL_ELEMENTWISE)
#undef ORIEL_ELEMENTWISE
}

}  // namespace

void add_integer_ops(Table& table) {
  add_integers<DType::int8, std::int8_t>(table);
  add_integers<DType::int16, std::int16_t>(table);
  add_integers<DType::int32, std::int32_t>(table);
  add_integers<DType::int64, std::int64_t>(table);
  add_integers<DType::uint8, std::uint8_t>(table);
  add_integers<DType::uint16, std::uint16_t>(table);
  add_integers<DType::uint32, std::uint32_t>(table);
  add_integers<DType::uint64, std::uint64_t>(table);
  add_integers<DType::bool_, std::uint8_t>(table);  // bytes that hold 0 or 1
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
