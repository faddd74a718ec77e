// The bodies of take and gather.
#include "formula/gathering.hpp"
#include "oriel/movement.hpp"

namespace oriel {

using api::Call;

Tensor take(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  return api::taken(Call("take", x), x, index, axis, bounds);
}

Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("gather", x);
  return api::gathered(call, call.node(x), index, axis, bounds);
}

}  // namespace oriel
