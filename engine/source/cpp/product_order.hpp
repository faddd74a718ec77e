// In which order a contraction of symbolic sizes adds: decided when the source runs, as codegen/product_form.hpp
// decides it for numbers.
#pragma once

#include <functional>
#include <string>

#include "codegen/contraction.hpp"

namespace oriel::source::cpp {

/// An expression of type ProductOrder. `symbolic`: the kernel, whose sizes `size` writes; `program`: the same at some
/// sizes, which is this contraction.
std::string product_order(const codegen::Contraction& product, const codegen::LoopProgram& symbolic,
                          const codegen::LoopProgram& program, const std::function<std::string(SymInt)>& size);

}  // namespace oriel::source::cpp
