// The one place where nodes are allocated.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/build.hpp"

namespace oriel::graph {

/// Makes a node from these parts and fills in hash, depth, device and held bytes. Moves from `sources`. Builders have
/// checked the parts.
NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, const Origin& origin);
/// The same, on a device that does not follow from the sources.
NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, Device device,
                  const Origin& origin);
/// The same for a node without sources.
NodePtr make_leaf(Op op, DType dtype, const Shape& shape, Arg arg, Device device, const Origin& origin);

/// The properties of a realised node, without its sources and elements.
struct RealizedKind {
  DType dtype = DType::float32;
  Shape shape = {};
  LayoutClass layout_class = LayoutClass::RowMajor;
  std::optional<FoundLayout> found = {};  // null if it is row-major
  Site site = Site::unknown();
};
RealizedKind realized_kind(const Node& node);
/// A realised node of this kind. `buffer` holds the elements in the order that the layout states.
NodePtr realized_node(const RealizedKind& kind, mem::BufferPtr buffer);

/// The name of the call for what it states of sizes (sym::required). Makes no string: most sizes are numbers.
inline std::string_view stating(const Origin& origin, Op op) noexcept {
  return origin.operation.empty() ? name(op) : origin.operation;
}

/// The name with which errors of this call start.
inline std::string called(const Origin& origin, Op op) {
  return origin.operation.empty() ? snake_name(op) : std::string(origin.operation);
}

/// Throws ShapeError if an extent is negative. Those of sizes that depend on data are stated.
void check_extents(Op op, const Shape& shape, const Origin& origin);
/// numel(shape), for an operation that makes a tensor of this shape. Throws OverflowError, which names the operation,
/// if the number of elements or a row-major stride exceeds 2^63-1. A stride can do so where an extent is 0, which
/// strides step over as over 1.
SymInt checked_numel(const Shape& shape, const char* operation);

}  // namespace oriel::graph
