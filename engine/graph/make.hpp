// The one place where nodes are allocated.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/build.hpp"

namespace oriel::graph {

/// A node of these parts, its hash, depth, device and held bytes filled in. Moves from `sources`. The parts are right:
/// builders have checked them.
NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, const Origin& origin);
/// The same on a device that its sources do not tell.
NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, Device device,
                  const Origin& origin);
/// The same for a node without sources.
NodePtr make_leaf(Op op, DType dtype, const Shape& shape, Arg arg, Device device, const Origin& origin);

/// What a realised node was, without its sources and its elements.
struct RealizedKind {
  DType dtype = DType::float32;
  Shape shape = {};
  LayoutClass layout_class = LayoutClass::RowMajor;
  std::optional<FoundLayout> found = {};  // there unless it is row-major
  Site site = Site::unknown();
};
RealizedKind realized_kind(const Node& node);
/// A node of that kind whose elements are these, in the order in memory that the layout says.
NodePtr realized_node(const RealizedKind& kind, mem::BufferPtr buffer);

/// The name that errors of this call start with.
inline std::string called(const Origin& origin, Op op) {
  return origin.operation.empty() ? snake_name(op) : std::string(origin.operation);
}

}  // namespace oriel::graph
