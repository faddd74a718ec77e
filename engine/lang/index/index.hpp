// Index expressions of a statement: expressions of engine/sym over its loops and the symbols of sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "lang/syntax/program.hpp"
#include "sym/program.hpp"

namespace oriel::lang {

using sym::Interval;

inline bool bounded(Interval range) noexcept { return range.has_lo() && range.has_hi(); }
inline bool holds(Interval outer, Interval inner) noexcept {
  return inner.empty() || (outer.lo <= inner.lo && inner.hi <= outer.hi);
}
/// How many integers a bounded interval holds. Throws detail::ArithmeticOverflow.
inline std::int64_t extent(Interval range) { return (detail::Int(range.hi) - range.lo + 1).value(); }

/// A half-open range of a loop, or of a tensor's coordinates along one dimension: expressions of sizes, which are
/// constants where all sizes are numbers. A null end is no bound.
struct IndexRange {
  sym::Expr lo = nullptr;
  sym::Expr end = nullptr;
};
/// Precondition: both ends are constants.
inline Interval numbers(IndexRange range) noexcept { return {range.lo->value, range.end->value - 1}; }
inline bool is_number(IndexRange range) noexcept { return range.lo->is_constant() && range.end->is_constant(); }

/// Builds index expressions in a pool of its own, which must live as long as they do. A loop is known by its number in
/// the statement and has no bounds of its own, so that statements share expressions; an element that is read is a
/// symbol which equals no other. Products of loops stay as they are written: a product's range is exact if no loop
/// occurs in two of its factors.
///
/// Thread safety: one thread at a time. The expressions themselves may be read by several.
class IndexBuilder {
 public:
  sym::Pool& pool() noexcept { return pool_; }
  sym::Expr loop(std::size_t number);
  sym::Expr constant(std::int64_t n) { return pool_.constant(n); }
  IndexRange range(Interval of) { return {constant(of.lo), constant((detail::Int(of.hi) + 1).value())}; }
  /// The symbol of a size that is not a number.
  sym::Expr size_symbol(std::string_view name, Interval range);
  /// The value of an expression of integers. `sizes` are the values of the size variables: expressions in this pool.
  /// Throws OverflowError, detail::ArithmeticOverflow; ComprehensionError if the expression is too long or divides by
  /// zero.
  sym::Expr number(const Program& program, ExprId expression, std::span<const sym::Expr> sizes);
  /// Whether an expression is true (not 0). Errors as above.
  sym::Expr condition(const Program& program, ExprId expression, std::span<const sym::Expr> sizes);
  /// An integer about which only its range is known.
  sym::Expr read(Interval range);

 private:
  sym::Pool pool_;
  std::vector<sym::Expr> loops_;
  std::int64_t reads_ = 0;
};

/// Is it the symbol of a size? Other symbols are elements that are read.
inline bool is_size_symbol(sym::Expr e) noexcept { return e->kind == sym::Kind::symbol && e->value < 0; }

/// True for constant + the sum of coefficient times loop.
bool is_linear(sym::Expr e) noexcept;

/// The parts of such an expression. The terms are in the order of the loops' numbers.
class Linear {
 public:
  using Term = std::pair<std::int32_t, std::int64_t>;  // the loop's number, the coefficient

  explicit Linear(sym::Expr e) noexcept : e_(e) {}

  std::int64_t constant() const noexcept { return e_->kind == sym::Kind::loop ? 0 : e_->value; }
  std::size_t size() const noexcept { return e_->kind == sym::Kind::loop ? 1 : e_->args.size(); }
  Term operator[](std::size_t k) const noexcept {
    if (e_->kind == sym::Kind::loop) return {static_cast<std::int32_t>(e_->value), 1};
    return {static_cast<std::int32_t>(e_->args[k]->value), e_->coefficients[k]};
  }
  std::int64_t coefficient(std::int32_t loop) const noexcept;

  class Iterator {
   public:
    Iterator(const Linear& of, std::size_t k) noexcept : of_(of), k_(k) {}
    Term operator*() const noexcept { return of_[k_]; }
    Iterator& operator++() noexcept {
      ++k_;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return k_ != other.k_; }

   private:
    const Linear& of_;
    std::size_t k_;
  };
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size()}; }

 private:
  sym::Expr e_;
};

/// What an expression depends on.
struct IndexVariables {
  std::vector<std::int32_t> loops;  // the numbers of its loops, in ascending order
  bool reads = false;               // true if an element that is read occurs
};
IndexVariables index_variables(sym::Expr e);
/// Adds coefficient * x, for all x of the range, to the sums [lo, hi]. Throws detail::ArithmeticOverflow.
inline void add_term(detail::Int& lo, detail::Int& hi, detail::Int coefficient, Interval range) {
  lo += coefficient * (coefficient > 0 ? range.lo : range.hi);
  hi += coefficient * (coefficient > 0 ? range.hi : range.lo);
}
/// The values of b - a for which the comparison of a with b holds; nullopt for !=, whose values are no interval.
std::optional<Interval> differences(sym::Kind comparison) noexcept;
/// An interval that contains every value over the box, none of whose intervals is empty. Everything for a quotient
/// whose divisor may be 0. Exact if each loop occurs once and there is no remainder.
Interval range_over(sym::Expr e, std::span<const Interval> box);

/// Computes the values of an expression in which no element is read.
class IndexValues {
 public:
  explicit IndexValues(sym::Expr e) : program_(e), values_(program_.variables().size()) {}
  /// `point` has a number for each loop.
  sym::Outcome outcome(std::span<const std::int64_t> point);
  /// Throws detail::ArithmeticOverflow if there is no value.
  std::int64_t at(std::span<const std::int64_t> point);

 private:
  sym::Program program_;
  std::vector<std::int64_t> values_;
};

}  // namespace oriel::lang
