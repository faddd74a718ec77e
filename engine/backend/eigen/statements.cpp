#include "backend/eigen/statements.hpp"

#include <algorithm>

#include "backend/eigen/spelling.hpp"
#include "codegen/expression.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::ValueId;

namespace {

// Instructions in one function of a large kernel, so that no function takes a compiler long.
constexpr std::size_t kPart = 128;

/// Names for one element of the tile, number k.
std::vector<std::string> element_names(const Place& place) {
  std::vector<std::string> names = place.names;
  if (place.fast >= 0) names[at(place.fast)] = "(" + names[at(place.fast)] + " + k)";
  return names;
}

std::string half_name(DType dtype) {
  return dtype == DType::float16 ? "float16" : dtype == DType::bfloat16 ? "bfloat16" : "";
}

}  // namespace

Reach reach(const View& view, const Place& place) {
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

Statements::Statements(const LoopProgram& program) : program_(program) {
  text_.resize(program_.values.size());
  scalar_.assign(program_.values.size(), false);
}

/// A tile for v: a variable of its own, or the frame's first free one.
void Statements::take(ValueId v, const std::string& tile) {
  if (!framed()) {
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
void Statements::release(ValueId v, std::int64_t now) {
  if (v == kNoValue || last_use_[at(v)] > now) return;
  const auto held = holder_.find(v);
  if (held == holder_.end()) return;
  free_[held->second].push_back(text_[at(v)].substr(2));
  holder_.erase(held);
}

std::string Statements::type_of(ValueId v) const { return value_type(program_.values[at(v)]); }
std::string Statements::tile_type(ValueId v, const std::string& tile) const { return tile + "<" + type_of(v) + ">"; }

void Statements::write_list(const std::vector<Instr>& list, const Place& place, const std::string& name,
                            std::int64_t& now) {
  for (std::size_t first = 0; first < list.size(); first += framed() ? kPart : list.size()) {
    const std::size_t last = framed() ? std::min(list.size(), first + kPart) : list.size();
    const auto write = [&] {
      for (std::size_t i = first; i < last; ++i) write_timed(list[i], place, now++);
    };
    if (!framed()) {
      write();
      continue;
    }
    const std::string part = fmt::format("{}_{}", name, first / kPart);
    const int before = indent();
    set_indent(1);
    const std::string text = capture(write);
    set_indent(before);
    parts_ += fmt::format("\nvoid {}(Frame& f) {{\n{}}}\n", part, text);
    line("{}(f);", part);
  }
}

void Statements::write_timed(const Instr& in, const Place& place, std::int64_t now) {
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

std::string Statements::note(ValueId v) const { return framed() ? fmt::format("  // v{}", v) : ""; }

/// Value v as a tile that is given whole.
void Statements::define(ValueId v, const Place& place, const std::string& value) {
  if (text_[at(v)].empty()) take(v, place.tile);
  if (framed()) {
    line("{} = {};{}", text_[at(v)], value, note(v));
  } else {
    line("const {} {} = {};", tile_type(v, place.tile), text_[at(v)], value);
  }
}
/// Value v as a tile that a helper fills.
void Statements::fill(ValueId v, const Place& place, const std::string& helper, const std::string& arguments) {
  take(v, place.tile);
  if (!framed()) line("{} {};", tile_type(v, place.tile), text_[at(v)]);
  line("{}({}{});{}", helper, text_[at(v)], arguments, note(v));
}
/// Value v as one number for the whole tile.
void Statements::define_scalar(ValueId v, const std::string& value) {
  const std::string name = "v" + std::to_string(v);
  set(type_of(v), name, value);
  text_[at(v)] = var(name);
  scalar_[at(v)] = true;
}

std::string Statements::spread(ValueId v, const std::string& text, const Place& place) const {
  return fmt::format("{}::Constant({})", tile_type(v, place.tile), text);
}

void Statements::write_element(const Instr& in, const Place& place, const std::vector<std::string>& operands,
                               bool all_scalar) {
  const Spelling spelling = spell(in, !framed(), snippets_);
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

void Statements::write_constant(const Instr& in) {
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
  if (framed()) member(type, name);
  set_up_ +=
      framed() ? fmt::format("  f.{} = {};\n", name, value) : fmt::format("  const {} {} = {};\n", type, name, value);
}

/// The segment as an argument; tiles of one kind of access share the helper's shape.
std::string Statements::segment(const Reach& r, const Place& place) {
  snippets_.need("Segment");
  if (r.segment.empty() && r.condition.empty()) return fmt::format("Segment{{0, {}}}", place.n);
  snippets_.need("segment");
  const std::string part = r.segment.empty() ? fmt::format("segment(0, {0}, 0, {0}", place.n) : r.segment;
  return part + (r.condition.empty() ? ")" : ", " + r.condition + ")");
}

std::string Statements::widened(DType dtype, const std::string& element) {
  const std::string half = half_name(dtype);
  if (half.empty()) return element;
  snippets_.need(half);
  return fmt::format("widen_{}({})", half, element);
}

void Statements::write_load(const Instr& in, const Place& place) {
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
void Statements::write_elements(const Instr& in, const Place& place, F&& element) {
  const codegen::AccessText text = codegen::expression(program_.accesses[at(in.aux)].tracker, element_names(place));
  take(in.result, place.tile);
  const std::string& v = text_[at(in.result)];
  if (framed()) {
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

void Statements::write_position(const Instr& in, const Place& place) {
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

void Statements::write_store(const Instr& in, const Place& place, const std::string& operand, bool scalar) {
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

}  // namespace oriel::backend::eigen
