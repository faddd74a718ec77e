// Lists as arguments.
#pragma once

#include <initializer_list>
#include <span>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// A list that a function is given: in braces, a std::vector, a std::array, a std::span. It refers to the elements, so
/// it is a parameter, and not a variable.
///   concat({a, b});
///   concat(std::vector<Tensor>{a, b});
template <class T>
class ListOf : public std::span<const T> {
 public:
  /// From what a span of constant elements is made of.
  using std::span<const T>::span;
  /// Of elements that live elsewhere.
  ListOf(std::span<const T> list) noexcept : std::span<const T>(list) {}  // NOLINT(google-explicit-constructor)
  /// Of elements in braces.
  ListOf(std::initializer_list<T> list) noexcept : std::span<const T>(list.begin(), list.size()) {}
};

}  // namespace oriel
