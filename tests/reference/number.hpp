// The oracle's scalar arithmetic: written apart from the engine's, from the op table's words alone.
#pragma once

#include <cstdint>
#include <span>

#include "graph/op.hpp"
#include "oriel/dtype.hpp"

namespace oriel::reference {

/// One element: what it should be, and how far a right engine may be from it. Integers and bool live in `i`, floats in
/// `f`.
struct Number {
  std::int64_t i = 0;
  double f = 0;
  double error = 0;    // absolute; floats only. 0: the engine must agree exactly (zeros of either sign are equal)
  bool loose = false;  // rounding decides (a comparison of nearly equal numbers, say), so any value is right

  static Number integer(std::int64_t value) { return {.i = value}; }
  static Number floating(double value) { return {.f = value}; }
  static Number unknown() { return {.loose = true}; }
};

/// `value` rounded to a float dtype, halves by way of float32.
double round_to(DType dtype, double value);
/// The low bits of `value` that an integer dtype has, extended by its sign; value != 0 for bool.
std::int64_t wrap(DType dtype, std::int64_t value);
/// Distance to the next number of the dtype, at least its smallest normal number's.
double ulp(DType dtype, double value);

/// An elementwise op. `operand` is the dtype of the operands (of the second one for Where), `result` the result's.
Number apply(graph::Op op, DType operand, DType result, std::span<const Number> x);

/// A reduction over the elements in order.
Number reduce(graph::Op op, DType dtype, std::span<const Number> x);

/// True where `got` is an allowed answer for `want`.
bool accepts(DType dtype, const Number& want, const Number& got);

}  // namespace oriel::reference
