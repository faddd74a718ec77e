// Register blocks of matrix products. The accumulators (rows times packets) stay in registers over the whole depth.
#include "backend/eigen/isa/level.hpp"
#include "backend/eigen/isa/squares.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// Floats use Eigen's packets. pmadd rounds once if the level has fused multiply-add.
template <class T>
struct Floats {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr int kSize = Eigen::internal::unpacket_traits<Packet>::size;
  static Packet zero() { return Eigen::internal::pset1<Packet>(T(0)); }
  static Packet load(const T* p) { return Eigen::internal::ploadu<Packet>(p); }
  static Packet all(const T* p) { return Eigen::internal::pset1<Packet>(*p); }
  static void store(T* p, const Packet& x) { Eigen::internal::pstoreu(p, x); }
  static Packet add(const Packet& a, const Packet& b) { return Eigen::internal::padd(a, b); }
  static Packet mul(const Packet& a, const Packet& b) { return Eigen::internal::pmul(a, b); }
  static Packet madd(const Packet& a, const Packet& b, const Packet& c) { return Eigen::internal::pmadd(a, b, c); }
};

/// Integers wrap, so unsigned arithmetic serves signed dtypes too.
template <class T>
struct Wraps {
  typedef T Packet __attribute__((vector_size(kVectorBytes)));
  static constexpr int kSize = kVectorBytes / static_cast<int>(sizeof(T));
  static Packet zero() { return Packet{}; }
  static Packet load(const T* p) {
    Packet x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  static Packet all(const T* p) { return *p - Packet{}; }
  static void store(T* p, const Packet& x) { std::memcpy(p, &x, sizeof x); }
  static Packet add(const Packet& a, const Packet& b) { return a + b; }
  static Packet madd(const Packet& a, const Packet& b, const Packet& c) { return a * b + c; }
};

template <class T>
using Arithmetic = std::conditional_t<std::is_floating_point_v<T>, Floats<T>, Wraps<T>>;

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

// How many rows of b ahead to prefetch. If rows are close together, at least kAheadBytes.
constexpr std::int64_t kAhead = 8;
constexpr std::int64_t kAheadBytes = 2048;
constexpr int kLine = 64;

/// The distance, in elements, from a row of b to the row prefetched with it.
template <class T>
std::int64_t ahead_of(std::int64_t b_row) {
  constexpr std::int64_t least = kAheadBytes / static_cast<std::int64_t>(sizeof(T));
  return b_row > 0 && kAhead * b_row < least ? least : kAhead * b_row;
}

/// `Near`: a_row is 1 (neighbouring rows of a are adjacent, as in a packed panel). Otherwise a_step is 1.
template <class T, int Rows, int Packets, bool Near>
void block(const ProductBlock& q) {
  using A = Arithmetic<T>;
  using Packet = typename A::Packet;
  constexpr int kSize = A::kSize;
  Packet sum[Rows][Packets];
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) {
    ORIEL_UNROLL
    for (int j = 0; j < Packets; ++j) sum[i][j] = A::zero();
  }
  const T* a = static_cast<const T*>(q.a);
  const T* b = static_cast<const T*>(q.b);
  const std::int64_t a_row = Near ? 1 : q.a_row;
  const std::int64_t a_step = Near ? q.a_step : 1;
  const std::int64_t b_row = q.b_row;
  const std::int64_t ahead = ahead_of<T>(b_row);
  T* c = static_cast<T*>(q.c);
  // Prefetch the lines of the results while products are summed.
  for (int i = 0; i < q.rows; ++i) {
    for (int j = 0; j < Packets; ++j) __builtin_prefetch(c + i * q.c_row + j * kSize, 1);
  }
  const auto add_depth = [&] {
    constexpr int kPerLine = kLine / static_cast<int>(sizeof(T));
    ORIEL_UNROLL
    for (int j = 0; j < Packets * kSize; j += kPerLine) __builtin_prefetch(b + ahead + j);
    Packet x[Packets];
    ORIEL_UNROLL
    for (int j = 0; j < Packets; ++j) x[j] = A::load(b + j * kSize);
    ORIEL_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const Packet y = A::all(a + i * a_row);
      ORIEL_UNROLL
      for (int j = 0; j < Packets; ++j) sum[i][j] = A::madd(y, x[j], sum[i][j]);
    }
    a += a_step;
    b += b_row;
  };
  const char* next = static_cast<const char*>(q.next != nullptr ? q.next : q.b);
  constexpr int depths = std::is_floating_point_v<T> && !kFew ? kDepths : 1;
  std::int64_t p = 0;
  for (; p + depths <= q.depth; p += depths, next += kLine) {
    __builtin_prefetch(next, 0, 2);
    ORIEL_UNROLL
    for (int u = 0; u < depths; ++u) add_depth();
  }
  for (; p < q.depth; ++p) add_depth();
  const T* from = static_cast<const T*>(q.from);
  if (q.cols == Packets * kSize) {
    ORIEL_UNROLL
    for (int i = 0; i < Rows; ++i) {
      if (i < q.rows) {
        ORIEL_UNROLL
        for (int j = 0; j < Packets; ++j) {
          const T* before = from + i * q.from_row + j * kSize;
          A::store(c + i * q.c_row + j * kSize, from != nullptr ? A::add(A::load(before), sum[i][j]) : sum[i][j]);
        }
      }
    }
    return;
  }
  T row[Packets * kSize];
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) {
    if (i < q.rows) {
      ORIEL_UNROLL
      for (int j = 0; j < Packets; ++j) A::store(row + j * kSize, sum[i][j]);
      T* at = c + i * q.c_row;
      const T* before = from + i * q.from_row;
      for (int j = 0; j < q.cols; ++j) at[j] = static_cast<T>(from != nullptr ? before[j] + row[j] : row[j]);
    }
  }
}

template <class T, int Rows, int Packets>
void choose_order(const ProductBlock& q) {
  if (q.a_row == 1) return block<T, Rows, Packets, true>(q);
  block<T, Rows, Packets, false>(q);
}

template <class T, int Rows>
void choose_packets(const ProductBlock& q) {
  constexpr int kSize = Arithmetic<T>::kSize;
  if (q.cols <= kSize) return choose_order<T, Rows, 1>(q);
  if constexpr (kPackets > 3) {
    if (q.cols > 3 * kSize) return choose_order<T, Rows, 4>(q);
  }
  if constexpr (kPackets > 2) {
    if (q.cols > 2 * kSize) return choose_order<T, Rows, 3>(q);
  }
  choose_order<T, Rows, 2>(q);
}

template <class T>
void choose_rows(const ProductBlock& q) {
  if constexpr (kRows > 4) {
    if (q.rows > 6) return q.rows == 7 ? choose_packets<T, 7>(q) : choose_packets<T, 8>(q);
    if (q.rows > 4) return q.rows == 5 ? choose_packets<T, 5>(q) : choose_packets<T, 6>(q);
  }
  if constexpr (kRows > 3) {
    if (q.rows > 3) return choose_packets<T, 4>(q);
  }
  if constexpr (kRows > 2) {
    if (q.rows > 2) return choose_packets<T, 3>(q);
  }
  q.rows == 1 ? choose_packets<T, 1>(q) : choose_packets<T, 2>(q);
}

/// Integers have blocks of one height only, because there are many dtypes and each height is code. Shorter blocks come
/// padded.
template <class T>
void whole_rows(const ProductBlock& q) {
  constexpr int kSize = Arithmetic<T>::kSize;
  if (q.cols <= kSize) return block<T, kWholeRows, 1, true>(q);
  block<T, kWholeRows, kWholePackets, true>(q);
}

// Columns whose sums stay in the first-level cache while rows of b stream past, and rows of b taken at a time.
template <class T, int Rows>
constexpr int kStrip = Rows == 1 && sizeof(T) == 4 ? 4096 : 2048;
constexpr int kPass = 8;

template <class T>
constexpr std::int64_t round_packet(std::int64_t n) {
  return (n + Floats<T>::kSize - 1) / Floats<T>::kSize * Floats<T>::kSize;
}

/// Adds `Pass` products to each sum of a packet.
template <class T, int Rows, int Pass, bool Ahead>
inline void pass_packet(T* sum, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b, std::int64_t b_row,
                        std::int64_t ahead = 0) {
  using A = Floats<T>;
  typename A::Packet x[Rows];
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) x[i] = A::load(sum + i * kStrip<T, Rows>);
  ORIEL_UNROLL
  for (int u = 0; u < Pass; ++u) {
    const typename A::Packet y = A::load(b + u * b_row);
    // Prefetch the rows of the next pass: they are more streams than hardware prefetchers follow.
    if constexpr (Ahead) __builtin_prefetch(b + u * b_row + ahead, 0, 2);
    ORIEL_UNROLL
    for (int i = 0; i < Rows; ++i) x[i] = A::madd(A::all(a + i * a_row + u * a_step), y, x[i]);
  }
  ORIEL_UNROLL
  for (int i = 0; i < Rows; ++i) A::store(sum + i * kStrip<T, Rows>, x[i]);
}

/// The same for all sums of a strip.
template <class T, int Rows, int Pass>
void pass_rows(T* sum, const ProductBlock& q, std::int64_t p, const T* b, std::int64_t cols) {
  constexpr int kSize = Floats<T>::kSize;
  const T* a = static_cast<const T*>(q.a) + p * q.a_step;
  std::int64_t j = 0;
  if (q.follows_streams) {
    for (; j + kSize <= cols; j += kSize)
      pass_packet<T, Rows, Pass, false>(sum + j, a, q.a_row, q.a_step, b + j, q.b_row);
  }
  const std::int64_t ahead = ahead_of<T>(q.b_row);
  for (; j + kSize <= cols; j += kSize) {
    pass_packet<T, Rows, Pass, true>(sum + j, a, q.a_row, q.a_step, b + j, q.b_row, ahead);
  }
  if (j == cols) return;
  T rest[Pass][kSize] = {};
  for (int u = 0; u < Pass; ++u) {
    std::memcpy(rest[u], b + u * q.b_row + j, static_cast<std::size_t>(cols - j) * sizeof(T));
  }
  pass_packet<T, Rows, Pass, false>(sum + j, a, q.a_row, q.a_step, rest[0], kSize);
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

template <class T>
void stream_rows(const ProductBlock& q) {
  constexpr int most = kPlain ? 1 : kFew ? 2 : 4;  // rows that share one pass over b
  if (q.rows > most) {
    ProductBlock some = q;
    for (int i = 0; i < q.rows; i += most) {
      some.rows = q.rows - i < most ? q.rows - i : most;
      some.a = static_cast<const T*>(q.a) + i * q.a_row;
      some.c = static_cast<T*>(q.c) + i * q.c_row;
      if (q.from != nullptr) some.from = static_cast<const T*>(q.from) + i * q.from_row;
      stream_rows<T>(some);
    }
    return;
  }
  if (q.rows == 1) return stream<T, 1>(q);
  if constexpr (most >= 2) {
    if (q.rows == 2) return stream<T, 2>(q);
  }
  if constexpr (most >= 4) {
    if (q.rows == 3) return stream<T, 3>(q);
    stream<T, 4>(q);
  }
}

/// One block (in the order of reductions) of dot products with `Rows` rows of y.
template <class T, int Rows>
void dot_block(const T* x, const T* y, std::int64_t y_row, std::int64_t n, T* out) {
  using A = Floats<T>;
  constexpr int kPerLanes = static_cast<int>(kLanes) / A::kSize;
  typename A::Packet sum[Rows][kPerLanes];
  ORIEL_UNROLL
  for (int r = 0; r < Rows; ++r) {
    ORIEL_UNROLL
    for (int k = 0; k < kPerLanes; ++k) sum[r][k] = A::zero();
  }
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    ORIEL_UNROLL
    for (int r = 0; r < Rows; ++r) __builtin_prefetch(y + r * y_row + i + kBlock / 2, 0, 2);
    ORIEL_UNROLL
    for (int k = 0; k < kPerLanes; ++k) {
      const typename A::Packet v = A::load(x + i + k * A::kSize);
      ORIEL_UNROLL
      for (int r = 0; r < Rows; ++r)
        sum[r][k] = A::add(sum[r][k], A::mul(v, A::load(y + r * y_row + i + k * A::kSize)));
    }
  }
  for (int r = 0; r < Rows; ++r) {
    T lane[kLanes];
    for (int k = 0; k < kPerLanes; ++k) A::store(lane + k * A::kSize, sum[r][k]);
    for (std::int64_t l = 0; l < n - i; ++l) lane[l] += x[i + l] * y[r * y_row + i + l];
    for (int half = kLanes / 2; half >= 1; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    out[r] = lane[0];
  }
}

template <class T, int Rows>
void dot_rows(const T* x, const T* y, std::int64_t y_row, std::int64_t n, T* out) {
  T waiting[64][Rows];
  T value[Rows];
  int depth = 0;
  std::int64_t blocks = 0;
  for (std::int64_t at = 0; at < n; at += kBlock) {
    dot_block<T, Rows>(x + at, y + at, y_row, n - at < kBlock ? n - at : kBlock, value);
    for (std::int64_t b = blocks; (b & 1) != 0; b >>= 1) {
      --depth;
      for (int r = 0; r < Rows; ++r) value[r] = waiting[depth][r] + value[r];
    }
    std::memcpy(waiting[depth++], value, sizeof value);
    ++blocks;
  }
  std::memcpy(value, waiting[--depth], sizeof value);
  while (depth > 0) {
    --depth;
    for (int r = 0; r < Rows; ++r) value[r] = waiting[depth][r] + value[r];
  }
  std::memcpy(out, value, sizeof value);
}

/// The lanes of several short rows, a vector of rows for each lane, combined by halves. Lanes behind a row hold 0,
/// which changes no sum that began with 0.
template <int kGroup, class T>
void fold_rows(T* lanes, std::int64_t n) {
  for (std::int64_t half = kLanes / 2; half >= 1; half /= 2)
    for (std::int64_t l = 0; l < half && l + half < n; ++l) {
      ORIEL_VECTOR_LOOP
      for (int r = 0; r < kGroup; ++r) lanes[l * kGroup + r] += lanes[(l + half) * kGroup + r];
    }
}

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
    fold_rows<group>(lanes, n);
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
  constexpr int most = kLanes / Arithmetic<T>::kSize <= 2 ? 4 : kLanes / Arithmetic<T>::kSize <= 4 ? 2 : 1;
  std::int64_t i = 0;
  for (; i + most <= rows; i += most) dot_rows<T, most>(v, m + i * y_row, y_row, n, o + i);
  for (; i < rows; ++i) dot_rows<T, 1>(v, m + i * y_row, y_row, n, o + i);
}

template <class T>
void add_float_products(Table& table) {
  table.product[kDTypeIndex<T>] = {kRows,          Arithmetic<T>::kSize, kPackets, true,
                                   choose_rows<T>, stream_rows<T>,       dots<T>};
}

template <class T, class Signed>
void add_integer_products(Table& table) {
  const ProductFns fns{kWholeRows, Arithmetic<T>::kSize, kWholePackets, false, whole_rows<T>, nullptr, nullptr};
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
