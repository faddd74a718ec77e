// Entries and pieces of axes, extremes with their positions, sets, and equality as one bool.
#include <fmt/format.h>

#include "base/parts.hpp"
#include "formula/room.hpp"
#include "formula/value.hpp"
#include "oriel/close.hpp"
#include "oriel/movement.hpp"
#include "oriel/nonzero.hpp"
#include "oriel/ops.hpp"
#include "oriel/order.hpp"
#include "oriel/reduce.hpp"
#include "oriel/shaping.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Value;

std::vector<Tensor> unbind(const Operand& x, std::int64_t axis) {
  base::need<base::kFurther>("unbind");
  const Call call("unbind", x);
  const Shape shape = call.node(x)->shape;
  const auto d = static_cast<std::int64_t>(call.axis(axis, shape.size()));
  const std::int64_t count = shape[static_cast<std::size_t>(d)].value();
  return api::with_room(call, count, api::kPieceBytes, "entries", [&] {
    std::vector<Tensor> out;
    for (std::int64_t k = 0; k < count; ++k) out.push_back(select(x, d, k));
    return out;
  });
}

std::vector<Tensor> split_at(const Operand& x, const Ints& positions, std::int64_t axis) {
  base::need<base::kFurther>("split_at");
  const Call call("split_at", x);
  const std::size_t d = call.axis(axis, call.node(x)->shape.size());
  std::vector<Tensor> out;
  std::vector<Slice> slices(d + 1);
  for (std::size_t k = 0; k <= positions.size(); ++k) {
    slices[d].start = k == 0 ? SliceEnd() : SliceEnd(positions[k - 1]);
    slices[d].stop = k == positions.size() ? SliceEnd() : SliceEnd(positions[k]);
    out.push_back(slice(x, slices));
  }
  return out;
}

bool same_storage(const Tensor& a, const Tensor& b) { return Access::cell(a).storage() == Access::cell(b).storage(); }

namespace {

Ordered extreme_with_position(const char* name, Tensor (*find)(const Operand&, const Axes&, KeepDim), const Operand& x,
                              std::int64_t axis, KeepDim keepdim) {
  base::need<base::kFurther>(name);
  const Call call(name, x);
  const Site site = Access::site(x);
  Value v(call, call.node(x));
  const bool scalar = v.shape().empty();
  if (scalar) v = v.reshape({1});
  const std::size_t d = call.axis(axis, v.shape().size());
  const auto signed_axis = static_cast<std::int64_t>(d);
  const Tensor line = v.tensor();
  const Tensor at = api::renamed(call, [&] { return find(Operand(line, site), signed_axis, true); });
  const Tensor best = gather(Operand(line, site), at, signed_axis, Bounds::zero);
  const auto finish = [&](const Tensor& t) {
    return keepdim && !scalar ? t : Value(call, Access::node(t)).drop({d}).tensor();
  };
  return {finish(best), finish(at)};
}

}  // namespace

Ordered max_with_indices(const Operand& x, std::int64_t axis, KeepDim keepdim) {
  return extreme_with_position("max_with_indices", &argmax, x, axis, keepdim);
}
Ordered min_with_indices(const Operand& x, std::int64_t axis, KeepDim keepdim) {
  return extreme_with_position("min_with_indices", &argmin, x, axis, keepdim);
}

namespace {

/// The distinct elements of x that `elements` holds, or those that it lacks.
Tensor chosen_elements(const char* name, const Operand& x, const Tensor& elements, bool held) {
  base::need<base::kFurther>(name);
  const Call call(name, x);
  const Site site = Access::site(x);
  const Tensor distinct = unique(x);
  const Value found(call, Access::node(isin(Operand(distinct, site), elements)));
  const Tensor mask = (held ? found : !found).tensor();
  return masked_select(Operand(distinct, site), Operand(mask, site));
}

}  // namespace

Tensor intersect1d(const Operand& x, const Tensor& y) {
  const DType dtype = promote(Access::default_dtype(x), y.dtype());
  const Tensor both = chosen_elements("intersect1d", x, y, true);
  return both.dtype() == dtype ? both : both.to(dtype, Access::site(x));
}
Tensor setdiff1d(const Operand& x, const Tensor& y) { return chosen_elements("setdiff1d", x, y, false); }

bool equal(const Operand& a, const Operand& b, bool equal_nan) {
  base::need<base::kFurther>("equal");
  const Call call("equal", a);
  const Value x(call, call.node(a)), y(call, call.node(b));
  if (x.shape() != y.shape()) return false;
  const Tensor same = equal_nan ? (a == b) || (isnan(a) && isnan(b)) : a == b;
  return all(same).item<bool>(Access::site(a));
}

}  // namespace oriel
