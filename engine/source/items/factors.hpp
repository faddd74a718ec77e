// Shared by the renderers of contractions: both factors and the operations after the sum, as lists of instructions over
// one table of accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "source/items/statements.hpp"

namespace oriel::source::items {

/// Both factors and the epilogue (the operations after the sum) as lists over one table of accesses.
struct Factors {
  Factors(const codegen::LoopProgram& program, const codegen::Contraction& c);

  codegen::LoopProgram all;  // has arguments, constants, values and accesses, but no stages
  std::vector<codegen::Instr> left, right, epilogue;

  /// Do the results overwrite memory that a factor reads? Blocks of results are stored while other blocks still read
  /// factors.
  bool overwritten() const;
};

/// Writes statements over `Factors::all`. A point of a factor is (depth, batches, rows or columns); a point of the
/// epilogue is (batches, rows, columns).
class FactorStatements : protected ItemStatementWriter {
 protected:
  FactorStatements(const codegen::LoopProgram& program, const Dialect& dialect, const Factors& factors,
                   const codegen::Contraction& c, const DeviceTraits& table, const WorkDivision& work);

  /// The indices of several loops, computed from one flat number; the last loop runs fastest. `kind` names the loops.
  std::vector<std::string> unravelled(const std::vector<std::int64_t>& extents, const char* kind,
                                      const std::string& flat);
  std::vector<std::int64_t> extents_of(const std::vector<std::size_t>& loops) const;
  std::vector<std::int64_t> inner_extents() const;
  const std::vector<codegen::Instr>& factor(bool left) const { return left ? factors_.left : factors_.right; }
  /// The point of a factor at summation index `depth` and at row (or column) `position`.
  std::vector<std::string> factor_point(bool left, const std::string& depth, const std::string& position);
  /// The point of a result.
  std::vector<std::string> result_point(const std::string& row, const std::string& column);
  /// Is a factor contiguous in memory along axis `axis` of its points?
  bool runs_along(bool left, std::size_t axis) const;
  /// The total number of rows (or columns).
  std::string total(bool left) { return extent(left ? "rows" : "columns", left ? c_.rows : c_.columns); }

  const codegen::LoopProgram& original_;
  const Factors& factors_;
  const codegen::Contraction& c_;
};

}  // namespace oriel::source::items
