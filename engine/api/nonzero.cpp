#include "oriel/nonzero.hpp"

#include <fmt/format.h>

#include <vector>

#include "api/call.hpp"
#include "api/nonzero.hpp"
#include "backend/backend.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
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

/// These numbers on a device.
Tensor placed(const std::vector<std::int64_t>& numbers, const Shape& shape, Device device,
              const graph::Origin& origin) {
  const auto allocator = backend::backend_for(device).allocator();
  const std::size_t bytes = numbers.size() * sizeof(std::int64_t);
  auto buffer = std::make_shared<mem::Buffer>(allocator, bytes);
  if (bytes != 0) allocator->write(buffer->data(), numbers.data(), bytes);
  return Access::tensor(graph::leaf(std::move(buffer), DType::int64, shape, origin));
}

/// The numbers of the true elements, in row-major order.
std::vector<std::int64_t> numbers_of_true(const Tensor& mask) {
  std::vector<std::int64_t> out;
  const std::vector<std::uint8_t> bytes = mask.bitcast(DType::uint8).to_vector<std::uint8_t>();
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (bytes[k] != 0) out.push_back(static_cast<std::int64_t>(k));
  return out;
}

/// The row-major positions where a bool tensor is true, as int64 (count). In a trace they are found at each call.
Tensor positions_of(const Call& call, const Tensor& mask) {
  if (runtime::LateValues* late = runtime::Trace::late())
    return Access::tensor(late->positions(Access::node(mask), call.origin().site));
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

bool is_empty(const Tensor& x) { return sym::known(x.numel() == 0).value_or(false); }

Tensor flat(const Tensor& x) { return x.reshape({x.numel()}); }

}  // namespace

Tensor nonzero(const Operand& x) {
  const Call call("nonzero", x);
  const Tensor tensor = tensor_of(call, x);
  const Shape& shape = tensor.shape();
  if (runtime::tracing()) return indices_of(call, positions_of(call, tensor.to(DType::bool_)), shape);
  // Here the numbers are known at once, so the indices are made of them directly. In a trace they are still to be
  // found: the indices are operations on positions.
  const std::vector<std::int64_t> found = numbers_of_true(tensor.to(DType::bool_));
  std::vector<std::int64_t> indices(found.size() * shape.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    std::int64_t rest = found[k];
    for (std::size_t d = shape.size(); d-- > 0;) {
      indices[k * shape.size() + d] = rest % shape[d].value();
      rest /= shape[d].value();
    }
  }
  return placed(indices, {found.size(), shape.size()}, tensor.device(), call.origin());
}

Tensor masked_select(const Operand& x, const Operand& mask) {
  const Call call("masked_select", x);
  const Tensor source = tensor_of(call, x), chosen = tensor_of(call, mask);
  if (chosen.dtype() != DType::bool_)
    throw DTypeError("masked_select",
                     fmt::format("the mask is {}; it must be bool, such as x != 0", name(chosen.dtype())));
  const Shape shape = graph::broadcast_shapes(source.shape(), chosen.shape(), call.origin());
  const Tensor found = positions_of(call, broadcast_to(chosen, shape)).to(source.device());
  return take(flat(broadcast_to(source, shape)), found, 0, Bounds::zero);
}

Tensor unique(const Operand& x) {
  const Call call("unique", x);
  const Tensor all = flat(tensor_of(call, x));
  if (is_empty(all)) return +all;
  const Tensor sorted = sort(all, 0);
  return take(sorted, positions_of(call, first_ones(sorted)), 0, Bounds::zero);
}

UniqueElements unique_all(const Operand& x) {
  const Call call("unique_all", x);
  const Tensor tensor = tensor_of(call, x), all = flat(tensor);
  const auto none = [&](const Shape& shape) { return empty(shape, DType::int64).to(all.device()); };
  if (is_empty(all)) return {+all, none(tensor.shape()), none({0})};
  const Tensor order = argsort(all, 0);
  const Tensor first = first_ones(take(all, order, 0, Bounds::zero));
  const Tensor found = positions_of(call, first);
  // Where the next value starts; behind the last one, the end.
  const Tensor next = Access::tensor(graph::iota(found.shape(), all.device(), call.origin())) + 1;
  const Tensor ends = where(next < found.size(0), take(found, next, 0, Bounds::zero), all.numel());
  // The number of each sorted element, brought to where the element was.
  const Tensor numbers = cumsum(first.to(DType::int64), 0) - 1;
  return {take(take(all, order, 0, Bounds::zero), found, 0, Bounds::zero),
          take(numbers, argsort(order, 0), 0, Bounds::zero).reshape(tensor.shape()), ends - found};
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
  if (runtime::LateValues* late = runtime::Trace::late())
    return late->element(Access::node(tensor), value, call.origin().site);
  return api::only_element(value);
}

}  // namespace oriel

namespace oriel::api {

graph::NodePtr true_positions(const graph::NodePtr& mask, Site site) {
  const std::vector<std::int64_t> found = numbers_of_true(Access::tensor(mask));
  return Access::node(placed(found, {found.size()}, mask->device, {{}, site}));
}

std::int64_t only_element(const graph::NodePtr& value) { return Access::tensor(value).item<std::int64_t>(); }

}  // namespace oriel::api
