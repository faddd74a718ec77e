// Reductions: a functor that combines two values, with the value of no elements. As element.hpp: compiled for each
// instruction set, and text of rendered sources.
#pragma once

#include "ops/functions/element.hpp"

namespace oriel::ops {
namespace {

// snippet Zero:

struct Zero {
  template <class T>
  static constexpr T of() {
    return T(0);
  }
};

// snippet One:

struct One {
  template <class T>
  static constexpr T of() {
    return T(1);
  }
};

// snippet Ones:

/// All bits set.
struct Ones {
  template <class T>
  static constexpr T of() {
    return static_cast<T>(~T(0));
  }
};

// snippet Lowest:

struct Lowest {
  template <class T>
  static constexpr T of() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};

// snippet Highest:

struct Highest {
  template <class T>
  static constexpr T of() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

// snippet Reduce:

/// A reduction: F combines two values, Identity is the value of none.
template <class F, class Identity>
struct Reduce : F {
  using Combination = F;
  template <class T>
  static constexpr T identity() {
    return Identity::template of<T>();
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops
