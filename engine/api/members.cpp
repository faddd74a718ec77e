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

using detail::Access;

Tensor Tensor::in_layout(const Tensor& elements, const Layout& layout) {
  return as_strided(elements, View::make(layout.shape, layout.strides));
}

Tensor Tensor::to(DType dtype, Site site) const { return cast(Operand(*this, site), dtype); }
Tensor Tensor::bitcast(DType dtype, Site site) const { return oriel::bitcast(Operand(*this, site), dtype); }

Tensor Tensor::converted(DType dtype) const {
  if (dtype == DType::bool_ && numel() != 1) {
    // A conversion takes no line, but the tensor has that of its expression: if (x > 0).
    const detail::CallSite call(Access::node(*this)->site);
    throw ShapeError("bool", fmt::format("{} holds {} elements; only a tensor of one element is a condition: write "
                                         "any(x) or all(x), or where(x, a, b), which chooses for each element",
                                         to_string(shape()), numel().value()));
  }
  check_one();
  return to(dtype, Site::unknown());
}

// Both forms of each view: of a tensor with a name, and of a value of an expression.
#define ORIEL_OR(value)
#define ORIEL_VIEW(result, name, parameters, ...)                                                  \
  Tensor Tensor::name parameters const& { return oriel::name(Operand(*this, site), __VA_ARGS__); } \
  Tensor Tensor::name parameters&& { return oriel::name(Operand(std::move(*this), site), __VA_ARGS__); }
ORIEL_VIEW_METHODS(ORIEL_VIEW)
#undef ORIEL_VIEW
#undef ORIEL_OR

namespace {

Ints reversed(std::size_t rank) {
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  return order;
}

}  // namespace

Tensor Tensor::T(Site site) const& { return permute(reversed(rank()), site); }
Tensor Tensor::T(Site site) && { return std::move(*this).permute(reversed(rank()), site); }

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
