// PyTorch's view(): its answers, and a check that a layout is refused only if no strides give the result.
#include "view/layouts/strided_reshape.hpp"

#include <doctest/doctest.h>

#include <map>

#include "layouts.hpp"
#include "oriel/error.hpp"
#include "oriel/view.hpp"

namespace strided_reshape_test {

using namespace random_layouts;
using oriel::detail::ReshapeRefusal;
using oriel::detail::strided_reshape;
using oriel::detail::StridedReshape;

namespace {

std::vector<std::int64_t> positions(const Layout& layout) {
  std::vector<std::int64_t> list;
  each_index(layout.shape, [&](const auto& i) { list.push_back(position(i, layout.strides)); });
  return list;
}

ReshapeRefusal refusal(const Layout& layout, const Shape& wanted) {
  const StridedReshape reshaped = strided_reshape(layout, wanted);
  REQUIRE(!reshaped);
  return *reshaped.refusal;
}

}  // namespace

TEST_CASE("PyTorch's answers") {
  std::map<std::string, int> kinds;
  for (const json& c : read_cases("torch_view.json", 314)) {
    const std::string id = c["id"];
    INFO(id);
    const json& want = c["expect"];
    const StridedReshape got = strided_reshape(read_layout(c), read_ints(c["new_shape"]));
    REQUIRE(bool(got) == want["ok"].get<bool>());
    if (got) {
      CHECK(got.layout == read_layout(want));
      ++kinds["ok"];
    } else {
      CHECK(name(*got.refusal) == want["error"]);
      ++kinds[want["error"]];
    }
    // reshape() is a view exactly if view() is allowed. If only the strides forbid a view, it copies.
    if (want.contains("reshape") && want["reshape"].contains("is_view") && want["reshape"]["is_view"].is_boolean()) {
      CHECK(bool(got) == want["reshape"]["is_view"].get<bool>());
    }
  }
  CHECK(kinds.size() == 6);
}

TEST_CASE("a new shape lists the same positions, and is refused only where no single view does") {
  Random random(4);
  int taken = 0;
  int refused = 0;
  for (int k = 0; k < 10'000; ++k) {
    const Layout layout = random.layout(random.shape(static_cast<std::size_t>(random.between(0, 4)), 4));
    std::int64_t rest = value(layout.numel());
    Shape wanted;
    while (rest > 1 && wanted.size() < 3) {
      std::int64_t factor = random.between(1, rest);
      while (rest % factor != 0) --factor;
      wanted.push_back(factor);
      rest /= factor;
    }
    wanted.push_back(rest);
    std::shuffle(wanted.begin(), wanted.end(), random.engine());
    INFO(layout.str());
    INFO(to_string(wanted));
    const StridedReshape got = strided_reshape(layout, wanted);
    // The view algebra decides by another method, which is proven complete.
    const bool possible = oriel::View::make(layout.shape, layout.strides).reshape(wanted).has_value();
    REQUIRE(bool(got) == possible);
    if (got) {
      REQUIRE(positions(got.layout) == positions(layout));
      ++taken;
    } else {
      REQUIRE(*got.refusal == ReshapeRefusal::incompatible_strides);
      ++refused;
    }
  }
  CHECK(taken > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("-1 and the refusals") {
  const Layout six = Layout::contiguous({2, 3});
  CHECK(strided_reshape(six, {-1}).layout == Layout::contiguous({6}));
  CHECK(strided_reshape(six, {3, -1, 1}).layout == Layout::contiguous({3, 2, 1}));
  CHECK(refusal(six, {-1, 4}) == ReshapeRefusal::size_mismatch);
  CHECK(refusal(six, {7}) == ReshapeRefusal::size_mismatch);
  CHECK(refusal(six, {-1, 0}) == ReshapeRefusal::size_mismatch);
  CHECK(refusal(six, {-1, -1}) == ReshapeRefusal::two_minus_ones);
  // The error names the first mistake from the left.
  CHECK(refusal(six, {-1, -2, -1}) == ReshapeRefusal::negative_size);
  CHECK(refusal(six, {-1, -1, -2}) == ReshapeRefusal::two_minus_ones);
  CHECK(refusal({{3, 2}, {1, 3}}, {6}) == ReshapeRefusal::incompatible_strides);

  const Layout empty{{2, 0}, {7, 5}};
  CHECK(refusal(empty, {0, -1}) == ReshapeRefusal::ambiguous_minus_one);
  CHECK(strided_reshape(empty, {-1, 3}).layout == Layout{{0, 3}, {3, 1}});
  CHECK(strided_reshape(empty, {2, 0}).layout == empty);
  CHECK(strided_reshape(empty, {0, 2}).layout == Layout::contiguous({0, 2}));
  CHECK(refusal(empty, {2}) == ReshapeRefusal::size_mismatch);

  const std::int64_t half = std::int64_t{1} << 32;
  CHECK(refusal(six, {half, half}) == ReshapeRefusal::size_mismatch);
  CHECK(refusal(six, {half, half, -1}) == ReshapeRefusal::size_mismatch);
  CHECK(strided_reshape(empty, {half, 0, half}).layout.shape == Shape{half, 0, half});
}

}  // namespace strided_reshape_test
