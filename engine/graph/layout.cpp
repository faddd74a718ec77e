#include "graph/layout.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/strided_reshape.hpp"
#include "view/merging/merge.hpp"

namespace oriel::graph {
namespace {

Layout known(const Node& node) { return node.found ? node.found->layout : Layout::contiguous(node.shape); }

// The layout as a view whose lowest position is 0.
View view_of(const Layout& layout) {
  View view{layout.shape, layout.strides, 0, {}};
  for (std::size_t d = 0; d < layout.rank(); ++d)
    if (layout.strides[d] < 0 && layout.shape[d] > 0) view.offset -= layout.strides[d] * (layout.shape[d] - 1);
  return view;
}

Layout viewed(const Layout& source, const View& raw) {
  if (raw.masked() || numel(raw.shape) == 0) return Layout::contiguous(raw.shape);
  if (source.is_contiguous()) return {raw.shape, raw.strides};
  const MergeResult merged = merge(raw, view_of(source));
  if (merged.verdict != MergeVerdict::Merged || merged.view.masked()) return Layout::contiguous(raw.shape);
  return {merged.view.shape, merged.view.strides};
}

bool is_plain(const AxisStride& axis) {
  bool plain = !axis.constant.is_symbolic();
  for (const AxisStride::Term& term : axis.terms) plain = plain && !term.factor.is_symbolic();
  return plain;
}
bool is_plain(const Ints& strides) {
  return std::none_of(strides.begin(), strides.end(), [](SymInt stride) { return stride.is_symbolic(); });
}

// Overflow of plain strides wraps, because an axis of one element may have any stride.
Layout restride(const Layout& source, const Shape& shape, const AxisStrides& axes) {
  Layout out{shape, Ints(shape.size())};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!is_plain(source.strides) || !is_plain(axes[d])) {
      out.strides[d] = axes[d].constant;
      for (const AxisStride::Term& term : axes[d].terms) out.strides[d] += term.factor * source.strides[term.axis];
      continue;
    }
    auto stride = static_cast<std::uint64_t>(axes[d].constant.value());
    for (const AxisStride::Term& term : axes[d].terms) {
      const auto factor = static_cast<std::uint64_t>(term.factor.value());
      stride += factor * static_cast<std::uint64_t>(source.strides[term.axis].value());
    }
    out.strides[d] = static_cast<std::int64_t>(stride);
  }
  return out;
}

Layout moved(const Node& node, const Layout& source) {
  if (node.axis_strides && numel(node.shape) != 0) return restride(source, node.shape, *node.axis_strides);
  if (node.op == Op::Copy) return source.preserved();
  const Move move = move_of(node);
  switch (row(node.op).takes) {
    case Takes::None:
      throw InternalError("layout_of", std::string(name(node.op)) + " is no movement with a layout");
    case Takes::Target: {
      detail::StridedReshape reshaped = detail::strided_reshape(source, node.shape);
      return reshaped ? std::move(reshaped.layout) : Layout::contiguous(node.shape);
    }
    case Takes::Format: {
      const auto format = static_cast<MemoryFormat>((*move.ints)[0].value());
      if (format != MemoryFormat::preserve) return Layout::of(node.shape, format);
      return {node.shape, Ints(move.ints->begin() + 1, move.ints->end())};
    }
    case Takes::View:
      return viewed(source, *move.view);
    default:
      break;
  }
  const IndexMap map = movement(node.op).map(source.shape, move);
  if (map.pads) return Layout::of(node.shape, source.suggest_memory_format());
  return restride(source, node.shape, strides_of(map));
}

// The operand below the nodes that a broadcast has put above it.
NodePtr unbroadcast(NodePtr node) {
  while (node->broadcast && !node->realized()) {
    Node::Sources below = node->sources_to_look_at();
    if (below.empty()) break;  // realised by another thread
    node = std::move(below[0]);
  }
  return node;
}

Layout joint(const Node& node, std::span<const NodePtr> sources) {
  InlineVector<Layout, 3> layouts;
  for (const NodePtr& source : sources) {
    const NodePtr s = source->broadcast ? unbroadcast(source) : source;
    const bool number = s->op == Op::Const && !s->realized() && !s->found;
    layouts.push_back(number ? Layout{} : known(*s));
  }
  if (node.mirrored) std::swap(layouts[0], layouts[1]);
  InlineVector<const Layout*, 3> operands;
  for (const Layout& l : layouts) operands.push_back(&l);
  detail::Iteration iteration = detail::iterate({operands.data(), operands.size()});
  return {node.shape, std::move(iteration.outputs[0])};
}

FoundLayout find(const Node& node, std::span<const NodePtr> sources) {
  FoundLayout found;
  if (sources.empty()) {
    found.layout = Layout::contiguous(node.shape);
  } else if (is_elementwise(node.op)) {
    found.layout = joint(node, sources);
  } else {
    found.layout = node.op == Op::Assign ? known(*sources[0]) : moved(node, known(*sources[0]));
  }
  if (node.layout_class != LayoutClass::Any) return found;
  return found_layout(std::move(found.layout));
}

// References to sources are held while these are read: another thread may realise the node above them. Then the node
// has its layout.
const FoundLayout& found(const Node& root) {
  if (const FoundLayout* there = root.found.get()) return *there;
  struct Waiting {
    const Node* node;
    Node::Sources sources;
  };
  std::vector<Waiting> waiting;
  waiting.push_back({&root, root.sources_to_look_at()});
  while (!waiting.empty()) {
    const Node* const node = waiting.back().node;
    const std::size_t sources = std::min<std::size_t>(waiting.back().sources.size(), node->op == Op::Assign ? 1 : 3);
    const Node* missing = nullptr;
    for (std::size_t k = 0; k < sources && missing == nullptr && !node->found; ++k) {
      const Node& s = *waiting.back().sources[k];
      if (s.layout_class != LayoutClass::RowMajor && !s.found) missing = &s;
    }
    if (missing != nullptr) {
      waiting.push_back({missing, missing->sources_to_look_at()});
      continue;
    }
    // If the node is realised its sources are gone, but then its layout is set.
    const Node::Sources& own = waiting.back().sources;
    if (!node->found) node->found.set(find(*node, {own.data(), own.size()}));
    waiting.pop_back();
  }
  return *root.found.get();
}

}  // namespace

Layout layout_of_movement(const Node& movement, const Layout& source) { return moved(movement, source); }

FoundLayout found_layout(Layout layout) {
  FoundLayout found;
  Layout memory = layout.preserved();
  if (!memory.is_contiguous()) found.memory = std::move(memory.strides);
  found.layout = std::move(layout);
  return found;
}

Layout layout_of(const Node& node) {
  return node.layout_class == LayoutClass::RowMajor ? Layout::contiguous(node.shape) : found(node).layout;
}

const Ints* memory_strides(const Node& node) {
  if (node.layout_class == LayoutClass::RowMajor) return nullptr;
  const FoundLayout& layout = found(node);
  return layout.memory.empty() ? nullptr : &layout.memory;
}

}  // namespace oriel::graph
