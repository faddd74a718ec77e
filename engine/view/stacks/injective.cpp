#include "view/stacks/injective.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/positions.hpp"

namespace oriel::detail {

namespace {

__extension__ using Wide = __int128;
constexpr int kBudget = 1 << 14;
constexpr std::int64_t kTable = 1 << 16;

Wide magnitude(Wide v) { return v < 0 ? -v : v; }
Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Wide ceil_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

// g = gcd(a, b) = a * x + b * y for a, b > 0.
std::int64_t bezout(std::int64_t a, std::int64_t b, std::int64_t& x, std::int64_t& y) {
  std::int64_t x1 = 0, y1 = 1;
  x = 1;
  y = 0;
  while (b != 0) {
    const std::int64_t q = a / b;
    a = std::exchange(b, a - q * b);
    x = std::exchange(x1, x - q * x1);
    y = std::exchange(y1, y - q * y1);
  }
  return a;
}

/// Searches an unmasked view for two indices at one position: a difference d != 0 with |d[k]| < extent[k] and sum of
/// d[k] * stride[k] = 0.
class CollisionSearch {
 public:
  explicit CollisionSearch(const View& view) : rank_(view.rank()) {
    for (std::size_t d = 0; d < rank_; ++d) {
      if (view.shape[d] <= 1) continue;
      const std::int64_t t = view.strides[d].value();
      axes_.push_back({magnitude(t), view.shape[d].value() - 1, d, t < 0});
    }
    std::stable_sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.step > b.step; });
    reach_.assign(axes_.size() + 1, 0);
    divisor_.assign(axes_.size() + 1, 0);
    for (std::size_t k = axes_.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + axes_[k].step * axes_[k].most;
      divisor_[k] = std::gcd(divisor_[k + 1], static_cast<std::int64_t>(axes_[k].step));
    }
    found_.assign(axes_.size(), 0);
  }

  /// 1: found. 0: there is none. -1: the budget ran out.
  int run() {
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      // The first nonzero entry of d is at axis k, and positive without loss of generality.
      const Axis& a = axes_[k];
      if (a.step == 0) {
        found_[k] = 1;
        return 1;
      }
      if (k + 2 == axes_.size()) {
        // Two steps first reach the same position at their least common multiple.
        const Axis& b = axes_[k + 1];
        const std::int64_t g = std::gcd(static_cast<std::int64_t>(a.step), static_cast<std::int64_t>(b.step));
        found_[k] = static_cast<std::int64_t>(b.step / g);
        found_[k + 1] = -static_cast<std::int64_t>(a.step / g);
        if (b.step != 0 && found_[k] <= a.most && -found_[k + 1] <= b.most) return 1;
        found_[k] = found_[k + 1] = 0;
        continue;
      }
      for (std::int64_t d = 1; d <= a.most && a.step * d <= reach_[k + 1]; ++d) {
        found_[k] = d;
        const int answer = solve(k + 1, -a.step * d);
        if (answer != 0) return answer;
      }
      found_[k] = 0;
    }
    return 0;
  }

  /// The two indices for the difference that was found, each as close to the origin as possible.
  void indices(std::vector<std::int64_t>& first, std::vector<std::int64_t>& second) const {
    first.assign(rank_, 0);
    second.assign(rank_, 0);
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const std::int64_t d = axes_[k].backwards ? -found_[k] : found_[k];
      (d < 0 ? first : second)[axes_[k].axis] = d < 0 ? -d : d;
    }
  }

 private:
  struct Axis {
    Wide step;
    std::int64_t most;
    std::size_t axis;
    bool backwards;
  };

  // Solves: sum over j >= k of d[j] * step[j] = rest.
  int solve(std::size_t k, Wide rest) {
    if (--budget_ < 0) return -1;
    if (magnitude(rest) > reach_[k]) return 0;
    if (rest == 0) {
      std::fill(found_.begin() + static_cast<std::ptrdiff_t>(k), found_.end(), 0);
      return 1;
    }
    if (divisor_[k] == 0 || rest % divisor_[k] != 0) return 0;
    if (axes_[k].step == 0) return 0;
    const std::size_t left = axes_.size() - k;
    if (left == 1) {
      const Wide d = rest / axes_[k].step;
      if (magnitude(d) > axes_[k].most) return 0;
      found_[k] = static_cast<std::int64_t>(d);
      return 1;
    }
    if (left == 2 && axes_[k + 1].step != 0) return solve_two(k, rest);
    const Axis& a = axes_[k];
    const Wide least = std::max<Wide>(-a.most, ceil_divide(rest - reach_[k + 1], a.step));
    const Wide most = std::min<Wide>(a.most, floor_divide(rest + reach_[k + 1], a.step));
    for (Wide d = least; d <= most; ++d) {
      found_[k] = static_cast<std::int64_t>(d);
      const int answer = solve(k + 1, rest - a.step * d);
      if (answer != 0) return answer;
    }
    return 0;
  }

  int solve_two(std::size_t k, Wide rest) {
    const Axis &a = axes_[k], &b = axes_[k + 1];
    std::int64_t x = 0, y = 0;
    const std::int64_t g = bezout(static_cast<std::int64_t>(a.step), static_cast<std::int64_t>(b.step), x, y);
    // One solution for a, moved to its least allowed value. The other solutions lie b/g apart.
    const Wide period = b.step / g;
    const Wide start = rest / g % period * x % period;
    const Wide first = start + ceil_divide(-a.most - start, period) * period;
    // |(rest - a * d) / b| <= b.most bounds d as well.
    const Wide low = ceil_divide(rest - b.step * b.most, a.step);
    const Wide high = floor_divide(rest + b.step * b.most, a.step);
    const Wide d = first < low ? first + ceil_divide(low - first, period) * period : first;
    if (d > a.most || d > high) return 0;
    found_[k] = static_cast<std::int64_t>(d);
    found_[k + 1] = static_cast<std::int64_t>((rest - a.step * d) / b.step);
    return 1;
  }

  std::size_t rank_;
  std::vector<Axis> axes_;  // largest step first
  std::vector<Wide> reach_;
  std::vector<std::int64_t> divisor_;
  std::vector<std::int64_t> found_;
  int budget_ = kBudget;
};

/// True if the axes of a symbolic view nest: each step, by ascending size, is longer than the reach of all smaller
/// ones. Then no two indices share a position, for all sizes that satisfy the guards. False, without a guard, if the
/// axes do not nest for the hints.
bool axes_nest(const View& view) {
  struct AxisStep {
    std::int64_t hint;
    SymInt size;
    SymInt extent;
  };
  InlineVector<AxisStep, 8> steps;
  sym::Conditions conditions;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    if (known_one(view.shape[d])) continue;
    const std::optional<std::int64_t> hint = sym::hint(view.strides[d]);
    if (!hint) return false;
    if (*hint < 0) conditions.push_back(view.strides[d] < 0);
    steps.push_back({std::abs(*hint), *hint < 0 ? -view.strides[d] : view.strides[d], view.shape[d]});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const AxisStep& a, const AxisStep& b) { return a.hint < b.hint; });
  SymInt reach = 0;
  for (const AxisStep& step : steps) {
    conditions.push_back((step.extent == 1) | (step.size > reach));
    reach += (step.extent - 1) * step.size;
  }
  for (const SymBool condition : conditions) {
    if (!sym::known(condition).value_or(sym::hint(condition).value_or(false))) return false;
  }
  return sym::all_of({conditions.data(), conditions.size()});
}

Distinctness of_view(const View& view) {
  Distinctness out;
  if (!view.masked() && is_symbolic(view) && axes_nest(view)) {
    out.kind = Distinctness::Kind::Distinct;
    return out;
  }
  if (has_zero_extent(view.shape)) {
    out.kind = Distinctness::Kind::Distinct;
    return out;
  }
  if (view.masked()) {
    for (std::size_t d = 0; d < view.rank(); ++d) {
      const Range r = view.mask[d];
      if (r.lo <= 0 && r.hi >= view.shape[d]) continue;
      out.kind = Distinctness::Kind::Invalid;
      out.first.assign(view.rank(), 0);
      out.first[d] = r.lo > 0 ? 0 : r.hi.value();
      return out;
    }
  }
  // Steps and spans beyond 2^62 could overflow below. No memory is that large.
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.strides[d] > (std::int64_t{1} << 62) || view.strides[d] < -(std::int64_t{1} << 62)) return out;
  CollisionSearch search(view);
  const int answer = search.run();
  if (answer < 0) return out;
  out.kind = answer == 0 ? Distinctness::Kind::Distinct : Distinctness::Kind::Repeats;
  if (answer > 0) search.indices(out.first, out.second);
  return out;
}

std::vector<std::int64_t> unravel(std::int64_t n, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = n % shape[d].value();
    n /= shape[d].value();
  }
  return index;
}

Distinctness of_table(const ShapeTracker& map) {
  Distinctness out;
  const std::vector<std::int64_t> table = positions(map.views());
  std::vector<std::int64_t> order(table.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto at = [&](std::int64_t n) { return table[static_cast<std::size_t>(n)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return at(a) < at(b); });
  if (!order.empty() && at(order.front()) < 0) {
    out.kind = Distinctness::Kind::Invalid;
    out.first = unravel(order.front(), map.shape());
    return out;
  }
  out.kind = Distinctness::Kind::Distinct;
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (at(order[k - 1]) != at(order[k])) continue;
    out.kind = Distinctness::Kind::Repeats;
    out.first = unravel(order[k - 1], map.shape());
    out.second = unravel(order[k], map.shape());
    break;
  }
  return out;
}

std::string text(const std::vector<std::int64_t>& index) { return to_string(Ints(index.begin(), index.end())); }

// The range of positions of a map's innermost view; nullopt if no index is valid or a position exceeds 64 bits.
std::optional<PositionRange> range_of(const ShapeTracker& map) {
  try {
    return position_range(map.views().front());
  } catch (const OverflowError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string Distinctness::str() const {
  switch (kind) {
    case Kind::Distinct:
      return {};
    case Kind::Repeats:
      return "indices " + text(first) + " and " + text(second) + " stand for one element";
    case Kind::Invalid:
      return "index " + text(first) + " stands for no element";
    case Kind::Unknown:
      return "its indices could not be shown to stand for distinct elements";
  }
  return {};
}

Distinctness distinctness(const ShapeTracker& map) {
  using Kind = Distinctness::Kind;
  const ShapeTracker simple = map.single() ? map : map.simplify();
  if (simple.single()) return of_view(simple.views().front());
  if (has_zero_extent(simple.shape())) return {Kind::Distinct, {}, {}};
  bool all = true;
  const auto views = simple.views();
  for (std::size_t k = views.size(); k-- > 0 && all;) {
    Distinctness one = of_view(views[k]);
    all = one.kind == Kind::Distinct;
    // If the outermost view maps two indices to one position, so does the whole stack; an index that it masks out stays
    // invalid.
    if (k + 1 == views.size() && one.kind != Kind::Unknown && !all &&
        (one.kind == Kind::Invalid || simple.at(one.first)))
      return one;
  }
  if (all) return {Kind::Distinct, {}, {}};
  if (numel(simple.shape()) <= kTable) return of_table(simple);
  return {};
}

bool disjoint(const ShapeTracker& a, const ShapeTracker& b) {
  if (has_zero_extent(a.shape()) || has_zero_extent(b.shape())) return true;
  const auto ra = range_of(a), rb = range_of(b);
  if (ra && rb && (ra->greatest < rb->least || rb->greatest < ra->least)) return true;
  if (is_symbolic(a.views()) || is_symbolic(b.views())) return false;  // what follows needs numbers
  if (a.single() && b.single()) {
    // All positions of a view agree modulo the common divisor of its steps.
    std::int64_t g = 0;
    for (const ShapeTracker* map : {&a, &b}) {
      const View& v = map->views().front();
      for (std::size_t d = 0; d < v.rank(); ++d)
        if (v.shape[d] > 1) g = std::gcd(g, v.strides[d].value());
    }
    const Wide apart = static_cast<Wide>(a.views().front().offset.value()) - b.views().front().offset.value();
    if (g == 0 ? apart != 0 : apart % g != 0) return true;
  }
  if (numel(a.shape()) > kTable || numel(b.shape()) > kTable) return false;
  std::vector<std::int64_t> pa = positions(a.views()), pb = positions(b.views());
  std::sort(pa.begin(), pa.end());
  std::sort(pb.begin(), pb.end());
  auto ia = std::upper_bound(pa.begin(), pa.end(), -1), ib = std::upper_bound(pb.begin(), pb.end(), -1);
  while (ia != pa.end() && ib != pb.end()) {
    if (*ia == *ib) return false;
    *ia < *ib ? ++ia : ++ib;
  }
  return true;
}

}  // namespace oriel::detail
