// The sizes of a kernel as text, where they may be symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "codegen/loop_program.hpp"
#include "codegen/open_kernel.hpp"
#include "source/cpp/open_product.hpp"
#include "source/cpp/size_source.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/variables.hpp"

namespace oriel::source::cpp {

/// A kernel whose sizes are symbols. The program beside it is the same kernel at some sizes: what only speed depends on
/// follows that program.
struct OpenSizes {
  const codegen::OpenKernel* kernel;
  SizeTable* table;
  std::span<const SizeNumber> numbers;  // the parameters that are sizes; the others must be constants
  /// A unit by itself, for all sizes of an outline (outline.hpp). Parameters are given at launch. The program may keep
  /// rows.
  bool unit = false;
  std::span<const std::int32_t> accesses = {};  // by access of the program: its number in the kernel; empty: the same
};

/// Writes the sizes of a kernel, and records which sizes of the table its text uses. The kernel reads each of these
/// once, into a variable.
class KernelSizes {
 public:
  /// `open`: null if all sizes are numbers. All three must outlive the object.
  KernelSizes(const codegen::LoopProgram& program, const OpenSizes* open, Variables& variables)
      : program_(program), open_(open), variables_(variables) {}

  /// May sizes be symbols?
  bool open() const { return open_ != nullptr; }
  /// Is the source a unit for many sizes?
  bool unit() const { return open_ != nullptr && open_->unit; }
  /// Extents of the loops.
  /// @{
  const Ints& outer() const { return sized_program().outer; }
  const Ints& inner(std::size_t stage) const { return sized_program().stages[stage].inner; }
  /// @}
  /// A size as text: a number, or a variable that the kernel reads from the table of sizes.
  std::string of(SymInt n);
  /// The number of elements of an argument.
  std::string elements(std::int32_t argument);
  /// The text of a constant that is a size; empty for others. Asks for the helpers that it uses.
  std::string constant(std::int32_t constant, const std::string& type, Snippets& snippets);
  /// The comment above a kernel whose sizes may be symbols.
  std::string heading() const;
  /// Statements that read the sizes that were asked for, and choose the order of the product if there is one. To be
  /// called once, after all else.
  std::string read(const OpenProduct* product);

 private:
  const codegen::LoopProgram& sized_program() const {
    return open_ != nullptr ? open_->kernel->lowered.program : program_;
  }

  const codegen::LoopProgram& program_;
  const OpenSizes* open_;
  Variables& variables_;
  std::set<std::size_t> used_;  // places in the table
};

/// A size as rendered text: a number, or an element of the array of sizes. `open` is null only if no size is a symbol.
std::string size_text(SymInt n, const OpenSizes* open);

}  // namespace oriel::source::cpp
