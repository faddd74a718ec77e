// The loops of a program over its outer points and the inner points of its stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/frame.hpp"
#include "source/cpp/kernel_sizes.hpp"
#include "source/cpp/loops_source.hpp"
#include "source/cpp/statements.hpp"
#include "source/cpp/value_statements.hpp"

namespace oriel::source::cpp {

// The elements of a block of rows, chosen so that the rows stay in cache from stage to stage.
inline constexpr std::int64_t kRowElements = 4096;
inline constexpr std::int64_t kMostRows = 64;

/// How the points of a kernel are cut into tiles and, where rows are walked, into blocks of rows.
struct Tiling {
  bool rows = false;               // true: tiles of inner points; false: tiles of outer points
  int tile = 256;                  // elements
  std::int64_t row_step = 1;       // rows of a block, at most
  std::vector<bool> in_registers;  // by stage: its reductions gather in registers, so their inputs need no tile

  /// Elements of a Rows: one for each row of a block, and what fills the last register.
  std::int64_t rows_length() const { return (row_step + 15) / 16 * 16; }
};

/// `framed`: are variables members of a frame?
Tiling choose_tiling(const codegen::LoopProgram& program, const KernelSizes& sizes, const PacketForm& packets,
                     const LoopsForm& form, bool framed);

/// Sets the last use of each value. Returns, by stage, the outer values that its loops read.
std::vector<std::vector<codegen::ValueId>> find_lives(const codegen::LoopProgram& program,
                                                      std::vector<PlacedValue>& values);

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
