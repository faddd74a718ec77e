#include "lang/index/index.hpp"

#include <algorithm>
#include <array>

namespace oriel::lang {

using detail::ArithmeticOverflow;
using detail::Int;

std::int64_t Linear::coefficient(std::int32_t variable) const noexcept {
  for (const Term& term : terms) {
    if (term.first == variable) return term.second;
  }
  return 0;
}

Linear scale(const Linear& a, std::int64_t factor) {
  Linear out;
  out.constant = (Int(a.constant) * factor).value();
  if (factor == 0) return out;
  for (const Linear::Term& term : a.terms) out.terms.emplace_back(term.first, (Int(term.second) * factor).value());
  return out;
}

Linear add(const Linear& a, const Linear& b, std::int64_t factor) {
  Linear out;
  out.constant = (Int(a.constant) + Int(b.constant) * factor).value();
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.terms.size() || k < b.terms.size()) {
    const bool from_a = k == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[k].first);
    const bool from_b = i == a.terms.size() || (k < b.terms.size() && b.terms[k].first <= a.terms[i].first);
    const std::int32_t variable = from_a ? a.terms[i].first : b.terms[k].first;
    Int coefficient = from_a ? a.terms[i++].second : 0;
    if (from_b) coefficient += Int(b.terms[k++].second) * factor;
    if (coefficient != 0) out.terms.emplace_back(variable, coefficient.value());
  }
  return out;
}

namespace {

__extension__ using Wide = __int128;

std::int64_t clamp(Wide value) {
  if (value <= Interval::kLowest) return Interval::kLowest;
  if (value >= Interval::kHighest) return Interval::kHighest;
  return static_cast<std::int64_t>(value);
}

// Here [lo, hi] is closed and the extremes absorb.
struct Closed {
  std::int64_t lo;
  std::int64_t hi;
};

Wide times(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (endless(a) || endless(b)) return (a < 0) == (b < 0) ? Interval::kHighest : Interval::kLowest;
  return static_cast<Wide>(a) * b;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  if (endless(a)) return a;
  if (endless(b)) return b;
  return clamp(static_cast<Wide>(a) + b);
}

std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (endless(a)) return (a < 0) == (b < 0) ? Interval::kHighest : Interval::kLowest;
  return (Int(a) / Int(b)).value();
}

Closed product(Closed a, Closed b) {
  const std::array<Wide, 4> corners{times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
  return {clamp(*std::min_element(corners.begin(), corners.end())),
          clamp(*std::max_element(corners.begin(), corners.end()))};
}

Closed linear_bounds(const Linear& linear, std::span<const Interval> box) {
  Wide lo = linear.constant;
  Wide hi = linear.constant;
  for (const auto& [variable, coefficient] : linear.terms) {
    const Interval range = box[static_cast<std::size_t>(variable)];
    const std::int64_t last = endless(range.hi) ? range.hi : range.hi - 1;
    if (endless(range.lo) || endless(last)) return {Interval::kLowest, Interval::kHighest};
    lo += times(coefficient, coefficient > 0 ? range.lo : last);
    hi += times(coefficient, coefficient > 0 ? last : range.lo);
  }
  return {clamp(lo), clamp(hi)};
}

bool divisor_ok(std::int64_t b) { return b != 0; }

// Bounds of the nodes, one after the other.
class Bounder {
 public:
  Bounder(const IndexTree& tree, std::span<const Interval> box) : tree_(tree), box_(box) {}

  Closed of(std::int32_t id) const {
    const IndexNode& node = tree_.at(id);
    switch (node.kind) {
      case IndexKind::Linear:
        return linear_bounds(node.linear, box_);
      case IndexKind::Read:
        return {node.range.lo, node.range.hi};
      case IndexKind::Add: {
        const Closed a = of(node.left);
        const Closed b = of(node.right);
        return {plus(a.lo, b.lo), plus(a.hi, b.hi)};
      }
      case IndexKind::Mul:
        return product(of(node.left), of(node.right));
      case IndexKind::Min: {
        const Closed a = of(node.left);
        const Closed b = of(node.right);
        return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      }
      case IndexKind::Max: {
        const Closed a = of(node.left);
        const Closed b = of(node.right);
        return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      }
      case IndexKind::Div:
        return division(of(node.left), of(node.right));
      case IndexKind::Mod:
        return remainder(of(node.left), of(node.right));
      case IndexKind::Select: {
        const Closed c = of(node.condition);
        const Closed a = of(node.left);
        const Closed b = of(node.right);
        if (c.lo > 0) return a;
        if (c.hi == 0) return b;
        return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
      }
      default:
        return condition(node);
    }
  }

 private:
  Closed condition(const IndexNode& node) const {
    const Closed a = of(node.left);
    if (node.kind == IndexKind::Not) return {a.hi == 0 ? 1 : 0, a.lo > 0 ? 0 : 1};
    const Closed b = of(node.right);
    switch (node.kind) {
      case IndexKind::Less:
        return {a.hi < b.lo && !endless(a.hi) ? 1 : 0, a.lo < b.hi ? 1 : 0};
      case IndexKind::Equal: {
        const bool apart = a.hi < b.lo || b.hi < a.lo;
        return {a.lo == a.hi && b.lo == b.hi && a.lo == b.lo ? 1 : 0, apart ? 0 : 1};
      }
      case IndexKind::And:
        return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      default:
        return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
  }

  static Closed division(Closed a, Closed b) {
    if (b.lo <= 0 && b.hi >= 0) return {Interval::kLowest, Interval::kHighest};
    if (endless(b.lo) || endless(b.hi)) {
      const std::int64_t reach = clamp(std::max(-static_cast<Wide>(a.lo), static_cast<Wide>(a.hi)) + 1);
      return {endless(reach) ? Interval::kLowest : -reach, reach};
    }
    const std::array<std::int64_t, 4> corners{quotient(a.lo, b.lo), quotient(a.lo, b.hi), quotient(a.hi, b.lo),
                                              quotient(a.hi, b.hi)};
    return {*std::min_element(corners.begin(), corners.end()), *std::max_element(corners.begin(), corners.end())};
  }

  static Closed remainder(Closed a, Closed b) {
    const std::int64_t most = std::max(clamp(-static_cast<Wide>(b.lo)), b.hi);
    if (b.lo == b.hi && !endless(b.lo) && divisor_ok(b.lo) && !endless(a.lo) && !endless(a.hi)) {
      const std::int64_t m = b.lo < 0 ? clamp(-static_cast<Wide>(b.lo)) : b.lo;
      if (quotient(a.lo, m) == quotient(a.hi, m)) return {euclid(a.lo, m), euclid(a.hi, m)};
    }
    return {0, endless(most) ? most : std::max<std::int64_t>(most - 1, 0)};
  }

  const IndexTree& tree_;
  std::span<const Interval> box_;
};

void gather(const IndexTree& tree, std::int32_t id, std::vector<std::int32_t>& out) {
  if (id < 0) return;
  const IndexNode& node = tree.at(id);
  for (const Linear::Term& term : node.linear.terms) out.push_back(term.first);
  for (const std::int32_t child : {node.condition, node.left, node.right}) gather(tree, child, out);
}

}  // namespace

std::int64_t euclid(std::int64_t a, std::int64_t b) {
  const std::int64_t m = b < 0 ? (-Int(b)).value() : b;
  return (Int(a) % Int(m)).value();
}

std::vector<std::int32_t> IndexTree::variables(std::int32_t id) const {
  std::vector<std::int32_t> out;
  gather(*this, id, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::int64_t IndexTree::evaluate(std::int32_t id, std::span<const std::int64_t> values) const {
  const IndexNode& node = at(id);
  switch (node.kind) {
    case IndexKind::Linear: {
      Int sum = node.linear.constant;
      for (const auto& [variable, coefficient] : node.linear.terms) {
        sum += Int(coefficient) * values[static_cast<std::size_t>(variable)];
      }
      return sum.value();
    }
    case IndexKind::Select:
      return evaluate(evaluate(node.condition, values) != 0 ? node.left : node.right, values);
    case IndexKind::And:
      return evaluate(node.left, values) != 0 && evaluate(node.right, values) != 0 ? 1 : 0;
    case IndexKind::Or:
      return evaluate(node.left, values) != 0 || evaluate(node.right, values) != 0 ? 1 : 0;
    case IndexKind::Not:
      return evaluate(node.left, values) == 0 ? 1 : 0;
    case IndexKind::Read:
      return node.range.lo;
    default:
      break;
  }
  const std::int64_t a = evaluate(node.left, values);
  const std::int64_t b = evaluate(node.right, values);
  switch (node.kind) {
    case IndexKind::Div:
      if (b == 0) throw ArithmeticOverflow();
      return (Int(a) / Int(b)).value();
    case IndexKind::Mod:
      if (b == 0) throw ArithmeticOverflow();
      return euclid(a, b);
    case IndexKind::Min:
      return std::min(a, b);
    case IndexKind::Max:
      return std::max(a, b);
    case IndexKind::Add:
      return (Int(a) + Int(b)).value();
    case IndexKind::Mul:
      return (Int(a) * Int(b)).value();
    case IndexKind::Less:
      return a < b ? 1 : 0;
    default:
      return a == b ? 1 : 0;
  }
}

Interval IndexTree::bounds(std::int32_t id, std::span<const Interval> box) const {
  const Closed closed = Bounder(*this, box).of(id);
  return {closed.lo, endless(closed.hi) ? Interval::kHighest : closed.hi + 1};
}

}  // namespace oriel::lang
