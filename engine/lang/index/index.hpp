// Index expressions for given sizes: linear if possible, otherwise a small tree over linear expressions.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "lang/program.hpp"

namespace oriel::lang {

/// A half-open interval; empty if hi <= lo. The extreme int64 values mean "no bound".
struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  static constexpr Interval all() noexcept { return {kLowest, kHighest}; }
  bool empty() const noexcept { return hi <= lo; }
  bool bounded() const noexcept { return lo != kLowest && hi != kHighest; }
  bool holds(Interval inner) const noexcept { return inner.empty() || (lo <= inner.lo && inner.hi <= hi); }
  friend bool operator==(const Interval&, const Interval&) = default;
};

inline bool endless(std::int64_t bound) { return bound == Interval::kLowest || bound == Interval::kHighest; }

/// constant + sum of coefficient * variable; variables ascending, coefficients not 0.
struct Linear {
  using Term = std::pair<std::int32_t, std::int64_t>;
  std::int64_t constant = 0;
  boost::container::small_vector<Term, 4> terms;

  std::int64_t coefficient(std::int32_t variable) const noexcept;
};
// Throw detail::ArithmeticOverflow.
Linear add(const Linear& a, const Linear& b, std::int64_t factor = 1);  // a + factor * b
Linear scale(const Linear& a, std::int64_t factor);

enum class IndexKind : std::uint8_t {
  Linear,
  Div,  // floor of left / right
  Mod,  // Euclidean
  Min,
  Max,
  Add,
  Mul,
  Select,  // condition ? left : right
  Less,    // left < right; conditions are 0 or 1
  Equal,
  And,
  Or,
  Not,   // of left
  Read,  // an unknown value in `range`
};

struct IndexNode {
  IndexKind kind = IndexKind::Linear;
  std::int32_t condition = -1;
  std::int32_t left = -1;
  std::int32_t right = -1;
  Linear linear;
  Interval range;  // of a Read: the interval of its values, both ends included
};

/// An expression over a statement's variables. Nodes come after their operands; the last node is the root.
class IndexTree {
 public:
  std::vector<IndexNode> nodes;
  bool reads = false;  // holds a Read

  std::int32_t root() const noexcept { return static_cast<std::int32_t>(nodes.size() - 1); }
  const IndexNode& at(std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
  bool is_linear() const noexcept { return nodes.back().kind == IndexKind::Linear; }
  const Linear& linear() const { return nodes.back().linear; }

  /// The variables that occur below the node, in ascending order.
  std::vector<std::int32_t> variables(std::int32_t id) const;
  std::vector<std::int32_t> variables() const { return variables(root()); }
  /// The value for given values of all variables. Precondition: the tree has no Read. Throws
  /// detail::ArithmeticOverflow.
  std::int64_t evaluate(std::span<const std::int64_t> values) const { return evaluate(root(), values); }
  /// An interval that contains every value over the box, none of whose intervals is empty. An end beyond 64 bits
  /// becomes "no bound". Exact if each variable occurs once and there is no remainder.
  Interval bounds(std::span<const Interval> box) const { return bounds(root(), box); }
  /// The tree with each variable replaced by its value if its interval in the box holds only one.
  IndexTree substitute(std::span<const Interval> box) const;

  std::int64_t evaluate(std::int32_t id, std::span<const std::int64_t> values) const;
  Interval bounds(std::int32_t id, std::span<const Interval> box) const;
};

/// The Euclidean remainder of a by |b|, which is >= 0. Precondition: b is not 0.
std::int64_t euclid(std::int64_t a, std::int64_t b);

/// Builds the tree of an expression of integers or a condition. `sizes` are the values of the size variables. Throws
/// detail::ArithmeticOverflow; ComprehensionError if the expression is too long or divides by zero.
IndexTree index_tree(const Program& program, ExprId expression, std::span<const std::int64_t> sizes);
/// The value of an expression of sizes alone. Errors as above.
std::int64_t size_value(const Program& program, ExprId expression, std::span<const std::int64_t> sizes);

}  // namespace oriel::lang
