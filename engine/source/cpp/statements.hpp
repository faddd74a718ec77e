// The instructions of a loop program as statements over tiles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/expression.hpp"
#include "codegen/loop_program.hpp"
#include "codegen/open_kernel.hpp"
#include "source/cpp/frame.hpp"
#include "source/cpp/open_product.hpp"
#include "source/cpp/size_source.hpp"
#include "source/cpp/snippets.hpp"
#include "source/statements.hpp"

namespace oriel::source::cpp {

/// A kernel whose sizes are symbols. The program beside it is the same kernel at some sizes: what only speed depends on
/// follows that program.
struct OpenSizes {
  const codegen::OpenKernel* kernel;
  SizeTable* table;
  std::span<const SizeNumber> numbers;  // the parameters that are sizes; the others must be constants
};

/// Writes lists of instructions as loops over a tile: a value is a variable of the loop's body, one element (or, in a
/// kernel of packets, as many as a register holds); only what leaves the loop lies in a tile.
class Statements : public source::Statements {
 protected:
  /// `open`: null if all sizes are numbers.
  explicit Statements(const codegen::LoopProgram& program, const OpenSizes* open = nullptr);

  bool open_sizes() const { return open_ != nullptr; }
  const codegen::OpenKernel& open_kernel() const { return *open_->kernel; }
  /// A size as text: a number, or a variable that the kernel reads from the table of sizes.
  std::string size(SymInt n);
  /// The comment above the kernel.
  std::string open_heading() const;
  /// Statements that read the sizes that were asked for, and choose the order of the product if there is one. To be
  /// called once, after all else.
  std::string read_sizes(const OpenProduct* product);
  /// Value v is not computed: the reduction that reads it multiplies by itself.
  void skip(codegen::ValueId v) { skipped_ = v; }
  codegen::ValueId skipped() const { return skipped_; }

  /// In a large kernel variables are members of a frame that its functions share; otherwise they are declared where
  /// they are set.
  void set_framed(bool framed) { framed_ = framed; }
  bool framed() const { return framed_; }
  /// A variable of the kernel.
  std::string var(const std::string& name) const { return framed_ ? "f." + name : name; }
  /// Declares and sets it, or sets the frame's member.
  void set(const Type& type, const std::string& name, const std::string& value);
  /// The same for a variable that changes.
  void declare(const Type& type, const std::string& name, const std::string& value);
  void member(const Type& type, const std::string& name) { members_.add(type, name); }
  const FrameMembers& members() const { return members_; }
  /// Elements of a Tile and of Rows, before anything is written.
  void set_tiles(std::int64_t tile, std::int64_t rows) {
    tile_elements_ = tile;
    rows_elements_ = rows;
  }

  /// A list of instructions; a large kernel's in functions named after `name`.
  void write_list(const std::vector<codegen::Instr>& list, const CodePosition& place, const std::string& name);
  /// A tile for v, declared here.
  void take(codegen::ValueId v, const std::string& tile);
  /// Gives v's tile back unless it is read after now.
  void release(codegen::ValueId v);
  Type type_of(codegen::ValueId v) const { return number_type(program_.values[at(v)]); }
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

  std::vector<std::string> text_;  // a variable, or the tile that holds the value
  std::vector<bool> scalar_;       // one number for the whole tile
  std::vector<std::int64_t> last_use_;
  std::int64_t now_ = 0;           // the moment that is being written; each instruction takes one
  std::string parts_;              // functions that hold a large kernel's statements
  std::string part_declarations_;  // of these
  std::string numbers_;            // constants
  std::string set_up_;             // statements that read the parameters
  Snippets snippets_;
  std::vector<Gather> gathers_;  // of the list that is written next

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
  const View& open_view(std::int32_t access) const { return open_->kernel->accesses[at(access)].tracker.views()[0]; }
  std::string open_position(const View& view, const std::vector<std::string>& names);
  std::string open_condition(const View& view, const std::vector<std::string>& names, int fast);
  std::string elements_of(std::int32_t argument);
  /// The text of a constant that is a size; empty for others.
  std::string size_constant(std::int32_t constant, const std::string& type);

  void choose_form();
  void find_tiles();
  bool streamed(const codegen::Access& access, std::int64_t step) const;
  void write_part(const std::vector<codegen::Instr>& list, std::size_t first, std::size_t last,
                  const CodePosition& place);
  void keep(codegen::ValueId v, const CodePosition& place) override;
  void written(const codegen::Instr& in, const CodePosition& place) override;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  void define(codegen::ValueId v, const std::string& value);
  /// Value v as one number for the whole tile, before the loop.
  void define_uniform(codegen::ValueId v, const std::string& value);
  /// Value v, lane by lane where there are lanes: 0 unless `valid`.
  void define_each(codegen::ValueId v, const std::string& valid, const std::string& element);
  /// The number of an element in the tile, where one element's text is written.
  const char* element() const { return packets_ ? "e" : "k"; }
  std::string read(codegen::ValueId v);
  const char* unread(codegen::ValueId v) const;
  std::string segment(const std::optional<Lanes>& cut, const std::string& condition, const CodePosition& place);
  std::string widened(DType dtype, const std::string& element);
  std::string narrowed(DType dtype, const std::string& element);

  const OpenSizes* open_;
  std::set<std::size_t> sizes_used_;
  codegen::ValueId skipped_ = codegen::kNoValue;
  int tile_indent_ = 0;  // of the tiles that a loop fills
  bool framed_ = false;
  FrameMembers members_;
  std::int64_t tile_elements_ = 0;
  std::int64_t rows_elements_ = 0;
  bool packets_ = false;
  DType main_ = DType::float32;
  bool streams_ = false;
  bool uses_tiles_ = false;
  std::vector<bool> in_registers_;  // by stage
  std::vector<bool> leaves_;        // is read outside the loop that makes it
  std::vector<bool> tiled_;         // text_ is a tile
  std::string before_;              // lines before the loop that is being written
  std::map<std::string, std::vector<std::string>> free_;
  std::map<codegen::ValueId, std::string> holder_;
  std::set<std::int32_t> constants_;
  int tiles_ = 0;
  int segments_ = 0;
};

}  // namespace oriel::source::cpp
