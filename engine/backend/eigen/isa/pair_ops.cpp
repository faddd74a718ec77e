// Two operations on float32 in one pass over their operands, and division by one number.
#include "backend/eigen/isa/vectors.hpp"
#include "ops/functions/elementary.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using namespace oriel::ops::ORIEL_ISA_LEVEL;  // NOLINT(google-build-using-namespace): functions of the level
using Packet = ei::packet_traits<float>::type;
constexpr int kPairPacket = ei::packet_traits<float>::size;

/// Second(First(a, b), c). With kNumbers b and c are one number each.
template <class First, class Second, bool kNumbers>
void pair(void* dst, const void* a, const void* b, const void* c, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  const float* z = static_cast<const float*>(c);
  const float one = *y, other = *z;
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i)
    d[i] = Second::of(First::of(x[i], kNumbers ? one : y[i]), kNumbers ? other : z[i]);
}

struct Negative {
  static Packet of(Packet x, Packet) { return ei::pxor(x, splat<Packet>(-0.0F)); }
};
struct NegativeMagnitude {
  static Packet of(Packet x, Packet) { return ei::por(x, splat<Packet>(-0.0F)); }
};

/// exp(First(a, b)). With kNumber b is one number.
template <class First, bool kNumber>
void exp_of(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  const Packet number = splat<Packet>(*y);
  for (std::int64_t i = 0; i < n; i += kPairPacket)
    ei::pstore(d + i, exp_float(First::of(ei::ploadu<Packet>(x + i), kNumber ? number : ei::ploadu<Packet>(y + i))));
}

template <class First, class Second>
void add_pair(Table& t, Link first, Link second) {
  ElementFn(&row)[2] = t.pair[static_cast<int>(first)][static_cast<int>(second)];
  row[0] = pair<First, Second, false>;
  row[1] = pair<First, Second, true>;
}

template <class First>
void add_exp_of(Table& t, Link first) {
  ElementFn(&row)[2] = t.pair[static_cast<int>(first)][static_cast<int>(Link::Exponential)];
  row[0] = exp_of<First, false>;
  row[1] = exp_of<First, true>;
}

template <class First>
void add_pairs(Table& t, Link first) {
  add_pair<First, Sum>(t, first, Link::Add);
  add_pair<First, Difference>(t, first, Link::Subtract);
  add_pair<First, Swapped<Difference>>(t, first, Link::SubtractFrom);
  add_pair<First, Product>(t, first, Link::Multiply);
  add_pair<First, Quotient>(t, first, Link::Divide);
  add_pair<First, Swapped<Quotient>>(t, first, Link::DivideInto);
  add_exp_of<First>(t, first);
}

#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
void divide_by_one(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  const float divisor = *static_cast<const float*>(b);
  for (std::int64_t i = 0; i < n; i += kPairPacket) ei::pstore(d + i, divided(ei::ploadu<Packet>(x + i), divisor));
}
#endif

}  // namespace

void add_pair_ops(Table& table) {
  add_pairs<Sum>(table, Link::Add);
  add_pairs<Difference>(table, Link::Subtract);
  add_pairs<Product>(table, Link::Multiply);
  add_exp_of<Negative>(table, Link::Negate);
  add_exp_of<NegativeMagnitude>(table, Link::NegateMagnitude);
#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
  table.divide_by_one = divide_by_one;
#endif
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
