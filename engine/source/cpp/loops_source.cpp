#include "source/cpp/loops_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "source/cpp/frame.hpp"
#include "source/cpp/heading.hpp"
#include "source/cpp/spelling.hpp"
#include "source/cpp/statements.hpp"
#include "source/cpp/unit.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

// In a kernel of at most this many instructions every value is a variable of its own.
constexpr std::size_t kNamed = 48;
// The elements of a block of rows, chosen so that the rows stay in cache from stage to stage.
constexpr std::int64_t kRowElements = 4096;
constexpr std::int64_t kMostRows = 64;
// With so many levels any number of blocks can be paired.
constexpr int kMostLevels = 54;

class Renderer : private Statements {
 public:
  Renderer(const LoopProgram& program, const LoopsForm& form)
      : Statements(program, form.open),
        name_(identifier(program.name)),
        embedded_(form.keep != Keep::Heap),
        outside_(form.keep == Keep::Frame),
        longest_tile_(form.longest_tile),
        shifted_(form.shifted),
        shared_(form.shared),
        product_(form.product) {
    std::size_t count = 0;
    for (const Stage& stage : program_.stages) {
      count += stage.body.size() + stage.outer.size();
      rows_ = rows_ || !stage.body.empty() || !stage.reductions.empty();
    }
    rows_ = rows_ && program_.orientation == Orientation::Inner && product_ == nullptr;
    variables_.set_framed(count > kNamed || outside_);
    if (product_ != nullptr) skip(product_->multiplied);
  }

  std::string run() {
    if (shifted_ >= 0) snippets_.need("Shifted");
    choose_tiles();
    variables_.set_tiles(tile_, rows_length());
    find_tiles();
    find_lives();
    set_indent(1);
    const std::string kept = declare_kept();
    const std::string loops = capture([&] { write_loops(); });
    return assemble(kept + loops);
  }
  std::int64_t frame() const { return frame_; }
  bool uses_eigen() const { return snippets_.needs("packets"); }

 private:
  void choose_tiles() {
    std::vector<std::int64_t> extents;
    std::int64_t longest = 1;
    for (const Stage& stage : program_.stages) {
      if (!rows_ || (stage.body.empty() && stage.reductions.empty())) continue;
      extents.push_back(stage.inner.empty() ? 1 : stage.inner.back().value());
      longest = std::max(longest, numel(stage.inner, "render").value());
    }
    const std::int64_t last = program_.outer.empty() ? 1 : program_.outer.back().value();
    if (!rows_) extents.push_back(last);
    choose_gathers();
    const bool gathers = std::find(in_registers_.begin(), in_registers_.end(), true) != in_registers_.end();
    tile_ = std::min(tile_length(extents, gathers ? kReductionBlock : 256), longest_tile_);
    // Blocks of columns that wait to be paired take much memory where their number is open.
    if (open_sizes() && !open_unit()) tile_ = std::min(rows_ ? 256 : 128, longest_tile_);
    if (open_unit() && rows_) tile_ = 256;
    if (open_unit() && !rows_ && !outer().empty() && outer().back().is_symbolic()) tile_ = columns_tile(program_);
    // A shorter tile would begin in the middle of the lanes.
    if (gathers) tile_ = std::max(tile_, kReductionLanes);
    row_step_ = std::clamp<std::int64_t>(std::min(kRowElements / longest, last), 1,
                                         std::min<std::int64_t>(kMostRows, longest_tile_));
    if (open_unit()) row_step_ = kMostRows;  // at most: open_rows()
  }

  /// Rows of packets are reduced in registers if each tile begins at lane 0 and ends in the block in which it begins.
  void choose_gathers() {
    if (!rows_ || !form_.packets || variables_.framed() || longest_tile_ < kReductionLanes) return;
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const Stage& stage = program_.stages[s];
      if (stage.body.empty() || stage.reductions.empty() || stage.inner.empty()) continue;
      const SymInt last = inner(s).back();
      const bool whole = inner(s).size() == 1 || (!last.is_symbolic() && last.value() % kReductionBlock == 0);
      const bool main_type = std::all_of(stage.reductions.begin(), stage.reductions.end(),
                                         [&](const Reduction& r) { return r.dtype == form_.main; });
      if (whole && main_type && fills_lanes(stage)) in_registers_[s] = true;
    }
  }

  // Moments are numbered: one for each instruction of a stage's body, one for the end of its loops, one for each of its
  // outer instructions.
  void find_lives() {
    for (PlacedValue& value : values_) value.last_use = -1;
    outer_.assign(program_.values.size(), false);
    read_inside_.assign(program_.stages.size(), {});
    std::int64_t now = 0;
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const Stage& stage = program_.stages[s];
      const std::int64_t end = now + static_cast<std::int64_t>(stage.body.size());
      std::set<ValueId> seen;
      const auto read = [&](ValueId v, std::int64_t time) {
        if (v == kNoValue) return;
        // Loops repeat, so an outer value that they read lives to their end.
        values_[at(v)].last_use = outer_[at(v)] ? end : time;
        if (outer_[at(v)] && seen.insert(v).second) read_inside_[s].push_back(v);
      };
      for (const Instr& in : stage.body) {
        for (const ValueId v : {in.a, in.b, in.c}) read(v, now);
        ++now;
      }
      for (const Reduction& r : stage.reductions) read(r.input, end);
      for (const Instr& in : stage.body)
        if (product_ != nullptr && in.result == skipped())
          for (const ValueId v : {in.a, in.b}) read(v, end);
      for (const Reduction& r : stage.reductions) outer_[at(r.result)] = true;
      ++now;
      for (const Instr& in : stage.outer) {
        for (const ValueId v : {in.a, in.b, in.c}) {
          if (v != kNoValue) values_[at(v)].last_use = now;
        }
        if (in.result != kNoValue) outer_[at(in.result)] = true;
        ++now;
      }
    }
  }

  // --- loops --------------------------------------------------------------------------------------------------------

  void open_loop(const std::string& name, const std::string& first, const std::string& end, const std::string& step) {
    if (variables_.framed()) {
      variables_.member(position_type(), name);
      open("for (f.{0} = {1}; f.{0} < {2}; {3}) {{", name, first, end,
           step == "1" ? "++f." + name : "f." + name + " += " + step);
    } else {
      open("for (Int {0} = {1}; {0} < {2}; {3}) {{", name, first, end,
           step == "1" ? "++" + name : name + " += " + step);
    }
  }

  /// Writes the loops over the range's outer points, run by run along the last loop.
  void write_loops() {
    const std::size_t rank = program_.outer.size();
    CodePosition outer;
    outer.tile = rows_ ? "Rows" : "Tile";
    outer.width = 0;
    outer.count = variables_.var(rows_ ? "rows" : "n");
    for (std::size_t d = 0; d < rank; ++d) outer.names.push_back(variables_.var(fmt::format("o{}", d)));
    std::string body;
    const auto stages = [&] {
      now_ = 0;
      each_stage([&](std::size_t s) { write_loops(s, outer); }, [&](std::size_t s) { write_outer(s, outer); });
    };
    if (rank == 0) {
      line("static_cast<void>(first);");
      line("static_cast<void>(last);");
      variables_.set(position_type(), rows_ ? "rows" : "n", "1");
      line("static_cast<void>({});", outer.count);
      return stages();
    }
    if (std::any_of(program_.outer.begin(), program_.outer.end(), [](const SymInt& n) { return n.value() == 0; })) {
      line("static_cast<void>(first);");
      line("static_cast<void>(last);");
      return;
    }
    const std::string base = fmt::format("o{}{}", rank - 1, rows_ ? "_first" : "");
    outer.names.back() = variables_.var(base);
    outer.fast = static_cast<int>(rank) - 1;
    SymInt below = 1;
    for (std::size_t d = rank; d-- > 0;) {
      const bool first = !below.is_symbolic() && below.value() == 1;
      const std::string part = first ? "first" : fmt::format("first / {}", size(below));
      variables_.declare(position_type(), d + 1 == rank ? base : fmt::format("o{}", d),
                         d == 0 ? part : fmt::format("{} % {}", part, size(this->outer()[d])));
      below *= this->outer()[d];
    }
    const int depth = indent();
    elsewhere(body, depth + 1, stages);
    open("for (Int left = last - first; left > 0;) {{");
    std::string length = fmt::format("least({} - {}, left)", size(this->outer().back()), variables_.var(base));
    if (rows_) {
      length = fmt::format("least({}, {})", length, open_unit() ? variables_.var("row_step") : "kRowStep");
    } else if (uses_tiles()) {
      length = fmt::format("least({}, kTile)", length);
    }
    variables_.set(position_type(), rows_ ? "rows" : "n", length);
    body.erase(0, 2 * static_cast<std::size_t>(depth + 1));
    if (!body.empty()) line("{}", std::string_view(body).substr(0, body.size() - 1));
    line("left -= {};", outer.count);
    line("{} += {};", variables_.var(base), outer.count);
    for (std::size_t d = rank - 1; d > 0; --d) {
      const std::string name = variables_.var(d + 1 == rank ? base : fmt::format("o{}", d));
      open("if ({} == {}) {{", name, size(this->outer()[d]));
      line("{} = 0;", name);
      line("++{};", variables_.var(fmt::format("o{}", d - 1)));
    }
    for (std::size_t d = rank - 1; d > 0; --d) close();
    close();
  }

  /// Declares the rows that a block keeps from stage to stage. They have 64 elements more, so that whole registers may
  /// be written.
  std::string declare_kept() {
    if (open_unit() && rows_ && !outer().empty()) from_sizes_ = open_rows(kRowElements, kMostRows);
    std::string text;
    for (const Stage& stage : program_.stages) {
      for (const Instr& in : stage.body) {
        if (in.result == kNoValue || kept_[at(in.result)].empty() || open_unit()) continue;
        const std::int64_t elements = row_step_ * numel(stage.inner, "render").value() + 64;
        const Type type = values_type(fmt::format("Values<{}, {}>", type_of(in.result).text, elements),
                                      program_.values[at(in.result)], elements);
        snippets_.need("Values");
        if (variables_.framed()) {
          variables_.member(type, kept_[at(in.result)]);
        } else {
          text += fmt::format("  {} {};\n", type.text, kept_[at(in.result)]);
        }
      }
    }
    return text;
  }

  void write_loops(std::size_t s, const CodePosition& outer) {
    for (const Reduction& r : program_.stages[s].reductions) take(r.result, outer.tile);
    rows_ ? write_rows(s, outer) : write_columns(s, outer);
  }

  /// Releases the operands of the stage's loops and writes its outer instructions.
  void write_outer(std::size_t s, const CodePosition& outer) {
    const Stage& stage = program_.stages[s];
    for (const ValueId v : read_inside_[s]) release(v);
    for (const Reduction& r : stage.reductions) {
      release(r.input);
      release(r.result);
    }
    ++now_;
    write_list(stage.outer, outer, fmt::format("stage{}_outer", s));
  }

  void open_inner_loops(std::size_t s, std::size_t count) {
    for (std::size_t d = 0; d < count; ++d) open_loop(fmt::format("r{}", d), "0", size(inner(s)[d]), "1");
  }

  std::string reducer(const Reduction& r) const { return fmt::format("v{}_{}", r.result, reduction_name(r.op)); }

  void declare_reducer(const Type& type, const std::string& name) {
    if (variables_.framed()) {
      variables_.member(type, name);
      line("f.{}.reset();", name);
    } else {
      line("{} {};", type.text, name);
    }
  }

  // Neighbouring outer points form a tile. The loops run over inner points one by one.
  void write_columns(std::size_t s, const CodePosition& outer) {
    const Stage& stage = program_.stages[s];
    const auto blocks = static_cast<std::uint64_t>((numel(stage.inner, "render").value() - 1) / kReductionBlock + 1);
    const bool one = one_block(stage) && (!open_sizes() || open_unit());
    const int levels = one ? 1 : open_sizes() ? kMostLevels : static_cast<int>(std::bit_width(blocks));
    const Instr* const product = product_of(s);
    for (const Reduction& r : stage.reductions) {
      snippets_.need(product != nullptr ? "ColumnProducts" : "ColumnReduction");
      const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
      const DType dtype = program_.values[at(r.result)];
      declare_reducer(product != nullptr ? column_products_type(functor, dtype, tile_, levels)
                                         : column_reduction_type(functor, dtype, tile_, levels),
                      reducer(r));
      if (product != nullptr) line("{}.begin({});", variables_.var(reducer(r)), variables_.var("order"));
    }
    CodePosition place = outer;
    for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(variables_.var(fmt::format("r{}", d)));
    if (stage.inner.empty()) open("{{");
    open_inner_loops(s, stage.inner.size());
    write_list(stage.body, place, fmt::format("stage{}_body", s));
    for (const Reduction& r : stage.reductions) {
      if (product != nullptr) {
        line("{}.add({}, {}, {});", variables_.var(reducer(r)), values_[at(product->a)].text,
             values_[at(product->b)].text, outer.count);
      } else {
        line("{}.{}({}, {});", variables_.var(reducer(r)), one ? "add_to_block" : "add", values_[at(r.input)].text,
             outer.count);
      }
    }
    for (std::size_t d = 0; d < std::max<std::size_t>(stage.inner.size(), 1); ++d) close();
    for (const Reduction& r : stage.reductions) {
      line("{}.result({}, {});", variables_.var(reducer(r)), values_[at(r.result)].text, outer.count);
    }
  }

  /// The product that the stage's sum adds up by itself; null if it adds values.
  const Instr* product_of(std::size_t s) const {
    for (const Instr& in : program_.stages[s].body)
      if (skipped() != kNoValue && in.result == skipped()) return &in;
    return nullptr;
  }

  // Neighbouring inner points form a tile. The loops run over the outer points of a block one by one.
  void write_rows(std::size_t s, const CodePosition& outer) {
    const Stage& stage = program_.stages[s];
    CodePosition place;
    place.tile = "Tile";
    place.width = 0;
    place.count = variables_.var("n");
    for (std::size_t d = 0; d < program_.outer.size(); ++d)
      place.names.push_back(variables_.var(fmt::format("o{}", d)));
    if (place.names.empty()) {
      open("{{");
      variables_.set(position_type(), "row", "0");
    } else {
      const std::string last = fmt::format("o{}", place.names.size() - 1);
      open_loop(last, outer.names.back(), outer.names.back() + " + " + outer.count, "1");
      variables_.set(position_type(), "row", place.names.back() + " - " + outer.names.back());
    }
    for (const Reduction& r : stage.reductions) {
      snippets_.need("RowReduction");
      const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
      declare_reducer(row_reduction_type(functor, program_.values[at(r.result)]), reducer(r));
    }
    const bool gathered = in_registers_[s];
    std::vector<Gather> gathers;
    for (const Reduction& r : stage.reductions) {
      if (!gathered) break;
      const Op combination = graph::row(r.op).combination;
      const bool extreme = combination == Op::Max || combination == Op::Min;
      const std::string lanes = std::string(graph::name(combination)) + "Lanes";
      snippets_.need(lanes);
      gathers.push_back({r.input, reducer(r) + "_lanes", reducer(r)});
      line("{}<{}> {};", extreme ? "GatheredExtreme" : "Gathered", lanes, gathers.back().lanes);
    }
    // In these loops an outer value is one number: an element of its tile.
    std::map<ValueId, std::string> outside;
    for (const ValueId v : read_inside_[s]) {
      if (values_[at(v)].scalar) continue;
      const std::string name = fmt::format("v{}_row", v);
      variables_.set(type_of(v), name, fmt::format("{}[{}]", values_[at(v)].text, variables_.var("row")));
      outside[v] = std::exchange(values_[at(v)].text, variables_.var(name));
      values_[at(v)].scalar = true;
    }
    const std::size_t slow = stage.inner.empty() ? 0 : stage.inner.size() - 1;
    open_inner_loops(s, slow);
    for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(variables_.var(fmt::format("r{}", d)));
    std::string position = variables_.var("row");
    for (std::size_t d = 0; d < stage.inner.size(); ++d)
      position = fmt::format("({} * {} + {})", position, size(inner(s)[d]), place.names[program_.outer.size() + d]);
    kept_at_ = position;
    if (stage.inner.empty()) {
      variables_.set(position_type(), "n", "1");
    } else {
      place.fast = static_cast<int>(place.names.size()) - 1;
      open_loop(fmt::format("r{}", slow), "0", size(inner(s).back()), "kTile");
      variables_.set(position_type(), "n",
                     fmt::format("least(kTile, {} - {})", size(inner(s).back()), place.names.back()));
    }
    gathers_ = std::move(gathers);
    write_list(stage.body, place, fmt::format("stage{}_body", s));
    gathers_.clear();
    for (const Reduction& r : stage.reductions) {
      if (gathered) {
        line("{}.took({});", reducer(r), place.count);
      } else {
        line("{}.add({}, {});", variables_.var(reducer(r)), values_[at(r.input)].text, place.count);
      }
    }
    for (std::size_t d = 0; d < stage.inner.size(); ++d) close();
    for (auto& [v, text] : outside) {
      values_[at(v)].text = text;
      values_[at(v)].scalar = false;
    }
    for (const Reduction& r : stage.reductions) {
      line("{}[{}] = {}.result();", values_[at(r.result)].text, variables_.var("row"), variables_.var(reducer(r)));
    }
    close();
  }

  std::int64_t rows_length() const { return (row_step_ + 15) / 16 * 16; }

  // --- the unit -----------------------------------------------------------------------------------------------------

  std::optional<DType> packet_type() const { return form_.packets ? std::optional(form_.main) : std::nullopt; }

  /// The types and constants of this kernel.
  std::string types() const {
    std::string text;
    if (snippets_.needs("Values")) {
      text += fmt::format(
          "\n/// Values that belong to neighbouring points.\nconstexpr int kTile = {};\ntemplate <class T>\nusing Tile "
          "= "
          "Values<T, kTile>;\n",
          tile_);
      if (rows_) text += fmt::format("template <class T>\nusing Rows = Values<T, {}>;\n", rows_length());
    }
    if (rows_ && !program_.outer.empty() && !open_unit())
      text += fmt::format("[[maybe_unused]] constexpr Int kRowStep = {};\n", row_step_);
    if (!unit_.numbers.empty()) text += "\n" + unit_.numbers;
    return text;
  }

  std::string assemble(const std::string& loops) {
    std::string text = open_sizes() ? open_heading() : heading(program_, buffers_);
    std::string helpers;
    if (shared_ != nullptr) {
      helpers = share_helpers(*shared_, packet_type(), snippets_);
      text += include_of(*shared_);
    } else {
      helpers = helper_types(packet_type(), snippets_) + snippets_.text();
      for (const std::string& include : includes(snippets_, outside_)) text += include;
      text += '\n';
    }
    text += fmt::format("namespace kernel_{} {{\n\n", name_);
    text += "/// A number given at launch.\nunion Scalar {\n  std::int64_t i;\n  double f;\n};\n\nnamespace {\n\n";
    text += helpers + types();
    const std::string sizes = open_sizes() ? read_sizes(product_) : "";
    if (variables_.framed()) {
      for (std::size_t a = 0; a < buffers_.size(); ++a) variables_.member(argument_type(a), buffers_[a]);
      text += "\n/// What the kernel's functions share.\nstruct Frame {\n" + variables_.members().text() + "};\n";
      const std::string run = "\nvoid run(Frame& f, Int first, Int last) {\n" + loops + "}\n";
      // In a source for people the loops come first.
      text += shared_ != nullptr ? "\n" + unit_.declarations + run + unit_.functions : unit_.functions + run;
    }
    text += fmt::format(
        "\n}}  // namespace\n\n{} void {}(void* const* arguments, const Scalar* parameters, Int first, Int last{}{}) "
        "{{\n",
        embedded_ ? "__attribute__((noinline)) static" : R"(extern "C" __attribute__((visibility("default"))))", name_,
        open_sizes() ? ", const Int* sizes" : "", outside_ ? ", void* frame" : "");
    if (outside_) {
      frame_ = variables_.members().bytes();
      text += fmt::format(
          "  static_assert(sizeof(Frame) <= {} && alignof(Frame) <= 64, \"\");\n  Frame& f = *new (frame) Frame;\n",
          frame_);
    }
    if (variables_.framed() && !outside_)
      text += embedded_ ? "  Frame f;\n" : "  Frame* const frame = new Frame;\n  Frame& f = *frame;\n";
    for (std::size_t a = 0; a < buffers_.size(); ++a) {
      const std::string pointer = argument_type(a).text;
      text += variables_.framed() ? fmt::format("  f.{} = ", buffers_[a])
                                  : fmt::format("  [[maybe_unused]] {} const {} = ", pointer, buffers_[a]);
      text += fmt::format(
          fmt::runtime(shifted(a) ? "*static_cast<const {}*>(arguments[{}]);\n" : "static_cast<{}>(arguments[{}]);\n"),
          pointer, a);
    }
    if (unit_.set_up.empty()) text += "  static_cast<void>(parameters);\n";
    text += unit_.set_up + sizes + from_sizes_;
    text += variables_.framed() ? "  run(f, first, last);\n" : loops;
    if (variables_.framed() && !embedded_) text += "  delete frame;\n";
    if (streams()) text += "  stream_end();\n";
    return text + fmt::format("}}\n\n}}  // namespace kernel_{}\n", name_);
  }

  Type argument_type(std::size_t a) const {
    const std::string element =
        (program_.arguments[a].output ? "" : "const ") + memory_type(program_.arguments[a].dtype);
    return shifted(a) ? shifted_type(element) : pointer_type(element);
  }
  bool shifted(std::size_t a) const { return static_cast<int>(a) == shifted_; }

  std::string name_;
  bool embedded_;
  bool outside_;  // the caller provides the frame
  std::int64_t frame_ = 0;
  int longest_tile_;
  int shifted_;
  SharedHelpers* shared_;
  const OpenProduct* product_;
  bool rows_ = false;  // true: tiles of inner points; false: tiles of outer points
  int tile_ = 256;
  std::int64_t row_step_ = 1;
  std::string from_sizes_;  // statements that set what follows from sizes
  std::vector<bool> outer_;
  std::vector<std::vector<ValueId>> read_inside_;  // by stage: the outer values that its loops read
};

}  // namespace

LoopsSource render_loops(const LoopProgram& program, const LoopsForm& form) {
  Renderer renderer(program, form);
  std::string source = renderer.run();
  return {std::move(source), renderer.frame(), renderer.uses_eigen()};
}

}  // namespace oriel::source::cpp
