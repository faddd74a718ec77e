// Texts of layouts are read as the maps that wrote them, in every notation; complements of layouts, by brute force.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "../../unit/view/generators.hpp"
#include "oriel/error.hpp"
#include "oriel/layouts.hpp"
#include "support/fixed_seed.hpp"

namespace {

[[maybe_unused]] const bool fixed = oriel::test::fix_seed();

using oriel::ShapeTracker;
using oriel::View;
using oriel::layouts::Map;
using oriel::layouts::Notation;

constexpr Notation kAll[] = {Notation::cute,  Notation::torch,  Notation::numpy, Notation::tinygrad,
                             Notation::oriel, Notation::linear, Notation::isl};

/// One or two random views: results of movements, or raw ones with any strides, offsets and masks.
ShapeTracker random_stack(std::uint64_t seed) {
  generators::Generator draw(seed, 60);
  const auto of = [&](const generators::Pair& pair) {
    const View views[] = {pair.inner, pair.outer};
    return draw.chance(.4) ? ShapeTracker(pair.inner) : ShapeTracker::from_views(views);
  };
  switch (draw.between(0, 2)) {
    case 0:
      return of(draw.movement_pair());
    case 1:
      return of(draw.raw_pair());
    default:
      return of(draw.accident_pair());
  }
}

/// The positions in row-major order of the outermost axes.
std::vector<std::int64_t> positions(const Map& map) { return map.axes().table(); }

/// Modes of an extent and a stride.
using Modes = std::vector<std::pair<int, int>>;

std::string listed(const Modes& modes) {
  std::string shape, strides;
  for (const auto& [extent, stride] : modes) {
    shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    strides += (strides.empty() ? "" : ",") + std::to_string(stride);
  }
  return "(" + shape + "):(" + strides + ")";
}

}  // namespace

TEST_CASE("what str() writes, read() reads as the same map") {
  CHECK(rc::check("texts of layouts", [] {
    const ShapeTracker stack = random_stack(*rc::gen::arbitrary<std::uint64_t>());
    const Map map = Map::of(stack);
    RC_LOG() << map.str() << '\n';
    RC_ASSERT(positions(Map::read(map.str())) == stack.table());
    for (const Notation notation : kAll) {
      std::string text;
      try {
        text = map.str(notation);
      } catch (const oriel::ArgumentError&) {
        continue;  // this notation cannot say it
      }
      RC_LOG() << text << '\n';
      // Of ISL's texts Oriel reads what is affine on a box; a mask is all that remains of an extent in such a text.
      if (notation == Notation::isl &&
          (text.find('%') != std::string::npos || text.find("floor") != std::string::npos ||
           map.axes().simplify().views()[0].masked()))
        continue;
      RC_ASSERT(positions(Map::read(text, notation)) == stack.table());
      RC_ASSERT(positions(Map::read(text)) == stack.table());  // the notation shows from the form
    }
  }));
}

TEST_CASE("the sums of a layout and its complement are all different, and reach the bound, or there is no complement") {
  CHECK(rc::check("complement", [] {
    const auto modes =
        *rc::gen::scale(0.1, rc::gen::container<Modes>(rc::gen::pair(rc::gen::inRange(1, 7), rc::gen::inRange(0, 16))));
    RC_PRE(!modes.empty() && modes.size() <= 4);
    const Map layout = Map::read(listed(modes), Notation::cute);
    RC_LOG() << layout.str() << '\n';
    Modes moving;
    for (const auto& mode : modes)
      if (mode.first > 1 && mode.second > 0) moving.push_back(mode);
    std::ranges::sort(moving, {}, [](const auto& mode) { return std::pair(mode.second, mode.first); });
    int reached = 1;
    bool apart = true;  // CuTe's condition
    for (const auto& [extent, stride] : moving) {
      apart = apart && stride >= reached;
      reached = stride * extent;
    }
    const std::int64_t bound = *rc::gen::inRange(1, 300);
    if (!apart) {
      RC_ASSERT_THROWS_AS((void)layout.complement(bound), oriel::ArgumentError);
      return;
    }
    const std::vector<std::int64_t> own = Map::read(moving.empty() ? "1:0" : listed(moving), Notation::cute).table();
    const std::vector<std::int64_t> rest = layout.complement(bound).table();
    RC_ASSERT(std::ranges::is_sorted(rest, std::less_equal<>()));
    std::set<std::int64_t> sums;
    for (const std::int64_t a : own)
      for (const std::int64_t b : rest) sums.insert(a + b);
    RC_ASSERT(sums.size() == own.size() * rest.size());
    RC_ASSERT(*sums.rbegin() + 1 >= bound);
    RC_ASSERT(positions(Map::read(layout.complement(bound).str())) == positions(layout.complement(bound)));
  }));
}
