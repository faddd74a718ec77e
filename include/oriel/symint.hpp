// The integer type of shapes, strides, offsets and masks.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "oriel/api.hpp"

namespace oriel::sym {
struct Node;
}

namespace ORIEL_API oriel {

namespace detail {
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept PlainNumber = Integer<T> || std::floating_point<T>;
// It says more than Integer, so that a cast prefers the conversion that has this condition.
template <class T>
concept CastInteger = Integer<T> && sizeof(T) != 0;
template <class T>
inline constexpr bool kNever = false;

[[noreturn]] void throw_overflow(const char* operation, std::int64_t a, std::int64_t b);
[[noreturn]] void throw_too_large(std::uint64_t value);
[[noreturn]] void throw_division_by_zero(const char* operation, std::int64_t a);

/// Turns a symbolic condition into a bool by its environment's rules.
bool symbolic_truth(const sym::Node* condition);
/// The expression or condition of this number. Throws ArgumentError if its environment has ended.
const sym::Node* symbolic_node(std::uint64_t reference);
}  // namespace detail

/// The outcome of comparing two SymInts: a bool, or a condition over symbols. Turning it into a bool is the point at
/// which a program branches on a size. A plain one records nothing; a condition is looked up in what its environment
/// (ShapeEnv) knows, else decided by the hints and recorded there as a guard. Using a condition whose environment has
/// ended is an ArgumentError.
class SymBool {
 public:
  /// False.
  constexpr SymBool() noexcept : SymBool(false) {}
  /// A plain bool.
  constexpr SymBool(bool value) noexcept : bits_(value ? 1 : 0) {}  // NOLINT(google-explicit-constructor)
  /// The branch: records a guard unless the condition is known.
  constexpr operator bool() const {  // NOLINT(google-explicit-constructor)
    if (bits_ > 1) [[unlikely]]
      return detail::symbolic_truth(node());
    return bits_ != 0;
  }

  /// True for a condition over symbols.
  bool is_symbolic() const noexcept { return bits_ > 1; }
  /// The condition; null for a plain bool. Throws ArgumentError if its environment has ended. For the engine.
  const sym::Node* node() const { return bits_ > 1 ? detail::symbolic_node(bits_) : nullptr; }
  /// Wraps a condition; a constant one becomes a plain bool. For the engine.
  explicit SymBool(const sym::Node* condition);

  /// @{
  /// Both sides at once, without a branch on either: no guard.
  friend constexpr SymBool operator&(SymBool a, SymBool b) {
    if ((a.bits_ | b.bits_) > 1) [[unlikely]]
      return symbolic_and(a, b);
    return (a.bits_ & b.bits_) != 0;
  }
  friend constexpr SymBool operator|(SymBool a, SymBool b) {
    if ((a.bits_ | b.bits_) > 1) [[unlikely]]
      return symbolic_or(a, b);
    return (a.bits_ | b.bits_) != 0;
  }
  /// @}
  /// The opposite condition, without a guard (`!` branches: it is an operation on bools).
  constexpr SymBool negated() const {
    if (bits_ > 1) [[unlikely]]
      return symbolic_not(*this);
    return bits_ == 0;
  }

 private:
  static SymBool symbolic_and(SymBool a, SymBool b);
  static SymBool symbolic_or(SymBool a, SymBool b);
  static SymBool symbolic_not(SymBool a);

  std::uint64_t bits_;  // 0, 1, or the number of a condition
};

/// A signed 64-bit size with checked arithmetic. Overflow never wraps: it throws OverflowError, which names the
/// operation. Division rounds towards minus infinity and the remainder has the sign of the divisor, so that a == (a /
/// b) * b + a % b and, for b > 0, 0 <= a % b < b. A zero divisor throws ArgumentError.
///
///   oriel::SymInt n = 6;  n * 7;         // 42
///   oriel::SymInt(-1) / 4;               // -1
///   oriel::SymInt(INT64_MAX) + 1;        // throws OverflowError
///
/// Or an expression over the symbols of a ShapeEnv. Arithmetic on it makes expressions and comparisons make conditions;
/// neither records a guard, but for a quotient whose divisor may be 0 and goes in simplification (s / s): a guard that
/// it is not 0. Expressions of two environments do not mix (ArgumentError). An expression knows whether its
/// environment has ended (so has that of a captured function's trace once the trace is over): using it then is an
/// ArgumentError.
class SymInt {
 public:
  constexpr SymInt() noexcept = default;
  /// A plain number. Throws OverflowError if it exceeds 2^63-1.
  template <detail::Integer T>
  constexpr SymInt(T value) : bits_(static_cast<std::int64_t>(value)) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(std::int64_t)) {
      if (bits_ < 0) detail::throw_too_large(value);
    } else if constexpr (sizeof(T) == sizeof(std::int64_t)) {
      if (in_band(bits_)) [[unlikely]]
        bits_ = boxed(bits_);
    }
  }

  /// The number itself. Of an expression: its value for the hints, after a guard that it has no other.
  constexpr std::int64_t value() const {
    if (in_band(bits_)) [[unlikely]]
      return symbolic_value(*this);
    return bits_;
  }

  /// value() as another number: static_cast<std::size_t>(x.numel()).
  /// @{
  template <detail::CastInteger T>
  constexpr explicit operator T() const {
    return static_cast<T>(value());
  }
  template <std::floating_point T>
  constexpr explicit operator T() const {
    return static_cast<T>(value());
  }
  /// @}
  /// Does not compile: a number in place of a symbol is asked for by a word. (Not for floats: sqrt(x.size(0)) is the
  /// root of a tensor, and would be C's as well.)
  template <detail::Integer T>
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    static_assert(detail::kNever<T>,
                  "oriel::SymInt may be a symbol, so it does not turn into a number by itself: x.extent(axis) and "
                  "x.count() are plain numbers, n.value() is that of a SymInt n");
    return {};
  }

  /// True for an expression over symbols.
  bool is_symbolic() const noexcept { return in_band(bits_) && reference() >= kFirstSymbolic; }
  /// The expression; null for a plain number. Throws ArgumentError if its environment has ended. For the engine.
  const sym::Node* node() const { return is_symbolic() ? detail::symbolic_node(reference()) : nullptr; }
  /// Wraps an expression; a constant one becomes a plain number. For the engine.
  explicit SymInt(const sym::Node* expression);
  /// How the size is stored: the number itself, unless it is an expression or a number below -2^63 + 2^48. Both have
  /// representations below -2^63 + 2^48. For the engine, which tests many sizes at once.
  constexpr std::int64_t representation() const noexcept { return bits_; }
  /// True if both are the same number or the same expression. Asks nothing and records nothing.
  friend constexpr bool identical(SymInt a, SymInt b) noexcept { return a.bits_ == b.bits_; }

  /// Arithmetic and comparisons, as the class says.
  /// @{
  friend constexpr SymInt operator+(SymInt a, SymInt b) {
    if (small(a, b)) [[likely]]
      return plain(a.bits_ + b.bits_);
    std::int64_t r = 0;
    if (__builtin_add_overflow(a.bits_, b.bits_, &r) || unusual(a, b, r)) [[unlikely]]
      return slow_add(a, b);
    return plain(r);
  }
  friend constexpr SymInt operator-(SymInt a, SymInt b) {
    if (small(a, b)) [[likely]]
      return plain(a.bits_ - b.bits_);
    std::int64_t r = 0;
    if (__builtin_sub_overflow(a.bits_, b.bits_, &r) || unusual(a, b, r)) [[unlikely]]
      return slow_subtract(a, b);
    return plain(r);
  }
  friend constexpr SymInt operator*(SymInt a, SymInt b) {
    std::int64_t r = 0;
    const bool overflow = __builtin_mul_overflow(a.bits_, b.bits_, &r);
    if (overflow || (negative(a, b) && unusual(a, b, r))) [[unlikely]]
      return slow_multiply(a, b);
    return plain(r);
  }
  friend constexpr SymInt operator/(SymInt a, SymInt b) {
    if (negative(a, b) || b.bits_ == 0) [[unlikely]]
      return slow_divide(a, b);
    return plain(a.bits_ / b.bits_);
  }
  friend constexpr SymInt operator%(SymInt a, SymInt b) {
    if (negative(a, b) || b.bits_ == 0) [[unlikely]]
      return slow_remainder(a, b);
    return plain(a.bits_ % b.bits_);
  }
  // With a number on one side. Without these the conversions of both sides would be ambiguous.
  // NOLINTBEGIN(bugprone-macro-parentheses): types and operators
#define ORIEL_MIXED(result, op)                        \
  template <detail::Integer T>                         \
  friend constexpr result operator op(SymInt a, T b) { \
    return a op SymInt(b);                             \
  }                                                    \
  template <detail::Integer T>                         \
  friend constexpr result operator op(T a, SymInt b) { \
    return SymInt(a) op b;                             \
  }
  // clang-format off
  ORIEL_MIXED(SymInt, +) ORIEL_MIXED(SymInt, -) ORIEL_MIXED(SymInt, *) ORIEL_MIXED(SymInt, /) ORIEL_MIXED(SymInt, %)
  ORIEL_MIXED(SymBool, ==) ORIEL_MIXED(SymBool, !=) ORIEL_MIXED(SymBool, <) ORIEL_MIXED(SymBool, <=)
  ORIEL_MIXED(SymBool, >) ORIEL_MIXED(SymBool, >=)
#undef ORIEL_MIXED
  // NOLINTEND(bugprone-macro-parentheses)
  constexpr SymInt operator-() const { return SymInt(0) - *this; }
  // clang-format on
  constexpr SymInt& operator+=(SymInt b) { return *this = *this + b; }
  constexpr SymInt& operator-=(SymInt b) { return *this = *this - b; }
  constexpr SymInt& operator*=(SymInt b) { return *this = *this * b; }

  friend constexpr SymBool operator==(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::eq);
    return a.bits_ == b.bits_;
  }
  friend constexpr SymBool operator!=(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::ne);
    return a.bits_ != b.bits_;
  }
  friend constexpr SymBool operator<(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::lt);
    return a.bits_ < b.bits_;
  }
  friend constexpr SymBool operator<=(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::le);
    return a.bits_ <= b.bits_;
  }
  friend constexpr SymBool operator>(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::gt);
    return a.bits_ > b.bits_;
  }
  friend constexpr SymBool operator>=(SymInt a, SymInt b) {
    if (negative(a, b) && unusual(a, b, 0)) [[unlikely]]
      return compare(a, b, Comparison::ge);
    return a.bits_ >= b.bits_;
  }
  /// @}

 private:
  enum class Comparison { eq, ne, lt, le, gt, ge };
  friend std::string to_string(SymInt n);

  // The numbers from kLeast + 1 to kLeast + 2^48 - 1 stand for expressions: the number of a pool, and behind it, in 24
  // bits, that of a node in it. A plain number among them is kept in a table of the process, as if of pool 0.
  static constexpr std::int64_t kLeast = INT64_MIN;
  static constexpr std::int64_t kBand = kLeast + (std::int64_t(1) << 48);
  static constexpr std::uint64_t kFirstSymbolic = std::uint64_t(1) << 24;

  static constexpr bool in_band(std::int64_t bits) noexcept { return bits < 0 && (bits < kBand && bits != kLeast); }
  // Plain numbers below 2^62 and not negative, whose sums fit: nearly all sizes are, and one test says so.
  static constexpr bool small(SymInt a, SymInt b) noexcept {
    return (static_cast<std::uint64_t>(a.bits_ | b.bits_) >> 62) == 0;
  }
  // Maybe an expression, or a number or result in the band: what the fast paths do not take.
  static constexpr bool unusual(SymInt a, SymInt b, std::int64_t r) noexcept {
    return a.bits_ < kBand || b.bits_ < kBand || r < kBand;
  }
  static constexpr bool negative(SymInt a, SymInt b) noexcept { return (a.bits_ | b.bits_) < 0; }
  static constexpr SymInt plain(std::int64_t value) noexcept {
    SymInt n;
    n.bits_ = value;
    return n;
  }

  constexpr std::int64_t negative_value() const { return in_band(bits_) ? symbolic_value(*this) : bits_; }
  static std::int64_t boxed(std::int64_t value);
  constexpr std::uint64_t reference() const noexcept {
    return static_cast<std::uint64_t>(bits_) - static_cast<std::uint64_t>(kLeast);
  }
  static std::int64_t symbolic_value(SymInt n);
  static SymInt slow_add(SymInt a, SymInt b);
  static SymInt slow_subtract(SymInt a, SymInt b);
  static SymInt slow_multiply(SymInt a, SymInt b);
  static SymInt slow_divide(SymInt a, SymInt b);
  static SymInt slow_remainder(SymInt a, SymInt b);
  static SymBool compare(SymInt a, SymInt b, Comparison comparison);

  std::int64_t bits_ = 0;
};

namespace detail {
/// A size, or a number in its place.
template <class T>
concept Size = Integer<T> || std::same_as<T, SymInt>;
}  // namespace detail

/// The smaller (larger) one; of symbols an expression, without a guard.
SymInt sym_min(SymInt a, SymInt b);
SymInt sym_max(SymInt a, SymInt b);
/// `a` where `condition` holds, else `b`; without a guard.
SymInt sym_select(SymBool condition, SymInt a, SymInt b);
/// `base` to the power `exponent`, which is a plain number >= 0. Throws ArgumentError for others.
SymInt sym_pow(SymInt base, SymInt exponent);

/// Decimal text of `n`, or its expression: "5*max(1, s0)".
std::string to_string(SymInt n);
/// "true", "false", or the condition: "s0 % 4 == 0".
std::string to_string(SymBool condition);

}  // namespace oriel

namespace std {
/// Hash of a size: equal sizes have equal hashes.
template <>
struct ORIEL_API hash<oriel::SymInt> {
  /// Hash of `n`.
  std::size_t operator()(oriel::SymInt n) const;
};
}  // namespace std
