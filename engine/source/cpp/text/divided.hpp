// Division by one number.
#pragma once

#include "source/cpp/text/packets.hpp"

namespace oriel::source::cpp::text {
namespace {

using namespace ops::ORIEL_ISA_LEVEL;

// snippet divided: keep_nan

/// x / y in float32 for many x and one y. Multiplies by the reciprocal and corrects the quotient by two remainders,
/// after which it is correctly rounded (Markstein) if nothing here is subnormal or infinite.
[[maybe_unused]] inline Packet divided(const Packet& x, float y) {
#if defined(EIGEN_VECTORIZE) && defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
  using P = ei::packet_traits<float>::type;
  const P v = P(x);
  const float magnitude = y < 0.0f ? -y : y;
  const bool fits = magnitude >= 0x1p-40f && magnitude <= 0x1p40f;
  if (__builtin_expect(!fits || any_outside(ei::pabs(v), splat<P>(0x1p-60f), splat<P>(0x1p60f)), 0)) return x / y;
  const P reciprocal = splat<P>(1.0f / y);
  const P minus = splat<P>(-y);
  P q = ei::pmul(v, reciprocal);
  q = ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q);
  return Packet(ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q));
#else
  return x / y;
#endif
}

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text
