// How a tensor lies on the ranks of a mesh: a view from (mesh coordinates, local index) to global positions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oriel/view.hpp"
#include "shard/boxes.hpp"
#include "shard/mesh.hpp"

namespace oriel::shards {

/// How one axis of a tensor is divided.
struct AxisShards {
  std::vector<std::string> mesh_axes;  ///< the first one divides the axis coarsest; none: every rank holds all of it
  std::int64_t before = 0;             ///< further elements that a rank holds before its part: a halo
  std::int64_t after = 0;              ///< and behind it
};

/// A tensor on a mesh. Each rank stores a block of the same local shape. `place()` maps the mesh coordinates and the
/// index in the block to the row-major position in the global tensor. Indices outside its masks hold nothing: the end
/// of uneven parts, or a halo beyond the edge. An axis that no mesh axis divides is replicated: its step is 0.
///
///   rows of (8, 6) over 4 ranks:        (4,2,6):(12,6,1)
///   (8, 6) replicated over 4 ranks:     (4,8,6):(0,6,1)
///   rows with a halo of one:            (4,4,6):(12,6,1) over the padded rows, masked at both ends
///
/// **A position that no rank holds is zero**, as an invalid index of a view is. So movements send nothing: each
/// composes the view with the map from old positions to new ones, whose inverse views express.
///
/// A rank holds each position at most once. `make` and the movements keep this true.
class Sharding {
 public:
  /// One entry of `axes` for each axis of `shape`. Mesh axes that no entry names replicate the tensor. Of the mesh axes
  /// in `root` only the first rank along each holds anything. The part of rank c of p along an axis of extent n is
  /// [c * B, min(n, (c + 1) * B)) with B = ceil(n / p). Throws ShapeError, ArgumentError or OverflowError.
  static Sharding make(const Mesh& mesh, const Shape& shape, const std::vector<AxisShards>& axes,
                       const std::vector<std::string>& root = {});

  const Mesh& mesh() const noexcept { return mesh_; }
  const Shape& shape() const noexcept { return shape_; }
  /// Axes of the mesh first, then those of the local index.
  const ShapeTracker& place() const noexcept { return place_; }
  /// The axes of the local index, with their steps in the block: 0 along axes that `expand` added.
  Shape local_index() const;
  const Ints& local_strides() const noexcept { return local_strides_; }
  /// The extents of the block that a rank stores.
  const Shape& local_shape() const noexcept { return local_shape_; }
  std::int64_t local_count() const { return numel(local_shape_).value(); }
  /// For each mesh axis: do the ranks along it hold partial sums, whose sum is the tensor?
  const std::vector<bool>& pending() const noexcept { return pending_; }
  bool is_pending() const noexcept;

  /// The movements, on the global tensor. Errors are those of View's movements.
  /// @{
  Sharding reshape(const Shape& target) const;
  Sharding permute(const Ints& order) const;
  Sharding expand(const Shape& target) const;
  Sharding shrink(const Ranges& ranges) const;
  Sharding pad(const Ranges& before_after) const;
  Sharding flip(const Ints& axes) const;
  /// @}

  /// The sum along an axis of the global tensor, which the result lacks. Each rank adds what it holds; where a mesh
  /// axis divides the axis, the result is pending along it. Throws ShapeError if an axis of the local index moves along
  /// both summed and kept elements, or if the mask of the sum differs from element to element.
  Sharding sum(std::size_t axis) const;

  /// The same tensor with each pending mesh axis as a further axis in front, which that mesh axis divides: what a rank
  /// holds is then an element of its own, and nothing is pending.
  Sharding contributions() const;
  /// The same elements with each block divided along the mesh axes on which it is replicated: rank c of p along them
  /// holds the c-th p-th of the block. Root axes stay.
  Sharding divided() const;
  /// All contributions to what this sharding holds: the tensor with further axes of these extents in front, of which
  /// each rank holds every index, and its block likewise.
  Sharding stacked(const Shape& parts) const;
  /// The sharding without its pending axes, as if the sums were complete.
  Sharding completed() const;

  /// What each rank holds: columns kPosition, kRank and kLocal (the position in the block).
  const Boxes& boxes() const noexcept { return *boxes_; }
  /// What this rank holds.
  Boxes held(std::int64_t rank) const { return select(*boxes_, kRank, rank); }

  /// place(), simplified, and the pending axes: "(4,2,6):(12,6,1)", "(2,6):(0,1) pending rows".
  const std::string& str() const noexcept { return *text_; }

 private:
  Sharding(Mesh mesh, Shape shape, ShapeTracker place, Ints local_strides, Shape local_shape,
           std::vector<bool> pending);
  /// Another tensor of `shape`: `map` yields its positions for those of this one.
  Sharding moved(const Shape& shape, const View& map) const;

  Mesh mesh_;
  Shape shape_;
  ShapeTracker place_;
  Ints local_strides_;
  Shape local_shape_;
  std::vector<bool> pending_;
  std::shared_ptr<const Boxes> boxes_;
  std::shared_ptr<const std::string> text_;
};

/// The boxes of a stack of views whose outermost axes move along these ranks and local positions.
Boxes boxes_of(const ShapeTracker& place, const Ints& rank_strides, const Ints& local_strides);

}  // namespace oriel::shards
