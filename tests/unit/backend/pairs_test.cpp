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
using backend::isa::Link;

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

TEST_CASE("a pair of operations gives the bits of one after the other, also with one number for a whole tile") {
  struct Operation {
    Link link;
    Op op;
    bool from_left = true;
  };
  const Operation seconds[] = {
      {Link::Add, Op::Add},        {Link::Subtract, Op::Sub}, {Link::SubtractFrom, Op::Sub, false},
      {Link::Multiply, Op::Mul},   {Link::Divide, Op::Div},   {Link::DivideInto, Op::Div, false},
      {Link::Exponential, Op::Exp}};
  const Operation firsts[] = {{Link::Add, Op::Add},
                              {Link::Subtract, Op::Sub},
                              {Link::Multiply, Op::Mul},
                              {Link::Negate, Op::Neg},
                              {Link::NegateMagnitude, Op::Neg}};
  const Floats a = numbers(1), b = numbers(2), c = numbers(3);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (const Operation& first : firsts) {
      for (const Operation& second : seconds) {
        for (std::size_t k = 0; k < 64; ++k) {
          const bool by_numbers = k > 0;
          Floats left = b, right = c, magnitude = a, part, want, got;
          if (by_numbers) std::fill(std::begin(left.x), std::end(left.x), b.x[k]);
          if (by_numbers) std::fill(std::begin(right.x), std::end(right.x), c.x[k]);
          if (first.link == Link::NegateMagnitude) element(table, Op::Abs)(magnitude.x, a.x, nullptr, nullptr, kCount);
          element(table, first.op)(part.x, magnitude.x, left.x, nullptr, kCount);
          element(table, second.op)(want.x, second.from_left ? part.x : right.x, second.from_left ? right.x : part.x,
                                    nullptr, kCount);
          const auto pair = table.pair[static_cast<int>(first.link)][static_cast<int>(second.link)][by_numbers ? 1 : 0];
          CHECK((pair == nullptr) == (first.op == Op::Neg && second.op != Op::Exp));
          if (pair == nullptr) continue;
          pair(got.x, a.x, by_numbers ? &b.x[k] : left.x, by_numbers ? &c.x[k] : right.x, kCount);
          CAPTURE(level);
          CAPTURE(graph::name(first.op));
          CAPTURE(graph::name(second.op));
          CAPTURE(k);
          CHECK(same(got, want));
        }
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
