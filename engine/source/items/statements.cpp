#include "source/items/statements.hpp"

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/keep.hpp"

namespace oriel::source::items {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::ValueId;

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void both(std::string& condition, const std::string& test) { condition += (condition.empty() ? "" : " && ") + test; }

}  // namespace

Statements::Statements(const LoopProgram& program, std::size_t most_numbers)
    : program_(program), most_numbers_(most_numbers) {
  names_.resize(program.values.size());
  widths_.assign(program.values.size(), 1);
  kept_.resize(program.values.size());
  home_.assign(program.values.size(), -1);
  for (const ValueId v : codegen::kept_values(program)) kept_[at(v)] = "kept" + std::to_string(v);
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    for (const Instr& in : program.stages[s].body)
      if (in.result != kNoValue) home_[at(in.result)] = static_cast<int>(s);
}

std::string Statements::with_arguments(const std::string& text) { return with_arguments_for(text, text); }

std::string Statements::with_arguments_for(const std::string& key, const std::string& text) {
  const auto found = replaced_.find(key);
  if (found != replaced_.end()) return found->second;
  std::string out;
  for (std::size_t k = 0; k < text.size();) {
    if (!is_word(text[k])) {
      out += text[k++];
      continue;
    }
    std::size_t end = k;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(k, end - k);
    k = end;
    const bool number = std::all_of(word.begin(), word.end(), is_digit);
    if (!number || word == "0" || word == "1" || numbers_.size() >= most_numbers_) {
      out += word;
      continue;
    }
    out += "n" + std::to_string(numbers_.size());
    numbers_.push_back(std::stoll(word));
  }
  return replaced_[key] = out;
}

Statements::Reach Statements::reach(const View& view, const Place& place) {
  Reach r;
  std::string position;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const std::int64_t stride = view.strides[d].value();
    if (stride == 0) continue;
    const std::int64_t magnitude = stride < 0 ? -stride : stride;
    position += position.empty() ? (stride < 0 ? "-" : "") : (stride < 0 ? " - " : " + ");
    position += place.names[d];
    if (magnitude != 1) position += "*" + std::to_string(magnitude);
  }
  const std::int64_t offset = view.offset.value();
  if (position.empty()) {
    position = std::to_string(offset);
  } else if (offset != 0) {
    position += (offset < 0 ? " - " : " + ") + std::to_string(offset < 0 ? -offset : offset);
  }
  r.position = with_arguments(position);
  r.first = "0";
  r.last = place.count;
  if (place.fast >= 0) {
    r.step = view.strides[at(place.fast)].value();
    r.step_text = with_arguments_for("step " + std::to_string(r.step), std::to_string(r.step));
  }
  std::string condition;
  for (std::size_t d = 0; d < view.mask.size(); ++d) {
    const std::int64_t lo = view.mask[d].lo.value();
    const std::int64_t hi = view.mask[d].hi.value();
    if (lo == 0 && hi == view.shape[d].value()) continue;
    const std::string& name = place.names[d];
    if (static_cast<int>(d) == place.fast && lo < hi) {
      r.some_lanes = true;
      if (lo > 0) r.first = with_arguments(fmt::format("(int)clamp((long)({} - {}), -1L, 64L)", lo, name));
      if (hi < view.shape[d].value())
        r.last = with_arguments(fmt::format("min({}, (int)clamp((long)({} - {}), -1L, 64L))", place.count, hi, name));
      continue;
    }
    if (lo >= hi) {
      both(condition, "false");
      continue;
    }
    if (lo > 0) both(condition, fmt::format("{} >= {}", name, lo));
    if (hi < view.shape[d].value()) both(condition, fmt::format("{} < {}", name, hi));
  }
  if (!condition.empty()) {
    r.condition = with_arguments(condition);
    r.last = fmt::format("({} ? {} : 0)", r.condition, r.last);
  }
  return r;
}

void Statements::write_list(const std::vector<Instr>& list, const Place& place, bool stores) {
  for (const Instr& in : list) {
    write(in, place, stores);
    const ValueId v = in.result;
    if (v == kNoValue || kept_[at(v)].empty()) continue;
    line("{};", helpers_.keep(program_.values[at(v)], place.width, read(v, place), kept_[at(v)] + " + " + kept_at_,
                              place.count));
  }
}

void Statements::write(const Instr& in, const Place& place, bool stores) {
  switch (in.code) {
    case Code::Elementwise:
    case Code::Round:
      return write_element(in, place);
    case Code::Gather:
      return write_gather(in, place);
    case Code::Const:
      return write_constant(in);
    case Code::Load:
      return write_load(in, place);
    case Code::Index:
    case Code::Valid:
      return write_position(in, place);
    case Code::Store:
      if (stores) write_store(in, place);
  }
}

std::string Statements::read(ValueId v, const Place& place) {
  if (!kept_[at(v)].empty() && home_[at(v)] != stage_)
    return helpers_.kept(program_.values[at(v)], place.width, kept_[at(v)] + " + " + kept_at_, place.count);
  if (widths_[at(v)] == place.width) return names_[at(v)];
  return fmt::format("({})({})", value_type(program_.values[at(v)], place.width), names_[at(v)]);
}

void Statements::name(ValueId v, const std::string& text, int width) {
  names_[at(v)] = text;
  widths_[at(v)] = width;
}

void Statements::define(ValueId v, const std::string& value, int width) {
  name(v, "v" + std::to_string(v), width);
  line("const {} {} = {};", value_type(program_.values[at(v)], width), names_[at(v)], value);
}

void Statements::write_element(const Instr& in, const Place& place) {
  std::vector<std::string> operands;
  int width = 1;
  const auto is_kept = [&](ValueId v) { return !kept_[at(v)].empty() && home_[at(v)] != stage_; };
  // What is the same in all lanes is computed once.
  for (const ValueId v : {in.a, in.b, in.c})
    if (v != kNoValue && (widths_[at(v)] != 1 || is_kept(v))) width = place.width;
  Place narrow = place;
  narrow.width = width;
  for (const ValueId v : {in.a, in.b, in.c})
    if (v != kNoValue) operands.push_back(read(v, narrow));
  define(in.result, helpers_.spell(in, width, operands), width);
}

void Statements::write_constant(const Instr& in) {
  const codegen::Constant& c = program_.constants[at(in.aux)];
  if (c.parameter < 0) return name(in.result, literal(c.value.cast(in.dtype)), 1);
  const auto found = constants_.find(in.aux);
  if (found != constants_.end()) return name(in.result, found->second, 1);
  const std::string argument = "c" + std::to_string(in.aux);
  constants_[in.aux] = argument;
  parameters_.emplace_back(c.parameter, in.dtype);
  parameter_names_.push_back(argument);
  name(in.result, argument, 1);
}

/// Each lane by itself: `valid` and `element` are expressions of `k` in the names of `by_lane`.
void Statements::by_lanes(ValueId v, const Place& place, const std::string& valid, const std::string& element) {
  const DType dtype = program_.values[at(v)];
  const std::string type = value_type(dtype);
  const std::string zero = fmt::format("({})0", type);
  if (valid == "0") return define(v, zero, 1);
  const std::string value = valid == "1" ? element : fmt::format("{} ? {} : {}", valid, element, zero);
  if (place.width == 1) return define(v, value, 1);
  line("{} lanes{}[{}];", type, v, place.width);
  line("for (int k = 0; k < {}; ++k) lanes{}[k] = k < {}{} ? {} : {};", place.width, v, place.count,
       valid == "1" ? "" : " && " + valid, element, zero);
  define(v, fmt::format("vload{}(0, lanes{})", place.width, v), place.width);
}

namespace {

std::vector<std::string> lane_names(const Place& place) {
  std::vector<std::string> names = place.names;
  if (place.fast >= 0 && place.width > 1) names[at(place.fast)] = "(" + names[at(place.fast)] + " + k)";
  return names;
}

}  // namespace

std::string Statements::run_of(const Access& access, const Place& place) {
  const Reach r = reach(access.view(), place);
  return helpers_.load(access.dtype, place.width, buffers_[at(access.buffer)], r.position, r.step, r.step_text, r.first,
                       r.last);
}

void Statements::write_load(const Instr& in, const Place& place) {
  const auto loaded = at_hand_.find(in.aux);
  if (loaded != at_hand_.end()) return define(in.result, loaded->second, place.width);
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  if (access.affine()) {
    const Reach r = reach(access.view(), place);
    const bool everywhere = r.first == "0" && r.last == place.count;
    if (r.step == 0 && !r.some_lanes) {
      // One element in all lanes.
      const std::string element = helpers_.load_one(access.dtype, buffer, r.position);
      const std::string type = value_type(in.dtype);
      return define(in.result, everywhere ? element : fmt::format("{} ? {} : ({})0", r.condition, element, type), 1);
    }
    if (place.width == 1 && everywhere)
      return define(in.result, helpers_.load_one(access.dtype, buffer, r.position), 1);
    return define(in.result, run_of(access, place), place.width);
  }
  const codegen::AccessText text = codegen::expression(access.tracker, lane_names(place));
  by_lanes(in.result, place, with_arguments(text.valid),
           helpers_.load_one(access.dtype, buffer, with_arguments(text.index)));
}

/// Elements at positions that are values; 0 for those outside of the argument.
void Statements::write_gather(const Instr& in, const Place& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  const std::int64_t elements = program_.arguments[at(access.buffer)].elements;
  const std::string end = with_arguments_for(fmt::format("elements of {}", buffer), std::to_string(elements));
  const bool uniform = widths_[at(in.a)] == 1 && (kept_[at(in.a)].empty() || home_[at(in.a)] == stage_);
  Place narrow = place;
  if (uniform) narrow.width = 1;
  std::string position = read(in.a, narrow);
  if (narrow.width > 1) {
    line("long at{}[{}];", in.result, narrow.width);
    line("vstore{}({}, 0, at{});", narrow.width, position, in.result);
    position = fmt::format("at{}[k]", in.result);
  }
  narrow.count = narrow.width > 1 ? place.count : "1";
  by_lanes(in.result, narrow, fmt::format("({0} >= 0 && {0} < {1})", position, end),
           helpers_.load_one(access.dtype, buffer, position));
}

void Statements::write_position(const Instr& in, const Place& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const codegen::AccessText text = codegen::expression(access.tracker, lane_names(place));
  by_lanes(in.result, place, with_arguments(text.valid),
           in.code == Code::Index ? fmt::format("(long)({})", with_arguments(text.index)) : "(uchar)1");
}

void Statements::write_store(const Instr& in, const Place& place) {
  const Access& access = program_.accesses[at(in.aux)];
  const std::string& buffer = buffers_[at(access.buffer)];
  const std::string value = read(in.a, place);
  if (access.affine()) {
    const Reach r = reach(access.view(), place);
    line("{};",
         helpers_.store(access.dtype, place.width, buffer, r.position, r.step, r.step_text, r.first, r.last, value));
    return;
  }
  const codegen::AccessText text = codegen::expression(access.tracker, lane_names(place));
  const std::string valid = with_arguments(text.valid);
  const std::string index = with_arguments(text.index);
  if (valid == "0") return;
  if (place.width == 1) {
    line("{}{};", valid == "1" ? "" : fmt::format("if ({}) ", valid),
         helpers_.store_one(access.dtype, buffer, index, value));
    return;
  }
  line("{} lanes_{}[{}];", value_type(access.dtype), in.aux, place.width);
  line("vstore{}({}, 0, lanes_{});", place.width, value, in.aux);
  line("for (int k = 0; k < {}; ++k) {}{};", place.count, valid == "1" ? "" : fmt::format("if ({}) ", valid),
       helpers_.store_one(access.dtype, buffer, index, fmt::format("lanes_{}[k]", in.aux)));
}

}  // namespace oriel::source::items
