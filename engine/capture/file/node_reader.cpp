#include "capture/file/node_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "backend/backend.hpp"
#include "base/escape.hpp"
#include "capture/file/saved.hpp"
#include "formula/position_check.hpp"
#include "graph/layout.hpp"
#include "graph/movements.hpp"
#include "host/linalg_functions.hpp"
#include "oriel/error.hpp"

namespace oriel::api {

using graph::NodePtr;
using graph::Op;
using graph::OpClass;
using graph::Takes;

namespace {

/// The rules that the parts of one node must satisfy.
struct PartsChecker {
  const NodeReader::Parts& p;
  const SavedReader& reader;

  /// Does the argument fit the op?
  void argument() const {
    const auto* ints = std::get_if<Ints>(&p.arg);
    const bool none = std::holds_alternative<std::monostate>(p.arg);
    const bool laid_out = (p.marks & kHasLayout) != 0;
    reader.check(!laid_out || p.op == Op::Const, "a layout is stated for an op that is no constant");
    reader.check((p.marks & kLayoutAny) == 0 || p.op == Op::Reshape || laid_out,
                 "the flag for any layout is set on an op that is no reshape");
    reader.check((p.marks & kMirrored) == 0 || p.op == Op::Lt || p.op == Op::Le,
                 "the flag for swapped operands is set on an op that is no comparison");
    reader.check((p.marks & (kBroadcast | kHasStrides)) == 0 || graph::is_movement(p.op),
                 "a flag of movements is set on an op that is none");
    bool fits = none;
    if (p.op == Op::Const) {
      const auto* scalar = std::get_if<graph::Scalar>(&p.arg);
      fits = scalar != nullptr ? scalar->dtype == p.dtype : ints != nullptr && ints->size() == 1;
    } else if (graph::is_movement(p.op)) {
      const graph::Move move = graph::move_of(p.op, p.shape, p.arg);
      fits = graph::complete(move) && none == (move.ints == nullptr && move.ranges == nullptr && move.view == nullptr);
    } else if (graph::is_reduce(p.op)) {
      fits = ints != nullptr;
    } else if (graph::is_host(p.op)) {
      fits = std::holds_alternative<graph::HostFunctionPtr>(p.arg);
    } else if (graph::runs_alone(p.op)) {
      fits = ints != nullptr && ints->size() == (graph::is_scatter(p.op) ? 3 : p.op == Op::Recurrence ? 2 : 1);
    } else if (p.op == Op::Assign) {
      fits = none || std::holds_alternative<std::shared_ptr<const ShapeTracker>>(p.arg);
    }
    reader.check(fits && p.op != Op::Buffer && p.op != Op::Mark, "an op has an argument of another op");
  }

  void axes(const Ints& axes, std::size_t rank) const {
    std::int64_t last = -1;
    for (const SymInt axis : axes) {
      reader.check(!axis.is_symbolic() && axis.value() > last && axis.value() < static_cast<std::int64_t>(rank),
                   "axes do not ascend, or are none of the operand's");
      last = axis.value();
    }
  }

  void movement(const Shape& source) const {
    const auto* ints = std::get_if<Ints>(&p.arg);
    const Takes takes = graph::row(p.op).takes;
    const bool same_rank = p.shape.size() == source.size();
    reader.check(takes == Takes::Target || takes == Takes::View || same_rank, "a movement changes the rank");
    if (takes == Takes::Axes) axes(*ints, source.size());
    if (takes == Takes::Numbers) reader.check(ints->size() == source.size(), "there is not one number an axis");
    if (takes == Takes::Order) {
      Ints sorted = *ints;
      for (const SymInt n : sorted) reader.check(!n.is_symbolic(), "an axis is no number");
      std::sort(sorted.begin(), sorted.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
      axes(sorted, source.size());
      reader.check(sorted.size() == source.size(), "an order has axes left out");
    }
    if (takes == Takes::Format) {
      reader.check(!ints->empty() && !(*ints)[0].is_symbolic() && (*ints)[0].value() >= 0 && (*ints)[0].value() < 4,
                   "there is no such memory format");
      const bool preserve = (*ints)[0].value() == static_cast<std::int64_t>(MemoryFormat::preserve);
      reader.check(ints->size() == (preserve ? source.size() + 1 : 1), "a format has strides of another rank");
    }
    if (const auto* list = std::get_if<std::shared_ptr<const Ranges>>(&p.arg))
      reader.check((*list)->size() == source.size(), "there is not one range an axis");
    if (const auto* view = std::get_if<std::shared_ptr<const View>>(&p.arg))
      reader.check((*view)->rank() == p.shape.size(), "a view has another rank than its node");
    if ((p.marks & kHasStrides) == 0) return;
    reader.check(p.strides.size() == p.shape.size(), "there is not one stride an axis");
    for (const graph::AxisStride& axis : p.strides)
      for (const graph::AxisStride::Term& term : axis.terms)
        reader.check(term.axis < source.size(), "a stride is that of an axis which is not there");
  }

  /// Do the ranks of the operands fit the op?
  void ranks(std::span<const NodePtr> sources) const {
    const std::size_t rank = p.shape.size();
    const auto need = [&](bool holds) { reader.check(holds, "operands and result have ranks that do not fit"); };
    switch (graph::row(p.op).op_class) {
      case OpClass::Leaf:
        break;
      case OpClass::Movement:
        movement(sources[0]->shape);
        break;
      case OpClass::Write: {
        const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&p.arg);
        need(sources[0]->shape.size() == rank);
        need(sources[1]->shape.size() == (where != nullptr ? (*where)->shape().size() : rank));
        break;
      }
      case OpClass::Gather:
        need(sources[1]->shape.size() == rank);
        break;
      case OpClass::Reduce:
        need(sources[0]->shape.size() == rank);
        axes(std::get<Ints>(p.arg), rank);
        break;
      case OpClass::Scatter: {
        const Ints& ints = std::get<Ints>(p.arg);
        need(!ints[0].is_symbolic() && ints[0] >= 0 && ints[0] < rank);
        need(sources[0]->shape.size() == (ints[1] == 1 ? rank : 1));
        need(sources.size() == 1 || sources[1]->shape.size() == (ints[2] == 1 ? 0 : rank));
        break;
      }
      case OpClass::Scan: {
        const Ints& ints = std::get<Ints>(p.arg);
        need(!ints[0].is_symbolic() && ints[0] >= 0 && ints[0] < rank);
        need(ints.size() == 1 || !ints[1].is_symbolic());
        need(sources[0]->shape.size() == (ints.size() == 2 && ints[1] == 1 ? 0 : rank));
        need(sources.back()->shape.size() == rank);
        break;
      }
      case OpClass::Sort:
        need(rank > 0);
        [[fallthrough]];
      default:
        if (graph::is_host(p.op)) break;
        for (const NodePtr& source : sources) need(source->shape.size() == rank);
    }
  }
};

}  // namespace

graph::Scalar NodeReader::scalar() {
  const DType dtype = reader_.dtype();
  const std::int64_t bits = reader_.bytes().i64();
  graph::Scalar out = is_floating(dtype) ? graph::Scalar::of_float(dtype, std::bit_cast<double>(bits))
                                         : graph::Scalar::of_int(dtype, bits);
  // Rounding may change the bits of a NaN.
  reader_.check(out.i == bits || (is_floating(dtype) && std::bit_cast<double>(bits) != std::bit_cast<double>(bits)),
                "a number does not fit its dtype");
  out.i = bits;
  return out;
}

graph::Arg NodeReader::argument() {
  switch (static_cast<SavedArg>(
      reader_.bytes().u8_below(static_cast<std::size_t>(SavedArg::count), "a kind of argument"))) {
    case SavedArg::scalar:
      return scalar();
    case SavedArg::ints:
      return reader_.numbers();
    case SavedArg::ranges:
      return std::make_shared<const Ranges>(reader_.ranges());
    case SavedArg::view:
      return std::make_shared<const View>(reader_.view());
    case SavedArg::stack: {
      std::vector<View> views;
      for (std::size_t n = reader_.bytes().count(17); n > 0; --n) views.push_back(reader_.view());
      reader_.check(!views.empty(), "a stack has no views");
      // Each set of sizes is checked by from_views and check_loaded.
      return std::make_shared<const ShapeTracker>(detail::trusted_stack(views));
    }
    case SavedArg::host: {
      const std::string_view name = reader_.word();
      graph::HostFunctionPtr function = api::position_check_function(name);
      if (function == nullptr) function = api::linalg_function(name);
      if (function == nullptr)
        reader_.bytes().fail(
            fmt::format("calls the function {}, which this version of Oriel lacks", base::escaped(name)));
      return function;
    }
    default:
      return std::monostate();
  }
}

graph::AxisStrides NodeReader::axis_strides() {
  graph::AxisStrides out(reader_.bytes().count(13));
  for (graph::AxisStride& axis : out) {
    axis.constant = reader_.number();
    for (std::size_t n = reader_.bytes().count(9); n > 0; --n) {
      const std::uint32_t at = reader_.bytes().u32();
      axis.terms.push_back({at, reader_.number()});
    }
  }
  return out;
}

NodeReader::Parts NodeReader::parts() {
  Parts p;
  const std::string_view name = reader_.word();
  std::size_t op = 0;
  while (op < graph::kOpCount && graph::name(static_cast<Op>(op)) != name) ++op;
  if (op == graph::kOpCount)
    reader_.bytes().fail(fmt::format("uses the op {}, which this version of Oriel lacks", base::escaped(name)));
  p.op = static_cast<Op>(op);
  p.dtype = reader_.dtype();
  p.shape = reader_.shape();
  p.arg = argument();
  p.site = reader_.site();
  p.marks = reader_.bytes().u8_below(32, "marks");
  if ((p.marks & kHasLayout) != 0) {
    graph::FoundLayout& found = p.layout;
    found.layout.shape = reader_.shape();
    found.layout.strides = reader_.numbers();
    found.memory = reader_.numbers();
    const std::size_t rank = found.layout.shape.size();
    reader_.check(found.layout.strides.size() == rank && (found.memory.empty() || found.memory.size() == rank),
                  "a layout has strides of another rank");
  }
  if ((p.marks & kHasStrides) != 0) p.strides = axis_strides();
  PartsChecker{p, reader_}.argument();
  return p;
}

void NodeReader::refuse(std::string_view what, Device device) const {
  throw ArgumentError("load_function", fmt::format("\"{}\" holds a function that was captured on a device which {}, "
                                                   "and {} does not; capture and save it there",
                                                   base::escaped(reader_.bytes().path()), what, device.str()));
}

NodePtr NodeReader::build(Parts p, std::span<NodePtr> sources, Device device) {
  reader_.check(sources.size() == static_cast<std::size_t>(graph::row(p.op).arity),
                "an op has too few or too many operands");
  PartsChecker{p, reader_}.ranks(sources);
  const graph::Origin origin{{}, p.site};
  const bool over_memory =
      p.op == Op::Assign && (sources[0]->realized() || (sources[0]->op == Op::Assign && sources[0]->over_memory));
  NodePtr made;
  if (sources.empty()) {
    made = graph::make_leaf(p.op, p.dtype, p.shape, std::move(p.arg), device, origin);
  } else if (p.op == Op::Copy) {
    made = graph::make_node(p.op, p.dtype, p.shape, std::move(p.arg), sources, device, origin);
  } else {
    made = graph::make_node(p.op, p.dtype, p.shape, std::move(p.arg), sources, origin);
  }
  auto* fresh = const_cast<graph::Node*>(made.get());  // no other thread knows the node yet
  fresh->mirrored = (p.marks & kMirrored) != 0;
  fresh->broadcast = (p.marks & kBroadcast) != 0;
  fresh->over_memory = over_memory;
  if ((p.marks & kLayoutAny) != 0) fresh->layout_class = graph::LayoutClass::Any;
  if ((p.marks & kHasLayout) != 0) fresh->found.set(std::move(p.layout));
  if ((p.marks & kHasStrides) != 0)
    fresh->axis_strides = std::make_shared<const graph::AxisStrides>(std::move(p.strides));
  const backend::Capabilities& can = backend::backend_for(made->device).capabilities();
  if (graph::is_host(made->op) && !can.hosts) refuse("calls functions of the host", made->device);
  if (graph::is_scatter(made->op) && !can.scatters) refuse("scatters", made->device);
  return made;
}

NodePtr NodeReader::node(std::span<const NodePtr> made) {
  Parts p = parts();
  const bool names_device = p.op == Op::Copy || graph::row(p.op).arity == 0;
  const Device device = names_device ? reader_.device() : reader_.first_device();
  std::vector<NodePtr> sources;
  for (std::size_t n = reader_.bytes().count(4); n > 0; --n)
    sources.push_back(made[reader_.bytes().below(made.size(), "an operand")]);
  return build(std::move(p), sources, device);
}

NodePtr NodeReader::movement(const Shape& shape) {
  Parts p = parts();
  // A view names elements of its storage, and nothing else.
  const auto* const view = std::get_if<std::shared_ptr<const View>>(&p.arg);
  reader_.check(graph::is_movement(p.op) && graph::row(p.op).elements != graph::Elements::Padded &&
                    (view == nullptr || (*view)->mask.empty()),
                "a view is no movement");
  p.dtype = DType::int64;
  NodePtr below = graph::iota(shape);
  return build(std::move(p), {&below, 1}, reader_.first_device());
}

std::vector<NodePtr> NodeReader::movements(Shape shape) {
  std::vector<NodePtr> out;
  for (std::size_t n = reader_.bytes().count(18); n > 0; --n) {
    out.push_back(movement(shape));
    shape = out.back()->shape;
  }
  return out;
}

}  // namespace oriel::api
