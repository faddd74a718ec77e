#include "source/cpp/value_statements.hpp"

#include <algorithm>

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

// Chooses packets if Eigen's functions need them, or if every value is a float32 or a bool. Otherwise chooses
// elements, which compilers vectorise for any mixture of types.
PacketForm choose_form(const LoopProgram& program) {
  bool narrow = false;
  bool wide = false;
  const auto look = [&](const Instr& in) {
    if (in.code != Code::Elementwise) return;
    if (spell(in).packets) (in.from == DType::float64 ? wide : narrow) = true;
  };
  for (const codegen::Stage& stage : program.stages) {
    for (const Instr& in : stage.body) look(in);
    for (const Instr& in : stage.outer) look(in);
  }
  bool plain = !program.values.empty();
  for (const DType dtype : program.values) plain = plain && (dtype == DType::float32 || dtype == DType::bool_);
  for (const Access& access : program.accesses) plain = plain && access.affine() && !is_half(access.dtype);
  bool floats = false;
  for (const codegen::Argument& a : program.arguments) floats = floats || (a.output && a.dtype == DType::float32);
  const bool packets = narrow || wide || (plain && floats);
  return {packets, wide && !narrow ? DType::float64 : DType::float32};
}

}  // namespace

ValueStatements::ValueStatements(const LoopProgram& program)
    : source::StatementWriter(program, argument_names(program)),
      form_(choose_form(program)),
      values_(program.values.size()) {}

void ValueStatements::find_tiles(const std::vector<bool>& in_registers) {
  std::vector<std::size_t> loop(program_.values.size(), 0);
  std::size_t now = 1;
  int stage = 0;
  const auto look = [&](const std::vector<Instr>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % kPart == 0 && variables_.framed()) ++now;
      const Instr& in = list[i];
      for (const ValueId v : {in.a, in.b, in.c}) {
        if (v == kNoValue || loop[at(v)] == now) continue;
        if (kept_[at(v)].empty() || home_[at(v)] == stage) values_[at(v)].leaves = true;
      }
      if (in.result != kNoValue) loop[at(in.result)] = now;
    }
    ++now;
  };
  for (const codegen::Stage& s : program_.stages) {
    look(s.body);
    for (const codegen::Reduction& r : s.reductions) {
      values_[at(r.result)].leaves = true;
      if (!in_registers[at(stage)]) values_[at(r.input)].leaves = true;
    }
    look(s.outer);
    ++stage;
  }
}

void ValueStatements::take(ValueId v, const std::string& tile) {
  snippets_.need("Values");
  values_[at(v)].tiled = true;
  values_[at(v)].text = variables_.take_tile(v, tile, program_.values[at(v)]);
}

void ValueStatements::release(ValueId v) {
  if (v == kNoValue || values_[at(v)].last_use > now_) return;
  variables_.give_back(v, values_[at(v)].text);
}

void ValueStatements::write_list(const std::vector<Instr>& list, const CodePosition& place, const std::string& name) {
  for (std::size_t first = 0; first < list.size(); first += variables_.framed() ? kPart : list.size()) {
    const std::size_t last = variables_.framed() ? std::min(list.size(), first + kPart) : list.size();
    if (!variables_.framed()) {
      write_part(list, first, last, place);
      continue;
    }
    const std::string part = fmt::format("{}_{}", name, first / kPart);
    std::string text;
    elsewhere(text, 1, [&] { write_part(list, first, last, place); });
    unit_.functions += fmt::format("\nvoid {}([[maybe_unused]] Frame& f) {{\n{}}}\n", part, text);
    unit_.declarations += fmt::format("void {}(Frame& f);\n", part);
    line("{}(f);", part);
  }
}

void ValueStatements::keep(ValueId v, const CodePosition& /*place*/) {
  snippets_.need(form_.packets ? "tile_of" : "Values");
  if (form_.packets) {
    line("put({}, {} + k, {});", variables_.var(kept_[at(v)]), kept_at_, values_[at(v)].text);
  } else {
    line("{}[{} + k] = {};", variables_.var(kept_[at(v)]), kept_at_, values_[at(v)].text);
  }
}

/// Stores a value that leaves the loop to a tile, which is declared before the loop.
void ValueStatements::written(const Instr& in, const CodePosition& place) {
  const ValueId v = in.result;
  if (v != kNoValue && values_[at(v)].leaves && !values_[at(v)].scalar) {
    const std::string made = values_[at(v)].text;
    elsewhere(before_, tile_indent_, [&] { take(v, place.tile); });
    if (form_.packets) {
      snippets_.need("tile_of");
      line("put({}, k, {});", values_[at(v)].text, made);
    } else {
      line("{}[k] = {};", values_[at(v)].text, made);
    }
  }
  for (const ValueId operand : {in.a, in.b, in.c}) release(operand);
  release(v);
  ++now_;
}

void ValueStatements::write_part(const std::vector<Instr>& list, std::size_t first, std::size_t last,
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
  if (form_.packets) {
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
  if (gathers_.empty()) return line("{}", form_.packets ? "});" : "}");
  std::string give;
  for (const Gather& g : gathers_) give += fmt::format(" {}.give({});", g.lanes, g.reducer);
  line("}}, [&]() ORIEL_INLINE {{{} }});", give);
}

/// A value as an operand inside a loop.
std::string ValueStatements::read(ValueId v) {
  if (kept_before(v))
    return fmt::format(fmt::runtime(form_.packets ? "get({}, {} + k)" : "{}[{} + k]"), variables_.var(kept_[at(v)]),
                       kept_at_);
  if (!values_[at(v)].tiled || values_[at(v)].scalar) return values_[at(v)].text;
  if (!form_.packets) return values_[at(v)].text + "[k]";
  snippets_.need("tile_of");
  return fmt::format("get({}, k)", values_[at(v)].text);
}

void ValueStatements::define(ValueId v, const std::string& value) {
  values_[at(v)].text = "v" + std::to_string(v);
  line("{}const {} {} = {};", values_[at(v)].unread(), form_.packets ? "auto" : type_of(v).text, values_[at(v)].text,
       value);
}

void ValueStatements::define_uniform(ValueId v, const std::string& value) {
  const std::string name = "v" + std::to_string(v);
  elsewhere(before_, indent() - 1, [&] { variables_.set(type_of(v), name, value); });
  values_[at(v)].text = variables_.var(name);
  values_[at(v)].scalar = true;
}

void ValueStatements::define_each(ValueId v, const std::string& valid, const std::string& element) {
  const std::string type = type_of(v).text;
  const std::string value = valid == "0"   ? fmt::format("{}(0)", type)
                            : valid == "1" ? element
                                           : fmt::format("{} ? {} : {}(0)", valid, element, type);
  if (!form_.packets) return define(v, value);
  snippets_.need("each_lane");
  define(v, fmt::format("each_lane<{0}>(used, k, [&]([[maybe_unused]] Int e) ORIEL_INLINE -> {0} {{ return {1}; }})",
                        type, value));
}

}  // namespace oriel::source::cpp
