// In which order a contraction of symbolic sizes adds: decided when the source runs, as codegen/product_form.hpp
// decides it for numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "codegen/contraction.hpp"
#include "codegen/open_kernel.hpp"

namespace oriel::source::cpp {

/// A contraction whose products are added one after the other.
struct OpenProduct {
  codegen::Contraction shape;                       // at some sizes
  codegen::ValueId multiplied = codegen::kNoValue;  // the products, which the sum makes by itself
  bool windows = false;                             // the products are those of windows
};

/// The contraction of the kernel, if its order matters to its bits. `program`: the kernel at some sizes.
std::optional<OpenProduct> find_open_product(const codegen::LoopProgram& program);

/// An expression of type ProductOrder. `size` writes a size.
std::string product_order(const OpenProduct& product, const codegen::OpenKernel& kernel,
                          const codegen::LoopProgram& program, const std::function<std::string(SymInt)>& size);

}  // namespace oriel::source::cpp
