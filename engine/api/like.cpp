// Creators that take shape, device and strides from another tensor.
#include "formula/call.hpp"
#include "oriel/create.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace {

Tensor filled(const char* name, const Operand& x, const Operand& value, std::optional<DType> dtype,
              MemoryFormat format) {
  const Call call(name, x);
  const NodePtr like = call.node(x);
  NodePtr node = call.node(value, dtype.value_or(like->dtype), like->shape, like->device);
  node = call.broadcast(std::move(node), like->shape);
  if (format == MemoryFormat::preserve) return Access::tensor(call.laid_out(std::move(node), *like));
  return Access::tensor(graph::format(std::move(node), format, call.origin()));
}

}  // namespace

Tensor empty_like(const Operand& x, std::optional<DType> dtype, MemoryFormat format) {
  return filled("empty_like", x, false, dtype, format);
}
Tensor zeros_like(const Operand& x, std::optional<DType> dtype, MemoryFormat format) {
  return filled("zeros_like", x, false, dtype, format);
}
Tensor ones_like(const Operand& x, std::optional<DType> dtype, MemoryFormat format) {
  return filled("ones_like", x, true, dtype, format);
}
Tensor full_like(const Operand& x, const Operand& value, std::optional<DType> dtype, MemoryFormat format) {
  return filled("full_like", x, value, dtype, format);
}

}  // namespace oriel
