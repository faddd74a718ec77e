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

/// How a kernel whose sizes may be symbols takes them. Choices that affect only speed follow their hints.
struct SymbolicSizes {
  SizeTable* table;
  std::span<const SizeNumber> numbers;  // the parameters that are sizes; the others must be constants
  /// A unit by itself, for all sizes with one key (frame.hpp). Parameters are given at launch. The program
  /// may keep rows.
  bool unit = false;
};

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
  const codegen::LoopProgram& program_;
  const SymbolicSizes* symbolic_;
  Variables& variables_;
  std::set<std::size_t> used_;  // places in the table
};

}  // namespace oriel::source::cpp
