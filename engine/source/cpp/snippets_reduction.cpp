// The order of reductions. ops/functions/reduce.hpp says how they combine values.
#include "source/cpp/snippets.hpp"

namespace oriel::source::cpp {
namespace {

constexpr Snippet kReductionSnippets[] = {
    {"order", "", R"src(
// The order of every reduction. Value r goes to lane r % kOrder of its block of kBlock values. At the end of a block its
// lanes are halved down to one value. Blocks are paired like the digits of a binary counter. At the end the remaining values
// are combined, those of fewest blocks first.
constexpr Int kOrder = 32;
constexpr Int kBlock = 1024;
)src"},
    {"RowReduction", "order at ", R"src(
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
    blocks_ = 0;
    depth_ = 0;
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
    if (depth_ == 0) return F::template identity<T>();
    T value = waiting_[--depth_];
    while (depth_ > 0) value = F::of(waiting_[--depth_], value);
    return value;
  }

  // For a caller that gathers lanes itself: the lanes of the current block, then the number of values that they took. These
  // values must end in the block.
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
    {"each_ordered", "order Packet ", R"src(
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
)src"},
    {"Gathered", "RowReduction each_ordered ", R"src(
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
)src"},
    {"GatheredExtreme", "Gathered ", R"src(
/// The same for the largest or smallest value. NaNs are gathered separately, so that each step depends on one instruction
/// of the step before.
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
)src"},
    {"ColumnReduction", "order at vector_loop ", R"src(
/// Reduces n columns side by side, one row of values after the other. For at most 2^kLevels - 1 blocks.
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

  // Inside the loop that adds it would cost a fourth of the loop's time.
  [[gnu::noinline]] void end_full_block(Int n) { end_block(n); }

  // Lanes without a value would hold the identity, which changes nothing, so they are skipped.
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
    {"ProductOrder", "", R"src(
/// The order in which a contraction adds products. `block` is 0 if it is that of every other sum. Otherwise `block` products
/// are added one after the other, then such blocks, and at last segments of them.
struct ProductOrder {
  Int block;
  Int segment;
};
/// What an operand does along a loop: what each step adds to the position, and the steps at which there is an element.
struct Walk {
  Int extent;
  Int step;
  Int lo;
  Int hi;
};
/// A factor's loops: first those that are summed, then the rows (or columns), then the batches.
struct Factor {
  const Walk* loops;
  int summed;
  int own;
  int all;
  bool load;  // is it an element in memory, and nothing else?
};
/// The step if loops [from, to) walk evenly.
[[maybe_unused]] inline bool even_step(const Walk* loops, int from, int to, Int& step) {
  step = 0;
  Int extent = 1;
  for (int d = to; d-- > from;) {
    if (loops[d].extent == 1) continue;
    if (extent == 1) {
      step = loops[d].step;
    } else if (loops[d].step != step * extent) {
      return false;
    }
    extent *= loops[d].extent;
  }
  return true;
}
/// Rows, columns and depth of the product, and its factors, whose loads may be several (`turned`).
[[maybe_unused]] inline ProductOrder product_order(Int batches, Int rows, Int columns, Int depth, Factor left, Factor right,
                                                   bool left_turned, bool right_turned, bool windows, Int bytes) {
  if (!windows && columns * bytes < 64 && rows > columns) {
    const Int points = rows;
    rows = columns;
    columns = points;
    right = left;
    right_turned = left_turned;
  }
  static_cast<void>(left_turned);
  const double products = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
  if (depth < 2 || products < 4096 || (rows < 2 && columns < 2)) return {0, depth};
  if (!windows && rows == 1) {
    Int step = 0;
    Int row = 0;
    bool memory = right.load && even_step(right.loops, 0, right.summed, step) &&
                  even_step(right.loops, right.summed, right.summed + right.own, row);
    for (int d = 0; d < right.all; ++d) memory = memory && right.loops[d].lo <= 0 && right.loops[d].hi >= right.loops[d].extent;
    if (memory && step == 1 && row != 1) return {0, depth};
    if (!(memory && row == 1) && (columns < 64 || right_turned)) return {0, depth};
  }
  const Int blocks = (depth + 383) / 384;
  const Int block = (depth + blocks - 1) / blocks;
  ProductOrder order{block, depth};
  if (windows || depth <= 8192) return order;
  const Int tiles = batches * ((rows + 255) / 256) * ((columns + 511) / 512);
  Int segments = 64 / tiles;
  if (depth / 4096 < segments) segments = depth / 4096;
  if ((Int{4} << 20) / (batches * rows * columns) < segments) segments = (Int{4} << 20) / (batches * rows * columns);
  if (segments < 2) return order;
  const Int least = (depth + segments - 1) / segments;
  order.segment = (least + block - 1) / block * block;
  return order;
}
)src"},
};

}  // namespace

std::span<const Snippet> reduction_snippets() { return kReductionSnippets; }

}  // namespace oriel::source::cpp
