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
using codegen::ValueId;

CppStatementWriter::CppStatementWriter(const codegen::LoopProgram& program, const SymbolicSizes* symbolic)
    : ValueStatements(program), sizes_(program_, symbolic, variables_) {}

std::string CppStatementWriter::rows_from_sizes(std::int64_t elements, std::int64_t most_rows) {
  std::string text;
  const auto set = [&](const Type& type, const std::string& name, const std::string& value) {
    if (variables_.framed()) variables_.member(type, name);
    text += variables_.framed() ? fmt::format("  f.{} = {};\n", name, value)
                                : fmt::format("  {} const {} = {};\n", type.text, name, value);
  };
  std::string rows = fmt::format("least({}, {})", most_rows, sizes_.of(program_.outer.back()));
  std::set<std::string> lengths;
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    if (!looped(program_.stages[s]) || program_.stages[s].inner.empty()) continue;
    const std::string points = sizes_.of(numel(program_.stages[s].inner));
    if (!lengths.insert(points).second) continue;
    rows = fmt::format("least({0} / least({0}, {1} > 0 ? {1} : 1), {2})", elements, points, rows);
  }
  set(position_type(), "row_step", rows);
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    for (const codegen::Instr& in : program_.stages[s].body) {
      if (in.result == codegen::kNoValue || kept_[at(in.result)].empty()) continue;
      const std::string& name = kept_[at(in.result)];
      const std::string type = type_of(in.result).text;
      snippets_.need("Allocated");
      if (form_.packets) snippets_.need("allocated_packets");
      // Whole registers may be written at the end.
      text += fmt::format("  const Allocated<{}> {}_memory({} * {} + 64);\n", type, name, variables_.var("row_step"),
                          sizes_.of(numel(program_.stages[s].inner)));
      set(pointer_type(type), name, name + "_memory.data");
    }
  }
  return text;
}

std::string CppStatementWriter::spelled(const std::function<std::string(const codegen::NumberText&)>& write) {
  return write([this](SymInt n) { return sizes_.of(n); });
}

std::optional<std::int64_t> CppStatementWriter::step_of(std::int32_t access, const CodePosition& place) const {
  if (place.fast < 0) return 0;
  const SymInt step = program_.accesses[at(access)].axis(at(place.fast)).coefficient;
  return step.is_symbolic() ? std::nullopt : std::optional(step.value());
}

codegen::AccessText CppStatementWriter::expression_of(std::int32_t number, const std::vector<std::string>& names) {
  const Access& access = program_.accesses[at(number)];
  if (access.is_symbolic() && access.affine()) {  // as it stands: nothing is asked of symbols
    CodePosition place;
    place.names = names;
    const std::string valid = condition(access, place);
    return {position(access, place), valid.empty() ? "1" : valid == kNever ? "0" : valid};
  }
  const codegen::AccessExpression expression(access, names);
  return {spelled([&](const codegen::NumberText& text) { return expression.index(text); }),
          spelled([&](const codegen::NumberText& text) { return expression.valid(text); })};
}

void CppStatementWriter::write_element(const Instr& in, const CodePosition&) {
  const Spelling spelling = spell(in);
  std::vector<std::string> operands;
  bool all_scalar = true;
  for (const ValueId v : {in.a, in.b, in.c}) {
    if (v == kNoValue) continue;
    operands.push_back(read(v));
    all_scalar = all_scalar && values_[at(v)].scalar;
  }
  const auto filled = [&](const std::string& expression) {
    const std::size_t n = operands.size();
    return fmt::format(fmt::runtime(expression), fmt::arg("a", operands[0]), fmt::arg("b", n > 1 ? operands[1] : ""),
                       fmt::arg("c", n > 2 ? operands[2] : ""));
  };
  std::string arguments;
  for (const std::string& text : operands) arguments += (arguments.empty() ? "" : ", ") + text;
  const bool main = value_type(in.from) == value_type(form_.main);
  if (!form_.packets || (all_scalar && !spelling.packets)) {
    if (spelling.scalar.empty()) snippets_.need(spelling.snippet);
    const std::string value =
        spelling.scalar.empty() ? fmt::format("{}::of({})", spelling.functor, arguments) : filled(spelling.scalar);
    const ValueId v = in.result;
    values_[at(v)].text = "v" + std::to_string(v);
    line("{}const {} {} = {};", values_[at(v)].unread(), type_of(v).text, values_[at(v)].text, value);
    // A single number stays one beside packets, unless it leaves the loop.
    values_[at(v)].scalar = form_.packets && !values_[at(v)].leaves && kept_[at(v)].empty();
    return;
  }
  // Division by one number has a faster form, which needs Eigen; it is used if Eigen is included anyway.
  if (main && in.op == graph::Op::Div && in.from == DType::float32 && form_.main == DType::float32 &&
      values_[at(in.b)].scalar && !values_[at(in.a)].scalar && snippets_.needs("packets")) {
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

void CppStatementWriter::write_constant(const Instr& in) {
  const codegen::Constant& c = program_.constants[at(in.aux)];
  const std::string type = value_type(in.dtype);
  values_[at(in.result)].scalar = true;
  if (std::string text = sizes_.constant(in.aux, type, snippets_); !text.empty()) {
    values_[at(in.result)].text = std::move(text);
    return;
  }
  const std::string name = "c" + std::to_string(in.aux);
  const bool fresh = constants_.insert(in.aux).second;
  if (c.parameter < 0) {
    if (fresh) unit_.numbers += fmt::format("constexpr {} {} = {};\n", type, name, literal(c.value));
    values_[at(in.result)].text = name;
    return;
  }
  values_[at(in.result)].text = variables_.var(name);
  if (!fresh) return;
  const char* member_name = is_floating(in.dtype) ? "f" : "i";
  const std::string value = in.dtype == DType::bool_
                                ? fmt::format("parameters[{}].i != 0 ? 1 : 0", c.parameter)
                                : fmt::format("static_cast<{}>(parameters[{}].{})", type, c.parameter, member_name);
  if (variables_.framed()) variables_.member(number_type(in.dtype), name);
  unit_.set_up += variables_.framed() ? fmt::format("  f.{} = {};\n", name, value)
                                      : fmt::format("  const {} {} = {};\n", type, name, value);
}

std::string CppStatementWriter::segment(const std::optional<LaneCut>& cut, const std::string& condition,
                                        const CodePosition& place) {
  snippets_.need("segment");
  const std::string part = cut ? fmt::format("{}, {}, {}, {}", sizes_.of(cut->lo), sizes_.of(cut->hi),
                                             place.names[at(place.fast)], place.count)
                               : fmt::format("0, {0}, 0, {0}", place.count);
  std::string name = "s" + std::to_string(segments_++);
  elsewhere(before_, indent() - 1,
            [&] { line("const Segment {} = segment({}{});", name, part, condition.empty() ? "" : ", " + condition); });
  return name;
}

void CppStatementWriter::write_load(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string buffer = variables_.var(buffers_[at(access.buffer)]);
  if (access.affine()) {
    const std::optional<LaneCut> lanes = cut(access, place);
    const std::optional<std::int64_t> step = step_of(in.aux, place);
    const std::string valid = condition(access, place);
    if (step == 0 && !lanes) {
      if (valid == kNever) return define_uniform(in.result, type_of(in.result).text + "(0)");
      const std::string element =
          widened(access.dtype, fmt::format("{}[{}]", buffer, position(access, place)), snippets_);
      return define_uniform(
          in.result, valid.empty() ? element : fmt::format("{} ? {} : {}(0)", valid, element, type_of(in.result).text));
    }
    if (form_.packets && step == 1 && !is_half(access.dtype)) {
      const std::string first = position(access, place);
      if (!lanes && valid.empty()) {
        snippets_.need("load");
        return define(in.result, fmt::format("load({} + ({}) + k, used)", buffer, first));
      }
      snippets_.need("load_part");
      return define(in.result,
                    fmt::format("load_part({} + ({}), k, used, {})", buffer, first, segment(lanes, valid, place)));
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, form_.element()));
  define_each(in.result, text.valid, widened(access.dtype, fmt::format("{}[{}]", buffer, text.index), snippets_));
}

void CppStatementWriter::write_gather(const Instr& in, const CodePosition&) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string type = type_of(in.result).text;
  const std::string element =
      widened(access.dtype, fmt::format("{}[i]", variables_.var(buffers_[at(access.buffer)])), snippets_);
  const std::string elements = sizes_.elements(access.buffer);
  const std::string pick =
      fmt::format("ORIEL_INLINE -> {0} {{ return i >= 0 && i < {1} ? {2} : {0}(0); }}", type, elements, element);
  const std::string position = read(in.a);
  if (!form_.packets || values_[at(in.a)].scalar) {
    // One position for the whole tile gives one value. With packets it is still a value of lanes.
    const std::string one = fmt::format("[&](Int i) {}({})", pick, position);
    if (!form_.packets) return define(in.result, one);
    snippets_.need("each_lane");
    return define(in.result,
                  fmt::format("each_lane<{0}>(used, k, [&](Int) ORIEL_INLINE -> {0} {{ return {1}; }})", type, one));
  }
  snippets_.need("pick");
  define(in.result, fmt::format("pick<{}>({}, used, [&](Int i) {})", type, position, pick));
}

void CppStatementWriter::write_position(const Instr& in, const CodePosition& place) {
  const bool index = in.code == Code::Index;
  const Access& access = program_.accesses[at(in.aux)];
  if (access.affine()) {
    if (!cut(access, place) && (!index || step_of(in.aux, place) == 0)) {
      const std::string number = index ? position(access, place) : "1";
      const std::string valid = condition(access, place);
      if (valid == kNever) return define_uniform(in.result, "0");
      return define_uniform(in.result, valid.empty() ? number : fmt::format("{} ? {} : 0", valid, number));
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, form_.element()));
  define_each(in.result, text.valid, index ? text.index : "1");
}

bool CppStatementWriter::streamed(const Access& access, std::int64_t step) const {
  const codegen::Argument& argument = program_.arguments[at(access.buffer)];
  // If the kernel also reads this memory, its lines are in the caches already.
  return (!sizes_.symbolic() || sizes_.unit()) && form_.packets && argument.dtype == form_.main &&
         argument.shares < 0 && !argument.local && step == 1 && bypasses_caches(argument);
}

void CppStatementWriter::write_store(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string buffer = variables_.var(buffers_[at(access.buffer)]);
  const std::string operand = read(in.a);
  if (form_.packets && access.affine() && !is_half(access.dtype)) {
    const std::optional<std::int64_t> step = step_of(in.aux, place);
    if (!cut(access, place) && condition(access, place).empty() && (step == 1 || place.fast < 0)) {
      const bool stream = streamed(access, step.value_or(0));
      streams_ = streams_ || stream;
      snippets_.need(stream ? "stream" : "store");
      const bool spread = values_[at(in.a)].scalar && access.dtype == form_.main;
      line("{}({} + ({}) + k, {}, used);", stream ? "stream" : "store", buffer, position(access, place),
           spread ? "all(" + operand + ")" : operand);
      return;
    }
  }
  const codegen::AccessText text = expression_of(in.aux, lane_names(place, form_.element()));
  if (text.valid == "0") return;
  const std::string condition = text.valid == "1" ? "" : fmt::format("if ({}) ", text.valid);
  if (!form_.packets) {
    line("{}{}[{}] = {};", condition, buffer, text.index, narrowed(access.dtype, operand, snippets_));
    return;
  }
  snippets_.need("scatter");
  line("scatter({}, used, k, [&]([[maybe_unused]] Int e, {} x) ORIEL_INLINE {{ {}{}[{}] = {}; }});", operand,
       value_type(access.dtype), condition, buffer, text.index, narrowed(access.dtype, "x", snippets_));
}

}  // namespace oriel::source::cpp
