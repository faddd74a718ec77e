// Order statistics by sorting, and binary searches that are unrolled to gathers.
#include "oriel/order.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "base/parts.hpp"
#include "formula/compare.hpp"
#include "formula/interpolation.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// An operand with at least one axis, and the axis along which it is ordered.
struct Ordering {
  Ordering(const char* name, const Operand& x, std::int64_t along)
      : call(name, x), site(Access::site(x)), source(call, call.node(x)) {
    scalar = source.shape().empty();
    if (scalar) source = source.reshape({1});
    axis = call.axis(along, source.shape().size());
    extent = source.shape()[axis];
  }

  Tensor lined() const { return source.tensor(); }
  std::int64_t signed_axis() const { return static_cast<std::int64_t>(axis); }
  Tensor positions(bool descending = false) const {
    const Tensor x = lined();
    return argsort(Operand(x, site), signed_axis(), descending);
  }
  void need_elements() const {
    if (extent != 0 || numel(source.shape()) != 0) return;
    throw ShapeError(call.operation(), fmt::format("axis {} of {} has no elements", axis, to_string(source.shape())));
  }
  Tensor gathered(const Tensor& x, const Tensor& at) const {
    return gather(Operand(x, site), at, signed_axis(), Bounds::zero);
  }
  Tensor dropped(const Tensor& x, KeepDim keepdim) const {
    if (scalar) return x.reshape({}, site);
    return keepdim ? x : x.squeeze(signed_axis(), site);
  }
  /// The elements at positions, both without the axis unless `keepdim`.
  Ordered chosen(const Tensor& at, KeepDim keepdim) const {
    return {dropped(gathered(lined(), at), keepdim), dropped(at, keepdim)};
  }
  /// The number of NaN along the axis, which keeps extent 1; 0 for integers.
  Value nan_count() const {
    const Value none = is_floating(source.dtype()) ? isnan(source) : source.like(0).to(DType::bool_);
    return none.to(DType::int64).reduce(Op::Sum, {axis});
  }

  Call call;
  Site site;
  Value source;
  std::size_t axis = 0;
  SymInt extent = 0;
  bool scalar = false;
};

/// The middle of the numbers: NaN, which are sorted behind them, count as numbers unless they are ignored.
Ordered middle(const char* name, const Operand& x, std::int64_t axis, KeepDim keepdim, bool ignore_nan) {
  const Ordering o(name, x, axis);
  o.need_elements();
  const Value count = o.nan_count();
  const Value numbers = (-count).binary(Op::Add, o.extent);
  // Without a number: the first NaN.
  Value at = max(numbers - 1, 0).binary(Op::FloorDiv, SymInt(2));
  if (!ignore_nan) at = where(count > 0, numbers, at);
  return o.chosen(o.gathered(o.positions(), at.tensor()), keepdim);
}

Tensor middle_of_all(const char* name, const Operand& x, bool ignore_nan) {
  const Call call(name, x);
  const Value v(call, call.node(x));
  const SymInt n = numel(v.shape());
  if (n == 0 && is_floating(v.dtype())) {
    return Value(call, graph::constant(graph::Scalar::of_float(v.dtype(), kNoNumber), {}, v.device(), call.origin()))
        .tensor();
  }
  const Tensor line = v.reshape({n}).tensor();
  return middle(name, Operand(line, Access::site(x)), 0, false, ignore_nan).values;
}

/// The first step of a binary search among n elements, a power of two, or 0. Steps are unrolled, and one beyond the
/// elements costs a gather that finds nothing: so a plan for symbolic extents serves all below a bound that few pass,
/// and one for counts that depend on data all.
std::int64_t first_step(SymInt n) {
  if (!n.is_symbolic()) return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n.value())));
  int bits = sym::depends_on_data(n) ? 48 : 16;
  while (bits < 48 && !(n < std::int64_t{1} << bits)) bits += 16;
  return std::int64_t{1} << (bits - 1);
}

/// The number of elements along the last axis of `sorted` that stand before each value, compared by value.
Value places(const Call& call, const Value& sorted, const Value& values, bool right, Site site) {
  const SymInt n = sorted.shape().back();
  const bool vector = sorted.shape().size() == 1;
  const Tensor source = sorted.tensor();
  Value place = values.like(0).to(DType::int64);
  for (std::int64_t step = first_step(n); step >= 1; step /= 2) {
    const Value next = place + static_cast<double>(step);
    const Tensor at = (next - 1).tensor();
    const Tensor read =
        vector ? take(Operand(source, site), at, 0, Bounds::zero) : gather(Operand(source, site), at, -1, Bounds::zero);
    const Value element(call, Access::node(read));
    Value before(call, api::compared(call, right ? Op::Le : Op::Lt, element.node(), values.node()));
    // Numbers stand before NaN, and NaN before NaN only if it is put in behind equal ones.
    if (is_floating(values.dtype())) before = before | (right ? isnan(values) : isnan(values) & !isnan(element));
    place = where(next.binary(Op::Le, n) & before, next, place);
  }
  return place;
}

}  // namespace

Ordered topk(const Operand& x, std::int64_t k, std::int64_t axis, bool largest) {
  const Ordering o("topk", x, axis);
  if (k < 0 || k > o.extent) {
    throw ArgumentError("topk", fmt::format("k is {} of the {} elements of axis {} of {}", k, to_string(o.extent),
                                            o.axis, to_string(o.source.shape())));
  }
  const Tensor order = o.positions(largest);
  const Value first = Value(o.call, Access::node(order)).shrink(o.axis, 0, k);
  const Tensor at = first.tensor();
  if (!o.scalar || k == 0) return {o.gathered(o.lined(), at), at};
  return o.chosen(at, true);
}

namespace {

[[noreturn]] void refuse_place(const Ordering& o, std::int64_t k, SymInt first, SymInt last) {
  const bool none = !o.extent.is_symbolic() && o.extent == 0;
  throw ArgumentError(
      o.call.operation(),
      fmt::format("k is {}; axis {} of {} has {}", k, o.axis, to_string(o.source.shape()),
                  none ? "no places" : fmt::format("places {} to {}", to_string(first), to_string(last))));
}

}  // namespace

Ordered kthvalue(const Operand& x, std::int64_t k, std::int64_t axis, KeepDim keepdim) {
  const Ordering o("kthvalue", x, axis);
  if (k < 1 || k > o.extent) {
    refuse_place(o, k, 1, o.extent);
  }
  const Tensor order = o.positions();
  const Value at = Value(o.call, Access::node(order)).shrink(o.axis, k - 1, k);
  return o.chosen(at.tensor(), keepdim);
}

Ordered median(const Operand& x, std::int64_t axis, KeepDim keepdim) {
  return middle("median", x, axis, keepdim, false);
}
Tensor median(const Operand& x) { return middle_of_all("median", x, false); }
Ordered nanmedian(const Operand& x, std::int64_t axis, KeepDim keepdim) {
  return middle("nanmedian", x, axis, keepdim, true);
}
Tensor nanmedian(const Operand& x) { return middle_of_all("nanmedian", x, true); }

Tensor mode(const Operand& x, std::int64_t axis, KeepDim keepdim) {
  const Ordering o("mode", x, axis);
  o.need_elements();
  const Tensor line = o.lined();
  const Tensor sorted = sort(Operand(line, o.site), o.signed_axis());
  // The axis last, for the search of each element among all.
  const std::size_t rank = sorted.rank();
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  std::swap(order[o.axis], order[rank - 1]);
  const Value rows = Value(o.call, Access::node(sorted)).permute(order);
  const Value length = places(o.call, rows, rows, true, o.site) - places(o.call, rows, rows, false, o.site);
  const Tensor lengths = length.tensor();
  const Tensor at = argmax(Operand(lengths, o.site), -1, true);
  const Tensor row = rows.tensor();
  const Tensor found = gather(Operand(row, o.site), at, -1, Bounds::zero);
  return o.dropped(Value(o.call, Access::node(found)).permute(order).tensor(), keepdim);
}

namespace {

constexpr std::size_t kMostChosen = 64;

/// Few numbers as constants of the graph, many as elements in memory.
Value listed(const Call& call, const std::vector<double>& numbers, DType dtype, Device device) {
  const Shape shape{numbers.size()};
  if (numbers.size() > kMostChosen)
    return {call, Access::node(Access::of_numbers(Tensor::from(numbers, call.origin().site)).to(dtype).to(device))};
  const Value place = api::positions(call, shape, 0, device);
  std::vector<Value> parts;  // each is right from its number on
  for (const double x : numbers)
    parts.emplace_back(call, graph::constant(graph::Scalar::of_float(dtype, x), shape, device, call.origin()));
  if (parts.empty()) return {call, graph::constant(graph::Scalar::of_float(dtype, 0), shape, device, call.origin())};
  // Neighbours are joined until one is left, so that each element takes few choices.
  for (std::size_t wide = 1; wide < parts.size(); wide *= 2)
    for (std::size_t k = 0; k + wide < parts.size(); k += 2 * wide)
      parts[k] = where(place < static_cast<double>(k + wide), parts[k], parts[k + wide]);
  return parts[0];
}

/// `whole`: the q of the largest element.
Tensor quantiles(const char* name, const Operand& x, std::vector<double> q, double whole, std::int64_t axis,
                 KeepDim keepdim, Between between, bool single, bool ignore_nan = false) {
  const Ordering o(name, x, axis);
  for (double& part : q) {
    if (!(part >= 0 && part <= whole))
      throw ArgumentError(o.call.operation(), fmt::format("q is {}; give a number in [0, {}]", part, whole));
    part /= whole;
  }
  o.need_elements();
  const DType dtype = api::floating_dtype(o.source.dtype()), wide = api::wide_dtype(dtype);
  const Tensor floats = o.source.to(wide).tensor();
  const Tensor sorted = sort(Operand(floats, o.site), o.signed_axis());
  Shape aligned(sorted.rank(), SymInt(1));
  aligned[o.axis] = q.size();
  // Positions along the axis, in the dtype of the elements: (number of q), or of each row if these differ in numbers.
  const Value along = listed(o.call, q, wide, o.source.device());
  const Value at = ignore_nan ? along.reshape(aligned) * max((-o.nan_count()).binary(Op::Add, o.extent - 1), 0).to(wide)
                              : along.binary(Op::Mul, o.extent - 1);
  const Value low = at.unary(Op::Floor), high = at.unary(Op::Ceil);
  const auto read = [&](const Value& position) {
    const Tensor index = position.to(DType::int64).tensor();
    const Operand from(sorted, o.site);
    return Value(o.call, Access::node(ignore_nan ? gather(from, index, o.signed_axis(), Bounds::zero)
                                                 : take(from, index, o.signed_axis(), Bounds::zero)));
  };
  Value out = read(between == Between::higher ? high : between == Between::nearest ? round(at) : low);
  if (between == Between::linear || between == Between::midpoint) {
    const Value upper = read(high), share = at - low;
    const Value t = between != Between::linear ? out.like(0.5) : ignore_nan ? share : share.reshape(aligned);
    out = api::between(out, upper, t);
  }
  if (!ignore_nan) out = where(o.nan_count() > 0, kNoNumber, out);
  // The quantiles become the first axis.
  const std::size_t rank = sorted.rank();
  Ints order{o.axis};
  for (std::size_t d = 0; d < rank; ++d)
    if (d != o.axis) order.push_back(d);
  out = out.permute(order);
  Shape shape;
  if (!single) shape.push_back(q.size());
  if (!o.scalar) {
    for (std::size_t d = 0; d < rank; ++d) {
      if (d != o.axis)
        shape.push_back(o.source.shape()[d]);
      else if (keepdim)
        shape.push_back(1);
    }
  }
  return out.reshape(shape).to(dtype).tensor();
}

}  // namespace

Tensor quantile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim, Between between) {
  return quantiles("quantile", x, {q}, 1, axis, keepdim, between, true);
}
Tensor quantile(const Operand& x, const std::vector<double>& q, std::int64_t axis, KeepDim keepdim, Between between) {
  return quantiles("quantile", x, q, 1, axis, keepdim, between, false);
}
Tensor percentile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim, Between between) {
  base::need<base::kFurther>("percentile");
  return quantiles("percentile", x, {q}, 100, axis, keepdim, between, true);
}
Tensor percentile(const Operand& x, const std::vector<double>& q, std::int64_t axis, KeepDim keepdim, Between between) {
  base::need<base::kFurther>("percentile");
  return quantiles("percentile", x, q, 100, axis, keepdim, between, false);
}
Tensor nanquantile(const Operand& x, double q, std::int64_t axis, KeepDim keepdim, Between between) {
  return quantiles("nanquantile", x, {q}, 1, axis, keepdim, between, true, true);
}
Tensor nanquantile(const Operand& x, const std::vector<double>& q, std::int64_t axis, KeepDim keepdim,
                   Between between) {
  return quantiles("nanquantile", x, q, 1, axis, keepdim, between, false, true);
}

namespace {

void check_place(const Ordering& o, std::int64_t k) {
  if (k < o.extent && k >= -o.extent) return;
  refuse_place(o, k, -o.extent, o.extent - 1);
}

}  // namespace

Tensor partition(const Operand& x, std::int64_t k, std::int64_t axis) {
  const Ordering o("partition", x, axis);
  check_place(o, k);
  const Tensor line = o.lined();
  const Tensor sorted = sort(Operand(line, o.site), o.signed_axis());
  return o.scalar ? sorted.reshape({}, o.site) : sorted;
}

Tensor argpartition(const Operand& x, std::int64_t k, std::int64_t axis) {
  const Ordering o("argpartition", x, axis);
  check_place(o, k);
  return o.scalar ? o.positions().reshape({}, o.site) : o.positions();
}

Tensor lexsort(ListOf<Tensor> keys, std::int64_t axis, Site site) {
  const Call call("lexsort", site);
  if (keys.empty()) throw ArgumentError("lexsort", "no keys came; give at least one");
  for (const Tensor& key : keys) {
    if (key.shape() == keys[0].shape()) continue;
    throw ShapeError("lexsort", fmt::format("keys {} and {} differ in shape; give keys of one shape",
                                            to_string(keys[0].shape()), to_string(key.shape())));
  }
  // Stable sorts by one key after the other, the one that counts most at the end.
  const Ordering first("lexsort", Operand(keys[0], site), axis);
  Tensor order = first.positions();
  for (const Tensor& key : keys.subspan(1)) {
    const Ordering o("lexsort", Operand(key, site), axis);
    const Tensor so_far = o.gathered(o.lined(), order);
    order = o.gathered(order, argsort(Operand(so_far, site), o.signed_axis()));
  }
  return first.scalar ? order.reshape({}, site) : order;
}

namespace {

Tensor searched(const char* name, const Tensor& sorted, const Operand& values, bool right) {
  const Call call(name, values);
  const Site site = Access::site(values);
  const Value line(call, Access::node(sorted));
  const Value wanted(call, api::comparable(call, values, line.dtype(), sorted.device()));
  const std::size_t rank = line.shape().size();
  bool fits = rank == 1 || (rank == wanted.shape().size() && rank != 0);
  for (std::size_t d = 0; fits && rank > 1 && d + 1 < rank; ++d) fits = line.shape()[d] == wanted.shape()[d];
  if (!fits) {
    throw ShapeError(name,
                     fmt::format("sorted elements {} for values {}; give a vector, or equal axes but for the last",
                                 to_string(line.shape()), to_string(wanted.shape())));
  }
  return places(call, line, wanted, right, site).tensor();
}

}  // namespace

Tensor searchsorted(const Tensor& sorted, const Operand& values, bool right) {
  return searched("searchsorted", sorted, values, right);
}
Tensor bucketize(const Operand& x, const Tensor& boundaries, bool right) {
  return searched("bucketize", boundaries, x, right);
}

Tensor isin(const Operand& x, const Tensor& elements) {
  const Call call("isin", x);
  const Site site = Access::site(x);
  const Value wanted(call, api::comparable(call, x, elements.dtype(), elements.device()));
  const SymInt n = elements.numel();
  const bool counted = sym::depends_on_data(n);  // then there may be none, and each place is asked
  if (!counted && n == 0) return wanted.like(0).to(DType::bool_).tensor();
  const Tensor line = Value(call, Access::node(elements)).reshape({n}).tensor();
  const Tensor sorted = sort(Operand(line, site), 0);
  const Value all(call, Access::node(sorted));
  const Value place = places(call, all, wanted, false, site);
  const Tensor at = place.binary(Op::Min, n - 1).tensor();
  const Value found(call, Access::node(take(Operand(sorted, site), at, 0, Bounds::zero)));
  const Value same(call, api::compared(call, Op::Eq, found.node(), wanted.node()));
  return (counted ? same & place.binary(Op::Lt, n) : same).tensor();
}

Tensor interp(const Operand& x, const Tensor& xp, const Tensor& fp) {
  const Call call("interp", x);
  const Site site = Access::site(x);
  const Operand points(xp, site), heights(fp, site);
  const DType dtype = api::floating_dtype(api::common_dtype({&x, &points, &heights})), wide = api::wide_dtype(dtype);
  if (xp.rank() != 1 || fp.rank() != 1 || xp.size(0) != fp.size(0) || xp.size(0) == 0) {
    throw ShapeError("interp", fmt::format("points {} and {}; give two vectors as long, with elements",
                                           to_string(xp.shape()), to_string(fp.shape())));
  }
  const Value v(call, call.node(x, wide, {}, xp.device()));
  const Value at(call, call.cast(Access::node(xp), wide)), height(call, call.cast(Access::node(fp), wide));
  const SymInt n = xp.size(0);
  const auto read = [&](const Value& line, const Value& position) {
    const Tensor source = line.tensor(), index = max(position.binary(Op::Min, n - 1), 0).tensor();
    return Value(call, Access::node(take(Operand(source, site), index, 0, Bounds::zero)));
  };
  const Value behind = places(call, at, v, true, site), before = behind - 1;
  const Value x0 = read(at, before), x1 = read(at, behind), y0 = read(height, before), y1 = read(height, behind);
  // At a point itself, and beyond the ends, nothing is divided by 0.
  const Value inside = (before >= 0) & behind.binary(Op::Lt, n) & !(v == x0);
  const Value distance = where(inside, x1 - x0, 1), slope = (y1 - y0) / distance;
  // Where a difference passes the range, the share of the way counts: halves of finite points never do, and an infinite
  // point is far from all others.
  const Value part = where(api::is_finite(distance), (v - x0) / distance, (v * 0.5 - x0 * 0.5) / (x1 * 0.5 - x0 * 0.5));
  const Value share = where(isinf(x0), 1, part);
  const Value far = where(y0 == y1, y0, api::between(y0, y1, where(isinf(x0) & isinf(x1), kNoNumber, share)));
  const Value line = where(api::is_finite(distance) & api::is_finite(slope), y0 + (v - x0) * slope, far);
  const Value out = where(inside, line, y0);
  return where(isnan(v), v, out).to(dtype).tensor();
}

}  // namespace oriel
