// Conversions between float32 and the half dtypes, to nearest even.
#pragma once

#include "backend/eigen/isa/level.hpp"
#include "base/halves.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {

// Converts eight elements at a time: the width of the hardware's conversion instructions.
inline void narrow8(std::uint16_t* half, const float* x) {
#if defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(half), _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__)
  for (int i = 0; i < 8; i += 4) vst1_u16(half + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(x + i))));
#else
  for (int i = 0; i < 8; ++i) half[i] = halves::narrow_float16(x[i]);
#endif
}

inline void widen8(float* x, const std::uint16_t* half) {
#if defined(__F16C__)
  _mm256_storeu_ps(x, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half))));
#elif defined(__aarch64__)
  for (int i = 0; i < 8; i += 4) vst1q_f32(x + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(half + i))));
#else
  for (int i = 0; i < 8; ++i) x[i] = halves::widen_float16(half[i]);
#endif
}

using halves::narrow_bfloat16;
using halves::narrow_float16;
using halves::widen_bfloat16;
using halves::widen_float16;

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
