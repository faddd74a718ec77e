// The number theory that merging uses, compared with counting.
#include <doctest/doctest.h>

#include <random>

#include "view/merging/valid_box.hpp"

namespace carry_test {

using namespace oriel::detail;

TEST_CASE("first_hit finds the least multiple in a range of residues") {
  for (int modulus = 1; modulus <= 24; ++modulus) {
    for (int step = 0; step < modulus; ++step) {
      for (int lo = 0; lo < modulus; ++lo) {
        for (int hi = lo; hi < modulus; ++hi) {
          int expected = -1;
          for (int x = 0; x < modulus && expected < 0; ++x) {
            if (step * x % modulus >= lo && step * x % modulus <= hi) expected = x;
          }
          if (first_hit(step, modulus, lo, hi) != expected)
            FAIL(step << " mod " << modulus << " in " << lo << ".." << hi);
        }
      }
    }
  }
}

TEST_CASE("first_hit takes few steps on large numbers") {
  const std::int64_t modulus = 4'000'000'000'000'000'037;
  const Int x = first_hit(1'234'567'890'123'456'789, modulus, 1000, 2000);
  REQUIRE(x > 0);
  __extension__ using Wide = __int128;
  const auto residue = static_cast<std::int64_t>(static_cast<Wide>(x.value()) * 1'234'567'890'123'456'789 % modulus);
  CHECK(residue >= 1000);
  CHECK(residue <= 2000);
}

TEST_CASE("carry_free holds exactly if the quotient is affine") {
  std::mt19937 random(3);
  const auto between = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  int affine_count = 0;
  for (int k = 0; k < 20'000; ++k) {
    Walk walk;
    walk.base = between(0, 20);
    for (int d = between(1, 3); d > 0; --d) {
      walk.step.push_back(between(1, 14));
      walk.extent.push_back(between(1, 4));
    }
    const Int cut = between(1, 12);
    const auto quotient = [&](const IntList& x) { return walk.value(x) / cut; };
    const IntList origin(walk.rank(), Int(0));
    const bool affine = for_each_point(walk.extent, [&](const IntList& x) {
      Int expected = quotient(origin);
      for (std::size_t d = 0; d < walk.rank(); ++d) {
        IntList unit = origin;
        unit[d] = 1;
        expected += (quotient(unit) - quotient(origin)) * x[d];
      }
      return quotient(x) == expected;
    });
    IntList slope;
    CHECK(carry_free(walk, cut, slope) == affine);
    affine_count += affine;
  }
  CHECK(affine_count > 4'000);
  CHECK(affine_count < 16'000);
}

TEST_CASE("trim removes no valid point, and always_holds is never wrong") {
  std::mt19937 random(4);
  const auto between = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  for (int k = 0; k < 20'000; ++k) {
    Walk walk;
    walk.base = between(0, 20);
    for (int d = between(1, 3); d > 0; --d) {
      walk.step.push_back(between(1, 14));
      walk.extent.push_back(between(1, 5));
    }
    Constraints constraints;
    for (int c = between(1, 2); c > 0; --c) {
      const int period = between(2, 16);
      const int lo = between(0, period - 1);
      constraints.push_back({period, lo, between(lo + 1, period)});
    }
    std::vector<IntList> valid;
    bool all_of_first = true;
    for_each_point(walk.extent, [&](const IntList& x) {
      bool holds = true;
      for (const Constraint& c : constraints) holds = holds && c.holds(walk.value(x));
      if (holds) valid.push_back(x);
      all_of_first = all_of_first && constraints[0].holds(walk.value(x));
      return true;
    });
    if (always_holds(walk, constraints[0])) CHECK(all_of_first);
    Walk trimmed = walk;
    IntList start(walk.rank(), Int(0));
    if (!trim(trimmed, start, constraints)) {
      CHECK(valid.empty());
      continue;
    }
    CHECK(trimmed.base == walk.value(start));
    for (const IntList& x : valid) {
      for (std::size_t d = 0; d < walk.rank(); ++d) {
        CHECK(x[d] >= start[d]);
        CHECK(x[d] < start[d] + trimmed.extent[d]);
      }
    }
  }
}

TEST_CASE("checked arithmetic reports overflow") {
  const Int most = INT64_MAX;
  CHECK_THROWS_AS(most + 1, ArithmeticOverflow);
  CHECK_THROWS_AS(-most - 2, ArithmeticOverflow);
  CHECK_THROWS_AS(most * 2, ArithmeticOverflow);
  CHECK_THROWS_AS(Int(INT64_MIN) / Int(-1), ArithmeticOverflow);
  CHECK(Int(INT64_MIN) % Int(-1) == 0);
  for (std::int64_t a = -9; a <= 9; ++a) {
    for (std::int64_t b : {-4, -1, 1, 3, 4}) {
      CHECK(Int(a) / b * b + Int(a) % b == a);
      CHECK((b > 0 ? Int(a) % b >= 0 && Int(a) % b < b : Int(a) % b <= 0 && Int(a) % b > b));
    }
  }
}

TEST_CASE("a hit is found where products pass 64 bits") {
  // For coprime numbers the one x with step * x mod modulus = target is target times the inverse, computed by Euclid's
  // algorithm in 128 bits.
  __extension__ using Wide = __int128;
  const std::int64_t modulus = (std::int64_t{1} << 61) - 1;  // a prime
  for (const std::int64_t step : {std::int64_t{3}, std::int64_t{1'000'000'007}, modulus / 3, modulus - 5}) {
    Wide r0 = modulus, r1 = step, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const Wide q = r0 / r1;
      r0 -= q * r1;
      t0 -= q * t1;
      std::swap(r0, r1);
      std::swap(t0, t1);
    }
    const Wide inverse = t0 < 0 ? t0 + modulus : t0;
    for (const std::int64_t target : {std::int64_t{1}, std::int64_t{2}, modulus / 2, modulus - 1}) {
      const auto x = static_cast<std::int64_t>(inverse * target % modulus);
      CHECK(first_hit(step, modulus, target, target).value() == x);
    }
  }
}

TEST_CASE("a reach that passes 64 bits is a carry") {
  // The reach is -(2^40-1) * (2^24+1). Modulo 2^64 it would look positive.
  const Int cut = std::int64_t{1} << 40;
  IntList slope;
  CHECK_FALSE(carry_free({cut - 1, {1}, {(std::int64_t{1} << 24) + 2}}, cut, slope));
}

}  // namespace carry_test
