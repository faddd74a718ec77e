// What each movement does: how it maps an index, which arguments it takes. Builders, maps, layouts, gathers, captured
// functions and the fuzzer ask here and in the table of ops; a movement that reads axis by axis has no code elsewhere.
#pragma once

#include <optional>

#include "graph/build.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::graph {

/// Where a movement reads along one axis of its source: at start + step * i[axis], for index i of the result. A step of
/// 0 reads at `start` alone.
struct AxisRead {
  std::size_t axis = 0;
  SymInt start = 0;
  SymInt step = 1;
};

/// A movement that reads axis by axis. Index i of `shape` reads the source where `axes`, one for each axis of the
/// source, say. Outside of the source, where only a movement that pads reads, it is 0; padded axes have step 1.
struct IndexMap {
  Shape shape;
  InlineVector<AxisRead, 4> axes;
  bool pads = false;
};

/// A movement apart from its source: a node's, or one that is not yet a node.
struct Move {
  Op op;
  const Shape& shape;  // of the result; read only if the argument does not say it
  const Ints* ints = nullptr;
  const Ranges* ranges = nullptr;
  const View* view = nullptr;
};
Move move_of(Op op, const Shape& shape, const Arg& arg);
inline Move move_of(const Node& node) { return move_of(node.op, node.shape, node.arg); }

/// What a movement does, beside its row in the table of ops. A member that is null does not apply.
struct Movement {
  /// The stack with the movement on top. Null: its view is put on top.
  ShapeTracker (*stack)(const ShapeTracker& stack, const Move& move) = nullptr;
  /// Throws unless the argument fits a source of this shape.
  void (*check)(const Shape& from, const Move& move, const Origin& origin) = nullptr;
  /// Of a movement that reads axis by axis, for an argument that fits. Others read the element at the same row-major
  /// position, or the view in their argument.
  IndexMap (*map)(const Shape& from, const Move& move) = nullptr;
  /// If it takes Extents or Numbers: the least and the greatest one for an axis of this extent.
  Range (*numbers)(SymInt extent) = nullptr;
};

const Movement& movement(Op op);

/// Is it a movement that the view algebra has for any stack, other than a raw view?
constexpr bool is_axis_movement(Op op) {
  return is_movement(op) && row(op).takes != Takes::Format && row(op).takes != Takes::View && op != Op::Mark;
}

/// Does it read each element at its own row-major position?
constexpr bool keeps_positions(Op op) { return row(op).takes == Takes::Target || row(op).takes == Takes::Format; }

/// May the question whether an axis that is read backwards has one element take a guard?
enum class Ask : bool { nothing, guards };
/// Does the map read index i of the source at index i, for all values of symbols? It reads inside of the source.
bool is_identity(const IndexMap& map, const Shape& from, Ask ask = Ask::nothing);

/// The map of `outer` on top of `inner`. Not where `outer` pads and `inner` does not.
IndexMap composed(const IndexMap& outer, const IndexMap& inner);

/// The argument with which the op reads as the map does, which may be that of several such movements, for a source of
/// shape `from`; nothing if it has none.
std::optional<Arg> argument_of(Op op, const Shape& from, const IndexMap& map);

/// How each axis's stride follows from the source's.
AxisStrides strides_of(const IndexMap& map);

/// The movement as one view over the row-major elements of a source of shape `from`. Not for a Reshape.
View view_of(const Move& move, const Shape& from);

/// `stack` with one more movement on top.
ShapeTracker moved(const ShapeTracker& stack, const Move& move);
inline ShapeTracker moved(const ShapeTracker& stack, const Node& node) { return moved(stack, move_of(node)); }

/// Makes the node of any movement, after its checks. Throws what the builder of its name throws.
NodePtr move(NodePtr x, const Move& move, const Origin& origin = {});

/// The node of which this one is a view: the one below its movements, which may be realised meanwhile.
NodePtr below_movements(NodePtr node);

/// Has it the argument that its row takes?
bool complete(const Move& move);

}  // namespace oriel::graph
