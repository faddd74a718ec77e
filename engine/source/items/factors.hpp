// What the renderers of contractions share: both factors and what follows the sum, over one table of accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "source/items/statements.hpp"

namespace oriel::source::items {

/// Both factors and the epilogue as lists over one table of accesses.
struct Factors {
  Factors(const codegen::LoopProgram& program, const codegen::Contraction& c);

  codegen::LoopProgram all;  // arguments, constants, values, accesses; no stages
  std::vector<codegen::Instr> left, right, epilogue;

  /// Do results go over memory that a factor reads? Blocks of results are stored while other blocks still read factors.
  bool overwritten() const;
};

/// Statements over `Factors::all`, whose places are (depth, batches, rows or columns) in a factor and (batches, rows,
/// columns) in the epilogue.
class FactorStatements : protected Statements {
 protected:
  FactorStatements(const codegen::LoopProgram& program, const ItemDialect& dialect, const Factors& factors,
                   const codegen::Contraction& c, std::size_t room);

  /// The positions along loops that one number runs through, the last fastest. `kind` names the loops.
  std::vector<std::string> unravelled(const std::vector<std::int64_t>& extents, const char* kind,
                                      const std::string& flat);
  std::vector<std::int64_t> extents_of(const std::vector<std::size_t>& loops) const;
  std::vector<std::int64_t> inner_extents() const;
  const std::vector<codegen::Instr>& factor(bool left) const { return left ? factors_.left : factors_.right; }
  /// A factor's point: at `depth` of the summed ones, and `position` along rows (or columns).
  std::vector<std::string> factor_point(bool left, const std::string& depth, const std::string& position);
  /// A result's point.
  std::vector<std::string> result_point(const std::string& row, const std::string& column);
  /// Does a factor's memory run along axis `axis` of its points?
  bool runs_along(bool left, std::size_t axis) const;
  /// Rows (or columns) in all.
  std::string total(bool left) { return extent(left ? "rows" : "columns", left ? c_.rows : c_.columns); }

  const codegen::LoopProgram& original_;
  const Factors& factors_;
  const codegen::Contraction& c_;
};

}  // namespace oriel::source::items
