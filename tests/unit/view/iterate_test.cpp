// The joint iteration of operands: PyTorch's answers, and a check that the loops visit exactly the operands' elements.
#include "view/layouts/iterate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "layouts.hpp"
#include "oriel/error.hpp"

namespace iterate_test {

using namespace random_layouts;
using oriel::ArgumentError;
using oriel::MemoryFormat;
using oriel::OverflowError;
using oriel::ShapeError;
using oriel::detail::Iteration;
using oriel::detail::IterationPath;
using oriel::detail::StridesList;

namespace {

std::vector<const Layout*> pointers(const std::vector<Layout>& layouts) {
  std::vector<const Layout*> list;
  for (const Layout& layout : layouts) list.push_back(&layout);
  return list;
}

Iteration iterate(const std::vector<Layout>& inputs) { return oriel::detail::iterate(pointers(inputs)); }

Iteration iterate_into(const std::vector<Layout>& inputs, const std::vector<const Layout*>& outputs) {
  return oriel::detail::iterate(pointers(inputs), outputs);
}

StridesList read_list(const json& value) {
  StridesList list;
  for (const json& strides : value) list.push_back(read_ints(strides));
  return list;
}

// The positions of all operands at each point, sorted.
std::vector<std::vector<std::int64_t>> points(const Shape& shape, const StridesList& strides) {
  std::vector<std::vector<std::int64_t>> all;
  each_index(shape, [&](const auto& i) {
    std::vector<std::int64_t> point;
    for (const Ints& operand : strides) point.push_back(position(i, operand));
    all.push_back(std::move(point));
  });
  std::sort(all.begin(), all.end());
  return all;
}

const Shape kShape{2, 3, 4, 5};
const Layout kContiguous = Layout::contiguous(kShape);
const Layout kChannelsLast = Layout::of(kShape, MemoryFormat::channels_last);

}  // namespace

TEST_CASE("PyTorch's answers") {
  const std::map<std::string, std::size_t> arity{
      {"neg", 1}, {"exp", 1}, {"abs", 1},     {"add_scalar", 1}, {"add", 2},  {"sub", 2},    {"mul", 2},
      {"eq", 2},  {"div", 2}, {"maximum", 2}, {"where", 3},      {"lerp", 3}, {"addcmul", 3}};
  int errors = 0;
  for (const json& c : read_cases("torch_strides.json", 221)) {
    const std::string id = c["id"];
    INFO(id);
    std::vector<Layout> operands;
    for (const json& operand : c["operands"]) operands.push_back(read_layout(operand));
    REQUIRE(operands.size() == arity.at(c["op"]));
    if (c["op"] == "add_scalar") operands.push_back(Layout{});
    const json& want = c["expect"];
    if (want.contains("error")) {
      CHECK_THROWS_AS(iterate(operands), ShapeError);
      Shape common = operands[0].shape;
      const Shape before = common;
      CHECK(oriel::detail::broadcast_into(common, operands[1].shape) == want["mismatch_dim"].get<std::size_t>());
      CHECK(common == before);
      ++errors;
      continue;
    }
    const Iteration it = iterate(operands);
    REQUIRE(it.outputs.size() == 1);
    const Layout result{it.shape, it.outputs[0]};
    CHECK(result == read_layout(want));
    CHECK(result.is_contiguous() == want["is_contiguous"]);
    CHECK(result.is_contiguous(MemoryFormat::channels_last) == want["is_channels_last"]);
    CHECK(result.is_contiguous(MemoryFormat::channels_last_3d) == want["is_channels_last_3d"]);
    CHECK(result.is_non_overlapping_and_dense() == want["non_overlapping_and_dense"]);
    CHECK(result.is_like(MemoryFormat::channels_last) == want["like_channels_last"]);
    CHECK(result.is_like(MemoryFormat::channels_last_3d) == want["like_channels_last_3d"]);
    CHECK(name(result.suggest_memory_format()) == want["suggest"]);
    CHECK(name(result.suggest_memory_format(true)) == want["suggest_exact"]);
    const json& derived = c["derived"];
    CHECK(name(it.path) == derived["path"]);
    CHECK((it.path == IterationPath::general) == !derived["perm"].is_null());
    if (!derived["perm"].is_null()) {
      CHECK(it.order == read_ints(derived["perm"]));
      CHECK(it.effective == read_list(derived["effective_strides"]));
    }
    CHECK(it.loop_shape == read_ints(derived["loop_shape"]));
    CHECK(it.loop_strides == read_list(derived["loop_strides"]));
  }
  CHECK(errors == 6);
}

TEST_CASE("the loops visit every point of the operands together, once") {
  Random random(3);
  std::map<IterationPath, int> paths;
  for (int k = 0; k < 4'000; ++k) {
    const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 5)), 3);
    std::vector<Layout> operands;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      Shape own = shape;
      if (random.chance(40)) {
        for (oriel::SymInt& extent : own) extent = random.chance(25) ? oriel::SymInt(1) : extent;
        own.erase(own.begin(), own.begin() + random.between(0, static_cast<std::int64_t>(own.size())));
      }
      operands.push_back(!operands.empty() && own == operands.back().shape && random.chance(40) ? operands.back()
                                                                                                : random.layout(own));
    }
    const Iteration it = iterate(operands);
    ++paths[it.path];
    StridesList all{it.outputs[0]};
    for (const Layout& operand : operands) {
      Ints strides(it.shape.size());
      const std::size_t ahead = it.shape.size() - operand.rank();
      for (std::size_t d = 0; d < operand.rank(); ++d) {
        if (operand.shape[d] == it.shape[ahead + d]) strides[ahead + d] = operand.strides[d];
      }
      all.push_back(strides);
    }
    REQUIRE(points(it.shape, all) == points(it.loop_shape, it.loop_strides));
    REQUIRE(Layout{it.shape, it.outputs[0]}.is_non_overlapping_and_dense());
  }
  CHECK(paths.size() == 4);
}

TEST_CASE("a contiguous operand does not take channels-last away from the left one") {
  const Iteration it = iterate({kChannelsLast, Layout::contiguous({3, 4, 5})});
  CHECK(it.shape == kShape);
  CHECK(it.effective == StridesList{{60, 1, 15, 3}, {0, 20, 5, 1}});
  CHECK(it.order == Ints{1, 3, 2, 0});
  CHECK(it.loop_shape == Shape{3, 20, 2});
  CHECK(it.loop_strides == StridesList{{1, 3, 60}, {1, 3, 60}, {20, 1, 0}});
  CHECK(it.outputs == StridesList{{60, 1, 15, 3}});
  CHECK(iterate({Layout::contiguous({3, 4, 5}), kChannelsLast}).outputs == StridesList{{60, 20, 5, 1}});
}

TEST_CASE("an equal stride that the size rule does not settle leaves it to the next operand") {
  // The first operand has stride 3 on both axis 0 and axis 2 of (2, 3, 1, 3), so the second operand decides their
  // order.
  const Iteration it = iterate({{{2, 3, 1, 1}, {3, 1, 3, 3}}, {{3, 1, 3}, {1, 3, 3}}});
  CHECK(it.order == Ints{1, 2, 3, 0});
  CHECK(it.outputs == StridesList{{9, 1, 3, 3}});
}

TEST_CASE("fast paths") {
  CHECK(iterate({kContiguous, kContiguous}).path == IterationPath::contiguous);
  CHECK(iterate({kChannelsLast, kChannelsLast}).path == IterationPath::channels_last);
  // Operands that could have either format count as contiguous, in any order.
  const Layout ct = Layout::contiguous({2, 4, 1, 1});
  const Layout cl = Layout::of({2, 4, 1, 1}, MemoryFormat::channels_last);
  CHECK(iterate({cl, ct}).outputs == StridesList{{4, 1, 1, 1}});
  CHECK(iterate({cl, ct}).path == IterationPath::contiguous);
  // Channels-last-3d has no path of its own: it is dense.
  const Layout cl3d = Layout::of({2, 3, 4, 5, 6}, MemoryFormat::channels_last_3d);
  CHECK(iterate({cl3d, cl3d}).path == IterationPath::non_overlapping_dense);
  CHECK(iterate({cl3d, cl3d}).outputs[0] == cl3d.strides);
  // Both are dense, but in different orders.
  CHECK(iterate({{{2, 3}, {1, 2}}, {{2, 3}, {3, 1}}}).path == IterationPath::general);
  // A number beside operands with axes.
  CHECK(iterate({kContiguous, Layout{}}).path == IterationPath::general);
  CHECK(iterate({kContiguous, Layout{}}).loop_shape == Shape{120});
  CHECK(iterate({Layout{}, Layout{}}).path == IterationPath::contiguous);
  CHECK(iterate({Layout{}, Layout{}}).loop_shape.empty());
}

TEST_CASE("provided outputs take part, before the inputs") {
  // A contiguous output prevents the fast path for channels-last inputs; the output's order is taken.
  const Iteration it = iterate_into({kChannelsLast, kChannelsLast}, {&kContiguous});
  CHECK(it.path == IterationPath::general);
  CHECK(it.order == Ints{3, 2, 1, 0});
  CHECK(it.outputs == StridesList{kContiguous.strides});
  CHECK(it.loop_strides[0] == Ints{1, 20, 60});
  CHECK(iterate_into({kChannelsLast, kChannelsLast}, {&kChannelsLast}).path == IterationPath::channels_last);
  const Layout turned{{2, 3}, {1, 2}};
  CHECK(iterate_into({turned}, {&turned}).path == IterationPath::non_overlapping_dense);
  // In place: the output is an input as well.
  CHECK(iterate_into({kChannelsLast, kContiguous}, {&kChannelsLast}).outputs[0] == kChannelsLast.strides);
  // Two outputs, one of them new: the new one gets the order of the given one.
  const Iteration two = iterate_into({kContiguous}, {&kChannelsLast, nullptr});
  CHECK(two.outputs == StridesList{kChannelsLast.strides, kChannelsLast.strides});
  CHECK(two.loop_strides.size() == 3);
  // No inputs, as when a tensor is filled.
  CHECK(iterate_into({}, {nullptr, &turned}).outputs == StridesList{turned.strides, turned.strides});

  const Layout small = Layout::contiguous({3, 4, 5});
  CHECK_THROWS_WITH_AS(
      iterate_into({kContiguous}, {&small}),
      "iterate: an output of shape (3, 4, 5) was provided for a result of (2, 3, 4, 5); outputs do not broadcast",
      ShapeError);
}

TEST_CASE("without elements") {
  // In row-major order strides are as allocated: each extent counts at least 1. In another order a stride is the plain
  // product of extents.
  CHECK(iterate({{{1, 3, 1}, {3, 1, 1}}, {{1, 3, 0}, {3, 1, 1}}}).outputs == StridesList{{3, 1, 1}});
  CHECK(iterate({{{3, 1, 1}, {1, 1, 1}}, {{3, 0, 1}, {1, 3, 99}}}).outputs == StridesList{{1, 3, 0}});
}

TEST_CASE("axes that are walked backwards keep their place") {
  const Iteration it = iterate({{{2, 3, 4}, {-1, 8, -2}}, {{2, 3, 4}, {12, 4, 1}}});
  CHECK(it.order == Ints{0, 2, 1});
  CHECK(it.outputs == StridesList{{1, 8, 2}});
  CHECK(it.loop_shape == Shape{2, 4, 3});
}

TEST_CASE("reductions: the reduced axes are the fastest loops, the result is contiguous") {
  using oriel::detail::iterate_reduction;
  using oriel::detail::reduction_layout;
  CHECK(reduction_layout(kChannelsLast, {1}, true) == Layout::contiguous({2, 1, 4, 5}));
  CHECK(reduction_layout(kChannelsLast, {1}, false) == Layout::contiguous({2, 4, 5}));
  CHECK(reduction_layout(kChannelsLast, {0, 1, 2, 3}, false) == Layout{});
  CHECK(reduction_layout(kChannelsLast, {}, false) == kContiguous);

  const Iteration inner = iterate_reduction(kContiguous, {2, 3});
  CHECK(inner.order == Ints{3, 2, 1, 0});
  CHECK(inner.outputs == StridesList{{3, 1, 0, 0}});
  CHECK(inner.loop_shape == Shape{20, 6});
  CHECK(inner.loop_strides == StridesList{{0, 1}, {1, 20}});
  const Iteration outer = iterate_reduction(kContiguous, {0});
  CHECK(outer.order == Ints{0, 3, 2, 1});
  CHECK(outer.loop_strides == StridesList{{0, 1}, {60, 1}});
  // The input's strides decide the order among reduced axes. They also decide among the other axes if the output does
  // not.
  CHECK(iterate_reduction(kChannelsLast, {1, 2, 3}).order == Ints{1, 3, 2, 0});
  CHECK(iterate_reduction(Layout{}, {}).loop_shape.empty());
}

TEST_CASE("errors") {
  CHECK_THROWS_WITH_AS(iterate({{{3, 3, 4}, {12, 4, 1}}, {{3, 6}, {6, 1}}}),
                       "iterate: shapes (3, 3, 4) and (3, 6) differ on axis 2; aligned at the last axis, extents must "
                       "agree or be 1",
                       ShapeError);
  CHECK_THROWS_WITH_AS(iterate({}), "iterate: no operands came; give at least one", ArgumentError);
  const std::int64_t half = std::int64_t{1} << 32;
  CHECK_THROWS_WITH_AS(iterate({{{half, 1}, {1, 1}}, {{1, half}, {1, 1}}}),
                       "iterate: the element count of shape (4294967296, 4294967296) passes 2^63-1", OverflowError);
}

}  // namespace iterate_test
