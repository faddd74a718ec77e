// Derivatives of linear algebra: orthogonal factors, singular values, eigenvalues, and inverses in the sense of least
// squares. Singular vectors and eigenvectors have one where their values differ: of two equal ones it is infinite or
// NaN, as in PyTorch, but the values alone have one always.
#include "grad/linalg.hpp"
#include "grad/matrix.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::derive {

namespace {

bool surely_equal(SymInt a, SymInt b) { return sym::known(a == b).value_or(false); }

/// Are numbers [first, last) of each batch zeros, as sums and pads say? So they are where only other parts of the
/// result are used, and derivatives by what is not used would be 0 / 0.
bool is_zero_within(const NodePtr& g, SymInt first, SymInt last) {
  if (g->op == Op::Const) {
    const auto* const number = std::get_if<graph::Scalar>(&g->arg);
    return number != nullptr && number->f == 0;
  }
  const Node::Sources sources = g->lazy_sources();
  if (sources.empty()) return false;
  if (g->op == Op::Add) return is_zero_within(sources[0], first, last) && is_zero_within(sources[1], first, last);
  if (g->op != Op::Pad) return false;
  const SymInt before = (*std::get<std::shared_ptr<const Ranges>>(g->arg))[1].lo;
  return sym::known((last <= before) | (first >= before + sources[0]->shape[1])).value_or(false);
}

/// The same of a part of a cotangent: nothing if it is 0.
std::optional<Matrix> used(const Step& step, SymInt first, SymInt rows, SymInt columns) {
  const Value g = step.cotangent();
  if (is_zero_within(g.node(), first, first + rows * columns)) return std::nullopt;
  return Matrix{g.shrink(1, first, first + rows * columns).reshape({g.shape()[0], rows, columns})};
}

Matrix plus(const std::optional<Matrix>& a, const Matrix& b) { return a ? *a + b : b; }

/// x = q r. Of x = [x1 x2] in k = min(m, n) and further columns: x2 = q r2, and q r1 = x1 by triangles.
void pull_qr(Step& step, bool complete) {
  const Matrix x{step.operand(0)};
  const SymInt m = x.rows(), n = x.columns(), k = sym_min(m, n);
  if (complete && !surely_equal(k, m)) {
    throw ArgumentError(step.call().operation(),
                        "qr: the columns of a complete q beyond those of x have no derivative, as any basis will do; "
                        "call qr without complete");
  }
  Packed results(step.result()), cotangents(step.cotangent());
  const Matrix q = results.next(m, k), r = results.next(k, n);
  Matrix gq = cotangents.next(m, k);
  const Matrix gr = cotangents.next(k, n);
  const bool wide = !surely_equal(n, k);
  const auto beyond = [&](const Matrix& of) { return Matrix{of.v.shrink(2, k, n)}; };
  if (wide) gq = gq + beyond(x) * beyond(gr).t();
  const Matrix r1 = r.corner(k, k);
  const Matrix both = r1 * gr.corner(k, k).upper().t() - gq.t() * q;
  const Matrix first = gq + q * (both.lower() + both.lower(false).t());
  Value out = upper_solved(r1, first.t()).t().v;
  if (wide) out = padded(out, 2, 0, n - k) + padded((q * beyond(gr)).v, 2, k, 0);
  step.give(0, out);
}

/// Of u, of which the columns beyond min(m, n) get none: any basis would do.
void pull_svd(Step& step, bool full) {
  const Matrix x{step.operand(0)};
  const SymInt m = x.rows(), n = x.columns(), k = sym_min(m, n), left = full ? m : k, right = full ? n : k;
  Packed results(step.result());
  const Matrix u = results.next(m, left).corner(m, k);
  const Value s = results.next(k);
  const Matrix vh = results.next(right, n).corner(k, n);
  std::optional<Matrix> gu = used(step, 0, m, left), gv = used(step, m * left + k, right, n);
  const std::optional<Matrix> gs = used(step, m * left, 1, k);
  const Value across = s.reshape({x.batches(), 1, k}), down = s.reshape({x.batches(), k, 1});
  // s_j^2 - s_i^2, and 1 on the diagonal
  const Value apart = Matrix{(across - down) * (across + down)}.with_diagonal(1).v;
  std::optional<Matrix> inner, out;
  if (gu) {
    gu = gu->corner(m, k);
    const Matrix along = u.t() * *gu;
    inner = Matrix{skew(along).v / apart}.times_columns(s);
    if (!surely_equal(m, k)) out = (*gu - u * along).times_columns(1 / s) * vh;
  }
  if (gv) {
    gv = gv->corner(k, n);
    const Matrix along = *gv * vh.t();
    inner = plus(inner, Matrix{skew(along.t()).v / apart}.times_rows(s));
    if (!surely_equal(n, k)) out = plus(out, u.times_columns(1 / s) * (*gv - along * vh));
  }
  if (inner) {
    const Matrix between = gs ? Matrix{inner->v + Matrix{inner->v.like(0)}.with_diagonal(gs->v).v} : *inner;
    out = plus(out, u * between * vh);
  } else if (gs) {
    out = u.times_columns(gs->v) * vh;
  }
  if (out) step.give(0, out->v);
}

void pull_svdvals(Step& step) {
  const Matrix x{step.operand(0)};
  const SymInt m = x.rows(), n = x.columns(), k = sym_min(m, n);
  Packed parts(on_matrices("svd", {x.v}, {x.batches(), m * k + k + k * n}));
  const Matrix u = parts.next(m, k);
  parts.next(k);
  step.give(0, (u.times_columns(step.cotangent()) * parts.next(k, n)).v);
}

/// The derivative by symmetric x, and symmetric itself, though elements above the diagonal are not read.
void pull_eigh(Step& step) {
  const Matrix x{step.operand(0)};
  const SymInt n = x.rows();
  Packed results(step.result());
  const Value values = results.next(n);
  const Matrix v = results.next(n, n);
  const std::optional<Matrix> along = used(step, 0, 1, n), gv = used(step, n, n, n);
  if (!gv) {
    if (along) step.give(0, (v.times_columns(along->v) * v.t()).v);
    return;
  }
  const Value apart = values.reshape({x.batches(), 1, n}) - values.reshape({x.batches(), n, 1});
  const Matrix inner{(v.t() * *gv).v / Matrix{apart}.with_diagonal(1).v};
  step.give(0, symmetric(v * (along ? inner.with_diagonal(along->v) : inner.with_diagonal(0)) * v.t()).v);
}

void pull_eigvalsh(Step& step) {
  const Matrix x{step.operand(0)};
  Packed parts(on_matrices("eigh", {x.v}, {x.batches(), x.rows() + x.rows() * x.rows()}));
  parts.next(x.rows());
  const Matrix v = parts.next(x.rows(), x.rows());
  step.give(0, (v.times_columns(step.cotangent()) * v.t()).v);
}

struct ComplexMatrix {
  Matrix re, im;
  ComplexMatrix conjugate_transposed() const { return {re.t(), -im.t()}; }
};
ComplexMatrix operator*(const ComplexMatrix& a, const ComplexMatrix& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// The real part of the z with x z = b, by real matrices [[re, -im], [im, re]] of twice the size.
Value real_solution(const ComplexMatrix& x, const ComplexMatrix& b) {
  const SymInt n = x.re.rows(), k = b.re.columns();
  const auto beside = [&](const Matrix& p, const Matrix& q) { return padded(p.v, 2, 0, n) + padded(q.v, 2, n, 0); };
  const auto above = [&](const Value& p, const Value& q) { return Matrix{padded(p, 1, 0, n) + padded(q, 1, n, 0)}; };
  const Matrix whole = above(beside(x.re, -x.im), beside(x.im, x.re));
  return solved(whole, above(b.re.v, b.im.v)).corner(n, k).v;
}

/// Of vectors of length 1 whose phase is any: the functions that have a derivative do not depend on the phase.
void pull_eig(Step& step) {
  const Matrix x{step.operand(0)};
  const SymInt n = x.rows();
  Packed results(step.result()), cotangents(step.cotangent());
  const auto pair = [&](Packed& of, SymInt rows) {
    const Matrix re = of.next(rows, n);
    return ComplexMatrix{re, of.next(rows, n)};
  };
  const ComplexMatrix values = pair(results, 1), v = pair(results, n), g_values = pair(cotangents, 1);
  const ComplexMatrix vh = v.conjugate_transposed();
  const Matrix zero{v.re.v.like(0)};
  ComplexMatrix inner{zero.with_diagonal(g_values.re.v), zero.with_diagonal(g_values.im.v)};
  if (!is_zero_within(step.cotangent().node(), n * 2, n * 2 + n * n * 2)) {
    const ComplexMatrix along = vh * pair(cotangents, n), overlap = vh * v;
    const Value lengths = where(along.re.row() == along.re.column(), along.re.v, 0).reduce(Op::Sum, {1});
    const Value re = (along.re - overlap.re.times_columns(lengths)).v;
    const Value im = (along.im - overlap.im.times_columns(lengths)).v;
    // divided by the conjugates of l_j - l_i
    const auto differences = [&](const Matrix& l) { return l.v - l.v.reshape({x.batches(), n, 1}); };
    const Value dr = Matrix{differences(values.re)}.with_diagonal(1).v, di = differences(values.im);
    const Value square = dr * dr + di * di;
    inner = {Matrix{(re * dr - im * di) / square}.with_diagonal(g_values.re.v),
             Matrix{(re * di + im * dr) / square}.with_diagonal(g_values.im.v)};
  }
  step.give(0, real_solution(vh, inner * vh));
}

/// Of y, the inverse of x, where the rank of x stays the same.
void pull_pinv(Step& step) {
  if (!step.wants(0)) return;
  const Matrix x{step.operand(0)}, y{step.result()}, gt = Matrix{step.cotangent()}.t();
  const Matrix left = gt * (y * y.t()), right = (y.t() * y) * gt;
  const Matrix beside = -(y.t() * gt.t() * y.t());
  step.give(0, (beside + (left - x * (y * left)) + (right - (right * y) * x)).v);
}

/// Likewise: y = p b for the inverse p of x.
void pull_lstsq(Step& step) {
  const Matrix x{step.operand(0)}, b{step.operand(1)}, y{step.result()}, g{step.cotangent()};
  const auto least = [](const Matrix& of, const Matrix& to) {
    return Matrix{on_matrices("lstsq", {of.v, to.v}, {of.batches(), of.columns(), to.columns()})};
  };
  const Matrix w = least(x.t(), g);
  if (step.wants(1)) step.give(1, w.v);
  if (!step.wants(0)) return;
  const Matrix rest = b - x * y, outside = g - x.t() * w;
  step.give(0, (rest * least(x, w).t() + least(x.t(), y) * outside.t() - w * y.t()).v);
}

}  // namespace

bool pull_factors(Step& step, std::string_view function) {
  using Pull = void (*)(Step&);
  static constexpr std::pair<std::string_view, Pull> kRules[] = {
      {"qr", [](Step& s) { pull_qr(s, false); }},
      {"qr:complete", [](Step& s) { pull_qr(s, true); }},
      {"svd", [](Step& s) { pull_svd(s, false); }},
      {"svd:full", [](Step& s) { pull_svd(s, true); }},
      {"svdvals", pull_svdvals},
      {"eigh", pull_eigh},
      {"eigvalsh", pull_eigvalsh},
      {"eig", pull_eig},
      {"pinv", pull_pinv},
      {"lstsq", pull_lstsq},
  };
  for (const auto& [name, pull] : kRules)
    if (name == function) return pull(step), true;
  return false;
}

}  // namespace oriel::derive
