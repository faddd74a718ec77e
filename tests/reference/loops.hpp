// The oracle of loop programs: runs one point and one number at a time. number.hpp defines what each op means.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "codegen/loop_program.hpp"
#include "support/bytes.hpp"

namespace oriel::test {

/// The bits of a number in a register.
using Word = std::uint64_t;

template <class T>
T get(Word w) {
  T t;
  std::memcpy(&t, &w, sizeof t);
  return t;
}
template <class T>
Word put(T t) {
  Word w = 0;
  std::memcpy(&w, &t, sizeof t);
  return w;
}

/// Calls f with a value of the register's C++ type.
template <class F>
auto with_type(DType dtype, F f) {
  switch (register_dtype(dtype)) {
    case DType::bool_:
      return f(bool{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::uint32:
      return f(std::uint32_t{});
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float32:
      return f(float{});
    default:
      return f(double{});
  }
}

inline float to_half(float x, DType half) {
  return half == DType::float16 ? static_cast<float>(float16_t(x)) : static_cast<float>(bfloat16_t(x));
}
inline std::uint16_t half_bits(float x, DType half) {
  return half == DType::float16 ? float16_t(x).bits : bfloat16_t(x).bits;
}
inline float half_value(std::uint16_t bits, DType half) {
  if (half == DType::float16) {
    float16_t h;
    h.bits = bits;
    return static_cast<float>(h);
  }
  bfloat16_t h;
  h.bits = bits;
  return static_cast<float>(h);
}

inline Word read_element(const Bytes& b, std::int64_t i) {
  if (is_half(b.dtype())) return put(half_value(b.as<std::uint16_t>()[i], b.dtype()));
  Word w = 0;
  std::memcpy(&w, b.as<char>() + i * static_cast<std::int64_t>(itemsize(b.dtype())), itemsize(b.dtype()));
  return w;
}
inline void write_element(const Bytes& b, std::int64_t i, Word w) {
  if (is_half(b.dtype())) w = half_bits(get<float>(w), b.dtype());
  std::memcpy(b.as<char>() + i * static_cast<std::int64_t>(itemsize(b.dtype())), &w, itemsize(b.dtype()));
}

/// Runs a program point by point.
void interpret(const codegen::LoopProgram& program, const std::vector<const Bytes*>& arguments,
               std::span<const graph::Scalar> parameters = {});

/// A reduction in the fixed order: blocks of 1024 elements, 32 lanes, halving, then pairs of blocks.
Word reduce_in_order(graph::Op op, DType dtype, const std::vector<Word>& x);

}  // namespace oriel::test
