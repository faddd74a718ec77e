#include "shard/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"

namespace oriel::shards {
namespace {

Ints rank_strides_of(const Mesh& mesh, std::size_t local_axes) {
  Ints strides;
  for (std::size_t k = 0; k < mesh.axes().size(); ++k) strides.push_back(mesh.stride(k));
  for (std::size_t d = 0; d < local_axes; ++d) strides.push_back(0);
  return strides;
}

/// The same for the local position: mesh axes do not move it.
Ints with_mesh_axes(const Mesh& mesh, const Ints& local_strides) {
  Ints strides;
  for (std::size_t k = 0; k < mesh.axes().size(); ++k) strides.push_back(0);
  for (const SymInt stride : local_strides) strides.push_back(stride);
  return strides;
}

void check_shape(const Shape& shape) {
  for (const SymInt extent : shape) {
    if (extent.is_symbolic()) {
      throw ShapeError("shard", fmt::format("{} has symbols; shardings need numbers", to_string(shape)));
    }
    if (extent < 0) throw ShapeError("shard", fmt::format("{} has a negative extent", to_string(shape)));
  }
}

/// What an axis of the tensor becomes: parts of `block` elements, each with its halo.
struct DividedAxis {
  std::int64_t parts = 1;
  std::int64_t block = 0;
};

/// Which tensor axis each mesh axis divides; -1: none.
std::vector<int> divided_by(const Mesh& mesh, const std::vector<AxisShards>& axes,
                            const std::vector<std::string>& root) {
  std::vector<int> divides(mesh.axes().size(), -1);
  std::vector<bool> used(mesh.axes().size());
  const auto use = [&](const std::string& name) {
    const std::size_t k = mesh.index(name);
    if (used[k])
      throw ArgumentError("shard", fmt::format("mesh axis '{}' is used twice; it can divide one axis", name));
    used[k] = true;
    return k;
  };
  for (std::size_t d = 0; d < axes.size(); ++d) {
    for (const std::string& name : axes[d].mesh_axes) divides[use(name)] = static_cast<int>(d);
  }
  for (const std::string& name : root) use(name);
  return divides;
}

}  // namespace

Sharding::Sharding(Mesh mesh, Shape shape, ShapeTracker place, Ints local_strides, Shape local_shape,
                   std::vector<bool> pending)
    : mesh_(std::move(mesh)),
      shape_(std::move(shape)),
      place_(std::move(place)),
      local_strides_(std::move(local_strides)),
      local_shape_(std::move(local_shape)),
      pending_(std::move(pending)) {
  pending_.resize(mesh_.axes().size());
  const ShapeTracker simple = place_.simplify();
  boxes_ = std::make_shared<const Boxes>(
      boxes_of(simple, rank_strides_of(mesh_, local_strides_.size()), with_mesh_axes(mesh_, local_strides_)));
  std::string text = simple.str();
  const char* separator = " pending ";
  for (std::size_t k = 0; k < pending_.size(); ++k) {
    if (!pending_[k]) continue;
    text += separator + mesh_.axes()[k].name;
    separator = ",";
  }
  text_ = std::make_shared<const std::string>(std::move(text));
}

Sharding Sharding::make(const Mesh& mesh, const Shape& shape, const std::vector<AxisShards>& axes,
                        const std::vector<std::string>& root) {
  check_shape(shape);
  if (axes.size() != shape.size()) {
    throw ShapeError("shard", fmt::format("{} entries for the {} axes of {}; give one for each", axes.size(),
                                          shape.size(), to_string(shape)));
  }
  const std::vector<int> divides = divided_by(mesh, axes, root);
  std::vector<DividedAxis> divided(shape.size());
  Ranges padding;
  Shape padded;
  Shape local;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const AxisShards& axis = axes[d];
    if (axis.before < 0 || axis.after < 0) {
      throw ArgumentError(
          "shard", fmt::format("a halo of {},{} along axis {}; its widths are at least 0", axis.before, axis.after, d));
    }
    for (const std::string& name : axis.mesh_axes) divided[d].parts *= mesh.axes()[mesh.index(name)].size;
    const std::int64_t extent = shape[d].value();
    divided[d].block = (extent + divided[d].parts - 1) / divided[d].parts;
    const SymInt covered = SymInt(divided[d].block) * divided[d].parts;
    padding.push_back({axis.before, covered - extent + axis.after});
    padded.push_back(covered + axis.before + axis.after);
    local.push_back(SymInt(divided[d].block) + axis.before + axis.after);
  }
  const Ints steps = contiguous_strides(padded);
  View view;
  Ranges mask;
  for (std::size_t k = 0; k < mesh.axes().size(); ++k) {
    const MeshAxis& axis = mesh.axes()[k];
    const bool rooted = std::find(root.begin(), root.end(), axis.name) != root.end();
    view.shape.push_back(axis.size);
    mask.push_back({0, rooted ? std::int64_t{1} : axis.size});
    if (divides[k] < 0) {
      view.strides.push_back(0);
      continue;
    }
    // Mesh axes that stand behind this one in the entry divide its part further.
    const auto d = static_cast<std::size_t>(divides[k]);
    const auto& names = axes[d].mesh_axes;
    std::int64_t finer = 1;
    for (auto name = std::find(names.begin(), names.end(), axis.name) + 1; name != names.end(); ++name) {
      finer *= mesh.axes()[mesh.index(*name)].size;
    }
    view.strides.push_back(steps[d] * divided[d].block * finer);
  }
  for (std::size_t d = 0; d < local.size(); ++d) {
    view.shape.push_back(local[d]);
    view.strides.push_back(steps[d]);
    mask.push_back({0, local[d]});
  }
  if (!root.empty()) view.mask = mask;
  ShapeTracker place = ShapeTracker(shape).pad(padding).view(View::make(view.shape, view.strides, 0, view.mask));
  return {mesh, shape, std::move(place), contiguous_strides(local), local, {}};
}

Shape Sharding::local_index() const {
  const Shape& all = place_.shape();
  Shape index;
  for (std::size_t d = mesh_.axes().size(); d < all.size(); ++d) index.push_back(all[d]);
  return index;
}

bool Sharding::is_pending() const noexcept {
  return std::find(pending_.begin(), pending_.end(), true) != pending_.end();
}

}  // namespace oriel::shards
