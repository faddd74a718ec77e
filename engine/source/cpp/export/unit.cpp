#include "source/cpp/export/unit.hpp"

#include <algorithm>

#include "sym/print.hpp"
#include "sym/program.hpp"

namespace oriel::source::cpp {

std::string size_text(const ExportUnit& unit, sym::Expr e) {
  sym::Replacements named;
  for (const ExportUnit::Symbol& s : unit.symbols) named[s.symbol] = s.symbol->pool->symbol(s.name, s.symbol->bounds);
  return sym::to_string(sym::substitute(e, named));
}
std::string size_text(const ExportUnit& unit, SymInt n) {
  return n.is_symbolic() ? size_text(unit, n.node()) : to_string(n);
}

bool serves(const ExportUnit& unit, std::span<const std::int64_t> values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!unit.symbols[k].symbol->bounds.contains(values[k])) return false;
  return std::ranges::all_of(unit.guards, [&](const ExportUnit::Guard& guard) {
    sym::Program program(guard.condition);
    std::vector<std::int64_t> given;
    for (const sym::Expr variable : program.variables()) {
      const auto symbol = std::ranges::find(unit.symbols, variable, &ExportUnit::Symbol::symbol);
      given.push_back(values[static_cast<std::size_t>(symbol - unit.symbols.begin())]);
    }
    return program.run(given)[0].is(1);
  });
}

std::vector<const ExportLeaf*> leaves_of(std::span<const ExportUnit* const> plans) {
  std::vector<const ExportLeaf*> leaves;
  for (const ExportUnit* plan : plans) {
    for (const std::size_t k : plan->order) {
      const ExportLeaf& leaf = plan->leaves[k];
      const auto same = [&](const ExportLeaf* other) { return other->tensor.name == leaf.tensor.name; };
      if (std::ranges::none_of(leaves, same)) leaves.push_back(&leaf);
    }
  }
  return leaves;
}

}  // namespace oriel::source::cpp
