#include "source/statements.hpp"

#include "codegen/keep.hpp"

namespace oriel::source {

using codegen::Code;
using codegen::Instr;
using codegen::NumberText;
using codegen::ValueId;

std::vector<std::string> lane_names(const Place& place, std::string_view lane) {
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

std::string Statements::position(const View& view, const Place& place) {
  return spelled([&](const NumberText& number) {
    const auto written = [&](std::int64_t n) { return n < 0 ? "-" + number(-n) : number(n); };
    std::string text;
    std::int64_t offset = view.offset.value();
    for (std::size_t d = 0; d < view.rank(); ++d) {
      const std::int64_t stride = view.strides[d].value();
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

std::string Statements::condition(const View& view, const Place& place) {
  return spelled([&](const NumberText& number) {
    std::string text;
    const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
    for (std::size_t d = 0; d < view.mask.size(); ++d) {
      const std::int64_t lo = view.mask[d].lo.value();
      const std::int64_t hi = view.mask[d].hi.value();
      if (lo >= hi) return std::string(kNever);
      if (static_cast<int>(d) == place.fast) continue;
      if (lo > 0) both(place.names[d] + " >= " + number(lo));
      if (hi < view.shape[d].value()) both(place.names[d] + " < " + number(hi));
    }
    return text;
  });
}

std::int64_t Statements::step(const View& view, const Place& place) {
  return place.fast >= 0 ? view.strides[at(place.fast)].value() : 0;
}

std::optional<LaneCut> Statements::cut(const View& view, const Place& place) {
  if (place.fast < 0 || view.mask.empty()) return std::nullopt;
  const Range& range = view.mask[at(place.fast)];
  LaneCut cut{range.lo.value(), range.hi.value(), range.lo > 0, range.hi < view.shape[at(place.fast)]};
  if (cut.lo >= cut.hi || (!cut.below && !cut.above)) return std::nullopt;
  return cut;
}

void Statements::write(const Instr& in, const Place& place) {
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
