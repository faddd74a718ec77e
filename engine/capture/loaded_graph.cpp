#include "capture/stage.hpp"

#include <fmt/format.h>

#include "graph/layout.hpp"
#include "graph/verify.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "view/positions.hpp"

namespace oriel::api {

using graph::Node;
using graph::Op;

namespace {

// The bottom view of a write stays inside the target; verify() looks at single views only.
void check_write(const Node& node) {
  const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&node.arg);
  if (where != nullptr) detail::require_inside("assign", (*where)->views().front(), View::contiguous(node.shape));
}

// Stated strides differ from those of the op on axes of one element alone.
void check_strides(const Node& node) {
  if (!node.axis_strides) return;
  if (numel(node.shape) == 0) return;
  const Layout stated = graph::layout_of(node);
  graph::NodePtr source = node.sources[0];
  Node plain;
  plain.op = node.op;
  plain.dtype = node.dtype;
  plain.shape = node.shape;
  plain.arg = node.arg;
  plain.sources.push_back(source);
  const Layout own = graph::layout_of_movement(plain, graph::layout_of(*source));
  for (std::size_t d = 0; d < node.shape.size(); ++d)
    if (node.shape[d] > 1 && stated.strides[d] != own.strides[d])
      throw ShapeError("strides", fmt::format("axis {} of {} has other strides than its movement gives it", d,
                                              to_string(node.shape)));
}

// A number that is a tensor is stored in dense strides of its shape. One that was broadcast has the layout of the
// operand, and is only an operand itself.
void check_layout(const Node& node, bool operand) {
  if (!node.found) return;
  const Layout& layout = node.found->layout;
  const graph::FoundLayout own = graph::found_layout(Layout::make(layout.shape, layout.strides));
  if (node.found->memory != own.memory || (!operand && layout.shape != node.shape))
    throw ShapeError("strides", "a number is stored in strides that are not dense");
}

}  // namespace

void check_loaded(std::span<const graph::NodePtr> roots) {
  try {
    graph::verify(roots);
    for (const Node* node : graph::post_order(roots)) {
      if (node->realized()) continue;
      if (node->op == Op::Assign) check_write(*node);
      check_strides(*node);
      for (const graph::NodePtr& source : node->sources)
        if (source->op == Op::Const && !source->realized()) check_layout(*source, graph::is_elementwise(node->op));
    }
    for (const graph::NodePtr& root : roots)
      if (root->op == Op::Const && !root->realized()) check_layout(*root, false);
  } catch (const DeviceError&) {
    throw;
  } catch (const Error& error) {
    throw IoError("load_function", fmt::format("a graph that was loaded from a file is damaged: {}", error.message()));
  }
}

}  // namespace oriel::api
