// The predicates of layouts: PyTorch's answers, the two forms of each predicate, and consequences of the definitions.
#include "view/layouts/layout.hpp"

#include <doctest/doctest.h>

#include <set>

#include "layouts.hpp"
#include "oriel/error.hpp"

namespace layout_test {

using namespace random_layouts;
using oriel::ArgumentError;
using oriel::MemoryFormat;
using oriel::OverflowError;
using oriel::ShapeError;
namespace detail = oriel::detail;

namespace {
constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr MemoryFormat kLast = MemoryFormat::channels_last;
constexpr MemoryFormat kLast3d = MemoryFormat::channels_last_3d;
}  // namespace

TEST_CASE("PyTorch's answers") {
  for (const json& c : read_cases("torch_contiguity.json", 201)) {
    const std::string id = c["id"];
    INFO(id);
    const Layout layout = read_layout(c);
    const json& want = c["expect"];
    CHECK(value(layout.numel()) == want["numel"]);
    CHECK(value(layout.span()) == want["storage_span"]);
    CHECK(layout.is_contiguous() == want["is_contiguous"]);
    CHECK(layout.is_contiguous(kLast) == want["is_channels_last"]);
    CHECK(layout.is_contiguous(kLast3d) == want["is_channels_last_3d"]);
    CHECK(detail::dense_when_sorted(layout.shape, layout.strides) == want["nod_sort_only"]);
    CHECK(layout.is_non_overlapping_and_dense() == want["non_overlapping_and_dense"]);
    CHECK(layout.is_like(kLast) == want["like_channels_last"]);
    CHECK(layout.is_like(kLast3d) == want["like_channels_last_3d"]);
    CHECK(name(layout.suggest_memory_format()) == want["suggest"]);
    CHECK(name(layout.suggest_memory_format(true)) == want["suggest_exact"]);
    CHECK(layout.preserved().strides == read_ints(want["empty_like_strides"]));
  }
}

TEST_CASE("the branching and the branch-free forms agree on all small layouts") {
  // Rank 3 exhaustively, with extents and strides from 0 to 3 and one odd stride; ranks 4 and 5 at random.
  int contiguous = 0;
  const std::int64_t strides[] = {0, 1, 2, 3, 6, -1};
  each_index({4, 4, 4, 6, 6, 6}, [&](const std::vector<std::int64_t>& i) {
    const Shape shape{i[0], i[1], i[2]};
    const Ints steps{strides[i[3]], strides[i[4]], strides[i[5]]};
    const bool branching = detail::contiguous_branching(shape, steps);
    REQUIRE(branching == bool(detail::contiguous_formula(shape, steps)));
    contiguous += branching ? 1 : 0;
  });
  CHECK(contiguous > 64);
  Random random(1);
  int last = 0;
  for (int k = 0; k < 20'000; ++k) {
    const Layout layout = random.layout(random.shape(static_cast<std::size_t>(random.between(3, 6)), 3));
    const auto& [shape, steps] = layout;
    REQUIRE(detail::contiguous_branching(shape, steps) == bool(detail::contiguous_formula(shape, steps)));
    REQUIRE(detail::channels_last_branching(shape, steps) == bool(detail::channels_last_formula(shape, steps)));
    last += detail::channels_last_branching(shape, steps) ? 1 : 0;
  }
  CHECK(last > 100);
}

TEST_CASE("sizes beyond 64 bits are no error, since a predicate has an answer") {
  const Shape shape{0, kHuge, 8, kHuge};
  const Ints steps{1, 1, kHuge, kHuge};
  CHECK(detail::contiguous_branching(shape, steps));
  CHECK(detail::contiguous_formula(shape, steps));
  CHECK(!detail::channels_last_branching(shape, steps));
  CHECK(!detail::channels_last_formula(shape, steps));
  CHECK(!Layout{{2, kHuge, 8, 4}, {1, 1, kHuge, kHuge}}.is_contiguous(kLast));
}

TEST_CASE("non-overlapping and dense: the positions are 0 to numel - 1, each once") {
  Random random(2);
  int dense = 0;
  for (int k = 0; k < 5'000; ++k) {
    const Layout layout = random.layout(random.shape(static_cast<std::size_t>(random.between(0, 4)), 3));
    std::set<std::int64_t> positions;
    each_index(layout.shape, [&](const auto& i) { positions.insert(position(i, layout.strides)); });
    const auto count = value(layout.numel());
    const bool want = static_cast<std::int64_t>(positions.size()) == count &&
                      (count == 0 || (*positions.begin() == 0 && *positions.rbegin() == count - 1));
    INFO(layout.str());
    REQUIRE(layout.is_non_overlapping_and_dense() == want);
    // The preserved layout is dense and has the same order of axes.
    const Layout kept = layout.preserved();
    REQUIRE(kept.is_non_overlapping_and_dense());
    REQUIRE((want ? kept == layout : kept.shape == layout.shape));
    dense += want ? 1 : 0;
  }
  CHECK(dense > 1000);
  CHECK(dense < 4000);
}

TEST_CASE("preserving keeps the order of the axes and drops the gaps") {
  CHECK(Layout{{2, 3, 4}, {1, 100, 10}}.preserved().strides == Ints{1, 8, 2});
  CHECK(Layout{{2, 3}, {6, 2}}.preserved().strides == Ints{3, 1});
  CHECK(Layout{{2, 3}, {0, 1}}.preserved().strides == Ints{3, 1});
  CHECK(Layout{{4}, {0}}.preserved().strides == Ints{1});
  CHECK(Layout{{3, 1}, {1, 7}}.preserved().strides == Ints{1, 7});
  // A reversed axis keeps its place in the order.
  CHECK(Layout{{2, 3}, {1, -2}}.preserved().strides == Ints{1, 2});
}

TEST_CASE("new layouts") {
  CHECK(Layout::contiguous({2, 0, 4}).strides == Ints{4, 4, 1});
  CHECK(Layout::of({2, 3, 4, 5}, kLast).strides == Ints{60, 1, 15, 3});
  CHECK(Layout::of({2, 3, 4, 5, 6}, kLast3d).strides == Ints{360, 1, 90, 18, 3});
  CHECK(Layout::of({2, 3}, MemoryFormat::contiguous).strides == Ints{3, 1});
  // The strides that PyTorch allocates for a tensor without elements.
  CHECK(Layout::of({1, 0, 2, 3}, kLast).strides == Ints{0, 1, 0, 0});
  CHECK(Layout::of({2, 3, 0, 4}, kLast).strides == Ints{0, 1, 12, 3});
  CHECK(Layout::of({2, 3, 0, 4, 5}, kLast3d).strides == Ints{0, 1, 60, 15, 3});
  CHECK_THROWS_WITH_AS(Layout::of({2, 3}, kLast), "layout: channels_last takes 4 axes, not the 2 of (2, 3)",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Layout::of({2}, kLast3d), "layout: channels_last_3d takes 5 axes, not the 1 of (2)", ShapeError);
  const char* preserve =
      "layout: preserve names no order by itself; give contiguous, channels_last or channels_last_3d";
  CHECK_THROWS_WITH_AS(Layout::of({2}, MemoryFormat::preserve), preserve, ArgumentError);
  CHECK_THROWS_AS(Layout::contiguous({2}).is_contiguous(MemoryFormat::preserve), ArgumentError);
  CHECK_THROWS_AS(Layout::contiguous({2}).is_like(MemoryFormat::preserve), ArgumentError);
  CHECK_THROWS_WITH_AS(Layout::make({2, 3}, {1}), "layout: got 1 strides for shape (2, 3); give one for each axis",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Layout::make({2, -3}, {1, 1}),
                       "layout: extent -3 in shape (2, -3) is negative; extents must be 0 or more", ShapeError);
  CHECK_THROWS_AS(Layout::of({1, kHuge, 1, 8}, kLast), OverflowError);
}

TEST_CASE("ambiguity: one channel, or one pixel") {
  CHECK(Layout::contiguous({2, 1, 4, 4}).is_ambiguous());
  CHECK(Layout::contiguous({2, 4, 1, 1}).is_ambiguous());
  CHECK(Layout::of({2, 1, 4, 4}, kLast).is_ambiguous());
  CHECK(!Layout::contiguous({2, 3, 4, 4}).is_ambiguous());
  CHECK(!Layout::of({2, 3, 4, 4}, kLast).is_ambiguous());
  CHECK(Layout::contiguous({2, 1, 2, 4, 4}).is_ambiguous());
  CHECK(!Layout::contiguous({2, 1, 4}).is_ambiguous());
  // The strides of the axes of extent 1 tell which format was meant.
  CHECK(Layout::of({2, 1, 4, 4}, kLast).suggest_memory_format() == kLast);
  CHECK(Layout::contiguous({2, 1, 4, 4}).suggest_memory_format() == MemoryFormat::contiguous);
  CHECK(Layout::contiguous({2, 1, 4, 4}).is_like(MemoryFormat::contiguous));
}

TEST_CASE("a channel axis without a stride of its own tells no format") {
  CHECK(!Layout{{2, 1, 4, 4}, {16, 0, 4, 1}}.is_like(kLast));
  CHECK(!Layout{{2, 1, 3, 4, 4}, {48, 0, 16, 4, 1}}.is_like(kLast3d));
  CHECK(Layout{{2, 1, 4, 4}, {16, 1, 4, 1}}.is_like(kLast));
}

TEST_CASE("span and text") {
  CHECK(Layout{{2, 3}, {10, -1}}.span() == 13);
  CHECK(Layout{{}, {}}.span() == 1);
  CHECK(Layout{{2, 0}, {5, 5}}.span() == 0);
  CHECK_THROWS_AS((Layout{{3}, {kHuge}}.span()), OverflowError);
  CHECK(Layout{{2, 3}, {10, -1}}.str() == "(2,3):(10,-1)");
  CHECK(name(MemoryFormat::preserve) == "preserve");
}

}  // namespace layout_test
