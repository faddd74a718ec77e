// Between float32 and the half dtypes, to nearest even. float16_t and bfloat16_t call it, and it is text of rendered
// sources, whose registers hold halves as floats (source/cpp/snippets_of.py).
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

namespace oriel::halves {
namespace {

// snippet float16: <immintrin.h>

/// Between float32 and float16, to nearest even.
#if defined(__F16C__)
[[maybe_unused]] inline float widen_float16(std::uint16_t bits) { return _cvtsh_ss(bits); }
[[maybe_unused]] inline std::uint16_t narrow_float16(float x) { return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }
#else
[[maybe_unused]] inline float widen_float16(std::uint16_t bits) {
  // Multiplying by a power of two adjusts the exponent's bias and makes subnormal numbers normal.
  const std::uint32_t magnitude = bits & 0x7fffu;
  std::uint32_t wide = magnitude << 13;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  x *= 0x1p112f;
  if (magnitude >= 0x7c00u) {
    wide |= 0x7f800000u | (magnitude > 0x7c00u ? 0x400000u : 0u);
    std::memcpy(&x, &wide, sizeof x);
  }
  return (bits & 0x8000u) != 0 ? -x : x;
}
[[maybe_unused]] inline std::uint16_t narrow_float16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  std::uint32_t half = 0;
  if (bits > 0x7f800000u) {
    half = 0x7e00u | (bits >> 13 & 0x3ffu);
  } else if (bits >= 0x477ff000u) {
    half = 0x7c00u;  // rounds to infinity
  } else if (bits >= 0x38800000u) {
    half = (bits + 0xfffu + (bits >> 13 & 1u) - 0x38000000u) >> 13;
  } else {
    // The last place of the sum is the last place of a subnormal half.
    float magnitude = 0;
    std::memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude += 0.5f;
    std::memcpy(&half, &magnitude, sizeof half);
    half -= 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | half);
}
#endif

// snippet bfloat16:

/// Between float32 and bfloat16, to nearest even.
[[maybe_unused]] inline float widen_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}
[[maybe_unused]] inline std::uint16_t narrow_bfloat16(float x) {
  std::uint32_t wide = 0;
  std::memcpy(&wide, &x, sizeof wide);
  const std::uint32_t rounded = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
  const std::uint32_t quiet = wide >> 16 | 0x40;
  return static_cast<std::uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// snippet RoundFloat16: float16

struct RoundFloat16 {
  static float of(float x) { return widen_float16(narrow_float16(x)); }
};

// snippet RoundBfloat16: bfloat16

struct RoundBfloat16 {
  static float of(float x) { return widen_bfloat16(narrow_bfloat16(x)); }
};

// snippet Float16Bits: float16

struct Float16Bits {
  static std::uint16_t of(float x) { return narrow_float16(x); }
};

// snippet Bfloat16Bits: bfloat16

struct Bfloat16Bits {
  static std::uint16_t of(float x) { return narrow_bfloat16(x); }
};

// snippet Float16OfBits: float16

struct Float16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_float16(static_cast<std::uint16_t>(bits));
  }
};

// snippet Bfloat16OfBits: bfloat16

struct Bfloat16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_bfloat16(static_cast<std::uint16_t>(bits));
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::halves
