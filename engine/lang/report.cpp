#include "lang/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lang/index/access.hpp"
#include "lang/warnings.hpp"
#include "sym/build.hpp"
#include "sym/print.hpp"

namespace oriel::lang {

std::string access_text(const Program& program, const CheckedStatement& statement, std::size_t access) {
  return text(program.definition, statement.accesses[access].expr);
}

std::string_view operand(const Program& program, const CheckedStatement& statement, std::size_t access) {
  return program.definition[statement.accesses[access].expr].name;
}

bool is_reported(const Condition& condition) {
  return condition.status == AccessStatus::Guarded || condition.status == AccessStatus::DataDependent;
}

std::string_view name(AccessStatus status) { return status == AccessStatus::Guarded ? "guarded" : "data_dependent"; }

namespace {

// The access that decided an end; empty for a where clause.
std::string decider(const Program& program, const Inference& inference, std::size_t s, std::int32_t condition) {
  const StatementRanges& ranges = inference.statements[s];
  if (condition < 0) return inference.symbolic() ? "several accesses" : "";
  return access_text(program, program.statements[s], ranges.conditions[static_cast<std::size_t>(condition)].access);
}

// A loop that is called as a symbol is written n', so that no line reads 0 <= n < n.
std::string loop_name(std::string_view name, const Inference& inference) {
  const bool taken = std::ranges::any_of(inference.symbols, [&](sym::Expr size) { return size->name == name; });
  return std::string(name) + (taken ? "'" : "");
}

}  // namespace

std::optional<View> access_view(const Inference& inference, const CheckedStatement& statement,
                                const StatementRanges& ranges, std::size_t access, const Program& program) {
  const Expr& expr = program.definition[statement.accesses[access].expr];
  Shape shape;
  std::vector<std::int64_t> lows;
  for (const IndexRange range : inference.boxes[static_cast<std::size_t>(expr.id)]) {
    shape.push_back(extent(numbers(range)));
    lows.push_back(range.lo->value);
  }
  std::vector<sym::Expr> indices;
  for (std::size_t k = ranges.first[access]; k < ranges.first[access + 1]; ++k) {
    indices.push_back(ranges.conditions[k].index);
    if (!is_linear(indices.back())) return {};
  }
  View view = linear_view(shape, lows, indices, ranges.box);
  for (std::size_t v = 0; v < view.shape.size(); ++v) {
    if (view.shape[v] <= 1) view.strides[v] = 0;
  }
  return view;
}

void check_options(const Program& program, const ComprehensionOptions& options) {
  if (!options.only_results) return;
  for (const CheckedStatement& statement : program.statements) {
    const TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(statement.target)];
    if (tensor.result >= 0) continue;
    fail(program.source(), ErrorKind::TemporaryNotListed, statement.syntax->target_span,
         fmt::format("'{}' is neither an input nor a listed result", tensor.name));
  }
}

void check_options(const Program& program, const Inference& inference, const ComprehensionOptions& options) {
  if (!options.zero_origin) return;
  for (const std::int32_t id : program.results) {
    const TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    for (const IndexRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      if (range.lo->is_constant(0)) continue;
      fail(program.source(), ErrorKind::NonZeroOrigin, tensor.span,
           fmt::format("the result '{}' begins at index {}, not at 0", tensor.name, sym::to_string(range.lo)));
    }
  }
}

namespace {

std::optional<View> checked_view(const Inference& inference, const CheckedStatement& statement,
                                 const StatementRanges& ranges, std::size_t access, const Program& program) {
  try {
    return access_view(inference, statement, ranges, access, program);
  } catch (const detail::ArithmeticOverflow&) {
    fail(program.source(), ErrorKind::Overflow, program.definition[statement.accesses[access].expr].span,
         "the strides or the offset of this access do not fit 64 bits");
  }
}

}  // namespace

ComprehensionRanges report(const Program& program, const Inference& inference) {
  ComprehensionRanges out;
  out.warnings = program.warnings;
  out.diagnostics = warnings(program, inference, Bounds::zero);
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const CheckedStatement& statement = program.statements[s];
    const StatementRanges& ranges = inference.statements[s];
    ComprehensionRanges::Statement shown;
    shown.target = program.tensors[static_cast<std::size_t>(statement.target)].name;
    for (std::size_t v = 0; v < statement.variables.size(); ++v) {
      shown.variables.push_back({std::string(statement.variables[v].name), ranges.box[v].lo, ranges.box[v].hi + 1,
                                 ranges.rounds[v], decider(program, inference, s, ranges.lower_by[v]),
                                 decider(program, inference, s, ranges.upper_by[v])});
    }
    out.statements.push_back(std::move(shown));
    for (const Condition& condition : ranges.conditions) {
      if (!is_reported(condition)) continue;
      out.preconditions.push_back({s, access_text(program, statement, condition.access),
                                   std::string(operand(program, statement, condition.access)), condition.dimension,
                                   std::string(name(condition.status))});
    }
    for (std::size_t k = 0; k < statement.accesses.size(); ++k) {
      if (statement.accesses[k].exists || statement.accesses[k].self) continue;
      const std::optional<View> view = checked_view(inference, statement, ranges, k, program);
      if (!view) continue;
      out.views.push_back({s, access_text(program, statement, k), std::string(operand(program, statement, k)), *view});
    }
  }
  for (const std::int32_t id : program.results) {
    const TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    ComprehensionRanges::Output output;
    output.name = tensor.name;
    output.dtype = tensor.dtype;
    for (const IndexRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      output.shape.push_back(extent(numbers(range)));
      output.origin.push_back(range.lo->value);
    }
    out.outputs.push_back(std::move(output));
  }
  out.table = ranges_table(program, inference, out.views, out.diagnostics);
  return out;
}

std::string ranges_table(const Program& program, const Inference& inference,
                         std::span<const ComprehensionRanges::AccessView> views,
                         std::span<const ComprehensionWarning> diagnostics) {
  std::string out;
  const auto line = [&out]<class... T>(fmt::format_string<T...> form, T&&... parts) {
    fmt::format_to(std::back_inserter(out), form, std::forward<T>(parts)...);
  };
  auto view = views.begin();  // in the order of their statements
  for (const sym::Expr symbol : inference.symbols)
    line("{} {} >= {}", symbol == inference.symbols[0] ? "sizes:" : ",", symbol->name, symbol->bounds.lo);
  if (inference.symbolic()) line("\n");
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const CheckedStatement& statement = program.statements[s];
    const StatementRanges& found = inference.statements[s];
    line("statement {}: {}\n", s, program.tensors[static_cast<std::size_t>(statement.target)].name);
    for (std::size_t v = 0; v < statement.variables.size(); ++v) {
      line("  {} <= {} < {}", sym::to_string(found.ranges[v].lo), loop_name(statement.variables[v].name, inference),
           sym::to_string(found.ranges[v].end));
      const std::string lower = decider(program, inference, s, found.lower_by[v]);
      const std::string upper = decider(program, inference, s, found.upper_by[v]);
      if (found.rounds[v] == 0) {
        line("  by a where clause\n");
      } else if (lower == upper) {
        line("  round {}, by {}\n", found.rounds[v], lower);
      } else {
        line("  round {}, below by {}, above by {}\n", found.rounds[v], lower, upper);
      }
    }
    for (; view != views.end() && view->statement == s; ++view)
      line("  {} reads {} as {}\n", view->access, view->operand, view->view.str());
    for (const SizePrecondition& precondition : inference.preconditions) {
      if (precondition.statement != s) continue;
      line("  requires {}: {}{}\n", sym::to_string(precondition.condition), precondition.reason,
           precondition.exact ? "" : " (sufficient, perhaps not necessary)");
    }
    for (const Condition& condition : found.conditions) {
      if (!is_reported(condition)) continue;
      line("  {}: dimension {} of {} is {}\n", access_text(program, statement, condition.access), condition.dimension,
           operand(program, statement, condition.access),
           condition.status == AccessStatus::Guarded ? "guarded by a conditional"
                                                     : "known only once its indices are read");
    }
  }
  for (const std::int32_t id : program.results) {
    const TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    std::vector<std::string> shape;
    std::vector<std::string> origin;
    bool moved = false;
    for (const IndexRange range : inference.boxes[static_cast<std::size_t>(id)]) {
      shape.push_back(sym::to_string(sym::sub(range.end, range.lo)));
      origin.push_back(sym::to_string(range.lo));
      moved = moved || !range.lo->is_constant(0);
    }
    line("result {}: {} ({}{})", tensor.name, oriel::name(tensor.dtype), fmt::join(shape, ", "),
         shape.size() == 1 ? "," : "");
    if (moved) line(", its first element at index ({})", fmt::join(origin, ", "));
    line("\n");
  }
  for (const ComprehensionWarning& warning : diagnostics) line("{}\n", warning.diagnostic);
  return out;
}

}  // namespace oriel::lang
