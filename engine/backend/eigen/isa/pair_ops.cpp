// Two operations on float32 in one pass over their operands, and division by one number.
#include "backend/eigen/isa/level.hpp"
#include "ops/functions/element.hpp"
#include "ops/functions/float_math.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using namespace oriel::ops;                   // NOLINT(google-build-using-namespace): functors, and
using namespace oriel::ops::ORIEL_ISA_LEVEL;  // NOLINT(google-build-using-namespace): those of the level
using Packet = ei::packet_traits<float>::type;
constexpr int kPairPacket = ei::packet_traits<float>::size;

template <class First, class Second, bool kRight>
void pair(void* dst, const void* a, const void* b, const void* c, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  const float* z = static_cast<const float*>(c);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) {
    const float first = First::of(x[i], y[i]);
    d[i] = kRight ? Second::of(z[i], first) : Second::of(first, z[i]);
  }
}

template <class First, class Second>
void pair_with_numbers(void* dst, const void* a, const void* b, const void* c, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float y = *static_cast<const float*>(b);
  const float z = *static_cast<const float*>(c);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = Second::of(First::of(x[i], y), z);
}

template <class First>
void add_pairs_with_numbers(Table& t, Op first) {
  ElementFn(&row)[kPairCount] = t.pair_with_numbers[pair_index(first)];
  row[pair_index(Op::Add)] = pair_with_numbers<First, Add>;
  row[pair_index(Op::Sub)] = pair_with_numbers<First, Sub>;
  row[pair_index(Op::Mul)] = pair_with_numbers<First, Mul>;
}

template <class First, class Second>
void add_pair(Table& t, Op first, Op second) {
  ElementFn(&sides)[2] = t.pair[pair_index(first)][pair_index(second)];
  sides[0] = pair<First, Second, false>;
  sides[1] = pair<First, Second, true>;
}

template <class First>
void add_pairs(Table& t, Op first) {
  add_pair<First, Add>(t, first, Op::Add);
  add_pair<First, Sub>(t, first, Op::Sub);
  add_pair<First, Mul>(t, first, Op::Mul);
  add_pair<First, Min>(t, first, Op::Min);
  add_pair<First, Max>(t, first, Op::Max);
  add_pair<First, Div>(t, first, Op::Div);
}

#if defined(EIGEN_VECTORIZE)
template <Op kFirst, bool kNumber>
void exp_of(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  const Packet number = splat<Packet>(kNumber ? *y : 0.0F);
  for (std::int64_t i = 0; i < n; i += kPairPacket) {
    Packet v = ei::ploadu<Packet>(x + i);
    const Packet w = kNumber ? number : ei::ploadu<Packet>(y + i);
    if constexpr (kFirst == Op::Add) v = ei::padd(v, w);
    if constexpr (kFirst == Op::Sub) v = ei::psub(v, w);
    if constexpr (kFirst == Op::Mul) v = ei::pmul(v, w);
    ei::pstore(d + i, exp_float(v));
  }
}

template <Op kFirst>
void add_exp_of(Table& t) {
  t.exp_of[pair_index(kFirst)] = exp_of<kFirst, false>;
  t.exp_with_number[pair_index(kFirst)] = exp_of<kFirst, true>;
}

/// exp(-x), or exp(-|x|).
template <bool kMagnitude>
void exp_of_negative(void* dst, const void* a, const void*, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const Packet sign = splat<Packet>(-0.0F);
  for (std::int64_t i = 0; i < n; i += kPairPacket) {
    const Packet v = ei::ploadu<Packet>(x + i);
    ei::pstore(d + i, exp_float(kMagnitude ? ei::por(v, sign) : ei::pxor(v, sign)));
  }
}
#endif

#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
// If |x| lies in this range and the divisor's magnitude in a smaller one, no product or remainder below is subnormal or
// infinite.
constexpr float kSmallest = 0x1p-60F;
constexpr float kLargest = 0x1p60F;
constexpr float kLargestDivisor = 0x1p40F;

/// Is any |x| outside the range, or NaN?
bool any_outside(Packet x) {
  const Packet magnitude = ei::pabs(x);
#if defined(EIGEN_VECTORIZE_AVX512)
  return (_mm512_cmp_ps_mask(magnitude, splat<Packet>(kSmallest), _CMP_NGE_UQ) |
          _mm512_cmp_ps_mask(magnitude, splat<Packet>(kLargest), _CMP_NLE_UQ)) != 0;
#else
  return ei::predux_any(ei::por(ei::pcmp_lt_or_nan(magnitude, splat<Packet>(kSmallest)),
                                ei::pcmp_lt_or_nan(splat<Packet>(kLargest), magnitude)));
#endif
}

// Multiplies by the divisor's reciprocal, rounded to nearest. One correction by the remainder makes the quotient
// faithful, a second one correctly rounded (Markstein). So the bits are those of a division.
void divide_by_one(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float divisor = *static_cast<const float*>(b);
  const bool fits = std::fabs(divisor) >= 1 / kLargestDivisor && std::fabs(divisor) <= kLargestDivisor;
  const Packet by = splat<Packet>(divisor);
  const Packet minus = splat<Packet>(-divisor);
  const Packet reciprocal = splat<Packet>(1 / divisor);
  for (std::int64_t i = 0; i < n; i += kPairPacket) {
    const Packet v = ei::ploadu<Packet>(x + i);
    Packet q;
    if (__builtin_expect(!fits || any_outside(v), 0)) {
      q = ei::pdiv(v, by);
    } else {
      q = ei::pmul(v, reciprocal);
      q = ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q);
      q = ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q);
    }
    ei::pstore(d + i, q);
  }
}
#endif

}  // namespace

void add_pair_ops(Table& table) {
  add_pairs<Add>(table, Op::Add);
  add_pairs<Sub>(table, Op::Sub);
  add_pairs<Mul>(table, Op::Mul);
  add_pairs<Min>(table, Op::Min);
  add_pairs<Max>(table, Op::Max);
  add_pairs_with_numbers<Add>(table, Op::Add);
  add_pairs_with_numbers<Sub>(table, Op::Sub);
  add_pairs_with_numbers<Mul>(table, Op::Mul);
#if defined(EIGEN_VECTORIZE)
  add_exp_of<Op::Add>(table);
  add_exp_of<Op::Sub>(table);
  add_exp_of<Op::Mul>(table);
  table.exp_of_negative = exp_of_negative<false>;
  table.exp_of_negative_magnitude = exp_of_negative<true>;
#endif
#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
  table.divide_by_one = divide_by_one;
#endif
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
