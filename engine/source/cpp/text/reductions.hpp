// The order of reductions. ops/functions/reduce.hpp says how they combine values.
#pragma once

#include "ops/functions/reduce.hpp"
#include "ops/functions/reduction_order.hpp"
#include "source/cpp/text/tile.hpp"

namespace oriel::source::cpp::text {
namespace {

using ops::BlockTree, ops::CombineBy, ops::reduction::kBlock, ops::reduction::kOrder;

// snippet RowReduction: order at BlockTree

/// The number of elements for which there is room.
template <class X>
struct Room : std::integral_constant<Int, kOrder> {};
template <class T, int N>
struct Room<Values<T, N>> : std::integral_constant<Int, N> {};

/// Reduces values that come one after the other.
template <class F, class T>
class RowReduction {
 public:
  void reset() {
    count_ = 0;
    tree_.clear();
  }

  /// Adds the first n elements of x.
  template <class X>
  void add(const X& x, Int n) {
    for (Int k = 0; k < n;) {
      if (count_ == 0) {
        for (Int l = 0; l < kOrder; ++l) lane_[l] = F::template identity<T>();
      }
      const Int run = n - k < kBlock - count_ ? n - k : kBlock - count_;
      Int i = 0;
      for (; i < run && (count_ + i) % kOrder != 0; ++i) put((count_ + i) % kOrder, at(x, k + i));
      if constexpr (Room<X>::value >= kOrder) {
        T lane[kOrder];
        for (Int l = 0; l < kOrder; ++l) lane[l] = lane_[l];
        for (; i + kOrder <= run; i += kOrder) {
          for (Int l = 0; l < kOrder; ++l) lane[l] = F::of(lane[l], at(x, k + i + l));
        }
        for (Int l = 0; l < kOrder; ++l) lane_[l] = lane[l];
      }
      for (; i < run; ++i) put((count_ + i) % kOrder, at(x, k + i));
      k += run;
      count_ += run;
      if (count_ == kBlock) end_block();
    }
  }

  T result() {
    if (count_ > 0) end_block();
    T value = F::template identity<T>();
    if (!tree_.empty()) tree_.take(waiting_, value, CombineBy<F>());
    return value;
  }

  // For a caller that gathers lanes itself: the lanes of the current block, then the number of values that they took.
  // These values must end in the block.
  T* lanes() {
    if (count_ == 0) {
      for (Int l = 0; l < kOrder; ++l) lane_[l] = F::template identity<T>();
    }
    return lane_;
  }
  void took(Int n) {
    count_ += n;
    if (count_ == kBlock) end_block();
  }
  void put(Int l, T x) { lane_[l] = F::of(lane_[l], x); }

 private:
  void end_block() {
    for (Int half = kOrder / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half; ++l) put(l, lane_[l + half]);
    }
    tree_.add(waiting_, lane_[0], CombineBy<F>());
    count_ = 0;
  }

  T lane_[kOrder];
  T waiting_[64];
  Int count_ = 0;  // in this block
  BlockTree tree_;
};

// snippet each_ordered: order Packet

/// The packet of a reduction's lanes to which a value belongs: Group if the compiler knows it, else Rest.
template <int k>
struct Group {};
struct Rest {};

template <int k, class F>
[[gnu::always_inline]] inline void each_group(F& step, Int at) {
  step(All(), at + k * kLanes, Group<k>());
  if constexpr ((k + 1) * kLanes < kOrder) each_group<k + 1>(step, at);
}
/// Calls step(number of lanes in use, first lane, group) over n elements that begin with lane 0 of a reduction. Calls
/// `give` after the last whole group, where reductions leave the registers.
template <class F, class G>
[[gnu::always_inline]] inline void each_ordered(Int n, F step, G give) {
  Int k = 0;
  for (; k + kOrder <= n; k += kOrder) each_group<0>(step, k);
  give();
  for (; k + kLanes <= n; k += kLanes) step(All(), k, Rest());
  if (k < n) step(n - k, k, Rest());
}

// snippet Gathered: RowReduction each_ordered

/// The lanes of a row reduction in registers.
template <class F>
struct Gathered {
  Packet lane[kOrder / kLanes];
  template <class R>
  [[gnu::always_inline]] void take(R& r) {
    std::memcpy(lane, r.lanes(), sizeof lane);
  }
  template <class R>
  [[gnu::always_inline]] void give(R& r) {
    std::memcpy(r.lanes(), lane, sizeof lane);
  }
  template <class R, int k>
  [[gnu::always_inline]] void add(R&, const Packet& x, All, Int, Group<k>) {
    lane[k] = F::packets(lane[k], x);
  }
  template <class R>
  [[gnu::always_inline]] void add(R& r, const Packet& x, Int used, Int at, Rest) {
    for (Int l = 0; l < used; ++l) r.put(at % kOrder + l, x[l]);
  }
};

// snippet GatheredExtreme: Gathered

/// The same for the largest or smallest value. NaNs are gathered separately, so that each step depends on one
/// instruction of the step before.
template <class F>
struct GatheredExtreme : Gathered<F> {
  Packet odd[kOrder / kLanes];
  template <class R>
  [[gnu::always_inline]] void take(R& r) {
    Gathered<F>::take(r);
    std::memcpy(odd, this->lane, sizeof odd);
  }
  template <class R>
  [[gnu::always_inline]] void give(R& r) {
    for (int k = 0; k < kOrder / kLanes; ++k) this->lane[k] = odd[k] != odd[k] ? odd[k] : this->lane[k];
    Gathered<F>::give(r);
  }
  using Gathered<F>::add;
  template <class R, int k>
  [[gnu::always_inline]] void add(R&, const Packet& x, All, Int, Group<k>) {
    this->lane[k] = F::packets(this->lane[k], x);
    odd[k] = x == x ? odd[k] : x;
  }
};

// snippet ColumnReduction: order at vector_loop BlockTree

/// Reduces n columns side by side, one row of values after the other. For at most 2^kLevels - 1 blocks.
template <class F, class T, int N, int kLevels>
class ColumnReduction {
 public:
  void reset() {
    count_ = 0;
    tree_.clear();
  }

  template <class X>
  void add(const X& x, Int n) {
    add_to_block(x, n);
    if (count_ == kBlock) end_full_block(n);
  }
  /// The same where one block takes all values.
  template <class X>
  void add_to_block(const X& x, Int n) {
    Values<T, N>& lane = lane_[count_ % kOrder];
    if (count_ < kOrder) {
      join(lane, F::template identity<T>(), x, n);
    } else {
      join(lane, lane, x, n);
    }
    ++count_;
  }

  void result(Values<T, N>& value, Int n) {
    if (count_ > 0) end_block(n);
    if (tree_.empty()) {
      for (Int k = 0; k < n; ++k) value[k] = F::template identity<T>();
      return;
    }
    tree_.take(waiting_, value, [n](const Values<T, N>& a, Values<T, N>& b) { join(b, a, b, n); });
  }

 private:
  template <class A, class B>
  static void join(Values<T, N>& y, const A& a, const B& b, Int n) {
    ORIEL_VECTOR_LOOP
    for (Int k = 0; k < n; ++k) y[k] = F::of(at(a, k), at(b, k));
  }

  // Inside the loop that adds it would cost a fourth of the loop's time.
  [[gnu::noinline]] void end_full_block(Int n) { end_block(n); }

  // Lanes without a value would hold the identity, which changes nothing, so they are skipped.
  void end_block(Int n) {
    for (Int half = kOrder / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half && l + half < count_; ++l) join(lane_[l], lane_[l], lane_[l + half], n);
    }
    tree_.add(waiting_, lane_[0], [n](const Values<T, N>& a, Values<T, N>& b) { join(b, a, b, n); });
    count_ = 0;
  }

  Values<T, N> lane_[kOrder];
  Values<T, N> waiting_[kLevels];
  Int count_ = 0;  // in this block
  BlockTree tree_;
};

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text
