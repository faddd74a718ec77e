// The loops of a program over its outer points and the inner points of its stages.
#pragma once

#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/frame.hpp"
#include "source/cpp/loop_plan.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/statements.hpp"

namespace oriel::source::cpp {

/// Writes the loops of a program. Tiles and lives of values are chosen when it is made.
class LoopStatements : public CppStatementWriter {
 protected:
  LoopStatements(const codegen::LoopProgram& program, const LoopsForm& form);

  /// Declares the rows that a block keeps from stage to stage. They have 64 elements more, so that whole registers may
  /// be written.
  std::string declare_kept();
  /// Bytes of those whose memory the caller gives: of symbolic sizes.
  const std::vector<SymInt>& kept_bytes() const { return kept_bytes_; }
  /// Writes the loops over the range's outer points, run by run along the last loop.
  void write_loops();

  Tiling tiling_;
  std::string from_sizes_;  // statements that set what follows from sizes

 private:
  void open_loop(const std::string& name, const std::string& first, const std::string& end, const std::string& step);
  void open_inner_loops(std::size_t s, std::size_t count);
  void write_loops(std::size_t s, const CodePosition& outer);
  /// Releases the operands of the stage's loops and writes its outer instructions.
  void write_outer(std::size_t s, const CodePosition& outer);
  // Neighbouring outer points form a tile. The loops run over inner points one by one.
  void write_columns(std::size_t s, const CodePosition& outer);
  // Neighbouring inner points form a tile. The loops run over the outer points of a block one by one.
  void write_rows(std::size_t s, const CodePosition& outer);
  std::string reducer(const codegen::Reduction& r) const;
  void declare_reducer(const Type& type, const std::string& name);

  std::vector<SymInt> kept_bytes_;
  std::vector<std::vector<codegen::ValueId>> read_inside_;  // by stage: the outer values that its loops read
};

}  // namespace oriel::source::cpp
