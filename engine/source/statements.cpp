#include "source/statements.hpp"

#include "codegen/keep.hpp"

namespace oriel::source {

using codegen::Code;
using codegen::Instr;
using codegen::NumberText;
using codegen::ValueId;

namespace {

bool empty_range(SymInt lo, SymInt hi) { return !lo.is_symbolic() && !hi.is_symbolic() && lo.value() >= hi.value(); }
bool cuts_below(SymInt lo) { return lo.is_symbolic() || lo.value() > 0; }

}  // namespace

std::vector<std::string> lane_names(const CodePosition& place, std::string_view lane) {
  std::vector<std::string> names = place.names;
  if (!place.one()) names[at(place.fast)] = fmt::format("({} + {})", names[at(place.fast)], lane);
  return names;
}

StatementWriter::StatementWriter(const codegen::LoopProgram& program, std::vector<std::string> buffers)
    : program_(program), buffers_(std::move(buffers)) {
  kept_.resize(program.values.size());
  home_.assign(program.values.size(), -1);
  for (const ValueId v : codegen::kept_values(program)) kept_[at(v)] = "kept" + std::to_string(v);
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    for (const Instr& in : program.stages[s].body)
      if (in.result != codegen::kNoValue) home_[at(in.result)] = static_cast<int>(s);
}

std::string StatementWriter::position(const codegen::Access& access, const CodePosition& place) {
  return spelled([&](const NumberText& number) {
    // Of a symbolic size no sign is known: it is added.
    const auto negative = [](SymInt n) { return !n.is_symbolic() && n.value() < 0; };
    const auto magnitude = [&](SymInt n) { return negative(n) ? -n : n; };
    const auto written = [&](SymInt n) { return (negative(n) ? "-" : "") + number(magnitude(n)); };
    std::string text;
    SymInt offset = access.start();
    for (std::size_t d = 0; d < access.loops(); ++d) {
      const auto [extent, stride, begin, end] = access.axis(d);
      if (identical(stride, 0) || identical(extent, 1)) continue;
      // "5 - o0" rather than "-o0 + 5"
      if (text.empty() && negative(stride)) {
        text = written(offset) + " - ";
        offset = 0;
      } else if (!text.empty()) {
        text += negative(stride) ? " - " : " + ";
      }
      text += place.names[d];
      if (const SymInt by = magnitude(stride); !identical(by, 1)) text += "*" + number(by);
    }
    if (text.empty()) return written(offset);
    if (!identical(offset, 0)) text += (negative(offset) ? " - " : " + ") + number(magnitude(offset));
    return text;
  });
}

std::string StatementWriter::condition(const codegen::Access& access, const CodePosition& place) {
  return spelled([&](const NumberText& number) {
    std::string text;
    const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
    for (std::size_t d = 0; access.boxed() && d < access.loops(); ++d) {
      const auto [extent, step, lo, hi] = access.axis(d);
      if (empty_range(lo, hi)) return std::string(kNever);
      if (static_cast<int>(d) == place.fast) continue;
      if (cuts_below(lo)) both(place.names[d] + " >= " + number(lo));
      if (!identical(hi, extent)) both(place.names[d] + " < " + number(hi));
    }
    return text;
  });
}

std::int64_t StatementWriter::step(const codegen::Access& access, const CodePosition& place) {
  return place.fast >= 0 ? access.coefficient(at(place.fast)) : 0;
}

std::optional<LaneCut> StatementWriter::cut(const codegen::Access& access, const CodePosition& place) {
  if (place.fast < 0 || !access.boxed()) return std::nullopt;
  const auto [extent, step, lo, hi] = access.axis(at(place.fast));
  const LaneCut cut{lo, hi, cuts_below(lo), !identical(hi, extent)};
  if (empty_range(lo, hi) || (!cut.below && !cut.above)) return std::nullopt;
  return cut;
}

void StatementWriter::write_each(std::span<const Instr> list, const CodePosition& place, bool stores) {
  for (const Instr& in : list) {
    if (in.code == Code::Store && !stores) continue;
    write(in, place);
    if (in.result != codegen::kNoValue && !kept_[at(in.result)].empty()) keep(in.result, place);
    written(in, place);
  }
}

void StatementWriter::written(const Instr& /*in*/, const CodePosition& /*place*/) {}

void StatementWriter::write(const Instr& in, const CodePosition& place) {
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
