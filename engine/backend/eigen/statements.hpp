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

/// A tile's elements in a one-view access: where the first one lies, the step along the tile, and the valid part.
struct TileSpot {
  std::string position;
  std::int64_t step = 0;
  std::string condition;  // on the loops around the tile; empty: always
  std::string segment;    // empty: the whole tile
};
TileSpot reach(const View& view, const Place& place);

/// Writes lists of instructions as loops over a tile: a value is a variable of the loop's body, one element (or, in a
/// kernel of packets, as many as a register holds); only what leaves the loop lies in a tile.
class Statements : public Writer {
 protected:
  explicit Statements(const codegen::LoopProgram& program);

  /// A list of instructions, from moment `now` on; a large kernel's in functions named after `name`.
  void write_list(const std::vector<codegen::Instr>& list, const Place& place, const std::string& name,
                  std::int64_t& now);
  /// A tile for v, declared here.
  void take(codegen::ValueId v, const std::string& tile);
  /// Gives v's tile back unless it is read after `now`.
  void release(codegen::ValueId v, std::int64_t now);
  std::string type_of(codegen::ValueId v) const;
  /// The stage that is being written, and where in what a row keeps the tile's first element is.
  void enter_stage(int stage, const std::string& kept_at) {
    stage_ = stage;
    kept_at_ = kept_at;
  }
  /// A reduction whose lanes stay in registers while the loop runs, under this name beside its reducer's.
  struct Gather {
    codegen::ValueId input = codegen::kNoValue;
    std::string lanes;
    std::string reducer;
  };
  /// Stage s gathers so: its reductions' inputs need no tile. Before anything is written.
  void gather_in_registers(std::size_t s) { in_registers_[s] = true; }
  bool in_registers(std::size_t s) const { return in_registers_[s]; }
  /// Does any value leave the loop that it is made in?
  bool uses_tiles() const { return uses_tiles_; }
  bool packets() const { return packets_; }
  /// The element type of packets.
  DType main() const { return main_; }
  bool streams() const { return streams_; }

  const codegen::LoopProgram& program_;
  std::vector<std::string> buffers_;  // the arguments' names
  std::vector<std::string> text_;     // a variable, or the tile that holds the value
  std::vector<bool> scalar_;          // one number for the whole tile
  std::vector<std::int64_t> last_use_;
  std::vector<std::string> kept_;  // where a value that later stages read is kept; empty for all others
  std::string parts_;              // functions that hold a large kernel's statements
  std::string numbers_;            // constants
  std::string set_up_;             // statements that read the parameters
  Snippets snippets_;
  std::vector<Gather> gathers_;  // of the list that is written next

 private:
  void choose_form();
  void find_tiles();
  bool streamed(const codegen::Access& access, const TileSpot& r) const;
  void write_part(const std::vector<codegen::Instr>& list, std::size_t first, std::size_t last, const Place& place,
                  std::int64_t& now);
  void write(const codegen::Instr& in, const Place& place);
  void write_element(const codegen::Instr& in);
  void write_constant(const codegen::Instr& in);
  void write_load(const codegen::Instr& in, const Place& place);
  void write_gather(const codegen::Instr& in);
  void write_position(const codegen::Instr& in, const Place& place);
  void write_store(const codegen::Instr& in, const Place& place);
  void define(codegen::ValueId v, const std::string& value);
  /// Value v as one number for the whole tile, before the loop.
  void define_uniform(codegen::ValueId v, const std::string& value);
  /// Value v, lane by lane where there are lanes: 0 unless `valid`.
  void define_each(codegen::ValueId v, const std::string& valid, const std::string& element);
  /// The number of an element in the tile, where one element's text is written.
  const char* element() const { return packets_ ? "e" : "k"; }
  std::string read(codegen::ValueId v);
  const char* unread(codegen::ValueId v) const;
  std::string segment(const TileSpot& r, const Place& place);
  std::string widened(DType dtype, const std::string& element);
  std::string narrowed(DType dtype, const std::string& element);

  bool packets_ = false;
  DType main_ = DType::float32;
  bool streams_ = false;
  bool uses_tiles_ = false;
  int stage_ = 0;
  std::vector<bool> in_registers_;  // by stage
  std::string kept_at_;
  std::vector<int> home_;     // the stage whose body makes a kept value
  std::vector<bool> leaves_;  // is read outside the loop that makes it
  std::vector<bool> tiled_;   // text_ is a tile
  std::string before_;        // lines before the loop that is being written
  std::map<std::string, std::vector<std::string>> free_;
  std::map<codegen::ValueId, std::string> holder_;
  std::set<std::int32_t> constants_;
  int tiles_ = 0;
  int segments_ = 0;
};

}  // namespace oriel::backend::eigen
