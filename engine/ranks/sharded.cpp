#include <fmt/format.h>

#include <vector>

#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "oriel/shard.hpp"
#include "ranks/blocks.hpp"
#include "ranks/known.hpp"
#include "ranks/transport.hpp"

namespace oriel {
namespace {

using ranks::Known;

std::string text_of(const Ranges& ranges) {
  std::string text;
  for (const Range& range : ranges) text += to_string(range.lo) + ":" + to_string(range.hi) + ",";
  return text;
}

shards::Mesh checked_mesh(const Mesh& mesh) {
  std::vector<shards::MeshAxis> axes;
  for (const MeshAxis& axis : mesh.axes) axes.push_back({axis.name, axis.size});
  shards::Mesh result(std::move(axes));
  const ranks::Transport& group = ranks::transport();
  if (result.ranks() != group.ranks()) {
    throw ArgumentError("shard", fmt::format("mesh {} has {} ranks and this program {}; {}", result.str(),
                                             result.ranks(), group.ranks(), group.note()));
  }
  return result;
}

shards::Sharding divided_as(const Shape& shape, const Mesh& mesh, const std::vector<std::string>& axes) {
  std::vector<shards::AxisShards> entries;
  for (const std::string& name : axes) {
    entries.emplace_back();
    if (!name.empty()) entries.back().mesh_axes.push_back(name);
  }
  return shards::Sharding::make(checked_mesh(mesh), shape, entries);
}

/// Blocks of the first axis over all ranks, or every rank everything of a scalar: what results take that no operand
/// covers.
shards::Sharding row_blocks(const shards::Mesh& mesh, const Shape& shape) {
  std::vector<shards::AxisShards> entries(shape.size());
  for (const shards::MeshAxis& axis : mesh.axes()) {
    if (!entries.empty()) entries[0].mesh_axes.push_back(axis.name);
  }
  return shards::Sharding::make(mesh, shape, entries);
}

}  // namespace

std::int64_t rank() { return ranks::transport().rank(); }
std::int64_t rank_count() { return ranks::transport().ranks(); }

Sharded shard(const Tensor& x, const Mesh& mesh, const std::vector<std::string>& axes) {
  const shards::Sharding sharding = divided_as(x.shape(), mesh, axes);
  ranks::check_dtype(x.dtype());
  const std::vector<std::int64_t> at = sharding.mesh().coordinates(rank());
  Ranges here;
  for (const std::int64_t c : at) here.push_back({c, c + 1});
  for (const SymInt extent : sharding.local_shape()) here.push_back({0, extent});
  const ShapeTracker part = sharding.place().shrink(here).reshape(sharding.local_shape()).simplify();
  Tensor local = x;
  for (const View& view : part.views()) local = as_strided(local, view);
  return {local, ranks::known(sharding)};
}

Sharded assemble(const Tensor& local, const Shape& shape, const Mesh& mesh, const std::vector<std::string>& axes) {
  const Known sharding = ranks::known(divided_as(shape, mesh, axes));
  ranks::check_dtype(local.dtype());
  if (!(local.shape() == sharding->local_shape())) {
    throw ShapeError("assemble",
                     fmt::format("a block of {} for a tensor of {}, whose blocks are {}", to_string(local.shape()),
                                 to_string(shape), to_string(sharding->local_shape())));
  }
  return {local, sharding};
}

Sharded matmul(const Sharded& a, const Sharded& b, const Mesh& mesh, const std::vector<std::string>& axes,
               const std::string& inner) {
  const Shape left = a.shape();
  const Shape right = b.shape();
  if (left.size() != 2 || right.size() != 2 || left[1] != right[0]) {
    throw ShapeError("matmul", fmt::format("sharded tensors of shapes {} and {}; it takes matrices (n, k) and (k, m)",
                                           to_string(left), to_string(right)));
  }
  if (axes.size() != 2) {
    throw ArgumentError("matmul", fmt::format("{} names for the two axes of the product; give two", axes.size()));
  }
  const auto block = [&](const Sharded& x, const std::string& rows, const std::string& columns) {
    const Known sharding = ranks::known(divided_as(x.shape(), mesh, {rows, columns}));
    // The last parts of the summed axis may be short: what stands behind their end must not count.
    return ranks::without_gaps(x.moved_to(sharding).local_, *sharding);
  };
  const Tensor product = oriel::matmul(block(a, axes[0], inner), block(b, inner, axes[1]));
  if (inner.empty()) return {product, ranks::known(divided_as({left[0], right[1]}, mesh, axes))};
  // Each rank along `inner` has a contribution of its own.
  const shards::Mesh checked = checked_mesh(mesh);
  const std::int64_t parts = checked.axes()[checked.index(inner)].size;
  const shards::Sharding partial = divided_as({parts, left[0], right[1]}, mesh, {inner, axes[0], axes[1]}).sum(0);
  return {oriel::reshape(product, partial.local_shape()), ranks::known(partial)};
}

Shape Sharded::shape() const { return sharding_->shape(); }

std::string Sharded::placement() const { return sharding_->str(); }

Sharded Sharded::moved_to(const Known& target) const {
  if (!(sharding_->shape() == target->shape())) {
    throw ShapeError("shard", fmt::format("operands of shapes {} and {}; element by element they must be equal",
                                          to_string(target->shape()), to_string(sharding_->shape())));
  }
  if (sharding_->is_pending()) return {ranks::reduced(local_, *sharding_, *target), target};
  if (sharding_ == target || ranks::same_blocks(*sharding_, *target)) return {local_, target};
  return {ranks::exchanged(local_, *sharding_, *target), target};
}

Sharded Sharded::to(const Mesh& mesh, const std::vector<std::string>& axes) const {
  return moved_to(ranks::known(divided_as(shape(), mesh, axes)));
}

Tensor Sharded::gather() const {
  const Known everywhere = ranks::derived(sharding_, "everywhere", [&] {
    const std::vector<shards::AxisShards> whole(sharding_->shape().size());
    return shards::Sharding::make(sharding_->mesh(), sharding_->shape(), whole);
  });
  return moved_to(everywhere).local_;
}

Sharded Sharded::reshape(const Shape& target) const {
  return {local_,
          ranks::derived(sharding_, "reshape " + to_string(target), [&] { return sharding_->reshape(target); })};
}
Sharded Sharded::permute(const Ints& order) const {
  return {local_, ranks::derived(sharding_, "permute " + to_string(order), [&] { return sharding_->permute(order); })};
}
Sharded Sharded::shrink(const Ranges& ranges) const {
  return {local_, ranks::derived(sharding_, "shrink " + text_of(ranges), [&] { return sharding_->shrink(ranges); })};
}
Sharded Sharded::pad(const Ranges& before_after) const {
  return {local_,
          ranks::derived(sharding_, "pad " + text_of(before_after), [&] { return sharding_->pad(before_after); })};
}
Sharded Sharded::flip(const Ints& axes) const {
  return {local_, ranks::derived(sharding_, "flip " + to_string(axes), [&] { return sharding_->flip(axes); })};
}

Sharded Sharded::sum(std::size_t axis) const {
  if (sharding_->is_pending()) return common({this}).with_local(as(common({this})).local_).sum(axis);
  const Known sums = ranks::derived(sharding_, "sum " + std::to_string(axis), [&] { return sharding_->sum(axis); });
  const shards::Sharding& result = *sums;
  std::vector<std::int64_t> summed;
  for (std::size_t d = 0; d < result.local_shape().size(); ++d) {
    if (result.local_shape()[d] != sharding_->local_shape()[d]) summed.push_back(static_cast<std::int64_t>(d));
  }
  Tensor local = ranks::without_gaps(local_, *sharding_);
  if (summed.empty()) {
    // Integers widen as in every sum.
    Shape one{1};
    for (const SymInt extent : local.shape()) one.push_back(extent);
    local = oriel::sum(oriel::reshape(local, one), Axes(0));
  } else {
    local = oriel::sum(local, Axes(summed), KeepDim(true));
  }
  return {local, sums};
}

Sharded Sharded::common(std::initializer_list<const Sharded*> operands) {
  for (const Sharded* one : operands) {
    const Known& own = one->sharding_;
    const Known sums = own->is_pending() ? ranks::derived(own, "completed", [&] { return own->completed(); }) : own;
    if (ranks::covers(sums)) return {one->local_, sums};
  }
  const Sharded& first = **operands.begin();
  return {first.local_,
          ranks::derived(first.sharding_, "rows", [&] { return row_blocks(first.sharding_->mesh(), first.shape()); })};
}

Sharded Sharded::with_local(Tensor local) const {
  if (!(local.shape() == sharding_->local_shape())) {
    throw ShapeError("elementwise", fmt::format("a block of {} became one of {}; f keeps shapes",
                                                to_string(sharding_->local_shape()), to_string(local.shape())));
  }
  return {std::move(local), sharding_};
}

}  // namespace oriel
