// Members of Tensor that are conversions and views of it.
#include <fmt/format.h>

#include <utility>

#include "base/context.hpp"
#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

Tensor Tensor::in_layout(const Tensor& elements, const Layout& layout) {
  return as_strided(elements, View::make(layout.shape, layout.strides));
}

Tensor Tensor::to(DType dtype, Site site) const { return cast(Operand(*this, site), dtype); }
Tensor Tensor::bitcast(DType dtype, Site site) const { return oriel::bitcast(Operand(*this, site), dtype); }

Tensor Tensor::converted(DType dtype) const {
  check_one();
  return to(dtype, Site::unknown());
}

// Both forms of each view: of a tensor with a name, and of a value of an expression.
#define ORIEL_VIEW(name, parameters, ...)                                                          \
  Tensor Tensor::name parameters const& { return oriel::name(Operand(*this, site), __VA_ARGS__); } \
  Tensor Tensor::name parameters&& { return oriel::name(Operand(std::move(*this), site), __VA_ARGS__); }
ORIEL_VIEW(reshape, (const Shape& shape, Site site), shape)
ORIEL_VIEW(view, (const Shape& shape, Site site), shape)
ORIEL_VIEW(permute, (const Ints& order, Site site), order)
ORIEL_VIEW(transpose, (std::int64_t a, std::int64_t b, Site site), a, b)
ORIEL_VIEW(expand, (const Shape& shape, Site site), shape)
ORIEL_VIEW(shrink, (const Ranges& ranges, Site site), ranges)
ORIEL_VIEW(shrink, (const Ranges& ranges, const Axes& axes, Site site), ranges, axes)
ORIEL_VIEW(flip, (const Axes& axes, Site site), axes)
ORIEL_VIEW(squeeze, (const Axes& axes, Site site), axes)
ORIEL_VIEW(unsqueeze, (std::int64_t axis, Site site), axis)
ORIEL_VIEW(slice, (ListOf<Slice> slices, Site site), slices)
ORIEL_VIEW(select, (std::int64_t axis, SymInt position, Site site), axis, position)
ORIEL_VIEW(diagonal, (std::int64_t offset, std::int64_t a, std::int64_t b, Site site), offset, a, b)
ORIEL_VIEW(unfold, (std::int64_t axis, std::int64_t size, std::int64_t step, Site site), axis, size, step)
#undef ORIEL_VIEW

Tensor Tensor::operator[](const detail::Position& position) const& { return select(0, position.value, position.site); }
Tensor Tensor::operator[](const detail::Position& position) && {
  return std::move(*this).select(0, position.value, position.site);
}

namespace {

void check_positions(const Tensor& x, const Ints& index, Site site) {
  const detail::CallSite call(site);
  if (index.size() == x.rank()) return;
  throw ShapeError("at", fmt::format("{} positions for {}; give one for each of its {} axes", index.size(),
                                     to_string(x.shape()), x.rank()));
}

}  // namespace

Tensor Tensor::at(const Ints& index, Site site) const& {
  check_positions(*this, index, site);
  if (index.empty()) return reshape(Shape{}, site);
  Tensor element = select(0, index[0], site);
  for (std::size_t d = 1; d < index.size(); ++d) element = std::as_const(element).select(0, index[d], site);
  return element;
}

Tensor Tensor::at(const Ints& index, Site site) && {
  check_positions(*this, index, site);
  if (index.empty()) return std::move(*this).reshape(Shape{}, site);
  Tensor element = std::move(*this).select(0, index[0], site);
  for (std::size_t d = 1; d < index.size(); ++d) element = std::as_const(element).select(0, index[d], site);
  return element;
}

}  // namespace oriel
