#include "oriel/movement.hpp"

#include <fmt/format.h>

#include <optional>

#include "backend/backend.hpp"
#include "formula/call.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "oriel/ops.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::whole;
using graph::NodePtr;

Tensor repeat(const Operand& x, const Ints& counts) {
  const Call call("repeat", x);
  NodePtr node = call.node(x);
  const Shape shape = node->shape;
  if (counts.size() != shape.size()) {
    throw ShapeError("repeat", fmt::format("{} counts for the {} axes of {}; give one per axis", counts.size(),
                                           shape.size(), to_string(shape)));
  }
  // Each axis n becomes (count, n), is expanded, and is merged into one axis again.
  Shape apart;
  Shape grown;
  Shape joined;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!sym::state_size(counts[d], "repeat") && counts[d] < 0)
      throw ShapeError("repeat", fmt::format("counts {} must be >= 0", to_string(counts)));
    SymInt extent;
    try {
      extent = counts[d] * shape[d];
    } catch (const OverflowError&) {
      throw OverflowError(
          "repeat", fmt::format("{} times axis {} of {} passes 2^63-1", to_string(counts[d]), d, to_string(shape)));
    }
    if (!sym::or_false(counts[d] == 1)) {
      apart.push_back(1);
      grown.push_back(counts[d]);
    }
    apart.push_back(shape[d]);
    grown.push_back(shape[d]);
    joined.push_back(extent);
  }
  node = call.reshape(std::move(node), apart);
  node = graph::expand(std::move(node), grown, call.origin());
  return Access::tensor(call.reshape(std::move(node), joined));
}

namespace {

/// The format of what is joined from these pieces, by PyTorch's rule: that of all of them, else row-major.
MemoryFormat common_format(std::span<const NodePtr> pieces) {
  std::optional<MemoryFormat> common;
  for (const NodePtr& piece : pieces) {
    if (piece->layout_class == graph::LayoutClass::RowMajor) return MemoryFormat::contiguous;
    // Other ranks have one format, and that of a size which depends on data is unknown.
    const std::size_t rank = piece->shape.size();
    if ((rank != 4 && rank != 5) || sym::depends_on_data(numel(piece->shape))) return MemoryFormat::contiguous;
    const MemoryFormat format = Access::layout(*piece).suggest_memory_format();
    if (common.value_or(format) != format) return MemoryFormat::contiguous;
    common = format;
  }
  return common.value_or(MemoryFormat::contiguous);
}

NodePtr in_format(const Call& call, NodePtr node, MemoryFormat format) {
  if (format == MemoryFormat::contiguous && node->layout_class == graph::LayoutClass::RowMajor) return node;
  return graph::format(std::move(node), format, call.origin());
}

/// The format of a rolled tensor, which PyTorch joins from two parts of x. One without elements is row-major.
MemoryFormat rolled_format(const Call& call, const NodePtr& x, std::size_t d, SymInt start) {
  if (x->layout_class == graph::LayoutClass::RowMajor) return MemoryFormat::contiguous;
  Ranges front = whole(x->shape);
  Ranges back = front;
  back[d] = {0, start};
  front[d] = {start, x->shape[d]};
  const NodePtr parts[] = {call.shrink(x, front), call.shrink(x, back)};
  return common_format(parts);
}

NodePtr chosen(const Call& call, std::span<const NodePtr> nodes, std::size_t axis);

/// For sizes that depend on data: by the position from which each element comes. It has a value for every size of an
/// axis with elements, and no decision rests on it.
NodePtr rolled_by_position(const Call& call, const NodePtr& node, std::size_t d, SymInt shift) {
  const SymInt n = node->shape[d];
  const Tensor place = Access::tensor(graph::iota({n}, node->device, call.origin()));
  return Access::node(
      take(Access::tensor(node), remainder(place - shift, n), static_cast<std::int64_t>(d), Bounds::zero));
}

/// For other symbolic sizes: the last elements of the axis, and behind them the others. The parts are masked views of
/// one plan for all sizes.
NodePtr rolled_in_parts(const Call& call, const NodePtr& node, std::size_t d, SymInt shift) {
  const SymInt n = node->shape[d];
  // Mostly the distance is shorter than the axis, and then the parts need no remainder.
  const bool back = shift < 0;
  const SymInt distance = back ? -shift : shift;
  const SymInt moved = distance < n ? distance : distance % n;
  const SymInt cut = back ? moved : n - moved;
  Ranges front = whole(node->shape);
  Ranges rest = front;
  front[d] = {cut, n};
  rest[d] = {0, cut};
  const NodePtr parts[] = {call.shrink(node, front), call.shrink(node, rest)};
  return in_format(call, chosen(call, parts, d), common_format(parts));
}

NodePtr rolled(const Call& call, NodePtr node, std::size_t d, SymInt shift) {
  const SymInt n = node->shape[d];
  if (sym::known(n == 0).value_or(false)) return node;
  if (sym::depends_on_data(n) || sym::depends_on_data(shift)) return rolled_by_position(call, node, d, shift);
  if (n.is_symbolic() || shift.is_symbolic()) return rolled_in_parts(call, node, d, shift);
  if (shift % n == 0) return in_format(call, std::move(node), MemoryFormat::contiguous);
  // Two copies in a row, and a window of n elements that begins at the first element of the result.
  const SymInt start = n - shift % n;
  const MemoryFormat format = rolled_format(call, node, d, start);
  const Shape shape = node->shape;
  Shape twice = shape;
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
  node = call.reshape(std::move(node), twice);
  twice[d] = 2;
  Shape joined = shape;
  try {
    joined[d] = n * 2;
    numel(twice);
  } catch (const OverflowError&) {
    throw OverflowError(call.operation(), fmt::format("axis {} of {} is rolled as a window of two copies, which pass "
                                                      "2^63-1 elements; roll a part of half the size",
                                                      d, to_string(shape)));
  }
  node = graph::expand(std::move(node), twice, call.origin());
  node = call.reshape(std::move(node), joined);
  Ranges window = whole(joined);
  window[d] = {start, start + n};
  return in_format(call, call.shrink(std::move(node), window), format);
}

}  // namespace

Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis) { return roll(x, Ints{shift}, Ints{axis}); }

Tensor roll(const Operand& x, std::int64_t shift) {
  const Call call("roll", x);
  const NodePtr node = call.node(x);
  const Shape shape = node->shape;
  return Access::tensor(call.reshape(rolled(call, call.reshape(node, {numel(shape)}), 0, shift), shape));
}

Tensor roll(const Operand& x, const Ints& shifts, const Ints& axes) {
  const Call call("roll", x);
  NodePtr node = call.node(x);
  if (shifts.size() != axes.size()) {
    throw ShapeError("roll", fmt::format("{} shifts for {} axes; give one shift for each axis that is named",
                                         shifts.size(), axes.size()));
  }
  const std::size_t rank = node->shape.size();
  for (std::size_t k = 0; k < axes.size(); ++k)
    node = rolled(call, std::move(node), call.axis(axes[k], rank), shifts[k]);
  return Access::tensor(std::move(node));
}

namespace {

void check_some(std::string_view name, std::size_t count) {
  if (count == 0) throw ArgumentError(name, "no tensors came; give at least one");
}

SymInt total_extent(const Call& call, std::span<const NodePtr> nodes, std::size_t axis) try {
  SymInt total = 0;
  for (const NodePtr& node : nodes) total += node->shape[axis];
  return total;
} catch (const OverflowError&) {
  throw OverflowError(call.operation(), fmt::format("the extents of {} tensors such as {} along axis {} pass 2^63-1 in "
                                                    "sum; join smaller parts",
                                                    nodes.size(), to_string(nodes[0]->shape), axis));
}

// Each piece padded to the whole extent, and a chain of `where` that chooses among them.
NodePtr chosen(const Call& call, std::span<const NodePtr> nodes, std::size_t axis) {
  const SymInt total = total_extent(call, nodes, axis);
  NodePtr out;
  SymInt before = 0;
  for (const NodePtr& node : nodes) {
    const SymInt extent = node->shape[axis];
    // One whose size depends on data is joined, though it may turn out to be empty.
    if (sym::or_false(extent == 0)) continue;
    Ranges around(node->shape.size(), Range{0, 0});
    around[axis] = {before, total - before - extent};
    NodePtr placed = graph::pad(node, around, call.origin());
    out = out ? call.where(call.inside(node->shape, node->device, around), std::move(placed), std::move(out))
              : std::move(placed);
    before += extent;
  }
  return out ? out : nodes[0];
}

// Every element of the result evaluates the whole chain. Many pieces are therefore joined in groups, and the groups
// again, so that the work is n log n in the number of pieces: scheduling stores a group that is not small.
constexpr std::size_t kLongestChain = 64;

// A write of each piece into its place computes it once, where `chosen` computes all pieces at each point, and costs a
// kernel for each piece and the memory of the result. Pieces that lie in memory are copied by one kernel, which is
// slower only where it takes turns between long pieces. Writes are for host memory.
constexpr std::size_t kFewestWrites = 4;
constexpr double kFewestWritten = 1 << 15;   // elements of the result
constexpr double kShortestWrite = 256;       // elements of a piece, on average
constexpr double kShortestCopied = 1 << 14;  // the same of pieces in memory
constexpr double kShortestRun = 256;         // elements of a piece in memory that lie together in the result

bool worth_writing(std::span<const NodePtr> nodes, std::size_t axis) {
  double elements = 0, runs = 0;
  bool copied = true;
  for (const NodePtr& node : nodes) {
    double piece = 1, rows = 1;
    for (std::size_t d = 0; d < node->shape.size(); ++d) {
      if (node->shape[d].is_symbolic()) return false;
      piece *= static_cast<double>(node->shape[d].value());
      if (d < axis) rows *= static_cast<double>(node->shape[d].value());
    }
    if (node->device != nodes[0]->device) return false;
    elements += piece;
    runs += rows;
    copied = copied && graph::below_movements(node)->realized();
  }
  if (nodes.size() < kFewestWrites || elements < kFewestWritten) return false;
  if (!backend::backend_for(nodes[0]->device).capabilities().hosts) return false;
  const double average = elements / static_cast<double>(nodes.size());
  return copied ? average >= kShortestCopied && elements >= kShortestRun * runs : average >= kShortestWrite;
}

NodePtr written(const Call& call, std::span<const NodePtr> nodes, std::size_t axis) {
  Shape shape = nodes[0]->shape;
  shape[axis] = total_extent(call, nodes, axis);
  NodePtr out = call.number(Operand(0, call.origin().site), nodes[0]->dtype, shape, nodes[0]->device);
  SymInt before = 0;
  for (const NodePtr& node : nodes) {
    const SymInt behind = before + node->shape[axis];
    if (behind == before) continue;
    Ranges place = whole(shape);
    place[axis] = {before, behind};
    out = graph::assign(std::move(out), node, std::make_shared<const ShapeTracker>(ShapeTracker(shape).shrink(place)),
                        call.origin());
    before = behind;
  }
  return out;
}

NodePtr joined(const Call& call, std::span<const NodePtr> nodes, std::size_t axis) {
  if (worth_writing(nodes, axis)) return written(call, nodes, axis);
  if (nodes.size() <= kLongestChain) return chosen(call, nodes, axis);
  total_extent(call, nodes, axis);  // an overflow names all pieces
  const std::size_t count = (nodes.size() + kLongestChain - 1) / kLongestChain;
  std::vector<NodePtr> groups;
  for (std::size_t g = 0; g < count; ++g) {
    const std::size_t begin = nodes.size() * g / count, end = nodes.size() * (g + 1) / count;
    groups.push_back(chosen(call, nodes.subspan(begin, end - begin), axis));
  }
  return joined(call, groups, axis);
}

}  // namespace

Tensor concat(ListOf<Tensor> tensors, std::int64_t axis, Site site) {
  const Call call("concat", site);
  check_some("concat", tensors.size());
  const Shape& first = tensors[0].shape();
  const std::size_t d = call.axis(axis, first.size());
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    bool fits = t.rank() == first.size();
    for (std::size_t k = 0; fits && k < first.size(); ++k)
      fits = k == d || sym::required(t.shape()[k] == first[k], "concat");
    if (!fits) {
      throw ShapeError("concat", fmt::format("{} and {} differ beside axis {}; the other extents must agree",
                                             to_string(first), to_string(t.shape()), d));
    }
  }
  std::vector<NodePtr> nodes;
  for (const Tensor& t : tensors) nodes.push_back(call.cast(Access::node(t), dtype));
  const MemoryFormat format = common_format(nodes);
  return Access::tensor(in_format(call, joined(call, nodes, d), format));
}

Tensor stack(ListOf<Tensor> tensors, std::int64_t axis, Site site) {
  const Call call("stack", site);
  check_some("stack", tensors.size());
  const Shape& first = tensors[0].shape();
  const std::size_t d = api::new_axis(call, axis, first.size());
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) {
    dtype = promote(dtype, t.dtype());
    bool fits = t.rank() == first.size();
    for (std::size_t k = 0; fits && k < first.size(); ++k) fits = sym::required(t.shape()[k] == first[k], "stack");
    if (!fits) {
      throw ShapeError("stack",
                       fmt::format("shapes {} and {} differ; they must agree", to_string(first), to_string(t.shape())));
    }
  }
  Shape shape = first;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), SymInt(1));
  std::vector<NodePtr> nodes;
  for (const Tensor& t : tensors) nodes.push_back(call.cast(Access::node(t), dtype));
  const MemoryFormat format = d < first.size() ? common_format(nodes) : MemoryFormat::contiguous;
  for (NodePtr& node : nodes) node = call.reshape(std::move(node), shape);
  NodePtr result = joined(call, nodes, d);
  if (format == MemoryFormat::contiguous) return Access::tensor(in_format(call, std::move(result), format));
  // PyTorch joins along axis d, and splits this axis in two.
  Shape whole_axis = first;
  whole_axis[d] *= tensors.size();
  Ints strides = Layout::of(whole_axis, format).strides;
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(d), strides[d] * first[d]);
  return Access::tensor(graph::format(std::move(result), strides, call.origin()));
}

}  // namespace oriel
