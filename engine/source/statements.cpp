#include "source/statements.hpp"

#include "codegen/keep.hpp"

namespace oriel::source {

using codegen::Code;
using codegen::Instr;
using codegen::NumberText;
using codegen::ValueId;

std::vector<std::string> lane_names(const CodePosition& place, std::string_view lane) {
  std::vector<std::string> names = place.names;
  if (!place.one()) names[at(place.fast)] = fmt::format("({} + {})", names[at(place.fast)], lane);
  return names;
}

Statements::Statements(const codegen::LoopProgram& program, std::vector<std::string> buffers)
    : program_(program), buffers_(std::move(buffers)) {
  kept_.resize(program.values.size());
  home_.assign(program.values.size(), -1);
  for (const ValueId v : codegen::kept_values(program)) kept_[at(v)] = "kept" + std::to_string(v);
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    for (const Instr& in : program.stages[s].body)
      if (in.result != codegen::kNoValue) home_[at(in.result)] = static_cast<int>(s);
}

std::string Statements::position(const codegen::Access& access, const CodePosition& place) {
  return spelled([&](const NumberText& number) {
    const auto written = [&](std::int64_t n) { return n < 0 ? "-" + number(-n) : number(n); };
    std::string text;
    std::int64_t offset = access.offset();
    for (std::size_t d = 0; d < access.loops(); ++d) {
      const std::int64_t stride = access.coefficient(d);
      if (stride == 0) continue;
      const std::int64_t magnitude = stride < 0 ? -stride : stride;
      // "5 - o0" rather than "-o0 + 5"
      if (text.empty() && stride < 0) {
        text = written(offset) + " - ";
        offset = 0;
      } else if (!text.empty()) {
        text += stride < 0 ? " - " : " + ";
      }
      text += place.names[d];
      if (magnitude != 1) text += "*" + number(magnitude);
    }
    if (text.empty()) return written(offset);
    if (offset != 0) text += (offset < 0 ? " - " : " + ") + number(offset < 0 ? -offset : offset);
    return text;
  });
}

std::string Statements::condition(const codegen::Access& access, const CodePosition& place) {
  return spelled([&](const NumberText& number) {
    std::string text;
    const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
    for (std::size_t d = 0; access.boxed() && d < access.loops(); ++d) {
      const std::int64_t lo = access.begin(d);
      const std::int64_t hi = access.end(d);
      if (lo >= hi) return std::string(kNever);
      if (static_cast<int>(d) == place.fast) continue;
      if (lo > 0) both(place.names[d] + " >= " + number(lo));
      if (hi < access.extent(d)) both(place.names[d] + " < " + number(hi));
    }
    return text;
  });
}

std::int64_t Statements::step(const codegen::Access& access, const CodePosition& place) {
  return place.fast >= 0 ? access.coefficient(at(place.fast)) : 0;
}

std::optional<LaneCut> Statements::cut(const codegen::Access& access, const CodePosition& place) {
  if (place.fast < 0 || !access.boxed()) return std::nullopt;
  const std::size_t d = at(place.fast);
  LaneCut cut{access.begin(d), access.end(d), access.begin(d) > 0, access.end(d) < access.extent(d)};
  if (cut.lo >= cut.hi || (!cut.below && !cut.above)) return std::nullopt;
  return cut;
}

void Statements::write_each(std::span<const Instr> list, const CodePosition& place, bool stores) {
  for (const Instr& in : list) {
    if (in.code == Code::Store && !stores) continue;
    write(in, place);
    if (in.result != codegen::kNoValue && !kept_[at(in.result)].empty()) keep(in.result, place);
    written(in, place);
  }
}

void Statements::written(const Instr& /*in*/, const CodePosition& /*place*/) {}

void Statements::write(const Instr& in, const CodePosition& place) {
  switch (in.code) {
    case Code::Elementwise:
    case Code::Round:
      return write_element(in, place);
    case Code::Const:
      return write_constant(in);
    case Code::Load:
      return write_load(in, place);
    case Code::Gather:
      return write_gather(in, place);
    case Code::Index:
    case Code::Valid:
      return write_position(in, place);
    case Code::Store:
      return write_store(in, place);
  }
}

}  // namespace oriel::source
