// Equality and hashes of views.
#include <algorithm>
#include <boost/container_hash/hash.hpp>

#include "oriel/error.hpp"
#include "oriel/view.hpp"
#include "view/canonical.hpp"

namespace oriel {
namespace {

/// Equality of canonical views of numbers, some of which are stored as expressions because they are close to -2^63.
bool equal_members(const View& a, const View& b) {
  const auto same = [](const Range& x, const Range& y) { return x.lo == y.lo && x.hi == y.hi; };
  return a.offset == b.offset && a.shape == b.shape && a.strides == b.strides &&
         std::equal(a.mask.begin(), a.mask.end(), b.mask.begin(), b.mask.end(), same);
}

/// Equality of canonical views over symbols: equal shapes and, unless these have no indices, equal masks, the
/// same position at the first valid index, and equal strides along all axes with several valid positions.
bool equal_maps(const View& a, const View& b) try {
  sym::Conditions shapes;
  for (std::size_t d = 0; d < a.rank(); ++d) shapes.push_back(a.shape[d] == b.shape[d]);
  sym::Conditions equal = shapes;
  SymInt first_a = a.offset;
  SymInt first_b = b.offset;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    const Range valid = detail::valid_range(a, d);
    const Range of_b = detail::valid_range(b, d);
    equal.push_back(valid.lo == of_b.lo);
    equal.push_back(valid.hi == of_b.hi);
    if (identical(a.strides[d], b.strides[d])) continue;
    equal.push_back((valid.hi - valid.lo == 1) | (a.strides[d] == b.strides[d]));
    if (identical(valid.lo, 0)) continue;
    first_a += a.strides[d] * valid.lo;
    first_b += b.strides[d] * valid.lo;
  }
  equal.push_back(first_a == first_b);
  if (std::all_of(equal.begin(), equal.end(), [](SymBool part) { return sym::known(part).value_or(false); })) {
    return true;
  }
  if (detail::has_zero_extent(a.shape)) return sym::all_of({shapes.data(), shapes.size()});
  return sym::all_of({equal.data(), equal.size()});
} catch (const OverflowError&) {
  return false;  // a position beyond 64 bits
}

}  // namespace

bool operator==(const View& a, const View& b) {
  if (a.shape.size() != b.shape.size()) return false;
  bool same = a.mask.size() == b.mask.size() && identical(a.offset, b.offset);
  for (std::size_t d = 0; same && d < a.shape.size(); ++d) {
    same = identical(a.shape[d], b.shape[d]) && identical(a.strides[d], b.strides[d]);
  }
  for (std::size_t d = 0; same && d < a.mask.size(); ++d) {
    same = identical(a.mask[d].lo, b.mask[d].lo) && identical(a.mask[d].hi, b.mask[d].hi);
  }
  if (same || (detail::is_plain(a) && detail::is_plain(b))) return same;
  return detail::is_symbolic(a) || detail::is_symbolic(b) ? equal_maps(a, b) : equal_members(a, b);
}

std::size_t hash_value(const View& view) noexcept {
  std::size_t seed = hash_value(view.shape);
  boost::hash_combine(seed, hash_value(view.strides));
  const std::hash<SymInt> hash;
  boost::hash_combine(seed, hash(view.offset));
  for (const Range& range : view.mask) {
    boost::hash_combine(seed, hash(range.lo));
    boost::hash_combine(seed, hash(range.hi));
  }
  return seed;
}

}  // namespace oriel
