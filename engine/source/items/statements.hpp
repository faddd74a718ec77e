// The instructions of a loop program as statements over lanes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"
#include "source/items/spelling.hpp"
#include "source/items/work_division.hpp"
#include "source/statements.hpp"

namespace oriel::source::items {

/// The numbers of a kernel that become its arguments, while there is room.
class KernelNumbers {
 public:
  explicit KernelNumbers(std::size_t most) : most_(most) {}

  /// Returns the text that `write` writes. Numbers of 2 or more are replaced by names of arguments. Texts with the same
  /// key share their arguments.
  std::string text(const std::string& key, const std::function<std::string(const codegen::NumberText&)>& write);
  /// The text of a number that is identified by `what`.
  std::string one(const std::string& what, std::int64_t value);
  /// The name of an argument that is 0, which the device's compiler does not know. There is always room for it.
  std::string zero();
  const std::vector<std::int64_t>& all() const noexcept { return numbers_; }

 private:
  std::vector<std::int64_t> numbers_;
  std::map<std::string, std::string> replaced_;
  std::size_t most_;
};

/// The parameters that a kernel's instructions read. A constant that is a parameter becomes one argument, at its first
/// use.
class KernelParameters {
 public:
  /// The name of the constant's argument.
  const std::string& argument(std::int32_t constant, std::int32_t parameter, DType dtype);
  /// By argument: the number and the dtype of its parameter.
  const std::vector<std::pair<std::int32_t, DType>>& all() const noexcept { return parameters_; }
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::vector<std::pair<std::int32_t, DType>> parameters_;
  std::vector<std::string> names_;
  std::map<std::int32_t, std::string> arguments_;  // by constant
};

/// The text of a value, and the number of its lanes. A value of one lane is the same in all lanes of a place.
struct NamedValue {
  std::string text;
  int width = 1;
  std::int32_t literal = -1;  // the constant that the text spells as a literal
};

/// Writes statements over lanes. Collects the numbers that become kernel arguments.
class ItemStatementWriter : public source::StatementWriter {
 public:
  /// `dialect` must outlive the object.
  ItemStatementWriter(const codegen::LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                      const WorkDivision& work);

 protected:
  /// Arguments with their dtypes: partial results, or rows in local memory.
  using Places = std::vector<std::pair<DType, std::string>>;
  /// Adds to `out`, which has grids and method, all that the statements so far need, and writes what surrounds the
  /// functions' bodies: names, arguments, and the header that describes the operands and the domain of `program`. Only
  /// the first function takes kept rows as arguments.
  Rendered finished(Rendered out, const codegen::LoopProgram& program, const std::vector<std::string>& bodies,
                    const Places& partials = {}, const Places& kept = {}) const;

  /// Every number of 2 or more becomes a kernel argument while there is room. Expressions with the same text share
  /// their arguments.
  std::string spelled(const std::function<std::string(const codegen::NumberText&)>& write) override;
  /// A loop's extent.
  std::string extent(const std::string& loop, std::int64_t value) { return numbers_.one("extent of " + loop, value); }
  std::string outer_extent(std::size_t d) { return extent(fmt::format("o{}", d), program_.outer[d].value()); }
  std::string inner_extent(std::size_t s, std::size_t d) {
    return extent(fmt::format("stage {} r{}", s, d), program_.stages[s].inner[d].value());
  }
  /// Declares the points of these outer loops, which `id` counts row-major. The last one runs fastest.
  void write_points(const std::vector<std::size_t>& loops, const std::string& id);

  /// A reduction may be split into parts along one loop of a stage, whose partial results are in memory until a second
  /// function joins them. Sums of floats are added in blocks of kSummedInARow.
  /// @{
  static bool blocked(const codegen::Reduction& r) { return r.op == graph::Op::Sum && is_floating(r.dtype); }
  /// Where a loop of the stage begins and ends in the part at hand.
  std::string first_of(std::size_t d) const { return split_along(d) ? "first" : "0"; }
  std::string end_of(std::size_t s, std::size_t d) { return split_along(d) ? "end" : inner_extent(s, d); }
  /// The arguments for the stage's partial results, whose bytes are added to `out`.
  Places partials_of(const codegen::Stage& stage, Rendered& out) const;
  /// The partial results of part `part` at a place of outer points.
  /// @{
  std::string load_partial(const codegen::Reduction& r, const CodePosition& place);
  std::string store_partial(const codegen::Reduction& r, const CodePosition& place, const std::string& value);
  /// @}
  /// @}

  // Local memory has one element of padding after each 32, which puts the elements that items read side by side on
  // different banks.
  static constexpr int kBanks = 32;
  static constexpr int padded(int elements) { return elements + elements / kBanks; }
  static std::string slot(const std::string& index) { return fmt::format("({0}) + ({0}) / {1}", index, kBanks); }

  /// A value as an operand at a place: its lanes, or one number in all of them.
  std::string read(codegen::ValueId v, const CodePosition& place);
  void define(codegen::ValueId v, const std::string& value, int width);
  /// The lanes of an affine access that is loaded contiguously along `place.fast`.
  std::string run_of(const codegen::Access& access, const CodePosition& place);
  /// Takes these instructions into account in how values are rounded to halves.
  void count_roundings(std::initializer_list<std::span<const codegen::Instr>> lists);
  /// Gives a name to a value that is computed elsewhere.
  void name(codegen::ValueId v, const std::string& text, int width);

  std::string value_type(DType dtype, int width = 1) const { return dialect_.value_type(dtype, width); }
  std::string local_pointer(const std::string& type, bool constant) const {
    return dialect_.pointer(MemorySpace::Local, type, constant);
  }

  const Dialect& dialect_;
  const WorkDivision work_;
  const std::string int_;  // the type of positions
  Helpers helpers_;
  std::map<std::int32_t, std::string> at_hand_;  // lanes of accesses that were loaded before
  KernelNumbers numbers_;
  KernelParameters parameters_;

 private:
  /// The lanes of an affine access.
  struct Lanes {
    std::string position;  // the position of lane 0
    std::int64_t step = 0;
    std::string step_text;
    std::string first, last;  // the valid lanes: [first, last)
    std::string condition;    // the condition for all lanes; empty: always valid
    bool some_lanes = false;  // do first or last depend on the lane?
  };
  bool split_along(std::size_t d) const { return work_.parts > 1 && d == work_.split_loop; }
  std::string partial_at(const CodePosition& place);
  Lanes lanes_of(const codegen::Access& access, const CodePosition& place);
  /// Position and condition of lane k, with numbers as arguments.
  codegen::AccessText access_text(const codegen::Access& access, const CodePosition& place, bool with_index = true);
  void keep(codegen::ValueId v, const CodePosition& place) override;
  void write_element(const codegen::Instr& in, const CodePosition& place) override;
  void write_constant(const codegen::Instr& in) override;
  void write_load(const codegen::Instr& in, const CodePosition& place) override;
  void write_gather(const codegen::Instr& in, const CodePosition& place) override;
  void write_position(const codegen::Instr& in, const CodePosition& place) override;
  void write_store(const codegen::Instr& in, const CodePosition& place) override;
  /// A float whose bits the device's compiler cannot know.
  std::string hidden(const graph::Scalar& value);
  void by_lanes(codegen::ValueId v, const CodePosition& place, const std::string& valid, const std::string& element);

  std::vector<NamedValue> values_;
  std::ptrdiff_t roundings_ = 0;  // to halves, in the instructions seen so far
};

}  // namespace oriel::source::items
