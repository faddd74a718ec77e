// Conversions between float32 and the half dtypes, to nearest even.
#pragma once

#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {

// Converts eight elements at a time: the width of the hardware's conversion instructions. Eigen's half is not used,
// because on 64-bit Arm its representation (bits or a number) depends on compiler flags.
inline void narrow8(std::uint16_t* half, const float* x) {
#if defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(half), _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__)
  for (int i = 0; i < 8; i += 4) vst1_u16(half + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(x + i))));
#else
  for (int i = 0; i < 8; ++i) half[i] = Eigen::half_impl::float_to_half_rtne(x[i]).x;
#endif
}

inline void widen8(float* x, const std::uint16_t* half) {
#if defined(__F16C__)
  _mm256_storeu_ps(x, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half))));
#elif defined(__aarch64__)
  for (int i = 0; i < 8; i += 4) vst1q_f32(x + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(half + i))));
#else
  for (int i = 0; i < 8; ++i) x[i] = Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(half[i]));
#endif
}

inline std::uint16_t narrow_float16(float x) {
#if defined(__F16C__)
  return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT), 0));
#endif
  float in[8] = {x};
  std::uint16_t out[8];
  narrow8(out, in);
  return out[0];
}

inline float widen_float16(std::uint16_t half) {
#if defined(__F16C__)
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#endif
  std::uint16_t in[8] = {half};
  float out[8];
  widen8(out, in);
  return out[0];
}

inline std::uint16_t narrow_bfloat16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

inline float widen_bfloat16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
