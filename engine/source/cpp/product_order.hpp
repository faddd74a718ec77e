// In which order a contraction of symbolic sizes adds: decided when the source runs, as codegen/product_form.hpp
// decides it for numbers.
#pragma once

#include <string>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "source/cpp/size_source.hpp"

namespace oriel::source::cpp {

struct OrderText {
  std::string batches, rows, columns, depth;  // numbers of points
  std::string order;                          // an expression of type ProductOrder
};
/// `product`: the program's contraction.
OrderText product_order(const codegen::LoopProgram& program, const codegen::Contraction& product, SizeTable* table);

}  // namespace oriel::source::cpp
