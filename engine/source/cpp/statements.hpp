// The instructions of a loop program as C++ statements.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expression.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/value_statements.hpp"

namespace oriel::source::cpp {

/// Writes each instruction as a statement inside a loop over a tile.
class CppStatementWriter : public ValueStatements {
 protected:
  /// `symbolic`: null if all sizes are numbers.
  explicit CppStatementWriter(const codegen::LoopProgram& program, const SymbolicSizes* symbolic = nullptr);

  /// Of a unit that walks rows: statements that set how many rows a block has, so that it has about `elements`, and
  /// where the block keeps rows from stage to stage.
  std::string rows_from_sizes(std::int64_t elements, std::int64_t most_rows);

  /// Does the kernel write past the caches?
  bool streams() const { return streams_; }

  KernelSizes sizes_;

 private:
  /// Every number is written by sizes_.
  std::string spelled(const std::function<std::string(const codegen::NumberText&)>& write) override;
  /// Of an affine access: what a lane adds to the position; nothing if that is a symbol.
  std::optional<std::int64_t> step_of(std::int32_t access, const CodePosition& place) const;
  /// Of any access, over these loops.
  codegen::AccessText expression_of(std::int32_t access, const std::vector<std::string>& names);

  bool streamed(const codegen::Access& access, std::int64_t step) const;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  /// Returns the name of a segment, which is computed before the loop.
  std::string segment(const std::optional<LaneCut>& cut, const std::string& condition, const CodePosition& place);

  bool streams_ = false;
  std::set<std::int32_t> constants_;
  int segments_ = 0;
};

}  // namespace oriel::source::cpp
