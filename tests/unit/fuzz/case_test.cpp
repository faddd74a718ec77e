// All text forms of a case describe the same case.
#include "fuzz/case.hpp"

#include <doctest/doctest.h>

#include "cli/view_program.hpp"
#include "fuzz/case_json.hpp"
#include "fuzz/generate.hpp"
#include "oriel/error.hpp"

namespace case_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

ShapeTracker run(const Case& c) {
  ShapeTracker tracker = start_of(c);
  for (const Movement& movement : c.movements) tracker = apply(tracker, movement);
  return tracker;
}

std::string error_of(std::string_view line) {
  try {
    parse_case(line, "fuzz");
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "no error";
}

}  // namespace

TEST_CASE("json and program text lead back to the case") {
  for (const KindInfo& kind : kinds()) {
    for (std::uint64_t n = 0; n < 300; ++n) {
      Choices choices(11, n);
      const Case c = generate(kind.kind, choices, 60);
      CAPTURE(program_text(c));
      const Case again = parse_case(json_text(c), "fuzz");
      CHECK(json_text(again) == json_text(c));
      CHECK(run(again) == run(c));
      CHECK(cli::run_program(program_text(c)).steps.back().tracker == run(c));
    }
  }
}

TEST_CASE("the forms of one case") {
  Case c;
  c.start = {View::contiguous({6}), View::make({2, 3}, {-3, 1}, 3, {{0, 2}, {1, 3}})};
  c.movements = {{MovementKind::Pad, {}, {{0, 1}, {2, 0}}}, {MovementKind::Flip, {1}, {}}};
  CHECK(program_text(c) == "(2,3):(-3,1)+3[0:2,1:3) over (6):(1) | pad 0,1 2,0 | flip 1");
  CHECK(json_text(c) == R"({"start_views":[{"shape":[6],"strides":[1],"offset":0,"mask":null},)"
                        R"({"shape":[2,3],"strides":[-3,1],"offset":3,"mask":[[0,2],[1,3]]}],)"
                        R"("ops":[["pad",[[0,1],[2,0]]],["flip",[1]]]})");
  Case tensor;
  tensor.start = {View::contiguous({2, 3})};
  tensor.movements = {{MovementKind::Flip, {}, {}}, {MovementKind::Reshape, {6}, {}}};
  CHECK(program_text(tensor) == "2,3 | flip () | reshape 6");
  CHECK(tensor_statements(tensor) ==
        "  oriel::Tensor x = oriel::reshape(oriel::arange(1.F, 7.F), {2,3});\n  x = oriel::reshape(x, {6});\n");
  tensor.movements = {{MovementKind::Every, {2, 1}, {}}};
  CHECK(program_text(tensor) == "2,3 | every 2,1");
  CHECK(tracker_statements(tensor) ==
        "  auto tracker = oriel::ShapeTracker(oriel::Shape{2,3});\n"
        "  tracker = tracker.view(oriel::View::make({1,3}, {0,1}, 0, {}));\n");
}

TEST_CASE("lines that are no case are refused") {
  CHECK(error_of("{") == "fuzz: not a JSON object: '{'");
  CHECK(error_of("{}") == R"(fuzz: give either "base_shape" or "start_views")");
  CHECK(error_of(R"({"start_views":[]})") == "fuzz: a stack of no views; give at least one, innermost first");
  CHECK(error_of(R"({"base_shape":[2],"ops":[["turn",[0]]]})") ==
        "fuzz: unknown movement 'turn'; there are reshape, permute, expand, shrink, pad, flip, every");
}

}  // namespace case_test
