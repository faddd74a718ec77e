// A sum of products of three or more factors, computed pair by pair where that takes less time.
#pragma once

#include <optional>

#include "schedule/arena.hpp"

namespace oriel::schedule {

inline constexpr std::string_view kFactoredSum = "sum of products -> products in turn";

/// A rule for Sum (rules.hpp). sum(x[i,j,k] * y[j,l] * z[k,l]) over j and k, in one kernel, multiplies at each point of
/// i, j, k and l; as two sums of products it is a product of matrices. The factors of a chain of multiplications are
/// told apart by the axes on which they depend. Nothing where one kernel takes less than about twice as long, where
/// a value between would have far more elements than the operands, and for dtypes of which a sum of products is none of
/// its parts: bool, and float16 and bfloat16, whose products are rounded one by one. Integers stay exact; floats are
/// multiplied and added in another order. For symbolic sizes the decision becomes guards.
std::optional<EntryId> factor_sum(Arena& arena, const Entry& sum);

}  // namespace oriel::schedule
