// Theorem V: decides whether the carries of several levels add up to an affine map.
#include <algorithm>

#include "view/merging/deviation.hpp"
#include "view/merging/merge.hpp"

namespace oriel::detail {
namespace {

/// The carries, each divided by the common divisor of its steps and width. Levels with equal width, first and steps
/// carry at the same points, up to an affine part. Their coefficients are added.
CarryGroups group_carries(const Walk& walk, const CarryTerms& terms) {
  CarryGroups groups;
  IntList slope;
  for (const CarryTerm& term : terms) {
    if (term.coefficient == 0 || term.cut == 1 || carry_free(walk, term.cut, slope)) continue;
    Int g = term.cut;
    for (std::size_t d = 0; d < walk.rank(); ++d) {
      if (walk.extent[d] > 1) g = gcd(g, walk.step[d]);
    }
    CarryGroup group{term.cut / g, walk.base / g % (term.cut / g), IntList(walk.rank(), Int(0)), term.coefficient};
    for (std::size_t d = 0; d < walk.rank(); ++d) {
      if (walk.extent[d] > 1) group.step[d] = walk.step[d] / g % group.width;
    }
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const CarryGroup& other) {
      return other.width == group.width && other.first == group.first && other.step == group.step;
    });
    if (same != groups.end()) {
      same->coefficient += group.coefficient;
    } else {
      groups.push_back(std::move(group));
    }
  }
  CarryGroups left;
  for (CarryGroup& group : groups) {
    if (group.coefficient != 0) left.push_back(std::move(group));
  }
  return left;
}

bool share_axis(const CarryGroup& a, const CarryGroup& b) {
  for (std::size_t d = 0; d < a.step.size(); ++d) {
    if (a.step[d] != 0 && b.step[d] != 0) return true;
  }
  return false;
}

/// True if the map deviates at one of some likely points: the top corner; on each axis its end and each group's first
/// deviation; on each pair of axes the ends of the diagonal.
bool probes_deviate(const Walk& walk, const CarryGroups& groups) {
  const std::size_t rank = walk.rank();
  IntList top(rank, Int(0));
  for (std::size_t d = 0; d < rank; ++d) top[d] = walk.extent[d] - 1;
  if (deviation(groups, top) != 0) return true;
  IntList x(rank, Int(0));
  for (std::size_t d = 0; d < rank; ++d) {
    for (const CarryGroup& group : groups) {
      const Int t = group.step[d];
      if (walk.extent[d] <= 2 || t == 0) continue;
      const Int first =
          group.unit(d) == 0 ? ceil_div(group.width - group.first, t) : group.first / (group.width - t) + 1;
      for (const Int at : {first, top[d]}) {
        if (at <= 1 || at >= walk.extent[d]) continue;
        x[d] = at;
        const bool deviates = deviation(groups, x) != 0;
        x[d] = 0;
        if (deviates) return true;
      }
    }
    for (std::size_t f = 0; f < d; ++f) {
      if (walk.extent[d] <= 1 || walk.extent[f] <= 1) continue;
      for (const bool far : {false, true}) {
        x[d] = far ? top[d] : Int(1);
        x[f] = far ? top[f] : Int(1);
        const bool deviates = deviation(groups, x) != 0;
        x[d] = x[f] = 0;
        if (deviates) return true;
      }
    }
  }
  return false;
}

}  // namespace

AffineVerdict affine_value(const Walk& walk, const CarryTerms& terms) {
  const CarryGroups groups = group_carries(walk, terms);
  if (groups.empty()) return AffineVerdict::Affine;
  // A carry that shares no axis with another carry cannot be cancelled by it, and a single carry is not affine.
  for (std::size_t k = 0; k < groups.size(); ++k) {
    bool alone = true;
    for (std::size_t other = 0; other < groups.size() && alone; ++other) {
      alone = other == k || !share_axis(groups[k], groups[other]);
    }
    if (alone) return AffineVerdict::No;
  }
  if (probes_deviate(walk, groups)) return AffineVerdict::No;
  Int steps = kSearchBudget;
  const Found found = find_deviation(walk.extent, groups, steps);
  count_steps(Int(kSearchBudget) - steps);
  if (found == Found::Unknown) return AffineVerdict::Unknown;
  return found == Found::Yes ? AffineVerdict::No : AffineVerdict::Affine;
}

}  // namespace oriel::detail
