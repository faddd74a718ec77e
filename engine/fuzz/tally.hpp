// What a campaign counts. Plain numbers, one tally a thread and kind, summed at the end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fuzz/case.hpp"

namespace oriel::fuzz {

/// Buckets of two an octave: bucket b holds 2^(b/2) ns up to the next.
inline constexpr std::size_t kTimeBuckets = 64;
inline constexpr std::size_t kLongest = 48;
/// Hard cases kept a kind and thread.
inline constexpr std::size_t kHardest = 6;

/// Which bucket a duration belongs to.
std::size_t time_bucket(std::uint64_t nanoseconds);
/// Where bucket b begins, in nanoseconds.
double bucket_start(std::size_t bucket);

struct HardCase {
  std::uint64_t steps = 0;  // that searches took
  std::uint64_t nanoseconds = 0;
  Case stack;
};

/// Cases of one length (views and movements), and how many of them one view says.
struct LengthTally {
  std::uint64_t cases = 0;
  std::uint64_t one_view = 0;
};

/// How many stacks of several views were refined, of those that were tried.
struct RefinedTally {
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
};

struct KindTally {
  std::uint64_t cases = 0;
  std::uint64_t one_view = 0;    // the whole case is one view
  std::uint64_t more_views = 0;  // it needs two or more
  std::uint64_t merges = 0;      // merges timed: all two-view stacks
  std::uint64_t merged = 0;      // verdict Merged
  std::uint64_t refused = 0;     // verdict No
  std::uint64_t unknown = 0;     // verdict Unknown
  std::uint64_t searched = 0;    // cases whose merge, or for other than pairs simplify, took a search
  std::uint64_t steps = 0;       // steps of those searches
  std::uint64_t seen_again = 0;  // a map of two or more views that was seen before
  std::uint64_t other_form = 0;  // of those, in another canonical form than before
  RefinedTally refinable;
  std::array<LengthTally, kLongest> by_length{};
  std::array<std::uint64_t, kTimeBuckets> merge_time{};
  std::vector<HardCase> hardest;  // most steps first, then longest

  void add(const KindTally& other);
  void keep_if_hard(std::uint64_t steps, std::uint64_t nanoseconds, const Case& c);
  /// The time below which `share` of the merges lie, read off the histogram, in nanoseconds; 0 without merges.
  double time_quantile(double share) const;
};

}  // namespace oriel::fuzz
