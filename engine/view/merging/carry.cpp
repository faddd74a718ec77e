#include "view/merging/carry.hpp"

namespace oriel::detail {

Int reach_along(Int slope, Int extent, Int period) {
  std::int64_t reach = 0;
  const bool overflow = __builtin_mul_overflow(slope.value(), (extent - 1).value(), &reach);
  if (slope < 0) return overflow || reach < -period.value() ? -period : Int(reach);
  return overflow || reach > period.value() ? period : Int(reach);
}

Extremes extremes_of(const IntList& slope, const IntList& extent, Int period) {
  Extremes span;
  for (std::size_t d = 0; d < slope.size(); ++d) {
    const Int reach = reach_along(slope[d], extent[d], period);
    (reach < 0 ? span.least : span.greatest) += reach;
  }
  return span;
}

Extremes extremes_without(Extremes span, Int slope, Int extent, Int period) {
  const Int reach = reach_along(slope, extent, period);
  (reach < 0 ? span.least : span.greatest) -= reach;
  return span;
}

bool carry_free(const Walk& walk, Int cut, IntList& slope) {
  const Int start = walk.base % cut;
  slope.assign(walk.rank(), Int(0));
  Int least = start;
  Int greatest = start;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    if (walk.extent[d] <= 1) continue;
    slope[d] = (start + walk.step[d] % cut) % cut - start;
    const Int reach = reach_along(slope[d], walk.extent[d], cut);
    if (reach < -least || reach >= cut - greatest) return false;
    (reach < 0 ? least : greatest) += reach;
  }
  return true;
}

void balanced_residues(const IntList& step, Int period, IntList& residue) {
  residue.resize(step.size());
  for (std::size_t d = 0; d < step.size(); ++d) {
    const Int r = step[d] % period;
    residue[d] = r <= period - r ? r : r - period;
  }
}

Int first_hit(Int step, Int modulus, Int lo, Int hi) {
  if (lo == 0) return 0;
  step = step % modulus;
  if (step == 0) return -1;
  if (step > modulus - step) return first_hit(modulus - step, modulus, modulus - hi, modulus - lo);
  const Int direct = ceil_div(lo, step);
  if (direct * step <= hi) return direct;
  // No multiple of step lies in [lo, hi] before the first wrap, so count wraps instead, modulo step.
  const Int wraps = first_hit((-modulus) % step, step, lo % step, hi % step);
  if (wraps < 0) return -1;
  __extension__ using Wide = __int128;
  const Wide walked = static_cast<Wide>(modulus.value()) * wraps.value() + lo.value();
  const Wide x = (walked + step.value() - 1) / step.value();
  if (x > INT64_MAX) throw ArithmeticOverflow();
  return static_cast<std::int64_t>(x);
}

Int first_in_arc(Int step, Int start, Int period, Int from, Int size) {
  const Int lo = (from - start) % period;
  if (lo + size >= period) return 0;  // the arc wraps around 0, which x = 0 hits
  return first_hit(step % period, period, lo, lo + size);
}

}  // namespace oriel::detail
