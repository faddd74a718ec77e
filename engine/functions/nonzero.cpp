#include "oriel/nonzero.hpp"

#include <fmt/format.h>

#include <vector>

#include "backend/backend.hpp"
#include "formula/call.hpp"
#include "formula/gathering.hpp"
#include "functions/compaction.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/order.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scan.hpp"
#include "oriel/shape_env.hpp"
#include "oriel/shaping.hpp"
#include "runtime/tape.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace {

/// The operand as a tensor.
Tensor tensor_of(const Call& call, const Operand& x) {
  const Tensor* tensor = Access::tensor(x);
  return tensor != nullptr ? *tensor : Access::tensor(call.node(x));
}

/// A mask in memory of the host.
class ReadMask {
 public:
  explicit ReadMask(const Tensor& mask) : size_(static_cast<std::size_t>(mask.numel().value())) {
    if (backend::backend_for(mask.device()).allocator()->on_host())
      held_ = Access::elements(mask, "nonzero");
    else
      copied_ = mask.bitcast(DType::uint8).to_vector<std::uint8_t>();
    count_ = api::count_true(bytes());
  }
  api::MaskBytes bytes() const {
    return {held_ != nullptr ? static_cast<const std::uint8_t*>(held_.get()) : copied_.data(), size_};
  }
  /// How many elements are true.
  std::size_t count() const { return count_; }

 private:
  std::size_t size_;
  std::size_t count_ = 0;
  detail::Shared<const void> held_;
  std::vector<std::uint8_t> copied_;
};

/// A tensor on a device whose elements `write` writes into memory of the host.
template <class Write>
Tensor written_tensor(DType dtype, const Shape& shape, Device device, const graph::Origin& origin, const Write& write) {
  const auto allocator = backend::backend_for(device).allocator();
  const std::size_t bytes = static_cast<std::size_t>(numel(shape).value()) * itemsize(dtype);
  auto buffer = std::make_shared<mem::Buffer>(allocator, bytes);
  if (bytes != 0 && allocator->on_host()) {
    write(buffer->data());
  } else if (bytes != 0) {
    std::vector<std::uint64_t> elements((bytes - 1) / sizeof(std::uint64_t) + 1);
    write(elements.data());
    allocator->write(buffer->data(), elements.data(), bytes);
  }
  return Access::tensor(graph::leaf(std::move(buffer), dtype, shape, origin));
}

/// The indices (count, rank) of the true elements, or their positions (count).
Tensor found_in(const ReadMask& mask, std::span<const std::int64_t> extents, const Shape& shape, Device device,
                const graph::Origin& origin) {
  return written_tensor(DType::int64, shape, device, origin, [&](void* out) {
    api::write_indices(mask.bytes(), mask.count(), extents, static_cast<std::int64_t*>(out));
  });
}

bool is_empty(const Tensor& x) { return sym::known(x.numel() == 0).value_or(false); }

Tensor flat(const Tensor& x) { return x.reshape({x.numel()}); }

/// The positions where a mask of one axis on a device of its own memory is true: the mask stays there, and the host
/// reads how many there are.
Tensor found_there(const Call& call, const Tensor& mask) {
  const Tensor counts = cumsum(mask, 0).realize();  // the host reads its end, and the search all of it
  const auto found = counts.select(0, -1).item<std::int64_t>();
  return searchsorted(counts, Access::tensor(graph::iota({found}, mask.device(), call.origin())) + 1);
}

/// The row-major positions where a bool tensor is true, as int64 (count). In a trace they are found at each call.
Tensor positions_of(const Call& call, const Tensor& mask) {
  if (runtime::UnbackedValues* unbacked = runtime::Trace::unbacked())
    return Access::tensor(unbacked->positions(Access::node(mask), call.origin().site));
  if (!backend::backend_for(mask.device()).allocator()->on_host() && !is_empty(mask))
    return found_there(call, flat(mask));
  return Access::tensor(api::true_positions(Access::node(mask), call.origin().site));
}

/// The indices (count, rank) of row-major positions.
Tensor indices_of(const Call& call, const Tensor& positions, const Shape& shape) {
  if (shape.empty()) return empty({positions.size(0), 0}, DType::int64).to(positions.device());
  const Ints strides = contiguous_strides(shape);
  std::vector<Tensor> columns;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    graph::NodePtr at = call.binary(graph::Op::TruncDiv, Access::node(positions), strides[d]);
    if (d != 0) at = call.binary(graph::Op::Fmod, std::move(at), shape[d]);
    columns.push_back(Access::tensor(std::move(at)).unsqueeze(1));
  }
  return concat({columns.data(), columns.size()}, 1);
}

/// Where the elements of a sorted axis differ from the one before.
Tensor first_ones(const Tensor& sorted) {
  const SymInt n = sorted.numel();
  const Tensor before = pad(sorted, {{1, 0}}).shrink({{0, n}});
  const graph::NodePtr places = graph::iota({n}, sorted.device(), {"unique", Site::unknown()});
  return (sorted != before) | (Access::tensor(places) == 0);
}

/// The elements of `source` where the mask of the same shape is true, as one axis. `repeats`: the source is a smaller
/// tensor, broadcast.
Tensor chosen_of(const Call& call, const Tensor& source, const Tensor& mask, bool repeats) {
  const Device device = source.device();
  const bool moves = !repeats && !runtime::tracing() && !runtime::Tape::current() && mask.device() == device &&
                     backend::backend_for(device).allocator()->on_host();
  if (!moves) return take(flat(source), positions_of(call, mask).to(device), 0, Bounds::zero);
  // Both are computed together: the mask often depends on the source.
  realize({source, mask}, call.origin().site);
  const ReadMask chosen(mask);
  const detail::Shared<const void> elements = Access::elements(source, "masked_select");
  return written_tensor(source.dtype(), {chosen.count()}, device, call.origin(), [&](void* out) {
    api::copy_true(chosen.bytes(), chosen.count(), elements.get(), itemsize(source.dtype()), out);
  });
}

UniqueElements none_of(const Tensor& values, const Shape& inverse) {
  const auto none = [&](const Shape& shape) { return empty(shape, DType::int64).to(values.device()); };
  return {+values, none(inverse), none({0}), none({0})};
}

/// What the order of entries and the marks of those that differ from the one before say. Without the values.
UniqueElements grouped(const Call& call, const Tensor& order, const Tensor& first) {
  const Tensor found = positions_of(call, first);
  // Where the next value starts; behind the last one, the end.
  const Tensor next = Access::tensor(graph::iota(found.shape(), order.device(), call.origin())) + 1;
  const Tensor ends = where(next < found.size(0), take(found, next, 0, Bounds::zero), order.numel());
  // The number of each sorted entry, brought to where the entry was.
  const Tensor numbers = cumsum(first.to(DType::int64), 0) - 1;
  return {{}, take(numbers, argsort(order, 0), 0, Bounds::zero), ends - found, take(order, found, 0, Bounds::zero)};
}

UniqueElements unique_entries(const Call& call, const Operand& x, std::int64_t axis) {
  const Tensor all = tensor_of(call, x);
  const std::int64_t d = static_cast<std::int64_t>(call.axis(axis, all.rank()));
  const SymInt n = all.size(d);
  const Tensor moved = movedim(all, Ints{d}, Ints{0});
  if (sym::known(n == 0).value_or(false)) return none_of(all, {0});
  // As rows. An entry without elements is a row of one number, so that all of them are equal.
  const SymInt width = is_empty(all) ? SymInt(1) : all.numel() / n;
  const Tensor rows = is_empty(all) ? zeros({n, 1}, all.dtype()).to(all.device()) : moved.reshape({n, width});
  std::vector<Tensor> keys;  // the last one counts most
  for (std::int64_t k = width.value(); k-- > 0;) keys.push_back(rows.select(1, k));
  const Tensor order = lexsort(keys, 0);
  const Tensor sorted = take(rows, order, 0, Bounds::zero);
  const Tensor before = pad(sorted, {{1, 0}, {0, 0}}).shrink({{0, n}, {0, width}});
  const Tensor places = Access::tensor(graph::iota({n}, all.device(), call.origin()));
  UniqueElements found = grouped(call, order, any(sorted != before, 1) | (places == 0));
  found.values = take(all, found.first, d, Bounds::zero);
  return found;
}

}  // namespace

Tensor nonzero(const Operand& x) {
  const Call call("nonzero", x);
  const Tensor tensor = tensor_of(call, x);
  const Shape& shape = tensor.shape();
  const bool on_host = backend::backend_for(tensor.device()).allocator()->on_host();
  if (runtime::tracing() || !on_host) return indices_of(call, positions_of(call, tensor.to(DType::bool_)), shape);
  // Here the numbers are known at once, so the indices are made of them directly. In a trace they are still to be
  // found: the indices are operations on positions.
  const ReadMask mask(tensor.to(DType::bool_));
  std::vector<std::int64_t> extents;
  for (const SymInt n : shape) extents.push_back(n.value());
  return found_in(mask, extents, {mask.count(), shape.size()}, tensor.device(), call.origin());
}

Tensor masked_select(const Operand& x, const Operand& mask) {
  const Call call("masked_select", x);
  const Tensor source = tensor_of(call, x), chosen = tensor_of(call, mask);
  if (chosen.dtype() != DType::bool_)
    throw DTypeError("masked_select",
                     fmt::format("the mask is {}; it must be bool, such as x != 0", name(chosen.dtype())));
  const Shape shape = graph::broadcast_shapes(source.shape(), chosen.shape(), call.origin());
  const bool repeats = !graph::known_same(source.shape(), shape);
  return chosen_of(call, broadcast_to(source, shape), broadcast_to(chosen, shape), repeats);
}

Tensor unique(const Operand& x) {
  const Call call("unique", x);
  const Tensor all = flat(tensor_of(call, x));
  if (is_empty(all)) return +all;
  Tensor sorted = sort(all, 0);
  if (is_floating(all.dtype())) {
    // Of zeros of both signs, the negative one is sorted first.
    const Tensor places = Access::tensor(graph::iota(all.shape(), all.device(), call.origin()));
    const Tensor zero = take(all, min(where(all == 0, places, all.numel()), 0, true), 0, Bounds::zero);
    sorted = where(sorted == 0, zero, sorted);
  }
  return chosen_of(call, sorted, first_ones(sorted), false);
}

UniqueElements unique_all(const Operand& x) {
  const Call call("unique_all", x);
  const Tensor tensor = tensor_of(call, x), all = flat(tensor);
  if (is_empty(all)) return none_of(all, tensor.shape());
  const Tensor order = argsort(all, 0), sorted = take(all, order, 0, Bounds::zero);
  UniqueElements found = grouped(call, order, first_ones(sorted));
  found.values = take(all, found.first, 0, Bounds::zero);
  found.inverse = found.inverse.reshape(tensor.shape());
  return found;
}

Tensor unique(const Operand& x, std::int64_t axis) { return unique_entries(Call("unique", x), x, axis).values; }

UniqueElements unique_all(const Operand& x, std::int64_t axis) {
  return unique_entries(Call("unique_all", x), x, axis);
}

Tensor repeat_interleave(const Operand& x, const Tensor& counts, std::int64_t axis) {
  const Call call("repeat_interleave", x);
  const Tensor all = tensor_of(call, x);
  const std::size_t d = call.axis(axis, all.rank());
  if (is_floating(counts.dtype()) || counts.dtype() == DType::bool_)
    throw DTypeError("repeat_interleave", fmt::format("the counts are {}; give integers", name(counts.dtype())));
  if (counts.rank() != 1 || !sym::required(counts.size(0) == all.size(d), "repeat_interleave")) {
    throw ShapeError("repeat_interleave",
                     fmt::format("counts of shape {} for the {} entries along axis {}; give one for each",
                                 to_string(counts.shape()), to_string(all.size(d)), d));
  }
  if (is_empty(counts)) return +all;
  const Tensor wide = Access::tensor(api::raw_positions(call, counts)).to(all.device());
  const SymInt fewest = item(min(wide));
  if (runtime::tracing()) {
    expect_true(fewest >= 0);
  } else if (fewest < 0) {
    throw ArgumentError("repeat_interleave", fmt::format("a count is {}; counts are >= 0", to_string(fewest)));
  }
  // A sum that wraps may be a small count. This one is rounded, and no result has 2^62 entries.
  if (!runtime::tracing() && sum(wide, DType::float32).item<float>() >= 0x1p62F)
    throw OverflowError("repeat_interleave", "the counts pass 2^62 in sum");
  const Tensor ends = cumsum(wide, 0);
  const SymInt total = item(ends.select(0, -1));
  if (runtime::tracing()) expect_true(total >= 0);
  const Tensor places = Access::tensor(graph::iota({total}, all.device(), call.origin()));
  return take(all, searchsorted(ends, places, true), static_cast<std::int64_t>(d), Bounds::zero);
}

SymInt item(const Operand& x) {
  const Call call("item", x);
  const Tensor tensor = tensor_of(call, x);
  if (is_floating(tensor.dtype()))
    throw DTypeError("item", fmt::format("a size is an integer, and the element is {}; convert it first, such as "
                                         "x.to(DType::int64)",
                                         name(tensor.dtype())));
  if (!sym::known(tensor.numel() == 1).value_or(false))
    throw ShapeError("item", fmt::format("shape {} has {} elements; give exactly one", to_string(tensor.shape()),
                                         to_string(tensor.numel())));
  const NodePtr value = Access::node(tensor.to(DType::int64).reshape(Shape{}));
  if (runtime::UnbackedValues* unbacked = runtime::Trace::unbacked())
    return unbacked->element(Access::node(tensor), value, call.origin().site);
  return api::only_element(value);
}

}  // namespace oriel

namespace oriel::api {

graph::NodePtr true_positions(const graph::NodePtr& mask, Site site) {
  const ReadMask found(Access::tensor(mask));
  const std::int64_t size = numel(mask->shape).value();
  return Access::node(found_in(found, {&size, 1}, {found.count()}, mask->device, {{}, site}));
}

std::int64_t only_element(const graph::NodePtr& value) { return Access::tensor(value).item<std::int64_t>(); }

}  // namespace oriel::api
