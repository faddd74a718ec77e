// Arguments of operations: the axes to work on, and whether reduced axes are kept.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/shape.hpp"
#include "oriel/site.hpp"

namespace ORIEL_API oriel {

class Tensor;

/// The axes of an operation: one, a list, or all (the default). Negative axes count from the last.
class Axes {
 public:
  Axes() = default;  ///< all
  /// One axis.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(T axis)  // NOLINT(google-explicit-constructor)
      : list_{SymInt(axis)}, all_(false) {}
  /// A list of axes, in any order.
  /// @{
  Axes(std::initializer_list<SymInt> axes) : list_(axes), all_(false) {}
  Axes(Ints axes) : list_(std::move(axes)), all_(false) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(const std::vector<T>& axes)  // NOLINT(google-explicit-constructor)
      : list_(axes), all_(false) {}
  /// @}
  // clang-format off
  /// Do not compile.
  /// @{
  template <std::same_as<Tensor> T> Axes(const T&) { static_assert(detail::kNever<T>, "axes are numbers: x.max(0). The larger one of two is maximum(x, y), the smaller one minimum(x, y)"); }  // NOLINT(google-explicit-constructor)
  /// @}
  // clang-format on

  /// The list, or null for all axes. An empty list means no axis.
  const Ints* list() const noexcept { return all_ ? nullptr : &list_; }

 private:
  Ints list_;
  bool all_ = true;
};

/// Does a reduction keep the reduced axes, with extent 1? A bool. A number does not compile: sum(x, 0, 1) looks like a
/// sum over two axes, which is sum(x, {0, 1}).
class KeepDim {
 public:
  /// Keep them?
  template <std::same_as<bool> T>
  constexpr KeepDim(T keep) noexcept : keep_(keep) {}  // NOLINT(google-explicit-constructor)
  /// Does not compile.
  template <detail::PlainNumber T>
  KeepDim(T) noexcept {  // NOLINT(google-explicit-constructor)
    static_assert(
        detail::kNever<T>,
        "keepdim is a bool: sum(x, {0, 1}) reduces two axes, sum(x, 0, true) one that it keeps with extent 1");
  }
  /// Are they kept?
  constexpr operator bool() const noexcept { return keep_; }  // NOLINT(google-explicit-constructor)

 private:
  bool keep_ = false;
};

namespace detail {
/// The result of what does not compile, which passes for anything, so that the compiler says one thing.
struct Nothing {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
  Nothing operator*() const { return {}; }
  Nothing operator++() const { return {}; }
  bool operator!=(Nothing) const { return false; }
};
/// A position along an axis, or a size, with the line of the program that named it: the index in x[2].
struct Position {
  SymInt value;                                                  ///< negative: counted from the end
  Site site;                                                     ///< the line
  Position(SymInt position, Site where = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : value(position), site(where) {}
  template <Integer T>
  Position(T position, Site where = Site::here())  // NOLINT(google-explicit-constructor)
      : value(position), site(where) {}
};
}  // namespace detail

}  // namespace oriel
