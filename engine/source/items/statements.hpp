// The instructions of a loop program as statements over lanes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/items/spelling.hpp"
#include "source/statements.hpp"

namespace oriel::source::items {

/// Statements over lanes; knows the numbers that become kernel arguments.
class Statements : public source::Statements {
 public:
  /// `dialect` must outlive it.
  Statements(const codegen::LoopProgram& program, const ItemDialect& dialect, std::size_t most_numbers);

 protected:
  /// Each number of 2 and more is an argument of the kernel, as long as there is room for these. What reads equal has
  /// equal arguments.
  std::string spelled(const std::function<std::string(const codegen::NumberText&)>& write) override;
  /// One number, known by what it is.
  std::string number_of(const std::string& what, std::int64_t value);
  /// A loop's extent.
  std::string extent(const std::string& loop, std::int64_t value) { return number_of("extent of " + loop, value); }

  /// A value as an operand at a place: its lanes, or one number in all of them.
  std::string read(codegen::ValueId v, const CodePosition& place);
  void define(codegen::ValueId v, const std::string& value, int width);
  /// The lanes of an affine access that is loaded along `place.fast`.
  std::string run_of(const codegen::Access& access, const CodePosition& place);
  /// The name of a value that is made elsewhere.
  void name(codegen::ValueId v, const std::string& text, int width);

  std::string value_type(DType dtype, int width = 1) const { return dialect_.value_type(dtype, width); }
  std::string local_pointer(const std::string& type, bool constant) const {
    return dialect_.pointer(MemorySpace::Local, type, constant);
  }

  const ItemDialect& dialect_;
  Helpers helpers_;
  std::map<std::int32_t, std::string> at_hand_;  // lanes of accesses that are loaded already
  std::vector<std::int64_t> numbers_;
  std::vector<std::pair<std::int32_t, DType>> parameters_;
  std::vector<std::string> parameter_names_;

 private:
  /// The lanes of an affine access.
  struct Lanes {
    std::string position;  // of lane 0
    std::int64_t step = 0;
    std::string step_text;
    std::string first, last;  // lanes that are valid
    std::string condition;    // of all lanes; empty: none
    bool some_lanes = false;  // first or last depend on the lane's place
  };
  Lanes lanes_of(const codegen::Access& access, const CodePosition& place);
  /// Position and condition for lane k, its numbers as arguments.
  codegen::AccessText access_text(const codegen::Access& access, const CodePosition& place, bool with_index = true);
  std::string numbered(const std::string& key, const std::function<std::string(const codegen::NumberText&)>& write);
  void keep(codegen::ValueId v, const CodePosition& place) override;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  void by_lanes(codegen::ValueId v, const CodePosition& place, const std::string& valid, const std::string& element);

  std::vector<std::string> names_;
  std::vector<int> widths_;
  std::map<std::string, std::string> replaced_;
  std::map<std::int32_t, std::string> constants_;
  std::size_t most_numbers_;
};

}  // namespace oriel::source::items
