// The oracle's scalar arithmetic. It is written independently of the engine, from the op table's descriptions alone.
#pragma once

#include <cstdint>
#include <span>

#include "graph/op.hpp"
#include "oriel/dtype.hpp"

namespace oriel::reference {

/// One element: its expected value and the error that the engine may make. Integers and bool are stored in `i`, floats
/// in `f`.
struct Number {
  std::int64_t i = 0;
  double f = 0;
  double error = 0;    // absolute error; floats only. 0: the engine must agree exactly (zeros of either sign are equal)
  bool loose = false;  // any value is accepted, because rounding decides (e.g. a comparison of nearly equal numbers)
  bool nan_too = false;  // beside the value and its error NaN is accepted, and nothing else

  static Number integer(std::int64_t value) { return {.i = value}; }
  static Number floating(double value) { return {.f = value}; }
  static Number unknown() { return {.loose = true}; }
};

/// `value` rounded to a float dtype; for halves first to float32.
double round_to(DType dtype, double value);
/// `value` wrapped to an integer dtype; value != 0 for bool.
std::int64_t wrap(DType dtype, std::int64_t value);
/// The distance from `value` to the next number of the dtype; at least that of its smallest normal number.
double ulp(DType dtype, double value);

/// An elementwise op. `operand` is the dtype of the operands (of the second one for Where), `result` the result's.
Number apply(graph::Op op, DType operand, DType result, std::span<const Number> x);

/// A reduction over the elements in order.
Number reduce(graph::Op op, DType dtype, std::span<const Number> x);

/// True if `got` is an acceptable result for `want`.
bool accepts(DType dtype, const Number& want, const Number& got);

}  // namespace oriel::reference
