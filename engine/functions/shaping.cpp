// Movements under the names that NumPy and PyTorch give them; views, as in movement.cpp.
#include "oriel/shaping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formula/room.hpp"
#include "formula/value.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "sym/decide.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace {

Tensor piece(const Call& call, const Operand& x, std::size_t axis, SymInt lo, SymInt hi) {
  return call.view(x, [=](NodePtr node) {
    Ranges ranges = api::whole(node->shape);
    ranges[axis] = {lo, hi};
    return call.shrink(std::move(node), ranges);
  });
}

std::vector<Tensor> pieces(const Call& call, const Operand& x, std::size_t axis, SymInt extent, SymInt size) {
  const auto number = [](SymInt of) { return of.is_symbolic() ? sym::hint(of).value_or(1) : of.value(); };
  const std::int64_t n = number(extent), each = std::max<std::int64_t>(number(size), 1);
  return api::with_room(call, n / each + (n % each != 0 ? 1 : 0), api::kPieceBytes, "pieces", [&] {
    std::vector<Tensor> out;
    SymInt lo = 0;
    do {
      const bool last = extent - lo <= size;
      const SymInt hi = last ? extent : lo + size;
      out.push_back(piece(call, x, axis, lo, hi));
      if (last) break;
      lo = hi;
    } while (true);
    return out;
  });
}

Ints counted(std::size_t rank) {
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  return order;
}

Tensor flipped(const char* name, const Operand& x, std::size_t axis) {
  const Call call(name, x);
  return call.view(x, [=](NodePtr node) {
    if (node->shape.size() <= axis) {
      throw ShapeError(
          name, fmt::format("{} has fewer than {} {}", to_string(node->shape), axis + 1, axis == 0 ? "axis" : "axes"));
    }
    return graph::flip(std::move(node), {axis}, call.origin());
  });
}

Tensor at_least(const char* name, const Operand& x, std::size_t axes) {
  const Call call(name, x);
  return call.view(x, [=](NodePtr node) {
    Shape shape = node->shape;
    if (shape.size() >= axes) return node;
    if (axes == 3 && shape.size() == 2) {
      shape.push_back(1);
    } else {
      while (shape.size() < axes) shape.insert(shape.begin(), SymInt(1));
      if (axes == 3 && node->shape.size() == 1) std::swap(shape[1], shape[2]);
    }
    return call.reshape(std::move(node), shape);
  });
}

template <class F>
std::vector<Tensor> each(std::span<const Tensor> tensors, F&& f) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

void check_some(const Call& call, std::span<const Tensor> tensors) {
  if (tensors.empty()) throw ArgumentError(call.operation(), "no tensors came; give at least one");
}

}  // namespace

std::vector<Tensor> split(const Operand& x, SymInt size, std::int64_t axis) {
  const Call call("split", x);
  const Shape shape = call.node(x)->shape;
  const std::size_t d = call.axis(axis, shape.size());
  if (size < 1) throw ArgumentError("split", fmt::format("size is {}; give a number >= 1", to_string(size)));
  return pieces(call, x, d, shape[d], size);
}

std::vector<Tensor> split_with_sizes(const Operand& x, const Ints& sizes, std::int64_t axis) {
  const Call call("split_with_sizes", x);
  const Shape shape = call.node(x)->shape;
  const std::size_t d = call.axis(axis, shape.size());
  SymInt total = 0;
  for (const SymInt size : sizes) {
    if (!sym::state_size(size) && size < 0)
      throw ShapeError("split_with_sizes", fmt::format("sizes {} hold a negative one", to_string(sizes)));
    try {
      total += size;
    } catch (const OverflowError&) {
      throw OverflowError("split_with_sizes", fmt::format("sizes {} pass 2^63-1 in sum", to_string(sizes)));
    }
  }
  if (total != shape[d]) {
    throw ShapeError("split_with_sizes",
                     fmt::format("sizes {} add up to {}, but axis {} of {} has extent {}", to_string(sizes),
                                 to_string(total), d, to_string(shape), to_string(shape[d])));
  }
  std::vector<Tensor> out;
  SymInt lo = 0;
  for (const SymInt size : sizes) {
    out.push_back(piece(call, x, d, lo, lo + size));
    lo += size;
  }
  return out;
}

std::vector<Tensor> chunk(const Operand& x, std::int64_t count, std::int64_t axis) {
  const Call call("chunk", x);
  const Shape shape = call.node(x)->shape;
  const std::size_t d = call.axis(axis, shape.size());
  if (count < 1) throw ArgumentError("chunk", fmt::format("count is {}; give a number >= 1", count));
  // As PyTorch: an empty axis gives `count` empty pieces.
  if (shape[d] == 0) {
    return api::with_room(call, count, sizeof(Tensor), "pieces", [&] {
      return std::vector<Tensor>(static_cast<std::size_t>(count), piece(call, x, d, 0, 0));
    });
  }
  // More pieces than elements are one for each element.
  if (!shape[d].is_symbolic()) count = std::min(count, shape[d].value());
  return pieces(call, x, d, shape[d], (shape[d] - 1) / count + 1);
}

Tensor tile(const Operand& x, const Ints& counts) {
  const Call call("tile", x);
  Shape shape = call.node(x)->shape;
  Ints all = counts;
  while (all.size() < shape.size()) all.insert(all.begin(), SymInt(1));
  while (shape.size() < all.size()) shape.insert(shape.begin(), SymInt(1));
  const Tensor aligned = Access::tensor(call.reshape(call.node(x), shape));
  return api::renamed(call, [&] { return repeat(Operand(aligned, Access::site(x)), all); });
}

namespace {

Tensor interleaved(const Call& call, NodePtr node, std::size_t d, SymInt count) {
  if (!sym::state_size(count) && count < 0)
    throw ShapeError("repeat_interleave", fmt::format("count is {}; give a number >= 0", to_string(count)));
  const auto behind = static_cast<std::ptrdiff_t>(d) + 1;
  Shape apart = node->shape;
  apart.insert(apart.begin() + behind, SymInt(1));
  Shape grown = apart;
  grown[d + 1] = count;
  Shape joined = node->shape;
  try {
    joined[d] *= count;
  } catch (const OverflowError&) {
    throw OverflowError("repeat_interleave", fmt::format("{} times axis {} of {} passes 2^63-1", to_string(count), d,
                                                         to_string(node->shape)));
  }
  node = graph::expand(call.reshape(std::move(node), apart), grown, call.origin());
  return Access::tensor(call.reshape(std::move(node), joined));
}

}  // namespace

Tensor repeat_interleave(const Operand& x, SymInt count) {
  const Call call("repeat_interleave", x);
  NodePtr node = call.node(x);
  const SymInt n = numel(node->shape);
  return interleaved(call, call.reshape(std::move(node), {n}), 0, count);
}

Tensor repeat_interleave(const Operand& x, SymInt count, std::int64_t axis) {
  const Call call("repeat_interleave", x);
  NodePtr node = call.node(x);
  const std::size_t d = call.axis(axis, node->shape.size());
  return interleaved(call, std::move(node), d, count);
}

Tensor swapaxes(const Operand& x, std::int64_t a, std::int64_t b) {
  const Call call("swapaxes", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t rank = node->shape.size();
    Ints order = counted(rank);
    std::swap(order[call.axis(a, rank)], order[call.axis(b, rank)]);
    return call.permute(std::move(node), order);
  });
}

Tensor movedim(const Operand& x, const Ints& from, const Ints& to) {
  const Call call("movedim", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t rank = node->shape.size();
    if (from.size() != to.size()) {
      throw ShapeError("movedim", fmt::format("{} axes to {} positions; give one for each", from.size(), to.size()));
    }
    graph::normal_axes(from, rank, call.origin());  // throws for an axis named twice
    graph::normal_axes(to, rank, call.origin());
    std::vector<std::optional<std::size_t>> order(rank);
    std::vector<bool> moved(rank, false);
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::size_t axis = call.axis(from[k], rank);
      order[call.axis(to[k], rank)] = axis;
      moved[axis] = true;
    }
    Ints full(rank);
    std::size_t next = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      if (order[d]) {
        full[d] = *order[d];
        continue;
      }
      while (moved[next]) ++next;
      full[d] = next++;
    }
    return call.permute(std::move(node), full);
  });
}

Tensor flatten(const Operand& x, std::int64_t first, std::int64_t last) {
  const Call call("flatten", x);
  return call.view(x, [=](NodePtr node) {
    const Shape shape = node->shape;
    if (shape.empty()) {
      (void)call.axis(first, 1);
      (void)call.axis(last, 1);
      return call.reshape(std::move(node), {1});
    }
    const std::size_t lo = call.axis(first, shape.size()), hi = call.axis(last, shape.size());
    if (lo > hi) {
      throw ShapeError("flatten", fmt::format("axis {} of {} lies behind axis {}; name the first one first", lo,
                                              to_string(shape), hi));
    }
    Shape joined;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d > lo && d <= hi)
        joined.back() *= shape[d];
      else
        joined.push_back(shape[d]);
    }
    return call.reshape(std::move(node), joined);
  });
}

Tensor unflatten(const Operand& x, std::int64_t axis, const Shape& shape) {
  const Call call("unflatten", x);
  if (shape.empty())
    throw ShapeError("unflatten", "no extents to split an axis in; give one at least, or drop the axis with squeeze");
  return call.view(x, [=](NodePtr node) {
    const std::size_t d = call.axis(axis, node->shape.size());
    const SymInt extent = node->shape[d];
    Shape inner = shape;
    const auto [open, refusal] = detail::open_extent(shape);
    SymInt known = 1;
    for (std::size_t k = 0; k < inner.size(); ++k)
      if (k != open) known *= inner[k];
    const bool wrong = refusal || (open ? known == 0 || extent % known != 0 : bool(known != extent));
    if (open && !wrong) inner[*open] = extent / known;
    if (wrong) {
      throw ShapeError("unflatten", fmt::format("axis {} of {} has extent {}, which {} does not split", d,
                                                to_string(node->shape), to_string(extent), to_string(shape)));
    }
    Shape whole;
    for (std::size_t k = 0; k < node->shape.size(); ++k) {
      if (k != d)
        whole.push_back(node->shape[k]);
      else
        for (const SymInt n : inner) whole.push_back(n);
    }
    return call.reshape(std::move(node), whole);
  });
}

Tensor fliplr(const Operand& x) { return flipped("fliplr", x, 1); }
Tensor flipud(const Operand& x) { return flipped("flipud", x, 0); }

Tensor rot90(const Operand& x, std::int64_t quarters, std::int64_t first, std::int64_t second) {
  const Call call("rot90", x);
  return call.view(x, [=](NodePtr node) {
    const std::size_t rank = node->shape.size();
    const std::size_t a = call.axis(first, rank), b = call.axis(second, rank);
    if (a == b) {
      throw ShapeError(
          "rot90", fmt::format("axes {} and {} of {} are the same; name two", first, second, to_string(node->shape)));
    }
    const std::int64_t turns = ((quarters % 4) + 4) % 4;
    if (turns == 2) return graph::flip(std::move(node), {std::min(a, b), std::max(a, b)}, call.origin());
    if (turns == 0) return node;
    Ints order = counted(rank);
    std::swap(order[a], order[b]);
    node = graph::flip(std::move(node), {turns == 1 ? b : a}, call.origin());
    return call.permute(std::move(node), order);
  });
}

Tensor atleast_1d(const Operand& x) { return at_least("atleast_1d", x, 1); }
Tensor atleast_2d(const Operand& x) { return at_least("atleast_2d", x, 2); }
Tensor atleast_3d(const Operand& x) { return at_least("atleast_3d", x, 3); }

std::vector<Tensor> broadcast_tensors(ListOf<Tensor> tensors, Site site) {
  const Call call("broadcast_tensors", site);
  Shape common;
  for (const Tensor& t : tensors) common = graph::broadcast_shapes(common, t.shape(), call.origin());
  return each(tensors, [&](const Tensor& t) { return broadcast_to(Operand(t, site), common); });
}

Tensor hstack(ListOf<Tensor> tensors, Site site) {
  const Call call("hstack", site);
  check_some(call, tensors);
  const auto lifted = each(tensors, [&](const Tensor& t) { return at_least("hstack", Operand(t, site), 1); });
  return api::renamed(call, [&] { return concat(lifted, lifted[0].rank() == 1 ? 0 : 1, site); });
}

Tensor vstack(ListOf<Tensor> tensors, Site site) {
  const Call call("vstack", site);
  check_some(call, tensors);
  const auto lifted = each(tensors, [&](const Tensor& t) { return at_least("vstack", Operand(t, site), 2); });
  return api::renamed(call, [&] { return concat(lifted, 0, site); });
}

Tensor dstack(ListOf<Tensor> tensors, Site site) {
  const Call call("dstack", site);
  check_some(call, tensors);
  const auto lifted = each(tensors, [&](const Tensor& t) { return at_least("dstack", Operand(t, site), 3); });
  return api::renamed(call, [&] { return concat(lifted, 2, site); });
}

}  // namespace oriel
