#include "lang/range_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lang/precondition.hpp"
#include "sym/build.hpp"

namespace oriel::lang {

namespace {

constexpr Interval kNothing{0, -1};

std::string shown(Interval range) { return fmt::format("{} <= .. < {}", range.lo, range.hi + 1); }

// Does enclose() find the extreme values? It does for sums in which each loop occurs once.
bool is_exact(sym::Expr e) {
  std::vector<sym::Expr> seen;
  const auto plain = [](const sym::Terms::Term& part) {
    return part.term->kind == sym::Kind::loop || has_only_sizes(part.term) ||
           (part.term->kind == sym::Kind::product &&
            std::ranges::all_of(part.term->args, [](sym::Expr factor) { return factor->is_variable(); }));
  };
  for (const auto& [term, coefficient] : sym::terms_of(e).terms) {
    for (const sym::Expr factor : sym::factors(term)) {
      if (has_only_sizes(factor)) continue;
      const sym::Expr inner = factor->kind == sym::Kind::floor_div ? factor->args[0] : factor;
      if (!std::ranges::all_of(sym::terms_of(inner).terms, plain)) return false;
      for (const sym::Expr variable : sym::variables_of(inner)) {
        if (is_size_symbol(variable)) continue;
        if (std::ranges::find(seen, variable) != seen.end()) return false;
        seen.push_back(variable);
      }
    }
  }
  return true;
}

}  // namespace

void RangeSearch::fail(ErrorKind kind, const std::string& message) const {
  lang::fail(p_.source(), kind, variable().span, message, deciders());
}

// True if a resolved variable of the expression has an empty range: then the expression has no value and is in
// bounds.
bool RangeSearch::vacuous(std::size_t condition) const {
  for (const std::int32_t v : out_.conditions[condition].variables.loops) {
    const auto place = static_cast<std::size_t>(v);
    if (pending_.resolved(place) && out_.box[place].empty()) return true;
  }
  return false;
}

void RangeSearch::narrow(Interval by, std::size_t condition) {
  if (by.lo > ends_.lo) {
    ends_.lo = by.lo;
    out_.lower_by[v_] = static_cast<std::int32_t>(condition);
  }
  if (by.hi < ends_.hi) {
    ends_.hi = by.hi;
    out_.upper_by[v_] = static_cast<std::int32_t>(condition);
  }
}

bool RangeSearch::run(const std::vector<std::size_t>& mine) {
  const auto id = static_cast<std::int32_t>(v_);
  std::vector<std::size_t> others;
  for (const std::size_t k : mine) {
    const Condition& condition = out_.conditions[k];
    if (vacuous(k)) continue;
    if (is_linear(condition.index)) {
      narrow(legal_interval(condition.index, numbers(condition.target), id, out_.box), k);
    } else {
      others.push_back(k);
    }
  }
  if (ends_.empty()) return empty(ends_);
  IntervalSet set{ends_};
  // The first pass takes the expressions that need no window. In the second, expressions with remainders try the
  // values that are left.
  for (int pass = 0; pass < 2; ++pass) {
    for (const std::size_t k : others) {
      const Condition& condition = out_.conditions[k];
      const Interval window = pass == 0 || set.empty() ? Interval{} : Interval{set.front().lo, set.back().hi};
      const Interval target = numbers(condition.target);
      const std::optional<IntervalSet> legal =
          legal_values(condition.index, target, id, out_.box, window, pass == 1, budget_);
      if (!legal) {
        if (pass == 0) continue;
        return false;
      }
      if (!legal->empty()) narrow({legal->front().lo, legal->back().hi}, k);
      set = intersect(set, *legal);
      if (set.empty()) {
        if (legal->empty()) ends_ = kNothing;
        return empty(target.empty() && ends_.has_lo() ? Interval{ends_.lo, ends_.lo - 1} : ends_);
      }
    }
    if (others.empty()) break;
  }
  const Interval hull{set.front().lo, set.back().hi};
  if (!bounded(hull)) {
    if (none_in_trial(id, others, hull)) return empty(kNothing);
    return false;
  }
  if (set.size() > 1) {
    fail(ErrorKind::NonInterval,
         fmt::format("the values of '{}' that keep its accesses in bounds are {} and others, not one interval; write "
                     "where {} in a:b",
                     variable().name, shown(set.front()), variable().name));
  }
  out_.box[v_] = hull;
  return true;
}

// If remainders exclude each other, no value is left, however far one searches. A test of a limited range of values
// shows that.
bool RangeSearch::none_in_trial(std::int32_t id, const std::vector<std::size_t>& conditions, Interval hull) {
  constexpr std::int64_t kTrial = 2048;
  Interval window = hull;
  if (!hull.has_lo()) window.lo = hull.has_hi() ? hull.hi + 1 - kTrial : -kTrial / 2;
  if (!hull.has_hi()) window.hi = window.lo + kTrial - 1;
  IntervalSet set{window};
  for (const std::size_t k : conditions) {
    const Condition& condition = out_.conditions[k];
    const std::optional<IntervalSet> legal =
        legal_values(condition.index, numbers(condition.target), id, out_.box, window, true, budget_);
    if (legal) set = intersect(set, *legal);
  }
  return set.empty();
}

bool RangeSearch::empty(Interval ends) {
  if (zero_input_ && bounded(ends) && extent(ends) == 0) {
    out_.box[v_] = ends;
    return true;
  }
  if (!bounded(ends)) ends = kNothing;
  fail(ErrorKind::EmptyRange, extent(ends) == 0
                                  ? fmt::format("no value of '{}' keeps its accesses in bounds", variable().name)
                                  : fmt::format("no value of '{}' keeps its accesses in bounds: {} <= {} < {}",
                                                variable().name, ends.lo, variable().name, ends.hi + 1));
}

std::vector<Note> RangeSearch::deciders() const {
  std::vector<Note> notes;
  const auto note = [&](std::int32_t id, std::string message) {
    const Condition& condition = out_.conditions[static_cast<std::size_t>(id)];
    if (!s_.accesses[condition.access].guards.empty()) {
      message += ", whatever the conditional around it says; where clauses give ranges apart from it";
    }
    notes.push_back({index_span(p_, s_, condition), message});
  };
  const std::int32_t lower = out_.lower_by[v_];
  const std::int32_t upper = out_.upper_by[v_];
  if (lower >= 0) note(lower, lower == upper ? "this bounds it on both sides" : "this bounds it below");
  if (upper >= 0 && upper != lower) note(upper, "this bounds it above");
  return notes;
}

std::string SymbolicSearch::text_of(const Condition& condition) const {
  return text(p_.definition, s_.accesses[condition.access].expr);
}

std::string SymbolicSearch::in_bounds(const Condition& condition) const {
  return fmt::format("{} must stay in dimension {} of '{}'", text_of(condition), condition.dimension,
                     access_of(condition).name);
}

void SymbolicSearch::require_values(std::size_t variable, std::span<const sym::Expr> lows,
                                    std::span<const sym::Expr> ends, Span span) {
  std::vector<sym::Expr> needed;
  for (const sym::Expr lo : lows) {
    for (const sym::Expr end : ends) at_most(sym::add(lo, 1), end, needed);
  }
  for (const sym::Expr condition : needed) {
    state_.require({condition, number_, -1, span,
                    fmt::format("'{}' needs a value that keeps its accesses in bounds", s_.variables[variable].name)},
                   ErrorKind::EmptyRange);
  }
}

// Intersects the half-lines that the conditions `of` ask for. Keeps the ends that a proof does not show to be idle.
sym::Expr SymbolicSearch::decisive(std::span<const sym::Expr> ends, std::span<const std::int32_t> of, bool greatest,
                                   std::int32_t& by) {
  sym::Expr out = ends[0];
  by = of[0];
  for (std::size_t k = 1; k < ends.size(); ++k) {
    const sym::Expr next = greatest ? state_.facts.greater(out, ends[k]) : state_.facts.smaller(out, ends[k]);
    if (next != out) by = next == ends[k] ? of[k] : -1;
    out = next;
  }
  return out;
}

bool SymbolicSearch::solve(std::int32_t variable, const std::vector<std::size_t>& ready) {
  const auto v = static_cast<std::size_t>(variable);
  std::vector<sym::Expr> lows, ends;
  std::vector<std::int32_t> lows_by, ends_by;
  std::vector<SizePrecondition> needed;
  for (const std::size_t k : ready) {
    const Condition& condition = out_.conditions[k];
    SymbolicSolver solver(variable, out_.ranges, state_.facts);
    if (!solver.solve(condition.index, condition.target)) {
      state_.fail(ErrorKind::SymbolicSizes, span_of(condition),
                  fmt::format("the range of '{}' by {} has no formula for all sizes; give the shapes, or write where "
                              "{} in a:b",
                              s_.variables[v].name, text_of(condition), s_.variables[v].name));
    }
    const auto by = static_cast<std::int32_t>(k);
    lows.insert(lows.end(), solver.lows.begin(), solver.lows.end());
    lows_by.resize(lows.size(), by);
    ends.insert(ends.end(), solver.ends.begin(), solver.ends.end());
    ends_by.resize(ends.size(), by);
    for (const sym::Expr other : solver.required)
      needed.push_back({other, number_, by, span_of(condition), in_bounds(condition), solver.exact});
  }
  if (lows.empty() || ends.empty()) return false;
  for (SizePrecondition& precondition : needed)
    state_.require(std::move(precondition), ErrorKind::PreconditionViolated);
  require_values(v, lows, ends, s_.variables[v].span);
  out_.ranges[v].lo = decisive(lows, lows_by, true, out_.lower_by[v]);
  out_.ranges[v].end = decisive(ends, ends_by, false, out_.upper_by[v]);
  return true;
}

void SymbolicSearch::check(std::size_t k) {
  Condition& condition = out_.conditions[k];
  const ExprBounds bounds = enclose(condition.index, out_.ranges, state_.facts);
  std::vector<sym::Expr> needed;
  if (bounds.lo != nullptr) at_most(condition.target.lo, bounds.lo, needed);
  if (bounds.hi != nullptr) at_most(sym::add(bounds.hi, 1), condition.target.end, needed);
  const bool known = bounds.lo != nullptr && bounds.hi != nullptr;
  if (known && std::ranges::all_of(needed, [&](sym::Expr part) { return state_.facts.proves(part); })) return;
  if (condition.variables.reads) {
    condition.status = AccessStatus::DataDependent;
    return;
  }
  if (guarded(condition)) {
    condition.status = AccessStatus::Guarded;
    return;
  }
  if (!known) {
    state_.fail(ErrorKind::SymbolicSizes, span_of(condition),
                fmt::format("{}, which no formula shows for all sizes; give the shapes", in_bounds(condition)));
  }
  const bool exact = s_.accesses[condition.access].guards.empty() && is_exact(condition.index);
  for (const sym::Expr part : needed) {
    state_.require({part, number_, static_cast<std::int32_t>(k), span_of(condition), in_bounds(condition), exact},
                   ErrorKind::PreconditionViolated);
  }
}

// Do the conditionals around the access exclude that it is out of bounds where it is used?
bool SymbolicSearch::guarded(const Condition& condition) {
  const AccessUse& use = s_.accesses[condition.access];
  if (use.guards.empty()) return false;
  IndexBuilder& builder = *state_.out.builder;
  std::vector<sym::Expr> holds;
  for (std::size_t v = 0; v < s_.variables.size(); ++v) {
    const sym::Expr loop = builder.loop(v);
    holds.push_back(sym::ge(loop, out_.ranges[v].lo));
    holds.push_back(sym::lt(loop, out_.ranges[v].end));
  }
  for (const Guard& guard : use.guards) {
    const sym::Expr taken = builder.condition(p_, guard.condition, state_.out.sizes);
    holds.push_back(guard.taken ? taken : sym::logical_not(taken));
  }
  return state_.facts.proves(sym::ge(condition.index, condition.target.lo), holds) &&
         state_.facts.proves(sym::lt(condition.index, condition.target.end), holds);
}

}  // namespace oriel::lang
