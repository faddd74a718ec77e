// Short rows at every instruction set: elements that are looked up by distances, rows that are filled or copied, dot
// products of short rows. Nothing beside what they name is written, and nothing beyond the memory is read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "support/isa_levels.hpp"

namespace small_runs_test {

using namespace oriel;
using namespace oriel::test;
namespace isa = backend::isa;

namespace {

template <class T>
std::vector<T> numbers(std::int64_t n, std::mt19937& random) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& x : out) x = static_cast<T>(random() % 251);
  return out;
}

/// The least of the distances that are looked up together, as a pattern lists them.
std::vector<std::int32_t> least_of(const std::vector<std::int32_t>& distances) {
  std::vector<std::int32_t> least(distances.size(), isa::kNoElement);
  for (std::size_t k = 0; k + isa::kPickedTogether <= distances.size(); ++k) {
    const auto begin = distances.begin() + static_cast<std::ptrdiff_t>(k);
    const auto [low, high] = std::minmax_element(begin, begin + isa::kPickedTogether);
    if (*low >= 0 && *high - *low < 2 * isa::kPickedTogether) least[k] = *low;
  }
  return least;
}

template <class T>
void check_picks(const isa::Table& table, int log, std::mt19937& random) {
  for (int round = 0; round < 200; ++round) {
    const std::int64_t memory = 1 + random() % 60, n = random() % 70;
    const std::vector<T> src = numbers<T>(memory, random);  // the sanitizer knows where it ends
    const bool holes = round % 3 == 0;
    std::vector<std::int32_t> distances(static_cast<std::size_t>(n));
    const auto near = static_cast<std::int64_t>(random() % static_cast<unsigned>(memory));
    for (std::int32_t& d : distances) {
      const std::int64_t at =
          round % 2 == 0 ? std::min<std::int64_t>(memory - 1, near + random() % 16) : random() % memory;
      d = holes && random() % 5 == 0 ? isa::kNoElement : static_cast<std::int32_t>(at);
    }
    const std::vector<std::int32_t> least = least_of(distances);
    std::vector<T> dst(static_cast<std::size_t>(n) + 4, T(252));
    table.pick[log][holes ? 1 : 0](dst.data(), src.data(), distances.data(), least.data(), n, memory);
    for (std::size_t k = 0; k < dst.size(); ++k) {
      const T want = k >= distances.size()             ? T(252)
                     : distances[k] == isa::kNoElement ? T(0)
                                                       : src[static_cast<std::size_t>(distances[k])];
      REQUIRE(dst[k] == want);
    }
    if (holes) continue;
    std::vector<T> to(static_cast<std::size_t>(memory), T(252)), all = to;
    const std::vector<T> from = numbers<T>(n, random);
    table.put[log](to.data(), from.data(), distances.data(), n);
    for (std::size_t k = 0; k < from.size(); ++k) all[static_cast<std::size_t>(distances[k])] = from[k];
    REQUIRE(to == all);
  }
}

template <class T>
void check_copies(const isa::Table& table, int log, std::mt19937& random) {
  for (const std::int64_t src_col : {0, 1, 2}) {
    for (std::int64_t cols = 1; cols < 70; ++cols) {
      const std::int64_t rows = 1 + random() % 5, gap = random() % 3, pitch = cols + gap;
      const std::vector<T> src = numbers<T>((rows - 1) * 7 + (cols - 1) * src_col + 1, random);
      std::vector<T> dst(static_cast<std::size_t>((rows - 1) * pitch + cols), T(252)), want = dst;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j)
          want[static_cast<std::size_t>(i * pitch + j)] = src[static_cast<std::size_t>(i * 7 + j * src_col)];
      table.copy[log](dst.data(), pitch, 1, src.data(), 7, src_col, rows, cols);
      CAPTURE(cols);
      CAPTURE(src_col);
      REQUIRE(dst == want);
    }
  }
}

/// A sum in the order of reductions: lanes that begin at 0, combined by halves.
template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
  T lane[isa::kLanes] = {};
  for (std::int64_t l = 0; l < n; ++l) {
    volatile T product = x[l] * y[l];
    lane[l % isa::kLanes] += product;
  }
  for (std::int64_t half = isa::kLanes / 2; half >= 1; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

template <class T>
void check_dots(const isa::Table& table, DType dtype, std::mt19937& random) {
  for (std::int64_t n = 1; n <= 70; ++n) {
    for (const std::int64_t gap : {0, 3}) {
      const std::int64_t rows = random() % 40;
      std::vector<T> x(static_cast<std::size_t>(n)),
          y(static_cast<std::size_t>(std::max<std::int64_t>(0, rows - 1) * (n + gap) + n));
      for (std::vector<T>* list : {&x, &y})
        for (T& v : *list) v = random() % 9 == 0 ? T(-0.0) : static_cast<T>(random() % 2000) / T(777) - 1;
      std::vector<T> out(static_cast<std::size_t>(rows) + 1, T(5));
      table.product[static_cast<int>(dtype)].dots(out.data(), x.data(), y.data(), n + gap, rows, n);
      CAPTURE(n);
      CAPTURE(gap);
      for (std::int64_t i = 0; i < rows; ++i) {
        const T got = out[static_cast<std::size_t>(i)], want = dot(x.data(), y.data() + i * (n + gap), n);
        REQUIRE(got == want);
        REQUIRE(std::signbit(got) == std::signbit(want));
      }
      REQUIRE(out.back() == T(5));
    }
  }
}

/// Rows reduced as rows, and each by its lanes.
template <class T>
void check_rows(const isa::Table& table, DType dtype, std::mt19937& random) {
  for (int op = 0; op < isa::kReduceCount; ++op) {
    const isa::ReduceFns& fns = table.reduce[op][static_cast<int>(dtype)];
    if (fns.rows == nullptr) continue;
    for (std::int64_t cols = 1; cols <= 9; ++cols) {
      for (const std::int64_t rows : {0, 1, 63, 64, 65, 150}) {
        std::vector<T> x = numbers<T>(rows * cols, random), out(static_cast<std::size_t>(rows) + 1, T(5));
        if constexpr (std::is_floating_point_v<T>)
          for (T& v : x)
            v = random() % 9 == 0 ? T(-0.0) : random() % 30 == 0 ? std::numeric_limits<T>::quiet_NaN() : v / T(77) - 1;
        fns.rows(x.data(), cols, rows, cols, out.data());
        REQUIRE(out.back() == T(5));
        for (std::int64_t i = 0; i < rows; ++i) {
          T lanes[isa::kLanes];
          for (T& l : lanes) std::memcpy(&l, &fns.identity, sizeof l);
          fns.accumulate(lanes, isa::kLanes, 0, x.data() + i * cols, cols);
          fns.combine(lanes, 1, isa::kLanes);
          const T got = out[static_cast<std::size_t>(i)];
          CAPTURE(op);
          CAPTURE(cols);
          REQUIRE(((got != got && lanes[0] != lanes[0]) || std::memcmp(&got, lanes, sizeof got) == 0));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("elements by distances, of every size") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    std::mt19937 random(7);
    const isa::Table& table = isa::table(level.c_str());
    check_picks<std::uint8_t>(table, 0, random);
    check_picks<std::uint16_t>(table, 1, random);
    check_picks<std::uint32_t>(table, 2, random);
    check_picks<std::uint64_t>(table, 3, random);
  }
}

TEST_CASE("short rows are copied and filled without a gap, and nothing behind them") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    std::mt19937 random(8);
    const isa::Table& table = isa::table(level.c_str());
    check_copies<std::uint8_t>(table, 0, random);
    check_copies<std::uint16_t>(table, 1, random);
    check_copies<std::uint32_t>(table, 2, random);
    check_copies<std::uint64_t>(table, 3, random);
  }
}

TEST_CASE("dot products of short rows have the order of reductions") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    std::mt19937 random(9);
    const isa::Table& table = isa::table(level.c_str());
    check_dots<float>(table, DType::float32, random);
    check_dots<double>(table, DType::float64, random);
  }
}

TEST_CASE("short rows without gaps are reduced in the order of their lanes") {
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    std::mt19937 random(10);
    const isa::Table& table = isa::table(level.c_str());
    check_rows<float>(table, DType::float32, random);
    check_rows<double>(table, DType::float64, random);
    check_rows<std::int32_t>(table, DType::int32, random);
    check_rows<std::int64_t>(table, DType::int64, random);
    check_rows<std::uint8_t>(table, DType::uint8, random);
  }
}

}  // namespace small_runs_test
