// The statistics of merging, and the budget of its searches.
#pragma once

#include <cstdint>

#include "oriel/inline_vector.hpp"
#include "oriel/view.hpp"
#include "view/merging/valid_box.hpp"

namespace oriel::detail {

/// The most steps of a merge's search for the valid set, and of its search for the value; also the most points at which
/// a whole stack is evaluated. Beyond it a merge is Unknown and a stack stays unchanged.
inline constexpr std::int64_t kSearchBudget = 1 << 14;

struct MergeStatistics {
  std::uint64_t merges = 0;    // pairs of views that were tried
  std::uint64_t searches = 0;  // those of the merges that needed a search, because no theorem decided them
  std::uint64_t steps = 0;     // total steps of these searches
  std::uint64_t unknown = 0;   // merges left undecided
  friend MergeStatistics operator-(const MergeStatistics& a, const MergeStatistics& b) noexcept {
    return {a.merges - b.merges, a.searches - b.searches, a.steps - b.steps, a.unknown - b.unknown};
  }
};
/// Counts since the process began, over all threads.
MergeStatistics merge_statistics() noexcept;
/// The counts of this thread. The difference before and after some work belongs to that work alone.
const MergeStatistics& thread_merge_statistics() noexcept;
void count_steps(Int steps) noexcept;

/// merge() for views of which the caller knows whether both are plain (is_plain).
MergeResult merge_as(const View& outer, const View& inner, bool plain);

/// One term c * floor(n / cut) of an inner view's carry form: n -> offset + sum of terms.
struct CarryTerm {
  Int cut;
  Int coefficient;
};
using CarryTerms = InlineVector<CarryTerm, 8>;

enum class AffineVerdict { Affine, No, Unknown };

/// Decides whether the sum of coefficient * floor(n / cut) is affine over the walk's box.
AffineVerdict affine_value(const Walk& walk, const CarryTerms& terms);

}  // namespace oriel::detail
