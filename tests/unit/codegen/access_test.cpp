// An access as numbers: what they say is what the stack of views says.
#include "codegen/access.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "codegen/stack.hpp"

namespace access_test {

using namespace oriel;
using codegen::Access;
using codegen::AccessAxis;
using codegen::AffineMap;

namespace {

/// The position of a point by the maps alone; nothing where it lies outside of a box.
std::optional<std::int64_t> position(const Access& access, std::vector<std::int64_t> point) {
  std::int64_t at = 0;
  for (std::size_t k = 0; k < access.maps().size(); ++k) {
    const AffineMap& map = access.maps()[k];
    if (k > 0) {
      point.assign(map.axes.size(), 0);
      for (std::size_t d = map.axes.size(); d-- > 0; at /= map.axes[d].extent) point[d] = at % map.axes[d].extent;
    }
    at = map.offset;
    for (std::size_t d = 0; d < map.axes.size(); ++d) {
      const AccessAxis& axis = map.axes[d];
      if (point[d] < axis.begin || point[d] >= axis.end) return std::nullopt;
      at += point[d] * axis.coefficient;
    }
  }
  return at;
}

void check_positions(const Access& access) {
  const ShapeTracker& stack = codegen::stack_of(access);
  CAPTURE(access.stack_text());
  const std::int64_t points = numel(stack.shape(), "test").value();
  for (std::int64_t n = 0; n < points; ++n) {
    std::vector<std::int64_t> point(access.loops());
    std::int64_t rest = n;
    for (std::size_t d = access.loops(); d-- > 0; rest /= access.extent(d)) point[d] = rest % access.extent(d);
    CHECK(position(access, point) == stack.at(point));
  }
}

}  // namespace

TEST_CASE("an affine access: coefficients, offset and box") {
  const Access turned(0, DType::float32, ShapeTracker(Shape{4, 6}).pad({{0, 0}, {1, 2}}).flip({0}).permute({1, 0}));
  REQUIRE(turned.affine());
  CHECK(turned.loops() == 2);
  CHECK(turned.offset() == 17);
  CHECK(turned.coefficient(0) == 1);
  CHECK(turned.coefficient(1) == -6);
  CHECK(turned.boxed());
  CHECK(turned.begin(0) == 1);
  CHECK(turned.end(0) == 7);
  CHECK(turned.end(1) == turned.extent(1));
  check_positions(turned);
  check_positions(Access(0, DType::int8, ShapeTracker(Shape{})));
}

TEST_CASE("further maps take the position apart") {
  const ShapeTracker turned = ShapeTracker(Shape{4, 6}).permute({1, 0});
  const Access flat(0, DType::float32, turned.reshape({24}));
  CHECK_FALSE(flat.affine());
  CHECK(flat.maps().size() == 2);
  check_positions(flat);
  check_positions(Access(0, DType::float32, turned.pad({{1, 1}, {0, 0}}).reshape({32}).flip({0}).reshape({2, 16})));
}

TEST_CASE("accesses made from others") {
  const Access rows = Access::row_major(1, DType::float32, {3, 4, 5});
  CHECK(rows.coefficient(0) == 20);
  CHECK(even_stride(rows, 0, 3) == 1);
  CHECK(even_stride(rows, 0, 2) == 5);

  Access turned = rows;
  turned.permute({2, 0, 1});
  CHECK(turned.coefficient(0) == 1);
  CHECK(turned.coefficient(1) == 20);
  CHECK_FALSE(even_stride(turned, 0, 3).has_value());
  CHECK(turned.buffer == 1);

  Access part = rows;
  part.restrict({{1, 3}, {2, 4}});
  CHECK(part.extent(0) == 2);
  CHECK(part.extent(1) == 2);
  CHECK(part.extent(2) == 5);
  CHECK(part.offset() == 30);
  check_positions(part);

  const std::optional<Access> joined = turned.with_joined(2);
  REQUIRE(joined.has_value());
  CHECK(joined->loops() == 2);
  CHECK(joined->coefficient(1) == 5);
  CHECK_FALSE(turned.with_joined(1).has_value());

  const Access strided = Access::strided(0, DType::float64, {2, 3}, {7, 2});
  CHECK(strided.coefficient(0) == 7);
  CHECK_FALSE(strided.boxed());
  check_positions(strided);
}

}  // namespace access_test
