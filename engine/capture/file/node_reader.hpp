// Reads the nodes of a saved entry. Each is checked before it is made.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "capture/file/saved.hpp"
#include "graph/build.hpp"

namespace oriel::api {

class NodeReader {
 public:
  explicit NodeReader(SavedReader& reader) : reader_(reader) {}

  /// A node that is neither an input nor in memory. `made`: the nodes before it.
  graph::NodePtr node(std::span<const graph::NodePtr> made);
  /// A movement over positions of `shape`.
  graph::NodePtr movement(const Shape& shape);
  /// Movements over positions of `shape`, the first one first.
  std::vector<graph::NodePtr> movements(Shape shape);

  /// All of a node but its sources.
  struct Parts {
    graph::Op op = graph::Op::Const;
    DType dtype = DType::float32;
    Shape shape;
    graph::Arg arg;
    Site site = Site::unknown();
    std::uint8_t marks = 0;
    graph::FoundLayout layout;
    graph::AxisStrides strides;
  };

 private:
  Parts parts();
  graph::Arg argument();
  graph::Scalar scalar();
  graph::AxisStrides axis_strides();
  /// Throws ArgumentError: `device` does not do `what`, which the file's function needs.
  [[noreturn]] void refuse(std::string_view what, Device device) const;
  graph::NodePtr build(Parts parts, std::span<graph::NodePtr> sources, Device device);

  SavedReader& reader_;
};

}  // namespace oriel::api
