#include "source/items/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "codegen/definitions.hpp"

namespace oriel::source::items {

using codegen::Contraction;
using codegen::Instr;
using codegen::LoopProgram;

Factors::Factors(const LoopProgram& program, const Contraction& c) : all(program) {
  all.stages.clear();
  all.accesses.clear();
  const auto take = [&](const LoopProgram& p, std::vector<Instr>& list) {
    const auto base = static_cast<std::int32_t>(all.accesses.size());
    all.accesses.insert(all.accesses.end(), p.accesses.begin(), p.accesses.end());
    list = p.stages[0].outer;
    for (Instr& in : list)
      if (codegen::has_access(in)) in.aux += base;
  };
  take(factor_program(program, c, true), left);
  take(factor_program(program, c, false), right);
  take(epilogue_program(program, c), epilogue);
}

bool Factors::overwritten() const {
  for (const codegen::Argument& a : all.arguments) {
    if (a.shares < 0) continue;
    for (const std::vector<Instr>* list : {&left, &right}) {
      for (const Instr& in : *list)
        if (codegen::reads(in) && all.accesses[static_cast<std::size_t>(in.aux)].buffer == a.shares) return true;
    }
  }
  return false;
}

// A loop of the depth with at most so many points is taken for a window's.
constexpr std::int64_t kMostWindow = 16;

FactorStatements::FactorStatements(const LoopProgram& program, const Dialect& dialect, const Factors& factors,
                                   const Contraction& c, const DeviceTraits& table, const WorkDivision& work)
    : ItemStatementWriter(factors.all, dialect, table, work), original_(program), factors_(factors), c_(c) {
  count_roundings({factors.left, factors.right, factors.epilogue});
}

std::vector<std::string> FactorStatements::unravelled(const std::vector<std::int64_t>& extents, const char* kind,
                                                      const std::string& flat) {
  std::vector<std::string> names;
  std::string left = flat;
  for (std::size_t d = extents.size(); d-- > 0;) {
    // Windows keep their sizes, and a compiler divides by a literal in a fraction of the time.
    const bool window = extents[d] <= kMostWindow && std::string_view(kind) == "depth";
    const std::string n = window ? std::to_string(extents[d]) : extent(fmt::format("{} {}", kind, d), extents[d]);
    names.insert(names.begin(), d == 0 ? fmt::format("({})", left) : fmt::format("(({}) % {})", left, n));
    left = fmt::format("({}) / {}", left, n);
  }
  return names;
}

std::vector<std::int64_t> FactorStatements::extents_of(const std::vector<std::size_t>& loops) const {
  std::vector<std::int64_t> extents;
  extents.reserve(loops.size());
  for (const std::size_t d : loops) extents.push_back(original_.outer[d].value());
  return extents;
}

std::vector<std::int64_t> FactorStatements::inner_extents() const {
  std::vector<std::int64_t> extents;
  for (const SymInt n : original_.stages[c_.stage].inner) extents.push_back(n.value());
  return extents;
}

std::vector<std::string> FactorStatements::factor_point(bool left, const std::string& depth,
                                                        const std::string& position) {
  std::vector<std::string> names = unravelled(inner_extents(), "depth", depth);
  const auto add = [&](const std::vector<std::string>& more) { names.insert(names.end(), more.begin(), more.end()); };
  add(unravelled(extents_of(c_.batch_loops), "batch", "batch"));
  add(unravelled(extents_of(left ? c_.row_loops : c_.column_loops), left ? "row" : "column", position));
  return names;
}

std::vector<std::string> FactorStatements::result_point(const std::string& row, const std::string& column) {
  std::vector<std::string> names = unravelled(extents_of(c_.batch_loops), "batch", "batch");
  const auto add = [&](const std::vector<std::string>& more) { names.insert(names.end(), more.begin(), more.end()); };
  add(unravelled(extents_of(c_.row_loops), "row", row));
  add(unravelled(extents_of(c_.column_loops), "column", column));
  return names;
}

bool FactorStatements::runs_along(bool left, std::size_t axis) const {
  const std::vector<Instr>& list = factor(left);
  return std::any_of(list.begin(), list.end(), [&](const Instr& in) {
    if (in.code != codegen::Code::Load) return false;
    const codegen::Access& a = program_.accesses[at(in.aux)];
    return a.affine() && a.coefficient(axis) == 1;
  });
}

}  // namespace oriel::source::items
