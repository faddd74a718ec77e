// Images read at the points of a grid.
#include <fmt/format.h>

#include "base/parts.hpp"
#include "formula/interpolation.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/windows.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using api::weighted;

namespace {

/// Images with points in pixels. The definitions are those of torch.nn.functional.grid_sample.
class GridSampling {
 public:
  GridSampling(const Operand& x, const Tensor& grid, bool align_corners, PadMode outside)
      : call_("grid_sample", x),
        site_(Access::site(x)),
        align_(align_corners),
        outside_(outside),
        dtype_([&] {
          const Operand points(grid, Access::site(x));
          return api::floating_dtype(api::common_dtype({&x, &points}));
        }()),
        image_(call_, call_.node(x, api::wide_dtype(dtype_), {}, grid.device())),
        grid_(call_, call_.cast(Access::node(grid), api::wide_dtype(dtype_))) {
    const Shape &from = image_.shape(), &to = grid_.shape();
    if (from.size() != 4 || to.size() != 4 || to[3] != 2 || to[0] != from[0] || from[2] == 0 || from[3] == 0) {
      throw ShapeError("grid_sample",
                       fmt::format("images {} and a grid {}; give (N, C, H, W) with pixels and (N, H', W', 2)",
                                   to_string(from), to_string(to)));
    }
    flat_ = image_.reshape({from[0], from[1], from[2] * from[3]}).tensor();
  }

  /// Positions in pixels, as (N, 1, H' * W'): x for axis 3, y for axis 2, as the grid has them.
  Value pixels(std::size_t axis) const {
    const Shape& to = grid_.shape();
    const SymInt part = axis == 3 ? 0 : 1, n = image_.shape()[axis];
    const Value unit = grid_.shrink(3, part, part + 1).reshape({to[0], 1, to[1] * to[2]}) + 1;
    return align_ ? unit.binary(Op::Mul, n - 1) * 0.5 : (unit.binary(Op::Mul, n) - 1) * 0.5;
  }
  /// The position that is read for one that may lie outside. Zeros: one with neighbours that are outside too.
  Value inside(const Value& pixel, std::size_t axis) const {
    const SymInt n = image_.shape()[axis];
    if (outside_ == PadMode::constant) return where(api::is_finite(pixel), pixel, -2);
    const Value at = outside_ == PadMode::reflect ? reflected(pixel, n) : pixel;
    return where(isnan(at), 0, max(at.binary(Op::Min, n - 1), 0));
  }
  /// Pixels in row i and column j, which are whole numbers.
  Value read(const Value& i, const Value& j) const {
    const Shape& from = image_.shape();
    const Value seen = (i >= 0) & (j >= 0) & i.binary(Op::Le, from[2] - 1) & j.binary(Op::Le, from[3] - 1);
    const Value place = i.to(DType::int64).binary(Op::Mul, from[3]) + j.to(DType::int64);
    const Shape lines{from[0], from[1], grid_.shape()[1] * grid_.shape()[2]};
    const Tensor index = where(seen, place, 0).broadcast(lines).tensor();
    return where(seen, Value(call_, Access::node(gather(Operand(flat_, site_), index, -1, Bounds::zero))), 0);
  }
  Tensor finish(const Value& v) const {
    const Shape &from = image_.shape(), &to = grid_.shape();
    return v.reshape({to[0], from[1], to[1], to[2]}).to(dtype_).tensor();
  }

 private:
  /// Mirrored at both ends as often as it takes.
  Value reflected(const Value& pixel, SymInt n) const {
    if (align_ && n == 1) return pixel.like(0);
    const double least = align_ ? 0 : -0.5;
    const Value span = pixel.like(1).binary(Op::Mul, align_ ? n - 1 : n);
    const Value way = abs(pixel - least), turns = floor(way / span), rest = way - turns * span;
    const Value odd = turns - floor(turns * 0.5) * 2;
    return where(odd == 0, rest, span - rest) + least;
  }

  Call call_;
  Site site_;
  bool align_;
  PadMode outside_;
  DType dtype_;
  Value image_;
  Value grid_;
  Tensor flat_;  // (N, C, H * W)
};

}  // namespace

Tensor grid_sample(const Operand& x, const Tensor& grid, Interpolation mode, bool align_corners, PadMode outside) {
  base::need<base::kFilters>("grid_sample");
  const Call call("grid_sample", x);
  if (mode == Interpolation::area) throw ArgumentError("grid_sample", "takes the modes nearest, linear and cubic");
  if (outside != PadMode::constant && outside != PadMode::replicate && outside != PadMode::reflect)
    throw ArgumentError("grid_sample", "takes constant, replicate and reflect for what is outside");
  const GridSampling s(x, grid, align_corners, outside);
  if (mode == Interpolation::cubic) {
    // Each neighbour is brought inside by itself, so that weights stay those of the point.
    const auto parts = [&](std::size_t axis) {
      const Value pixel = s.pixels(axis), at = where(api::is_finite(pixel), pixel, -100);
      const Value below = floor(at);
      return std::pair(below, at - below);
    };
    const auto across = parts(3), along = parts(2);  // lambdas cannot capture structured bindings in clang 14
    const auto line = [&](const Value& i) {
      const auto term = [&](int k) {
        return weighted(s.read(i, s.inside(across.first + (k - 1), 3)), api::cubic_weight(across.second, k));
      };
      return (term(0) + term(1)) + (term(2) + term(3));
    };
    const auto term = [&](int k) {
      return weighted(line(s.inside(along.first + (k - 1), 2)), api::cubic_weight(along.second, k));
    };
    return s.finish((term(0) + term(1)) + (term(2) + term(3)));
  }
  const Value column = s.inside(s.pixels(3), 3), row = s.inside(s.pixels(2), 2);
  if (mode == Interpolation::nearest) return s.finish(s.read(round(row), round(column)));
  const Value top = floor(row), left = floor(column), down = row - top, right = column - left;
  const auto line = [&](const Value& i) {
    return weighted(s.read(i, left), 1 - right) + weighted(s.read(i, left + 1), right);
  };
  return s.finish(weighted(line(top), 1 - down) + weighted(line(top + 1), down));
}

Tensor grid_sample(const Operand& x, const Tensor& grid, Interpolation mode, bool align_corners, bool border) {
  return grid_sample(x, grid, mode, align_corners, border ? PadMode::replicate : PadMode::constant);
}

}  // namespace oriel
