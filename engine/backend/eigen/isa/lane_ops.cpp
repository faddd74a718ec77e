// Products of small matrices that lie side by side: element e of sixteen matrices is one row of sixteen lanes.
#include <initializer_list>
#include <utility>

#include "backend/eigen/isa/lane_table.hpp"
#include "backend/eigen/isa/level.hpp"
#include "backend/eigen/isa/squares.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// Part of a row of lanes: a whole register, or the row where it is shorter.
template <class T>
struct LanePart {
  static constexpr int kBytes = static_cast<int>(kSmallLanes * sizeof(T)) < kVectorBytes
                                    ? static_cast<int>(kSmallLanes * sizeof(T))
                                    : kVectorBytes;
  typedef T type __attribute__((vector_size(kBytes)));
  static constexpr int kElements = kBytes / static_cast<int>(sizeof(T));
};

template <class T>
typename LanePart<T>::type lanes_at(const T* p) {
  typename LanePart<T>::type x;
  std::memcpy(&x, p, sizeof x);
  return x;
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
__attribute__((always_inline)) inline void sum_lane(const SmallRow<T>& q, std::int64_t lane,
                                                    typename LanePart<T>::type (&sum)[Columns]) {
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

/// Combines lanes Lane, Lane + Step, ... of the fixed order by halves. Lanes beyond the depth would only add 0. Depth
/// is the depth if it is known here, else 0.
template <class T, int Columns, int Depth, int Lane, int Step>
__attribute__((always_inline)) inline void sum_lanes(const SmallRow<T>& q, typename LanePart<T>::type (&sum)[Columns]) {
  if constexpr (Step == kLanes) {
    sum_lane<T, Columns, Depth>(q, Lane, sum);
  } else {
    sum_lanes<T, Columns, Depth, Lane, 2 * Step>(q, sum);
    if constexpr (Depth == 0 || Lane + Step < Depth) {
      if (Depth != 0 || Lane + Step < q.depth) {
        typename LanePart<T>::type upper[Columns];
        sum_lanes<T, Columns, Depth, Lane + Step, 2 * Step>(q, upper);
        ORIEL_UNROLL
        for (int k = 0; k < Columns; ++k) sum[k] = sum[k] + upper[k];
      }
    }
  }
}

/// Integers: every order gives the same result.
template <class T, int Columns>
void sum_in_turn(const SmallRow<T>& q, typename LanePart<T>::type (&sum)[Columns]) {
  ORIEL_UNROLL
  for (int k = 0; k < Columns; ++k) sum[k] = typename LanePart<T>::type{};
  for (std::int64_t p = 0; p < q.depth; ++p) {
    const auto x = lanes_at(q.a + p * q.a_step);
    ORIEL_UNROLL
    for (int k = 0; k < Columns; ++k) sum[k] = sum[k] + x * lanes_at(q.b + p * q.b_step + k * q.b_column);
  }
}

template <class T, int Columns, int Depth>
void small_results(const SmallRow<T>& q, T* out) {
  typename LanePart<T>::type sum[Columns];
  if constexpr (std::is_floating_point_v<T>) {
    sum_lanes<T, Columns, Depth, 0, 1>(q, sum);
    // Lanes begin at 0. Adding it turns a sum of -0 alone into 0, as the fixed order does.
    const typename LanePart<T>::type zero{};
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
  for (int part = 0; part < kSmallLanes; part += LanePart<T>::kElements) {
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

/// turn(e) for the elements at which squares of `Side` begin. The last square ends with the last element, so it may do
/// again what the one before did.
template <int Side, class Turn>
inline void over_squares(std::int64_t elements, const Turn& turn) {
  for (std::int64_t e = 0; e + Side <= elements; e += Side) turn(e);
  if (elements % Side != 0) turn(elements - Side);
}

template <class T, int Side>
void squares_into(T* dst, const T* src, std::int64_t matrix, std::int64_t elements) {
  over_squares<Side>(elements, [&](std::int64_t e) {
    for (int lane = 0; lane < kSmallLanes; lane += Side)
      transpose_square<Side>(dst + e * kSmallLanes + lane, kSmallLanes, src + lane * matrix + e, matrix);
  });
}
template <class T, int Side>
void squares_out_of(T* dst, std::int64_t matrix, const T* src, std::int64_t elements) {
  over_squares<Side>(elements, [&](std::int64_t e) {
    for (int lane = 0; lane < kSmallLanes; lane += Side)
      transpose_square<Side>(dst + lane * matrix + e, matrix, src + e * kSmallLanes + lane, kSmallLanes);
  });
}

template <class T>
void into_lanes(void* to, const void* from, std::int64_t matrix, std::int64_t elements) {
  T* dst = static_cast<T*>(to);
  const T* src = static_cast<const T*>(from);
  constexpr int side = kSide<T>;
  if (elements >= side) return squares_into<T, side>(dst, src, matrix, elements);
  if constexpr (side > 4) {
    if (elements >= 4) return squares_into<T, 4>(dst, src, matrix, elements);
  }
  for (std::int64_t e = 0; e < elements; ++e) {
    ORIEL_UNROLL
    for (int lane = 0; lane < kSmallLanes; ++lane) dst[e * kSmallLanes + lane] = src[lane * matrix + e];
  }
}
template <class T>
void out_of_lanes(void* to, std::int64_t matrix, const void* from, std::int64_t elements) {
  T* dst = static_cast<T*>(to);
  const T* src = static_cast<const T*>(from);
  constexpr int side = kSide<T>;
  if (elements >= side) return squares_out_of<T, side>(dst, matrix, src, elements);
  if constexpr (side > 4) {
    if (elements >= 4) return squares_out_of<T, 4>(dst, matrix, src, elements);
  }
  for (std::int64_t e = 0; e < elements; ++e) {
    ORIEL_UNROLL
    for (int lane = 0; lane < kSmallLanes; ++lane) dst[lane * matrix + e] = src[e * kSmallLanes + lane];
  }
}

// --- matrices of 2 x 2 -----------------------------------------------------------------------------------------------

/// As many matrices as fill a register.
template <class T>
struct TwoByTwo {
  static constexpr int kMatrices = kVectorBytes / static_cast<int>(4 * sizeof(T));
  typedef T type __attribute__((vector_size(kVectorBytes)));

  static type at(const T* p) {
    type x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  /// Elements k[0] to k[3] of each matrix.
  template <int... kElements, std::size_t... I>
  static type chosen(type x, std::integer_sequence<int, kElements...>, std::index_sequence<I...>) {
    constexpr int element[] = {kElements...};
    return __builtin_shufflevector(x, x, static_cast<int>(I / 4 * 4) + element[I % 4]...);
  }
  template <int... kElements>
  static type chosen(type x) {
    return chosen(x, std::integer_sequence<int, kElements...>(), std::make_index_sequence<kVectorBytes / sizeof(T)>());
  }
};

template <class T>
void two_by_two(void* to, const void* left, const void* right, std::int64_t count) {
  using Two = TwoByTwo<T>;
  T* out = static_cast<T*>(to);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  const typename Two::type zero{};
  for (; count >= Two::kMatrices; count -= Two::kMatrices, a += 4 * Two::kMatrices, b += 4 * Two::kMatrices) {
    const auto x = Two::at(a), y = Two::at(b);
    const auto first = Two::template chosen<0, 0, 2, 2>(x) * Two::template chosen<0, 1, 0, 1>(y);
    const auto second = Two::template chosen<1, 1, 3, 3>(x) * Two::template chosen<2, 3, 2, 3>(y);
    // Sums begin at 0, so a sum of -0 alone is 0.
    const auto sum = first + second + zero;
    std::memcpy(out, &sum, sizeof sum);
    out += 4 * Two::kMatrices;
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
  table.into_lanes[0] = into_lanes<std::uint32_t>;
  table.into_lanes[1] = into_lanes<std::uint64_t>;
  table.out_of_lanes[0] = out_of_lanes<std::uint32_t>;
  table.out_of_lanes[1] = out_of_lanes<std::uint64_t>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
