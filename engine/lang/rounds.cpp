#include "lang/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lang/precondition.hpp"
#include "lang/range_search.hpp"
#include "lang/resolvable.hpp"
#include "lang/warnings.hpp"
#include "sym/build.hpp"
#include "sym/print.hpp"

namespace oriel::lang {

namespace {

// The most expressions visited for a left index; names of where clauses can multiply them.
constexpr std::size_t kMaxLooked = 100000;
// The most index expressions of a statement with symbols.
constexpr std::size_t kMaxSymbolicConditions = 512;

// Does the expression name variable v? `looked`: the expressions visited so far.
bool names(const Program& p, ExprId id, std::int32_t v, std::size_t& looked) {
  if (++looked > kMaxLooked) return true;  // inference then reports the index if it is unresolved
  const Expr& expr = p.definition[id];
  if (expr.kind == ExprKind::Index) return expr.id == v;
  for (const ExprId argument : expr.args) {
    if (names(p, argument, v, looked)) return true;
  }
  return false;
}

/// Inference inside one statement.
class Rounds {
 public:
  Rounds(InferenceState& state, std::size_t number, bool zero_input)
      : state_(state),
        p_(state.program),
        s_(state.program.statements[number]),
        builder_(*state.out.builder),
        zero_input_(zero_input),
        symbolic_(state.out.symbolic()),
        pending_(s_.variables.size()),
        symbols_(state, number, out_) {}

  StatementRanges run() {
    const std::size_t count = s_.variables.size();
    out_.ranges.resize(count);
    if (!symbolic_) out_.box.assign(count, Interval{});
    out_.rounds.assign(count, -1);
    out_.lower_by.assign(count, -1);
    out_.upper_by.assign(count, -1);
    where_ranges();
    conditions();
    check_left();
    pending_.count(out_.conditions);
    for (int number = 1; round(number); ++number) {
    }
    check_resolved();
    state_.out.looked += pending_.visited();
    if (symbolic_) {
      for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
        if (used_[k] == 0) symbols_.check(k);
      }
    } else if (std::ranges::none_of(out_.box, &Interval::empty)) {  // else the statement has no points
      check_numbers();
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const {
    state_.fail(kind, span, message, notes);
  }
  const Variable& variable(std::size_t v) const { return s_.variables[v]; }

  void where_ranges() {
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (variable(v).range < 0) continue;
      const Clause& clause = s_.syntax->clauses[static_cast<std::size_t>(variable(v).range)];
      const IndexRange range{end(clause.first), end(clause.second)};
      if (symbolic_) {
        symbols_.require_values(v, {&range.lo, 1}, {&range.end, 1}, clause.span);
      } else {
        if (range.end->value < range.lo->value) {
          fail(ErrorKind::EmptyRange, clause.span,
               fmt::format("the range of '{}' is {}:{}, which ends before it begins", variable(v).name, range.lo->value,
                           range.end->value));
        }
        out_.box[v] = {range.lo->value, (detail::Int(range.end->value) - 1).value()};
      }
      out_.ranges[v] = range;
      out_.rounds[v] = 0;
      pending_.set_resolved(v);
    }
  }

  // The value of an expression of sizes alone.
  sym::Expr end(ExprId expression) const {
    const sym::Expr e = builder_.number(p_, expression, state_.out.sizes);
    return symbolic_ || e->is_constant() ? e : builder_.constant(IndexValues(e).at({}));
  }

  void conditions() {
    for (std::size_t k = 0; k < s_.accesses.size(); ++k) {
      const Expr& access = p_.definition[s_.accesses[k].expr];
      const std::vector<IndexRange>& box = state_.out.boxes[static_cast<std::size_t>(access.id)];
      out_.first.push_back(out_.conditions.size());
      for (std::size_t d = 0; d < access.args.size(); ++d) {
        Condition condition;
        condition.access = k;
        condition.dimension = d;
        condition.index = builder_.number(p_, access.args[d], state_.out.sizes);
        condition.variables = index_variables(condition.index);
        condition.target = box[d];
        out_.conditions.push_back(std::move(condition));
      }
    }
    out_.first.push_back(out_.conditions.size());
    used_.assign(out_.conditions.size(), 0);
    if (symbolic_ && out_.conditions.size() > kMaxSymbolicConditions) {
      fail(ErrorKind::SymbolicSizes, s_.syntax->span,
           fmt::format("a statement with symbolic sizes may have {} indices, but this one has {}; give all shapes",
                       kMaxSymbolicConditions, out_.conditions.size()));
    }
  }

  // Throws for a left index that occurs in no access and no where clause.
  void check_left() const {
    std::size_t looked = 0;
    for (std::size_t v = 0; v < s_.left; ++v) {
      if (pending_.resolved(v)) continue;
      bool named = false;
      for (const AccessUse& use : s_.accesses)
        named = named || names(p_, use.expr, static_cast<std::int32_t>(v), looked);
      if (!named) fail_unconstrained(p_, variable(v));
    }
  }

  // Tries only variables with a new expression: for the others the result would be the same as before.
  bool round(int number) {
    std::vector<std::int32_t> solved;
    for (const std::int32_t v : pending_.take_tried()) {
      if (solve(v, pending_.look(v))) solved.push_back(v);
    }
    for (const std::int32_t v : solved) {
      for (const std::size_t k : pending_.ready(v)) {
        used_[k] = 1;
        out_.conditions[k].status = AccessStatus::Solving;
      }
      out_.rounds[static_cast<std::size_t>(v)] = number;
    }
    pending_.resolve(out_.conditions, solved);
    return !solved.empty();
  }

  bool solve(std::int32_t v, const std::vector<std::size_t>& mine) {
    if (symbolic_) return symbols_.solve(v, mine);
    if (!RangeSearch(p_, s_, zero_input_, pending_, state_.budget, out_, v).run(mine)) return false;
    out_.ranges[static_cast<std::size_t>(v)] = builder_.range(out_.box[static_cast<std::size_t>(v)]);
    return true;
  }

  void check_resolved() const {
    if (std::ranges::find(pending_.resolved(), 0) == pending_.resolved().end()) return;
    std::vector<Note> notes;
    for (std::size_t k = 0; k < out_.conditions.size() && notes.size() < 4; ++k) {
      const std::int32_t only = pending_.only_unknown(out_.conditions[k]);
      if (only == -1) continue;
      const std::string why = out_.conditions[k].variables.reads ? "reads a tensor, so that its value is not known yet"
                              : only == -2                       ? "has several unresolved variables"
                                                                 : "does not bound it on both sides";
      notes.push_back({index_span(p_, s_, out_.conditions[k]), "this index " + why});
    }
    fail_unresolved(p_, s_, pending_.resolved(), notes);
  }

  void check_numbers() {
    for (Condition& condition : out_.conditions) condition.range = range_over(condition.index, out_.box);
    GuardTable guards;
    for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
      if (used_[k] == 0) check_precondition(builder_, p_, s_, state_.out.sizes, out_, k, guards, state_.budget);
    }
    out_.warnings = range_warnings(builder_, p_, s_, state_.out.sizes, out_);
  }

  InferenceState& state_;
  const Program& p_;
  const CheckedStatement& s_;
  IndexBuilder& builder_;
  bool zero_input_;
  bool symbolic_;
  StatementRanges out_;
  std::vector<char> used_;
  PendingVariables pending_;
  SymbolicSearch symbols_;
};

}  // namespace

std::int32_t PendingVariables::only_unknown(const Condition& condition) const {
  std::int32_t only = -1;
  for (const std::int32_t v : condition.variables.loops) {
    if (resolved_[static_cast<std::size_t>(v)] != 0) continue;
    if (only >= 0) return -2;
    only = v;
  }
  return only;
}

void PendingVariables::count(const std::vector<Condition>& conditions) {
  of_.resize(resolved_.size());
  ready_.resize(resolved_.size());
  unknown_.assign(conditions.size(), 0);
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    if (conditions[k].variables.reads) continue;
    for (const std::int32_t v : conditions[k].variables.loops) {
      ++visited_;
      of_[static_cast<std::size_t>(v)].push_back(k);
      if (resolved_[static_cast<std::size_t>(v)] == 0) ++unknown_[k];
    }
    if (unknown_[k] == 1) make_ready(conditions, k);
  }
}

void PendingVariables::make_ready(const std::vector<Condition>& conditions, std::size_t condition) {
  const std::int32_t v = only_unknown(conditions[condition]);
  if (v < 0) return;  // resolved in the same round
  ready_[static_cast<std::size_t>(v)].push_back(condition);
  tried_next_.insert(v);
}

const std::vector<std::size_t>& PendingVariables::look(std::int32_t v) {
  std::vector<std::size_t>& mine = ready_[static_cast<std::size_t>(v)];
  std::sort(mine.begin(), mine.end());
  visited_ += mine.size();
  return mine;
}

void PendingVariables::resolve(const std::vector<Condition>& conditions, std::span<const std::int32_t> solved) {
  for (const std::int32_t v : solved) resolved_[static_cast<std::size_t>(v)] = 1;
  for (const std::int32_t v : solved) {
    for (const std::size_t k : of_[static_cast<std::size_t>(v)]) {
      ++visited_;
      if (--unknown_[k] == 1) make_ready(conditions, k);
    }
  }
}

void InferenceState::require(SizePrecondition precondition, ErrorKind kind) {
  const sym::Expr condition = precondition.condition;
  if (facts.proves(condition)) return;
  if (facts.proves(sym::logical_not(condition))) {
    if (!precondition.exact) {
      fail(ErrorKind::SymbolicSizes, precondition.span,
           precondition.reason + ", which no formula shows for all sizes; give the shapes");
    }
    std::string message = precondition.reason + ", which no sizes satisfy";
    if (!condition->is_constant()) message += ": it needs " + sym::to_string(condition);
    fail(kind, precondition.span, message);
  }
  facts.assume(condition);
  out.preconditions.push_back(std::move(precondition));
}

StatementRanges infer_statement(InferenceState& state, std::size_t number, bool zero_input) {
  return Rounds(state, number, zero_input).run();
}

}  // namespace oriel::lang
