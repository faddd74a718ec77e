// Ranks as a grid with named axes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::shards {

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// A grid of ranks. Ranks are numbered row-major: the last axis varies fastest. A mesh without axes is one rank.
class Mesh {
 public:
  Mesh() = default;
  /// Throws ArgumentError if a name is empty or comes twice, or if a size is below 1; OverflowError for more than 2^31
  /// ranks.
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis>& axes() const noexcept { return axes_; }
  std::int64_t ranks() const noexcept { return ranks_; }
  /// How many ranks lie between neighbours along the axis.
  std::int64_t stride(std::size_t axis) const;
  /// The rank's place along each axis.
  std::vector<std::int64_t> coordinates(std::int64_t rank) const;
  std::optional<std::size_t> find(std::string_view name) const;
  /// The axis of that name. Throws ArgumentError, which names the axes that there are.
  std::size_t index(std::string_view name) const;
  /// "rows=2,cols=2".
  std::string str() const;

  friend bool operator==(const Mesh& a, const Mesh& b) { return a.axes_ == b.axes_; }

 private:
  std::vector<MeshAxis> axes_;
  std::int64_t ranks_ = 1;
};

}  // namespace oriel::shards
