#include "shard/mesh.hpp"

#include <fmt/format.h>

#include "oriel/error.hpp"

namespace oriel::shards {

Mesh::Mesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  constexpr std::int64_t kMostRanks = std::int64_t{1} << 31;
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    const MeshAxis& axis = axes_[k];
    if (axis.name.empty()) throw ArgumentError("mesh", "an axis has no name; each needs one, such as rows=4");
    if (axis.size < 1) {
      throw ArgumentError("mesh", fmt::format("axis '{}' has {} ranks; it needs at least 1", axis.name, axis.size));
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (axes_[j].name == axis.name) {
        throw ArgumentError("mesh", fmt::format("two axes are named '{}'; names must differ", axis.name));
      }
    }
    if (axis.size > kMostRanks / ranks_) {
      throw OverflowError("mesh", fmt::format("{} has more than 2^31 ranks", str()));
    }
    ranks_ *= axis.size;
  }
}

std::int64_t Mesh::stride(std::size_t axis) const {
  std::int64_t product = 1;
  for (std::size_t k = axis + 1; k < axes_.size(); ++k) product *= axes_[k].size;
  return product;
}

std::vector<std::int64_t> Mesh::coordinates(std::int64_t rank) const {
  std::vector<std::int64_t> at(axes_.size());
  for (std::size_t k = axes_.size(); k-- > 0; rank /= axes_[k].size) at[k] = rank % axes_[k].size;
  return at;
}

std::optional<std::size_t> Mesh::find(std::string_view name) const {
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    if (axes_[k].name == name) return k;
  }
  return std::nullopt;
}

std::size_t Mesh::index(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  throw ArgumentError("shard",
                      fmt::format("the mesh has no axis '{}'; it is {}", name, axes_.empty() ? "one rank" : str()));
}

std::string Mesh::str() const {
  std::string text;
  for (const MeshAxis& axis : axes_) text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size);
  return text;
}

}  // namespace oriel::shards
