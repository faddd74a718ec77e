// Exported sources place values between kernels as plan_memory does.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "schedule/memory_plan.hpp"
#include "schedule/value_places.hpp"

namespace places_test {

using namespace oriel::schedule;

namespace {

constexpr int kValues = 40;
constexpr std::int64_t kApart = 64;

struct Values {
  places::PlacedValue list[kValues];  // sorted by their first step
};

Values values(std::uint32_t seed) {
  Values v{};
  const auto next = [&](std::uint32_t below) {
    return static_cast<std::int64_t>((seed = seed * 1664525U + 1013904223U) >> 8) % below;
  };
  for (int k = 0; k < kValues; ++k) {
    const std::int64_t first = k / 2;
    v.list[k] = {k, first, first + next(6), kApart * (1 + next(50))};
  }
  return v;
}

}  // namespace

TEST_CASE("values take the bytes of plan_memory, and no two that live at once overlap") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const Values v = values(seed);
    std::vector<Lifetime> lifetimes;
    for (const places::PlacedValue& p : v.list)
      lifetimes.push_back({p.bytes, static_cast<std::int32_t>(p.first), static_cast<std::int32_t>(p.last)});
    std::int64_t offsets[kValues];
    CHECK(places::place_values(v.list, kApart, offsets) == plan_memory(lifetimes).peak_bytes);
    int overlaps = 0;
    for (const auto& a : v.list) {
      for (const auto& b : v.list) {
        const bool together = a.first <= b.last && b.first <= a.last;
        if (a.value < b.value && together && offsets[a.value] < offsets[b.value] + b.bytes &&
            offsets[b.value] < offsets[a.value] + a.bytes)
          ++overlaps;
      }
    }
    CHECK(overlaps == 0);
  }
}

TEST_CASE("values that do not fit an int64 have no places") {
  const places::PlacedValue two[] = {{0, 0, 1, INT64_MAX / 2}, {1, 0, 1, INT64_MAX / 2 + 64}};
  std::int64_t offsets[2];
  CHECK(places::place_values(two, kApart, offsets) < 0);
}

}  // namespace places_test
