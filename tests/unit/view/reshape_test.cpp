// Reshape of a single view, compared with brute force: it answers exactly if there is a single view with the result's
// map.
#include <doctest/doctest.h>

#include "generators.hpp"
#include "oracle.hpp"
#include "small_views.hpp"

namespace reshape_test {

using oriel::Shape;
using oriel::View;

namespace {

/// All shapes of n elements without 1s, and each of them with a 1 in front, in the middle and at the end.
void shapes_of(std::int64_t n, Shape prefix, std::vector<Shape>& all) {
  if (n == 1) {
    all.push_back(prefix);
    for (const std::size_t place : {std::size_t{0}, prefix.size() / 2, prefix.size()}) {
      Shape with_one = prefix;
      with_one.insert(with_one.begin() + static_cast<std::ptrdiff_t>(place), 1);
      all.push_back(with_one);
    }
    return;
  }
  for (std::int64_t d = 2; d <= n; ++d) {
    if (n % d != 0) continue;
    Shape longer = prefix;
    longer.push_back(d);
    shapes_of(n / d, longer, all);
  }
}

std::vector<Shape> targets(std::int64_t n) {
  if (n == 0) return {{0}, {0, 3}, {2, 0, 1}};
  std::vector<Shape> all;
  shapes_of(n, {}, all);
  return all;
}

void check_reshape(const View& view, const Shape& target, const std::vector<oracle::Position>& positions) {
  const std::optional<View> expected = oracle::fit(target, positions);
  const std::optional<View> result = view.reshape(target);
  if (result.has_value() != expected.has_value()) {
    FAIL(view.str() << " to " << to_string(target) << ": one view " << (expected ? "exists" : "does not exist"));
  }
  if (result && !(*result == *expected)) FAIL(view.str() << " became " << result->str() << ", not " << expected->str());
}

}  // namespace

TEST_CASE("reshape of all small views is sound and complete") {
  std::size_t reshapes = 0;
  std::size_t representable = 0;
  for (const Shape& shape : small_views::shapes()) {
    const std::vector<Shape> all = targets(numel(shape).value());
    for (const View& view : small_views::views(shape)) {
      const auto positions = oracle::table(view);
      for (const Shape& target : all) {
        check_reshape(view, target, positions);
        ++reshapes;
        representable += view.reshape(target).has_value();
      }
    }
  }
  CHECK(reshapes > 50'000);
  CHECK(representable > reshapes / 4);
  CHECK(representable < reshapes);
}

TEST_CASE("reshape of random moved and raw views is sound and complete") {
  generators::Generator generator(11, 60);
  for (int k = 0; k < 20'000; ++k) {
    View view = k % 2 == 0 ? generator.movement_pair().inner : generator.raw_pair().inner;
    if (view.numel() > 240) continue;
    check_reshape(view, generator.factors(view.numel().value()), oracle::table(view));
  }
}

TEST_CASE("a scalar cannot say that it is invalid") {
  const View nothing = View::make({1, 1}, {0, 0}, 0, {{0, 0}, {0, 1}});
  CHECK_FALSE(nothing.reshape({}).has_value());
  CHECK(nothing.reshape({1}) == View::make({1}, {0}, 0, {{0, 0}}));
  CHECK(View::make({1}, {0}, 7).reshape({})->offset == 7);
}

TEST_CASE("reshape does not enumerate") {
  const std::int64_t k = std::int64_t{1} << 20;
  const View view = View::contiguous({k, k});
  CHECK(view.reshape({k * k})->is_contiguous());
  CHECK_FALSE(view.permute({1, 0}).reshape({k * k}).has_value());
  CHECK(view.permute({1, 0}).reshape({k, 2, k / 2}).has_value());
}

TEST_CASE("if the arithmetic exceeds 64 bits, the answer is no view instead of a wrong one") {
  const std::int64_t huge = std::int64_t{1} << 60;
  const View view = View::make({16, 8}, {0, huge}, 0, {{15, 16}, {0, 2}});
  CHECK(view.at(std::vector<std::int64_t>{15, 1}) == huge);
  CHECK_FALSE(view.reshape({128}).has_value());
}

}  // namespace reshape_test
