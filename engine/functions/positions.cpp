// Tensors that arithmetic on positions describes: diagonals, one-hot rows, grids and indices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formula/position_check.hpp"
#include "formula/room.hpp"
#include "formula/value.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "oriel/shaping.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using graph::NodePtr;

namespace {

/// The rows of the last axis of v on a diagonal of matrices along the last two axes.
Value on_diagonal(const Value& v, std::int64_t offset) {
  const Call& call = v.call();
  const std::size_t d = v.shape().size() - 1;
  offset = std::max(offset, -std::numeric_limits<std::int64_t>::max());  // its opposite is a number too
  const std::int64_t down = std::max<std::int64_t>(-offset, 0), right = std::max<std::int64_t>(offset, 0);
  Ranges around(d + 1, Range{0, 0});
  around[d] = {down, right};  // element p lies in row p + down
  const Value rows(call, graph::pad(v.node(), around, call.origin()));
  Shape shape = rows.shape();
  const SymInt n = shape[d];
  shape.push_back(1);
  const Value column = rows.reshape(shape);
  shape[d + 1] = n;
  const Value i = api::positions(call, shape, d, v.device()), j = api::positions(call, shape, d + 1, v.device());
  return where(i.binary(Op::Add, SymInt(offset)) == j, column, 0);
}

void check_lists(const Call& call, std::span<const Tensor> tensors) {
  if (tensors.empty()) throw ArgumentError(call.operation(), "no tensors came; give at least one");
}

std::vector<Tensor> grids(const Call& call, std::span<const Tensor> tensors, bool exchanged, Site site) {
  check_lists(call, tensors);
  const std::size_t rank = tensors.size();
  const auto axis_of = [&](std::size_t k) { return exchanged && rank >= 2 && k < 2 ? 1 - k : k; };
  Shape shape(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    if (tensors[k].rank() > 1) {
      throw ShapeError(call.operation(),
                       fmt::format("tensor {} has shape {}; give vectors", k, to_string(tensors[k].shape())));
    }
    shape[axis_of(k)] = tensors[k].numel();
  }
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < rank; ++k) {
    Shape aligned(rank, SymInt(1));
    aligned[axis_of(k)] = shape[axis_of(k)];
    out.push_back(call.view(Operand(tensors[k], site), [=](NodePtr node) {
      return call.broadcast(call.reshape(std::move(node), aligned), shape);
    }));
  }
  return out;
}

__extension__ using Wide = __int128;

/// How many elements (i, j) of a matrix have j - i <= offset.
Wide lower_count(Wide rows, Wide columns, Wide offset) {
  const Wide first = std::max<Wide>(0, -offset);  // row `first + k` has `some + k` of them, up to all
  const Wide left = rows - first, some = first + offset + 1;
  if (left <= 0 || columns == 0) return 0;
  const Wide growing = std::clamp<Wide>(columns - some, 0, left);
  return growing * some + growing * (growing - 1) / 2 + (left - growing) * columns;
}

/// Rows and columns of a triangle, in row-major order.
Tensor triangle_indices(const char* name, std::int64_t rows, std::int64_t columns, std::int64_t offset, bool upper,
                        Site site) {
  const Call call(name, site);
  if (rows < 0 || columns < 0)
    throw ShapeError(name, fmt::format("{} rows and {} columns; give numbers >= 0", rows, columns));
  offset = std::clamp(offset, -rows, columns);
  const Wide all = static_cast<Wide>(rows) * columns;
  const Wide elements = upper ? all - lower_count(rows, columns, Wide(offset) - 1) : lower_count(rows, columns, offset);
  if (2 * elements > std::numeric_limits<std::int64_t>::max())
    throw OverflowError(name, fmt::format("the positions of a triangle of {} x {} pass 2^63-1", rows, columns));
  const auto count = static_cast<std::int64_t>(elements);
  return api::with_room(call, count, 2 * sizeof(std::int64_t), "positions", [&] {
    std::vector<std::int64_t> list(static_cast<std::size_t>(2 * count));
    std::size_t at = 0;
    // Of the lower triangle the rows that come before have no elements.
    for (std::int64_t row = upper ? 0 : std::max<std::int64_t>(-offset, 0); at < static_cast<std::size_t>(count);
         ++row) {
      const std::int64_t lo = upper ? std::max<std::int64_t>(row + offset, 0) : 0;
      const std::int64_t hi = upper || columns - row - 1 <= offset ? columns : row + offset + 1;
      for (std::int64_t column = lo; column < hi; ++column, ++at) {
        list[at] = row;
        list[at + static_cast<std::size_t>(count)] = column;
      }
    }
    return Access::of_numbers(Tensor::from(list, {2, count}, site));
  });
}

}  // namespace

Tensor diag(const Operand& x, std::int64_t offset) {
  const Call call("diag", x);
  const NodePtr node = call.node(x);
  if (node->shape.size() == 2) return diagonal(x, offset);
  if (node->shape.size() != 1) {
    throw ShapeError(
        "diag", fmt::format("{} has {} axes; give a vector or a matrix", to_string(node->shape), node->shape.size()));
  }
  return on_diagonal(Value(call, node), offset).tensor();
}

Tensor diag_embed(const Operand& x, std::int64_t offset, std::int64_t a, std::int64_t b) {
  const Call call("diag_embed", x);
  const NodePtr node = call.node(x);
  const std::size_t rank = node->shape.size() + 1;
  if (rank < 2) throw ShapeError("diag_embed", "() has no axis to put on a diagonal");
  const std::size_t row = call.axis(a, rank), column = call.axis(b, rank);
  if (row == column) throw ShapeError("diag_embed", fmt::format("axes {} and {} are the same; name two", a, b));
  Ints order(rank);
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) order[d] = d == row ? rank - 2 : d == column ? rank - 1 : next++;
  return on_diagonal(Value(call, node), offset).permute(order).tensor();
}

Tensor block_diag(ListOf<Tensor> tensors, Site site) {
  const Call call("block_diag", site);
  check_lists(call, tensors);
  DType dtype = tensors[0].dtype();
  SymInt columns = 0;
  std::vector<Tensor> blocks;
  for (const Tensor& t : tensors) {
    if (t.rank() > 2)
      throw ShapeError("block_diag", fmt::format("{} has {} axes; give matrices", to_string(t.shape()), t.rank()));
    dtype = promote(dtype, t.dtype());
    blocks.push_back(atleast_2d(Operand(t, site)));
    columns += blocks.back().size(1);
  }
  SymInt before = 0;
  for (Tensor& t : blocks) {
    const SymInt width = t.size(1);
    t = pad(Operand(t.to(dtype, site), site), {{0, 0}, {before, columns - before - width}});
    before += width;
  }
  return concat(blocks, 0, site);
}

Tensor trace(const Operand& x, std::int64_t offset) {
  const Call call("trace", x);
  const Tensor line = api::renamed(call, [&] { return diagonal(x, offset); });
  return sum(Operand(line, Access::site(x)), -1);
}

Tensor one_hot(const Operand& x, SymInt classes, DType dtype, Bounds bounds) {
  const Call call("one_hot", x);
  const NodePtr node = call.node(x);
  api::check_integers(call, node->dtype);
  if (!classes.is_symbolic() && classes < 0)
    throw ArgumentError("one_hot", fmt::format("classes is {}; give a number >= 0", to_string(classes)));
  Shape shape = node->shape;
  const api::IndexedAxis axis{classes, shape.size(), false};
  bounds = api::checked_now(call, node, axis, bounds);
  shape.push_back(1);
  // Of uint64 the numbers above the largest int64 become negative: no class either.
  const Value at = Value(call, node).to(DType::int64).reshape(shape);
  shape.back() = classes;
  const Value hot = at == api::positions(call, shape, shape.size() - 1, node->device);
  return Value(call, api::and_checked(call, hot.node(), node, axis, bounds)).to(dtype).tensor();
}

std::vector<Tensor> meshgrid(ListOf<Tensor> tensors, Indexing indexing, Site site) {
  return grids(Call("meshgrid", site), tensors, indexing == Indexing::xy, site);
}

Tensor cartesian_product(ListOf<Tensor> tensors, Site site) {
  const Call call("cartesian_product", site);
  std::vector<Tensor> all = grids(call, tensors, false, site);
  if (tensors.size() == 1) return tensors[0];
  for (Tensor& t : all) t = t.reshape({t.numel()}, site);
  return stack(all, 1, site);
}

Tensor indices(const Shape& shape, Site site) {
  const Call call("indices", site);
  Shape whole = shape;
  whole.insert(whole.begin(), SymInt(shape.size()));
  // Each plane chooses among the axes by its own position.
  const Value plane = api::positions(call, whole, 0, default_device());
  Value out = plane.like(0).broadcast(whole);
  for (std::size_t d = 0; d < shape.size(); ++d)
    out = where(plane == static_cast<double>(d), api::positions(call, whole, d + 1, default_device()), out);
  return out.tensor();
}

std::vector<Tensor> unravel_index(const Operand& x, const Shape& shape) {
  const Call call("unravel_index", x);
  const NodePtr node = call.node(x);
  api::check_integers(call, node->dtype);
  const SymInt count = numel(shape, "unravel_index");
  Value rest = Value(call, node).to(DType::int64);
  rest = where(rest < 0, rest.binary(Op::Add, count), rest);
  std::vector<Tensor> out(shape.size());
  for (std::size_t d = shape.size(); d-- > 1;) {
    out[d] = rest.binary(Op::Remainder, shape[d]).tensor();
    rest = rest.binary(Op::FloorDiv, shape[d]);
  }
  if (!shape.empty()) out[0] = rest.tensor();
  return out;
}

Tensor ravel_index(ListOf<Tensor> coordinates, const Shape& shape, Site site) {
  const Call call("ravel_index", site);
  if (coordinates.size() != shape.size()) {
    throw ShapeError("ravel_index", fmt::format("{} tensors for the {} axes of {}; give one for each",
                                                coordinates.size(), shape.size(), to_string(shape)));
  }
  Value out(call, graph::constant(graph::Scalar::of_int(DType::int64, 0), {}, default_device(), call.origin()));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    api::check_integers(call, coordinates[d].dtype());
    const Value at(call, call.cast(Access::node(coordinates[d]), DType::int64));
    out = d == 0 ? at : out.binary(Op::Mul, shape[d]) + at;
  }
  return out.tensor();
}

Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset, Site site) {
  return triangle_indices("tril_indices", rows, columns, offset, false, site);
}
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset, Site site) {
  return triangle_indices("triu_indices", rows, columns, offset, true, site);
}

Tensor logspace(const Operand& start, const Operand& stop, SymInt count, double base, DType dtype) {
  const Call call("logspace", start);
  const Tensor exponent = api::renamed(call, [&] { return linspace(start, stop, count, DType::float64); });
  const Value v(call, Access::node(exponent));
  return v.like(base).binary(Op::Pow, v).to(dtype).tensor();
}

Tensor geomspace(double start, double stop, SymInt count, DType dtype, Site site) {
  const Call call("geomspace", site);
  if (start == 0 || stop == 0 || (start < 0) != (stop < 0)) {
    throw ArgumentError(
        "geomspace",
        fmt::format("{} and {} have no constant quotient; give two numbers of one sign, not 0", start, stop));
  }
  const double sign = start < 0 ? -1 : 1;
  const Tensor exponent = api::renamed(call, [&] {
    return linspace(Operand(std::log10(start * sign), site), Operand(std::log10(stop * sign), site), count,
                    DType::float64);
  });
  const Value v(call, Access::node(exponent));
  Value out = v.like(10).binary(Op::Pow, v) * sign;
  // Logarithms are rounded, so the ends are put in.
  const Value i = api::positions(call, v.shape(), 0, v.device());
  out = where(i.binary(Op::Eq, count - 1), stop, out);
  return where(i == 0, start, out).to(dtype).tensor();
}

}  // namespace oriel
