// Sizes beyond 2^63-1: the operation that is given them says so, with the shapes that came.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "oriel/oriel.hpp"

namespace overflow_test {

using namespace oriel;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kMost = INT64_MAX;

// The message without its place in the source. Empty if nothing was refused.
template <class F>
std::string overflow(F&& f) {
  try {
    f();
  } catch (const OverflowError& error) {
    const std::string text = error.what();
    const std::size_t place = text.find(" (at ");
    CHECK(place != std::string::npos);
    return text.substr(0, place);
  }
  return {};
}

Tensor repeated(std::int64_t n) { return ones({1}).expand({n}); }

}  // namespace

TEST_CASE("concat whose extents pass 2^63-1 in sum") {
  const Tensor x = repeated(kHuge);
  const std::string end = " along axis 0 pass 2^63-1 in sum; join smaller parts";
  CHECK(overflow([&] { concat({x, x}, 0); }) == "concat: the extents of 2 tensors such as (4611686018427387904)" + end);
  CHECK(overflow([&] {
          concat({repeated(kMost), repeated(1), x}, 0);
        }) == "concat: the extents of 3 tensors such as (9223372036854775807)" + end);
  CHECK(overflow([&] {
          concat({x.reshape({-1, 1}), x.reshape({-1, 1})}, 1);
        }) == "concat: the element count of shape (4611686018427387904, 2) passes 2^63-1");
  CHECK(overflow([&] { stack({x, x}); }) == "stack: the element count of shape (2, 4611686018427387904) passes 2^63-1");
  const Tensor most = concat({x, repeated(kHuge - 1) * 2}, 0);
  CHECK(most.shape() == Shape{kMost});
  CHECK(most.shrink({{kHuge - 2, kHuge + 2}}).to_vector<float>() == std::vector<float>{1, 1, 2, 2});
}

TEST_CASE("counts and sizes that pass 2^63-1") {
  const std::string most = "9223372036854775807";
  CHECK(overflow([] { (void)linspace(0, 1, kMost, DType::float32, Endpoint::excluded); }) ==
        "linspace: " + most + " numbers and the end pass 2^63-1 elements");
  CHECK(overflow([] {
          (void)split_with_sizes(ones({5}), {kMost, kMost, 5});
        }) == "split_with_sizes: sizes (" + most + ", " + most + ", 5) pass 2^63-1 in sum");
  CHECK(overflow([] { (void)repeat_interleave(ones({5}), kMost); }) ==
        "repeat_interleave: " + most + " times axis 0 of (5) passes 2^63-1");
#ifndef ORIEL_NO_FILTERS
  CHECK(overflow([] {
          (void)adaptive_max_pool1d(ones({1, 5}), {kMost});
        }) == "adaptive_max_pool1d: " + most + " windows along axis 1 of (1, 5) pass 2^63-1 in their positions");
#endif
}

TEST_CASE("more pieces, keys and positions than memory holds") {
  const auto without_memory = [](auto&& f) {
    try {
      f();
    } catch (const MemoryError& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  const std::string pieces = "there is no memory for 1099511627776 pieces; ask for fewer at a time";
#ifndef ORIEL_NO_RANDOM
  CHECK(without_memory([] { (void)split(Key(1), kMany); }) ==
        "split: there is no memory for 1099511627776 keys; ask for fewer at a time");
  CHECK(without_memory([] { (void)split(Key(1), kMost); }) ==
        "split: there is no memory for 9223372036854775807 keys; ask for fewer at a time");
#endif
  CHECK(without_memory([] { (void)split(repeated(kMany), 1); }) == "split: " + pieces);
  CHECK(without_memory([] { (void)chunk(repeated(kMany), kMost); }) == "chunk: " + pieces);
  CHECK(without_memory([] { (void)chunk(repeated(kMost), kMany); }) == "chunk: " + pieces);
  CHECK(without_memory([] { (void)chunk(zeros({0}), kMany); }) == "chunk: " + pieces);
  CHECK(split(repeated(kMany), kHuge).size() == 1);
  CHECK(split(repeated(kMany), kMany - 1).size() == 2);
  CHECK(chunk(repeated(kMany), 3).size() == 3);
  CHECK(without_memory([] { (void)tril_indices(std::int64_t{1} << 30, std::int64_t{1} << 30); }) ==
        "tril_indices: there is no memory for 576460752840294400 positions; ask for fewer at a time");
  CHECK(overflow([] { (void)tril_indices(kMost, kMost); }) ==
        "tril_indices: the positions of a triangle of 9223372036854775807 x 9223372036854775807 pass 2^63-1");
  CHECK(overflow([] { (void)triu_indices(kMost, kMost, -kMost - 1); }) ==
        "triu_indices: the positions of a triangle of 9223372036854775807 x 9223372036854775807 pass 2^63-1");
  // Rows without positions take no time.
  using Positions = std::vector<std::int64_t>;
  const auto positions = [](const Tensor& x) { return x.to_vector<std::int64_t>(); };
  CHECK(tril_indices(kMost, 0).shape() == Shape{2, 0});
  CHECK(triu_indices(0, kMost).shape() == Shape{2, 0});
  CHECK(positions(tril_indices(kMost, 1, 2 - kMost)) == Positions{kMost - 2, kMost - 1, 0, 0});
  CHECK(positions(tril_indices(1, kMost)) == Positions{0, 0});
  CHECK(positions(triu_indices(kMost, 2)) == Positions{0, 0, 1, 0, 1, 1});
  CHECK(positions(triu_indices(1, kMost, kMost - 2)) == Positions{0, 0, kMost - 2, kMost - 1});
  CHECK(positions(tril_indices(2, 3, kMost)) == Positions{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2});
  CHECK(positions(triu_indices(2, 3, -kMost - 1)) == Positions{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2});
  for (std::int64_t rows = 0; rows < 5; ++rows)
    for (std::int64_t columns = 0; columns < 5; ++columns)
      for (std::int64_t offset = -6; offset <= 6; ++offset) {
        Positions below, above;
        for (const bool second : {false, true})
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
              if (j - i <= offset) below.push_back(second ? j : i);
              if (j - i >= offset) above.push_back(second ? j : i);
            }
        CHECK(positions(tril_indices(rows, columns, offset)) == below);
        CHECK(positions(triu_indices(rows, columns, offset)) == above);
      }
  const ShapeTracker large(View::make({kMost}, {0}));
  CHECK(without_memory([&] { (void)large.table(kMost); }) ==
        "table: there is no memory for the 9223372036854775807 entries of shape (9223372036854775807)");
#ifndef ORIEL_NO_NOTATIONS
  CHECK(without_memory([&] { (void)layouts::Map::of(large).table(kMost); }) ==
        "table: there is no memory for the 9223372036854775807 entries of shape (9223372036854775807)");
#endif
  CHECK_THROWS_AS((void)zeros({kHuge}, DType::uint8).to_vector<std::uint8_t>(), MemoryError);
  CHECK_THROWS_AS((void)zeros({kMost}, DType::bool_).to_vector<bool>(), MemoryError);
}

TEST_CASE("a shape without elements whose strides pass 2^63-1 is refused") {
  const auto said = [](const std::string& operation, const std::string& shape) {
    return operation + ": the strides of shape " + shape +
           " pass 2^63-1, although it has no elements; give smaller extents";
  };
  const std::string front = "(0, 4611686018427387904, 4611686018427387904)";
  CHECK(overflow([] { zeros({0, kHuge, kHuge}); }) == said("zeros", front));
  CHECK(overflow([] { ones({0, kHuge, kHuge}); }) == said("ones", front));
  CHECK(overflow([] { full({0, kHuge, kHuge}, 1); }) == said("full", front));
  CHECK(overflow([] { empty({0, kHuge, kHuge}); }) == said("empty", front));
  CHECK(overflow([] { iota({0, kHuge, kHuge}); }) == said("iota", front));
  CHECK(overflow([] { zeros({0}).reshape({0, kHuge, kHuge}); }) == said("reshape", front));
  CHECK(overflow([] { zeros({1, 1, 1}).expand({0, kHuge, kHuge}); }) == said("expand", front));
  CHECK(overflow([] { ones({kHuge, kHuge, 0}); }).empty());  // its strides fit
  CHECK(overflow([] { pad(zeros({0, 0, 0}), {{0, 0}, {0, kHuge}, {0, kHuge}}); }) == said("pad", front));
  CHECK_THROWS_WITH_AS(static_cast<void>(contiguous_strides({0, kHuge, kHuge})),
                       ("contiguous_strides: the strides of shape " + front + " pass 2^63-1").c_str(), OverflowError);

  const Tensor x = zeros({0, kHuge}).realize();
  CHECK(x.numel() == 0);
  CHECK(x.strides() == Ints{kHuge, 1});
  CHECK(sum(x, 1).to_vector<float>().empty());
  CHECK(permute(x, {1, 0}).flip(0).realize().shape() == Shape{kHuge, 0});
}

TEST_CASE("roll near 2^62") {
  const std::string why =
      " is rolled as a window of two copies, which pass 2^63-1 elements; roll a part of half the size";
  CHECK(overflow([] { roll(repeated(kHuge), 1, 0); }) == "roll: axis 0 of (4611686018427387904)" + why);
  CHECK(overflow([] { roll(repeated(kMost), kMost - 1, 0); }) == "roll: axis 0 of (9223372036854775807)" + why);
  CHECK(overflow([] { roll(iota({0, kHuge}), -1, 1); }) == "roll: axis 1 of (0, 4611686018427387904)" + why);
  CHECK(overflow([] { roll(iota({2, kHuge / 2}), -1, 0); }) == "roll: axis 0 of (2, 2305843009213693952)" + why);

  CHECK(roll(repeated(kHuge), kHuge, 0).shape() == Shape{kHuge});  // a whole turn moves nothing
  const Tensor x = roll(iota({kHuge - 1}), 2, 0);
  CHECK(x.shrink({{0, 4}}).to_vector<std::int64_t>() == std::vector<std::int64_t>{kHuge - 3, kHuge - 2, 0, 1});
  for (const std::int64_t shift : {kMost, INT64_MIN, std::int64_t{-1}}) {
    CAPTURE(shift);
    const std::int64_t first = ((-(shift % 5)) % 5 + 5) % 5;
    CHECK(roll(iota({5}), shift, 0).select(0, 0).item<std::int64_t>() == first);
  }
}

TEST_CASE("counts near 2^63-1 are refused, and do not wrap to small ones") {
#ifndef ORIEL_NO_HISTOGRAMS
  CHECK(overflow([] {
          bincount(Tensor::of<std::int64_t>({1, kMost}));
        }) == "bincount: 2^63-1 or more is among the numbers; there are at most 2^63-1 counts");
  CHECK(overflow([] { histogram(ones({2}), kMost); }) ==
        "histogram: the edges of 9223372036854775807 bins pass 2^63-1");
#endif
  // In 64 bits the sum is 0.
  CHECK(overflow([] {
          repeat_interleave(ones({3}), Tensor::of<std::int64_t>({kMost, kMost, 2}), 0);
        }) == "repeat_interleave: the counts pass 2^62 in sum");
  CHECK_THROWS_AS((void)partition(ones({3}), INT64_MIN), ArgumentError);
  CHECK_THROWS_AS((void)argpartition(ones({3}), INT64_MIN), ArgumentError);
  CHECK(chunk(arange(3), kMost).size() == 3);
  CHECK(chunk(arange(3), kMost)[2].to_vector<std::int64_t>() == std::vector<std::int64_t>{2});
  CHECK_THROWS_AS((void)chunk(zeros({0}), kMost), MemoryError);
}

TEST_CASE("products and sums of sizes name the operation that makes them") {
  const Tensor x = repeated(kHuge);
  CHECK(overflow([&] { repeat(x, {2}); }) == "repeat: 2 times axis 0 of (4611686018427387904) passes 2^63-1");
  CHECK(overflow([&] { tile(x, {2}); }) == "tile: 2 times axis 0 of (4611686018427387904) passes 2^63-1");
  CHECK(overflow([&] {
          pad(x, {{kHuge, 0}});
        }) == "pad: (4611686018427387904, 0) on axis 0 of (4611686018427387904) passes 2^63-1");
  CHECK(overflow([&] {
          x.reshape({-1, 1}) + x;
        }) == "add: the element count of shape (4611686018427387904, 4611686018427387904) passes 2^63-1");
  CHECK(overflow([&] {
          iota({kHuge, 2});
        }) == "iota: the element count of shape (4611686018427387904, 2) passes 2^63-1");
  CHECK(overflow([&] { x.realize(); }) ==
        "realize: the bytes of float32 (4611686018427387904) do not fit a signed 64-bit integer; realise a part of it");
}

}  // namespace overflow_test
