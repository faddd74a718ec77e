// The instructions of a loop program as C++ statements.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/expression.hpp"
#include "codegen/open_kernel.hpp"
#include "source/cpp/open_product.hpp"
#include "source/cpp/size_source.hpp"
#include "source/cpp/value_statements.hpp"

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

/// Writes each instruction as a statement inside a loop over a tile.
class Statements : public ValueStatements {
 protected:
  /// `open`: null if all sizes are numbers.
  explicit Statements(const codegen::LoopProgram& program, const OpenSizes* open = nullptr)
      : ValueStatements(program), open_(open) {}

  bool open_sizes() const { return open_ != nullptr; }
  /// Is the source a unit for many sizes?
  bool open_unit() const { return open_ != nullptr && open_->unit; }
  /// Extents of the loops.
  /// @{
  const Ints& outer() const { return sized_program().outer; }
  const Ints& inner(std::size_t stage) const { return sized_program().stages[stage].inner; }
  /// @}
  /// A size as text: a number, or a variable that the kernel reads from the table of sizes.
  std::string size(SymInt n);
  /// The comment above the kernel.
  std::string open_heading() const;
  /// Statements that read the sizes that were asked for, and choose the order of the product if there is one. To be
  /// called once, after all else.
  std::string read_sizes(const OpenProduct* product);

  /// Of a unit that walks rows: statements that set how many rows a block has, so that it has about `elements`, and
  /// where the block keeps rows from stage to stage.
  std::string open_rows(std::int64_t elements, std::int64_t most_rows);

  /// Does the kernel write past the caches?
  bool streams() const { return streams_; }

 private:
  /// Points [lo, hi) of the loop along the lanes are valid.
  struct Lanes {
    std::string lo;
    std::string hi;
  };
  // Of an access that is affine, with numbers or with symbols. The step is nothing if it is a symbol.
  std::string position_of(std::int32_t access, const CodePosition& place);
  std::string condition_of(std::int32_t access, const CodePosition& place);
  std::optional<std::int64_t> step_of(std::int32_t access, const CodePosition& place) const;
  std::optional<Lanes> cut_of(std::int32_t access, const CodePosition& place);
  /// Of any access, over these loops.
  codegen::AccessText expression_of(std::int32_t access, const std::vector<std::string>& names);
  const codegen::LoopProgram& sized_program() const {
    return open_ != nullptr ? open_->kernel->lowered.program : program_;
  }
  auto open_views(std::int32_t access) const {
    const std::int32_t number = open_->accesses.empty() ? access : open_->accesses[at(access)];
    return open_->kernel->accesses[at(number)].tracker.views();
  }
  const View& open_view(std::int32_t access) const { return open_views(access)[0]; }
  std::string open_position(const View& view, const std::vector<std::string>& names);
  std::string open_condition(const View& view, const std::vector<std::string>& names, int fast);
  std::string elements_of(std::int32_t argument);
  /// The text of a constant that is a size; empty for others.
  std::string size_constant(std::int32_t constant, const std::string& type);

  bool streamed(const codegen::Access& access, std::int64_t step) const;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  /// Returns the name of a segment, which is computed before the loop.
  std::string segment(const std::optional<Lanes>& cut, const std::string& condition, const CodePosition& place);
  std::string widened(DType dtype, const std::string& element);
  std::string narrowed(DType dtype, const std::string& element);

  const OpenSizes* open_;
  std::set<std::size_t> sizes_used_;
  bool streams_ = false;
  std::set<std::int32_t> constants_;
  int segments_ = 0;
};

}  // namespace oriel::source::cpp
