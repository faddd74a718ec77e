#include "capture/sized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sym/environment.hpp"

namespace oriel::api {

CapturedSizes::CapturedSizes(SizeSymbols symbols, const std::vector<FactName>& names, TracedGraph graph)
    : symbols_(std::move(symbols)), guards_(symbols_, names), graph_(std::move(graph)) {
  std::vector<std::size_t> known;
  std::vector<std::vector<std::size_t>> divided = divide_into_stages(graph_);
  for (std::size_t s = 0; s < divided.size(); ++s) {
    const CapturedStage& stage =
        stages_.emplace_back(graph_, symbols_, std::move(divided[s]), known, s + 1 == divided.size());
    const std::vector<std::size_t>& computes = stage.graph().computes();
    known.insert(known.end(), computes.begin(), computes.end());
  }
}

void CapturedSizes::check_counts(std::span<const std::int64_t> facts, std::size_t checked) const {
  guards_.check_deferred(facts, checked);
}

std::size_t CapturedSizes::plans() const noexcept {
  std::size_t most = 0;
  for (const CapturedStage& stage : stages_) most = std::max(most, stage.plans().size());
  return most;
}

std::size_t CapturedSizes::scheduled() const noexcept {
  std::size_t most = 0;
  for (const CapturedStage& stage : stages_) most = std::max(most, stage.scheduled());
  return most;
}

std::int64_t CapturedSizes::plan_bytes() const noexcept {
  std::int64_t sum = 0;
  for (const CapturedStage& stage : stages_) sum += stage.plans().bytes();
  return sum;
}

std::vector<std::string> CapturedSizes::symbol_lines() const {
  std::vector<std::string> out;
  for (const ShapeEnv::Symbol& symbol : symbols_.env().symbols()) {
    std::string line = fmt::format("{} = {}", symbol.name, symbol.source);
    if (!symbol.replacement.empty()) line += fmt::format(", which is {}", symbol.replacement);
    if (symbol.range.lo) line += fmt::format(", at least {}", *symbol.range.lo);
    if (symbol.range.hi) line += fmt::format(", at most {}", *symbol.range.hi);
    out.push_back(std::move(line));
  }
  return out;
}

std::vector<std::string> CapturedSizes::origin_lines() const {
  std::vector<std::string> out;
  for (const sym::Environment::Symbol& symbol : symbols_.env().environment().symbols.all())
    out.push_back(symbols_.origin_of(symbol.expr));
  return out;
}

}  // namespace oriel::api
