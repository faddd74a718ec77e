#include "source/items/statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/expression.hpp"
#include "source/names.hpp"

namespace oriel::source::items {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::NumberText;
using codegen::ValueId;

namespace {

/// Do drivers' compilers evaluate functions of this float as the device does? Functions convert their operand, or its
/// logarithm, to an integer and let a later selection discard what does not fit. If the operand is known, compilers
/// leave such results undefined.
bool ordinary(double value) { return value == 0 || (std::fabs(value) >= 0x1p-64 && std::fabs(value) <= 0x1p16); }

/// How many numbers may be kernel arguments, besides the buffers and parameters.
std::size_t room_for_numbers(const LoopProgram& program, const DeviceTraits& table) {
  std::size_t parameters = 0;
  for (const codegen::Constant& c : program.constants) parameters += c.parameter >= 0 ? 1 : 0;
  // Buffers, partial results, kept rows, parameters and KernelNumbers::zero take at most 8 bytes each.
  const std::size_t taken = 8 * (program.arguments.size() + parameters + 25);
  return taken >= table.argument_bytes ? 0 : (table.argument_bytes - taken) / 8;
}

}  // namespace

std::string KernelNumbers::text(const std::string& key, const std::function<std::string(const NumberText&)>& write) {
  const auto found = replaced_.find(key);
  if (found != replaced_.end()) return found->second;
  return replaced_[key] = write([&](SymInt size) {
           const std::int64_t number = size.value();
           if (number < 2 || numbers_.size() >= most_) return std::to_string(number);
           numbers_.push_back(number);
           return "n" + std::to_string(numbers_.size() - 1);
         });
}

std::string KernelNumbers::one(const std::string& what, std::int64_t value) {
  return text(what, [&](const NumberText& number) { return value < 0 ? "-" + number(-value) : number(value); });
}

std::string KernelNumbers::zero() {
  std::string& name = replaced_["zero"];
  if (name.empty()) {
    name = "n" + std::to_string(numbers_.size());
    numbers_.push_back(0);
  }
  return name;
}

const std::string& KernelParameters::argument(std::int32_t constant, std::int32_t parameter, DType dtype) {
  const auto found = arguments_.find(constant);
  if (found != arguments_.end()) return found->second;
  const std::string argument = "c" + std::to_string(constant);
  parameters_.emplace_back(parameter, dtype);
  names_.push_back(argument);
  return arguments_[constant] = argument;
}

ItemStatementWriter::ItemStatementWriter(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table,
                                         const WorkDivision& work)
    : source::StatementWriter(program, argument_names(program)),
      dialect_(dialect),
      work_(work),
      int_(dialect.position_type(work.wide)),
      helpers_(dialect, !table.cpu),
      numbers_(room_for_numbers(program, table)),
      values_(program.values.size()) {
  set_indent(1);
  for (const codegen::Stage& stage : program.stages) count_roundings({stage.outer, stage.body});
}

void ItemStatementWriter::count_roundings(std::initializer_list<std::span<const Instr>> lists) {
  constexpr std::ptrdiff_t kMostInlined = 32;
  for (const std::span<const Instr> list : lists)
    roundings_ += std::count_if(list.begin(), list.end(), [](const Instr& in) { return in.code == Code::Round; });
  if (roundings_ > kMostInlined) helpers_.call_roundings();
}

ItemStatementWriter::Places ItemStatementWriter::partials_of(const codegen::Stage& stage, Rendered& out) const {
  Places partials;
  const std::int64_t points = numel(program_.outer, "render").value();
  for (const codegen::Reduction& r : stage.reductions) {
    partials.emplace_back(r.dtype, fmt::format("part{}", r.result));
    out.partial_bytes.push_back(work_.parts * points * static_cast<std::int64_t>(itemsize(r.dtype)));
  }
  return partials;
}

std::string ItemStatementWriter::partial_at(const CodePosition& place) {
  std::string flat = "0";
  for (std::size_t d = 0; d < program_.outer.size(); ++d)
    flat = d == 0 ? place.names[0] : fmt::format("({}) * {} + {}", flat, outer_extent(d), place.names[d]);
  return fmt::format("part * {} + {}", extent("points", numel(program_.outer, "render").value()), flat);
}

std::string ItemStatementWriter::load_partial(const codegen::Reduction& r, const CodePosition& place) {
  return helpers_.load(r.dtype, place.width, fmt::format("part{}", r.result), partial_at(place), 1, "1", "0",
                       place.count);
}

std::string ItemStatementWriter::store_partial(const codegen::Reduction& r, const CodePosition& place,
                                               const std::string& value) {
  return helpers_.store(r.dtype, place.width, fmt::format("part{}", r.result), partial_at(place), 1, "1", "0",
                        place.count, value);
}

void ItemStatementWriter::write_points(const std::vector<std::size_t>& loops, const std::string& id) {
  if (loops.empty()) return;
  line("{0} rest = ({0}){1};", int_, id);
  for (std::size_t k = loops.size(); k-- > 0;) {
    const std::string n = outer_extent(loops[k]);
    line("const {} o{} = {};", int_, loops[k], k == 0 ? "rest" : fmt::format("rest % {}", n));
    if (k > 0) line("rest /= {};", n);
  }
}

std::string ItemStatementWriter::spelled(const std::function<std::string(const NumberText&)>& write) {
  return numbers_.text(write(codegen::plain_number), write);
}

ItemStatementWriter::Lanes ItemStatementWriter::lanes_of(const Access& access, const CodePosition& place) {
  Lanes r;
  r.position = position(access, place);
  r.first = "0";
  r.last = place.count;
  if (place.fast >= 0) {
    r.step = step(access, place);
    r.step_text = numbers_.one("step " + std::to_string(r.step), r.step);
  }
  if (const auto lanes = cut(access, place)) {
    r.some_lanes = true;
    const std::string& name = place.names[at(place.fast)];
    const auto bound = [&](SymInt point) {
      return spelled([&](const NumberText& number) {
        return dialect_.clamped(fmt::format("{} - {}", number(point), name), -1, 64);
      });
    };
    if (lanes->below) r.first = bound(lanes->lo);
    if (lanes->above) r.last = fmt::format("min({}, {})", place.count, bound(lanes->hi));
  }
  r.condition = condition(access, place);
  if (!r.condition.empty()) r.last = fmt::format("({} ? {} : 0)", r.condition, r.last);
  return r;
}

void ItemStatementWriter::keep(ValueId v, const CodePosition& place) {
  line("{};", helpers_.keep(program_.values[at(v)], place.width, read(v, place), kept_[at(v)] + " + " + kept_at_,
                            place.count));
}

std::string ItemStatementWriter::read(ValueId v, const CodePosition& place) {
  if (kept_before(v))
    return helpers_.kept(program_.values[at(v)], place.width, kept_[at(v)] + " + " + kept_at_, place.count);
  if (values_[at(v)].width == place.width) return values_[at(v)].text;
  return fmt::format("({})({})", value_type(program_.values[at(v)], place.width), values_[at(v)].text);
}

void ItemStatementWriter::name(ValueId v, const std::string& text, int width) { values_[at(v)] = {text, width}; }

void ItemStatementWriter::define(ValueId v, const std::string& value, int width) {
  name(v, "v" + std::to_string(v), width);
  line("const {} {} = {};", value_type(program_.values[at(v)], width), values_[at(v)].text, value);
}

void ItemStatementWriter::write_element(const Instr& in, const CodePosition& place) {
  std::vector<std::string> operands;
  int width = 1;
  // A value that is the same in all lanes is computed once.
  bool constant = true;
  for (const ValueId v : {in.a, in.b, in.c}) {
    if (v == kNoValue) continue;
    if (values_[at(v)].width != 1 || kept_before(v)) width = place.width;
    constant = constant && values_[at(v)].literal >= 0;
  }
  CodePosition narrow = place;
  narrow.width = width;
  for (const ValueId v : {in.a, in.b, in.c}) {
    if (v == kNoValue) continue;
    const bool hide = constant && is_floating(program_.values[at(v)]);
    operands.push_back(hide ? hidden(program_.constants[at(values_[at(v)].literal)].value.cast(program_.values[at(v)]))
                            : read(v, narrow));
  }
  define(in.result, helpers_.spell(in, width, operands), width);
}

void ItemStatementWriter::write_constant(const Instr& in) {
  const codegen::Constant& c = program_.constants[at(in.aux)];
  if (c.parameter >= 0) return name(in.result, parameters_.argument(in.aux, c.parameter, in.dtype), 1);
  const graph::Scalar value = c.value.cast(in.dtype);
  if (is_floating(in.dtype) && !ordinary(value.f)) return name(in.result, hidden(value), 1);
  name(in.result, dialect_.literal(value), 1);
  values_[at(in.result)].literal = in.aux;
}

std::string ItemStatementWriter::hidden(const graph::Scalar& value) {
  const bool wide = value.dtype == DType::float64;
  const std::uint64_t bits =
      wide ? std::bit_cast<std::uint64_t>(value.f) : std::bit_cast<std::uint32_t>(static_cast<float>(value.f));
  return dialect_.bits_as(
      value_type(value.dtype),
      fmt::format("({})(0x{:x}u | {})", value_type(wide ? DType::uint64 : DType::uint32), bits, numbers_.zero()));
}

/// Writes lane by lane. `valid` and `element` are expressions of `k` that use the names of `by_lane`.
void ItemStatementWriter::by_lanes(ValueId v, const CodePosition& place, const std::string& valid,
                                   const std::string& element) {
  const DType dtype = program_.values[at(v)];
  const std::string type = value_type(dtype);
  const std::string zero = fmt::format("({})0", type);
  if (valid == "0") return define(v, zero, 1);
  const std::string value = valid == "1" ? element : fmt::format("{} ? {} : {}", valid, element, zero);
  if (place.width == 1) return define(v, value, 1);
  line("{} lanes{}[{}];", type, v, place.width);
  line("for (int k = 0; k < {}; ++k) lanes{}[k] = k < {}{} ? {} : {};", place.width, v, place.count,
       valid == "1" ? "" : " && " + valid, element, zero);
  define(v, dialect_.load_vector(place.width, fmt::format("lanes{}", v)), place.width);
}

codegen::AccessText ItemStatementWriter::access_text(const Access& access, const CodePosition& place, bool with_index) {
  const codegen::AccessExpression expression(access, lane_names(place));
  codegen::AccessText text;
  if (with_index) text.index = spelled([&](const NumberText& number) { return expression.index(number); });
  text.valid = spelled([&](const NumberText& number) { return expression.valid(number); });
  return text;
}

std::string ItemStatementWriter::run_of(const Access& access, const CodePosition& place) {
  const Lanes r = lanes_of(access, place);
  return helpers_.load(access.dtype, place.width, buffers_[at(access.buffer)], r.position, r.step, r.step_text, r.first,
                       r.last);
}

void ItemStatementWriter::write_load(const Instr& in, const CodePosition& place) {
  const auto loaded = at_hand_.find(in.aux);
  if (loaded != at_hand_.end()) return define(in.result, loaded->second, place.width);
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  if (access.affine()) {
    const Lanes r = lanes_of(access, place);
    const bool everywhere = r.first == "0" && r.last == place.count;
    if (r.step == 0 && !r.some_lanes) {
      // All lanes read the same element.
      const std::string element = helpers_.load_one(access.dtype, buffer, r.position);
      const std::string type = value_type(in.dtype);
      return define(in.result, everywhere ? element : fmt::format("{} ? {} : ({})0", r.condition, element, type), 1);
    }
    if (place.width == 1 && everywhere)
      return define(in.result, helpers_.load_one(access.dtype, buffer, r.position), 1);
    return define(in.result, run_of(access, place), place.width);
  }
  const codegen::AccessText text = access_text(access, place);
  by_lanes(in.result, place, text.valid, helpers_.load_one(access.dtype, buffer, text.index));
}

/// Loads elements at positions that are values; 0 for positions outside the argument.
void ItemStatementWriter::write_gather(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  const std::int64_t elements = program_.arguments[at(access.buffer)].elements.value();
  const std::string end = numbers_.one("elements of " + buffer, elements);
  const bool uniform = values_[at(in.a)].width == 1 && !kept_before(in.a);
  CodePosition narrow = place;
  if (uniform) narrow.width = 1;
  std::string position = read(in.a, narrow);
  if (narrow.width > 1) {
    line("{} at{}[{}];", value_type(DType::int64), in.result, narrow.width);
    line("{};", dialect_.store_vector(narrow.width, position, fmt::format("at{}", in.result)));
    position = fmt::format("at{}[k]", in.result);
  }
  narrow.count = narrow.width > 1 ? place.count : "1";
  by_lanes(in.result, narrow, fmt::format("({0} >= 0 && {0} < {1})", position, end),
           helpers_.load_one(access.dtype, buffer, position));
}

void ItemStatementWriter::write_position(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const codegen::AccessText text = access_text(access, place, in.code == Code::Index);
  by_lanes(in.result, place, text.valid,
           in.code == Code::Index ? fmt::format("({})({})", value_type(DType::int64), text.index)
                                  : fmt::format("({})1", value_type(DType::bool_)));
}

void ItemStatementWriter::write_store(const Instr& in, const CodePosition& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  const std::string value = read(in.a, place);
  if (access.affine()) {
    const Lanes r = lanes_of(access, place);
    line("{};",
         helpers_.store(access.dtype, place.width, buffer, r.position, r.step, r.step_text, r.first, r.last, value));
    return;
  }
  const auto [index, valid] = access_text(access, place);
  if (valid == "0") return;
  if (place.width == 1) {
    line("{}{};", valid == "1" ? "" : fmt::format("if ({}) ", valid),
         helpers_.store_one(access.dtype, buffer, index, value));
    return;
  }
  line("{} lanes_{}[{}];", value_type(access.dtype), in.aux, place.width);
  line("{};", dialect_.store_vector(place.width, value, fmt::format("lanes_{}", in.aux)));
  line("for (int k = 0; k < {}; ++k) {}{};", place.count, valid == "1" ? "" : fmt::format("if ({}) ", valid),
       helpers_.store_one(access.dtype, buffer, index, fmt::format("lanes_{}[k]", in.aux)));
}

}  // namespace oriel::source::items
