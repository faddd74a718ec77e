// Linear algebra: shapes and batches here, the numbers by functions of host memory (linalg_functions.hpp).
#include "oriel/linalg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/parts.hpp"
#include "formula/host_call.hpp"
#include "formula/moments.hpp"
#include "formula/value.hpp"
#include "host/linalg_functions.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Value;

namespace {

/// Matrices (batches, rows, columns) in the dtype of the computation, and the axes that their batches stand for.
class Matrices {
 public:
  Matrices(const char* name, const Operand& x, bool square = false)
      : call_(name, x),
        dtype_(api::floating_dtype(api::common_dtype({&x}))),
        value_(call_, call_.node(x, api::wide_dtype(dtype_), {}, default_device())) {
    const Shape& shape = value_.shape();
    const std::size_t rank = shape.size();
    if (rank < 2)
      throw ShapeError(name, fmt::format("{} has {} axes; give matrices (.., m, n)", to_string(shape), rank));
    if (square && shape[rank - 2] != shape[rank - 1])
      throw ShapeError(name, fmt::format("{} holds matrices that are not square", to_string(shape)));
    batch_ = Shape(shape.begin(), shape.end() - 2);
    rows = shape[rank - 2];
    columns = shape[rank - 1];
  }

  const Call& call() const noexcept { return call_; }
  DType dtype() const noexcept { return dtype_; }
  const Shape& batch() const noexcept { return batch_; }
  SymInt least() const { return sym_min(rows, columns); }
  SymInt batches() const { return numel(batch_); }

  /// (batches, rows, columns).
  Value flat() const { return value_.reshape({batches(), rows, columns}); }
  /// Another operand that is to have the same dtype.
  void meet(const Operand& b) {
    dtype_ = promote(dtype_, api::floating_dtype(api::common_dtype({&b})));
    value_ = value_.to(api::wide_dtype(dtype_));
  }
  void broadcast(const Shape& batch) {
    batch_ = batch;
    Shape shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    value_ = value_.broadcast(shape);
  }

  /// The function's result of `size` numbers for each batch, as (batches, size).
  Value called(const std::string& function, SymInt size) const { return called(function, {flat().node()}, {size}); }
  Value called(const std::string& function, std::vector<api::NodePtr> operands, const Shape& each) const {
    Shape shape{batches()};
    for (const SymInt n : each) shape.push_back(n);
    return {call_,
            api::called_on_host(call_, api::linalg_function(function), std::move(operands), shape, value_.dtype())};
  }
  /// Numbers [first, first + size) of each batch, as (.., shape).
  Tensor part(const Value& numbers, SymInt first, const Shape& each) const {
    Shape shape = batch_;
    for (const SymInt n : each) shape.push_back(n);
    return numbers.shrink(1, first, first + numel(each)).reshape(shape).to(dtype_).tensor();
  }

  SymInt rows = 0;
  SymInt columns = 0;

 private:
  Call call_;
  DType dtype_;
  Value value_;
  Shape batch_;
};

/// y with x y = b in some sense: (.., columns, k) of x (.., rows, columns) and b (.., rows, k) or (rows).
Tensor solved(const char* name, const Operand& x, const Operand& b, const std::string& function, bool square) {
  base::need<base::kLinalg>(name);
  Matrices m(name, x, square);
  m.meet(b);
  const Call& call = m.call();
  Value right(call, call.node(b, api::wide_dtype(m.dtype()), {}, default_device()));
  const bool vector = right.shape().size() == 1;
  if (right.shape().empty()) throw ShapeError(name, "b has no axis; give (.., n, m) or (n)");
  if (vector) right = right.reshape({right.shape()[0], 1});
  const Shape shape = right.shape();
  const std::size_t rank = shape.size();
  if (shape[rank - 2] != m.rows) {
    throw ShapeError(name,
                     fmt::format("b has {} rows for matrices of {}", to_string(shape[rank - 2]), to_string(m.rows)));
  }
  const Shape theirs(shape.begin(), shape.end() - 2);
  const Shape batch = graph::broadcast_shapes(m.batch(), theirs, call.origin());
  m.broadcast(batch);
  Shape wide = batch;
  wide.push_back(m.rows);
  wide.push_back(shape[rank - 1]);
  right = right.broadcast(wide).reshape({m.batches(), m.rows, shape[rank - 1]});
  Shape out = batch;
  out.push_back(m.columns);
  if (!vector) out.push_back(shape[rank - 1]);
  const Value found = m.called(function, {m.flat().node(), right.node()}, {m.columns, shape[rank - 1]});
  return found.reshape(out).to(m.dtype()).tensor();
}

double epsilon(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::epsilon()
                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// `combine` of a number, or of one for each matrix with an axis for its singular values behind them.
template <class F>
Tensor beside_singular(const Operand& x, F&& combine) {
  if (const Tensor* const tensor = Access::tensor(x)) {
    const Site site = Access::site(x);
    return combine(Operand(tensor->unsqueeze(-1, site), site));
  }
  return combine(x);
}

/// The largest of numbers >= 0 along the last axis; 0 of none.
Tensor largest_of(const Tensor& numbers, Site site) {
  return maximum(Operand(max(Operand(numbers, site), -1), site), 0);
}

/// Throws ShapeError unless each matrix has some of the `count` numbers of which the least is taken.
void check_some(const Matrices& m, SymInt count) {
  if (sym::required((count != 0) | (m.batches() == 0), m.call().operation())) return;
  throw ShapeError(m.call().operation(), fmt::format("matrices of {} rows and {} columns have no least number",
                                                     to_string(m.rows), to_string(m.columns)));
}

Tensor least_of(const Tensor& numbers, const Matrices& m, Site site) {
  check_some(m, numbers.shape().back());
  return min(Operand(numbers, site), -1);
}

/// Is it a number that stands for a default?
bool is_unstated(const Operand& x) { return Access::tensor(x) == nullptr && !(Access::value(x) >= 0); }

}  // namespace

Tensor cholesky(const Operand& x, bool upper) {
  base::need<base::kLinalg>("cholesky");
  const Matrices m("cholesky", x, true);
  return m.part(m.called(upper ? "cholesky:upper" : "cholesky", m.rows * m.rows), 0, {m.rows, m.rows});
}

Qr qr(const Operand& x, bool complete) {
  base::need<base::kLinalg>("qr");
  const Matrices m("qr", x);
  const SymInt k = complete ? m.rows : m.least(), q = m.rows * k;
  const Value both = m.called(complete ? "qr:complete" : "qr", q + k * m.columns);
  return {m.part(both, 0, {m.rows, k}), m.part(both, q, {k, m.columns})};
}

Lu lu(const Operand& x) {
  base::need<base::kLinalg>("lu");
  const Matrices m("lu", x);
  const Site site = Access::site(x);
  const SymInt k = m.least();
  const Value all = m.called("lu", m.rows + m.rows * m.columns);
  const Tensor order = m.part(all, 0, {1, m.rows}), factors = m.part(all, m.rows, {m.rows, m.columns});
  // Row i of l u is row order[i] of x, so column i of p has its one there.
  const Tensor row = iota({m.rows, 1}, site).to(order.device(), site);
  const Tensor p = (order.to(DType::int64, site) == row).to(m.dtype(), site);
  const auto corner = [&](const Tensor& t, SymInt rows, SymInt columns) {
    return shrink(Operand(t, site), {{0, rows}, {0, columns}}, Axes(Ints{-2, -1}));
  };
  const Tensor below = corner(tril(Operand(factors, site), -1), m.rows, k);
  const Tensor unit = eye(m.rows, k, 0, m.dtype(), site).to(below.device(), site);
  return {p, below + unit, corner(triu(Operand(factors, site)), k, m.columns)};
}

Tensor solve(const Operand& x, const Operand& b) { return solved("solve", x, b, "solve", true); }

Tensor triangular_solve(const Operand& x, const Operand& b, bool upper, bool unit) {
  const std::string function = std::string("triangular_solve") + (upper ? ":upper" : "") + (unit ? ":unit" : "");
  return solved("triangular_solve", x, b, function, true);
}

Tensor inverse(const Operand& x) {
  base::need<base::kLinalg>("inverse");
  const Matrices m("inverse", x, true);
  return m.part(m.called("inverse", {m.flat().node()}, {m.rows, m.rows}).reshape({m.batches(), m.rows * m.rows}), 0,
                {m.rows, m.rows});
}

Tensor det(const Operand& x) {
  base::need<base::kLinalg>("det");
  const Matrices m("det", x, true);
  return m.part(m.called("det", 1), 0, {});
}

SlogDet slogdet(const Operand& x) {
  base::need<base::kLinalg>("slogdet");
  const Matrices m("slogdet", x, true);
  const Value both = m.called("slogdet", 2);
  return {m.part(both, 0, {}), m.part(both, 1, {})};
}

Svd svd(const Operand& x, bool full) {
  base::need<base::kLinalg>("svd");
  const Matrices m("svd", x);
  const SymInt s = m.least(), left = full ? m.rows : s, right = full ? m.columns : s, u = m.rows * left;
  const Value all = m.called(full ? "svd:full" : "svd", u + s + right * m.columns);
  return {m.part(all, 0, {m.rows, left}), m.part(all, u, {s}), m.part(all, u + s, {right, m.columns})};
}

Tensor svdvals(const Operand& x) {
  base::need<base::kLinalg>("svdvals");
  const Matrices m("svdvals", x);
  return m.part(m.called("svdvals", m.least()), 0, {m.least()});
}

Eigh eigh(const Operand& x) {
  base::need<base::kLinalg>("eigh");
  const Matrices m("eigh", x, true);
  const Value both = m.called("eigh", m.rows + m.rows * m.rows);
  return {m.part(both, 0, {m.rows}), m.part(both, m.rows, {m.rows, m.rows})};
}

Tensor eigvalsh(const Operand& x) {
  base::need<base::kLinalg>("eigvalsh");
  const Matrices m("eigvalsh", x, true);
  return m.part(m.called("eigvalsh", m.rows), 0, {m.rows});
}

Eig eig(const Operand& x) {
  base::need<base::kLinalg>("eig");
  const Matrices m("eig", x, true);
  const SymInt n = m.rows, square = n * n;
  const Value all = m.called("eig", n * 2 + square * 2);
  return {m.part(all, 0, {n}), m.part(all, n, {n}), m.part(all, n * 2, {n, n}), m.part(all, n * 2 + square, {n, n})};
}

// A function of its own: it has a derivative where singular values are equal, which those of svd have not.
Tensor pinv(const Operand& x, const Operand& rcond) {
  base::need<base::kLinalg>("pinv");
  Matrices m("pinv", x);
  const Call& call = m.call();
  const DType wide = api::wide_dtype(m.dtype());
  const Device device = m.flat().device();
  const Operand most(sym_max(m.rows, m.columns), Access::site(x));
  Value share = is_unstated(rcond) ? Value(call, call.number(most, wide, {}, device)) * epsilon(m.dtype())
                                   : Value(call, call.node(rcond, wide, {}, device));
  m.broadcast(graph::broadcast_shapes(m.batch(), share.shape(), call.origin()));
  share = share.broadcast(m.batch()).reshape({m.batches(), 1, 1}).broadcast({m.batches(), m.rows, 1});
  Shape out = m.batch();
  out.push_back(m.columns);
  out.push_back(m.rows);
  const Value found = m.called("pinv", {m.flat().node(), share.node()}, {m.columns, m.rows});
  return found.reshape(out).to(m.dtype()).tensor();
}

Tensor lstsq(const Operand& x, const Operand& b) { return solved("lstsq", x, b, "lstsq", false); }

Tensor matrix_rank(const Operand& x, const Operand& tolerance) {
  base::need<base::kLinalg>("matrix_rank");
  const Matrices m("matrix_rank", x);
  const Site site = Access::site(x);
  const Tensor s = api::renamed(m.call(), [&] { return svdvals(x); });
  const Tensor above = api::renamed(m.call(), [&] {
    if (is_unstated(tolerance)) {
      const Tensor largest = max(Operand(s, site), -1, true);
      return s > largest * epsilon(m.dtype()) * Operand(sym_max(m.rows, m.columns), site);
    }
    return beside_singular(tolerance, [&](const Operand& each) { return s > each; });
  });
  return sum(Operand(above, site), -1);
}

Tensor matrix_power(const Operand& x, std::int64_t n) {
  const Matrices m("matrix_power", x, true);
  const Site site = Access::site(x);
  Tensor power = n < 0 ? api::renamed(m.call(), [&] { return inverse(x); })
                       : Value(m.call(), m.call().node(x)).to(m.dtype()).tensor();
  if (n == 0) {
    const Tensor none = Value(m.call(), Access::node(power)).like(0).tensor();
    return none + eye(m.rows, -1, 0, m.dtype(), site).to(power.device(), site);
  }
  Tensor out;
  bool some = false;
  for (auto left = static_cast<std::uint64_t>(n < 0 ? -(n + 1) : n - 1) + 1; left != 0; left >>= 1) {
    if ((left & 1) != 0) out = some ? matmul(out, power) : power;
    some = some || (left & 1) != 0;
    if (left > 1) power = matmul(power, power);
  }
  return out;
}

Tensor matrix_norm(const Operand& x, MatrixNorm norm) {
  const Matrices m("matrix_norm", x);
  const Site site = Access::site(x);
  const Tensor floats = Value(m.call(), m.call().node(x)).to(m.dtype()).tensor();
  const auto sums = [&](std::int64_t axis) { return sum(abs(Operand(floats, site)), axis); };
  switch (norm) {
    case MatrixNorm::frobenius:
      return oriel::norm(Operand(floats, site), 2, Axes(Ints{-2, -1}));
    case MatrixNorm::nuclear:
      return sum(svdvals(Operand(floats, site)), -1);
    case MatrixNorm::two:
      return largest_of(svdvals(Operand(floats, site)), site);
    case MatrixNorm::minus_two:
      return least_of(svdvals(Operand(floats, site)), m, site);
    case MatrixNorm::one:
      return largest_of(sums(-2), site);
    case MatrixNorm::minus_one:
      return least_of(sums(-2), m, site);
    case MatrixNorm::infinity:
      return largest_of(sums(-1), site);
    case MatrixNorm::minus_infinity:
      return least_of(sums(-1), m, site);
  }
  throw ArgumentError("matrix_norm", "the norm is none of MatrixNorm");
}

Tensor matrix_norm(const Operand& x, MatrixNorm norm, const Ints& axes, KeepDim keepdim) {
  base::need<base::kLinalg>("matrix_norm");
  const Call call("matrix_norm", x);
  const Value v(call, call.node(x));
  const std::size_t rank = v.shape().size();
  if (axes.size() != 2)
    throw ShapeError("matrix_norm", fmt::format("axes {}; give those of rows and of columns", to_string(axes)));
  const std::size_t rows = call.axis(axes[0], rank), columns = call.axis(axes[1], rank);
  if (rows == columns) throw ShapeError("matrix_norm", fmt::format("axes {} are one axis; give two", to_string(axes)));
  Ints order;
  Shape kept = v.shape();
  kept[rows] = kept[columns] = 1;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != rows && d != columns) order.push_back(d);
  order.push_back(rows);
  order.push_back(columns);
  const Tensor last = v.permute(order).tensor();
  const Tensor out = matrix_norm(Operand(last, Access::site(x)), norm);
  return keepdim ? Value(call, Access::node(out)).reshape(kept).tensor() : out;
}

namespace {

/// The Frobenius norm, also of matrices whose squares leave the range.
Tensor frobenius_in_range(const Operand& x) {
  const Matrices m("cond", x);
  const Value v = Value(m.call(), m.call().node(x)).to(api::wide_dtype(m.dtype()));
  const std::size_t rank = v.shape().size();
  const Ints axes = api::axes_from(rank - 2, rank);
  const Value factor = api::squares_factor(v, axes);
  const Value scaled = v * factor;
  return (sqrt((scaled * scaled).reduce(graph::Op::Sum, axes)) / factor).drop(axes).to(m.dtype()).tensor();
}

}  // namespace

Tensor cond(const Operand& x, MatrixNorm norm) {
  base::need<base::kLinalg>("cond");
  const Matrices m("cond", x);
  check_some(m, m.least());
  if (norm == MatrixNorm::two || norm == MatrixNorm::minus_two) {
    const Tensor s = api::renamed(m.call(), [&] { return svdvals(x); });
    const Tensor largest = max(s, -1), least = min(s, -1);
    const Tensor quotient = norm == MatrixNorm::two ? largest / least : least / largest;
    return where(largest == 0, HUGE_VAL, quotient);
  }
  return api::renamed(m.call(), [&] {
    const Tensor inverted = inverse(x);
    if (norm == MatrixNorm::frobenius) return frobenius_in_range(x) * frobenius_in_range(inverted);
    return matrix_norm(x, norm) * matrix_norm(inverted, norm);
  });
}

}  // namespace oriel
