// Filters and sums over windows, by the functions that read windows.
#include <fmt/format.h>

#include "base/parts.hpp"
#include "functions/window_view.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/order.hpp"
#include "oriel/scatter.hpp"
#include "oriel/windows.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Value;

Tensor col2im(const Operand& x, const Ints& sizes, const Ints& window, const ConvOptions& options) {
  base::need<base::kFilters>("col2im");
  const Call call("col2im", x);
  const Site site = Access::site(x);
  const Ints extent = api::for_axes(call, sizes, 2, "sizes", 1), seen = api::for_axes(call, window, 2, "window", 1);
  const Ints stride = api::for_axes(call, options.stride, 2, "stride", 1);
  const Ints padding = api::for_axes(call, options.padding, 2, "padding", 0);
  const Ints dilation = api::for_axes(call, options.dilation, 2, "dilation", 1);
  const Value columns(call, call.node(x));
  const Shape& shape = columns.shape();
  Ints padded(2), count(2);
  for (std::size_t k = 0; k < 2; ++k) {
    padded[k] = extent[k] + padding[k] * 2;
    const SymInt span = (seen[k] - 1) * dilation[k] + 1;
    count[k] = padded[k] < span ? SymInt(0) : (padded[k] - span) / stride[k] + 1;
  }
  const SymInt size = seen[0] * seen[1], windows = count[0] * count[1];
  if (shape.size() != 3 || shape[1] % size != 0 || shape[2] != windows) {
    throw ShapeError("col2im", fmt::format("{} for windows {} of images {}; give (N, C * {}, {})", to_string(shape),
                                           to_string(seen), to_string(extent), to_string(size), to_string(windows)));
  }
  // The position of each element in the padded image: (window rows, window columns, rows, columns) in a row.
  const Shape all{seen[0], seen[1], count[0], count[1]};
  const auto along = [&](std::size_t k) {
    const Value first = api::positions(call, all, 2 + k, columns.device());
    const Value inside = api::positions(call, all, k, columns.device());
    return first.binary(api::Op::Mul, stride[k]) + inside.binary(api::Op::Mul, dilation[k]);
  };
  const Tensor place = (along(0).binary(api::Op::Mul, padded[1]) + along(1)).reshape({size * windows}).tensor();
  const SymInt images = shape[0] * (shape[1] / size);
  const Tensor values = columns.reshape({images, size * windows}).tensor();
  const Tensor none = zeros({images, padded[0] * padded[1]}, columns.dtype(), site).to(columns.device(), site);
  const Tensor sums =
      api::renamed(call, [&] { return put_add(Operand(none, site), place, Operand(values, site), 1, Bounds::zero); });
  return Value(call, Access::node(sums))
      .reshape({shape[0], shape[1] / size, padded[0], padded[1]})
      .shrink(2, padding[0], padding[0] + extent[0])
      .shrink(3, padding[1], padding[1] + extent[1])
      .tensor();
}

Tensor median_filter(const Operand& x, const Ints& window, PadMode mode) {
  base::need<base::kFilters>("median_filter");
  const Call call("median_filter", x);
  const Site site = Access::site(x);
  Value v(call, call.node(x));
  const std::size_t rank = v.shape().size();
  if (rank == 0) throw ShapeError("median_filter", "a tensor without axes has no windows");
  const Ints sizes = api::for_axes(call, window, rank, "window", 1);
  if (numel(v.shape()) == 0) return v.tensor();
  Ranges around;
  std::vector<api::WindowAxis> axes(rank);
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    axes[d].size = sizes[d].value();
    axes[d].count = v.shape()[d];
    around.push_back({axes[d].size / 2, axes[d].size - 1 - axes[d].size / 2});
    elements *= axes[d].size;
  }
  const Tensor source = v.tensor();
  const Tensor wide = api::renamed(call, [&] { return pad(Operand(source, site), around, mode); });
  Shape lined = v.shape();
  lined.push_back(elements);
  const Tensor seen = api::windows(Value(call, Access::node(wide)), axes).reshape(lined).tensor();
  return kthvalue(Operand(seen, site), elements / 2 + 1, -1).values;
}

}  // namespace oriel
