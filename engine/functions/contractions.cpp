// Products of vectors, matrices and tensors under their names.
#include <fmt/format.h>

#include <cmath>

#include "functions/contraction.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/products.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::contract;
using api::Value;

namespace {

/// Both operands in the dtype in which their products are summed.
struct Factors {
  Factors(const char* name, const Operand& first, const Operand& second)
      : call(name, first),
        dtype(api::common_dtype({&first, &second})),
        a(value(first, second)),
        b(value(second, first)) {}

  Value value(const Operand& x, const Operand& other) const {
    return {call, call.node(x, api::sums_of(dtype), {}, api::device_of({&x, &other}))};
  }
  void check(bool fits, const char* wanted) const {
    if (fits) return;
    throw ShapeError(call.operation(),
                     fmt::format("{} x {} do not fit; give {}", to_string(a.shape()), to_string(b.shape()), wanted));
  }
  std::size_t rank_a() const { return a.shape().size(); }
  std::size_t rank_b() const { return b.shape().size(); }

  Tensor contracted(const std::vector<int>& labels_a, const std::vector<int>& labels_b,
                    const std::vector<int>& kept) const {
    return contract({a, labels_a}, {b, labels_b}, kept).value.to(dtype).tensor();
  }

  Call call;
  DType dtype;
  Value a;
  Value b;
};

Tensor over_axes(const Factors& f, const Ints& axes_a, const Ints& axes_b) {
  const std::size_t ra = f.rank_a(), rb = f.rank_b();
  if (axes_a.size() != axes_b.size()) {
    throw ShapeError(f.call.operation(), fmt::format("{} axes of the first operand and {} of the second; give pairs",
                                                     axes_a.size(), axes_b.size()));
  }
  graph::normal_axes(axes_a, ra, f.call.origin());  // throws for an axis named twice
  graph::normal_axes(axes_b, rb, f.call.origin());
  std::vector<int> labels_a(ra), labels_b(rb, -1), kept;
  for (std::size_t d = 0; d < ra; ++d) labels_a[d] = static_cast<int>(d);
  std::vector<bool> summed_a(ra, false);
  for (std::size_t k = 0; k < axes_a.size(); ++k) {
    const std::size_t i = f.call.axis(axes_a[k], ra), j = f.call.axis(axes_b[k], rb);
    if (f.a.shape()[i] != f.b.shape()[j]) {
      throw ShapeError(f.call.operation(),
                       fmt::format("{} x {}: the extents {} and {} of axes {} and {} differ", to_string(f.a.shape()),
                                   to_string(f.b.shape()), to_string(f.a.shape()[i]), to_string(f.b.shape()[j]), i, j));
    }
    summed_a[i] = true;
    labels_b[j] = static_cast<int>(i);
  }
  for (std::size_t d = 0; d < ra; ++d)
    if (!summed_a[d]) kept.push_back(static_cast<int>(d));
  for (std::size_t d = 0; d < rb; ++d) {
    if (labels_b[d] >= 0) continue;
    labels_b[d] = static_cast<int>(ra + d);
    kept.push_back(labels_b[d]);
  }
  return f.contracted(labels_a, labels_b, kept);
}

/// The tensor with the axis moved on by `steps` of 3, as a view of two copies.
Value rolled(const Value& v, std::size_t axis, std::int64_t steps) {
  const Tensor moved = roll(Operand(v.tensor()), -steps, static_cast<std::int64_t>(axis));
  return {v.call(), Access::node(moved)};
}

}  // namespace

Tensor tensordot(const Operand& a, const Operand& b, std::int64_t count) {
  const Factors f("tensordot", a, b);
  const auto most = static_cast<std::int64_t>(std::min(f.rank_a(), f.rank_b()));
  if (count < 0 || count > most) {
    throw ShapeError("tensordot", fmt::format("{} axes of {} x {}; give 0 to {}", count, to_string(f.a.shape()),
                                              to_string(f.b.shape()), most));
  }
  Ints last, first;
  for (std::int64_t k = 0; k < count; ++k) {
    last.push_back(static_cast<std::int64_t>(f.rank_a()) - count + k);
    first.push_back(k);
  }
  return over_axes(f, last, first);
}

Tensor tensordot(const Operand& a, const Operand& b, const Ints& axes_a, const Ints& axes_b) {
  return over_axes(Factors("tensordot", a, b), axes_a, axes_b);
}

Tensor bmm(const Operand& a, const Operand& b) {
  const Factors f("bmm", a, b);
  const bool ranks = f.rank_a() == 3 && f.rank_b() == 3;
  f.check(ranks && f.a.shape()[0] == f.b.shape()[0] && f.a.shape()[2] == f.b.shape()[1], "(n, i, k) x (n, k, j)");
  return f.contracted({0, 1, 3}, {0, 3, 2}, {0, 1, 2});
}

Tensor mv(const Operand& a, const Operand& x) {
  const Factors f("mv", a, x);
  f.check(f.rank_a() == 2 && f.rank_b() == 1 && f.a.shape()[1] == f.b.shape()[0], "(i, k) x (k)");
  return f.contracted({0, 1}, {1}, {0});
}

namespace {

Tensor dotted(const char* name, const Operand& x, const Operand& y) {
  const Factors f(name, x, y);
  f.check(f.rank_a() == 1 && f.rank_b() == 1 && f.a.shape()[0] == f.b.shape()[0], "two vectors as long");
  return f.contracted({0}, {0}, {});
}

}  // namespace

Tensor dot(const Operand& x, const Operand& y) { return dotted("dot", x, y); }
Tensor vdot(const Operand& x, const Operand& y) { return dotted("vdot", x, y); }

Tensor outer(const Operand& x, const Operand& y) {
  const Factors f("outer", x, y);
  f.check(f.rank_a() == 1 && f.rank_b() == 1, "two vectors");
  return f.contracted({0}, {1}, {0, 1});
}

Tensor inner(const Operand& a, const Operand& b) {
  const Factors f("inner", a, b);
  if (f.rank_a() == 0 || f.rank_b() == 0) return (f.a * f.b).to(f.dtype).tensor();
  return over_axes(f, {-1}, {-1});
}

Tensor cross(const Operand& a, const Operand& b, std::int64_t axis) {
  const Call call("cross", a);
  auto [first, second] = call.meet(a, b);
  const Value x(call, first), y(call, second);
  const std::size_t d = call.axis(axis, x.shape().size());
  if (x.shape()[d] != 3) {
    throw ShapeError("cross", fmt::format("axis {} of {} has extent {}; vectors of 3 elements are taken", d,
                                          to_string(x.shape()), to_string(x.shape()[d])));
  }
  if (x.dtype() == DType::bool_) throw DTypeError("cross", "takes integers and floats, not bool; cast first");
  const DType dtype = x.dtype(), in = api::sums_of(dtype);
  const Value u = x.to(in), v = y.to(in);
  return (rolled(u, d, 1) * rolled(v, d, 2) - rolled(u, d, 2) * rolled(v, d, 1)).to(dtype).tensor();
}

Tensor addmm(const Operand& c, const Operand& a, const Operand& b, double beta, double alpha) {
  const Factors f("addmm", a, b);
  f.check(f.rank_a() == 2 && f.rank_b() == 2 && f.a.shape()[1] == f.b.shape()[0], "(i, k) x (k, j)");
  const DType dtype = api::common_dtype({&c, &a, &b}), in = api::sums_of(dtype);
  if (!is_floating(dtype) && (std::trunc(alpha) != alpha || std::trunc(beta) != beta)) {
    throw ArgumentError("addmm",
                        fmt::format("beta {} and alpha {} of {}; give whole numbers", beta, alpha, name(dtype)));
  }
  Value out = contract({f.a.to(in), {0, 1}}, {f.b.to(in), {1, 2}}, {0, 2}).value;
  const Shape shape = out.shape();
  if (alpha != 1) out = out * alpha;
  const Value more(f.call, f.call.broadcast(f.call.node(c, in, {}, out.device()), shape));
  if (beta != 0) out = (beta == 1 ? more : more * beta) + out;
  return out.to(dtype).tensor();
}

namespace {

Tensor affine(const Operand& x, const Operand& w, const Tensor* bias) {
  const Factors f("linear", x, w);
  const std::size_t rank = f.rank_a();
  f.check(rank >= 1 && (f.rank_b() == 2 || f.rank_b() == 1) && f.a.shape().back() == f.b.shape().back(),
          "(.., k) x (j, k)");
  std::vector<int> labels(rank), kept(rank - 1);
  for (std::size_t d = 0; d < rank; ++d) labels[d] = static_cast<int>(d);
  for (std::size_t d = 0; d + 1 < rank; ++d) kept[d] = static_cast<int>(d);
  const int column = static_cast<int>(rank), depth = static_cast<int>(rank) - 1;
  if (f.rank_b() == 2) kept.push_back(column);
  const std::vector<int> of_w = f.rank_b() == 2 ? std::vector<int>{column, depth} : std::vector<int>{depth};
  Value out = contract({f.a, labels}, {f.b, of_w}, kept).value;
  if (bias != nullptr) {
    const bool fits = f.rank_b() == 2 ? bias->rank() <= 1 && (bias->rank() == 0 || bias->size(0) == f.b.shape()[0])
                                      : bias->rank() == 0;
    if (!fits) {
      throw ShapeError("linear", fmt::format("a bias {} for weights {}; give one number for each row",
                                             to_string(bias->shape()), to_string(f.b.shape())));
    }
    out = out + Value(f.call, f.call.cast(Access::node(*bias), out.dtype()));
  }
  return out.to(f.dtype).tensor();
}

}  // namespace

Tensor linear(const Operand& x, const Operand& w) { return affine(x, w, nullptr); }
Tensor linear(const Operand& x, const Operand& w, const Tensor& bias) { return affine(x, w, &bias); }

Tensor kron(const Operand& a, const Operand& b) {
  const Factors f("kron", a, b);
  const std::size_t rank = std::max(f.rank_a(), f.rank_b());
  Shape left, right, joined;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t ahead_a = rank - f.rank_a(), ahead_b = rank - f.rank_b();
    const SymInt n = d < ahead_a ? SymInt(1) : f.a.shape()[d - ahead_a];
    const SymInt m = d < ahead_b ? SymInt(1) : f.b.shape()[d - ahead_b];
    left.push_back(n);
    left.push_back(1);
    right.push_back(1);
    right.push_back(m);
    joined.push_back(n * m);
  }
  return (f.a.reshape(left) * f.b.reshape(right)).reshape(joined).to(f.dtype).tensor();
}

}  // namespace oriel
