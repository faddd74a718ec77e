#include "lang/range_search.hpp"

#include <fmt/format.h>

#include "lang/precondition.hpp"

namespace oriel::lang {
namespace {

constexpr Interval kNothing{0, -1};

std::string shown(Interval range) { return fmt::format("{} <= .. < {}", range.lo, range.hi + 1); }

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

}  // namespace oriel::lang
