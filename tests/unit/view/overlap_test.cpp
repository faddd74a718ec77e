// Which outputs may be written while inputs in the same memory are read.
#include "view/layouts/overlap.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

#include "layouts.hpp"
#include "oriel/error.hpp"
#include "view/layouts/iterate.hpp"

namespace overlap_test {

using namespace oriel;
using namespace oriel::detail;

namespace {

const Layout kRows = Layout::contiguous({3, 4});
const Layout kColumns{{3, 4}, {1, 3}};

Iteration into(const Layout& output, std::int64_t to, const Layout& input, std::int64_t from) {
  const std::array<const Layout*, 1> inputs{&input}, outputs{&output};
  const std::array<MemoryPlace, 2> places{MemoryPlace{0, to}, MemoryPlace{0, from}};
  return iterate(inputs, outputs, places);
}

}  // namespace

TEST_CASE("dense layouts overlap where their runs of memory do") {
  const auto at = [](std::int64_t offset) { return MemoryPlace{0, offset}; };
  CHECK(overlap(kRows, at(5), kRows, at(5)) == Overlap::full);
  CHECK(overlap(kRows, at(5), kColumns, at(5)) == Overlap::partial);
  CHECK(overlap(kRows, at(5), Layout::contiguous({12}), at(5)) == Overlap::partial);
  for (const std::int64_t near : {4, 6, 16, -6}) CHECK(overlap(kRows, at(5), kRows, at(near)) == Overlap::partial);
  for (const std::int64_t far : {17, -7, 1000}) CHECK(overlap(kRows, at(5), kRows, at(far)) == Overlap::none);
  CHECK(overlap(kRows, at(5), kRows, {1, 5}) == Overlap::none);
  CHECK(overlap(kRows, {}, kRows, {}) == Overlap::none);
  CHECK(overlap(kRows, at(5), Layout::contiguous({0, 4}), at(5)) == Overlap::none);
  CHECK(overlap(kRows, at(5), Layout{}, at(16)) == Overlap::partial);
  CHECK(overlap(kRows, at(0), {{3, 2}, {4, 1}}, at(0)) == Overlap::unknown);
  CHECK(overlap({{4}, {-1}}, at(3), {{4}, {1}}, at(0)) == Overlap::unknown);
  CHECK_THROWS_AS(overlap(kRows, at(std::numeric_limits<std::int64_t>::max()), kRows, at(0)), OverflowError);
}

TEST_CASE("an axis of stride 0 repeats, unless it has one index") {
  CHECK_FALSE(repeated_axis(kRows));
  CHECK(repeated_axis({{3, 4}, {0, 1}}) == 0);
  CHECK(repeated_axis({{3, 4}, {1, 0}}) == 1);
  CHECK_FALSE(repeated_axis({{1, 4}, {0, 1}}));
  CHECK_FALSE(repeated_axis({{1, 4}, {0, 2}}));
  CHECK_FALSE(repeated_axis({{3, 4}, {1, 1}}));  // this kind of overlap is not looked for
  CHECK_FALSE(repeated_axis({}));
}

TEST_CASE("outputs that repeat, or overlap an input in part, are refused") {
  CHECK(into(kRows, 0, kRows, 0).loop_shape == Shape{12});
  CHECK(into(kRows, 0, kRows, 12).loop_shape == Shape{12});
  CHECK_THROWS_WITH_AS(into(kRows, 2, kColumns, 0),
                       "iterate: unsupported operation: some elements of the input tensor and the written-to tensor "
                       "refer to a single memory location: the output (3,4):(4,1) at 2 and input 0, (3,4):(1,3) at 0; "
                       "they must be the same elements at the same indices, or share none",
                       ShapeError);
  const std::array<const Layout*, 1> input{&kRows};
  const Layout repeating{{3, 4}, {4, 0}};
  const std::array<const Layout*, 2> outputs{nullptr, &repeating};
  // This error needs no places: it concerns one operand alone.
  CHECK_THROWS_WITH_AS(iterate(input, outputs),
                       "iterate: unsupported operation: more than one element of the written-to tensor refers to a "
                       "single memory location: the output (3,4):(4,0) has stride 0 on axis 1; give a tensor that "
                       "holds each element once",
                       ShapeError);
  // An operand in both lists names the same elements, whatever its places say.
  const std::array<MemoryPlace, 2> places{MemoryPlace{0, 0}, MemoryPlace{0, 1}};
  CHECK(iterate(input, input, places).loop_shape == Shape{12});
  CHECK_THROWS_WITH_AS(iterate(input, input, std::array<MemoryPlace, 1>{}),
                       "iterate: 1 places came for 2 operands; give one per operand, or none", ArgumentError);
}

TEST_CASE("PyTorch's answers: outputs that share memory with inputs are refused, and taken, where they are there") {
  for (const random_layouts::json& c : random_layouts::read_cases("torch_overlap.json", 499)) {
    CAPTURE(c.dump());
    const auto layout = [&](const random_layouts::json& operand) {
      return Layout::make(random_layouts::read_ints(c["shape"]), random_layouts::read_ints(operand["strides"]));
    };
    const auto place = [](const random_layouts::json& operand) {
      return MemoryPlace{operand["storage"].get<std::int64_t>(), operand["offset"].get<std::int64_t>()};
    };
    const Layout output = layout(c["out"]);
    std::vector<Layout> held;
    held.reserve(c["inputs"].size());  // keeps pointers to the elements valid
    std::vector<const Layout*> inputs;
    std::vector<MemoryPlace> places{place(c["out"])};
    for (const random_layouts::json& input : c["inputs"]) {
      held.push_back(layout(input));
      inputs.push_back(input.contains("same_tensor") ? &output : &held.back());
      places.push_back(place(input));
    }
    const std::array<const Layout*, 1> outputs{&output};
    std::string answer = "ok";
    try {
      iterate(inputs, outputs, places);
    } catch (const ShapeError& error) {
      const std::string text = error.what();
      answer = text.find("more than one element of the written-to tensor") != std::string::npos ? "internal"
               : text.find("some elements of the input tensor") != std::string::npos            ? "partial"
                                                                                                : text;
    }
    CHECK(answer == c["expect"].get<std::string>());
  }
}

}  // namespace overlap_test
