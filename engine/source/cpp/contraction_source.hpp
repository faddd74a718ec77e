// A contraction as C++ source: packed panels, blocks of results in registers, in the tile machine's order.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/loop_program.hpp"
#include "codegen/product_form.hpp"
#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// The product form in which the program is rendered: a contraction (summed in blocks of the depth) or a convolution
/// (summed as one block). nullopt: it is rendered as plain loops.
std::optional<codegen::ProductForm> rendered_contraction(const codegen::LoopProgram& program);

/// Does an embedded kernel compute any range of rows, each of which is all points of the outer loops from `columns` on?
/// `symbolic`: is it rendered for many sizes?
bool takes_whole_rows(const codegen::LoopProgram& program, bool symbolic, std::size_t columns);

struct PlainLoops {
  std::string name;    // of the kernel
  std::int64_t bytes;  // of its frame
};

/// The source, with the interface that render.hpp states. Blocks of results are dealt out to ranges of outer points: of
/// ranges that cover all points once, each block is computed by one. An embedded kernel computes ranges of whole rows.
/// For symbolic sizes, `plan` is codegen::symbolic_form, and the function also has the parameter `const std::int64_t*
/// sizes` (render.hpp). Where no blocks of products are added at these sizes, it calls the function of `loops`, the
/// same kernel's loops as they stand, with the same parameters.
LoopsSource render_contraction(const codegen::LoopProgram& program, const codegen::ProductForm& plan,
                               const LoopsForm& form, const PlainLoops* loops = nullptr);

/// How many blocks of results render_contraction's source has at the longest tile: block b is computed by the range
/// that holds point b * (points / blocks).
std::int64_t rendered_blocks(const codegen::LoopProgram& program, const codegen::ProductForm& plan);

}  // namespace oriel::source::cpp
