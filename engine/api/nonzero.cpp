#include "oriel/nonzero.hpp"

#include <fmt/format.h>

#include <vector>

#include "api/call.hpp"
#include "backend/backend.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace {

/// The operand as a tensor.
Tensor tensor_of(const Call& call, const Operand& x) {
  runtime::check_may_read(call.operation());
  const Tensor* tensor = Access::tensor(x);
  return tensor != nullptr ? *tensor : Access::tensor(call.node(x));
}

/// These numbers on a device.
Tensor placed(const Call& call, const std::vector<std::int64_t>& numbers, const Shape& shape, Device device) {
  const auto allocator = backend::backend_for(device).allocator();
  const std::size_t bytes = numbers.size() * sizeof(std::int64_t);
  auto buffer = std::make_shared<mem::Buffer>(allocator, bytes);
  if (bytes != 0) allocator->write(buffer->data(), numbers.data(), bytes);
  return Access::tensor(graph::leaf(std::move(buffer), DType::int64, shape, call.origin()));
}

/// The row-major positions where a bool tensor is true.
std::vector<std::int64_t> positions_of(const Tensor& mask) {
  std::vector<std::int64_t> out;
  const std::vector<std::uint8_t> bytes = mask.bitcast(DType::uint8).to_vector<std::uint8_t>();
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (bytes[k] != 0) out.push_back(static_cast<std::int64_t>(k));
  return out;
}

/// Where the elements of a sorted axis differ from the one before.
Tensor first_ones(const Tensor& sorted) {
  const std::int64_t n = sorted.numel().value();
  const Tensor differs = sorted.shrink({{1, n}}) != sorted.shrink({{0, n - 1}});
  return pad(logical_not(differs), {{1, 0}}) == false;  // the padding is 0: the first one counts
}

Tensor flat(const Tensor& x) { return x.reshape({x.numel()}); }

}  // namespace

Tensor nonzero(const Operand& x) {
  const Call call("nonzero", x);
  const Tensor tensor = tensor_of(call, x);
  const std::vector<std::int64_t> found = positions_of(tensor.to(DType::bool_));
  const Shape& shape = tensor.shape();
  std::vector<std::int64_t> indices(found.size() * shape.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    std::int64_t rest = found[k];
    for (std::size_t d = shape.size(); d-- > 0;) {
      indices[k * shape.size() + d] = rest % shape[d].value();
      rest /= shape[d].value();
    }
  }
  return placed(call, indices, {found.size(), shape.size()}, tensor.device());
}

Tensor masked_select(const Operand& x, const Operand& mask) {
  const Call call("masked_select", x);
  const Tensor source = tensor_of(call, x), chosen = tensor_of(call, mask);
  if (chosen.dtype() != DType::bool_)
    throw DTypeError("masked_select",
                     fmt::format("the mask is {}; it must be bool, such as x != 0", name(chosen.dtype())));
  const Shape shape = graph::broadcast_shapes(source.shape(), chosen.shape(), call.origin());
  const std::vector<std::int64_t> found = positions_of(broadcast_to(chosen, shape));
  return take(flat(broadcast_to(source, shape)), placed(call, found, {found.size()}, source.device()), 0, Bounds::zero);
}

Tensor unique(const Operand& x) {
  const Call call("unique", x);
  const Tensor all = flat(tensor_of(call, x));
  if (all.numel() == 0) return +all;
  const Tensor sorted = sort(all, 0);
  const std::vector<std::int64_t> found = positions_of(first_ones(sorted));
  return take(sorted, placed(call, found, {found.size()}, all.device()), 0, Bounds::zero);
}

UniqueElements unique_all(const Operand& x) {
  const Call call("unique_all", x);
  const Tensor tensor = tensor_of(call, x), all = flat(tensor);
  if (all.numel() == 0)
    return {+all, placed(call, {}, tensor.shape(), all.device()), placed(call, {}, {0}, all.device())};
  const Tensor order = argsort(all, 0);
  const Tensor first = first_ones(take(all, order, 0, Bounds::zero));
  const std::vector<std::int64_t> found = positions_of(first);
  std::vector<std::int64_t> counts(found.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    counts[k] = (k + 1 < found.size() ? found[k + 1] : all.numel().value()) - found[k];
  // The number of each sorted element, brought to where the element was.
  const Tensor numbers = cumsum(first.to(DType::int64), 0) - 1;
  const Tensor at = placed(call, found, {found.size()}, all.device());
  return {take(take(all, order, 0, Bounds::zero), at, 0, Bounds::zero),
          take(numbers, argsort(order, 0), 0, Bounds::zero).reshape(tensor.shape()),
          placed(call, counts, {counts.size()}, all.device())};
}

}  // namespace oriel
