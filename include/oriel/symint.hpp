// The integer type of shapes, strides, offsets and masks.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>

namespace oriel {

/// The result of comparing two SymInts. Its conversion to bool is the point where a program branches on a size. For
/// plain numbers the conversion records nothing.
class SymBool {
 public:
  constexpr SymBool(bool value) noexcept : value_(value) {}    // NOLINT(google-explicit-constructor)
  constexpr operator bool() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)

  // Combines both sides without branching on either.
  friend constexpr SymBool operator&(SymBool a, SymBool b) noexcept { return a.value_ && b.value_; }
  friend constexpr SymBool operator|(SymBool a, SymBool b) noexcept { return a.value_ || b.value_; }

 private:
  bool value_;
};

namespace detail {
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

[[noreturn]] void throw_overflow(const char* operation, std::int64_t a, std::int64_t b);
[[noreturn]] void throw_too_large(std::uint64_t value);
[[noreturn]] void throw_division_by_zero(const char* operation, std::int64_t a);
}  // namespace detail

/// A signed 64-bit size with checked arithmetic. Overflow never wraps: it throws OverflowError, which names the
/// operation. Division rounds towards minus infinity and the remainder has the sign of the divisor, so that a == (a /
/// b) * b + a % b and, for b > 0, 0 <= a % b < b. A zero divisor throws ArgumentError.
///
///   oriel::SymInt n = 6;  n * 7;         // 42
///   oriel::SymInt(-1) / 4;               // -1
///   oriel::SymInt(INT64_MAX) + 1;        // throws OverflowError
class SymInt {
 public:
  constexpr SymInt() noexcept = default;
  template <detail::Integer T>
  constexpr SymInt(T value) : value_(static_cast<std::int64_t>(value)) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(std::int64_t)) {
      if (value_ < 0) detail::throw_too_large(value);
    }
  }

  /// The number itself.
  constexpr std::int64_t value() const noexcept { return value_; }

  friend constexpr SymInt operator+(SymInt a, SymInt b) {
    std::int64_t r = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &r)) detail::throw_overflow("add", a.value_, b.value_);
    return r;
  }
  friend constexpr SymInt operator-(SymInt a, SymInt b) {
    std::int64_t r = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &r)) detail::throw_overflow("subtract", a.value_, b.value_);
    return r;
  }
  friend constexpr SymInt operator*(SymInt a, SymInt b) {
    std::int64_t r = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &r)) detail::throw_overflow("multiply", a.value_, b.value_);
    return r;
  }
  friend constexpr SymInt operator/(SymInt a, SymInt b) {
    if (b.value_ == 0) detail::throw_division_by_zero("divide", a.value_);
    if (b.value_ == -1) return SymInt(0) - a;
    const std::int64_t q = a.value_ / b.value_;
    return q - ((a.value_ % b.value_ != 0) && ((a.value_ < 0) != (b.value_ < 0)) ? 1 : 0);
  }
  friend constexpr SymInt operator%(SymInt a, SymInt b) {
    if (b.value_ == 0) detail::throw_division_by_zero("remainder", a.value_);
    if (b.value_ == -1) return 0;
    const std::int64_t r = a.value_ % b.value_;
    return r != 0 && ((r < 0) != (b.value_ < 0)) ? r + b.value_ : r;
  }
  constexpr SymInt operator-() const { return SymInt(0) - *this; }
  constexpr SymInt& operator+=(SymInt b) { return *this = *this + b; }
  constexpr SymInt& operator-=(SymInt b) { return *this = *this - b; }
  constexpr SymInt& operator*=(SymInt b) { return *this = *this * b; }

  friend constexpr SymBool operator==(SymInt a, SymInt b) noexcept { return a.value_ == b.value_; }
  friend constexpr SymBool operator!=(SymInt a, SymInt b) noexcept { return a.value_ != b.value_; }
  friend constexpr SymBool operator<(SymInt a, SymInt b) noexcept { return a.value_ < b.value_; }
  friend constexpr SymBool operator<=(SymInt a, SymInt b) noexcept { return a.value_ <= b.value_; }
  friend constexpr SymBool operator>(SymInt a, SymInt b) noexcept { return a.value_ > b.value_; }
  friend constexpr SymBool operator>=(SymInt a, SymInt b) noexcept { return a.value_ >= b.value_; }

 private:
  std::int64_t value_ = 0;
};

/// Decimal text of `n`.
std::string to_string(SymInt n);

}  // namespace oriel

template <>
struct std::hash<oriel::SymInt> {
  std::size_t operator()(oriel::SymInt n) const noexcept { return std::hash<std::int64_t>{}(n.value()); }
};
