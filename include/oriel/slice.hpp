// Slices: Python's start:stop:step.
#pragma once

#include <concepts>
#include <cstdint>

#include "oriel/api.hpp"
#include "oriel/symint.hpp"

namespace ORIEL_API oriel {

/// An end of a Slice, or none. As std::optional<SymInt>, which converts to it.
class SliceEnd {
 public:
  /// None.
  constexpr SliceEnd() noexcept = default;
  /// A position.
  /// @{
  constexpr SliceEnd(SymInt position) noexcept  // NOLINT(google-explicit-constructor)
      : position_(position), given_(true) {}
  template <detail::Integer T>
  constexpr SliceEnd(T position) : SliceEnd(SymInt(position)) {}  // NOLINT(google-explicit-constructor)
  /// @}
  /// What an optional holds.
  template <class Optional>
  requires requires(const Optional& other) {
    { *other } -> std::convertible_to<SymInt>;
    other.has_value();
  }
  constexpr SliceEnd(const Optional& other) {  // NOLINT(google-explicit-constructor)
    if (other.has_value()) *this = SliceEnd(SymInt(*other));
  }

  constexpr bool has_value() const noexcept { return given_; }          ///< is a position given?
  constexpr explicit operator bool() const noexcept { return given_; }  ///< is a position given?
  constexpr SymInt operator*() const noexcept { return position_; }     ///< the position, if one is given
  /// The position, or `other` if none is given.
  constexpr SymInt value_or(SymInt other) const noexcept { return given_ ? position_ : other; }

 private:
  SymInt position_;
  bool given_ = false;
};

/// Python's start:stop:step along one axis. Negative positions count from the end. Positions beyond the axis are
/// clamped to it. A negative step runs backwards. `Slice{}` is the whole axis, `Slice{.step = -1}` the axis reversed.
struct Slice {
  SliceEnd start = {};    ///< the first position; by default the first of the axis, or the last for a negative step
  SliceEnd stop = {};     ///< behind the last position; by default the end of the axis
  std::int64_t step = 1;  ///< from position to position; not 0
};

}  // namespace oriel
