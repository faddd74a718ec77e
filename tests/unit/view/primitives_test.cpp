// The postcondition of every movement on `at`, over all small views.
#include <doctest/doctest.h>

#include <functional>

#include "oracle.hpp"
#include "small_views.hpp"

namespace primitives_test {

using oracle::Index;
using oracle::Position;
using oriel::Ints;
using oriel::Range;
using oriel::Ranges;
using oriel::Shape;
using oriel::View;

namespace {

std::size_t movements = 0;

/// Checks that result.at(i) == view.at(source(i)), or is invalid where source(i) is nullopt, and that the result is
/// canonical.
void check_movement(const View& view, const View& result, const Shape& shape,
                    const std::function<std::optional<Index>(const Index&)>& source) {
  if (result.shape != shape) FAIL(view.str() << " became " << result.str() << ", not of shape " << to_string(shape));
  if (!(result == result.canonical())) FAIL(view.str() << " became " << result.str() << ", which is not canonical");
  ++movements;
  for (const Index& i : oracle::indices(shape)) {
    const std::optional<Index> j = source(i);
    const Position expected = j ? oracle::evaluate(view, *j) : Position();
    if (result.at(i) != expected) FAIL(view.str() << " became " << result.str());
  }
}

void for_all_views(const std::function<void(const View&)>& check) {
  movements = 0;
  for (const Shape& shape : small_views::shapes()) {
    for (const View& view : small_views::views(shape)) check(view);
  }
  CHECK(movements > 10'000);
}

/// All lists with one entry from the choices of each axis.
template <class T>
std::vector<oriel::InlineVector<T, 8>> products(const std::vector<std::vector<T>>& choices) {
  std::vector<oriel::InlineVector<T, 8>> all{{}};
  for (const std::vector<T>& axis : choices) {
    std::vector<oriel::InlineVector<T, 8>> longer;
    for (const auto& list : all) {
      for (const T& choice : axis) {
        longer.push_back(list);
        longer.back().push_back(choice);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

TEST_CASE("contiguous counts in row-major order") {
  for (const Shape& shape : small_views::shapes()) {
    const View view = View::contiguous(shape);
    CHECK(view == view.canonical());
    CHECK(view.is_contiguous());
    for (const Index& i : oracle::indices(shape)) CHECK(view.at(i) == oracle::ravel(i, shape));
  }
}

TEST_CASE("permute moves axes") {
  for_all_views([](const View& view) {
    Ints order;
    for (std::size_t d = 0; d < view.rank(); ++d) order.push_back(d);
    do {
      Shape shape;
      for (const oriel::SymInt d : order) shape.push_back(view.shape[static_cast<std::size_t>(d.value())]);
      check_movement(view, view.permute(order), shape, [&](const Index& i) {
        Index j(i.size());
        for (std::size_t d = 0; d < i.size(); ++d) j[static_cast<std::size_t>(order[d].value())] = i[d];
        return j;
      });
    } while (std::next_permutation(order.begin(), order.end()));
  });
}

TEST_CASE("expand repeats axes of extent 1") {
  for_all_views([](const View& view) {
    std::vector<std::vector<oriel::SymInt>> choices;
    for (const oriel::SymInt extent : view.shape) {
      choices.push_back(extent == 1 ? std::vector<oriel::SymInt>{0, 1, 3} : std::vector<oriel::SymInt>{extent});
    }
    for (const Shape& target : products(choices)) {
      check_movement(view, view.expand(target), target, [&](const Index& i) {
        Index j = i;
        for (std::size_t d = 0; d < i.size(); ++d) j[d] = target[d] == view.shape[d] ? i[d] : 0;
        return j;
      });
    }
  });
}

TEST_CASE("shrink cuts a box") {
  for_all_views([](const View& view) {
    std::vector<std::vector<Range>> choices;
    for (const oriel::SymInt extent : view.shape) {
      choices.emplace_back();
      for (std::int64_t lo = 0; lo <= extent; ++lo) {
        for (std::int64_t hi = lo; hi <= extent; hi += view.rank() > 2 ? 2 : 1) choices.back().push_back({lo, hi});
      }
    }
    for (const Ranges& ranges : products(choices)) {
      Shape shape;
      for (const Range& range : ranges) shape.push_back(range.extent());
      check_movement(view, view.shrink(ranges), shape, [&](const Index& i) {
        Index j = i;
        for (std::size_t d = 0; d < i.size(); ++d) j[d] += ranges[d].lo.value();
        return j;
      });
    }
  });
}

TEST_CASE("pad surrounds with invalid indices") {
  for_all_views([](const View& view) {
    std::vector<std::vector<Range>> choices(view.rank(), {{0, 0}, {1, 0}, {0, 2}, {2, 1}});
    for (const Ranges& amounts : products(choices)) {
      Shape shape;
      for (std::size_t d = 0; d < view.rank(); ++d) shape.push_back(view.shape[d] + amounts[d].lo + amounts[d].hi);
      check_movement(view, view.pad(amounts), shape, [&](const Index& i) -> std::optional<Index> {
        Index j = i;
        for (std::size_t d = 0; d < i.size(); ++d) {
          j[d] -= amounts[d].lo.value();
          if (j[d] < 0 || j[d] >= view.shape[d]) return std::nullopt;
        }
        return j;
      });
    }
  });
}

TEST_CASE("flip reverses the named axes") {
  for_all_views([](const View& view) {
    for (unsigned set = 0; set < (1U << view.rank()); ++set) {
      Ints axes;
      for (std::size_t d = 0; d < view.rank(); ++d) {
        if ((set >> d & 1U) != 0) axes.push_back(d);
      }
      check_movement(view, view.flip(axes), view.shape, [&](const Index& i) {
        Index j = i;
        for (const oriel::SymInt axis : axes) {
          const auto d = static_cast<std::size_t>(axis.value());
          j[d] = view.shape[d].value() - 1 - i[d];
        }
        return j;
      });
    }
  });
}

TEST_CASE("huge extents do not overflow where no valid position does") {
  const std::int64_t huge = std::int64_t{1} << 61;
  const View view = View::contiguous({huge, 3});
  CHECK(view.flip({0}).at(Index{huge - 1, 2}) == 2);
  CHECK(view.shrink({{huge - 1, huge}, {0, 3}}).at(Index{0, 1}) == 3 * (huge - 1) + 1);
  // An axis with one valid position has no stride, so flipping it cannot overflow.
  const View masked = View::make({4}, {huge}, 0, {{0, 1}});
  CHECK(masked.flip({0}).at(Index{3}) == 0);
}

}  // namespace primitives_test
