#include "source/cpp/statements.hpp"

#include <algorithm>

#include "codegen/expression.hpp"
#include "source/cpp/frame.hpp"
#include "source/cpp/spelling.hpp"
#include "source/names.hpp"

namespace oriel::source::cpp {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::ValueId;

namespace {

// The instructions in each loop and function of a large kernel. Compilers take long over larger functions.
constexpr std::size_t kPart = 64;

std::string half_name(DType dtype) {
  return dtype == DType::float16 ? "float16" : dtype == DType::bfloat16 ? "bfloat16" : "";
}

}  // namespace

Statements::Statements(const LoopProgram& program, const OpenSizes* open)
    : source::Statements(program, argument_names(program)), open_(open) {
  text_.resize(program_.values.size());
  scalar_.assign(program_.values.size(), false);
  tiled_.assign(program_.values.size(), false);
  in_registers_.assign(program_.stages.size(), false);
  choose_form();
}

/// Chooses packets if Eigen's functions need them, or if every value is a float32 or a bool. Otherwise chooses
/// elements, which compilers vectorise for any mixture of types.
void Statements::choose_form() {
  bool narrow = false;
  bool wide = false;
  const auto look = [&](const Instr& in) {
    if (in.code != Code::Elementwise) return;
    if (spell(in).packets) (in.from == DType::float64 ? wide : narrow) = true;
  };
  for (const codegen::Stage& stage : program_.stages) {
    for (const Instr& in : stage.body) look(in);
    for (const Instr& in : stage.outer) look(in);
  }
  bool plain = !program_.values.empty();
  for (const DType dtype : program_.values) plain = plain && (dtype == DType::float32 || dtype == DType::bool_);
  for (const Access& access : program_.accesses) plain = plain && access.affine() && half_name(access.dtype).empty();
  bool floats = false;
  for (const codegen::Argument& a : program_.arguments) floats = floats || (a.output && a.dtype == DType::float32);
  packets_ = narrow || wide || (plain && floats);
  main_ = wide && !narrow ? DType::float64 : DType::float32;
}

/// Finds the values that need a tile: those that another loop than their own reads, or a reduction.
void Statements::find_tiles() {
  leaves_.assign(program_.values.size(), false);
  std::vector<std::size_t> loop(program_.values.size(), 0);
  std::size_t now = 1;
  int stage = 0;
  const auto look = [&](const std::vector<Instr>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % kPart == 0 && framed()) ++now;
      const Instr& in = list[i];
      for (const ValueId v : {in.a, in.b, in.c}) {
        if (v == kNoValue || loop[at(v)] == now) continue;
        if (kept_[at(v)].empty() || home_[at(v)] == stage) leaves_[at(v)] = true;
      }
      if (in.result != kNoValue) loop[at(in.result)] = now;
    }
    ++now;
  };
  for (const codegen::Stage& s : program_.stages) {
    look(s.body);
    for (const codegen::Reduction& r : s.reductions) {
      leaves_[at(r.result)] = true;
      if (!in_registers_[at(stage)]) leaves_[at(r.input)] = true;
      if (skipped_ == kNoValue || r.input != skipped_) continue;
      leaves_[at(skipped_)] = false;
      for (const Instr& in : s.body)
        if (in.result == skipped_) leaves_[at(in.a)] = leaves_[at(in.b)] = true;
    }
    look(s.outer);
    ++stage;
  }
  uses_tiles_ = std::find(leaves_.begin(), leaves_.end(), true) != leaves_.end();
}

void Statements::take(ValueId v, const std::string& tile) {
  tiled_[at(v)] = true;
  uses_tiles_ = true;
  snippets_.need("Values");
  const Type type = values_type(tile + "<" + type_of(v).text + ">", program_.values[at(v)],
                                tile == "Rows" ? rows_elements_ : tile_elements_);
  if (!framed()) {
    text_[at(v)] = "t" + std::to_string(v);
    line("{} {};", type.text, text_[at(v)]);
    return;
  }
  std::vector<std::string>& free = free_[type.text];
  if (free.empty()) {
    free.push_back("t" + std::to_string(tiles_++));
    member(type, free.back());
  }
  text_[at(v)] = "f." + free.back();
  free.pop_back();
  holder_[v] = type.text;
}

void Statements::release(ValueId v) {
  if (v == kNoValue || last_use_[at(v)] > now_) return;
  const auto held = holder_.find(v);
  if (held == holder_.end()) return;
  free_[held->second].push_back(text_[at(v)].substr(2));
  holder_.erase(held);
}

void Statements::set(const Type& type, const std::string& name, const std::string& value) {
  if (framed_) {
    member(type, name);
    line("f.{} = {};", name, value);
  } else {
    line("const {} {} = {};", type.text, name, value);
  }
}

void Statements::declare(const Type& type, const std::string& name, const std::string& value) {
  if (framed_) {
    set(type, name, value);
  } else {
    line("{} {} = {};", type.text, name, value);
  }
}

void Statements::write_list(const std::vector<Instr>& list, const CodePosition& place, const std::string& name) {
  if (leaves_.empty()) find_tiles();
  for (std::size_t first = 0; first < list.size(); first += framed() ? kPart : list.size()) {
    const std::size_t last = framed() ? std::min(list.size(), first + kPart) : list.size();
    if (!framed()) {
      write_part(list, first, last, place);
      continue;
    }
    const std::string part = fmt::format("{}_{}", name, first / kPart);
    std::string text;
    elsewhere(text, 1, [&] { write_part(list, first, last, place); });
    parts_ += fmt::format("\nvoid {}([[maybe_unused]] Frame& f) {{\n{}}}\n", part, text);
    part_declarations_ += fmt::format("void {}(Frame& f);\n", part);
    line("{}(f);", part);
  }
}

void Statements::keep(ValueId v, const CodePosition& /*place*/) {
  snippets_.need(packets_ ? "tile_of" : "Values");
  if (packets_) {
    line("put({}, {} + k, {});", var(kept_[at(v)]), kept_at_, text_[at(v)]);
  } else {
    line("{}[{} + k] = {};", var(kept_[at(v)]), kept_at_, text_[at(v)]);
  }
}

/// Stores a value that leaves the loop to a tile, which is declared before the loop.
void Statements::written(const Instr& in, const CodePosition& place) {
  const ValueId v = in.result;
  if (v != kNoValue && leaves_[at(v)] && !scalar_[at(v)]) {
    const std::string made = text_[at(v)];
    elsewhere(before_, tile_indent_, [&] { take(v, place.tile); });
    if (packets_) {
      snippets_.need("tile_of");
      line("put({}, k, {});", text_[at(v)], made);
    } else {
      line("{}[k] = {};", text_[at(v)], made);
    }
  }
  for (const ValueId operand : {in.a, in.b, in.c}) release(operand);
  release(v);
  ++now_;
}

void Statements::write_part(const std::vector<Instr>& list, std::size_t first, std::size_t last,
                            const CodePosition& place) {
  before_.clear();
  std::string body;
  const int depth = tile_indent_ = indent();
  elsewhere(body, depth + 1, [&] {
    write_each(std::span(list).subspan(first, last - first), place);
    for (const Gather& g : gathers_) line("{}.add({}, all({}), used, k, group);", g.lanes, g.reducer, read(g.input));
  });
  std::string before = std::exchange(before_, {});
  before.erase(0, 2 * static_cast<std::size_t>(depth));  // `line` indents the first line itself
  if (!before.empty()) line("{}", std::string_view(before).substr(0, before.size() - 1));
  if (body.empty()) return;
  if (packets_) {
    snippets_.need("Packet");
    if (gathers_.empty()) {
      line("each_packet({}, [&]([[maybe_unused]] auto used, [[maybe_unused]] Int k) ORIEL_INLINE {{", place.count);
    } else {
      for (const Gather& g : gathers_) line("{}.take({});", g.lanes, g.reducer);
      line("each_ordered({}, [&](auto used, Int k, auto group) ORIEL_INLINE {{", place.count);
    }
  } else {
    snippets_.need("vector_loop");
    line("ORIEL_VECTOR_LOOP");
    line("for (Int k = 0; k < {}; ++k) {{", place.count);
  }
  body.erase(0, 2 * static_cast<std::size_t>(depth));
  line("{}", std::string_view(body).substr(0, body.size() - 1));
  if (gathers_.empty()) return line("{}", packets_ ? "});" : "}");
  std::string give;
  for (const Gather& g : gathers_) give += fmt::format(" {}.give({});", g.lanes, g.reducer);
  line("}}, [&]() ORIEL_INLINE {{{} }});", give);
}

/// A value as an operand inside a loop.
std::string Statements::read(ValueId v) {
  if (kept_before(v))
    return fmt::format(fmt::runtime(packets_ ? "get({}, {} + k)" : "{}[{} + k]"), var(kept_[at(v)]), kept_at_);
  if (!tiled_[at(v)] || scalar_[at(v)]) return text_[at(v)];
  if (!packets_) return text_[at(v)] + "[k]";
  snippets_.need("tile_of");
  return fmt::format("get({}, k)", text_[at(v)]);
}

const char* Statements::unread(ValueId v) const { return last_use_[at(v)] < 0 ? "[[maybe_unused]] " : ""; }

void Statements::define(ValueId v, const std::string& value) {
  text_[at(v)] = "v" + std::to_string(v);
  line("{}const {} {} = {};", unread(v), packets_ ? "auto" : type_of(v).text, text_[at(v)], value);
}

void Statements::define_uniform(ValueId v, const std::string& value) {
  const std::string name = "v" + std::to_string(v);
  elsewhere(before_, indent() - 1, [&] { set(type_of(v), name, value); });
  text_[at(v)] = var(name);
  scalar_[at(v)] = true;
}

void Statements::define_each(ValueId v, const std::string& valid, const std::string& element) {
  const std::string type = type_of(v).text;
  const std::string value = valid == "0"   ? fmt::format("{}(0)", type)
                            : valid == "1" ? element
                                           : fmt::format("{} ? {} : {}(0)", valid, element, type);
  if (!packets_) return define(v, value);
  snippets_.need("each_lane");
  define(v, fmt::format("each_lane<{0}>(used, k, [&]([[maybe_unused]] Int e) ORIEL_INLINE -> {0} {{ return {1}; }})",
                        type, value));
}

void Statements::write_element(const Instr& in, const CodePosition&) {
  if (skipped_ != kNoValue && in.result == skipped_) return;
  const Spelling spelling = spell(in);
  std::vector<std::string> operands;
  bool all_scalar = true;
  for (const ValueId v : {in.a, in.b, in.c}) {
    if (v == kNoValue) continue;
    operands.push_back(read(v));
    all_scalar = all_scalar && scalar_[at(v)];
  }
  const auto filled = [&](const std::string& expression) {
    const std::size_t n = operands.size();
    return fmt::format(fmt::runtime(expression), fmt::arg("a", operands[0]), fmt::arg("b", n > 1 ? operands[1] : ""),
                       fmt::arg("c", n > 2 ? operands[2] : ""));
  };
  std::string arguments;
  for (const std::string& text : operands) arguments += (arguments.empty() ? "" : ", ") + text;
  const bool main = value_type(in.from) == value_type(main_);
  if (!packets_ || (all_scalar && !spelling.packets)) {
    if (spelling.scalar.empty()) snippets_.need(spelling.snippet);
    const std::string value =
        spelling.scalar.empty() ? fmt::format("{}::of({})", spelling.functor, arguments) : filled(spelling.scalar);
    const ValueId v = in.result;
    text_[at(v)] = "v" + std::to_string(v);
    line("{}const {} {} = {};", unread(v), type_of(v).text, text_[at(v)], value);
    // A single number stays one beside packets, unless it leaves the loop.
    scalar_[at(v)] = packets_ && !leaves_[at(v)] && kept_[at(v)].empty();
    return;
  }
  // Division by one number has a faster form, which needs Eigen; it is used if Eigen is included anyway.
  if (main && in.op == graph::Op::Div && in.from == DType::float32 && main_ == DType::float32 && scalar_[at(in.b)] &&
      !scalar_[at(in.a)] && snippets_.needs("packets")) {
    snippets_.need("divided");
    return define(in.result, fmt::format("divided(all({}), {})", operands[0], operands[1]));
  }
  if (main && !spelling.packet.empty()) {
    snippets_.need("Packet");
    if (!spelling.helper.empty()) snippets_.need(spelling.helper);
    return define(in.result, filled(spelling.packet));
  }
  snippets_.need(spelling.snippet);
  snippets_.need(spelling.packets ? "packets" : "lanes");
  define(in.result, fmt::format("{}<{}>({})", spelling.packets ? "packets" : "lanes", spelling.functor, arguments));
}

void Statements::write_constant(const Instr& in) {
  const codegen::Constant& c = program_.constants[at(in.aux)];
  const std::string type = value_type(in.dtype);
  scalar_[at(in.result)] = true;
  if (std::string text = size_constant(in.aux, type); !text.empty()) {
    text_[at(in.result)] = std::move(text);
    return;
  }
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
  if (framed()) member(number_type(in.dtype), name);
  set_up_ +=
      framed() ? fmt::format("  f.{} = {};\n", name, value) : fmt::format("  const {} {} = {};\n", type, name, value);
}

/// Returns the name of a segment, which is computed before the loop.
std::string Statements::segment(const std::optional<Lanes>& cut, const std::string& condition,
                                const CodePosition& place) {
  snippets_.need("segment");
  const std::string part =
      cut ? fmt::format("{}, {}, {}, {}", cut->lo, cut->hi, place.names[at(place.fast)], place.count)
          : fmt::format("0, {0}, 0, {0}", place.count);
  const std::string name = "s" + std::to_string(segments_++);
  elsewhere(before_, indent() - 1,
            [&] { line("const Segment {} = segment({}{});", name, part, condition.empty() ? "" : ", " + condition); });
  return name;
}

std::string Statements::widened(DType dtype, const std::string& element) {
  const std::string half = half_name(dtype);
  if (half.empty()) return element;
  snippets_.need(half);
  return fmt::format("widen_{}({})", half, element);
}
std::string Statements::narrowed(DType dtype, const std::string& element) {
  const std::string half = half_name(dtype);
  if (half.empty()) return element;
  snippets_.need(half);
  return fmt::format("narrow_{}({})", half, element);
}

void Statements::write_load(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string buffer = var(buffers_[at(access.buffer)]);
  if (access.affine()) {
    const std::optional<Lanes> lanes = cut_of(in.aux, place);
    const std::optional<std::int64_t> step = step_of(in.aux, place);
    const std::string valid = condition_of(in.aux, place);
    if (step == 0 && !lanes) {
      if (valid == kNever) return define_uniform(in.result, type_of(in.result).text + "(0)");
      const std::string element = widened(access.dtype, fmt::format("{}[{}]", buffer, position_of(in.aux, place)));
      return define_uniform(
          in.result, valid.empty() ? element : fmt::format("{} ? {} : {}(0)", valid, element, type_of(in.result).text));
    }
    if (packets_ && step == 1 && half_name(access.dtype).empty()) {
      const std::string first = position_of(in.aux, place);
      if (!lanes && valid.empty()) {
        snippets_.need("load");
        return define(in.result, fmt::format("load({} + ({}) + k, used)", buffer, first));
      }
      snippets_.need("load_part");
      return define(in.result,
                    fmt::format("load_part({} + ({}), k, used, {})", buffer, first, segment(lanes, valid, place)));
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, element()));
  define_each(in.result, text.valid, widened(access.dtype, fmt::format("{}[{}]", buffer, text.index)));
}

void Statements::write_gather(const Instr& in, const CodePosition&) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string type = type_of(in.result).text;
  const std::string element = widened(access.dtype, fmt::format("{}[i]", var(buffers_[at(access.buffer)])));
  const std::string elements = elements_of(access.buffer);
  const std::string pick =
      fmt::format("ORIEL_INLINE -> {0} {{ return i >= 0 && i < {1} ? {2} : {0}(0); }}", type, elements, element);
  const std::string position = read(in.a);
  if (!packets_ || scalar_[at(in.a)]) {
    // One position for the whole tile gives one value. With packets it is still a value of lanes.
    const std::string one = fmt::format("[&](Int i) {}({})", pick, position);
    if (!packets_) return define(in.result, one);
    snippets_.need("each_lane");
    return define(in.result,
                  fmt::format("each_lane<{0}>(used, k, [&](Int) ORIEL_INLINE -> {0} {{ return {1}; }})", type, one));
  }
  snippets_.need("pick");
  define(in.result, fmt::format("pick<{}>({}, used, [&](Int i) {})", type, position, pick));
}

void Statements::write_position(const Instr& in, const CodePosition& place) {
  const bool index = in.code == Code::Index;
  const Access& access = program_.accesses[at(in.aux)];
  if (access.affine()) {
    if (!cut_of(in.aux, place) && (!index || step_of(in.aux, place) == 0)) {
      const std::string number = index ? position_of(in.aux, place) : "1";
      const std::string valid = condition_of(in.aux, place);
      if (valid == kNever) return define_uniform(in.result, "0");
      return define_uniform(in.result, valid.empty() ? number : fmt::format("{} ? {} : 0", valid, number));
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, element()));
  define_each(in.result, text.valid, index ? text.index : "1");
}

bool Statements::streamed(const Access& access, std::int64_t step) const {
  const codegen::Argument& argument = program_.arguments[at(access.buffer)];
  const auto bytes = static_cast<std::int64_t>(itemsize(argument.dtype));
  // If the kernel also reads this memory, its lines are in the caches already.
  return open_ == nullptr && packets_ && argument.dtype == main_ && argument.shares < 0 && !argument.local &&
         step == 1 && argument.elements >= kStreamBytes / bytes;
}

void Statements::write_store(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string buffer = var(buffers_[at(access.buffer)]);
  const std::string operand = read(in.a);
  if (packets_ && access.affine() && half_name(access.dtype).empty()) {
    const std::optional<std::int64_t> step = step_of(in.aux, place);
    if (!cut_of(in.aux, place) && condition_of(in.aux, place).empty() && (step == 1 || place.fast < 0)) {
      const bool stream = streamed(access, step.value_or(0));
      streams_ = streams_ || stream;
      snippets_.need(stream ? "stream" : "store");
      const bool spread = scalar_[at(in.a)] && access.dtype == main_;
      line("{}({} + ({}) + k, {}, used);", stream ? "stream" : "store", buffer, position_of(in.aux, place),
           spread ? "all(" + operand + ")" : operand);
      return;
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, element()));
  if (text.valid == "0") return;
  const std::string condition = text.valid == "1" ? "" : fmt::format("if ({}) ", text.valid);
  if (!packets_) {
    line("{}{}[{}] = {};", condition, buffer, text.index, narrowed(access.dtype, operand));
    return;
  }
  snippets_.need("scatter");
  line("scatter({}, used, k, [&]([[maybe_unused]] Int e, {} x) ORIEL_INLINE {{ {}{}[{}] = {}; }});", operand,
       value_type(access.dtype), condition, buffer, text.index, narrowed(access.dtype, "x"));
}

}  // namespace oriel::source::cpp
