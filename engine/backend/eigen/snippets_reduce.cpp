// Reductions.
#include "backend/eigen/snippets.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr Snippet kSnippets[] = {
    {"Sum", "Add ", R"src(
struct Sum : Add {
  template <class T>
  static T identity() {
    return T(0);
  }
};
)src"},
    {"Prod", "Mul ", R"src(
struct Prod : Mul {
  template <class T>
  static T identity() {
    return T(1);
  }
};
)src"},
    {"Largest", "Max ", R"src(
struct Largest : Max {
  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
)src"},
    {"Smallest", "Min ", R"src(
struct Smallest : Min {
  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};
)src"},
    {"Any", "Or ", R"src(
struct Any : Or {
  template <class T>
  static T identity() {
    return T(0);
  }
};
)src"},
    {"Every", "And ", R"src(
struct Every : And {
  template <class T>
  static T identity() {
    return T(1);
  }
};
)src"},
    {"order", "", R"src(
// The order of every reduction, whatever runs it: value r goes to lane r % kOrder of its block of kBlock values; a block's
// lanes are halved down to one; blocks pair up like the digits of a binary counter; what is left is joined from the smallest up.
constexpr Int kOrder = 16;
constexpr Int kBlock = 1024;
)src"},
    {"RowReduction", "order at ", R"src(
/// Reduces values that come one after the other.
template <class F, class T>
class RowReduction {
 public:
  void reset() {
    count_ = 0;
    blocks_ = 0;
    depth_ = 0;
  }

  /// The first n elements of x.
  template <class X>
  void add(const X& x, Int n) {
    for (Int k = 0; k < n;) {
      if (count_ == 0) {
        for (Int l = 0; l < kOrder; ++l) lane_[l] = F::template identity<T>();
      }
      const Int run = n - k < kBlock - count_ ? n - k : kBlock - count_;
      Int i = 0;
      for (; i < run && (count_ + i) % kOrder != 0; ++i) put((count_ + i) % kOrder, at(x, k + i));
      T lane[kOrder];
      for (Int l = 0; l < kOrder; ++l) lane[l] = lane_[l];
      for (; i + kOrder <= run; i += kOrder) {
        for (Int l = 0; l < kOrder; ++l) lane[l] = F::of(lane[l], at(x, k + i + l));
      }
      for (Int l = 0; l < kOrder; ++l) lane_[l] = lane[l];
      for (; i < run; ++i) put((count_ + i) % kOrder, at(x, k + i));
      k += run;
      count_ += run;
      if (count_ == kBlock) end_block();
    }
  }

  T result() {
    if (count_ > 0) end_block();
    if (depth_ == 0) return F::template identity<T>();
    T value = waiting_[--depth_];
    while (depth_ > 0) value = F::of(waiting_[--depth_], value);
    return value;
  }

 private:
  void put(Int l, T x) { lane_[l] = F::of(lane_[l], x); }

  void end_block() {
    for (Int half = kOrder / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half; ++l) put(l, lane_[l + half]);
    }
    T value = lane_[0];
    for (Int b = blocks_; b % 2 != 0; b /= 2) value = F::of(waiting_[--depth_], value);
    waiting_[depth_++] = value;
    ++blocks_;
    count_ = 0;
  }

  T lane_[kOrder];
  T waiting_[64];
  Int count_ = 0;   // in this block
  Int blocks_ = 0;  // before it
  int depth_ = 0;
};
)src"},
    {"ColumnReduction", "order at vector_loop ", R"src(
/// Reduces n values beside each other, which come again and again. At most 2^kLevels - 1 blocks.
template <class F, class T, int N, int kLevels>
class ColumnReduction {
 public:
  void reset() {
    count_ = 0;
    blocks_ = 0;
    depth_ = 0;
  }

  template <class X>
  void add(const X& x, Int n) {
    Values<T, N>& lane = lane_[count_ % kOrder];
    if (count_ < kOrder) {
      join(lane, F::template identity<T>(), x, n);
    } else {
      join(lane, lane, x, n);
    }
    if (++count_ == kBlock) end_block(n);
  }

  void result(Values<T, N>& value, Int n) {
    if (count_ > 0) end_block(n);
    if (depth_ == 0) {
      for (Int k = 0; k < n; ++k) value[k] = F::template identity<T>();
      return;
    }
    value = waiting_[--depth_];
    while (depth_ > 0) join(value, waiting_[--depth_], value, n);
  }

 private:
  template <class A, class B>
  static void join(Values<T, N>& y, const A& a, const B& b, Int n) {
    ORIEL_VECTOR_LOOP
    for (Int k = 0; k < n; ++k) y[k] = F::of(at(a, k), at(b, k));
  }

  // Lanes that no value reached hold the identity, which changes nothing: they are passed over.
  void end_block(Int n) {
    for (Int half = kOrder / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half && l + half < count_; ++l) join(lane_[l], lane_[l], lane_[l + half], n);
    }
    for (Int b = blocks_; b % 2 != 0; b /= 2) join(lane_[0], waiting_[--depth_], lane_[0], n);
    waiting_[depth_++] = lane_[0];
    ++blocks_;
    count_ = 0;
  }

  Values<T, N> lane_[kOrder];
  Values<T, N> waiting_[kLevels];
  Int count_ = 0;   // in this block
  Int blocks_ = 0;  // before it
  int depth_ = 0;
};
)src"},
};

}  // namespace

std::span<const Snippet> reduce_snippets() { return kSnippets; }

}  // namespace oriel::backend::eigen
