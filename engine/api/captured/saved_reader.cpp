#include "api/captured/saved_reader.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "view/layouts/density_predicate.hpp"

namespace oriel::api {

using graph::NodePtr;
using graph::Op;
using graph::OpClass;

namespace {

/// File names of sites, which outlive every entry: errors and profiles may name them later. Each name is kept once.
struct FileName {
  std::string text;
  const FileName* next;
};
std::atomic<const FileName*> file_names{nullptr};

const char* kept_file_name(std::string_view text) {
  const FileName* head = file_names.load(std::memory_order_acquire);
  for (const FileName* known = head; known != nullptr; known = known->next)
    if (known->text == text) return known->text.c_str();
  auto fresh = std::make_unique<FileName>(FileName{std::string(text), head});
  while (!file_names.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_acq_rel)) {
  }
  return fresh.release()->text.c_str();
}

}  // namespace

SavedReader::SavedReader(ByteReader& bytes, const LoadOptions& options)
    : bytes_(bytes), first_device_(options.device.value_or(default_device())) {
  for (std::size_t n = bytes_.count(8); n > 0; --n) words_.push_back(bytes_.text());
  const std::size_t devices = bytes_.count(2);
  for (std::size_t k = 0; k < devices; ++k) {
    const auto kind = static_cast<DeviceKind>(bytes_.u8_below(3, "a kind of device"));
    devices_.push_back({kind, bytes_.u8(), first_device_.context});
  }
  if (devices == 1) devices_[0] = first_device_;
  if (devices > 1) {
    if (options.device)
      throw ArgumentError("load_function",
                          fmt::format("\"{}\" holds a function of {} devices, which cannot all be {}; leave out "
                                      "LoadOptions::device",
                                      base::escaped(bytes_.path()), devices, options.device->str()));
    first_device_ = devices_[0];
  }
  for (const Device d : devices_) static_cast<void>(backend::backend_for(d));
}

void SavedReader::check(bool holds, std::string_view rule) const {
  if (!holds) bytes_.fail(fmt::format("is damaged: {}", rule));
}

Device SavedReader::device() {
  const std::uint32_t k = bytes_.below(devices_.size() + 1, "a device");
  return k == devices_.size() ? first_device_ : devices_[k];
}

Site SavedReader::site() {
  const std::string_view file = word();
  const std::int64_t line = bytes_.i64();
  check(line >= 0 && line <= 1 << 30, "a line has no such number");
  check(file.find('\0') == std::string_view::npos, "a file's name holds a zero byte");
  return file.empty() ? Site::unknown() : Site(Site::Kind::line, kept_file_name(file), static_cast<int>(line));
}

sym::Expr SavedReader::expression() {
  const std::string_view text = word();
  check(environment_ != nullptr, "an expression stands where only a number can");
  if (const auto known = expressions_.find(text); known != expressions_.end()) return known->second;
  const sym::Expr read = sym::parse(environment_->pool, text, [&](std::string_view name) -> sym::Expr {
    const auto* symbol = environment_->symbols.find(name);
    return symbol == nullptr ? nullptr : symbol->expr;
  });
  expressions_.emplace(text, read);
  return read;
}

sym::Expr SavedReader::condition() {
  const auto kind =
      static_cast<SavedGuard>(bytes_.u8_below(static_cast<std::size_t>(SavedGuard::count), "a kind of guard"));
  check(environment_ != nullptr, "a guard stands where no size is a symbol");
  if (kind != SavedGuard::text) {
    std::vector<sym::Expr> arguments;
    for (const SymInt n : numbers()) arguments.push_back(sym::expression_in(*environment_, n));
    check(!arguments.empty() && arguments.size() % 2 == 0, "there is not one stride a size");
    const sym::Expr dense = detail::density_predicate(arguments);
    return kind == SavedGuard::dense ? dense : sym::logical_not(dense);
  }
  const sym::Expr read = expression();
  check(read->is_condition(), "a guard is no condition");
  return read;
}

SymInt SavedReader::number() {
  if (!bytes_.flag()) {
    const std::int64_t n = bytes_.i64();
    return n;
  }
  const sym::Expr read = expression();
  check(!read->is_condition(), "a size is no number");
  return SymInt(read);
}

Ints SavedReader::numbers() {
  Ints out;
  for (std::size_t n = bytes_.count(5); n > 0; --n) out.push_back(number());
  return out;
}

Shape SavedReader::shape() {
  Shape out = numbers();
  for (const SymInt n : out)
    if (!n.is_symbolic()) check(n.value() >= 0, "an extent is negative");
  return out;
}

Ranges SavedReader::ranges() {
  Ranges out;
  for (std::size_t n = bytes_.count(10); n > 0; --n) {
    const SymInt lo = number();
    out.push_back({lo, number()});
  }
  return out;
}

View SavedReader::view() {
  View out;
  out.shape = shape();
  out.strides = numbers();
  out.offset = number();
  out.mask = ranges();
  check(out.strides.size() == out.shape.size() && (out.mask.empty() || out.mask.size() == out.shape.size()),
        "a view's parts have several ranks");
  return out;
}

graph::Scalar SavedReader::scalar() {
  const DType dtype = this->dtype();
  const std::int64_t bits = bytes_.i64();
  graph::Scalar out = is_floating(dtype) ? graph::Scalar::of_float(dtype, std::bit_cast<double>(bits))
                                         : graph::Scalar::of_int(dtype, bits);
  // Rounding may change the bits of a NaN.
  check(out.i == bits || (is_floating(dtype) && std::bit_cast<double>(bits) != std::bit_cast<double>(bits)),
        "a number does not fit its dtype");
  out.i = bits;
  return out;
}

graph::Arg SavedReader::argument() {
  switch (static_cast<SavedArg>(bytes_.u8_below(static_cast<std::size_t>(SavedArg::count), "a kind of argument"))) {
    case SavedArg::scalar:
      return scalar();
    case SavedArg::ints:
      return numbers();
    case SavedArg::ranges:
      return std::make_shared<const Ranges>(ranges());
    case SavedArg::view:
      return std::make_shared<const View>(view());
    case SavedArg::stack: {
      std::vector<View> views;
      for (std::size_t n = bytes_.count(17); n > 0; --n) views.push_back(view());
      check(!views.empty(), "a stack has no views");
      // Each set of sizes is checked by from_views and check_loaded.
      return std::make_shared<const ShapeTracker>(detail::trusted_stack(views));
    }
    default:
      return std::monostate();
  }
}

graph::AxisStrides SavedReader::axis_strides() {
  graph::AxisStrides out(bytes_.count(13));
  for (graph::AxisStride& axis : out) {
    axis.constant = number();
    for (std::size_t n = bytes_.count(9); n > 0; --n) {
      const std::uint32_t at = bytes_.u32();
      axis.terms.push_back({at, number()});
    }
  }
  return out;
}

SavedReader::Parts SavedReader::parts() {
  Parts p;
  const std::string_view name = word();
  std::size_t op = 0;
  while (op < graph::kOpCount && graph::name(static_cast<Op>(op)) != name) ++op;
  if (op == graph::kOpCount)
    bytes_.fail(fmt::format("uses the op {}, which this version of Oriel lacks", base::escaped(name)));
  p.op = static_cast<Op>(op);
  p.dtype = dtype();
  p.shape = shape();
  p.arg = argument();
  p.site = site();
  p.marks = bytes_.u8_below(32, "marks");
  if ((p.marks & kHasLayout) != 0) {
    graph::FoundLayout& found = p.layout;
    found.layout.shape = shape();
    found.layout.strides = numbers();
    found.memory = numbers();
    const std::size_t rank = found.layout.shape.size();
    check(found.layout.strides.size() == rank && (found.memory.empty() || found.memory.size() == rank),
          "a layout has strides of another rank");
  }
  if ((p.marks & kHasStrides) != 0) p.strides = axis_strides();
  check_argument(p);
  return p;
}

void SavedReader::check_argument(const Parts& p) const {
  const auto* ints = std::get_if<Ints>(&p.arg);
  const bool none = std::holds_alternative<std::monostate>(p.arg);
  const bool ranged = std::holds_alternative<std::shared_ptr<const Ranges>>(p.arg);
  const bool laid_out = (p.marks & kHasLayout) != 0;
  check(!laid_out || p.op == Op::Const, "a layout belongs to a number");
  check((p.marks & kLayoutAny) == 0 || p.op == Op::Reshape || laid_out, "a mark stands at another op");
  check((p.marks & kMirrored) == 0 || p.op == Op::Lt || p.op == Op::Le, "a mark stands at another op");
  check((p.marks & (kBroadcast | kHasStrides)) == 0 || graph::is_movement(p.op), "a mark stands at another op");
  bool fits = none;
  if (p.op == Op::Const) {
    const auto* scalar = std::get_if<graph::Scalar>(&p.arg);
    fits = scalar != nullptr ? scalar->dtype == p.dtype : ints != nullptr && ints->size() == 1;
  } else if (p.op == Op::Permute || p.op == Op::Flip || p.op == Op::Format || graph::is_reduce(p.op)) {
    fits = ints != nullptr;
  } else if (graph::is_sort(p.op)) {
    fits = ints != nullptr && ints->size() == 1;
  } else if (p.op == Op::Shrink || p.op == Op::Pad) {
    fits = ranged;
  } else if (p.op == Op::RawView) {
    fits = std::holds_alternative<std::shared_ptr<const View>>(p.arg);
  } else if (p.op == Op::Assign) {
    fits = none || std::holds_alternative<std::shared_ptr<const ShapeTracker>>(p.arg);
  }
  check(fits && p.op != Op::Buffer, "an op has an argument of another op");
}

void SavedReader::check_axes(const Ints& axes, std::size_t rank) const {
  std::int64_t last = -1;
  for (const SymInt axis : axes) {
    check(!axis.is_symbolic() && axis.value() > last && axis.value() < static_cast<std::int64_t>(rank),
          "axes do not ascend, or are none of the operand's");
    last = axis.value();
  }
}

void SavedReader::check_movement(const Parts& p, const Shape& source) const {
  const auto* ints = std::get_if<Ints>(&p.arg);
  const bool same_rank = p.shape.size() == source.size();
  check(p.op == Op::Reshape || p.op == Op::RawView || same_rank, "a movement changes the rank");
  if (p.op == Op::Flip) check_axes(*ints, source.size());
  if (p.op == Op::Permute) {
    Ints sorted = *ints;
    for (const SymInt n : sorted) check(!n.is_symbolic(), "an axis is no number");
    std::sort(sorted.begin(), sorted.end(), [](SymInt a, SymInt b) { return a.value() < b.value(); });
    check_axes(sorted, source.size());
    check(sorted.size() == source.size(), "an order has axes left out");
  }
  if (p.op == Op::Format) {
    check(!ints->empty() && !(*ints)[0].is_symbolic() && (*ints)[0].value() >= 0 && (*ints)[0].value() < 4,
          "there is no such memory format");
    const bool preserve = (*ints)[0].value() == static_cast<std::int64_t>(MemoryFormat::preserve);
    check(ints->size() == (preserve ? source.size() + 1 : 1), "a format has strides of another rank");
  }
  if (const auto* list = std::get_if<std::shared_ptr<const Ranges>>(&p.arg))
    check((*list)->size() == source.size(), "there is not one range an axis");
  if (const auto* view = std::get_if<std::shared_ptr<const View>>(&p.arg))
    check((*view)->rank() == p.shape.size(), "a view has another rank than its node");
  if ((p.marks & kHasStrides) == 0) return;
  check(p.strides.size() == p.shape.size(), "there is not one stride an axis");
  for (const graph::AxisStride& axis : p.strides)
    for (const graph::AxisStride::Term& term : axis.terms)
      check(term.axis < source.size(), "a stride is that of an axis which is not there");
}

void SavedReader::check_ranks(const Parts& p, std::span<const NodePtr> sources) const {
  const std::size_t rank = p.shape.size();
  const auto need = [&](bool holds) { check(holds, "operands and result have ranks that do not fit"); };
  switch (graph::row(p.op).op_class) {
    case OpClass::Leaf:
      break;
    case OpClass::Movement:
      check_movement(p, sources[0]->shape);
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
      check_axes(std::get<Ints>(p.arg), rank);
      break;
    case OpClass::Sort:
      need(rank > 0);
      [[fallthrough]];
    default:
      for (const NodePtr& source : sources) need(source->shape.size() == rank);
  }
}

NodePtr SavedReader::build(Parts p, std::span<NodePtr> sources, Device device) {
  check(sources.size() == static_cast<std::size_t>(graph::row(p.op).arity), "an op has too few or too many operands");
  check_ranks(p, sources);
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
  if (graph::is_sort(made->op) && !backend::backend_for(made->device).capabilities().sorts)
    throw ArgumentError("load_function", fmt::format("\"{}\" holds a function that was captured on a device which "
                                                     "sorts, and {} does not; capture and save it there",
                                                     base::escaped(bytes_.path()), made->device.str()));
  return made;
}

NodePtr SavedReader::node(std::span<const NodePtr> made) {
  Parts p = parts();
  const bool names_device = p.op == Op::Copy || graph::row(p.op).arity == 0;
  const Device device = names_device ? this->device() : first_device_;
  std::vector<NodePtr> sources;
  for (std::size_t n = bytes_.count(4); n > 0; --n) sources.push_back(made[bytes_.below(made.size(), "an operand")]);
  return build(std::move(p), sources, device);
}

NodePtr SavedReader::movement(const Shape& shape) {
  Parts p = parts();
  check(graph::is_movement(p.op), "a view is no movement");
  p.dtype = DType::int64;
  NodePtr below = graph::iota(shape);
  return build(std::move(p), {&below, 1}, first_device_);
}

std::vector<NodePtr> SavedReader::movements(Shape shape) {
  std::vector<NodePtr> out;
  for (std::size_t n = bytes_.count(18); n > 0; --n) {
    out.push_back(movement(shape));
    shape = out.back()->shape;
  }
  return out;
}

graph::RealizedKind SavedReader::realized_kind() {
  graph::RealizedKind kind;
  kind.dtype = dtype();
  kind.shape = shape();
  kind.layout_class = static_cast<graph::LayoutClass>(bytes_.u8_below(3, "a class of layouts"));
  if (kind.layout_class != graph::LayoutClass::RowMajor)
    kind.found = graph::found_layout(Layout::make(kind.shape, numbers()));
  kind.site = site();
  return kind;
}

}  // namespace oriel::api
