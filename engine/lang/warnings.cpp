#include "lang/warnings.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/forever.hpp"
#include "base/fork_lock.hpp"
#include "lang/precondition.hpp"

namespace oriel::lang {
namespace {

class WarningWriter {
 public:
  explicit WarningWriter(const Program& program) : p_(program) {}

  void uninitialized(std::size_t s) {
    const CheckedStatement& statement = p_.statements[s];
    if (!statement.starts_from_identity) return;
    const Statement& syntax = *statement.syntax;
    const std::string_view target = syntax.target;
    add("uninitialized_reduction", s, target, syntax.operator_span,
        fmt::format("no statement before assigns '{}', so '{}' starts from its identity; write '{}' to say so", target,
                    symbol(syntax.assignment, false), symbol(syntax.assignment, true)));
  }

  void ranges(std::size_t s, const StatementRanges& ranges) {
    for (const RangeWarning& warning : ranges.warnings) {
      if (warning.kind == RangeWarning::Kind::PartialRead) {
        partial_read(s, ranges, warning);
      } else {
        narrowing_guard(s, ranges, warning);
      }
    }
  }

  void gathers(std::size_t s, const StatementRanges& ranges) {
    const CheckedStatement& statement = p_.statements[s];
    std::set<std::pair<ExprId, std::size_t>>
        told;  // avoids duplicates: an access may be used below several conditionals
    for (const Condition& condition : ranges.conditions) {
      const AccessUse& use = statement.accesses[condition.access];
      if (condition.status != AccessStatus::DataDependent || use.exists) continue;
      if (!told.emplace(use.expr, condition.dimension).second) continue;
      const std::string_view tensor = p_.definition[use.expr].name;
      add("unchecked_gather", s, tensor, index_span(p_, statement, condition),
          fmt::format("this index is known once tensors are read; where it leaves the positions {} to {} of dimension "
                      "{} of '{}', 0 is read where bounds are not checked; min and max keep an index inside",
                      numbers(condition.target).lo, numbers(condition.target).hi, condition.dimension, tensor));
    }
  }

  std::vector<ComprehensionWarning> finish() { return std::move(out_); }

 private:
  void partial_read(std::size_t s, const StatementRanges& ranges, const RangeWarning& warning) {
    const CheckedStatement& statement = p_.statements[s];
    const Condition& condition = ranges.conditions[warning.condition];
    const Condition& decider = ranges.conditions[static_cast<std::size_t>(warning.decider)];
    const AccessUse& deciding = statement.accesses[decider.access];
    const std::string_view tensor = p_.definition[statement.accesses[condition.access].expr].name;
    const auto v = static_cast<std::size_t>(warning.variable);
    const std::string_view name = statement.variables[v].name;
    add("partial_read", s, tensor, p_.definition[statement.accesses[condition.access].expr].span,
        fmt::format("of positions {} to {} in dimension {} of '{}', only {} to {} are read: {}{} bounds '{}' to "
                    "{} <= {} < {}. If that is meant, write where {} in a:b; else give '{}' the range it should have",
                    numbers(condition.target).lo, numbers(condition.target).hi, condition.dimension, tensor,
                    warning.read.lo, warning.read.hi, text(p_.definition, deciding.expr),
                    deciding.guards.empty() ? "" : ", whatever the conditional around it says,", name, ranges.box[v].lo,
                    name, ranges.box[v].hi + 1, name, name),
        {{index_span(p_, statement, decider), "this bounds it"}});
  }

  void narrowing_guard(std::size_t s, const StatementRanges& ranges, const RangeWarning& warning) {
    const CheckedStatement& statement = p_.statements[s];
    const Condition& decider = ranges.conditions[static_cast<std::size_t>(warning.decider)];
    const AccessUse& use = statement.accesses[decider.access];
    const Guard& guard = use.guards[warning.guard];
    const auto v = static_cast<std::size_t>(warning.variable);
    const std::string_view name = statement.variables[v].name;
    add("narrowing_guard", s, p_.definition[use.expr].name, p_.definition[guard.condition].span,
        fmt::format("this is {} at every point: {} bounds '{}' to {} <= {} < {}, whatever the conditional around it "
                    "says; write where {} in a:b for the range that is meant",
                    guard.taken ? "true" : "false", text(p_.definition, use.expr), name, ranges.box[v].lo, name,
                    ranges.box[v].hi + 1, name),
        {{index_span(p_, statement, decider), "this bounds it"}});
  }

  void add(std::string_view kind, std::size_t statement, std::string_view tensor, Span span, std::string message,
           const std::vector<Note>& notes = {}) {
    if (!lines_) lines_.emplace(p_.source().text);  // most programs have no warnings
    const Lines::LineColumn place = lines_->place(span);
    ComprehensionWarning warning;
    warning.kind = kind;
    warning.statement = statement;
    warning.tensor = tensor;
    warning.line = place.line;
    warning.column = place.column;
    warning.length = span.end - span.begin;
    warning.diagnostic =
        diagnostic(p_.source(), *lines_, "warning", span, fmt::format("{} [{}]", message, kind), notes);
    warning.message = std::move(message);
    out_.push_back(std::move(warning));
  }

  const Program& p_;
  std::optional<Lines> lines_;
  std::vector<ComprehensionWarning> out_;
};

using WarningSink = Callback<void(const ComprehensionWarning&)>;
constinit base::Forever<WarningSink> warning_sink;

base::ForkMutex& sink_lock() { return base::fork_mutex(base::ForkLock::sink); }

}  // namespace

std::vector<ComprehensionWarning> warnings(const Program& program) {
  WarningWriter writer(program);
  for (std::size_t s = 0; s < program.statements.size(); ++s) writer.uninitialized(s);
  return writer.finish();
}

std::vector<ComprehensionWarning> warnings(const Program& program, const Inference& inference, Bounds bounds) {
  WarningWriter writer(program);
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    writer.uninitialized(s);
    writer.ranges(s, inference.statements[s]);
    if (bounds == Bounds::zero) writer.gathers(s, inference.statements[s]);
  }
  return writer.finish();
}

void tell(const std::vector<ComprehensionWarning>& warnings) {
  if (warnings.empty()) return;
  WarningSink function;
  {
    const std::lock_guard lock(sink_lock());
    function = warning_sink.object;
  }
  if (!function) return;
  for (const ComprehensionWarning& warning : warnings) function(warning);
}

}  // namespace oriel::lang

namespace oriel {

void set_comprehension_warning_sink(Callback<void(const ComprehensionWarning&)> sink) {
  const std::lock_guard lock(lang::sink_lock());
  std::swap(lang::warning_sink.object, sink);  // the old sink is destroyed after the lock is released
}

}  // namespace oriel
