// How rendered sources spell types, numbers and element operations.
#pragma once

#include <string>

#include "codegen/loop_program.hpp"
#include "source/cpp/snippets.hpp"
#include "source/dialect.hpp"

namespace oriel::source::cpp {

/// C++17, as g++ and clang take it.
const Dialect& dialect();

inline std::string value_type(DType dtype) { return dialect().value_type(dtype); }
inline std::string memory_type(DType dtype) { return dialect().memory_type(dtype); }
inline std::string literal(const graph::Scalar& value) { return dialect().literal(value); }

struct Spelling {
  bool packets = false;  // Eigen's packet function, Functor::of(packet...); else Functor::of(element...)
  std::string functor;   // with template arguments
  std::string snippet;   // the helper that defines it
  std::string scalar;    // for elements: an expression with {a} and {b} that does the same, or nothing
  std::string packet;    // for packets of the operands' type: an expression with {a}, {b} and {c}, or nothing
  std::string helper;    // that `packet` uses, or nothing
};

/// An instruction of code Elementwise or Round. Throws InternalError for what no program may hold.
Spelling spell(const codegen::Instr& instr);

/// An element of memory as a value, and a value as an element of memory: floats of 16 bits are computed as float32.
/// @{
std::string widened(DType dtype, const std::string& element, Snippets& snippets);
std::string narrowed(DType dtype, const std::string& element, Snippets& snippets);
/// @}

/// The functor of a reduction, with its identity.
std::string spell_reduction(graph::Op op, DType dtype, Snippets& snippets);

}  // namespace oriel::source::cpp
