// The text of a contraction's own functions: blocks of results, and the factors that they read.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/product_form.hpp"
#include "source/cpp/contraction_blocks.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// Each function gives a piece of the source. All arguments of the constructor must outlive the object.
class ContractionText {
 public:
  ContractionText(const codegen::LoopProgram& program, const codegen::ProductForm& plan,
                  const ContractionBlocks& blocks, const LoopsForm& form);

  std::string includes() const;
  std::string constants() const;
  std::string memory_text() const;
  /// Declarations of the functions that come after the loops that call them.
  std::string declarations() const;
  std::string finish_text() const;
  std::string multiply_text() const;
  /// `frames_at`: the bytes before the frame of the loop programs. `loops`: of symbolic sizes.
  std::string entry(const std::string& name, std::int64_t frames_at, const PlainLoops* loops) const;

 private:
  std::string element() const;
  std::string number(SymInt n) const;
  std::string take_sizes() const;
  std::string position(const char* name, const FactorMemory& memory) const;
  std::string right_text() const;
  std::string left_text(bool strip) const;
  /// Statements that choose the order of the sum, and leave where it is that of all other sums. `sizes_set`: statements
  /// that set the sizes of the work.
  std::string choose_order(const PlainLoops& loops, std::string& sizes_set) const;

  const codegen::LoopProgram& program_;
  const codegen::ProductForm& plan_;
  const codegen::Contraction& shape_;
  const ContractionBlocks& blocks_;
  const Keep keep_;
  const SymbolicSizes* const symbolic_;  // null if all sizes are numbers
};

}  // namespace oriel::source::cpp
