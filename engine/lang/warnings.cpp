#include "lang/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/forever.hpp"
#include "base/fork_lock.hpp"
#include "lang/index/solve.hpp"
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
      add(use.self ? "unchecked_scatter" : "unchecked_gather", s, tensor, index_span(p_, statement, condition),
          fmt::format("this index is known once tensors are read; where it leaves the positions {} to {} of dimension "
                      "{} of '{}', {} where bounds are not checked; min and max keep an index inside",
                      numbers(condition.target).lo, numbers(condition.target).hi, condition.dimension, tensor,
                      use.self ? "nothing is written" : "0 is read"));
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

class Finder {
 public:
  Finder(IndexBuilder& builder, const Program& program, const CheckedStatement& statement,
         std::span<const sym::Expr> sizes, const StatementRanges& ranges)
      : builder_(builder), p_(program), s_(statement), sizes_(sizes), r_(ranges) {}

  std::vector<RangeWarning> run() {
    partial_reads();
    narrowing_guards();
    return std::move(out_);
  }

 private:
  const AccessUse& use(std::size_t condition) const { return s_.accesses[r_.conditions[condition].access]; }
  std::int32_t tensor(std::size_t condition) const { return p_.definition[use(condition).expr].id; }

  void partial_reads() {
    std::map<std::pair<std::int32_t, std::size_t>, std::vector<std::size_t>> operands;  // by tensor and dimension
    for (std::size_t k = 0; k < r_.conditions.size(); ++k) {
      if (use(k).exists || use(k).self) continue;
      operands[{tensor(k), r_.conditions[k].dimension}].push_back(k);
    }
    for (const auto& [operand, conditions] : operands) {
      const Interval whole = numbers(r_.conditions[conditions[0]].target);
      Interval read{Interval::kInfinity, Interval::kMinusInfinity};
      std::size_t lowest = conditions[0];
      std::size_t highest = conditions[0];
      for (const std::size_t k : conditions) {
        const Condition& condition = r_.conditions[k];
        const Interval here = condition.variables.reads ? Interval{} : condition.range;
        if (here.lo < read.lo) lowest = k;
        if (here.hi > read.hi) highest = k;
        read = sym::hull(read, here);
      }
      std::optional<RangeWarning> found;
      if (read.lo > whole.lo) found = narrowed(lowest, true);
      if (!found && read.hi < whole.hi) found = narrowed(highest, false);
      if (!found) continue;
      found->read = read;
      out_.push_back(*found);
    }
  }

  // Finds another access that keeps this linear access from reaching its lower or upper end.
  std::optional<RangeWarning> narrowed(std::size_t k, bool below) const {
    const Condition& condition = r_.conditions[k];
    if (!is_linear(condition.index)) return {};
    std::optional<RangeWarning> found;
    for (const auto& [v, coefficient] : Linear(condition.index)) {
      const bool lower = (coefficient > 0) == below;  // the end of the index that matters
      const auto place = static_cast<std::size_t>(v);
      const std::int32_t decider = lower ? r_.lower_by[place] : r_.upper_by[place];
      if (decider < 0 || use(static_cast<std::size_t>(decider)).exists) continue;
      // This access decided the end itself. At that end less than one step is left, as in a convolution with a stride.
      if (r_.conditions[static_cast<std::size_t>(decider)].access == condition.access) return {};
      const Interval alone = legal_interval(condition.index, numbers(condition.target), v, r_.box);
      const bool narrower = lower ? alone.lo < r_.box[place].lo : alone.hi > r_.box[place].hi;
      if (narrower && !found) found = RangeWarning{RangeWarning::Kind::PartialRead, k, {}, v, decider, 0};
    }
    return found;
  }

  void narrowing_guards() {
    std::set<std::int32_t> told;
    for (const RangeWarning& warning : out_) told.insert(warning.variable);
    for (std::size_t v = 0; v < r_.box.size(); ++v) {
      const auto id = static_cast<std::int32_t>(v);
      for (const std::int32_t decider : {r_.lower_by[v], r_.upper_by[v]}) {
        if (decider < 0 || told.contains(id)) continue;
        const auto k = static_cast<std::size_t>(decider);
        if (use(k).exists) continue;
        const std::optional<std::size_t> guard = without_effect(use(k), id);
        if (!guard) continue;
        out_.push_back({RangeWarning::Kind::NarrowingGuard, k, {}, id, decider, *guard});
        told.insert(id);
      }
    }
  }

  // Finds a conditional that names the index and has the same value at every point.
  std::optional<std::size_t> without_effect(const AccessUse& use, std::int32_t variable) const {
    for (std::size_t g = 0; g < use.guards.size(); ++g) {
      const sym::Expr condition = builder_.condition(p_, use.guards[g].condition, sizes_);
      const IndexVariables variables = index_variables(condition);
      if (variables.reads || !std::ranges::binary_search(variables.loops, variable)) continue;
      const Interval value = range_over(condition, r_.box);
      if (use.guards[g].taken ? value.lo > 0 : value.hi <= 0) return g;
    }
    return {};
  }

  IndexBuilder& builder_;
  const Program& p_;
  const CheckedStatement& s_;
  std::span<const sym::Expr> sizes_;
  const StatementRanges& r_;
  std::vector<RangeWarning> out_;
};

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

std::vector<RangeWarning> range_warnings(IndexBuilder& builder, const Program& program,
                                         const CheckedStatement& statement, std::span<const sym::Expr> sizes,
                                         const StatementRanges& ranges) {
  return Finder(builder, program, statement, sizes, ranges).run();
}

}  // namespace oriel::lang

namespace oriel {

void set_comprehension_warning_sink(Callback<void(const ComprehensionWarning&)> sink) {
  const std::lock_guard lock(lang::sink_lock());
  std::swap(lang::warning_sink.object, sink);  // the old sink is destroyed after the lock is released
}

}  // namespace oriel
