// Reductions: the order of elements depends only on their number, not on the orientation, the tile, the threads or the
// machine's vectors.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace reduce_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// Reduces the `length` axis by op. The input lies as (points, length), or transposed.
Bytes reduce(backend::Backend& device, const Bytes& in, Op op, std::int64_t points, std::int64_t length,
             Orientation orientation, bool transposed = false) {
  const DType dtype = in.dtype();
  Bytes out(dtype, points);
  Builder k({points}, orientation);
  const auto i0 = k.argument(dtype, points * length);
  const auto o0 = k.argument(dtype, points, true);
  k.stage({length});
  const ShapeTracker t =
      transposed ? ShapeTracker(Shape{length, points}).permute({1, 0}) : ShapeTracker(Shape{points, length});
  const ValueId r = k.reduce(op, k.load(true, i0, t));
  k.store(false, r, o0, ShapeTracker(Shape{points}));
  run(device, k.p, {&in, &out});
  return out;
}

Bytes transposed(const Bytes& in, std::int64_t points, std::int64_t length) {
  Bytes out(in.dtype(), in.elements());
  for (std::int64_t p = 0; p < points; ++p) {
    for (std::int64_t r = 0; r < length; ++r) write_element(out, r * points + p, read_element(in, p * length + r));
  }
  return out;
}

Bytes in_order(const Bytes& in, Op op, std::int64_t points, std::int64_t length) {
  Bytes out(in.dtype(), points);
  for (std::int64_t p = 0; p < points; ++p) {
    std::vector<Word> x;
    for (std::int64_t r = 0; r < length; ++r) x.push_back(read_element(in, p * length + r));
    write_element(out, p, reduce_in_order(op, in.dtype(), x));
  }
  return out;
}

}  // namespace

TEST_CASE("the order of a reduction depends on its length alone") {
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {
      {1, 1},    {7, 3},    {100, 15},  {33, 16},  {40, 17},   {5, 1000},  {3, 1024},
      {3, 1025}, {1, 5000}, {17, 3333}, {1, 0},    {2000, 10}, {1500, 40}, {64, 9},
      {64, 31},  {64, 32},  {3000, 2},  {2100, 3}, {1100, 5},  {1, 70000}, {2, 300001}};
  for (const auto& [points, length] : sizes) {
    for (const DType dtype : {DType::float32, DType::float64, DType::int8, DType::uint64}) {
      const Bytes in = random_bytes(dtype, points * length, 11);
      const Bytes flipped = transposed(in, points, length);
      for (const Op op : reductions(dtype)) {
        const Bytes want = in_order(in, op, points, length);
        for (const int threads : {1, 2, 3}) {
          for (const std::int64_t tile : {0, 48, 512}) {
            if (threads > 1 && (tile == 48 || points * length < 5000)) continue;
            for (const std::string& level : isa_levels()) {
              if (level != "avx2" && (threads > 1 || tile != 0)) continue;
              CAPTURE(points);
              CAPTURE(length);
              CAPTURE(name(dtype));
              CAPTURE(graph::name(op));
              CAPTURE(threads);
              CAPTURE(tile);
              CAPTURE(level);
              backend::eigen::EigenBackend device({threads, tile, level});
              for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
                CHECK(reduce(device, in, op, points, length, o).same_bits(want));
                CHECK(reduce(device, flipped, op, points, length, o, true).same_bits(want));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("lanes that no point has reached are not read") {
  constexpr std::int64_t width = 5;
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (const Op op : reductions(DType::float32)) {
      const backend::isa::ReduceFns& fns =
          table.reduce[backend::isa::reduce_index(op)][static_cast<int>(DType::float32)];
      for (std::int64_t lanes = 1; lanes <= backend::isa::kLanes; ++lanes) {
        const auto identity = std::bit_cast<float>(static_cast<std::uint32_t>(fns.identity));
        std::vector<float> all(backend::isa::kLanes * width, identity), some(all.size(), std::nanf(""));
        for (std::int64_t i = 0; i < lanes * width; ++i)
          all[static_cast<std::size_t>(i)] = some[static_cast<std::size_t>(i)] =
              0.3F * static_cast<float>(i % 17) - (op == Op::SumAbs ? 0 : 2);  // lanes of |x| are not negative
        fns.combine(all.data(), width, backend::isa::kLanes);
        fns.combine(some.data(), width, lanes);
        CAPTURE(level);
        CAPTURE(graph::name(op));
        CAPTURE(lanes);
        CHECK(std::memcmp(all.data(), some.data(), width * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("rows and columns with gaps between them, forwards and backwards; a NaN stays in its row") {
  for (const DType dtype : {DType::float32, DType::float64, DType::int32}) {
    for (const auto& [points, length] : {std::pair<std::int64_t, std::int64_t>{11, 1500}, {70, 100}, {1, 20001}}) {
      for (const bool columns : {false, true}) {
        for (const bool backwards : {false, true}) {
          // Memory has `lines` lines of `line` elements, `pitch` apart.
          const std::int64_t lines = columns ? length : points, line = columns ? points : length, pitch = line + 5;
          const Bytes in = random_bytes(dtype, lines * pitch + 3, 11);
          if (dtype == DType::float32) in.as<float>()[3 + pitch * (lines / 2) + line / 2] = std::nanf("");
          const std::int64_t step = backwards ? -pitch : pitch, first = 3 + (backwards ? (lines - 1) * pitch : 0);
          Bytes dense(dtype, points * length);
          for (std::int64_t p = 0; p < points; ++p) {
            for (std::int64_t r = 0; r < length; ++r)
              write_element(dense, p * length + r, read_element(in, first + (columns ? r * step + p : p * step + r)));
          }
          for (const Op op : {Op::Sum, Op::Prod, Op::ReduceMax, Op::ReduceMin}) {
            const Bytes want = in_order(dense, op, points, length);
            for (const std::string& level : isa_levels()) {
              INFO(name(dtype), " ", points, " ", columns, " ", backwards, " ", graph::name(op), " ", level);
              backend::eigen::EigenBackend device({.threads = 1, .isa = level, .tier = EigenTier::tile});
              Bytes out(dtype, points);
              Builder k({points}, columns ? Orientation::Outer : Orientation::Inner);
              const auto i0 = k.argument(dtype, in.elements());
              const auto o0 = k.argument(dtype, points, true);
              k.stage({length});
              const View view{{points, length}, {columns ? 1 : step, columns ? step : 1}, first, {}};
              k.store(false, k.reduce(op, k.load(true, i0, ShapeTracker(view))), o0, ShapeTracker(Shape{points}));
              run(device, k.p, {&in, &out});
              for (std::int64_t p = 0; p < points; ++p) {
                const Word a = read_element(want, p), b = read_element(out, p);
                CHECK((dtype == DType::float32 && std::isnan(want.as<float>()[p]) ? std::isnan(out.as<float>()[p])
                                                                                  : a == b));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("every dtype reduces") {
  backend::eigen::EigenBackend device({1, 0, ""});
  for (const DType dtype : register_dtypes()) {
    for (const Op op : reductions(dtype)) {
      for (const std::int64_t length : {0, 5, 2000}) {
        CAPTURE(name(dtype));
        CAPTURE(graph::name(op));
        CAPTURE(length);
        const Bytes in = random_bytes(dtype, 9 * length, 12);
        const Bytes want = in_order(in, op, 9, length);
        for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
          CHECK(reduce(device, in, op, 9, length, o).same_bits(want));
        }
      }
    }
  }
  const Bytes flags = random_bytes(DType::bool_, 9, 1);
  CHECK_THROWS_WITH_AS(reduce(device, flags, Op::Sum, 3, 3, Orientation::Inner),
                       "compile: kernel test on eigen: no Sum of bool", DeviceError);
}

TEST_CASE("NaN propagates through the extremes, wherever it stands") {
  backend::eigen::EigenBackend device({2, 0, ""});
  for (const std::int64_t at : {0, 7, 1023, 1024, 2999}) {
    Bytes in = random_bytes(DType::float32, 3000, 2);
    in.as<float>()[at] = std::numeric_limits<float>::quiet_NaN();
    for (const Op op : {Op::ReduceMax, Op::ReduceMin, Op::Sum}) {
      for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
        CHECK(std::isnan(*reduce(device, in, op, 1, 3000, o).as<float>()));
      }
    }
  }
}

TEST_CASE("a long sum of ones is exact: errors do not pile up") {
  backend::eigen::EigenBackend device({2, 0, ""});
  const std::int64_t n = 1 << 25;
  const Bytes one = random_bytes(DType::float32, 1, 1);
  *one.as<float>() = 1;
  Bytes out(DType::float32, 1);
  Builder k({});
  const auto i0 = k.argument(DType::float32, 1);
  const auto o0 = k.argument(DType::float32, 1, true);
  k.stage({n});
  const ValueId r = k.reduce(Op::Sum, k.load(true, i0, ShapeTracker(Shape{1}).expand({n})));
  k.store(false, r, o0, ShapeTracker(Shape{}));
  run(device, k.p, {&one, &out});
  CHECK(*out.as<float>() == static_cast<float>(n));
}

TEST_CASE("no outer points: nothing runs") {
  backend::eigen::EigenBackend device({1, 0, ""});
  const Bytes in(DType::float32, 0);
  CHECK(reduce(device, in, Op::Sum, 0, 5, Orientation::Inner).bytes() == 0);
  CHECK(reduce(device, in, Op::Sum, 0, 5, Orientation::Outer).bytes() == 0);
}

TEST_CASE("columns of so many rows that they are reduced in wide blocks, and more columns than a block has") {
  for (const auto& [dtype, points] : {std::pair{DType::float64, std::int64_t{2100}}, {DType::float32, 1031}}) {
    constexpr std::int64_t length = 4097;
    const Bytes in = random_bytes(dtype, points * length, 5);
    const Bytes flipped = transposed(in, points, length);
    for (const Op op : {Op::Sum, Op::ReduceMax}) {
      const Bytes want = in_order(in, op, points, length);
      for (const int threads : {1, 3}) {
        backend::eigen::EigenBackend device({.threads = threads, .isa = "", .tier = EigenTier::tile});
        CHECK(reduce(device, flipped, op, points, length, Orientation::Outer, true).same_bits(want));
      }
    }
  }
}

}  // namespace reduce_test
