// Reductions in the fixed order: lanes, then blocks, then pairs of blocks (see ../tile/README.md).
#include "backend/eigen/isa/row_lanes.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T, class F>
void accumulate(void* accumulator, std::int64_t period, std::int64_t position, const void* values, std::int64_t n) {
  T* acc = static_cast<T*>(accumulator);
  const T* x = static_cast<const T*>(values);
  if (period == kLanes && position % kLanes == 0) return accumulate_lanes<T, F>(acc, x, n);
  std::int64_t at = position % period;
  while (n > 0) {
    const std::int64_t run = period - at < n ? period - at : n;
    T* a = acc + at;
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < run; ++i) a[i] = F::of(a[i], x[i]);
    x += run;
    n -= run;
    at = 0;
  }
}

template <class T, class F>
void combine(void* accumulator, std::int64_t width, std::int64_t lanes) {
  combine_lanes<T, F>(static_cast<T*>(accumulator), width, lanes);
}

template <class T, class F>
void merge(void* dst, const void* a, const void* b, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = F::of(x[i], y[i]);
}

/// Rows that follow each other in a lane are combined in one pass over the lane.
constexpr std::int64_t kRowsOfLane = 4;

/// Adds element j of each of four rows to a[j].
template <class T, class F>
void accumulate_four(T* a, std::int64_t width, const T* row, std::int64_t apart) {
  std::int64_t j = 0;
  if constexpr (kInPackets<T, F>) {
    using Lanes = PacketLanes<T, F>;
    using P = typename Lanes::P;
    namespace in = Eigen::internal;
    for (; j + Lanes::kSize <= width; j += Lanes::kSize) {
      P sum = in::ploadu<P>(a + j);
      for (int r = 0; r < kRowsOfLane; ++r) {
        const P next = F::packets(sum, in::ploadu<P>(row + r * apart + j));
        sum = kExtreme<F> ? in::pselect(in::pcmp_eq(sum, sum), next, sum) : next;
      }
      in::pstoreu(a + j, sum);
    }
  }
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = j; i < width; ++i)
    a[i] = F::of(F::of(F::of(F::of(a[i], row[i]), row[apart + i]), row[2 * apart + i]), row[3 * apart + i]);
}

/// Row i goes to lane i mod kLanes.
template <class T, class F>
void accumulate_rows(void* accumulator, std::int64_t width, const void* values, std::int64_t pitch, std::int64_t rows) {
  const T* x = static_cast<const T*>(values);
  const std::int64_t apart = kLanes * pitch;
  for (; rows > 0; rows -= kRowsOfLane * kLanes, x += kRowsOfLane * apart) {
    for (std::int64_t l = 0; l < std::min(kLanes, rows); ++l) {
      T* a = static_cast<T*>(accumulator) + l * width;
      const T* row = x + l * pitch;
      if (l + 3 * kLanes < rows) {
        accumulate_four<T, F>(a, width, row, apart);
        continue;
      }
      for (std::int64_t r = l; r < rows; r += kLanes, row += apart) {
        ORIEL_VECTOR_LOOP
        for (std::int64_t i = 0; i < width; ++i) a[i] = F::of(a[i], row[i]);
      }
    }
  }
}

/// A packet of T that holds the elements from x on.
template <class T>
typename Eigen::internal::packet_traits<T>::type packet_of(const float* x) {
  using P = typename Eigen::internal::packet_traits<T>::type;
  if constexpr (std::is_same_v<T, float>) {
    return Eigen::internal::ploadu<P>(x);
  } else {
    // g++ 12 splits a __builtin_convertvector to wider vectors.
#if defined(__AVX512F__)
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX__)
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
#elif defined(__aarch64__)
    return vcvt_f64_f32(vld1_f32(x));
#else
    double two;  // both floats, which need not be aligned as a double is
    std::memcpy(&two, x, sizeof two);
    return _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(two)));
#endif
  }
}

// What a sum adds to one row. T: the dtype of the sum.
template <class T>
struct WideAt {
  static constexpr int kTogether = 4;
  const float* x;
  auto packet(int, std::int64_t i) const { return packet_of<T>(x + i); }
  void some(int, std::int64_t i, std::int64_t n, T* to) const { std::copy_n(x + i, n, to); }
  static void ahead(int, std::int64_t) {}
  WideAt after(std::int64_t n) const { return {x + n}; }
};
template <class T>
struct ProductAt {
  static constexpr int kTogether = 4;
  const float* x;
  const float* y;
  auto packet(int, std::int64_t i) const { return Eigen::internal::pmul(packet_of<T>(x + i), packet_of<T>(y + i)); }
  void some(int, std::int64_t i, std::int64_t n, T* to) const {
    for (std::int64_t k = 0; k < n; ++k) to[k] = static_cast<T>(x[i + k]) * static_cast<T>(y[i + k]);
  }
  static void ahead(int, std::int64_t) {}
  ProductAt after(std::int64_t n) const { return {x + n, y + n}; }
};
template <class T>
struct DeviationAt {
  static constexpr int kTogether = 4;
  const float* x;
  T middle;
  auto packet(int, std::int64_t i) const {
    using P = typename Eigen::internal::packet_traits<T>::type;
    const P d = Eigen::internal::psub(packet_of<T>(x + i), Eigen::internal::pset1<P>(middle));
    return Eigen::internal::pmul(d, d);
  }
  void some(int, std::int64_t i, std::int64_t n, T* to) const {
    for (std::int64_t k = 0; k < n; ++k) {
      const T d = static_cast<T>(x[i + k]) - middle;
      to[k] = d * d;
    }
  }
  static void ahead(int, std::int64_t) {}
  DeviationAt after(std::int64_t n) const { return {x + n, middle}; }
};

/// The sum of n summands.
template <class T, class At>
T sum_of(std::int64_t n, const At& at) {
  T out;
  reduce_side_by_side<T, ReductionOf<Op::Sum, dtype_of<T>>, 1>(at, n, &out);
  return out;
}

/// A sum of elements and the sum of their squares.
struct Moments {
  using Sum = ReductionOf<Op::Sum, DType::float64>;
  static Moments of(const Moments& a, const Moments& b) {
    return {Sum::of(a.sum, b.sum), Sum::of(a.squares, b.squares)};
  }
  double sum;
  double squares;
};

/// Those of at most a block; of squares alone the sum is 0. So few packets of lanes at a time that both stay in
/// registers.
template <bool kBoth>
__attribute__((noinline)) Moments block_moments(const float* x, std::int64_t n) {
  namespace in = Eigen::internal;
  using Lanes = PacketLanes<double, Moments::Sum>;
  using P = Lanes::P;
  constexpr int kPart = Lanes::kCount < 4 ? Lanes::kCount : 4;
  alignas(64) double sums[kLanes], squares[kLanes];
  const std::int64_t whole = n / kLanes * kLanes;
  for (int part = 0; part < Lanes::kCount; part += kPart) {
    const float* from = x + static_cast<std::int64_t>(part * Lanes::kSize);
    P sum[kPart], square[kPart];
    for (int k = 0; k < kPart; ++k) sum[k] = square[k] = in::pset1<P>(Moments::Sum::identity<double>());
    const auto take = [&](std::int64_t at) {
      ORIEL_UNROLL
      for (int k = 0; k < kPart; ++k) {
        const P v = packet_of<double>(from + at + static_cast<std::int64_t>(k * Lanes::kSize));
        if constexpr (kBoth) sum[k] = in::padd(sum[k], v);
        square[k] = in::pmadd(v, v, square[k]);  // the square of a float32 is exact
      }
    };
    std::int64_t i = 0;
    for (; i + 2 * kLanes <= whole; i += 2 * kLanes) {
      take(i);
      take(i + kLanes);
    }
    if (i < whole) take(i);
    for (int k = 0; k < kPart; ++k) {
      in::pstore(sums + (part + k) * Lanes::kSize, sum[k]);
      in::pstore(squares + (part + k) * Lanes::kSize, square[k]);
    }
  }
  for (std::int64_t i = whole; i < n; ++i) {
    const double v = x[i];
    sums[i - whole] += v;
    squares[i - whole] += v * v;
  }
  return {kBoth ? Lanes(sums).joined() : 0, Lanes(squares).joined()};
}

template <bool kBoth>
Moments moments_of(const float* x, std::int64_t n) {
  Moments moments;
  reduce_row(
      n, moments,
      [&](std::int64_t at, std::int64_t count, Moments& block) { block = block_moments<kBoth>(x + at, count); },
      CombineBy<Moments>());
  return moments;
}

template <class T, Summand kSummand>
void sum_rows(const void* a, const void* b, std::int64_t rows, std::int64_t cols, void* out) {
  const float* x = static_cast<const float*>(a);
  T* sums = static_cast<T*>(out);
  for (std::int64_t i = 0; i < rows; ++i, x += cols) {
    if constexpr (kSummand == Summand::Element) {
      sums[i] = sum_of<T>(cols, WideAt<T>{x});
    } else if constexpr (kSummand == Summand::Product) {
      if constexpr (std::is_same_v<T, double>) {
        if (a == b) {
          sums[i] = moments_of<false>(x, cols).squares;
          continue;
        }
      }
      sums[i] = sum_of<T>(cols, ProductAt<T>{x, static_cast<const float*>(b) + i * cols});
    } else {
      sums[i] = sum_of<T>(cols, DeviationAt<T>{x, static_cast<const T*>(b)[i]});
    }
  }
}

template <class T, Summand kSummand>
void sum_columns(void* acc, std::int64_t width, std::int64_t position, const void* a, const void* b,
                 std::int64_t rows) {
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  const T* m = static_cast<const T*>(b);
  for (std::int64_t r = 0; r < rows; ++r, x += width) {
    T* lane = static_cast<T*>(acc) + (position + r) % kLanes * width;
    ORIEL_VECTOR_LOOP
    for (std::int64_t j = 0; j < width; ++j) {
      if constexpr (kSummand == Summand::Element) {
        lane[j] += static_cast<T>(x[j]);
      } else if constexpr (kSummand == Summand::Product) {
        lane[j] += static_cast<T>(x[j]) * static_cast<T>(y[j]);
      } else {
        const T d = static_cast<T>(x[j]) - m[j];
        lane[j] += d * d;
      }
    }
    if constexpr (kSummand == Summand::Product) y += width;
  }
}

[[maybe_unused]] void moment_rows(const void* a, std::int64_t rows, std::int64_t cols, void* sums, void* squares) {
  const float* x = static_cast<const float*>(a);
  for (std::int64_t i = 0; i < rows; ++i, x += cols) {
    const Moments m = moments_of<true>(x, cols);
    static_cast<double*>(sums)[i] = m.sum;
    static_cast<double*>(squares)[i] = m.squares;
  }
}

[[maybe_unused]] void moment_columns(void* sums, void* squares, std::int64_t width, std::int64_t position,
                                     const void* a, std::int64_t rows) {
  const float* x = static_cast<const float*>(a);
  for (std::int64_t r = 0; r < rows; ++r, x += width) {
    double* sum = static_cast<double*>(sums) + (position + r) % kLanes * width;
    double* square = static_cast<double*>(squares) + (position + r) % kLanes * width;
    ORIEL_VECTOR_LOOP
    for (std::int64_t j = 0; j < width; ++j) {
      const double v = x[j];
      sum[j] += v;
      square[j] += v * v;
    }
  }
}

void add_sums(Table& t) {
  SumFns* const narrow = t.sums[0];
  narrow[static_cast<int>(Summand::Product)].rows = sum_rows<float, Summand::Product>;
  narrow[static_cast<int>(Summand::Deviation)].rows = sum_rows<float, Summand::Deviation>;
  if constexpr (!kFew) {
    SumFns* const wide = t.sums[1];
    t.moments = {moment_rows, moment_columns};
    wide[static_cast<int>(Summand::Element)] = {sum_rows<double, Summand::Element>,
                                                sum_columns<double, Summand::Element>};
    wide[static_cast<int>(Summand::Product)] = {sum_rows<double, Summand::Product>,
                                                sum_columns<double, Summand::Product>};
    wide[static_cast<int>(Summand::Deviation)] = {sum_rows<double, Summand::Deviation>,
                                                  sum_columns<double, Summand::Deviation>};
  }
}

template <Op kOp, DType kDType, class T>
void add_reduction(Table& t) {
  if constexpr (takes(kOp, kDType)) {
    using F = ReductionOf<kOp, kDType>;
    ReduceFns& fns = t.reduce[reduce_index(kOp)][static_cast<int>(kDType)];
    fns.accumulate = accumulate<T, F>;
    fns.combine = combine<T, F>;
    fns.merge = merge<T, F>;
    fns.rows = reduce_rows<T, F>;
    if constexpr (!kFew && sizeof(T) >= 4)
      t.accumulate_rows[reduce_index(kOp)][static_cast<int>(kDType)] = accumulate_rows<T, F>;
    const T identity = F::template identity<T>();
    std::memcpy(&fns.identity, &identity, sizeof identity);
  }
}

// In the profile small, integers that are used less have the loops of the lowest level alone.
#if defined(ORIEL_BY_USE) && defined(ORIEL_ISA_FEW)
constexpr bool kAllIntegers = false;
#else
constexpr bool kAllIntegers = true;
#endif

/// The sums, or the other reductions.
template <bool kSums, DType kDType, class T>
void add_some(Table& t) {
#define ORIEL_REDUCTION(op, ...) \
  if constexpr ((Op::op == Op::Sum) == kSums) add_reduction<Op::op, kDType, T>(t);
  ORIEL_REDUCTIONS(ORIEL_REDUCTION)
#undef ORIEL_REDUCTION
}

template <bool kSums>
void add_all(Table& table) {
  add_some<kSums, DType::float32, float>(table);
  add_some<kSums, DType::float64, double>(table);
  add_some<kSums, DType::int32, std::int32_t>(table);
  add_some<kSums, DType::int64, std::int64_t>(table);
  add_some<kSums, DType::uint8, std::uint8_t>(table);
  if constexpr (kAllIntegers) {
    add_some<kSums, DType::int8, std::int8_t>(table);
    add_some<kSums, DType::int16, std::int16_t>(table);
    add_some<kSums, DType::uint16, std::uint16_t>(table);
    add_some<kSums, DType::uint32, std::uint32_t>(table);
    add_some<kSums, DType::uint64, std::uint64_t>(table);
    add_some<kSums, DType::bool_, std::uint8_t>(table);  // bytes that hold 0 or 1
  }
}

}  // namespace

void add_sum_ops(Table& table) {
  add_all<true>(table);
  add_sums(table);
}

void add_reduce_ops(Table& table) { add_all<false>(table); }

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
