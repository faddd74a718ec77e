// The boxes of a tile cover each valid element once, at its position, and nothing else; its runs of distances cover all
// elements.
#include "backend/eigen/tile/walk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "backend/eigen/isa/table.hpp"

namespace walk_test {

using namespace oriel;
using backend::eigen::AccessWalker;
using backend::eigen::Box;
using backend::eigen::Digits;
using backend::eigen::Pattern;
using backend::eigen::Tile;

namespace {

std::vector<std::int64_t> unravel(std::int64_t i, const Shape& shape, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> at(to - from);
  for (std::size_t d = to; d-- > from; i /= shape[d].value()) at[d - from] = i % shape[d].value();
  return at;
}

std::int64_t points(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t n = 1;
  for (std::size_t d = from; d < to; ++d) n *= shape[d].value();
  return n;
}

using Positions = std::vector<std::optional<std::int64_t>>;

/// The positions of a tile's runs of distances; nothing if boxes serve it.
std::optional<Positions> positions_of_runs(const ShapeTracker& t, std::size_t outer, bool columns, const Tile& tile) {
  Positions got;
  const AccessWalker walk({0, DType::float32, t}, outer, columns);
  const bool runs = walk.runs(
      tile, [&](const Pattern& pattern, std::int64_t at, std::int64_t position, Pattern::Run run, std::int64_t n) {
        REQUIRE(at == static_cast<std::int64_t>(got.size()));
        for (std::int64_t k = 0; k < n; ++k) {
          const bool none = run.distances[k] == backend::isa::kNoElement;
          CHECK((!none || pattern.holes()));
          CHECK((none || run.distances[k] >= 0));
          for (int l = 0; run.least[k] != backend::isa::kNoElement && l < backend::isa::kPickedTogether; ++l)
            CHECK(static_cast<std::uint32_t>(run.distances[k + l] - run.least[k]) < 2 * backend::isa::kPickedTogether);
          got.push_back(none ? std::nullopt : std::optional(position + run.distances[k]));
        }
      });
  if (!runs) return std::nullopt;
  CHECK(static_cast<std::int64_t>(got.size()) == tile.size());
  return got;
}

/// Returns an empty string if the boxes are right, else what is wrong. Counts the tiles that have runs, which have to
/// be right too.
std::string fault(const ShapeTracker& t, std::size_t outer, bool columns, const Tile& tile, int* with_runs = nullptr) {
  const Shape& shape = t.shape();
  Positions got(static_cast<std::size_t>(tile.size()));
  std::string wrong;
  AccessWalker({-1, DType::float32, t}, outer, columns).boxes(tile, [&](const Box& box) {
    for (std::int64_t i = 0; i < box.rows; ++i) {
      for (std::int64_t j = 0; j < box.cols; ++j) {
        const std::int64_t at = box.at + i * box.pitch + j;
        if (at < 0 || at >= tile.size() || got[static_cast<std::size_t>(at)]) {
          wrong = "element " + std::to_string(at) + " lies outside or comes twice";
        } else {
          got[static_cast<std::size_t>(at)] = box.position + i * box.row + j * box.col;
        }
      }
    }
  });
  if (!wrong.empty()) return wrong;
  if (const std::optional<Positions> runs = positions_of_runs(t, outer, columns, tile)) {
    if (with_runs != nullptr) ++*with_runs;
    if (*runs != got) return "runs of distances";
  }
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      const std::int64_t first = columns ? tile.fast + j : tile.slow + i;
      const std::int64_t second = columns ? tile.slow + i : tile.fast + j;
      std::vector<std::int64_t> index = unravel(first, shape, 0, outer);
      const std::vector<std::int64_t> rest = unravel(second, shape, outer, shape.size());
      index.insert(index.end(), rest.begin(), rest.end());
      if (got[static_cast<std::size_t>(i * tile.cols + j)] != t.at(index)) {
        return "element (" + std::to_string(i) + ", " + std::to_string(j) + ")";
      }
    }
  }
  return {};
}

struct Random {
  std::mt19937_64 engine;
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n)); }
};

/// Windows of one axis of a padded image, perhaps flipped, with the axes (c, o, w, k) in any order.
ShapeTracker windows(Random& r) {
  const std::int64_t c = 1 + r.below(3), w = 1 + r.below(5);
  const std::int64_t o = 1 + r.below(6), k = 1 + r.below(4), stride = 1 + r.below(3), dilation = 1 + r.below(2);
  const std::int64_t length = (o - 1) * stride + (k - 1) * dilation + 1 + r.below(2);
  const std::int64_t before = r.below(std::min<std::int64_t>(length, 3));
  const std::int64_t after = r.below(std::min<std::int64_t>(length - before, 3));
  ShapeTracker t = ShapeTracker(Shape{c, length - before - after, w}).pad({{0, 0}, {before, after}, {0, r.below(2)}});
  const std::int64_t row = t.shape()[2].value();
  t = t.view(View::make({c, o, row, k}, {length * row, stride * row, 1, dilation * row}));
  Ints flips;
  for (int d = 0; d < 4; ++d) {
    if (r.below(4) == 0) flips.push_back(d);
  }
  Ints order{0, 1, 2, 3};
  std::shuffle(order.begin(), order.end(), r.engine);
  return t.flip(flips).permute(order);
}

/// Reshapes across padded and shifted axes, so that an index carries from one axis to the next.
ShapeTracker reshaped(Random& r) {
  const std::int64_t a = 2 + r.below(4), b = 2 + r.below(4);
  ShapeTracker t(Shape{a, b});
  t = t.pad({{r.below(2), r.below(2)}, {1, r.below(3)}}).permute({1, 0});
  const std::int64_t n = t.shape()[0].value() * t.shape()[1].value();
  std::int64_t split = 1 + r.below(6);
  while (n % split != 0) --split;
  return t.reshape({split, n / split, 1}).expand({split, n / split, 1 + r.below(3)});
}

/// Small matrices in any order of axes, perhaps rolled, flipped, repeated or padded.
ShapeTracker small_matrices(Random& r) {
  ShapeTracker t(Shape{1 + r.below(9), 1 + r.below(4), 1 + r.below(4), 1 + r.below(3)});
  if (r.below(3) == 0)
    t = t.shrink(
        {{0, t.shape()[0]}, {0, t.shape()[1]}, {r.below(2) * (t.shape()[2] - 1), t.shape()[2]}, {0, t.shape()[3]}});
  if (r.below(3) == 0) t = t.pad({{r.below(4) == 0 ? 1 : 0, 0}, {0, r.below(2)}, {r.below(2), 0}, {0, 0}});
  Ints flips;
  for (int d = 0; d < 4; ++d)
    if (r.below(4) == 0) flips.push_back(d);
  t = t.flip(flips);
  if (r.below(2) == 0) {  // a roll: two copies beside each other, of which a part is read
    const Shape s = t.shape();
    const std::int64_t n = s[3].value(), by = r.below(n);
    t = t.reshape({s[0], s[1], s[2], 1, n}).expand({s[0], s[1], s[2], 2, n}).reshape({s[0], s[1], s[2], 2 * n});
    t = t.shrink({{0, s[0]}, {0, s[1]}, {0, s[2]}, {by, by + n}});
  }
  if (r.below(3) == 0) {
    const Shape s = t.shape();
    t = t.reshape({s[0], s[1], 1, s[2] * s[3]}).expand({s[0], s[1], 1 + r.below(3), s[2] * s[3]});
  }
  Ints order{0, 1, 2, 3};
  if (r.below(4) == 0)
    std::shuffle(order.begin(), order.end(), r.engine);
  else
    std::shuffle(order.begin() + 1, order.end(), r.engine);
  return t.permute(order);
}

void check(const ShapeTracker& t, Random& r, int* with_runs = nullptr) {
  const Shape& shape = t.shape();
  const auto outer = static_cast<std::size_t>(r.below(static_cast<std::int64_t>(shape.size()) + 1));
  const bool columns = r.below(2) == 0;
  const std::int64_t first = points(shape, 0, outer), second = points(shape, outer, shape.size());
  Tile tile;
  const std::int64_t slow = columns ? second : first, fast = columns ? first : second;
  tile.slow = r.below(slow);
  tile.rows = 1 + r.below(slow - tile.slow);
  tile.fast = r.below(fast);
  tile.cols = 1 + r.below(fast - tile.fast);
  if (r.below(3) == 0) {
    tile.fast = 0;
    tile.cols = fast;
  }
  INFO(t.str());
  CAPTURE(outer);
  CAPTURE(columns);
  CAPTURE(tile.slow);
  CAPTURE(tile.rows);
  CAPTURE(tile.fast);
  CAPTURE(tile.cols);
  CHECK(fault(t, outer, columns, tile, with_runs) == "");
}

}  // namespace

TEST_CASE("windows over padded images") {
  Random r{std::mt19937_64(1)};
  int plain = 0;
  for (int n = 0; n < 4000; ++n) {
    const ShapeTracker t = windows(r);
    if (Digits::make({-1, DType::float32, t}, 2, false)) ++plain;
    check(t, r);
  }
  CHECK(plain > 1000);
}

TEST_CASE("small matrices: distances of a few points, shifted by the loops before them") {
  Random r{std::mt19937_64(3)};
  int with_runs = 0;
  for (int n = 0; n < 20000; ++n) check(small_matrices(r), r, &with_runs);
  CHECK(with_runs > 2000);
}

TEST_CASE("two loops that move one digit: what is valid is no box") {
  // Element o * 2 + w of a row of 22 with one element of padding before and after, for o < 8 and w < 9.
  const ShapeTracker t = ShapeTracker(Shape{6, 21}).pad({{0, 0}, {1, 1}}).view(View::make({8, 9, 6}, {2, 1, 23}));
  REQUIRE(Digits::make({-1, DType::float32, t}, 2, true).has_value());
  CHECK(fault(t, 2, true, {0, 6, 0, 72}) == "");
}

TEST_CASE("loops that carry from one axis into another") {
  Random r{std::mt19937_64(2)};
  for (int n = 0; n < 4000; ++n) check(reshaped(r), r);
}

}  // namespace walk_test
