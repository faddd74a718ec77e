// The instructions of a loop program as statements over tiles.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/eigen/snippets.hpp"
#include "backend/eigen/writer.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// Where a list of instructions stands: the loops around it and how a tile lies in them.
struct Place {
  std::string tile;                // "Tile" or "Rows"
  std::vector<std::string> names;  // of the loops; the tile's loop by the position of its first element
  int fast = -1;                   // which loop the tile runs along; -1: a tile of one element
  std::string n;                   // how many elements of the tile are in use
};

/// A tile's element in a one-view access: where the first one lies, the step along the tile, and the valid part.
struct Reach {
  std::string position;
  std::int64_t step = 0;
  std::string condition;  // on the loops around the tile; empty: always
  std::string segment;    // empty: the whole tile
};
Reach reach(const View& view, const Place& place);

/// Writes statements, and knows how each value is read.
class Statements : public Writer {
 protected:
  explicit Statements(const codegen::LoopProgram& program);

  /// A list of instructions, from moment `now` on; a large kernel's in functions named after `name`.
  void write_list(const std::vector<codegen::Instr>& list, const Place& place, const std::string& name,
                  std::int64_t& now);
  /// Value v as a tile that is given whole.
  void define(codegen::ValueId v, const Place& place, const std::string& value);
  /// A tile for v: a variable of its own, or the frame's first free one.
  void take(codegen::ValueId v, const std::string& tile);
  /// Gives v's tile back unless it is read after `now`.
  void release(codegen::ValueId v, std::int64_t now);
  std::string type_of(codegen::ValueId v) const;
  std::string tile_type(codegen::ValueId v, const std::string& tile) const;
  /// A remark that tells which value a reused tile holds.
  std::string note(codegen::ValueId v) const;

  const codegen::LoopProgram& program_;
  std::vector<std::string> buffers_;  // the arguments' names
  std::vector<std::string> text_;     // how each value is read
  std::vector<bool> scalar_;          // one number for the whole tile
  std::vector<std::int64_t> last_use_;
  std::string parts_;    // functions that hold a large kernel's statements
  std::string numbers_;  // constants
  std::string set_up_;   // statements that read the parameters
  Snippets snippets_;

 private:
  void write_timed(const codegen::Instr& in, const Place& place, std::int64_t now);
  void write_element(const codegen::Instr& in, const Place& place, const std::vector<std::string>& operands,
                     bool all_scalar);
  void write_constant(const codegen::Instr& in);
  void write_load(const codegen::Instr& in, const Place& place);
  void write_position(const codegen::Instr& in, const Place& place);
  void write_store(const codegen::Instr& in, const Place& place, const std::string& operand, bool scalar);
  template <class F>
  void write_elements(const codegen::Instr& in, const Place& place, F&& element);
  void fill(codegen::ValueId v, const Place& place, const std::string& helper, const std::string& arguments);
  void define_scalar(codegen::ValueId v, const std::string& value);
  std::string spread(codegen::ValueId v, const std::string& text, const Place& place) const;
  std::string segment(const Reach& r, const Place& place);
  std::string widened(DType dtype, const std::string& element);

  std::map<std::string, std::vector<std::string>> free_;
  std::map<codegen::ValueId, std::string> holder_;
  std::set<std::int32_t> constants_;
  int tiles_ = 0;
};

}  // namespace oriel::backend::eigen
