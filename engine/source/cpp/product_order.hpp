// In which order a contraction of symbolic sizes adds: decided when the source runs, as codegen/product_form.hpp
// decides it for numbers.
#pragma once

#include <string>

#include "codegen/contraction.hpp"
#include "source/cpp/kernel_sizes.hpp"

namespace oriel::source::cpp {

struct OrderText {
  std::string batches, rows, columns, depth;  // numbers of points
  std::string order;                          // an expression of type ProductOrder
};
/// `program`: the kernel at some sizes, which is this contraction.
OrderText product_order(const codegen::Contraction& product, const SymbolicSizes& symbolic,
                        const codegen::LoopProgram& program);

}  // namespace oriel::source::cpp
