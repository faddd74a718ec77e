// The instructions of a loop program as OpenCL statements over lanes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/items/spelling.hpp"

namespace oriel::source::items {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// Where instructions stand: the loops' names, and which of them runs along the lanes. `names[fast]` is lane 0's; lanes
/// [0, count) exist.
struct Place {
  std::vector<std::string> names;
  int fast = -1;
  int width = 1;
  std::string count = "1";
};

/// Writes lines, and knows the numbers that become kernel arguments.
class Statements {
 public:
  Statements(const codegen::LoopProgram& program, std::size_t most_numbers);

 protected:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    text_.append(2 * static_cast<std::size_t>(indent_), ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(arguments)...);
    text_ += '\n';
  }
  template <class... T>
  void open(fmt::format_string<T...> format, T&&... arguments) {
    line(format, std::forward<T>(arguments)...);
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }

  /// The text with each number of 2 and more as an argument of the kernel, as long as there is room for these. Equal
  /// texts have equal arguments.
  std::string with_arguments(const std::string& text);
  /// A loop's extent.
  std::string extent(const std::string& loop, std::int64_t value) {
    return with_arguments_for("extent of " + loop, std::to_string(value));
  }

  void write_list(const std::vector<codegen::Instr>& list, const Place& place, bool stores = true);
  /// A value as an operand at a place: its lanes, or one number in all of them.
  std::string read(codegen::ValueId v, const Place& place);
  void define(codegen::ValueId v, const std::string& value, int width);
  /// The lanes of an affine access that is loaded along `place.fast`.
  std::string run_of(const codegen::Access& access, const Place& place);
  /// The name of a value that is made elsewhere.
  void name(codegen::ValueId v, const std::string& text, int width);

  const codegen::LoopProgram& program_;
  Helpers helpers_;
  std::vector<std::string> buffers_;  // of the arguments
  std::vector<std::string> kept_;     // the row that a value is kept in, or empty
  std::string kept_at_;               // where in these rows the lanes of the place at hand are
  int stage_ = -1;
  std::map<std::int32_t, std::string> at_hand_;  // lanes of accesses that are loaded already
  std::vector<int> home_;                        // the stage in whose body a value is made
  std::vector<std::int64_t> numbers_;
  std::vector<std::pair<std::int32_t, DType>> parameters_;
  std::vector<std::string> parameter_names_;
  std::string text_;
  int indent_ = 1;

 private:
  struct Reach {
    std::string position;  // of lane 0
    std::int64_t step = 0;
    std::string step_text;
    std::string first, last;  // lanes that are valid
    std::string condition;    // of all lanes; empty: none
    bool some_lanes = false;  // first or last depend on the lane's place
  };
  Reach reach(const View& view, const Place& place);
  std::string with_arguments_for(const std::string& key, const std::string& text);
  void write(const codegen::Instr& in, const Place& place, bool stores);
  void write_element(const codegen::Instr& in, const Place& place);
  void write_constant(const codegen::Instr& in);
  void write_load(const codegen::Instr& in, const Place& place);
  void write_gather(const codegen::Instr& in, const Place& place);
  void write_position(const codegen::Instr& in, const Place& place);
  void write_store(const codegen::Instr& in, const Place& place);
  void by_lanes(codegen::ValueId v, const Place& place, const std::string& valid, const std::string& element);

  std::vector<std::string> names_;
  std::vector<int> widths_;
  std::map<std::string, std::string> replaced_;
  std::map<std::int32_t, std::string> constants_;
  std::size_t most_numbers_;
};

}  // namespace oriel::source::items
