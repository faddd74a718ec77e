#include "backend/eigen/tile/element_step.hpp"

#include "backend/eigen/tile/tiles.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

using codegen::Instr;
using graph::Op;

void element_step(const Instr& in, const std::string& kernel, const isa::Table& table, bool by_numbers,
                  TileStep& step) {
  const auto refuse = [&](const std::string& why) {
    throw DeviceError("compile", "kernel " + kernel + " on eigen: " + why);
  };
  const DType from = register_dtype(in.from);
  if (in.op == Op::Div && from == DType::float32 && table.divide_by_one != nullptr && by_numbers) {
    step.element = table.divide_by_one;
    step.numbers = true;
    return;
  }
  if (in.op == Op::Bitcast) {
    step.kind = StepKind::Copy;
    const auto as = [](DType d) { return is_half(d) ? DType::uint16 : d; };
    if (is_half(in.from) && is_half(in.dtype) && in.from != in.dtype) {
      refuse("a bitcast between float16 and bfloat16 needs an integer between them");
    }
    if (is_half(in.from) && !is_half(in.dtype)) {
      step.copy = in.from == DType::float16 ? table.narrow_float16 : table.narrow_bfloat16;
    } else if (is_half(in.dtype) && !is_half(in.from)) {
      step.copy = in.dtype == DType::float16 ? table.widen_float16 : table.widen_bfloat16;
    } else if (in.dtype == DType::bool_ && in.from != DType::bool_) {
      // Whatever bits a bool came from, its byte must be 0 or 1.
      step.kind = StepKind::Compute;
      step.element = table.cast[index(in.from)][index(DType::bool_)];
    } else {
      step.copy = table.copy[step.log_bytes];
    }
    if (itemsize(as(in.from)) != itemsize(as(in.dtype))) refuse("a bitcast between widths");
    return;
  }
  if (in.op == Op::Cast) {
    step.element = table.cast[index(from)][index(register_dtype(in.dtype))];
    return;
  }
  const DType key = in.op == Op::Where ? register_dtype(in.dtype) : from;
  step.element = table.element[static_cast<int>(in.op)][index(key)];
  if (step.element == nullptr) {
    refuse("no " + std::string(graph::name(in.op)) + " of " + std::string(oriel::name(key)));
  }
}

}  // namespace oriel::backend::eigen
