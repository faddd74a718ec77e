#include "lang/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lang/warnings.hpp"

namespace oriel::lang {

using detail::Int;

namespace {

std::string access_text(const Program& program, const CheckedStatement& statement, std::size_t access) {
  return text(program.definition, statement.accesses[access].expr);
}

std::string decider(const Program& program, const CheckedStatement& statement, const StatementRanges& ranges,
                    std::int32_t condition) {
  if (condition < 0) return {};
  return access_text(program, statement, ranges.conditions[static_cast<std::size_t>(condition)].access);
}

}  // namespace

std::optional<View> access_view(const Inference& inference, const CheckedStatement& statement,
                                const StatementRanges& ranges, std::size_t access, const Program& program) {
  const Expr& expr = program.definition[statement.accesses[access].expr];
  const std::vector<Interval>& box = inference.boxes[static_cast<std::size_t>(expr.id)];
  View view;
  for (const Interval range : ranges.ranges) view.shape.push_back(extent(range));
  view.strides.resize(view.shape.size(), 0);
  Int stride = 1;
  std::vector<Int> strides(box.size());
  for (std::size_t d = box.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(extent(box[d]), 1);
  }
  Int offset = 0;
  for (std::size_t k = ranges.first[access]; k < ranges.first[access + 1]; ++k) {
    const Condition& condition = ranges.conditions[k];
    if (!is_linear(condition.index)) return {};
    const Linear linear(condition.index);
    const std::size_t d = condition.dimension;
    Int at = Int(linear.constant()) - box[d].lo;
    for (const auto& [variable, coefficient] : linear) {
      const auto v = static_cast<std::size_t>(variable);
      at += Int(coefficient) * ranges.ranges[v].lo;
      view.strides[v] += (Int(coefficient) * strides[d]).value();
    }
    offset += at * strides[d];
  }
  view.offset = offset.value();
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
    for (const Interval range : inference.boxes[static_cast<std::size_t>(id)]) {
      if (range.lo == 0) continue;
      fail(program.source(), ErrorKind::NonZeroOrigin, tensor.span,
           fmt::format("the result '{}' begins at index {}, not at 0", tensor.name, range.lo));
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
  out.diagnostics = warnings(program, inference, false);
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    const CheckedStatement& statement = program.statements[s];
    const StatementRanges& ranges = inference.statements[s];
    ComprehensionRanges::Statement shown;
    shown.target = program.tensors[static_cast<std::size_t>(statement.target)].name;
    for (std::size_t v = 0; v < statement.variables.size(); ++v) {
      ComprehensionRanges::Variable variable;
      variable.name = statement.variables[v].name;
      variable.lo = ranges.ranges[v].lo;
      variable.hi = ranges.ranges[v].hi + 1;
      for (std::size_t r = 0; r < ranges.rounds.size(); ++r) {
        const std::vector<std::int32_t>& round = ranges.rounds[r];
        if (std::find(round.begin(), round.end(), static_cast<std::int32_t>(v)) != round.end()) {
          variable.round = static_cast<int>(r) + 1;
        }
      }
      variable.lower_by = decider(program, statement, ranges, ranges.lower_by[v]);
      variable.upper_by = decider(program, statement, ranges, ranges.upper_by[v]);
      shown.variables.push_back(std::move(variable));
    }
    out.statements.push_back(std::move(shown));
    for (const Condition& condition : ranges.conditions) {
      if (condition.status != AccessStatus::Guarded && condition.status != AccessStatus::DataDependent) continue;
      const Expr& access = program.definition[statement.accesses[condition.access].expr];
      out.preconditions.push_back({s, access_text(program, statement, condition.access), std::string(access.name),
                                   condition.dimension,
                                   condition.status == AccessStatus::Guarded ? "guarded" : "data_dependent"});
    }
    for (std::size_t k = 0; k < statement.accesses.size(); ++k) {
      if (statement.accesses[k].exists || statement.accesses[k].self) continue;
      const std::optional<View> view = checked_view(inference, statement, ranges, k, program);
      if (!view) continue;
      const Expr& access = program.definition[statement.accesses[k].expr];
      out.views.push_back({s, access_text(program, statement, k), std::string(access.name), *view});
    }
  }
  for (const std::int32_t id : program.results) {
    const TensorSymbol& tensor = program.tensors[static_cast<std::size_t>(id)];
    ComprehensionRanges::Output output;
    output.name = tensor.name;
    output.dtype = tensor.dtype;
    for (const Interval range : inference.boxes[static_cast<std::size_t>(id)]) {
      output.shape.push_back(extent(range));
      output.origin.push_back(range.lo);
    }
    out.outputs.push_back(std::move(output));
  }
  return out;
}

}  // namespace oriel::lang

namespace oriel {

std::string ComprehensionRanges::str() const {
  std::string out;
  const auto line = [&out]<class... T>(fmt::format_string<T...> form, T&&... parts) {
    fmt::format_to(std::back_inserter(out), form, std::forward<T>(parts)...);
  };
  // Views and preconditions are in the order of their statements.
  auto view = views.begin();
  auto precondition = preconditions.begin();
  for (std::size_t s = 0; s < statements.size(); ++s) {
    line("statement {}: {}\n", s, statements[s].target);
    for (const Variable& variable : statements[s].variables) {
      line("  {} <= {} < {}", variable.lo, variable.name, variable.hi);
      if (variable.round == 0) {
        line("  by a where clause\n");
      } else if (variable.lower_by == variable.upper_by) {
        line("  round {}, by {}\n", variable.round, variable.lower_by);
      } else {
        line("  round {}, below by {}, above by {}\n", variable.round, variable.lower_by, variable.upper_by);
      }
    }
    for (; view != views.end() && view->statement == s; ++view) {
      line("  {} reads {} as {}\n", view->access, view->operand, view->view.str());
    }
    for (; precondition != preconditions.end() && precondition->statement == s; ++precondition) {
      line("  {}: dimension {} of {} is {}\n", precondition->access, precondition->dimension, precondition->tensor,
           precondition->status == "guarded" ? "guarded by a conditional" : "known only once its indices are read");
    }
  }
  for (const Output& output : outputs) {
    line("result {}: {} {}", output.name, oriel::name(output.dtype), to_string(output.shape));
    const bool moved = std::any_of(output.origin.begin(), output.origin.end(), [](std::int64_t lo) { return lo != 0; });
    if (moved) line(", its first element at index ({})", fmt::join(output.origin, ", "));
    line("\n");
  }
  for (const ComprehensionWarning& warning : diagnostics) line("{}\n", warning.diagnostic);
  return out;
}

}  // namespace oriel
