// Register blocks of matrix products. The accumulators (rows times packets) stay in registers over the whole depth.
#include "backend/eigen/isa/row_lanes.hpp"
#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

// Rows and packets of the largest block. The accumulators, one row of b and one element of a fill the registers.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kRows = 8;
constexpr int kPackets = 3;
#elif defined(__AVX2__)
constexpr int kRows = 4;
constexpr int kPackets = 3;
#elif defined(ORIEL_ISA_PLAIN)
constexpr int kRows = 2;
constexpr int kPackets = 2;
#else
// At this level it takes two instructions to fill a packet with an element of a, so blocks have few rows of many
// packets. b is read from memory where it is used.
constexpr int kRows = 3;
constexpr int kPackets = 4;
#endif
// Integers have fewer accumulators: their products need registers for intermediate values.
constexpr int kWholeRows = 4;
constexpr int kWholePackets = 2;

// Steps of the depth loop that are unrolled for floats. More were slower on the baseline.
#if defined(__AVX2__) || defined(__aarch64__)
constexpr int kDepths = 4;
#else
constexpr int kDepths = 2;
#endif

/// `Near`: a_row is 1 (neighbouring rows of a are adjacent, as in a packed panel). Otherwise a_step is 1.
template <class T, int Rows, int Packets, bool Near>
void block(const ProductBlock& q) {
  Vector<T> sum[Rows][Packets] = {};
  const T* a = static_cast<const T*>(q.a);
  const T* b = static_cast<const T*>(q.b);
  T* c = static_cast<T*>(q.c);
  // Prefetch the lines of the results while products are summed.
  for (int i = 0; i < q.rows; ++i) {
    for (int j = 0; j < Packets; ++j) __builtin_prefetch(c + i * q.c_row + j * kSize<T>, 1);
  }
  const char* next = static_cast<const char*>(q.next != nullptr ? q.next : q.b);
  const auto fetch = [&] {
    __builtin_prefetch(next, 0, 2);
    next += 64;
  };
  constexpr int depths = std::is_floating_point_v<T> && !kFew ? kDepths : 1;
  constexpr std::integral_constant<std::int64_t, 1> one;
  if constexpr (Near)
    ops::sum_products<depths>(sum, a, one, q.a_step, b, q.b_row, q.depth, fetch);
  else
    ops::sum_products<depths>(sum, a, q.a_row, one, b, q.b_row, q.depth, fetch);
  const T* from = static_cast<const T*>(q.from);
  if (q.cols == Packets * kSize<T>) {
    ORIEL_UNROLL
    for (int i = 0; i < Rows; ++i) {
      if (i < q.rows) {
        ORIEL_UNROLL
        for (int j = 0; j < Packets; ++j) {
          const T* before = from + i * q.from_row + j * kSize<T>;
          store(c + i * q.c_row + j * kSize<T>, from != nullptr ? Vector<T>(load(before) + sum[i][j]) : sum[i][j]);
        }
      }
    }
    return;
  }
  T row[Packets * kSize<T>];
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) {
    if (i < q.rows) {
      ORIEL_UNROLL
      for (int j = 0; j < Packets; ++j) store(row + j * kSize<T>, sum[i][j]);
      T* at = c + i * q.c_row;
      const T* before = from + i * q.from_row;
      for (int j = 0; j < q.cols; ++j) at[j] = static_cast<T>(from != nullptr ? before[j] + row[j] : row[j]);
    }
  }
}

template <class T, int Rows, int Packets>
void choose_packets(const ProductBlock& q) {
  if constexpr (Packets > 1) {
    if (q.cols <= (Packets - 1) * kSize<T>) return choose_packets<T, Rows, Packets - 1>(q);
  }
  q.a_row == 1 ? block<T, Rows, Packets, true>(q) : block<T, Rows, Packets, false>(q);
}

template <class T, int Rows = kRows>
void choose_rows(const ProductBlock& q) {
  if constexpr (Rows > 1) {
    if (q.rows < Rows) return choose_rows<T, Rows - 1>(q);
  }
  choose_packets<T, Rows, kPackets>(q);
}

/// Integers have blocks of one height only, because there are many dtypes and each height is code. Shorter blocks come
/// padded.
template <class T>
void whole_rows(const ProductBlock& q) {
  if (q.cols <= kSize<T>) return block<T, kWholeRows, 1, true>(q);
  block<T, kWholeRows, kWholePackets, true>(q);
}

// Columns whose sums stay in the first-level cache while rows of b stream past, and rows of b taken at a time.
template <class T, int Rows>
constexpr int kStrip = Rows == 1 && sizeof(T) == 4 ? 4096 : 2048;
constexpr int kPass = 8;

template <class T>
constexpr std::int64_t round_packet(std::int64_t n) {
  return (n + kSize<T> - 1) / kSize<T> * kSize<T>;
}

/// Adds `Pass` products to each sum of a packet.
template <class T, int Rows, int Pass, bool Ahead>
inline void pass_packet(T* sum, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b, std::int64_t b_row,
                        std::int64_t ahead = 0) {
  Vector<T> x[Rows];
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) x[i] = load(sum + i * kStrip<T, Rows>);
  ORIEL_UNROLL
  for (int u = 0; u < Pass; ++u) {
    const Vector<T> y = load(b + u * b_row);
    // Prefetch the rows of the next pass: they are more streams than hardware prefetchers follow.
    if constexpr (Ahead) __builtin_prefetch(b + u * b_row + ahead, 0, 2);
    ORIEL_UNROLL
    for (int i = 0; i < Rows; ++i)
      x[i] = ops::multiply_add<T>(Vector<T>(a[i * a_row + u * a_step] - Vector<T>{}), y, x[i]);
  }
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) store(sum + i * kStrip<T, Rows>, x[i]);
}

/// The same for all sums of a strip.
template <class T, int Rows, int Pass>
void pass_rows(T* sum, const ProductBlock& q, std::int64_t p, const T* b, std::int64_t cols) {
  const T* a = static_cast<const T*>(q.a) + p * q.a_step;
  std::int64_t j = 0;
  if (q.follows_streams) {
    for (; j + kSize<T> <= cols; j += kSize<T>)
      pass_packet<T, Rows, Pass, false>(sum + j, a, q.a_row, q.a_step, b + j, q.b_row);
  }
  const std::int64_t ahead = ops::ahead_of<T>(q.b_row);
  for (; j + kSize<T> <= cols; j += kSize<T>) {
    pass_packet<T, Rows, Pass, true>(sum + j, a, q.a_row, q.a_step, b + j, q.b_row, ahead);
  }
  if (j == cols) return;
  T rest[Pass][kSize<T>] = {};
  for (int u = 0; u < Pass; ++u) {
    std::memcpy(rest[u], b + u * q.b_row + j, static_cast<std::size_t>(cols - j) * sizeof(T));
  }
  pass_packet<T, Rows, Pass, false>(sum + j, a, q.a_row, q.a_step, rest[0], kSize<T>);
}

template <class T, int Rows>
void stream(const ProductBlock& q) {
  constexpr std::int64_t kColumns = kStrip<T, Rows>;
  alignas(64) T sum[Rows * kColumns];
  for (std::int64_t at = 0; at < q.cols; at += kColumns) {
    const std::int64_t cols = q.cols - at < kColumns ? q.cols - at : kColumns;
    for (int i = 0; i < Rows; ++i) {
      std::memset(sum + i * kColumns, 0, static_cast<std::size_t>(round_packet<T>(cols)) * sizeof(T));
    }
    const T* b = static_cast<const T*>(q.b) + at;
    std::int64_t p = 0;
    for (; p + kPass <= q.depth; p += kPass) pass_rows<T, Rows, kPass>(sum, q, p, b + p * q.b_row, cols);
    for (; p < q.depth; ++p) pass_rows<T, Rows, 1>(sum, q, p, b + p * q.b_row, cols);
    T* c = static_cast<T*>(q.c) + at;
    const T* from = static_cast<const T*>(q.from);
    for (int i = 0; i < Rows; ++i) {
      T* to = c + i * q.c_row;
      const T* total = sum + i * kColumns;
      if (from == nullptr) {
        std::memcpy(to, total, static_cast<std::size_t>(cols) * sizeof(T));
        continue;
      }
      const T* before = from + i * q.from_row + at;
      ORIEL_VECTOR_LOOP
      for (std::int64_t j = 0; j < cols; ++j) to[j] = before[j] + total[j];
    }
  }
}

constexpr int kStreamed = kPlain ? 1 : kFew ? 2 : 4;  // rows that share one pass over b

template <class T, int Rows = kStreamed>
void stream_rows(const ProductBlock& all) {
  ProductBlock q = all;
  for (; q.rows >= Rows; q.rows -= Rows) {
    stream<T, Rows>(q);
    q.a = static_cast<const T*>(q.a) + Rows * q.a_row;
    q.c = static_cast<T*>(q.c) + Rows * q.c_row;
    if (q.from != nullptr) q.from = static_cast<const T*>(q.from) + Rows * q.from_row;
  }
  if constexpr (Rows > 1) {
    if (q.rows > 0) stream_rows<T, Rows - 1>(q);
  }
}

template <class T>
using SumOf = ReductionOf<Op::Sum, dtype_of<T>>;

/// The products of x with rows of y, which dot products add.
template <class T>
struct DotAt {
  static constexpr int kTogether = 1;
  const T* x;
  const T* y;
  std::int64_t y_row;
  auto packet(int r, std::int64_t i) const {
    using P = typename Eigen::internal::packet_traits<T>::type;
    return Eigen::internal::pmul(Eigen::internal::ploadu<P>(x + i), Eigen::internal::ploadu<P>(y + r * y_row + i));
  }
  void some(int r, std::int64_t i, std::int64_t n, T* to) const {
    for (std::int64_t k = 0; k < n; ++k) to[k] = x[i + k] * y[r * y_row + i + k];
  }
  void ahead(int r, std::int64_t i) const { __builtin_prefetch(y + r * y_row + i + kBlock / 2, 0, 2); }
  DotAt after(std::int64_t n) const { return {x + n, y + n, y_row}; }
};

/// Rows of kDepth elements without gaps.
template <class T, int kDepth>
void dots_of(T* out, const T* x, const T* y, std::int64_t rows) {
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* const row = y + i * kDepth;
    T lane[8] = {};
    for (int l = 0; l < kDepth; ++l) lane[l] += x[l] * row[l];
    for (int l = 0; l < 4; ++l) lane[l] += lane[l + 4];
    out[i] = (lane[0] + lane[2]) + (lane[1] + lane[3]);
  }
}

/// Rows of at most kLanes elements, sixteen at a time, one in each lane of a vector. Returns how many were taken.
template <class T>
std::int64_t short_dots(T* out, const T* x, const T* y, std::int64_t y_row, std::int64_t rows, std::int64_t n) {
  constexpr int group = 16;
  alignas(64) T lanes[kLanes * group];
  std::int64_t i = 0;
  for (; i + group <= rows; i += group) {
    const T* const from = y + i * y_row;
    std::int64_t l = 0;
    for (; l + kSide<T> <= n; l += kSide<T>)
      for (int r = 0; r < group; r += kSide<T>)
        transpose_square<kSide<T>>(lanes + l * group + r, group, from + r * y_row + l, y_row);
    for (; l < n; ++l)
      for (int r = 0; r < group; ++r) lanes[l * group + r] = from[r * y_row + l];
    for (l = 0; l < n; ++l) {
      ORIEL_VECTOR_LOOP
      for (int r = 0; r < group; ++r) lanes[l * group + r] = T(0) + x[l] * lanes[l * group + r];
    }
    combine_lanes<T, SumOf<T>>(lanes, group, n);
    std::memcpy(out + i, lanes, group * sizeof(T));
  }
  return i;
}

template <class T>
void dots(void* out, const void* x, const void* y, std::int64_t y_row, std::int64_t rows, std::int64_t n) {
  T* o = static_cast<T*>(out);
  const T* v = static_cast<const T*>(x);
  const T* m = static_cast<const T*>(y);
  if constexpr (!kFew) {
    if (n == y_row && n == 2) return dots_of<T, 2>(o, v, m, rows);
    if (n == y_row && n == 3) return dots_of<T, 3>(o, v, m, rows);
    if (n == y_row && n == 4) return dots_of<T, 4>(o, v, m, rows);
    if (n == y_row && n == 8) return dots_of<T, 8>(o, v, m, rows);
    if (n <= kLanes) {
      const std::int64_t taken = short_dots(o, v, m, y_row, rows, n);
      o += taken;
      m += taken * y_row;
      rows -= taken;
    }
  }
  // Takes as many rows at a time as still leave the sums in registers.
  constexpr int most = kLanes / kSize<T> <= 2 ? 4 : kLanes / kSize<T> <= 4 ? 2 : 1;
  std::int64_t i = 0;
  for (; i + most <= rows; i += most)
    reduce_side_by_side<T, SumOf<T>, most>(DotAt<T>{v, m + i * y_row, y_row}, n, o + i);
  for (; i < rows; ++i) reduce_side_by_side<T, SumOf<T>, 1>(DotAt<T>{v, m + i * y_row, y_row}, n, o + i);
}

template <class T>
void add_float_products(Table& table) {
  table.product[kDTypeIndex<T>] = {kRows, kSize<T>, kPackets, true, choose_rows<T>, stream_rows<T>, dots<T>};
}

template <class T, class Signed>
void add_integer_products(Table& table) {
  const ProductFns fns{kWholeRows, kSize<T>, kWholePackets, false, whole_rows<T>, nullptr, nullptr};
  table.product[kDTypeIndex<T>] = fns;
  table.product[kDTypeIndex<Signed>] = fns;
}

}  // namespace

void add_product_ops(Table& table) {
  add_float_products<float>(table);
  add_float_products<double>(table);
  add_integer_products<std::uint8_t, std::int8_t>(table);
  add_integer_products<std::uint16_t, std::int16_t>(table);
  add_integer_products<std::uint32_t, std::int32_t>(table);
  add_integer_products<std::uint64_t, std::int64_t>(table);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
