// The instructions of a loop program as statements: what every language of the C family shares.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/expression.hpp"
#include "codegen/loop_program.hpp"
#include "source/writer.hpp"

namespace oriel::source {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// Where a list of instructions stands: the loops around it, and which of them runs along the lanes.
struct CodePosition {
  std::vector<std::string> names;  // of the loops; names[fast] is the position of lane 0
  int fast = -1;                   // -1: one point
  int width = 1;                   // lanes; 0: as many as `count` says
  std::string count = "1";         // lanes [0, count) exist
  std::string tile;                // C++: the tile that holds them, "Tile" or "Rows"

  bool one() const { return fast < 0 || width == 1; }
};
/// The loops' names for lane k.
std::vector<std::string> lane_names(const CodePosition& place, std::string_view lane = "k");

/// Points [lo, hi) of the loop along the lanes are valid, where these are not all.
struct LaneCut {
  SymInt lo;
  SymInt hi;
  bool below = false;  // does lo cut?
  bool above = false;
};

/// The condition of an access that is valid nowhere.
inline constexpr std::string_view kNever = "false";

/// Does a stage do anything at its inner points?
inline bool looped(const codegen::Stage& stage) { return !stage.body.empty() || !stage.reductions.empty(); }

/// Walks a program's stages and lists of instructions. A language says how each loop and each instruction is written.
class StatementWriter : public Writer {
 public:
  virtual ~StatementWriter() = default;

 protected:
  StatementWriter(const codegen::LoopProgram& program, std::vector<std::string> buffers);

  /// What `write` gives when it writes numbers in this language's way.
  virtual std::string spelled(const std::function<std::string(const codegen::NumberText&)>& write) {
    return write(codegen::plain_number);
  }
  /// Of an affine access: the position of lane 0, and the condition on the loops that do not run along the lanes, empty
  /// where there is none.
  std::string position(const codegen::Access& access, const CodePosition& place);
  std::string condition(const codegen::Access& access, const CodePosition& place);
  static std::int64_t step(const codegen::Access& access, const CodePosition& place);
  /// nullopt if no lane is cut off. An empty valid range also gives nullopt: condition() is then `kNever`.
  static std::optional<LaneCut> cut(const codegen::Access& access, const CodePosition& place);

  /// The stages in order: loops(s) writes the loops of a stage that has any and their body, outer(s) what follows once
  /// an outer point.
  template <class Loops, class Outer>
  void each_stage(Loops&& loops, Outer&& outer) {
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      if (looped(program_.stages[s])) {
        line("// stage {}", s);
        stage_ = static_cast<int>(s);
        loops(s);
        stage_ = -1;
      }
      outer(s);
    }
  }
  /// Instructions in order, each one's result kept where a later stage reads it. Without `stores` these are left out.
  void write_each(std::span<const codegen::Instr> list, const CodePosition& place, bool stores = true);
  void write(const codegen::Instr& in, const CodePosition& place);
  virtual void keep(codegen::ValueId v, const CodePosition& place) = 0;
  /// Called behind each instruction.
  virtual void written(const codegen::Instr& in, const CodePosition& place);
  virtual void write_element(const codegen::Instr& in, const CodePosition& place) = 0;
  virtual void write_constant(const codegen::Instr& in) = 0;
  virtual void write_load(const codegen::Instr& in, const CodePosition& place) = 0;
  virtual void write_gather(const codegen::Instr& in, const CodePosition& place) = 0;
  virtual void write_position(const codegen::Instr& in, const CodePosition& place) = 0;
  virtual void write_store(const codegen::Instr& in, const CodePosition& place) = 0;

  /// Is v read from the row in which an earlier stage kept it?
  bool kept_before(codegen::ValueId v) const { return !kept_[at(v)].empty() && home_[at(v)] != stage_; }

  const codegen::LoopProgram& program_;
  std::vector<std::string> buffers_;  // the arguments' names
  std::vector<std::string> kept_;     // the row that a value is kept in for later stages; empty for all others
  std::string kept_at_;               // where in these rows the lanes of the place at hand are
  std::vector<int> home_;             // the stage in whose body a value is made
  int stage_ = -1;                    // whose loops are being written
};

}  // namespace oriel::source
