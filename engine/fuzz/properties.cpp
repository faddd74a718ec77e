#include "fuzz/properties.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace oriel::fuzz {

namespace {

constexpr std::array<PropertyInfo, kProperties> kPropertyTable{{
    {Property::Soundness, "soundness", "every form of a case has the same position at every index"},
    {Property::Completeness, "completeness", "if a case is one view, one view is found"},
    {Property::Canonical, "canonical", "equal maps of one view are the same view"},
    {Property::Idempotence, "idempotence", "simplifying again changes nothing"},
    {Property::Inverse, "inverse", "a movement and its inverse cancel"},
    {Property::Order, "order", "the order in which views are merged does not matter"},
    {Property::Expressions, "expressions", "index and valid expressions agree with the table"},
    {Property::Contiguity, "contiguity", "contiguous means that the position of flat index n is n"},
    {Property::Refinement, "refinement", "a refined stack is one view with the same positions"},
    {Property::Kernels, "kernels", "generated kernels read the positions of the table"},
    {Property::Adjoint, "adjoint", "the derivative of a view is the transpose of its table"},
    {Property::Answers, "answers", "every legal case is answered in the requested form"},
}};

}  // namespace

std::size_t time_bucket(std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return 0;
  const int octave = static_cast<int>(std::bit_width(nanoseconds)) - 1;
  // The square of the start of the octave's second half, sqrt(2) * 2^octave, is 2^(2 octave + 1).
  const bool second = octave < 31 && nanoseconds * nanoseconds >= std::uint64_t{1} << (2 * octave + 1);
  return std::min(kTimeBuckets - 1, static_cast<std::size_t>(2 * octave) + (second ? 1 : 0));
}

double bucket_start(std::size_t bucket) { return std::exp2(static_cast<double>(bucket) / 2); }

void KindTally::add(const KindTally& other) {
  cases += other.cases;
  one_view += other.one_view;
  more_views += other.more_views;
  refinable.asked += other.refinable.asked;
  refinable.found += other.refinable.found;
  merges += other.merges;
  merged += other.merged;
  refused += other.refused;
  unknown += other.unknown;
  searched += other.searched;
  steps += other.steps;
  seen_again += other.seen_again;
  other_form += other.other_form;
  for (std::size_t k = 0; k < kLongest; ++k) {
    by_length[k].cases += other.by_length[k].cases;
    by_length[k].one_view += other.by_length[k].one_view;
  }
  for (std::size_t b = 0; b < kTimeBuckets; ++b) merge_time[b] += other.merge_time[b];
  for (const HardCase& hard : other.hardest) keep_if_hard(hard.steps, hard.nanoseconds, hard.stack);
}

void KindTally::keep_if_hard(std::uint64_t new_steps, std::uint64_t nanoseconds, const Case& c) {
  const auto harder = [](const HardCase& a, const HardCase& b) {
    return a.steps != b.steps ? a.steps > b.steps : a.nanoseconds > b.nanoseconds;
  };
  if (hardest.size() == kHardest) {
    const HardCase& least = hardest.back();
    if (new_steps < least.steps || (new_steps == least.steps && nanoseconds <= least.nanoseconds)) return;
    hardest.pop_back();
  }
  HardCase hard{new_steps, nanoseconds, c};
  hardest.insert(std::upper_bound(hardest.begin(), hardest.end(), hard, harder), std::move(hard));
}

double KindTally::time_quantile(double share) const {
  const double wanted = share * static_cast<double>(merges);
  double below = 0;
  for (std::size_t b = 0; b < kTimeBuckets; ++b) {
    const auto here = static_cast<double>(merge_time[b]);
    if (here > 0 && below + here >= wanted) {
      // Inside a bucket, times are assumed to be evenly distributed on the logarithmic scale.
      return bucket_start(b) * std::exp2((wanted - below) / here / 2);
    }
    below += here;
  }
  return 0;
}

std::span<const PropertyInfo> properties() { return kPropertyTable; }
const PropertyInfo& info(Property property) { return kPropertyTable[static_cast<std::size_t>(property)]; }

std::optional<Failure> Subject::check_one(Kind kind, const Case& c) {
  KindTally tally;
  std::optional<Failure> failure;
  check(kind, {&c, 1}, {&failure, 1}, tally);
  return failure;
}

}  // namespace oriel::fuzz
