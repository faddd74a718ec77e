// Tensors from and for other libraries by DLPack.
#include "oriel/dlpack.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "api/dlpack_abi.hpp"
#include "backend/backend.hpp"
#include "base/parts.hpp"
#include "formula/call.hpp"
#include "graph/layout.hpp"
#include "graph/movements.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/view.hpp"
#include "runtime/executor.hpp"
#include "runtime/trace.hpp"

namespace oriel {

using detail::Access;
using graph::NodePtr;

namespace {

constexpr std::uint64_t kReadOnly = 1;
constexpr std::int32_t kMostAxes = 64;

struct Element {
  DType dtype;
  DLDataType type;
};
constexpr Element kElements[] = {
    {DType::bool_, {6, 8, 1}},     {DType::int8, {0, 8, 1}},     {DType::int16, {0, 16, 1}},
    {DType::int32, {0, 32, 1}},    {DType::int64, {0, 64, 1}},   {DType::uint8, {1, 8, 1}},
    {DType::uint16, {1, 16, 1}},   {DType::uint32, {1, 32, 1}},  {DType::uint64, {1, 64, 1}},
    {DType::float16, {2, 16, 1}},  {DType::float32, {2, 32, 1}}, {DType::float64, {2, 64, 1}},
    {DType::bfloat16, {4, 16, 1}},
};

DType dtype_of(const DLDataType& type) {
  for (const Element& kind : kElements)
    if (kind.type.code == type.code && kind.type.bits == type.bits && type.lanes == 1) return kind.dtype;
  throw DTypeError(
      "from_dlpack",
      fmt::format("elements of code {}, {} bits and {} lanes came; there are bool, integers of 8 to 64 bits, "
                  "floats of 16 to 64 and bfloat16, of one lane",
                  type.code, type.bits, type.lanes));
}

[[noreturn]] void refuse(const std::string& why) { throw ArgumentError("from_dlpack", why); }

bool on_host(const DLDevice& device) {
  return device.device_type == 1 || device.device_type == 3 || device.device_type == 11;
}

/// The tensor over the memory. `managed` keeps the memory alive.
Tensor taken(const DLTensor& t, const std::shared_ptr<void>& managed, bool read_only, Site site) {
  if (!on_host(t.device))
    throw DeviceError(
        "from_dlpack",
        fmt::format("memory of a device of type {} came; copy it to the CPU's memory (type 1)", t.device.device_type));
  const DType dtype = dtype_of(t.dtype);
  if (t.ndim < 0 || t.ndim > kMostAxes) refuse(fmt::format("{} axes came; there are 0 to {}", t.ndim, kMostAxes));
  if (t.ndim > 0 && t.shape == nullptr) refuse("the shape is null");
  Shape shape;
  std::int64_t count = 1;
  for (std::int32_t d = 0; d < t.ndim; ++d) {
    if (t.shape[d] < 0) refuse(fmt::format("axis {} has {} elements", d, t.shape[d]));
    shape.push_back(t.shape[d]);
    if (__builtin_mul_overflow(count, t.shape[d], &count)) refuse(to_string(shape) + " has more than 2^63-1 elements");
  }
  if (count == 0) return zeros(shape, dtype);
  // The first and the last position that an index reads.
  std::int64_t first = 0, last = 0, row_major = 1;
  Ints strides(shape.size(), SymInt(0));
  bool dense = true;
  for (std::int32_t d = t.ndim; d-- > 0;) {
    const std::int64_t n = t.shape[d], stride = t.strides == nullptr ? row_major : t.strides[d];
    strides[static_cast<std::size_t>(d)] = stride;
    dense = dense && (n == 1 || stride == row_major);
    row_major *= n;
    std::int64_t way = 0;
    if (__builtin_mul_overflow(stride, n - 1, &way) ||
        __builtin_add_overflow(way < 0 ? first : last, way, way < 0 ? &first : &last))
      refuse(fmt::format("a stride of {} elements along {} leaves 64 bits", stride, n));
  }
  auto* const data = static_cast<std::byte*>(t.data);
  if (data == nullptr) refuse("the pointer is null");
  std::byte* const start = data + t.byte_offset + first * static_cast<std::int64_t>(itemsize(dtype));
  const Shape memory = dense ? shape : Shape{last - first + 1};
  const Tensor storage =
      read_only ? Access::copied(dtype, start, memory, site)
                : Access::adopted(
                      dtype, start, memory, [keeps = std::shared_ptr<void>(managed)](void*) mutable { keeps.reset(); },
                      "from_dlpack", site);
  return dense ? storage : as_strided(storage, View::make(shape, strides, -first));
}

template <class Managed>
Tensor from(Managed* managed, Site site) {
  if (managed == nullptr) refuse("the pointer is null");
  const std::shared_ptr<void> keeps(managed, [](void* p) {
    auto* const m = static_cast<Managed*>(p);
    if (m->deleter != nullptr) m->deleter(m);
  });
  bool read_only = false;
  if constexpr (requires { managed->version; }) {
    if (managed->version.major != 1)
      refuse(fmt::format("version {}.{} came; there is version 1", managed->version.major, managed->version.minor));
    read_only = (managed->flags & kReadOnly) != 0;
  }
  return taken(managed->dl_tensor, keeps, read_only, site);
}

/// What an exported tensor needs until its deleter runs.
struct Export {
  detail::Shared<const void> elements;
  mem::BufferPtr buffer;
  std::vector<std::int64_t> shape, strides;
};

/// The memory that the tensor names by strides alone, once what it is a view of has been computed; false if there is
/// none.
bool by_strides(const Tensor& x, Export& out, DLTensor& t) {
  const NodePtr node = Access::node(x);
  std::vector<NodePtr> movements;
  NodePtr below = node;
  while (!below->realized()) {
    if (!graph::is_movement(below->op)) {
      runtime::realize({&below, 1});
      break;
    }
    const graph::Node::Sources sources = below->lazy_sources();
    if (sources.empty()) continue;  // realised meanwhile
    movements.push_back(std::exchange(below, sources[0]));
  }
  ShapeTracker map(below->shape);
  for (std::size_t k = movements.size(); k-- > 0;) map = graph::moved(map, *movements[k]);
  std::vector<View> views(map.views().begin(), map.views().end());
  if (const Ints* strides = graph::memory_strides(*below))
    views.insert(views.begin(), View{below->shape, *strides, 0, {}});
  const ShapeTracker whole = ShapeTracker::from_views(views).simplify();
  if (!whole.single() || !whole.views()[0].mask.empty()) return false;
  const mem::BufferPtr& buffer = below->buffer;
  if (buffer->allocator() != nullptr && !buffer->allocator()->on_host()) return false;
  const View& view = whole.views()[0];
  for (const SymInt s : view.strides) out.strides.push_back(s.value());
  t.data = const_cast<void*>(buffer->data());
  t.byte_offset = static_cast<std::uint64_t>(view.offset.value()) * itemsize(x.dtype());
  out.buffer = buffer;
  return true;
}

template <class Managed>
Managed* exported(const Tensor& x) {
  auto out = std::make_unique<Export>();
  DLTensor t{};
  runtime::check_may_read("to_dlpack");
  if (!backend::computes(x.device()) || !by_strides(x, *out, t)) {
    out->elements = Access::elements(x, "to_dlpack");
    t.data = const_cast<void*>(out->elements.get());
    std::int64_t stride = 1;
    const Shape& shape = x.shape();
    out->strides.resize(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
      out->strides[d] = stride;
      stride *= shape[d].value();
    }
  }
  for (const SymInt n : x.shape()) out->shape.push_back(n.value());
  for (const Element& kind : kElements)
    if (kind.dtype == x.dtype()) t.dtype = kind.type;
  t.device = {1, 0};
  t.ndim = static_cast<std::int32_t>(out->shape.size());
  t.shape = out->shape.data();
  t.strides = out->strides.data();
  auto managed = std::make_unique<Managed>();
  managed->dl_tensor = t;
  managed->deleter = [](Managed* self) {
    delete static_cast<Export*>(self->manager_ctx);
    delete self;
  };
  managed->manager_ctx = out.release();
  if constexpr (requires { managed->version; }) {
    managed->version = {1, 0};
    managed->flags = kReadOnly;
  }
  return managed.release();
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed, Site site) {
  base::need<base::kDlpack>("from_dlpack");
  return from(managed, site);
}
Tensor from_dlpack(DLManagedTensorVersioned* managed, Site site) {
  base::need<base::kDlpack>("from_dlpack");
  return from(managed, site);
}
DLManagedTensor* to_dlpack(const Tensor& x) {
  base::need<base::kDlpack>("to_dlpack");
  return exported<DLManagedTensor>(x);
}
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& x) {
  base::need<base::kDlpack>("to_dlpack_versioned");
  return exported<DLManagedTensorVersioned>(x);
}

}  // namespace oriel
