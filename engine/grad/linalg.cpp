// Derivatives of linear algebra, as formulas over its own functions, so that they have derivatives too: triangles,
// solutions and determinants. Notation: x, b operands, y result, g its cotangent.
#include "grad/linalg.hpp"

#include "grad/matrix.hpp"
#include "sym/decide.hpp"

namespace oriel::derive {

namespace {

Matrix matrix(const Step& step, std::size_t k) { return {step.operand(k)}; }

/// d y = y phi(y^-1 dx y^-t), where phi takes the lower triangle with half of the diagonal. It is the derivative by
/// symmetric x, and symmetric itself, though elements above the diagonal are not read.
void pull_cholesky(Step& step, bool upper) {
  const SymInt n = step.operand(0).shape()[1];
  Matrix y = Packed(step.result().reshape({step.result().shape()[0], n * n})).next(n, n);
  Matrix g = Packed(step.cotangent().reshape({step.result().shape()[0], n * n})).next(n, n);
  if (upper) y = y.t(), g = g.t();
  const Matrix below = (y.t() * g).lower();
  const Matrix phi{where(below.row() == below.column(), below.v * 0.5, below.v)};
  // y^-t phi y^-1
  const Matrix left = upper_solved(y.t(), phi);
  step.give(0, symmetric(upper_solved(y.t(), left.t())).v);
}

void pull_inverse(Step& step) {
  const Matrix yt = Matrix{step.result()}.t();
  step.give(0, (-(yt * Matrix{step.cotangent()} * yt)).v);
}

void pull_solve(Step& step) {
  const Matrix share = solved(matrix(step, 0).t(), {step.cotangent()});
  if (step.wants(1)) step.give(1, share.v);
  if (step.wants(0)) step.give(0, (-(share * Matrix{step.result()}.t())).v);
}

void pull_triangular(Step& step, bool upper, bool unit) {
  const Matrix x = matrix(step, 0).t();
  const char* const function = upper  ? unit ? "triangular_solve:unit" : "triangular_solve"
                               : unit ? "triangular_solve:upper:unit"
                                      : "triangular_solve:upper";
  const Matrix share{on_matrices(function, {x.v, step.cotangent()}, step.cotangent().shape())};
  if (step.wants(1)) step.give(1, share.v);
  if (!step.wants(0)) return;
  const Matrix all = -(share * Matrix{step.result()}.t());
  step.give(0, (upper ? all.upper(!unit) : all.lower(!unit)).v);
}

/// By the cofactors, which a singular matrix has too.
void pull_det(Step& step) {
  const Matrix x = matrix(step, 0);
  const Matrix cofactors{on_matrices("cofactors", {x.v}, x.v.shape())};
  step.give(0, cofactors.v * step.cotangent().reshape({x.batches(), 1, 1}));
}

/// The cofactors are y = det(x) x^-t, of which d y = tr(x^-1 dx) y - x^-t dx^t y.
void pull_cofactors(Step& step) {
  const Matrix inverse = inverted(matrix(step, 0)).t(), y{step.result()}, g{step.cotangent()};
  const Value trace = (g.v * inverse.v).reduce(Op::Sum, {1, 2});
  step.give(0, y.v * trace - (y * g.t() * inverse).v);
}

void pull_slogdet(Step& step) {
  const Matrix x = matrix(step, 0);
  const Value g = step.cotangent().shrink(1, 1, 2).reshape({x.batches(), 1, 1});
  step.give(0, inverted(x).t().v * g);
}

/// Of p x = l u, with x = [[x11, x12], [x21, ]] in blocks of k = min(m, n) rows and columns.
void pull_lu(Step& step) {
  const Matrix x = matrix(step, 0);
  const SymInt m = x.rows(), n = x.columns(), k = sym_min(m, n);
  Packed results(step.result()), cotangents(step.cotangent());
  const Value order = results.next(m).reshape({x.batches(), 1, m});
  cotangents.next(m);
  const Matrix y = results.next(m, n), g = cotangents.next(m, n);
  const Matrix square = y.corner(k, k), l1 = square.lower(false).with_diagonal(1), u1 = square.upper();
  Matrix below = l1.t() * g.corner(k, k).lower(false), above = g.corner(k, k).upper() * u1.t();
  const bool tall = !sym::known(m == k).value_or(false), wide = !sym::known(n == k).value_or(false);
  const auto beyond = [&](const Matrix& of, std::size_t axis, SymInt end) { return Matrix{of.v.shrink(axis, k, end)}; };
  if (wide) below = below - beyond(g.corner(k, n), 2, n) * beyond(y.corner(k, n), 2, n).t();
  if (tall) above = above - beyond(y.corner(m, k), 1, m).t() * beyond(g.corner(m, k), 1, m);
  const auto before_u = [&](const Matrix& of) { return upper_solved(u1, of.t()).t(); };  // of u1^-t
  const auto placed = [&](const Matrix& part, SymInt row, SymInt column) {
    return padded(padded(part.v, 1, row, m - row - part.rows()), 2, column, n - column - part.columns());
  };
  Value out = placed(before_u(upper_solved(l1.t(), below.lower(false) + above.upper())), 0, 0);
  if (wide) out = out + placed(upper_solved(l1.t(), beyond(g.corner(k, n), 2, n)), 0, k);
  if (tall) out = out + placed(before_u(beyond(g.corner(m, k), 1, m)), k, 0);
  // Row i of l u is row order[i] of x.
  const Value row = api::positions(step.call(), x.v.shape(), 1, x.v.device()).to(x.v.dtype());
  step.give(0, (Matrix{(order == row).to(x.v.dtype())} * Matrix{out}).v);
}

}  // namespace

bool pull_linalg(Step& step, std::string_view function) {
  using Pull = void (*)(Step&);
  static constexpr std::pair<std::string_view, Pull> kRules[] = {
      {"cholesky", [](Step& s) { pull_cholesky(s, false); }},
      {"cholesky:upper", [](Step& s) { pull_cholesky(s, true); }},
      {"inverse", pull_inverse},
      {"solve", pull_solve},
      {"triangular_solve", [](Step& s) { pull_triangular(s, false, false); }},
      {"triangular_solve:unit", [](Step& s) { pull_triangular(s, false, true); }},
      {"triangular_solve:upper", [](Step& s) { pull_triangular(s, true, false); }},
      {"triangular_solve:upper:unit", [](Step& s) { pull_triangular(s, true, true); }},
      {"det", pull_det},
      {"cofactors", pull_cofactors},
      {"slogdet", pull_slogdet},
      {"lu", pull_lu},
  };
  for (const auto& [name, pull] : kRules)
    if (name == function) return pull(step), true;
  return pull_factors(step, function) || pull_fourier(step, function);
}

}  // namespace oriel::derive
