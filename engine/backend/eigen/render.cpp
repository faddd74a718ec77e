#include "backend/eigen/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "backend/eigen/spelling.hpp"
#include "codegen/expression.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

using codegen::Access;
using codegen::Argument;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Orientation;
using codegen::Reduction;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

// Up to here every value is a variable of its own.
constexpr std::size_t kNamed = 48;
// Beyond: instructions in one function, so that no function takes a compiler long.
constexpr std::size_t kPart = 128;
// Elements of work that a block of rows is made of, so that the rows stay in cache from stage to stage.
constexpr std::int64_t kRowBlock = 4096;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += fits ? c : '_';
  }
  return text.empty() || (text[0] >= '0' && text[0] <= '9') ? "_" + text : text;
}

/// The tile length that wastes least on loops of these extents: whole blocks of the reduction order, a few elements'
/// time a tile.
int tile_length(const std::vector<std::int64_t>& extents) {
  int best = 256;
  double least = 0;
  for (int length = 256; length >= 16; length /= 2) {
    double cost = 0;
    for (const std::int64_t n : extents) {
      const auto tiles = static_cast<double>((n + length - 1) / length);
      cost += tiles * (length + 24) / static_cast<double>(std::max<std::int64_t>(n, 1));
    }
    if (length == 256 || cost < least) {
      best = length;
      least = cost;
    }
  }
  return best;
}

/// Where a list of instructions stands: the loops around it and how a tile lies in them.
struct Place {
  std::string tile;                // "Tile" or "Rows"
  std::vector<std::string> names;  // of the loops; the tile's loop by the position of its first element
  int fast = -1;                   // which loop the tile runs along; -1: a tile of one element
  std::string n;                   // how many elements of the tile are in use
};

class Renderer {
 public:
  explicit Renderer(const LoopProgram& program) : program_(program), name_(identifier(program.name)) {
    std::size_t count = 0;
    for (const Stage& stage : program_.stages) {
      count += stage.body.size() + stage.outer.size();
      rows_ = rows_ || !stage.body.empty() || !stage.reductions.empty();
    }
    rows_ = rows_ && program_.orientation == Orientation::Inner;
    framed_ = count > kNamed;
    text_.resize(program_.values.size());
    scalar_.assign(program_.values.size(), false);
  }

  std::string run() {
    name_arguments();
    choose_tiles();
    find_lives();
    indent_ = framed_ ? 0 : 1;
    std::string body = capture([&] { write_loops(); });
    return assemble(body);
  }

 private:
  // --- text ---------------------------------------------------------------------------------------------------------

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... arguments) {
    out_->append(2 * at(indent_), ' ');
    fmt::format_to(std::back_inserter(*out_), format, std::forward<T>(arguments)...);
    *out_ += '\n';
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
  template <class F>
  std::string capture(F&& write) {
    std::string text;
    std::string* const before = std::exchange(out_, &text);
    write();
    out_ = before;
    return text;
  }

  /// A variable of the kernel: in large kernels a member of the frame that their functions share.
  std::string var(const std::string& name) const { return framed_ ? "f." + name : name; }
  /// Declares and sets, or sets the frame's member.
  void set(const std::string& type, const std::string& name, const std::string& value) {
    if (framed_) {
      member(type, name);
      line("f.{} = {};", name, value);
    } else {
      line("const {} {} = {};", type, name, value);
    }
  }
  void member(const std::string& type, const std::string& name) {
    if (members_.insert(name).second) frame_ += fmt::format("  {} {};\n", type, name);
  }

  // --- names --------------------------------------------------------------------------------------------------------

  void name_arguments() {
    std::set<std::string> taken;
    for (std::size_t a = 0; a < program_.arguments.size(); ++a) {
      std::string name = identifier(program_.arguments[a].name);
      const bool usual = name.rfind("in", 0) == 0 || name.rfind("out", 0) == 0;
      if (!usual || name == "int" || name == "inline") name = "argument_" + name;
      while (!taken.insert(name).second) name += "_" + std::to_string(a);
      buffers_.push_back(name);
    }
  }

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
    tile_ = tile_length(extents);
    row_step_ = std::clamp<std::int64_t>(std::min(kRowBlock / longest, last), 1, 64);
  }

  // --- lives --------------------------------------------------------------------------------------------------------

  // Time: a stage's body, an instruction a moment; one for the end of its loops; its outer instructions.
  void find_lives() {
    last_use_.assign(program_.values.size(), -1);
    outer_.assign(program_.values.size(), false);
    read_inside_.assign(program_.stages.size(), {});
    std::int64_t now = 0;
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const Stage& stage = program_.stages[s];
      const std::int64_t end = now + static_cast<std::int64_t>(stage.body.size());
      std::set<ValueId> seen;
      const auto read = [&](ValueId v, std::int64_t time) {
        if (v == kNoValue) return;
        // The loops come round again: what they read from outside lives to their end.
        last_use_[at(v)] = outer_[at(v)] ? end : time;
        if (outer_[at(v)] && seen.insert(v).second) read_inside_[s].push_back(v);
      };
      for (const Instr& in : stage.body) {
        for (const ValueId v : {in.a, in.b, in.c}) read(v, now);
        ++now;
      }
      for (const Reduction& r : stage.reductions) read(r.input, end);
      for (const Reduction& r : stage.reductions) outer_[at(r.result)] = true;
      ++now;
      for (const Instr& in : stage.outer) {
        for (const ValueId v : {in.a, in.b, in.c}) {
          if (v != kNoValue) last_use_[at(v)] = now;
        }
        if (in.result != kNoValue) outer_[at(in.result)] = true;
        ++now;
      }
    }
  }

  /// A tile for v: a variable of its own, or the frame's first free one.
  void take(ValueId v, const std::string& tile) {
    if (!framed_) {
      text_[at(v)] = "v" + std::to_string(v);
      return;
    }
    const std::string type = tile_type(v, tile);
    std::vector<std::string>& free = free_[type];
    if (free.empty()) {
      free.push_back("t" + std::to_string(tiles_++));
      member(type, free.back());
    }
    text_[at(v)] = "f." + free.back();
    free.pop_back();
    holder_[v] = type;
  }
  void release(ValueId v, std::int64_t now) {
    if (v == kNoValue || last_use_[at(v)] > now) return;
    const auto held = holder_.find(v);
    if (held == holder_.end()) return;
    free_[held->second].push_back(text_[at(v)].substr(2));
    holder_.erase(held);
  }

  std::string type_of(ValueId v) const { return value_type(program_.values[at(v)]); }
  std::string tile_type(ValueId v, const std::string& tile) const { return tile + "<" + type_of(v) + ">"; }

  // --- loops --------------------------------------------------------------------------------------------------------

  static std::string extent(SymInt n) { return to_string(n); }

  void open_loop(const std::string& name, const std::string& first, const std::string& end, const std::string& step) {
    if (framed_) {
      member("Int", name);
      open("for (f.{0} = {1}; f.{0} < {2}; {3}) {{", name, first, end,
           step == "1" ? "++f." + name : "f." + name + " += " + step);
    } else {
      open("for (Int {0} = {1}; {0} < {2}; {3}) {{", name, first, end,
           step == "1" ? "++" + name : name + " += " + step);
    }
  }

  void write_loops() {
    const std::size_t rank = program_.outer.size();
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      open_loop(fmt::format("o{}", d), "0", extent(program_.outer[d]), "1");
    }
    Place outer;
    outer.tile = rows_ ? "Rows" : "Tile";
    outer.n = var(rows_ ? "rows" : "n");
    for (std::size_t d = 0; d < rank; ++d) outer.names.push_back(var(fmt::format("o{}", d)));
    if (rank > 0) {
      const std::string last = fmt::format("o{}{}", rank - 1, rows_ ? "_first" : "");
      outer.names.back() = var(last);
      outer.fast = static_cast<int>(rank) - 1;
      open_loop(last, "0", extent(program_.outer.back()), rows_ ? "kRowStep" : "kTile");
      set("Int", rows_ ? "rows" : "n",
          fmt::format("std::min<Int>({}, {} - {})", rows_ ? "kRowStep" : "kTile", extent(program_.outer.back()),
                      var(last)));
    } else {
      set("Int", rows_ ? "rows" : "n", "1");
    }
    std::int64_t now = 0;
    for (std::size_t s = 0; s < program_.stages.size(); ++s) write_stage(s, outer, now);
    for (std::size_t d = 0; d < rank; ++d) close();
  }

  void write_stage(std::size_t s, const Place& outer, std::int64_t& now) {
    const Stage& stage = program_.stages[s];
    const std::int64_t end = now + static_cast<std::int64_t>(stage.body.size());
    if (!stage.body.empty() || !stage.reductions.empty()) {
      for (const Reduction& r : stage.reductions) take(r.result, outer.tile);
      line("// stage {}", s);
      rows_ ? write_rows(s, outer, now) : write_columns(s, outer, now);
    }
    for (const ValueId v : read_inside_[s]) release(v, end);
    for (const Reduction& r : stage.reductions) {
      release(r.input, end);
      release(r.result, end);
    }
    now = end + 1;
    write_list(stage.outer, outer, fmt::format("stage{}_outer", s), now);
  }

  void open_inner_loops(const Stage& stage, std::size_t count) {
    for (std::size_t d = 0; d < count; ++d) open_loop(fmt::format("r{}", d), "0", extent(stage.inner[d]), "1");
  }

  std::string reducer(const Reduction& r) const {
    return fmt::format("v{}_{}", r.result,
                       r.op == Op::Sum         ? "sum"
                       : r.op == Op::Prod      ? "product"
                       : r.op == Op::ReduceMax ? "max"
                                               : "min");
  }

  void declare_reducer(const std::string& type, const std::string& name) {
    if (framed_) {
      member(type, name);
      line("f.{}.reset();", name);
    } else {
      line("{} {};", type, name);
    }
  }

  // Neighbouring outer points are a tile; the inner points come one by one.
  void write_columns(std::size_t s, const Place& outer, std::int64_t& now) {
    const Stage& stage = program_.stages[s];
    const auto blocks = static_cast<std::uint64_t>((numel(stage.inner, "render").value() + 1023) / 1024);
    const int levels = std::max(1, static_cast<int>(std::bit_width(blocks)));
    for (const Reduction& r : stage.reductions) {
      snippets_.need("ColumnReduction");
      const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
      declare_reducer(fmt::format("ColumnReduction<{}, {}, kTile, {}>", functor, type_of(r.result), levels),
                      reducer(r));
    }
    Place place = outer;
    for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(var(fmt::format("r{}", d)));
    if (stage.inner.empty()) open("{{");
    open_inner_loops(stage, stage.inner.size());
    write_list(stage.body, place, fmt::format("stage{}_body", s), now);
    for (const Reduction& r : stage.reductions) line("{}.add({});", var(reducer(r)), text_[at(r.input)]);
    for (std::size_t d = 0; d < std::max<std::size_t>(stage.inner.size(), 1); ++d) close();
    for (const Reduction& r : stage.reductions) {
      define(r.result, outer, fmt::format("{}.result()", var(reducer(r))));
    }
  }

  // The outer points of a block come one by one; neighbouring inner points are a tile.
  void write_rows(std::size_t s, const Place& outer, std::int64_t& now) {
    const Stage& stage = program_.stages[s];
    for (const Reduction& r : stage.reductions) {
      if (framed_) {
        line("{}.setZero();{}", text_[at(r.result)], note(r.result));
      } else {
        line("{0} {1} = {0}::Zero();", tile_type(r.result, outer.tile), text_[at(r.result)]);
      }
    }
    Place place;
    place.tile = "Tile";
    place.n = var("n");
    for (std::size_t d = 0; d < program_.outer.size(); ++d) place.names.push_back(var(fmt::format("o{}", d)));
    if (place.names.empty()) {
      open("{{");
      set("Int", "row", "0");
    } else {
      const std::string last = fmt::format("o{}", place.names.size() - 1);
      open_loop(last, outer.names.back(), outer.names.back() + " + " + outer.n, "1");
      set("Int", "row", place.names.back() + " - " + outer.names.back());
    }
    for (const Reduction& r : stage.reductions) {
      snippets_.need("RowReduction");
      const std::string functor = spell_reduction(r.op, r.dtype, snippets_);
      declare_reducer(fmt::format("RowReduction<{}, {}>", functor, type_of(r.result)), reducer(r));
    }
    // One element of an outer value is a number in here.
    std::map<ValueId, std::string> outside;
    for (const ValueId v : read_inside_[s]) {
      if (scalar_[at(v)]) continue;
      const std::string name = fmt::format("v{}_row", v);
      set(type_of(v), name, fmt::format("{}[{}]", text_[at(v)], var("row")));
      outside[v] = std::exchange(text_[at(v)], var(name));
      scalar_[at(v)] = true;
    }
    const std::size_t slow = stage.inner.empty() ? 0 : stage.inner.size() - 1;
    open_inner_loops(stage, slow);
    for (std::size_t d = 0; d < stage.inner.size(); ++d) place.names.push_back(var(fmt::format("r{}", d)));
    if (stage.inner.empty()) {
      set("Int", "n", "1");
    } else {
      place.fast = static_cast<int>(place.names.size()) - 1;
      open_loop(fmt::format("r{}", slow), "0", extent(stage.inner.back()), "kTile");
      set("Int", "n", fmt::format("std::min<Int>(kTile, {} - {})", extent(stage.inner.back()), place.names.back()));
    }
    write_list(stage.body, place, fmt::format("stage{}_body", s), now);
    for (const Reduction& r : stage.reductions) line("{}.add({}, {});", var(reducer(r)), text_[at(r.input)], place.n);
    for (std::size_t d = 0; d < stage.inner.size(); ++d) close();
    for (auto& [v, text] : outside) {
      text_[at(v)] = text;
      scalar_[at(v)] = false;
    }
    for (const Reduction& r : stage.reductions) {
      line("{}[{}] = {}.result();", text_[at(r.result)], var("row"), var(reducer(r)));
    }
    close();
  }

  // --- instructions -------------------------------------------------------------------------------------------------

  void write_list(const std::vector<Instr>& list, const Place& place, const std::string& name, std::int64_t& now) {
    for (std::size_t first = 0; first < list.size(); first += framed_ ? kPart : list.size()) {
      const std::size_t last = framed_ ? std::min(list.size(), first + kPart) : list.size();
      const auto write = [&] {
        for (std::size_t i = first; i < last; ++i) write_timed(list[i], place, now++);
      };
      if (!framed_) {
        write();
        continue;
      }
      const std::string part = fmt::format("{}_{}", name, first / kPart);
      const int before = std::exchange(indent_, 1);
      const std::string text = capture(write);
      indent_ = before;
      parts_ += fmt::format("\nvoid {}(Frame& f) {{\n{}}}\n", part, text);
      line("{}(f);", part);
    }
  }

  void write_timed(const Instr& in, const Place& place, std::int64_t now) {
    // Element by element a result may take its operand's place.
    const bool in_place = in.code == Code::Elementwise || in.code == Code::Round;
    const auto operands = {in.a, in.b, in.c};
    std::vector<std::string> texts;
    bool all_scalar = true;
    for (const ValueId v : operands) {
      if (v == kNoValue) continue;
      texts.push_back(text_[at(v)]);
      all_scalar = all_scalar && scalar_[at(v)];
    }
    if (in_place) {
      for (const ValueId v : operands) release(v, now);
    }
    switch (in.code) {
      case Code::Elementwise:
      case Code::Round:
        write_element(in, place, texts, all_scalar);
        break;
      case Code::Const:
        write_constant(in);
        break;
      case Code::Load:
        write_load(in, place);
        break;
      case Code::Index:
      case Code::Valid:
        write_position(in, place);
        break;
      case Code::Store:
        write_store(in, place, texts[0], all_scalar);
        break;
    }
    for (const ValueId v : operands) release(v, now);
    release(in.result, now);
  }

  std::string note(ValueId v) const { return framed_ ? fmt::format("  // v{}", v) : ""; }

  /// Value v as a tile that is given whole.
  void define(ValueId v, const Place& place, const std::string& value) {
    if (text_[at(v)].empty()) take(v, place.tile);
    if (framed_) {
      line("{} = {};{}", text_[at(v)], value, note(v));
    } else {
      line("const {} {} = {};", tile_type(v, place.tile), text_[at(v)], value);
    }
  }
  /// Value v as a tile that a helper fills.
  void fill(ValueId v, const Place& place, const std::string& helper, const std::string& arguments) {
    take(v, place.tile);
    if (!framed_) line("{} {};", tile_type(v, place.tile), text_[at(v)]);
    line("{}({}{});{}", helper, text_[at(v)], arguments, note(v));
  }
  /// Value v as one number for the whole tile.
  void define_scalar(ValueId v, const std::string& value) {
    const std::string name = "v" + std::to_string(v);
    set(type_of(v), name, value);
    text_[at(v)] = var(name);
    scalar_[at(v)] = true;
  }

  std::string spread(ValueId v, const std::string& text, const Place& place) const {
    return fmt::format("{}::Constant({})", tile_type(v, place.tile), text);
  }

  void write_element(const Instr& in, const Place& place, const std::vector<std::string>& operands, bool all_scalar) {
    const Spelling spelling = spell(in, !framed_, snippets_);
    if (!spelling.eigen.empty()) {
      const std::string a = all_scalar ? spread(in.a, operands[0], place) : operands[0];
      const std::string b = operands.size() > 1 ? operands[1] : "";
      define(in.result, place, fmt::format(fmt::runtime(spelling.eigen), fmt::arg("a", a), fmt::arg("b", b)));
      return;
    }
    std::string arguments;
    for (const std::string& text : operands) arguments += ", " + text;
    const std::string helper = spelling.kind == Spelling::Kind::Map       ? "map<" + spelling.text + ">"
                               : spelling.kind == Spelling::Kind::Packets ? "packets<" + spelling.text + ">"
                                                                          : spelling.text;
    fill(in.result, place, helper, arguments);
  }

  void write_constant(const Instr& in) {
    const codegen::Constant& c = program_.constants[at(in.aux)];
    const std::string type = value_type(in.dtype);
    scalar_[at(in.result)] = true;
    const std::string name = "c" + std::to_string(in.aux);
    const bool fresh = constants_.insert(in.aux).second;
    if (c.parameter < 0) {
      if (fresh) numbers_ += fmt::format("constexpr {} {} = {};\n", type, name, literal(c.value));
      text_[at(in.result)] = name;
      return;
    }
    text_[at(in.result)] = var(name);
    if (!fresh) return;
    const char* member_name = is_floating(in.dtype) ? "f" : "i";
    const std::string value = in.dtype == DType::bool_
                                  ? fmt::format("parameters[{}].i != 0 ? 1 : 0", c.parameter)
                                  : fmt::format("static_cast<{}>(parameters[{}].{})", type, c.parameter, member_name);
    if (framed_) member(type, name);
    set_up_ +=
        framed_ ? fmt::format("  f.{} = {};\n", name, value) : fmt::format("  const {} {} = {};\n", type, name, value);
  }

  // --- accesses -----------------------------------------------------------------------------------------------------

  /// A one-view access from a tile's place: where its first element lies, the step along the tile, and the valid part.
  struct Reach {
    std::string position;
    std::int64_t step = 0;
    std::string condition;  // on the loops around the tile; empty: always
    std::string segment;    // empty: the whole tile
  };

  static Reach reach(const View& view, const Place& place) {
    Reach r;
    std::int64_t offset = view.offset.value();
    for (std::size_t d = 0; d < view.rank(); ++d) {
      const std::int64_t stride = view.strides[d].value();
      if (stride == 0) continue;
      const std::int64_t magnitude = stride < 0 ? -stride : stride;
      if (r.position.empty()) {
        if (stride < 0) {
          r.position = std::to_string(offset) + " - ";
          offset = 0;
        }
      } else {
        r.position += stride < 0 ? " - " : " + ";
      }
      r.position += place.names[d];
      if (magnitude != 1) r.position += "*" + std::to_string(magnitude);
    }
    if (r.position.empty()) {
      r.position = std::to_string(offset);
    } else if (offset != 0) {
      r.position += (offset < 0 ? " - " : " + ") + std::to_string(offset < 0 ? -offset : offset);
    }
    if (place.fast >= 0) r.step = view.strides[at(place.fast)].value();
    for (std::size_t d = 0; d < view.mask.size(); ++d) {
      const std::int64_t lo = view.mask[d].lo.value();
      const std::int64_t hi = view.mask[d].hi.value();
      if (lo == 0 && hi == view.shape[d].value()) continue;
      if (static_cast<int>(d) == place.fast) {
        r.segment = fmt::format("segment({}, {}, {}, {}", lo, hi, place.names[d], place.n);
        continue;
      }
      const auto both = [&](const std::string& test) { r.condition += (r.condition.empty() ? "" : " && ") + test; };
      if (lo >= hi) {
        both("false");
        continue;
      }
      if (lo > 0) both(fmt::format("{} >= {}", place.names[d], lo));
      if (hi < view.shape[d].value()) both(fmt::format("{} < {}", place.names[d], hi));
    }
    return r;
  }

  /// The segment as an argument; tiles of one kind of access share the helper's shape.
  std::string segment(const Reach& r, const Place& place) {
    snippets_.need("Segment");
    if (r.segment.empty() && r.condition.empty()) return fmt::format("Segment{{0, {}}}", place.n);
    snippets_.need("segment");
    const std::string part = r.segment.empty() ? fmt::format("segment(0, {0}, 0, {0}", place.n) : r.segment;
    return part + (r.condition.empty() ? ")" : ", " + r.condition + ")");
  }

  /// Names for one element of the tile, number k.
  static std::vector<std::string> element_names(const Place& place) {
    std::vector<std::string> names = place.names;
    if (place.fast >= 0) names[at(place.fast)] = "(" + names[at(place.fast)] + " + k)";
    return names;
  }

  static std::string half_name(DType dtype) {
    return dtype == DType::float16 ? "float16" : dtype == DType::bfloat16 ? "bfloat16" : "";
  }
  std::string widened(DType dtype, const std::string& element) {
    const std::string half = half_name(dtype);
    if (half.empty()) return element;
    snippets_.need(half);
    return fmt::format("widen_{}({})", half, element);
  }

  void write_load(const Instr& in, const Place& place) {
    const Access& access = program_.accesses[at(in.aux)];
    const std::string buffer = var(buffers_[at(access.buffer)]);
    const std::string half = half_name(access.dtype);
    if (!access.affine()) {
      write_elements(in, place,
                     [&](const std::string& index) { return widened(access.dtype, buffer + "[" + index + "]"); });
      return;
    }
    const Reach r = reach(access.view(), place);
    if (r.step == 0 && r.segment.empty()) {
      const std::string element = widened(access.dtype, fmt::format("{}[{}]", buffer, r.position));
      define_scalar(in.result, r.condition.empty()
                                   ? element
                                   : fmt::format("{} ? {} : {}(0)", r.condition, element, type_of(in.result)));
    } else if (!half.empty()) {
      snippets_.need("load_" + half);
      fill(in.result, place, "load_" + half,
           fmt::format(", {}, {}, {}, {}", buffer, r.position, r.step, segment(r, place)));
    } else if (r.step == 1 && r.segment.empty() && r.condition.empty()) {
      snippets_.need("load");
      fill(in.result, place, "load", fmt::format(", {}, {}, {}", buffer, r.position, place.n));
    } else {
      snippets_.need("load_strided");
      fill(in.result, place, "load_strided",
           fmt::format(", {}, {}, {}, {}", buffer, r.position, r.step, segment(r, place)));
    }
  }

  /// A general access: each element for itself.
  template <class F>
  void write_elements(const Instr& in, const Place& place, F&& element) {
    const codegen::AccessText text = codegen::expression(program_.accesses[at(in.aux)].tracker, element_names(place));
    take(in.result, place.tile);
    const std::string& v = text_[at(in.result)];
    if (framed_) {
      line("{}.setZero();{}", v, note(in.result));
    } else {
      line("{0} {1} = {0}::Zero();", tile_type(in.result, place.tile), v);
    }
    if (text.valid == "0") return;
    open("for (Int k = 0; k < {}; ++k) {{", place.n);
    const std::string condition = text.valid == "1" ? "" : fmt::format("if ({}) ", text.valid);
    line("{}{}[k] = {};", condition, v, element(text.index));
    close();
  }

  void write_position(const Instr& in, const Place& place) {
    const bool index = in.code == Code::Index;
    const Access& access = program_.accesses[at(in.aux)];
    if (!access.affine()) {
      write_elements(in, place, [&](const std::string& position) { return index ? position : std::string("1"); });
      return;
    }
    const Reach r = reach(access.view(), place);
    if (r.segment.empty() && (!index || r.step == 0)) {
      const std::string number = index ? r.position : "1";
      define_scalar(in.result, r.condition.empty() ? number : fmt::format("{} ? {} : 0", r.condition, number));
    } else if (index) {
      snippets_.need("positions");
      fill(in.result, place, "positions", fmt::format(", {}, {}, {}", r.position, r.step, segment(r, place)));
    } else {
      snippets_.need("valid");
      fill(in.result, place, "valid", ", " + segment(r, place));
    }
  }

  void write_store(const Instr& in, const Place& place, const std::string& operand, bool scalar) {
    const Access& access = program_.accesses[at(in.aux)];
    const std::string buffer = var(buffers_[at(access.buffer)]);
    const std::string half = half_name(access.dtype);
    if (!access.affine()) {
      const codegen::AccessText text = codegen::expression(access.tracker, element_names(place));
      if (text.valid == "0") return;
      std::string element = scalar ? operand : operand + "[k]";
      if (!half.empty()) {
        snippets_.need(half);
        element = fmt::format("narrow_{}({})", half, element);
      }
      open("for (Int k = 0; k < {}; ++k) {{", place.n);
      const std::string condition = text.valid == "1" ? "" : fmt::format("if ({}) ", text.valid);
      line("{}{}[{}] = {};", condition, buffer, text.index, element);
      close();
      return;
    }
    const std::string value = scalar ? spread(in.a, operand, place) + ".eval()" : operand;
    const Reach r = reach(access.view(), place);
    if (half.empty() && r.segment.empty() && r.condition.empty() && (r.step == 1 || place.fast < 0)) {
      snippets_.need("store");
      line("store({}, {}, {}, {});", buffer, r.position, value, place.n);
      return;
    }
    const std::string helper = half.empty() ? "store_strided" : "store_" + half;
    snippets_.need(helper);
    line("{}({}, {}, {}, {}, {});", helper, buffer, r.position, r.step, value, segment(r, place));
  }

  // --- the unit -----------------------------------------------------------------------------------------------------

  std::string header() const {
    std::string text =
        fmt::format("// Kernel {}\n// Build with -std=c++17 -O2 -ffp-contract=off and Eigen 3.4.\n//\n", program_.name);
    const auto add = [&]<class... T>(fmt::format_string<T...> format, T&&... arguments) {
      text += "// ";
      fmt::format_to(std::back_inserter(text), format, std::forward<T>(arguments)...);
      text += '\n';
    };
    const auto loops = [](const Ints& extents, char letter) {
      std::string list;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        list += fmt::format("{}{}{} < {}", d == 0 ? "" : ", ", letter, d, extents[d].value());
      }
      return list.empty() ? std::string("none") : list;
    };
    add("Outer loops: {}", loops(program_.outer, 'o'));
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      if (!program_.stages[s].inner.empty())
        add("Inner loops of stage {}: {}", s, loops(program_.stages[s].inner, 'r'));
    }
    for (std::size_t a = 0; a < program_.arguments.size(); ++a) {
      const Argument& argument = program_.arguments[a];
      add("arguments[{}] {}: {}[{}]{}", a, buffers_[a], name(argument.dtype), argument.elements,
          argument.output ? ", written" : "");
    }
    for (std::size_t c = 0; c < program_.constants.size(); ++c) {
      const codegen::Constant& constant = program_.constants[c];
      if (constant.parameter >= 0) add("parameters[{}] c{}: {}", constant.parameter, c, name(constant.value.dtype));
    }
    for (const Access& access : program_.accesses) {
      const std::size_t rank = access.tracker.shape().size();
      const std::size_t outer = std::min(rank, program_.outer.size());
      const codegen::AccessText where = codegen::expression(access.tracker, codegen::loop_names(outer, rank - outer));
      add("{}[{}]{}  by {}", access.buffer < 0 ? "position" : buffers_[at(access.buffer)], where.index,
          where.valid == "1" ? "" : " if " + where.valid, access.tracker.str());
    }
    return text;
  }

  std::string assemble(const std::string& loops) {
    std::string text = header();
    text += "#ifndef EIGEN_NO_DEBUG\n#define EIGEN_NO_DEBUG\n#endif\n#include <Eigen/Core>\n";
    if (snippets_.needs("Erf")) text += "#include <unsupported/Eigen/SpecialFunctions>\n";
    text += "\n#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n#include <limits>\n";
    text += framed_ ? "#include <memory>\n#include <type_traits>\n\n" : "#include <type_traits>\n\n";
    text += fmt::format("namespace kernel_{} {{\n\n", name_);
    text += "/// A number given at launch.\nunion Scalar {\n  std::int64_t i;\n  double f;\n};\n\nnamespace {\n\n";
    text +=
        "using Int = std::int64_t;\n\n/// Neighbouring elements that are computed together; some at the end may be "
        "unused.\n";
    text +=
        fmt::format("constexpr int kTile = {};\ntemplate <class T>\nusing Tile = Eigen::Array<T, kTile, 1>;\n", tile_);
    if (rows_) {
      text += "\n/// Values that belong to neighbouring outer points.\n";
      if (!program_.outer.empty()) text += fmt::format("constexpr int kRowStep = {};\n", row_step_);
      text += fmt::format("template <class T>\nusing Rows = Eigen::Array<T, {}, 1>;\n", (row_step_ + 15) / 16 * 16);
    }
    text += snippets_.text();
    if (!numbers_.empty()) text += "\n" + numbers_;
    if (framed_) {
      for (std::size_t a = 0; a < buffers_.size(); ++a) member(pointer_type(a), buffers_[a]);
      text += "\n/// What the kernel's functions share.\nstruct Frame {\n" + frame_ + "};\n" + parts_;
    }
    text += fmt::format(
        "\n}}  // namespace\n\nextern \"C\" void {}(void* const* arguments, const Scalar* parameters) {{\n", name_);
    if (framed_) text += "  const auto frame = std::make_unique<Frame>();\n  Frame& f = *frame;\n";
    for (std::size_t a = 0; a < buffers_.size(); ++a) {
      const std::string pointer = pointer_type(a);
      text += framed_ ? fmt::format("  f.{} = ", buffers_[a]) : fmt::format("  {} const {} = ", pointer, buffers_[a]);
      text += fmt::format("static_cast<{}>(arguments[{}]);\n", pointer, a);
    }
    if (set_up_.empty()) text += "  static_cast<void>(parameters);\n";
    text += set_up_;
    if (framed_) {
      text += "  run(f);\n";
      const std::size_t at_end = text.rfind("\n}  // namespace\n");
      text.insert(at_end, "\nvoid run(Frame& f) {\n" + indented(loops) + "}\n");
    } else {
      text += loops;
    }
    return text + fmt::format("}}\n\n}}  // namespace kernel_{}\n", name_);
  }

  static std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t end = text.find('\n', first) + 1;
      out += "  " + text.substr(first, end - first);
      first = end;
    }
    return out;
  }

  std::string pointer_type(std::size_t a) const {
    return (program_.arguments[a].output ? "" : "const ") + memory_type(program_.arguments[a].dtype) + "*";
  }

  const LoopProgram& program_;
  std::string name_;
  bool rows_ = false;    // outer points one by one, inner ones in tiles; otherwise outer points in tiles
  bool framed_ = false;  // too large for a variable a value
  int tile_ = 256;
  std::int64_t row_step_ = 1;
  std::vector<std::string> buffers_;

  std::vector<std::string> text_;  // how each value is read
  std::vector<bool> scalar_;       // one number for the whole tile
  std::vector<bool> outer_;
  std::vector<std::int64_t> last_use_;
  std::vector<std::vector<ValueId>> read_inside_;  // outer values that each stage's loops read
  std::map<std::string, std::vector<std::string>> free_;
  std::map<ValueId, std::string> holder_;
  int tiles_ = 0;

  std::string* out_ = nullptr;
  int indent_ = 0;
  std::set<std::string> members_;
  std::string frame_;
  std::string parts_;
  std::string numbers_;
  std::string set_up_;
  std::set<std::int32_t> constants_;
  Snippets snippets_;
};

}  // namespace

std::string render(const LoopProgram& program) { return Renderer(program).run(); }

}  // namespace oriel::backend::eigen
