// What lowering asks about one statement: its loops, its tensors' coordinates, and its accesses as views.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "graph/build.hpp"
#include "lang/index/symbolic_solve.hpp"
#include "lang/infer.hpp"
#include "sym/environment.hpp"
#include "sym/program.hpp"

namespace oriel::lang {

/// The values of an inference's formulas as sizes of a trace.
class SizeValues {
 public:
  /// `sizes` has the value of each symbol by its name.
  SizeValues(const Inference& inference, const std::unordered_map<std::string, SymInt>& sizes, sym::Environment& trace);

  SymInt number(sym::Expr e) { return SymInt(sym::moved(e, pool_, symbols_)); }
  SymBool condition(sym::Expr e) { return sym::make_condition(sym::moved(e, pool_, symbols_)); }
  /// What the inference requires of the sizes.
  SizeFacts& facts() noexcept { return facts_; }

 private:
  sym::Pool& pool_;
  sym::Replacements symbols_;
  SizeFacts facts_;
};

/// One statement of an inference. `values` is null if all sizes are numbers.
class StatementSpace {
 public:
  StatementSpace(const Program& program, const Inference& inference, std::size_t statement, SizeValues* values,
                 const graph::Origin& origin);

  /// The first index along a loop or an axis, and how many there are.
  struct Axis {
    SymInt lo;
    SymInt size;
  };
  Axis loop(std::size_t variable) const { return axis_of(ranges_.ranges[variable]); }
  /// The value of a size variable.
  SymInt size(std::size_t number) const { return value(inference_.sizes[number]); }
  Axis axis(std::size_t tensor, std::size_t dimension) const { return axis_of(inference_.boxes[tensor][dimension]); }
  /// The access as views of the tensor, over all loops; nullopt if it must be a gather.
  std::optional<graph::NodePtr> read(ExprId access, const graph::NodePtr& tensor) const;
  /// True if every use of the access was proved in bounds along this dimension.
  bool proved(ExprId access, std::size_t dimension) const;

 private:
  SymInt value(sym::Expr e) const { return e->is_constant() ? SymInt(e->value) : values_->number(e); }
  Axis axis_of(IndexRange range) const;
  std::optional<graph::NodePtr> read_numbers(std::size_t use, const graph::NodePtr& tensor) const;
  std::optional<graph::NodePtr> read_symbols(std::size_t use, graph::NodePtr tensor) const;

  const Program& p_;
  const CheckedStatement& s_;
  const Inference& inference_;
  const StatementRanges& ranges_;
  SizeValues* values_;
  graph::Origin origin_;
  std::unordered_map<ExprId, std::size_t> first_use_;  // of each access expression among the statement's accesses
};

}  // namespace oriel::lang
