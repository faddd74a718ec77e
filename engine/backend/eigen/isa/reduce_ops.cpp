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
  T* acc = static_cast<T*>(accumulator);
  for (std::int64_t half = kLanes / 2; half >= 1; half /= 2) {
    if (lanes <= half) continue;
    const std::int64_t n = (lanes - half) * width;
    const T* upper = acc + half * width;
    lanes = half;
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < n; ++i) acc[i] = F::of(acc[i], upper[i]);
  }
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
        const P next = Lanes::of(sum, in::ploadu<P>(row + r * apart + j));
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

/// The sum of element(i) for i < n. packet(i) is the packet that begins at element i.
template <class Packets, class Element>
float sum_of(std::int64_t n, Packets packet, Element element) {
  using Lanes = PacketLanes<float, SumOf>;
  return reduce_row<float, SumOf>(n, [&](std::int64_t from, std::int64_t count) {
    Lanes lanes;
    const std::int64_t done = lanes.take(count, [&](std::int64_t i) { return packet(from + i); });
    if (done == count) return lanes.joined();
    alignas(64) float lane[kLanes];
    lanes.store(lane);
    for (std::int64_t i = done; i < count; ++i) lane[i - done] += element(from + i);
    return join_lanes<float, SumOf>(lane);
  });
}

void sum_of_products(const void* a, const void* b, std::int64_t n, void* out) {
  namespace in = Eigen::internal;
  using P = in::packet_traits<float>::type;
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  *static_cast<float*>(out) = sum_of(
      n, [&](std::int64_t i) { return in::pmul(in::ploadu<P>(x + i), in::ploadu<P>(y + i)); },
      [&](std::int64_t i) { return x[i] * y[i]; });
}

void sum_of_squares(const void* a, const void* b, std::int64_t n, void* out) {
  namespace in = Eigen::internal;
  using P = in::packet_traits<float>::type;
  const float* x = static_cast<const float*>(a);
  const float middle = *static_cast<const float*>(b);
  const P m = in::pset1<P>(middle);
  *static_cast<float*>(out) = sum_of(
      n,
      [&](std::int64_t i) {
        const P d = in::psub(in::ploadu<P>(x + i), m);
        return in::pmul(d, d);
      },
      [&](std::int64_t i) { return (x[i] - middle) * (x[i] - middle); });
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

template <DType kDType, class T>
void add_all(Table& t) {
#define ORIEL_REDUCTION(op, ...) add_reduction<Op::op, kDType, T>(t);
  ORIEL_REDUCTIONS(ORIEL_REDUCTION)
#undef ORIEL_REDUCTION
}

}  // namespace

void add_reduce_ops(Table& table) {
  add_all<DType::int8, std::int8_t>(table);
  add_all<DType::int16, std::int16_t>(table);
  add_all<DType::int32, std::int32_t>(table);
  add_all<DType::int64, std::int64_t>(table);
  add_all<DType::uint8, std::uint8_t>(table);
  add_all<DType::uint16, std::uint16_t>(table);
  add_all<DType::uint32, std::uint32_t>(table);
  add_all<DType::uint64, std::uint64_t>(table);
  add_all<DType::float32, float>(table);
  add_all<DType::float64, double>(table);
  add_all<DType::bool_, std::uint8_t>(table);  // bytes that hold 0 or 1
  table.sum_of_products = sum_of_products;
  table.sum_of_squares = sum_of_squares;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
