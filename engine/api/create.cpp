#include "oriel/create.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

Tensor filled(const Call& call, const Shape& shape, const Operand& value, DType dtype) {
  if (Access::tensor(value) != nullptr)
    return Access::tensor(call.broadcast(call.cast(call.node(value), dtype), shape));
  NodePtr node = call.number(value, dtype, shape, default_device());
  return Access::tensor(graph::laid_out_constant(std::move(node), Layout::contiguous(shape)));
}

void check_number(const Call& call, const Operand& x, std::string_view what) {
  if (Access::tensor(x) != nullptr)
    throw ArgumentError(call.operation(), fmt::format("{} is a tensor; give a number", what));
}

double finite(const Call& call, const Operand& x, std::string_view what) {
  check_number(call, x, what);
  if (Access::is_symbolic(x)) return static_cast<double>(Access::size(x, call.operation()).value());
  const double value = Access::value(x);
  if (!std::isfinite(value)) {
    throw ArgumentError(call.operation(), fmt::format("{} is {}; give a finite number", what, Access::text(x)));
  }
  return value;
}

std::int64_t whole(const Call& call, const Operand& x) { return Access::number(x, DType::int64, call.operation()).i; }

/// first, first + step, ... : `count` numbers.
Tensor progression(const Call& call, SymInt first, std::int64_t step, SymInt count) {
  const Device device = default_device();
  NodePtr x = graph::iota({count}, device, call.origin());
  if (step != 1) x = call.binary(Op::Mul, std::move(x), SymInt(step));
  if (first.is_symbolic() || first != 0) x = call.binary(Op::Add, std::move(x), first);
  return Access::tensor(std::move(x));
}

void check_step(bool leads) {
  if (!leads) throw ArgumentError("arange", "step is 0; give a step that leads from start to stop");
}

Tensor float_range(const Call& call, const Operand& start, const Operand& stop, const Operand& step,
                   DType dtype = DType::float32) {
  const double first = finite(call, start, "start");
  const double last = finite(call, stop, "stop");
  const double by = finite(call, step, "step");
  check_step(by != 0);
  const double steps = std::ceil((last - first) / by);
  if (!(steps < 0x1p63)) throw OverflowError("arange", fmt::format("{} to {} passes 2^63-1 elements", first, last));
  const Shape shape{static_cast<std::int64_t>(steps > 0 ? steps : 0)};
  const Device device = default_device();
  if (is_integer(dtype)) {
    // As NumPy: the first two numbers are cast, and their difference is the step of all.
    const auto cast = [&](double x) { return static_cast<std::uint64_t>(Scalar::of_float(dtype, x).i); };
    const std::uint64_t from = cast(first), apart = cast(first + by) - from;
    const Tensor numbers =
        progression(call, static_cast<std::int64_t>(from), static_cast<std::int64_t>(apart), shape[0]);
    return Access::tensor(call.cast(Access::node(numbers), dtype));
  }
  // start + i * step in float64, rounded once.
  NodePtr x = call.cast(graph::iota(shape, device, call.origin()), DType::float64);
  x = call.binary(Op::Add, call.binary(Op::Mul, std::move(x), by), first);
  return Access::tensor(call.cast(std::move(x), dtype));
}

}  // namespace

Tensor full(const Shape& shape, const Operand& value) {
  return filled(Call("full", value), shape, value, Access::default_dtype(value));
}
Tensor full(const Shape& shape, const Operand& value, DType dtype) {
  return filled(Call("full", value), shape, value, dtype);
}
Tensor scalar(const Operand& value) { return filled(Call("scalar", value), {}, value, Access::default_dtype(value)); }
Tensor scalar(const Operand& value, DType dtype) { return filled(Call("scalar", value), {}, value, dtype); }

Tensor zeros(const Shape& shape, DType dtype, Site site) {
  return filled(Call("zeros", site), shape, Operand(false, site), dtype);
}
Tensor ones(const Shape& shape, DType dtype, Site site) {
  return filled(Call("ones", site), shape, Operand(true, site), dtype);
}

Tensor empty(const Shape& shape, DType dtype, Site site) {
  return filled(Call("empty", site), shape, Operand(false, site), dtype);
}

Tensor empty_strided(const Shape& shape, const Ints& strides, DType dtype, Site site) {
  const Call call("empty_strided", site);
  for (const SymInt extent : shape) {
    if (extent < 0)
      throw ShapeError("empty_strided", fmt::format("{} has a negative extent; extents are >= 0", to_string(shape)));
  }
  for (const SymInt stride : strides) {
    if (stride < 0)
      throw ShapeError("empty_strided",
                       fmt::format("strides {} hold a negative one; strides are >= 0", to_string(strides)));
  }
  if (shape.size() != strides.size()) {
    throw ShapeError("empty_strided", fmt::format("{} has {} axes, but {} strides were given; give one per axis",
                                                  to_string(shape), shape.size(), strides.size()));
  }
  const Layout layout{shape, strides};
  if (numel(shape, "empty_strided") == 0 || layout.is_non_overlapping_and_dense()) {
    NodePtr node = call.node(Operand(false, site), dtype, shape, default_device());
    return Access::tensor(graph::format(std::move(node), strides, call.origin()));
  }
  // Strides with gaps or repeats: a view of a dense storage.
  const Tensor storage = filled(call, {layout.span()}, Operand(false, site), dtype);
  return as_strided(Operand(storage, site), View::make(shape, strides));
}

Tensor arange(const Operand& stop) { return arange(Operand(0, Access::site(stop)), stop, 1); }

Tensor arange(const Operand& start, const Operand& stop, const Operand& step) {
  const Call call("arange", start);
  if (api::common_dtype({&start, &stop, &step}) == DType::float32) return float_range(call, start, stop, step);
  check_number(call, start, "start");
  check_number(call, stop, "stop");
  check_number(call, step, "step");
  const SymInt from = Access::size(start, call.operation());
  const SymInt to = Access::size(stop, call.operation());
  const std::int64_t by = whole(call, step);
  check_step(by != 0);
  if (from.is_symbolic() || to.is_symbolic()) {
    const SymInt distance = by > 0 ? to - from : from - to;
    const SymInt length = by > 0 ? SymInt(by) : -SymInt(by);
    return progression(call, from, by, sym_max(0, (distance + length - 1) / length));
  }
  // In 128 bits the distance cannot overflow. A count that does not fit 64 bits is refused.
  __extension__ using Wide = __int128;
  const Wide distance = static_cast<Wide>(to.value()) - from.value();
  const Wide steps = by > 0 ? (distance + by - 1) / by : (distance + by + 1) / by;
  if (steps > INT64_MAX)
    throw OverflowError("arange", fmt::format("{} to {} passes 2^63-1 elements", from.value(), to.value()));
  return progression(call, from, by, static_cast<std::int64_t>(steps > 0 ? steps : 0));
}

Tensor arange(const Operand& stop, DType dtype) { return arange(Operand(0, Access::site(stop)), stop, 1, dtype); }

Tensor arange(const Operand& start, const Operand& stop, const Operand& step, DType dtype) {
  const Call call("arange", start);
  if (api::common_dtype({&start, &stop, &step}) == DType::float32) return float_range(call, start, stop, step, dtype);
  const Tensor whole_numbers = arange(start, stop, step);
  return Access::tensor(call.cast(Access::node(whole_numbers), dtype));
}

namespace {

/// linspace between the elements of tensors.
Tensor between(const Call& call, const Operand& start, const Operand& stop, SymInt count, DType dtype) {
  const Tensor* const given = Access::tensor(start) != nullptr ? Access::tensor(start) : Access::tensor(stop);
  if (dtype == DType::bool_) throw DTypeError("linspace", "takes integers and floats, not bool");
  if (!sym::state_size(count, "linspace") && count < 0)
    throw ArgumentError("linspace", fmt::format("count is {}; give a number >= 0", to_string(count)));
  const Device device = given->device();
  const NodePtr first = call.node(start, DType::float64, {}, device);
  const NodePtr last = call.node(stop, DType::float64, {}, device);
  Shape shape = graph::broadcast_shapes(first->shape, last->shape, call.origin());
  Shape along(shape.size() + 1, SymInt(1));
  along[0] = count;
  const Tensor places = Access::tensor(call.reshape(graph::iota({count}, device, call.origin()), along));
  // Ends whose difference passes the range are halved on the way.
  const Tensor ends[] = {Access::tensor(first), Access::tensor(last)};
  const Tensor scale = where(isfinite(ends[1] - ends[0]), scalar(1, DType::float64), 0.5);
  const Tensor from = ends[0] * scale, to = ends[1] * scale;
  const Tensor step = (to - from) / sym_max(count - 1, 1);
  const Tensor place = places.to(DType::float64);
  const Tensor up = from + place * step, down = to - (sym_max(count - 1, 0) - place) * step;
  const Tensor line = where(places < sym_max(count / 2, 1), up, down) / scale;
  return where(ends[0] == ends[1], ends[0], line).to(dtype);
}

}  // namespace

Tensor linspace(const Operand& start, const Operand& stop, SymInt count, DType dtype, Endpoint endpoint) {
  if (endpoint == Endpoint::included) return linspace(start, stop, count, dtype);
  const Call call("linspace", start);
  if (!sym::state_size(count, "linspace") && count < 0)
    throw ArgumentError("linspace", fmt::format("count is {}; give a number >= 0", to_string(count)));
  if (!count.is_symbolic() && count == std::numeric_limits<std::int64_t>::max())
    throw OverflowError("linspace", fmt::format("{} numbers and the end pass 2^63-1 elements", to_string(count)));
  const Tensor all = linspace(start, stop, count + 1, dtype);
  Ranges ranges = api::whole(all.shape());
  ranges[0] = {0, count};
  return Access::tensor(call.shrink(Access::node(all), ranges));
}

Tensor linspace(const Operand& start, const Operand& stop, SymInt count, DType dtype) {
  const Call call("linspace", start);
  if (Access::tensor(start) != nullptr || Access::tensor(stop) != nullptr)
    return between(call, start, stop, count, dtype);
  const double first = finite(call, start, "start");
  const double last = finite(call, stop, "stop");
  if (!sym::state_size(count, "linspace") && count < 0)
    throw ArgumentError("linspace", fmt::format("count is {}; give a number >= 0", to_string(count)));
  if (dtype == DType::bool_) throw DTypeError("linspace", "takes integers and floats, not bool");
  if (!std::isfinite(last - first)) {
    throw ArgumentError("linspace", fmt::format("{} and {} are further apart than float64 reaches", first, last));
  }
  const Shape shape{count};
  const Device device = default_device();
  // The first half counts from the start and the second half from the stop, so that both ends are exact.
  const NodePtr i = graph::iota(shape, device, call.origin());
  const auto size = [&](DType of, SymInt n) { return graph::size_constant(n, of, shape, device, call.origin()); };
  const auto position = [&](SymInt n) { return size(DType::int64, n); };
  NodePtr step = graph::constant(Scalar::of_float(DType::float64, last - first), shape, device, call.origin());
  // A plain count gives a plain step, a symbolic one a division of the same bits.
  if (count.is_symbolic())
    step = call.binary(Op::Div, std::move(step), size(DType::float64, sym_max(count - 1, 1)));
  else if (count > 1)
    step = call.like(step, (last - first) / static_cast<double>(count.value() - 1));
  NodePtr up = call.binary(Op::Mul, call.cast(i, DType::float64), step);
  NodePtr down = call.binary(Op::Mul, call.cast(call.binary(Op::Sub, position(count - 1), i), DType::float64), step);
  NodePtr from_start = call.binary(Op::Add, std::move(up), first);
  NodePtr from_stop = call.binary(Op::Sub, call.like(down, last), down);
  NodePtr near_start = call.binary(Op::Lt, i, position(sym_max(count / 2, 1)));
  return Access::tensor(
      call.cast(call.where(std::move(near_start), std::move(from_start), std::move(from_stop)), dtype));
}

Tensor iota(const Shape& shape, Site site) {
  const Call call("iota", site);
  return Access::tensor(graph::iota(shape, default_device(), call.origin()));
}

Tensor eye(SymInt rows, SymInt columns, std::int64_t diagonal, DType dtype, Site site) {
  const Call call("eye", site);
  if (rows < 0) throw ShapeError("eye", fmt::format("{} rows; give a number >= 0", to_string(rows)));
  if (columns < 0) columns = rows;
  const Device device = default_device();
  NodePtr row = graph::iota({rows, 1}, device, call.origin());
  const NodePtr column = graph::iota({1, columns}, device, call.origin());
  row = call.binary(Op::Add, row,
                    graph::constant(Scalar::of_int(DType::int64, diagonal), row->shape, device, call.origin()));
  return Access::tensor(call.cast(call.binary(Op::Eq, std::move(row), column), dtype));
}

}  // namespace oriel
