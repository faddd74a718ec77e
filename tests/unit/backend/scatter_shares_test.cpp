// Scatters that threads share in each of the ways: every number of threads gives the bits of a loop over the keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backend/eigen/tile/one_op.hpp"

namespace scatter_shares_test {

using namespace oriel;
using backend::eigen::ScatterPlan;
using backend::eigen::Team;
using backend::eigen::Threads;
using graph::Op;

namespace {

enum class Order { random, ascending, few };

std::vector<std::int64_t> positions_of(Order order, const codegen::Scattering& s, std::mt19937& draw) {
  const std::int64_t n = s.each ? s.rows * s.keys * s.inner : s.keys;
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  // Unchecked positions may lie outside, and negative ones count from the end.
  const std::int64_t low = order == Order::ascending ? 0 : -s.extent - 2;
  std::uniform_int_distribution<std::int64_t> any(low, order == Order::few ? low + 3 : s.extent + 2);
  for (std::int64_t& p : out) p = any(draw);
  if (order == Order::ascending) std::ranges::sort(out);
  return out;
}

template <class T>
T combined(Op op, T a, T b) {
  switch (op) {
    case Op::ScatterSum:
      return static_cast<T>(a + b);
    case Op::ScatterProd:
      return static_cast<T>(a * b);
    case Op::ScatterMax:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

template <class T>
T identity(Op op) {
  switch (op) {
    case Op::ScatterSum:
      return 0;
    case Op::ScatterProd:
      return 1;
    case Op::ScatterMax:
      return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
    case Op::ScatterLast:
      return static_cast<T>(-1);
    default:
      return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
}

template <class T>
void check(const codegen::Scattering& s, DType dtype, Order order, std::mt19937& draw) {
  const std::vector<std::int64_t> positions = positions_of(order, s, draw);
  std::vector<T> x(s.number ? 1 : static_cast<std::size_t>(s.rows * s.keys * s.inner));
  for (T& v : x) v = static_cast<T>(std::uniform_int_distribution<int>(1, 9)(draw)) / static_cast<T>(3);
  std::vector<T> wanted(static_cast<std::size_t>(s.rows * s.extent * s.inner), identity<T>(s.op));
  for (std::int64_t row = 0; row < s.rows; ++row) {
    for (std::int64_t k = 0; k < s.keys; ++k) {
      for (std::int64_t j = 0; j < s.inner; ++j) {
        const std::int64_t at = (row * s.keys + k) * s.inner + j;
        std::int64_t e = positions[static_cast<std::size_t>(s.each ? at : k)];
        if (e < 0) e += s.extent;
        if (e < 0 || e >= s.extent) continue;
        T& to = wanted[static_cast<std::size_t>((row * s.extent + e) * s.inner + j)];
        to = s.op == Op::ScatterLast ? static_cast<T>(k)
                                     : combined(s.op, to, x[s.number ? 0 : static_cast<std::size_t>(at)]);
      }
    }
  }
  ScatterPlan plan;
  plan.scatter = s;
  plan.dtype = dtype;
  for (const int count : {1, 2, 5}) {
    Threads threads(count);
    std::vector<T> out(wanted.size(), T(77));
    std::vector<void*> arguments{const_cast<std::int64_t*>(positions.data()), x.data(), out.data()};
    if (s.op == Op::ScatterLast) arguments.erase(arguments.begin() + 1);
    plan.run(Team(threads), arguments, {});
    CHECK_MESSAGE(std::memcmp(out.data(), wanted.data(), out.size() * sizeof(T)) == 0, count, " threads, order ",
                  static_cast<int>(order), ", ", s.keys, " keys into ", s.extent, ", ", s.rows, " rows, lines of ",
                  s.inner);
  }
}

}  // namespace

TEST_CASE("every number of threads gives the same bits") {
  std::mt19937 draw(7);
  struct Size {
    std::int64_t rows, keys, extent, inner;
  };
  for (const Size size :
       {Size{1, 50'000, 7, 1}, Size{1, 40'000, 3'000, 1}, Size{1, 12'000, 40, 3}, Size{1, 40'000, 1, 1},
        Size{2, 20'000, 50, 1}, Size{9, 5'000, 20, 1}, Size{1, 1'000, 20, 70}, Size{1, 0, 5, 3}}) {
    for (const Order order : {Order::random, Order::ascending, Order::few}) {
      for (const bool each : {false, true}) {
        for (const Op op : {Op::ScatterSum, Op::ScatterProd, Op::ScatterMax, Op::ScatterMin, Op::ScatterLast}) {
          codegen::Scattering s;
          s.op = op;
          s.rows = size.rows;
          s.keys = size.keys;
          s.extent = size.extent;
          s.inner = size.inner;
          s.each = each;
          if (op == Op::ScatterLast) {
            check<std::int64_t>(s, DType::int64, order, draw);
            continue;
          }
          check<std::int32_t>(s, DType::int32, order, draw);
          check<float>(s, DType::float32, order, draw);
          s.number = true;
          check<std::int64_t>(s, DType::int64, order, draw);
        }
      }
    }
  }
}

}  // namespace scatter_shares_test
