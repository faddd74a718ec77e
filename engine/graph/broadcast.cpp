// Helpers for callers of the builders: common shapes and axes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/build.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

Shape broadcast_shapes(const Shape& a, const Shape& b, const Origin& origin) {
  Shape out = a;
  if (known_same(a, b)) return out;
  const std::size_t rank = std::max(a.size(), b.size());
  out.resize(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const SymInt n = k <= a.size() ? a[a.size() - k] : SymInt(1);
    const SymInt m = k <= b.size() ? b[b.size() - k] : SymInt(1);
    const std::string_view name = origin.operation.empty() ? "broadcast" : origin.operation;
    const std::optional<SymInt> extent = sym::broadcast(n, m, name);
    if (!extent) {
      throw ShapeError(std::string(name),
                       fmt::format("{} and {} do not broadcast: axis -{} is {} and {}; extents must agree or be 1",
                                   to_string(a), to_string(b), k, to_string(n), to_string(m)));
    }
    out[rank - k] = *extent;
  }
  return out;
}

NodePtr broadcast_to(NodePtr x, const Shape& shape, const Origin& origin) {
  if (known_same(x->shape, shape)) return x;
  const Shape& from = x->shape;
  const std::string_view name = origin.operation.empty() ? "broadcast_to" : origin.operation;
  bool fits = from.size() <= shape.size();
  for (std::size_t k = 1; fits && k <= from.size(); ++k) {
    fits = sym::grows_to(from[from.size() - k], shape[shape.size() - k], name);
  }
  if (!fits) {
    throw ShapeError(std::string(name),
                     fmt::format("{} does not broadcast to {}; extents, counted from the last, must agree or be 1",
                                 to_string(from), to_string(shape)));
  }
  if (from.size() < shape.size()) {
    Shape padded(shape.size(), 1);
    std::copy(from.begin(), from.end(), padded.end() - static_cast<std::ptrdiff_t>(from.size()));
    x = reshape(std::move(x), padded, origin);
  }
  return expand(std::move(x), shape, origin);
}

std::size_t normal_axis(SymInt axis, std::size_t rank, const Origin& origin) {
  const SymInt from_start = axis < 0 ? axis + rank : axis;
  if (from_start >= 0 && from_start < rank) return static_cast<std::size_t>(from_start.value());
  const std::string name(origin.operation.empty() ? "axis" : origin.operation);
  if (rank == 0) {
    throw ShapeError(
        name, fmt::format("axis {} of a tensor without axes; reshape it to (1) first, which has axis 0", axis.value()));
  }
  throw ShapeError(name, fmt::format("axis {} of a tensor with {} {}; give one of {} to {}", axis.value(), rank,
                                     rank == 1 ? "axis" : "axes", -static_cast<std::int64_t>(rank), rank - 1));
}

Ints normal_axes(const Ints& axes, std::size_t rank, const Origin& origin) {
  Ints out(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) out[k] = static_cast<std::int64_t>(normal_axis(axes[k], rank, origin));
  std::sort(out.begin(), out.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
  for (std::size_t k = 1; k < out.size(); ++k) {
    if (out[k] == out[k - 1]) {
      throw ShapeError(std::string(origin.operation.empty() ? "axes" : origin.operation),
                       fmt::format("axes {} name axis {} twice; name each once", to_string(axes), out[k].value()));
    }
  }
  return out;
}

}  // namespace oriel::graph
