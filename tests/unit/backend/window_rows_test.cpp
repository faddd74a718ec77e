// The window functions of each instruction-set level. Each result is the sum of its products in the order of the taps,
// whatever grid the taps form, and nothing beside the results is written.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/dtype.hpp"
#include "support/isa_levels.hpp"

namespace window_rows_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Grid {
  std::int64_t rows = 1;  // rows of results
  std::int64_t columns = 1;
  std::int64_t height = 3;  // rows of taps
  std::int64_t width = 3;
  std::int64_t apart = 1;  // columns between neighbouring taps
  bool square = true;      // rows of taps are as far apart as rows of results
};

template <class T>
T next(T sum, T x, T weight, bool fused) {
  const T product = x * weight;
  return fused ? std::fma(x, weight, sum) : sum + product;
}

template <class T>
bool right(const std::string& level, const Grid& g) {
  const backend::isa::WindowFns& fns = backend::isa::table(level.c_str()).window[static_cast<int>(dtype_of<T>)];
  std::mt19937 random(static_cast<unsigned>(g.rows * 1000 + g.columns * 10 + g.height));
  std::uniform_real_distribution<T> any(-1, 1);
  const std::int64_t pitch = g.columns + (g.width - 1) * g.apart + fns.packet;
  const std::int64_t step = g.square ? pitch : 2 * pitch;
  std::vector<T> x(static_cast<std::size_t>((g.rows * step + g.height * step) + 2 * fns.packet));
  for (T& v : x) v = any(random);
  std::vector<T> weights(static_cast<std::size_t>(g.height * g.width));
  for (T& v : weights) v = any(random);
  std::vector<std::int64_t> taps;
  for (std::int64_t h = 0; h < g.height; ++h)
    for (std::int64_t w = 0; w < g.width; ++w) taps.push_back(h * pitch + w * g.apart);
  const T untouched = 77;
  const std::int64_t out_row = g.columns < fns.packet ? g.columns : g.columns + 3;
  std::vector<T> out(static_cast<std::size_t>(g.rows * out_row + fns.packet), untouched);
  backend::isa::WindowRows q;
  q.x = x.data();
  q.taps = taps.data();
  q.weights = weights.data();
  q.count = static_cast<std::int64_t>(taps.size());
  q.x_row = step;
  q.out = out.data();
  q.out_row = out_row;
  q.rows = g.rows;
  q.columns = g.columns;
  fns.weighed(q);
  for (std::int64_t i = 0; i < g.rows; ++i) {
    for (std::int64_t j = 0; j < out_row; ++j) {
      const T got = out[static_cast<std::size_t>(i * out_row + j)];
      T want = untouched;
      if (j < g.columns) {
        want = 0;
        for (std::size_t r = 0; r < taps.size(); ++r)
          want = next(want, x[static_cast<std::size_t>(i * step + taps[r] + j)], weights[r], level != "baseline");
      }
      if (got != want) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("weighed windows add their products in the order of the taps") {
  int packets = 0;
  for (const std::string& level : isa_levels()) {
    for (const std::int64_t height : {1, 2, 3, 4, 5, 6, 7}) {
      for (const std::int64_t columns : {1, 4, 7, 8, 15, 16, 17, 31, 33, 56, 64, 65, 100, 129, 200}) {
        for (const std::int64_t rows : {1, 2, 3, 8}) {
          const Grid g{rows, columns, height, 1 + (columns + height) % 5, 1 + rows % 2, columns % 3 != 0};
          CAPTURE(level);
          CAPTURE(height);
          CAPTURE(columns);
          CAPTURE(rows);
          CHECK(right<float>(level, g));
          CHECK(right<double>(level, g));
          ++packets;
        }
      }
    }
  }
  CHECK(packets > 0);
}

}  // namespace window_rows_test
