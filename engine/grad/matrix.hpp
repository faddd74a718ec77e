// Formulas over matrices (batches, rows, columns), as value.hpp has them over elements.
#pragma once

#include <string_view>
#include <utility>

#include "formula/host_call.hpp"
#include "functions/contraction.hpp"
#include "grad/step.hpp"
#include "host/linalg_functions.hpp"

namespace oriel::derive {

struct Matrix {
  Value v;

  SymInt batches() const { return v.shape()[0]; }
  SymInt rows() const { return v.shape()[1]; }
  SymInt columns() const { return v.shape()[2]; }
  Matrix t() const { return {v.permute({0, 2, 1})}; }
  /// The corner of the first rows and columns.
  Matrix corner(SymInt rows, SymInt columns) const { return {v.shrink(1, 0, rows).shrink(2, 0, columns)}; }
  /// Columns or rows times numbers (batches, n).
  /// @{
  Matrix times_columns(const Value& s) const { return {v * s.reshape({batches(), 1, columns()})}; }
  Matrix times_rows(const Value& s) const { return {v * s.reshape({batches(), rows(), 1})}; }
  /// @}

  /// Positions of the rows (1, m, 1) and of the columns (1, 1, n).
  /// @{
  Value row() const { return api::positions(v.call(), v.shape(), 1, v.device()); }
  Value column() const { return api::positions(v.call(), v.shape(), 2, v.device()); }
  /// @}
  /// The part on and below the diagonal, or below it.
  Matrix lower(bool diagonal = true) const { return {where(diagonal ? column() <= row() : column() < row(), v, 0)}; }
  /// The part on and above the diagonal, or above it.
  Matrix upper(bool diagonal = true) const { return {where(diagonal ? row() <= column() : row() < column(), v, 0)}; }
  /// With these elements (batches, n), or this number, on the diagonal.
  /// @{
  Matrix with_diagonal(const Value& d) const {
    return {where(row() == column(), d.reshape({batches(), 1, columns()}), v)};
  }
  Matrix with_diagonal(double d) const { return {where(row() == column(), d, v)}; }
  /// @}
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  return {api::contract({a.v, {0, 1, 3}}, {b.v, {0, 3, 2}}, {0, 1, 2}).value};
}
inline Matrix operator*(const Matrix& a, double b) { return {a.v * b}; }
inline Matrix operator+(const Matrix& a, const Matrix& b) { return {a.v + b.v}; }
inline Matrix operator-(const Matrix& a, const Matrix& b) { return {a.v - b.v}; }
inline Matrix operator-(const Matrix& a) { return {-a.v}; }
inline Matrix skew(const Matrix& a) { return a - a.t(); }
inline Matrix symmetric(const Matrix& a) { return (a + a.t()) * 0.5; }

/// The result, of this shape, of a function of host memory.
inline Value on_matrices(std::string_view function, std::initializer_list<Value> operands, const Shape& shape) {
  const Call& call = operands.begin()->call();
  std::vector<NodePtr> nodes;
  for (const Value& x : operands) nodes.push_back(x.node());
  const DType dtype = operands.begin()->dtype();
  return {call, api::called_on_host(call, api::linalg_function(function), std::move(nodes), shape, dtype)};
}
/// The y with x y = b.
inline Matrix solved(const Matrix& x, const Matrix& b) {
  return {on_matrices("solve", {x.v, b.v}, {x.batches(), x.columns(), b.columns()})};
}
/// The same for an upper triangle x.
inline Matrix upper_solved(const Matrix& x, const Matrix& b) {
  return {on_matrices("triangular_solve:upper", {x.v, b.v}, {x.batches(), x.columns(), b.columns()})};
}
inline Matrix inverted(const Matrix& x) { return {on_matrices("inverse", {x.v}, {x.batches(), x.rows(), x.rows()})}; }

/// A part of the numbers that a function packs: of its result, or of the result's cotangent.
class Packed {
 public:
  explicit Packed(Value numbers) : numbers_(std::move(numbers)) {}
  /// The next n numbers of each batch.
  Value next(SymInt n) {
    at_ = at_ + n;
    return numbers_.shrink(1, at_ - n, at_);
  }
  Matrix next(SymInt rows, SymInt columns) {
    const SymInt batches = numbers_.shape()[0];
    return {next(rows * columns).reshape({batches, rows, columns})};
  }

 private:
  Value numbers_;
  SymInt at_ = 0;
};

}  // namespace oriel::derive
