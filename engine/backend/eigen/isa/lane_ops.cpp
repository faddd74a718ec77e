// Products of small matrices that lie side by side: element e of sixteen matrices is one row of sixteen lanes.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "backend/eigen/isa/lane_table.hpp"
#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// Part of a row of lanes: a whole register, or the row where it is shorter.
template <class T>
constexpr int kPartBytes = std::min(static_cast<int>(kSmallLanes * sizeof(T)), kVectorBytes);
template <class T>
using LanePart = Vector<T, kPartBytes<T>>;

template <class T>
LanePart<T> lanes_at(const T* p) {
  return load<T, kPartBytes<T>>(p);
}

/// Results that are computed together. The sums of a result are kept on up to five levels, so few results fit the
/// registers.
constexpr int kResultsTogether = kVectorBytes == 64 ? 4 : 2;

/// A row of the left factor and the first of `Columns` columns of the right one.
template <class T>
struct SmallRow {
  const T* a;
  const T* b;
  std::int64_t a_step, b_step, b_column;  // in elements
  std::int64_t depth;
};

/// The sum of every kLanes-th product from `lane` on, in order.
template <class T, int Columns, int Depth>
struct SmallLane {
  const SmallRow<T>& q;
  __attribute__((always_inline)) void operator()(std::int64_t lane, LanePart<T> (&sum)[Columns]) const {
    const T* a = q.a + lane * q.a_step;
    const T* b = q.b + lane * q.b_step;
    const auto x = lanes_at(a);
    ORIEL_UNROLL
    for (int k = 0; k < Columns; ++k) sum[k] = x * lanes_at(b + k * q.b_column);
    if constexpr (Depth == 0) {
      for (std::int64_t p = lane + kLanes; p < q.depth; p += kLanes) {
        a += kLanes * q.a_step;
        b += kLanes * q.b_step;
        const auto y = lanes_at(a);
        ORIEL_UNROLL
        for (int k = 0; k < Columns; ++k) sum[k] = sum[k] + y * lanes_at(b + k * q.b_column);
      }
    }
  }
};

/// Integers: every order gives the same result.
template <class T, int Columns>
void sum_in_turn(const SmallRow<T>& q, LanePart<T> (&sum)[Columns]) {
  ORIEL_UNROLL
  for (int k = 0; k < Columns; ++k) sum[k] = LanePart<T>{};
  for (std::int64_t p = 0; p < q.depth; ++p) {
    const auto x = lanes_at(q.a + p * q.a_step);
    ORIEL_UNROLL
    for (int k = 0; k < Columns; ++k) sum[k] = sum[k] + x * lanes_at(q.b + p * q.b_step + k * q.b_column);
  }
}

template <class T, int Columns, int Depth>
void small_results(const SmallRow<T>& q, T* out) {
  LanePart<T> sum[Columns];
  if constexpr (std::is_floating_point_v<T>) {
    join_vectors<Sum, Depth>(q.depth, SmallLane<T, Columns, Depth>{q}, sum);
    // Lanes begin at 0. Adding it turns a sum of -0 alone into 0, as the fixed order does.
    const LanePart<T> zero{};
    ORIEL_UNROLL
    for (int k = 0; k < Columns; ++k) sum[k] = sum[k] + zero;
  } else {
    sum_in_turn<T, Columns>(q, sum);
  }
  ORIEL_UNROLL
  for (int k = 0; k < Columns; ++k) std::memcpy(out + k * kSmallLanes, &sum[k], sizeof sum[k]);
}

template <class T, int Depth>
void multiply_small(const SmallProducts& s) {
  for (int part = 0; part < kSmallLanes; part += kPartBytes<T> / static_cast<int>(sizeof(T))) {
    SmallRow<T> q;
    q.a_step = s.a_step * kSmallLanes;
    q.b_step = s.b_step * kSmallLanes;
    q.b_column = s.b_column * kSmallLanes;
    q.depth = s.depth;
    T* out = static_cast<T*>(s.out) + part;
    for (std::int64_t i = 0; i < s.rows; ++i) {
      q.a = static_cast<const T*>(s.a) + part + i * s.a_row * kSmallLanes;
      q.b = static_cast<const T*>(s.b) + part;
      std::int64_t j = 0;
      for (; j + kResultsTogether <= s.columns;
           j += kResultsTogether, out += kResultsTogether * kSmallLanes, q.b += kResultsTogether * q.b_column)
        small_results<T, kResultsTogether, Depth>(q, out);
      for (; j < s.columns; ++j, out += kSmallLanes, q.b += q.b_column) small_results<T, 1, Depth>(q, out);
    }
  }
}

template <class T>
void multiply_any_depth(const SmallProducts& s) {
  if constexpr (std::is_floating_point_v<T> && !kPlain) {
    if (s.depth == 2) return multiply_small<T, 2>(s);
    if (s.depth == 3) return multiply_small<T, 3>(s);
    if (s.depth == 4) return multiply_small<T, 4>(s);
  }
  multiply_small<T, 0>(s);
}

// --- into lanes and back ---------------------------------------------------------------------------------------------

/// Copies elements between lanes and rows of lanes: dst[e * kSmallLanes + lane] = src[lane * matrix + e], or the other
/// way.
template <class T, bool kInto>
struct LaneCopy {
  T* dst;
  const T* src;
  std::int64_t matrix;

  static std::int64_t row(std::int64_t e, std::int64_t lane) { return e * kSmallLanes + lane; }
  std::int64_t in_matrix(std::int64_t e, std::int64_t lane) const { return lane * matrix + e; }

  template <int Side>
  void squares_at(std::int64_t e) const {
    for (int lane = 0; lane < kSmallLanes; lane += Side) {
      if constexpr (kInto)
        transpose_square<Side>(dst + row(e, lane), kSmallLanes, src + in_matrix(e, lane), matrix);
      else
        transpose_square<Side>(dst + in_matrix(e, lane), matrix, src + row(e, lane), kSmallLanes);
    }
  }
  /// The last square ends with the last element, so it may do again what the one before did.
  template <int Side>
  void squares(std::int64_t elements) const {
    for (std::int64_t e = 0; e + Side <= elements; e += Side) squares_at<Side>(e);
    if (elements % Side != 0) squares_at<Side>(elements - Side);
  }
  void run(std::int64_t elements) const {
    constexpr int side = kSide<T>;
    if (elements >= side) return squares<side>(elements);
    if constexpr (side > 4) {
      if (elements >= 4) return squares<4>(elements);
    }
    for (std::int64_t e = 0; e < elements; ++e) {
      ORIEL_UNROLL
      for (int lane = 0; lane < kSmallLanes; ++lane)
        dst[kInto ? row(e, lane) : in_matrix(e, lane)] = src[kInto ? in_matrix(e, lane) : row(e, lane)];
    }
  }
};

template <class T, bool kInto>
void copy_lanes(void* dst, const void* src, std::int64_t matrix, std::int64_t elements) {
  LaneCopy<T, kInto>{static_cast<T*>(dst), static_cast<const T*>(src), matrix}.run(elements);
}

// --- matrices of 2 x 2 -----------------------------------------------------------------------------------------------

/// Elements kElements of each of the 2 x 2 matrices in a register.
template <int... kElements, class V, std::size_t... I>
V chosen(V x, std::index_sequence<I...>) {
  constexpr int element[] = {kElements...};
  return __builtin_shufflevector(x, x, static_cast<int>(I / 4 * 4) + element[I % 4]...);
}

template <class T>
void two_by_two(void* to, const void* left, const void* right, std::int64_t count) {
  constexpr int matrices = kSize<T> / 4;
  constexpr std::make_index_sequence<kSize<T>> all;
  T* out = static_cast<T*>(to);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  const Vector<T> zero{};
  for (; count >= matrices; count -= matrices, a += kSize<T>, b += kSize<T>, out += kSize<T>) {
    const Vector<T> x = load(a), y = load(b);
    const Vector<T> first = chosen<0, 0, 2, 2>(x, all) * chosen<0, 1, 0, 1>(y, all);
    const Vector<T> second = chosen<1, 1, 3, 3>(x, all) * chosen<2, 3, 2, 3>(y, all);
    // Sums begin at 0, so a sum of -0 alone is 0.
    store(out, first + second + zero);
  }
  for (; count > 0; --count, a += 4, b += 4, out += 4) {
    for (int i = 0; i < 4; i += 2)
      for (int j = 0; j < 2; ++j) out[i + j] = a[i] * b[j] + a[i + 1] * b[j + 2] + T(0);
  }
}

template <class T, int kSide, bool kApart>
void vector_by_square(void* to, const void* vectors, const void* squares, std::int64_t count) {
  T* const out = static_cast<T*>(to);
  const T* const vector = static_cast<const T*>(vectors);
  const T* const square = static_cast<const T*>(squares);
  ORIEL_VECTOR_LOOP
  for (std::int64_t m = 0; m < count; ++m) {
    const T* const a = vector + m * kSide;
    const T* const b = square + m * kSide * kSide;
    T sum[kSide];
    for (int j = 0; j < kSide; ++j) {
      T lane[kMostInPlace] = {};
      for (int p = 0; p < kSide; ++p) lane[p] += a[p] * b[kApart ? p * kSide + j : j * kSide + p];
      sum[j] = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    }
    for (int j = 0; j < kSide; ++j) out[m * kSide + j] = sum[j];
  }
}

template <class T, int kSide>
void add_squares(LaneTable& t, int of) {
  t.vector_by_square[kSide][0][of] = vector_by_square<T, kSide, false>;
  t.vector_by_square[kSide][1][of] = vector_by_square<T, kSide, true>;
  if constexpr (kSide > 2) add_squares<T, kSide - 1>(t, of);
}

template <class T>
void add_small_products(LaneTable& t, std::initializer_list<int> dtypes) {
  for (const int dtype : dtypes) t.multiply[dtype] = multiply_any_depth<T>;
}

}  // namespace

void fill_lanes(LaneTable& table);

void fill_lanes(LaneTable& table) {
  add_small_products<float>(table, {kDTypeIndex<float>});
  if constexpr (!kFew) {
    add_small_products<double>(table, {kDTypeIndex<double>});
    // Products and sums wrap, so unsigned arithmetic serves both signs.
    add_small_products<std::uint8_t>(table, {kDTypeIndex<std::uint8_t>, kDTypeIndex<std::int8_t>});
    add_small_products<std::uint16_t>(table, {kDTypeIndex<std::uint16_t>, kDTypeIndex<std::int16_t>});
    add_small_products<std::uint32_t>(table, {kDTypeIndex<std::uint32_t>, kDTypeIndex<std::int32_t>});
    add_small_products<std::uint64_t>(table, {kDTypeIndex<std::uint64_t>, kDTypeIndex<std::int64_t>});
    table.two_by_two[0] = two_by_two<float>;
    if constexpr (kVectorBytes >= 32) table.two_by_two[1] = two_by_two<double>;
    add_squares<float, kMostInPlace>(table, 0);
    add_squares<double, kMostInPlace>(table, 1);
  }
  table.into_lanes[0] = copy_lanes<std::uint32_t, true>;
  table.into_lanes[1] = copy_lanes<std::uint64_t, true>;
  table.out_of_lanes[0] = copy_lanes<std::uint32_t, false>;
  table.out_of_lanes[1] = copy_lanes<std::uint64_t, false>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
