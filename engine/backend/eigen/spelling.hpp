// How rendered sources spell types, numbers and element operations.
#pragma once

#include <string>

#include "backend/eigen/snippets.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

/// The C++ type of a value: halves are held as float, bool as a byte of 0 or 1.
std::string value_type(DType dtype);
/// The C++ type of an element in memory.
std::string memory_type(DType dtype);
/// The number as an expression of value_type(value.dtype).
std::string literal(const graph::Scalar& value);

struct Spelling {
  enum class Kind {
    Map,      // map<text>(result, operands...)
    Packets,  // packets<text>(result, operands...)
    Call,     // text(result, operands...)
  };
  Kind kind = Kind::Map;
  std::string text;
  std::string eigen;  // an Eigen expression with {a} and {b} that does the same, or nothing
};

/// An instruction of code Elementwise or Round. Asks for the helpers that the spelling uses, those of `eigen` included;
/// where `eigen` will do, those of `text` only if `prefer_eigen` is false. Throws InternalError for what no program may
/// hold.
Spelling spell(const codegen::Instr& instr, bool prefer_eigen, Snippets& snippets);

/// The functor of a reduction, with its identity.
std::string spell_reduction(graph::Op op, DType dtype, Snippets& snippets);

}  // namespace oriel::backend::eigen
