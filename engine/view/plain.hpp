// The two kinds of integers on which the view algebra runs: plain ones, and SymInts that may be expressions.
//
// An algorithm is a template over its integers, `N`. A function asks once whether all its sizes are plain (is_plain)
// and then runs on Plain, which asks nothing more; otherwise it runs on SymInt, whose branches consult hints and record
// guards. `N(size)` reads a SymInt; assigning an N to a SymInt writes it.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>

#include "oriel/view.hpp"
#include "sym/decide.hpp"

namespace oriel::detail {

/// A SymInt that is known to be a plain number. The arithmetic is checked as SymInt's is: an overflow throws
/// OverflowError.
class Plain {
 public:
  constexpr Plain() noexcept = default;
  constexpr Plain(std::int64_t value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// Precondition: is_plain(size).
  constexpr explicit Plain(SymInt size) noexcept : value_(size.representation()) {}
  constexpr operator SymInt() const { return value_; }  // NOLINT(google-explicit-constructor)
  constexpr std::int64_t value() const noexcept { return value_; }

  friend constexpr Plain operator+(Plain a, Plain b) {
    std::int64_t r = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &r)) [[unlikely]]
      throw_overflow("add", a.value_, b.value_);
    return r;
  }
  friend constexpr Plain operator-(Plain a, Plain b) {
    std::int64_t r = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &r)) [[unlikely]]
      throw_overflow("subtract", a.value_, b.value_);
    return r;
  }
  friend constexpr Plain operator*(Plain a, Plain b) {
    std::int64_t r = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &r)) [[unlikely]]
      throw_overflow("multiply", a.value_, b.value_);
    return r;
  }
  /// Quotient and remainder of numbers that are not negative, by a positive one.
  /// @{
  friend constexpr Plain operator/(Plain a, Plain b) noexcept { return a.value_ / b.value_; }
  friend constexpr Plain operator%(Plain a, Plain b) noexcept { return a.value_ % b.value_; }
  /// @}
  constexpr Plain operator-() const { return Plain(0) - *this; }
  constexpr Plain& operator+=(Plain b) { return *this = *this + b; }
  constexpr Plain& operator-=(Plain b) { return *this = *this - b; }
  constexpr Plain& operator*=(Plain b) { return *this = *this * b; }

  friend constexpr auto operator<=>(Plain a, Plain b) noexcept = default;  // NOLINT(modernize-use-nullptr)

 private:
  std::int64_t value_ = 0;
};

/// True for the number 0, not for an expression that may be 0: skips arithmetic that would change nothing.
constexpr bool is_zero(Plain n) noexcept { return n == 0; }
constexpr bool is_zero(SymInt n) noexcept { return identical(n, 0); }

/// sym::or_false, which changes nothing for plain numbers.
/// @{
constexpr bool or_false(bool condition) noexcept { return condition; }
inline SymBool or_false(SymBool condition) { return sym::or_false(condition); }
/// @}

/// True if the number is known to be 1 for all values in range. Records nothing.
/// @{
constexpr bool known_one(Plain n) noexcept { return n == 1; }
inline bool known_one(SymInt n) { return sym::known(n == 1).value_or(false); }
/// @}

template <class N>
concept Number = std::same_as<N, Plain> || std::same_as<N, SymInt>;

/// Reads a number that plain arithmetic gave, which may be beyond what is_plain tests for.
template <Number N>
N read(SymInt n) {
  if constexpr (std::same_as<N, Plain>) {
    return n.value();
  } else {
    return n;
  }
}

/// Collects sizes, and tells whether all are plain. Numbers beyond 2^62 count as not plain: SymInt computes them, too.
class PlainTest {
 public:
  void add(SymInt size) noexcept { seen_[0] |= static_cast<std::uint64_t>(size.representation()) + kHalf; }
  void add(std::span<const SymInt> sizes) noexcept {
    std::size_t k = 0;
    for (; k + 1 < sizes.size(); k += 2) {
      Two two;
      std::memcpy(&two, sizes.data() + k, sizeof(two));
      seen_ |= two + kHalf;
    }
    if (k < sizes.size()) add(sizes[k]);
  }
  void add(const Ints& sizes) noexcept { add(std::span(sizes.data(), sizes.size())); }
  void add(const Ranges& ranges) noexcept {
    for (const Range& range : ranges) {
      Two two;
      static_assert(sizeof(range) == sizeof(two));
      std::memcpy(&two, &range, sizeof(two));
      seen_ |= two + kHalf;
    }
  }
  void add(const View& view) noexcept {
    add(view.shape);
    add(view.strides);
    add(view.offset);
    add(view.mask);
  }
  bool all_plain() const noexcept { return (seen_[0] | seen_[1]) >> 63 == 0; }

 private:
  typedef std::uint64_t Two __attribute__((vector_size(16)));
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << 62;  // moves the plain numbers to 0 .. 2^63 - 1
  Two seen_ = {0, 0};
};

/// True if all sizes are plain numbers above 0. Expressions have negative representations.
inline bool is_plain_positive(const Shape& shape) noexcept {
  for (const SymInt extent : shape) {
    if (extent.representation() <= 0) return false;
  }
  return true;
}

/// True if no part is an expression over symbols.
template <class... Parts>
bool is_plain(const Parts&... parts) noexcept {
  PlainTest test;
  (test.add(parts), ...);
  return test.all_plain();
}

/// True if one of the sizes, or a part of the view, is an expression over symbols.
/// @{
bool is_symbolic(const Ints& sizes) noexcept;
bool is_symbolic(const View& view) noexcept;
/// @}
/// True if a view of the stack is symbolic.
inline bool is_symbolic(std::span<const View> stack) noexcept {
  for (const View& view : stack) {
    if (is_symbolic(view)) return true;
  }
  return false;
}

/// True if the conditions hold for every d < count. On symbols the answer is decided as a whole (sym::all_of).
template <Number N, class... Condition>
bool all_axes(std::size_t count, const Condition&... condition) {
  if constexpr (std::same_as<N, Plain>) {
    for (std::size_t d = 0; d < count; ++d) {
      if (!(static_cast<bool>(condition(d)) && ...)) return false;
    }
    return true;
  } else {
    sym::Conditions all;
    for (std::size_t d = 0; d < count; ++d) (all.push_back(condition(d)), ...);
    return sym::all_of({all.data(), all.size()});
  }
}
/// True if one of the conditions holds for some d < count.
template <Number N, class... Condition>
bool any_axis(std::size_t count, const Condition&... condition) {
  if constexpr (std::same_as<N, Plain>) {
    for (std::size_t d = 0; d < count; ++d) {
      if ((static_cast<bool>(condition(d)) || ...)) return true;
    }
    return false;
  } else {
    sym::Conditions all;
    for (std::size_t d = 0; d < count; ++d) (all.push_back(condition(d)), ...);
    return sym::any_of({all.data(), all.size()});
  }
}

}  // namespace oriel::detail
