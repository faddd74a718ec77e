#include "oriel/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "base/parts.hpp"
#include "formula/call.hpp"
#include "graph/layout.hpp"
#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "inspect/observe.hpp"
#include "memory/host.hpp"
#include "memory/machine.hpp"
#include "oriel/error.hpp"
#include "runtime/executor.hpp"
#include "runtime/trace.hpp"
#include "view/positions.hpp"

namespace oriel {

using detail::Access;
using graph::NodePtr;

namespace {

#ifndef ORIEL_BY_USE
// Whatever has tensors reports what they do, where it is asked to.
[[gnu::constructor]] void use_inspection() { runtime::install_inspection(); }
#endif

// The cell of default-constructed and moved-from tensors. Never freed, so that moving needs no allocation. It has no
// elements, so it cannot be written.
detail::Cell* empty_cell() {
  static detail::Cell* cell =
      detail::Cell::make_storage(graph::constant(graph::Scalar::of_int(DType::float32, 0), {0})).detach();
  return cell;
}

detail::Cell* share(detail::Cell* cell) noexcept {
  intrusive_ptr_add_ref(cell);
  return cell;
}

// Throws unless elements of this dtype can be read from the cell.
void check_readable(const detail::Cell& cell, DType dtype, const char* operation) {
  runtime::check_may_read(operation);
  if (dtype != cell.dtype()) {
    throw DTypeError(operation, fmt::format("the elements are {} and {} was asked for; convert with to(DType) first",
                                            name(cell.dtype()), name(dtype)));
  }
  if (!backend::computes(cell.device())) {
    throw DeviceError(operation, "the null device computes nothing, so there is nothing to read; use the eigen device");
  }
}

// The bytes of a shape. Throws OverflowError if they do not fit a pointer difference.
std::size_t byte_count(DType dtype, const Shape& shape, const char* operation) {
  for (const SymInt n : shape) {
    if (n < 0) {
      throw ShapeError(operation, fmt::format("{} has a negative extent; extents are >= 0", to_string(shape)));
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(oriel::numel(shape, operation).value(), static_cast<std::int64_t>(itemsize(dtype)),
                             &bytes)) {
    throw OverflowError(operation, fmt::format("{} of {} takes more than 2^63-1 bytes", to_string(shape), name(dtype)));
  }
  return static_cast<std::size_t>(bytes);
}

// Realises the nodes, so that their elements are in memory.
void realize_nodes(std::span<const NodePtr> nodes) {
  runtime::check_may_read("realize");
  for (const NodePtr& node : nodes) {
    if (!node->realized()) {
      runtime::realize(nodes);
      return;
    }
  }
}

// The realised node, or a row-major copy if its elements are stored in another order.
NodePtr in_row_major_order(const NodePtr& node, const char* operation) {
  if (graph::memory_strides(*node) == nullptr) {
    realize_nodes({&node, 1});
    return node;
  }
  std::array<NodePtr, 2> both{node, graph::format(node, MemoryFormat::contiguous, {operation, node->site})};
  realize_nodes(both);
  return std::move(both[1]);
}

// The elements of movements of memory, copied one by one in row-major order. For memory whose context has ended, in
// which nothing can be computed any more. Null for other nodes.
NodePtr copied_by_hand(const NodePtr& node) {
  if (base::find_context(node->device.context) != nullptr) return nullptr;
  std::vector<NodePtr> movements;
  NodePtr below = node;
  while (!below->realized()) {
    if (!graph::is_movement(below->op)) return nullptr;
    const graph::Node::Sources sources = below->lazy_sources();
    if (sources.empty()) continue;  // realised meanwhile
    movements.push_back(std::exchange(below, sources[0]));
  }
  const mem::Buffer& from = *below->buffer;
  if (runtime::is_placeholder(from) || (from.allocator() != nullptr && !from.allocator()->on_host())) return nullptr;
  ShapeTracker map(below->shape);
  for (std::size_t k = movements.size(); k-- > 0;) map = graph::moved(map, *movements[k]);
  std::vector<View> views(map.views().begin(), map.views().end());
  if (const Ints* strides = graph::memory_strides(*below))
    views.insert(views.begin(), View{below->shape, *strides, 0, {}});
  const std::size_t item = itemsize(node->dtype);
  const std::size_t bytes = byte_count(node->dtype, node->shape, "read");
  auto* const made = new std::byte[bytes]();
  auto buffer = std::make_shared<mem::Buffer>(node->device, made, bytes,
                                              [](void* memory) { delete[] static_cast<std::byte*>(memory); });
  for (std::size_t n = 0; n < bytes / item; ++n) {
    std::optional<std::int64_t> position = static_cast<std::int64_t>(n);
    for (std::size_t k = views.size(); k-- > 0 && position;) position = detail::position_of(views[k], *position);
    if (position) std::memcpy(made + n * item, static_cast<const std::byte*>(from.data()) + *position * item, item);
  }
  return graph::realized_node({.dtype = node->dtype, .shape = node->shape}, std::move(buffer));
}

// The node with its elements in memory, in row-major order; or a copy that is.
NodePtr readable(NodePtr node, const char* operation) {
  const bool any_order = node->layout_class == graph::LayoutClass::Any;
  if (any_order || !node->realized())
    if (NodePtr copy = copied_by_hand(node)) return copy;
  if (any_order) return in_row_major_order(node, operation);
  realize_nodes({&node, 1});
  return node;
}

}  // namespace

Tensor::Tensor() : cell_(share(empty_cell())) {}
Tensor::Tensor(const Tensor& other) noexcept : cell_(share(other.cell_)) {}
Tensor::Tensor(Tensor&& other) noexcept : cell_(std::exchange(other.cell_, share(empty_cell()))) {}

Tensor& Tensor::operator=(const Tensor& other) & noexcept {
  Tensor kept(other);
  std::swap(cell_, kept.cell_);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) & noexcept {
  std::swap(cell_, other.cell_);
  return *this;
}

Tensor::~Tensor() { intrusive_ptr_release(cell_); }

Shape Tensor::reach(const Layout& layout) {
  Layout::make(layout.shape, layout.strides);
  SymInt last = 0;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    if (layout.strides[d] < 0) {
      throw ShapeError("borrow",
                       fmt::format("stride {} of axis {} is negative; begin at the lowest element and flip the axis",
                                   to_string(layout.strides[d]), d));
    }
    if (layout.shape[d] == 0) return {0};
    last += (layout.shape[d] - 1) * layout.strides[d];
  }
  return {last + 1};
}

Tensor Tensor::wrap(DType dtype, void* data, const Shape& shape, Callback<void(void*)> deleter, const char* operation,
                    Site site) {
  const bool adopted = static_cast<bool>(deleter);
  // From here on the data is freed by the deleter, whatever is thrown below.
  std::shared_ptr<void> guard(data, [deleter = std::move(deleter)](void* p) {
    try {
      if (deleter) deleter(p);
    } catch (...) {
      // Nobody could catch the exception: buffers are freed in destructors, in any thread.
    }
  });
  const std::size_t bytes = byte_count(dtype, shape, operation);
  if (data == nullptr && bytes != 0) {
    throw ArgumentError(
        operation, fmt::format("the pointer is null; {} of {} needs {} bytes", to_string(shape), name(dtype), bytes));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % itemsize(dtype) != 0) {
    throw ArgumentError(operation,
                        fmt::format("the pointer is not aligned to {}'s {} bytes", name(dtype), itemsize(dtype)));
  }
  if (!adopted && runtime::tracing()) {
    throw ArgumentError(
        operation,
        "a captured function is being traced, which would keep a pointer to the caller's memory and read "
        "it in every call; pass the tensor as an argument, or copy its elements with Tensor::from");
  }
  std::function<void(void*)> release;
  if (adopted) release = [guard = std::move(guard)](void*) mutable { guard.reset(); };
  auto buffer = backend::backend_for(default_device()).wrap(data, bytes, std::move(release));
  return Access::tensor(graph::leaf(std::move(buffer), dtype, shape, {operation, site}));
}

Tensor Tensor::copy(DType dtype, const void* data, const Shape& shape, Site site) {
  const detail::CallSite call(site);
  const std::size_t bytes = byte_count(dtype, shape, "from");
  if (data == nullptr && bytes != 0) {
    throw ArgumentError(
        "from", fmt::format("the pointer is null; {} of {} needs {} bytes", to_string(shape), name(dtype), bytes));
  }
  const std::shared_ptr<mem::Allocator> allocator = backend::backend_for(default_device()).allocator();
  auto buffer = std::make_shared<mem::Buffer>(allocator, bytes);
  if (bytes != 0) allocator->write(buffer->data(), data, bytes);
  return Access::tensor(graph::leaf(std::move(buffer), dtype, shape, {"from", site}));
}

Tensor Tensor::from(const std::vector<bool>& data, const Shape& shape, Site site) {
  const detail::CallSite call(site);
  check_count(data.size(), shape, "from");
  const std::vector<std::uint8_t> bytes(data.begin(), data.end());
  return copy(DType::bool_, bytes.data(), shape, site);
}

std::size_t Tensor::count_of(const Shape& shape, const char* operation, std::size_t bytes) {
  byte_count(DType::bool_, shape, operation);
  const auto count = static_cast<std::size_t>(oriel::numel(shape, operation).value());
  // Checked before a vector is allocated, because its own errors would not name the size.
  if (bytes != 0 && count > mem::machine_memory() / bytes) {
    throw MemoryError(operation, fmt::format("{} elements of {} bytes; the machine has {} bytes of memory", count,
                                             bytes, mem::machine_memory()));
  }
  return count;
}

void Tensor::no_memory(std::size_t count, std::size_t bytes, const char* operation) {
  throw MemoryError(operation, fmt::format("there is no memory for {} elements of {} bytes", count, bytes));
}

std::size_t Tensor::count_to_read(DType dtype, const char* operation) const {
  check_readable(*cell_, dtype, operation);
  return count_of(shape(), operation, itemsize(dtype));
}

void Tensor::check_count(std::size_t count, const Shape& shape, const char* operation) {
  const std::size_t wanted = count_of(shape, operation);
  if (count == wanted) return;
  throw ArgumentError(operation,
                      fmt::format("{} elements came for {}, which takes {}", count, to_string(shape), wanted));
}

void Tensor::check_row(std::size_t length, std::size_t first) {
  if (length == first) return;
  throw ShapeError("of", fmt::format("rows of {} and {} elements; give rows of equal length", first, length));
}

void Tensor::each_index(const Shape& shape, void* state, void (*f)(void* state, std::span<const std::int64_t> i)) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t left = count_of(shape, "generate"); left > 0; --left) {
    f(state, index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

const Shape& Tensor::shape() const noexcept { return cell_->shape(); }
DType Tensor::dtype() const noexcept { return cell_->dtype(); }
Device Tensor::device() const noexcept { return cell_->device(); }
SymInt Tensor::numel() const { return oriel::numel(shape()); }

SymInt Tensor::size(std::int64_t axis) const {
  return shape()[graph::normal_axis(axis, rank(), {.operation = "size"})];
}

bool Tensor::realized() const noexcept { return cell_->node()->realized(); }

std::string Tensor::str() const {
  return fmt::format("{} {} on {}", name(dtype()), to_string(shape()), device().str());
}

const Tensor& Tensor::realize(Site site) const {
  const detail::CallSite call(site);
  const NodePtr node = Access::node(*this);
  realize_nodes({&node, 1});
  return *this;
}

void Tensor::check_one() const {
  if (numel() == 1) return;
  throw ShapeError("item", fmt::format("{} holds {} elements; only a tensor of one element has an item",
                                       to_string(shape()), numel().value()));
}

void Tensor::read(DType dtype, void* out, std::size_t count, const char* operation) const {
  check_readable(*cell_, dtype, operation);
  const auto have = static_cast<std::size_t>(numel());
  if (count != have) {
    throw ArgumentError(operation,
                        fmt::format("{} holds {} elements and the span {}", to_string(shape()), have, count));
  }
  if (out == nullptr && have != 0) throw ArgumentError(operation, "the pointer is null");
  if (have == 0) return;
  // Holding the node keeps its elements unchanged while they are read.
  const NodePtr node = readable(Access::node(*this), operation);
  const mem::Buffer& buffer = *node->buffer;
  if (runtime::is_placeholder(buffer)) runtime::refuse_placeholder(operation);
  const std::size_t bytes = byte_count(dtype, shape(), operation);
  if (buffer.allocator() == nullptr) {
    std::memcpy(out, buffer.data(), bytes);
  } else {
    buffer.allocator()->read(buffer.data(), out, bytes);
  }
}

void Tensor::read_into(DType dtype, void* out, const Layout& layout) const {
  constexpr const char* kName = "copy_to";
  base::need<base::kFurther>(kName);
  check_readable(*cell_, dtype, kName);
  Layout::make(layout.shape, layout.strides);
  const std::size_t rank = layout.rank(), item = itemsize(dtype);
  if (layout.shape != shape()) {
    throw ShapeError(kName, fmt::format("a layout of {} for {}; give a stride for each axis of this shape",
                                        to_string(layout.shape), to_string(shape())));
  }
  // Axes in the order of memory: then rows are written one after the other, and the engine transposes.
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    if (layout.strides[d] < 0) {
      throw ShapeError(kName, fmt::format("stride {} of axis {} is negative; flip the axis, and begin at the lowest "
                                          "element",
                                          to_string(layout.strides[d]), d));
    }
    order[d] = d;
  }
  if (numel() == 0) return;
  if (out == nullptr) throw ArgumentError(kName, "the pointer is null");
  const auto stride = [&](SymInt axis) { return layout.strides[static_cast<std::size_t>(axis.value())].value(); };
  std::stable_sort(order.begin(), order.end(), [&](SymInt a, SymInt b) { return stride(a) > stride(b); });
  const Tensor moved = permute(order, Site::unknown());
  const Tensor here = backend::backend_for(device()).allocator()->on_host() ? moved : moved.to(Device::eigen());
  const detail::Shared<const void> held = here.hold(dtype, kName);
  const auto* from = static_cast<const std::byte*>(held.get());
  // The trailing axes that lie in a row are one run.
  std::size_t outer = rank, run = 1;
  const auto extent = [&](std::size_t k) { return static_cast<std::size_t>(here.shape()[k].value()); };
  while (outer > 0 && (extent(outer - 1) == 1 || stride(order[outer - 1]) == static_cast<std::int64_t>(run)))
    run *= extent(--outer);
  std::vector<std::size_t> index(outer, 0);
  auto* const to = static_cast<std::byte*>(out);
  for (std::size_t left = static_cast<std::size_t>(numel()) / run; left > 0; --left, from += run * item) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < outer; ++k) at += index[k] * static_cast<std::size_t>(stride(order[k]));
    std::memcpy(to + at * item, from, run * item);
    for (std::size_t k = outer; k-- > 0;) {
      if (++index[k] < extent(k)) break;
      index[k] = 0;
    }
  }
}

detail::Shared<const void> Tensor::hold(DType dtype, const char* operation) const {
  check_readable(*cell_, dtype, operation);
  const NodePtr node = readable(Access::node(*this), operation);
  // In-place writes check how many references a buffer has (runtime/usage.hpp); this reference counts.
  mem::BufferPtr buffer = node->buffer;
  if (runtime::is_placeholder(*buffer)) runtime::refuse_placeholder(operation);
  if (buffer->allocator() != nullptr && !buffer->allocator()->on_host()) {
    throw DeviceError(operation, fmt::format("the elements are in the memory of {}; copy them with to(Device::eigen()) "
                                             "or to_vector() first",
                                             device().str()));
  }
  const void* first = buffer->data();
  return {detail::Shared<mem::BufferPtr>::make(std::move(buffer)), first};
}

Layout Tensor::layout() const { return Access::layout(*cell_->node()); }

Tensor Tensor::to(Device device, Site site) const {
  const api::Call call("to", site);
  if (device == this->device()) return *this;
  backend::backend_for(device);
  if (!backend::computes(this->device())) {
    throw DeviceError(
        "to", fmt::format("{} has no elements that could be copied to {}; the null device computes nothing", str(),
                          device.str()));
  }
  return Access::tensor(graph::copy(Access::node(*this), device, call.origin()));
}

Tensor Tensor::to(MemoryFormat format, Site site) const {
  const api::Call call("to", site);
  if (format == MemoryFormat::preserve) return *this;
  const NodePtr node = Access::node(*this);
  NodePtr laid_out = graph::format(node, format, call.origin());
  return Access::layout(*node).suggest_memory_format() == format ? *this : Access::tensor(std::move(laid_out));
}

Tensor Tensor::contiguous(MemoryFormat format, Site site) const {
  const api::Call call("contiguous", site);
  if (format == MemoryFormat::preserve) {
    throw ArgumentError("contiguous", "preserve names no order; give contiguous, channels_last or channels_last_3d");
  }
  const NodePtr node = Access::node(*this);
  NodePtr laid_out = graph::format(node, format, call.origin());
  return Access::layout(*node).is_contiguous(format) ? *this : Access::tensor(std::move(laid_out));
}

void realize(ListOf<Tensor> tensors, Site site) {
  const detail::CallSite call(site);
  realize_nodes(Access::nodes(tensors));
}

}  // namespace oriel
