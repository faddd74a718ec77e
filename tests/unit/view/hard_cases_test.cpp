// Stacks that are hard to decide, with their answers: accidental merges, subset sums, masks that hide nothing, huge
// sizes.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "oracle.hpp"

namespace hard_cases_test {

using nlohmann::json;
using oriel::View;

namespace {

View read_view(const json& value) {
  View view;
  for (const json& n : value["shape"]) view.shape.push_back(n.get<std::int64_t>());
  for (const json& n : value["strides"]) view.strides.push_back(n.get<std::int64_t>());
  view.offset = value["offset"].get<std::int64_t>();
  if (!value["mask"].is_null()) {
    for (const json& r : value["mask"]) view.mask.push_back({r[0].get<std::int64_t>(), r[1].get<std::int64_t>()});
  }
  return view;
}

}  // namespace

TEST_CASE("hard stacks have the answers that were worked out for them") {
  std::ifstream file(ORIEL_TEST_DATA "/hard_cases.json");
  const json cases = json::parse(file);
  REQUIRE(cases.size() == 58);
  for (const json& hard : cases) {
    CAPTURE(hard["name"].get<std::string>());
    std::vector<View> stack;
    for (const json& view : hard["stack_inner_first"]) stack.push_back(read_view(view));
    const auto tracker = oriel::ShapeTracker::from_views(stack);
    const auto simple = tracker.simplify();
    CHECK(simple.single() == hard["mergeable"].get<bool>());
    if (simple.single() && !hard["merged"].is_null()) CHECK(simple.views()[0] == read_view(hard["merged"]).canonical());
    if (hard["checked_by_oracle"].get<bool>()) CHECK(oracle::table(simple.views()) == oracle::table(stack));
    CHECK(simple.simplify() == simple);
  }
}

}  // namespace hard_cases_test
