// The bits of halves, which registers hold as floats. ops/functions/ says what the ops mean.
#include "source/cpp/snippets.hpp"

namespace oriel::source::cpp {
namespace {

constexpr Snippet kHalfSnippets[] = {
    {"Float16Bits", "float16 ", R"src(
struct Float16Bits {
  static std::uint16_t of(float x) { return narrow_float16(x); }
};
)src"},
    {"Bfloat16Bits", "bfloat16 ", R"src(
struct Bfloat16Bits {
  static std::uint16_t of(float x) { return narrow_bfloat16(x); }
};
)src"},
    {"Float16OfBits", "float16 ", R"src(
struct Float16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_float16(static_cast<std::uint16_t>(bits));
  }
};
)src"},
    {"Bfloat16OfBits", "bfloat16 ", R"src(
struct Bfloat16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_bfloat16(static_cast<std::uint16_t>(bits));
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> half_snippets() { return kHalfSnippets; }

}  // namespace oriel::source::cpp
