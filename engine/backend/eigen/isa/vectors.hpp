// Vectors as the compiler's own types, and operations on them.
#pragma once

#include "backend/eigen/isa/level.hpp"
#include "ops/functions/vector_sums.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using ops::transpose_square;

/// A register of elements, or a part of one.
template <class T, int kBytes = kVectorBytes>
using Vector = typename ops::VectorOf<T, kBytes>::type;
template <class T>
constexpr int kSize = kVectorBytes / static_cast<int>(sizeof(T));

/// The side of squares of 4-byte and 8-byte elements for which every level has registers.
template <class T>
constexpr int kSide = (kVectorBytes < 32 ? kVectorBytes : 32) / static_cast<int>(sizeof(T));

template <class T, int kBytes = kVectorBytes>
Vector<T, kBytes> load(const T* p) {
  Vector<T, kBytes> x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
template <class T, class V>
void store(T* p, const V& x) {
  std::memcpy(p, &x, sizeof x);
}

struct Sum {
  template <class V>
  static V of(const V& a, const V& b) {
    return a + b;
  }
};
struct Difference {
  template <class V>
  static V of(const V& a, const V& b) {
    return a - b;
  }
};
struct Product {
  template <class V>
  static V of(const V& a, const V& b) {
    return a * b;
  }
};
struct Quotient {
  template <class V>
  static V of(const V& a, const V& b) {
    return a / b;
  }
};
// Max and Min of ops/functions/element.hpp for whole vectors: the second operand if both are equal, NaN if either is
// NaN.
struct Largest {
  template <class V>
  static V of(const V& a, const V& b) {
    const V larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct Least {
  template <class V>
  static V of(const V& a, const V& b) {
    const V smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
/// Combines lanes kLane, kLane + kStep, ... of the order of reductions by halves: `lane`(l, values) gives the values of
/// lane l. Lanes from `count` on are skipped: they would only add the identity. kCount is the count if it is known
/// here, else 0.
template <class F, int kCount = 0, int kLane = 0, int kStep = 1, class Lane, class V, int kValues>
__attribute__((always_inline)) inline void join_vectors(std::int64_t count, const Lane& lane, V (&values)[kValues]) {
  if constexpr (kStep == kLanes) {
    lane(kLane, values);
  } else {
    join_vectors<F, kCount, kLane, 2 * kStep>(count, lane, values);
    if constexpr (kCount == 0 || kLane + kStep < kCount) {
      if (kCount != 0 || kLane + kStep < count) {
        V upper[kValues];
        join_vectors<F, kCount, kLane + kStep, 2 * kStep>(count, lane, upper);
        ORIEL_UNROLL
        for (int k = 0; k < kValues; ++k) values[k] = F::of(values[k], upper[k]);
      }
    }
  }
}

/// F with its operands exchanged.
template <class F>
struct Swapped {
  template <class V>
  static V of(const V& a, const V& b) {
    return F::of(b, a);
  }
};

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
