// Where the values of a loop program are while a kernel runs, and lists of instructions as loops over a tile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/snippets.hpp"
#include "source/cpp/variables.hpp"
#include "source/statements.hpp"

namespace oriel::source::cpp {

/// What a variable in a loop over a tile holds: one element, or a packet of `main` (as many as a register holds).
struct PacketForm {
  bool packets = false;
  DType main = DType::float32;

  /// The name of an element's number in the tile, where one element's text is written.
  const char* element() const { return packets ? "e" : "k"; }
};

/// Where a value is.
struct PlacedValue {
  std::string text;           // a variable, or the tile that holds the value
  bool scalar = false;        // one number for the whole tile
  bool tiled = false;         // `text` is a tile
  bool leaves = false;        // is read outside the loop that makes it
  std::int64_t last_use = 0;  // the moment of the last read; negative: never read

  /// The attribute of the value's variable.
  const char* unread() const { return last_use < 0 ? "[[maybe_unused]] " : ""; }
};

/// A reduction whose lanes stay in registers while the loop runs.
struct Gather {
  codegen::ValueId input = codegen::kNoValue;
  std::string lanes;  // the name of the lanes
  std::string reducer;
};

/// What stands outside the kernel's loops.
struct UnitText {
  std::string functions;     // these hold a large kernel's statements
  std::string declarations;  // of the functions
  std::string numbers;       // constants
  std::string set_up;        // statements that read the parameters
};

/// Writes lists of instructions as loops over a tile. A value is a variable of the loop's body. A tile holds only what
/// leaves the loop.
class ValueStatements : public source::StatementWriter {
 protected:
  explicit ValueStatements(const codegen::LoopProgram& program);

  /// Finds the values that need a tile: another loop than their own reads them, or a reduction. Called once, before
  /// anything is written, after the form of the variables is set. `in_registers`: by stage, whether its reductions
  /// gather in registers, so that their inputs need no tile.
  void find_tiles(const std::vector<bool>& in_registers);
  /// Writes a list of instructions. A large kernel's instructions are in functions named after `name`.
  void write_list(const std::vector<codegen::Instr>& list, const CodePosition& place, const std::string& name);
  /// Takes a tile ("Tile" or "Rows") for v. A tile outside the frame is declared here.
  void take(codegen::ValueId v, const std::string& tile);
  /// Gives v's tile back, unless v is read after now.
  void release(codegen::ValueId v);

  Type type_of(codegen::ValueId v) const { return number_type(program_.values[at(v)]); }
  /// A value as an operand inside a loop.
  std::string read(codegen::ValueId v);
  void define(codegen::ValueId v, const std::string& value);
  /// Defines v as one number for the whole tile, before the loop.
  void define_uniform(codegen::ValueId v, const std::string& value);
  /// Defines v, lane by lane where there are lanes. It is 0 unless `valid`.
  void define_each(codegen::ValueId v, const std::string& valid, const std::string& element);

  PacketForm form_;
  Variables variables_{*this};
  std::vector<PlacedValue> values_;
  std::int64_t now_ = 0;         // the moment that is being written; each instruction takes one
  std::vector<Gather> gathers_;  // of the list that is written next
  UnitText unit_;
  Snippets snippets_;
  std::string before_;  // lines before the loop that is being written

 private:
  void write_part(const std::vector<codegen::Instr>& list, std::size_t first, std::size_t last,
                  const CodePosition& place);
  void keep(codegen::ValueId v, const CodePosition& place) override;
  void written(const codegen::Instr& in, const CodePosition& place) override;

  int tile_indent_ = 0;  // of the tiles that a loop fills
};

}  // namespace oriel::source::cpp
