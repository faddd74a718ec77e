// Movements and reductions by patterns: views, sizes that x tells, messages. Answers of einops are recorded
// (recorded_further_test.cpp).
#include <doctest/doctest.h>

#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::patterns_test {

namespace {

using test::refusal;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a rearranged tensor is a view that can be written through") {
  Tensor x = arange(12).to(DType::float32).reshape(12);
  const Tensor y = rearrange(x, "(h w) -> w h", {{"h", 3}});
  CHECK(y.shape() == Shape{4, 3});
  CHECK(same_storage(x, y));
  Tensor column = y[1];
  column.assign(-1);
  CHECK(x.to_vector<float>() == Floats{0, -1, 2, 3, 4, -1, 6, 7, 8, -1, 10, 11});
  CHECK(rearrange(x, "(a b) -> a b", {{"a", 12}}).shape() == Shape{12, 1});
  CHECK_FALSE(same_storage(x, repeat(x, "a -> a")));
  CHECK_FALSE(same_storage(x, reduce(x, "a -> a", Combine::sum)));
}

TEST_CASE("patterns of symbolic sizes make one entry") {
  const auto f = capture(
      [](Tensor x) {
        return reduce(rearrange(x, "b (h w) -> h b w", {{"h", 2}}), "h b w -> b h", Combine::amax);
      },
      {.dynamic = Dynamic::yes});
  CHECK(f(Tensor::of<float>({{1, 5, 2, 3}})).to_vector<float>() == Floats{5, 3});
  CHECK(f(Tensor::of<float>({{1, 2}, {4, 3}})).to_vector<float>() == Floats{1, 2, 4, 3});
  CHECK(f(Tensor::of<float>({{1, 5, 2, 3, 0, 9}})).to_vector<float>() == Floats{5, 9});
}

TEST_CASE("messages quote the pattern") {
  const Tensor x = ones({2, 6});
  const auto rearranged = [&](std::string_view pattern, ListOf<NamedSize> sizes = {}) {
    return refusal([&] { static_cast<void>(rearrange(x, pattern, sizes)); });
  };
  CHECK(rearranged("a b") == "rearrange: \"a b\": it has no \"->\" between the axes of x and those of the result");
  CHECK(rearranged("a -> a") == "rearrange: \"a -> a\": it names 1 axes of (2, 6), which has 2");
  CHECK(rearranged("a ... b c -> a") ==
        "rearrange: \"a ... b c -> a\": it names 3 or more axes of (2, 6), which has 2");
  CHECK(rearranged("a (b c) -> a b c") ==
        "rearrange: \"a (b c) -> a b c\": neither b nor c has a size; give one of them");
  CHECK(rearranged("a (b c) -> a b c", {{"b", 4}}) ==
        "rearrange: \"a (b c) -> a b c\": axis 1 of (2, 6) has extent 6, which is no multiple of 4");
  CHECK(rearranged("a (b c) -> a b c", {{"b", 2}, {"c", 2}}) ==
        "rearrange: \"a (b c) -> a b c\": axis 1 of (2, 6) has extent 6, which is not 4");
  CHECK(rearranged("a b -> a") ==
        "rearrange: \"a b -> a\": b stands on the left alone; reduce says how its elements "
        "are combined");
  CHECK(rearranged("a b -> a b c", {{"c", 2}}) ==
        "rearrange: \"a b -> a b c\": c stands on the right alone; repeat repeats elements");
  CHECK(rearranged("a b -> a b c") == "rearrange: \"a b -> a b c\": c stands on the right alone; give its size");
  CHECK(rearranged("a a -> a") == "rearrange: \"a a -> a\": a stands twice on the left");
  CHECK(rearranged("a b -> b b") == "rearrange: \"a b -> b b\": b stands twice on the right");
  CHECK(rearranged("a (b -> a b") == "rearrange: \"a (b -> a b\": parentheses do not match; a group holds names alone");
  CHECK(rearranged("a ... -> a") == "rearrange: \"a ... -> a\": \"...\" stands on the left alone");
  CHECK(rearranged("(a ...) b -> b") ==
        "rearrange: \"(a ...) b -> b\": \"...\" stands once, and on the left outside of parentheses");
  CHECK(rearranged("a b* -> a b") == "rearrange: \"a b* -> a b\": '*' is no part of a name");
  CHECK(rearranged("a b -> a b", {{"d", 2}}) ==
        "rearrange: \"a b -> a b\": it does not name d, for which a size is given");
  CHECK(rearranged("a b -> b a", {{"a", 3}}) ==
        "rearrange: \"a b -> b a\": axis 0 of (2, 6) has extent 2, which is not 3");
  CHECK(rearranged("a b -> b a", {{"a", 2}, {"a", 3}}) == "rearrange: \"a b -> b a\": a has the extents 2 and 3");
  CHECK(rearranged("a b -> b a", {{"a", -2}}) == "rearrange: \"a b -> b a\": a is -2; sizes are >= 0");
  CHECK(rearranged("a 2x -> a 2x") == "rearrange: \"a 2x -> a 2x\": 2x is no name and no extent");
  CHECK(refusal([&] { static_cast<void>(repeat(x, "a b -> a")); }) ==
        "repeat: \"a b -> a\": b stands on the left alone; reduce says how its elements are combined");
  CHECK(refusal([&] {
          static_cast<void>(reduce(x, "a b -> a b c", Combine::sum, {{"c", 2}}));
        }) == "reduce: \"a b -> a b c\": c stands on the right alone; repeat repeats elements");
}

}  // namespace oriel::patterns_test
