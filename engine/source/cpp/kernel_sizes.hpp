// The sizes of a kernel as text, where they may be symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "codegen/loop_program.hpp"
#include "source/cpp/size_source.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/variables.hpp"

namespace oriel::source::cpp {

/// A kernel whose sizes are symbols. The program that is passed with it is the same kernel at some sizes; choices that
/// affect only speed follow that program.
struct SymbolicSizes {
  const codegen::LoopProgram* program;
  SizeTable* table;
  std::span<const SizeNumber> numbers;  // the parameters that are sizes; the others must be constants
  /// A unit by itself, for all sizes with one key (frame.hpp). Parameters are given at launch. The program
  /// may keep rows.
  bool unit = false;
  std::span<const std::int32_t> accesses = {};  // by access of the program: its number in the kernel; empty: the same
};

/// The extent of axis d of an argument of a kernel that runs alone (codegen/lower.hpp), as text. `number`: if all
/// sizes are numbers.
std::string extent_of(const SymbolicSizes* symbolic, std::size_t argument, std::size_t d, std::int64_t number);

/// Writes the numbers of a kernel: a literal, or a variable for a size. The kernel reads each size of the table that
/// its text uses once.
class KernelSizes {
 public:
  /// `symbolic`: null if all sizes are numbers. All three must outlive the object.
  KernelSizes(const codegen::LoopProgram& program, const SymbolicSizes* symbolic, Variables& variables)
      : program_(program), symbolic_(symbolic), variables_(variables) {}

  /// May sizes be symbols?
  bool symbolic() const { return symbolic_ != nullptr; }
  /// Is the source a unit for many sizes?
  bool unit() const { return symbolic_ != nullptr && symbolic_->unit; }
  /// Extents of the loops.
  /// @{
  const Ints& outer() const { return written().outer; }
  const Ints& inner(std::size_t stage) const { return written().stages[stage].inner; }
  /// @}
  const codegen::Access& access(std::int32_t access) const;
  /// A number as text: a literal, or a variable that the kernel reads from the table of sizes.
  std::string of(SymInt n);
  /// The number of elements of an argument.
  std::string elements(std::int32_t argument);
  /// The text of a constant that is a size; empty for others. Asks for the helpers that it uses.
  std::string constant(std::int32_t constant, const std::string& type, Snippets& snippets);
  /// The comment above a kernel whose sizes may be symbols.
  std::string heading() const;
  /// Statements that read the sizes that were asked for. To be called after all else.
  std::string read() const;

 private:
  /// The program whose numbers are written.
  const codegen::LoopProgram& written() const { return symbolic_ != nullptr ? *symbolic_->program : program_; }

  const codegen::LoopProgram& program_;
  const SymbolicSizes* symbolic_;
  Variables& variables_;
  std::set<std::size_t> used_;  // places in the table
};

}  // namespace oriel::source::cpp
