#include "graph/make.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) noexcept {
  h ^= v;
  h *= 0x9fb21c651e98df25ULL;
  return h ^ h >> 29;
}

// A symbolic size counts by its expression: its value is not asked for.
std::uint64_t bits(SymInt n) noexcept { return static_cast<std::uint64_t>(n.representation()); }

struct ArgHash {
  std::uint64_t seed;
  std::uint64_t operator()(std::monostate) const noexcept { return seed; }
  std::uint64_t operator()(const Scalar& s) const noexcept { return mix(seed, static_cast<std::uint64_t>(s.i)); }
  std::uint64_t operator()(const TagPtr& /*tag*/) const noexcept { return seed; }
  std::uint64_t operator()(const HostFunctionPtr& function) const noexcept { return mix(seed, function->number); }
  std::uint64_t operator()(const Ints& ints) const noexcept {
    std::uint64_t h = mix(seed, ints.size());
    for (const SymInt n : ints) h = mix(h, bits(n));
    return h;
  }
  std::uint64_t operator()(const std::shared_ptr<const Ranges>& ranges) const noexcept {
    std::uint64_t h = mix(seed, ranges->size());
    for (const Range& r : *ranges) h = mix(mix(h, bits(r.lo)), bits(r.hi));
    return h;
  }
  std::uint64_t operator()(const std::shared_ptr<const View>& view) const noexcept {
    return mix(seed, hash_value(*view));
  }
  std::uint64_t operator()(const std::shared_ptr<const ShapeTracker>& tracker) const noexcept {
    return mix(seed, hash_value(*tracker));
  }
  std::uint64_t operator()(const mem::BufferPtr& buffer) const noexcept {
    return mix(mix(seed, reinterpret_cast<std::uintptr_t>(buffer.get())), buffer->version());
  }
};

std::uint64_t structural_hash(const Node& node) noexcept {
  std::uint64_t h = mix(static_cast<std::uint64_t>(node.op) << 8 | static_cast<std::uint64_t>(node.dtype),
                        0x632be59bd9b4e019ULL + node.shape.size());
  for (const SymInt n : node.shape) h = mix(h, bits(n));
  h = std::visit(ArgHash{h}, node.arg);
  for (const NodePtr& source : node.sources) h = mix(h, source->hash);
  return h;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max() : a + b;
}

LayoutClass layout_class(const Node& node) noexcept {
  const LayoutClass source = node.sources[0]->layout_class;
  if (node.op == Op::Assign) return source;
  if (is_movement(node.op)) {
    switch (row(node.op).layout) {
      case LayoutRule::Same:
        return source;
      case LayoutRule::Ordered:
        return std::max(source, LayoutClass::Ordered);
      case LayoutRule::Any: {
        const bool rows =
            node.op == Op::Format && std::get<Ints>(node.arg)[0] == static_cast<int>(MemoryFormat::contiguous);
        return rows ? LayoutClass::RowMajor : LayoutClass::Any;
      }
      case LayoutRule::Stored:
        break;
    }
  }
  if (is_reduce(node.op) || runs_alone(node.op) || node.op == Op::Gather) return LayoutClass::RowMajor;
  for (const NodePtr& s : node.sources)
    if (s->layout_class == LayoutClass::Any) return LayoutClass::Any;
  return LayoutClass::RowMajor;
}

// The device that all sources share. Sources that go where they are read do not count.
Device common_device(std::span<const NodePtr> sources, Op op, const Origin& origin) {
  const Node* chosen = sources[0].get();
  for (const NodePtr& source : sources.subspan(1)) {
    if (source->device == chosen->device || movable(*source)) continue;
    if (!movable(*chosen)) {
      if (source->device.context != chosen->device.context) {
        throw DeviceError(
            called(origin, op),
            fmt::format("operands belong to two contexts: they live on {} and {}; copy one of them across "
                        "with to(device of the other context)",
                        chosen->device.str(), source->device.str()));
      }
      throw DeviceError(called(origin, op), fmt::format("operands live on {} and {}; copy one of them with to(Device)",
                                                        chosen->device.str(), source->device.str()));
    }
    chosen = source.get();
  }
  return chosen->device;
}

}  // namespace

bool movable(const Node& node) noexcept { return (node.op == Op::Const || node.op == Op::Iota) && !node.realized(); }

NodePtr moved_to(Device device, const Node& node, const Origin& origin) {
  NodePtr moved = make_leaf(node.op, node.dtype, node.shape, node.arg, device, origin);
  if (node.op != Op::Const) return moved;
  auto* fresh = const_cast<Node*>(moved.get());
  if (node.found) fresh->found.set(*node.found.get());
  fresh->layout_class = node.layout_class;
  return moved;
}

namespace {

/// At most: what lies below the node, and the node itself, which may be kept in memory when something else is asked
/// for.
std::int64_t bytes_of_pending(const Node& node) {
  std::int64_t bytes = node.held_bytes.load(relaxed);
  if (is_movement(node.op) || node.op == Op::Const || node.op == Op::Iota) return bytes;
  auto own = static_cast<std::int64_t>(itemsize(node.dtype));
  for (const SymInt extent : node.shape) {
    if (extent.is_symbolic()) return bytes;
    if (__builtin_mul_overflow(own, extent.value(), &own)) own = std::numeric_limits<std::int64_t>::max();
  }
  return saturating_add(bytes, own);
}

}  // namespace

NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, const Origin& origin) {
  return make_node(op, dtype, shape, std::move(arg), sources, common_device(sources, op, origin), origin);
}

NodePtr make_node(Op op, DType dtype, const Shape& shape, Arg arg, std::span<NodePtr> sources, Device device,
                  const Origin& origin) {
  const boost::intrusive_ptr<Node> node(new Node);
  node->op = op;
  node->dtype = dtype;
  node->device = device;
  node->shape = shape;
  node->arg = std::move(arg);
  node->site = origin.site;
  std::uint32_t depth = 0;
  std::int64_t held = 0;
  std::int64_t at_check = 0;
  std::int64_t at_bytes = 0;
  std::int64_t most = 0;
  const Node* counted = nullptr;
  for (NodePtr& source : sources) {
    if (source.get() != counted) {
      counted = source.get();
      const bool realized = counted->realized();
      const std::int64_t own =
          realized ? static_cast<std::int64_t>(counted->buffer->bytes()) : bytes_of_pending(*counted);
      if (!realized) {
        depth = std::max(depth, counted->depth);
        // Of the source that holds most: other sources have been counted for reasons of their own.
        if (own >= most) {
          most = own;
          at_check = counted->recount_at_check.load(relaxed);
          at_bytes = counted->recount_at_bytes.load(relaxed);
        }
      }
      held = saturating_add(held, own);
    }
    node->sources.push_back(std::move(source));
  }
  node->depth = depth + 1;
  node->held_bytes.store(held, relaxed);
  node->recount_at_check.store(at_check, relaxed);
  node->recount_at_bytes.store(at_bytes, relaxed);
  node->layout_class = layout_class(*node);
  node->hash = structural_hash(*node);
  return node;
}

NodePtr make_leaf(Op op, DType dtype, const Shape& shape, Arg arg, Device device, const Origin& origin) {
  const boost::intrusive_ptr<Node> node(new Node);
  node->op = op;
  node->dtype = dtype;
  node->device = device;
  node->depth = 1;
  node->shape = shape;
  node->arg = std::move(arg);
  node->site = origin.site;
  node->hash = structural_hash(*node);
  if (const auto* buffer = std::get_if<mem::BufferPtr>(&node->arg)) {
    node->depth = 0;
    node->held_bytes.store(static_cast<std::int64_t>((*buffer)->bytes()), relaxed);
    node->buffer = *buffer;
    node->version = (*buffer)->version();
    node->has_buffer.store(true, std::memory_order_release);
  }
  return node;
}

RealizedKind realized_kind(const Node& node) {
  RealizedKind kind{node.dtype, node.shape, node.layout_class, std::nullopt, node.site};
  if (kind.layout_class == LayoutClass::RowMajor) return kind;
  memory_strides(node);  // computes and stores the layout
  kind.found = *node.found.get();
  return kind;
}

NodePtr realized_node(const RealizedKind& kind, mem::BufferPtr buffer) {
  const Device device = buffer->device();
  NodePtr node = make_leaf(Op::Buffer, kind.dtype, kind.shape, std::move(buffer), device, {{}, kind.site});
  auto* fresh = const_cast<Node*>(node.get());
  fresh->layout_class = kind.layout_class;
  if (kind.found) fresh->found.set(*kind.found);
  return node;
}

std::string snake_name(Op op) {
  std::string out;
  for (const char c : name(op)) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

void check_extents(Op op, const Shape& shape, const Origin& origin) {
  for (const SymInt n : shape) {
    if (!sym::state_size(n, stating(origin, op)) && n < 0) {
      throw ShapeError(called(origin, op), fmt::format("{} has a negative extent; extents are >= 0", to_string(shape)));
    }
  }
}

SymInt checked_numel(const Shape& shape, const char* operation) {
  const SymInt count = numel(shape, operation);
  if (!identical(count, 0)) return count;
  try {
    static_cast<void>(contiguous_strides(shape));
  } catch (const OverflowError&) {
    throw OverflowError(operation, "the strides of shape " + to_string(shape) +
                                       " pass 2^63-1, although it has no elements; give smaller extents");
  }
  return count;
}

}  // namespace oriel::graph
