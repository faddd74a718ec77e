// Two float32 operations in one pass, and division by one number, give the bits of the single operations.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace pairs_test {

using namespace oriel;
using namespace oriel::test;

namespace {

constexpr std::size_t kCount = 4096;
struct alignas(64) Floats {
  float x[kCount];
};

/// Random bits, ordinary numbers and special numbers alternate.
Floats numbers(unsigned seed) {
  std::mt19937 random(seed);
  const float edges[] = {0.0F,
                         -0.0F,
                         1.0F,
                         -1.0F,
                         1e-45F,
                         1.1754944e-38F,
                         3.4028235e38F,
                         0x1p-60F,
                         0x1p60F,
                         0x1p40F,
                         0x1p-40F,
                         0.3F,
                         -7.0F,
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()};
  Floats f;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    f.x[i] = i % 64 < 32   ? std::ldexp(static_cast<float>(bits % 16777216), static_cast<int>(bits >> 24) % 60 - 40)
             : i % 64 < 48 ? std::bit_cast<float>(bits)
                           : edges[bits % std::size(edges)];
  }
  return f;
}

bool same(const Floats& a, const Floats& b) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (std::isnan(a.x[i]) && std::isnan(b.x[i])) continue;
    if (std::bit_cast<std::uint32_t>(a.x[i]) != std::bit_cast<std::uint32_t>(b.x[i])) return false;
  }
  return true;
}

backend::isa::ElementFn element(const backend::isa::Table& table, Op op) {
  return table.element[static_cast<int>(op)][static_cast<int>(DType::float32)];
}

}  // namespace

TEST_CASE("division by one number gives the bits of a division") {
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    CHECK((level == "baseline" || table.divide_by_one != nullptr));
    if (table.divide_by_one == nullptr) continue;
    const Floats divisors = numbers(5);
    for (std::size_t k = 0; k < 1024; ++k) {
      const Floats a = numbers(static_cast<unsigned>(k % 7));
      Floats by, want, got;
      // Many divisors of ordinary size, which take the fast path.
      const float divisor = k % 4 != 0 ? divisors.x[k] : 1.0F + static_cast<float>(k) * 0x1.3p-9F;
      std::fill(std::begin(by.x), std::end(by.x), divisor);
      element(table, Op::Div)(want.x, a.x, by.x, nullptr, kCount);
      table.divide_by_one(got.x, a.x, by.x, nullptr, kCount);
      CAPTURE(level);
      CAPTURE(divisor);
      CHECK(same(got, want));
    }
  }
}

TEST_CASE("a pair of operations gives the bits of one after the other") {
  const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Div};
  const Floats a = numbers(1), b = numbers(2), c = numbers(3);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    Floats part, want, got;
    for (const Op first : ops) {
      element(table, first)(part.x, a.x, b.x, nullptr, kCount);
      for (const Op second : ops) {
        for (const int side : {0, 1}) {
          const auto pair = table.pair[backend::isa::pair_index(first)][backend::isa::pair_index(second)][side];
          CHECK((pair == nullptr) == (first == Op::Div));
          if (pair == nullptr) continue;
          const float* left = side == 0 ? part.x : c.x;
          element(table, second)(want.x, left, side == 0 ? c.x : part.x, nullptr, kCount);
          pair(got.x, a.x, b.x, c.x, kCount);
          CAPTURE(level);
          CAPTURE(graph::name(first));
          CAPTURE(graph::name(second));
          CAPTURE(side);
          CHECK(same(got, want));
        }
      }
      const auto exp_of = table.exp_of[backend::isa::pair_index(first)];
      if (exp_of == nullptr) continue;
      element(table, Op::Exp)(want.x, part.x, nullptr, nullptr, kCount);
      exp_of(got.x, a.x, b.x, c.x, kCount);
      CHECK(same(got, want));
    }
    if (table.exp_of_negative == nullptr) continue;
    element(table, Op::Neg)(part.x, a.x, nullptr, nullptr, kCount);
    element(table, Op::Exp)(want.x, part.x, nullptr, nullptr, kCount);
    table.exp_of_negative(got.x, a.x, b.x, c.x, kCount);
    CHECK(same(got, want));
    element(table, Op::Abs)(part.x, a.x, nullptr, nullptr, kCount);
    element(table, Op::Neg)(part.x, part.x, nullptr, nullptr, kCount);
    element(table, Op::Exp)(want.x, part.x, nullptr, nullptr, kCount);
    table.exp_of_negative_magnitude(got.x, a.x, b.x, c.x, kCount);
    CHECK(same(got, want));
  }
}

TEST_CASE("operations with one number for a whole tile read its first element alone") {
  const Op ops[] = {Op::Add, Op::Sub, Op::Mul};
  const Floats a = numbers(1), left = numbers(2), right = numbers(3);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (std::size_t k = 0; k < 64; ++k) {
      Floats b, c, part, want, got;
      std::fill(std::begin(b.x), std::end(b.x), left.x[k]);
      std::fill(std::begin(c.x), std::end(c.x), right.x[k]);
      for (const Op first : ops) {
        const int which = backend::isa::pair_index(first);
        element(table, first)(part.x, a.x, b.x, nullptr, kCount);
        for (const Op second : ops) {
          element(table, second)(want.x, part.x, c.x, nullptr, kCount);
          table.pair_with_numbers[which][backend::isa::pair_index(second)](got.x, a.x, &left.x[k], &right.x[k], kCount);
          CAPTURE(level);
          CHECK(same(got, want));
        }
        if (table.exp_with_number[which] == nullptr) continue;
        element(table, Op::Exp)(want.x, part.x, nullptr, nullptr, kCount);
        table.exp_with_number[which](got.x, a.x, &left.x[k], nullptr, kCount);
        CHECK(same(got, want));
      }
    }
  }
}

TEST_CASE("operations are joined where one alone reads what the other computes") {
  const std::int64_t n = 100;
  const ShapeTracker flat(Shape{n});
  const auto steps = [&](bool twice) {
    Builder k({n});
    const auto in0 = k.argument(DType::float32, n);
    const auto in1 = k.argument(DType::float32, n);
    const auto out = k.argument(DType::float32, n, true);
    k.stage();
    const ValueId a = k.load(false, in0, flat);
    const ValueId b = k.load(false, in1, flat);
    const ValueId product = k.op(false, Op::Mul, DType::float32, a, b);
    const ValueId sum = k.op(false, Op::Add, DType::float32, a, product);
    k.store(false, twice ? k.op(false, Op::Max, DType::float32, sum, product) : sum, out, flat);
    const Bytes x = random_bytes(DType::float32, n, 1), y = random_bytes(DType::float32, n, 2);
    Bytes got(DType::float32, n);
    const Bytes want(DType::float32, n);
    backend::eigen::EigenBackend device({1, 0, ""});
    run(device, k.p, {&x, &y, &got});
    interpret(k.p, {&x, &y, &want});
    CHECK(got.same_bits(want));
    return backend::eigen::make_tile_plan(k.p, backend::isa::table(), 0)->stages[0].outer.size();
  };
  CHECK(steps(false) == 4);  // two loads, the pair, the store
  CHECK(steps(true) == 5);   // the product is a step of its own; the sum is joined with the maximum
}

TEST_CASE("exp of a negative magnitude is one pass") {
  const std::int64_t n = 100;
  const ShapeTracker flat(Shape{n});
  Builder k({n});
  const auto in = k.argument(DType::float32, n);
  const auto out = k.argument(DType::float32, n, true);
  k.stage();
  const ValueId magnitude = k.op(false, Op::Abs, DType::float32, k.load(false, in, flat));
  k.store(false, k.op(false, Op::Exp, DType::float32, k.op(false, Op::Neg, DType::float32, magnitude)), out, flat);
  CHECK(backend::eigen::make_tile_plan(k.p, backend::isa::table(), 0)->stages[0].outer.size() == 3);
}

}  // namespace pairs_test
