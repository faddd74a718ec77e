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

// snippet BlockTree:

/// Pairs the values of a reduction's blocks like the digits of a binary counter. `waiting` has room for a value of each
/// level. combine(a, b) sets b to the combination of a and b.
class BlockTree {
 public:
  void clear() {
    blocks_ = 0;
    depth_ = 0;
  }
  bool empty() const { return depth_ == 0; }
  template <class V, class Combine>
  void add(V* waiting, V& value, Combine combine) {
    for (std::int64_t b = blocks_++; b % 2 != 0; b /= 2) combine(waiting[--depth_], value);
    waiting[depth_++] = value;
  }
  /// Combines what waits with a value behind it, those of fewest blocks first.
  template <class V, class Combine>
  void join(const V* waiting, V& value, Combine combine) {
    while (depth_ > 0) combine(waiting[--depth_], value);
  }
  /// The combination of all. There is one at least.
  template <class V, class Combine>
  void take(const V* waiting, V& value, Combine combine) {
    value = waiting[--depth_];
    join(waiting, value, combine);
  }

 private:
  std::int64_t blocks_ = 0;
  int depth_ = 0;
};

/// Combines two values by F.
template <class F>
struct CombineBy {
  template <class V>
  void operator()(const V& a, V& b) const {
    b = F::of(a, b);
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops
