#include "lang/precondition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sym/build.hpp"

namespace oriel::lang {
namespace {

using detail::Int;
using sym::Kind;

/// The most points that are tried one by one if arithmetic does not decide.
constexpr std::int64_t kMaxPoints = std::int64_t{1} << 22;

// Collects constraints that follow from the condition. The list may be incomplete.
void linear_constraints(sym::Expr condition, bool taken, std::vector<Constraint>& out) {
  if (condition->kind == Kind::logical_and || condition->kind == Kind::logical_or) {
    if ((condition->kind == Kind::logical_and) != taken) return;
    for (const sym::Expr part : condition->args) linear_constraints(part, taken, out);
    return;
  }
  if (!condition->is_comparison() || !is_linear(condition->args[0]) || !is_linear(condition->args[1])) return;
  const std::optional<Interval> range = differences(taken ? condition->kind : sym::negated(condition->kind));
  if (range) out.push_back({sym::sub(condition->args[1], condition->args[0]), *range});
}

// Narrows the box by each constraint until nothing changes. False if the box becomes empty.
bool propagate(const std::vector<const Constraint*>& constraints, std::vector<Interval>& box) {
  for (int pass = 0; pass < 64; ++pass) {
    bool changed = false;
    for (const Constraint* constraint : constraints) {
      if (sym::intersect(range_over(constraint->linear, box), constraint->range).empty()) return false;
      for (const auto& [v, coefficient] : Linear(constraint->linear)) {
        Interval& range = box[static_cast<std::size_t>(v)];
        const Interval next = sym::intersect(range, possible_interval(constraint->linear, constraint->range, v, box));
        if (next.empty()) return false;
        if (next == range) continue;
        range = next;
        changed = true;
        break;  // the ranges above are out of date
      }
    }
    if (!changed) break;
  }
  return true;
}

// True if two constraints on the same combination of loops exclude each other.
bool contradict(const Constraint& a, const Constraint& b) {
  const Linear mine(a.linear);
  const Linear theirs(b.linear);
  if (mine.size() == 0 || mine.size() != theirs.size()) return false;
  for (const std::int64_t sign : {1, -1}) {
    bool same = true;
    for (std::size_t k = 0; k < mine.size() && same; ++k) {
      same = mine[k].first == theirs[k].first && Int(theirs[k].second) * sign == mine[k].second;
    }
    if (!same) continue;
    const std::int64_t rest = (Int(mine.constant()) - Int(theirs.constant()) * sign).value();  // a = sign b + rest
    const Interval moved = (sign > 0 ? b.range : -b.range) + Interval::point(rest);
    return sym::intersect(moved, a.range).empty();
  }
  return false;
}

bool feasible(std::vector<const Constraint*> constraints, const Constraint& more, std::vector<Interval> box) {
  for (const Constraint* constraint : constraints) {
    if (contradict(*constraint, more)) return false;
  }
  constraints.push_back(&more);
  return propagate(constraints, box);
}

// Parts that read a tensor may have either value and are left out.
void split_condition(sym::Expr condition, bool taken, std::vector<GuardSide::Part>& out) {
  if (condition->kind == (taken ? Kind::logical_and : Kind::logical_or)) {
    for (const sym::Expr part : condition->args) split_condition(part, taken, out);
  } else if (IndexVariables variables = index_variables(condition); !variables.reads) {
    out.push_back({condition, taken, std::move(variables.loops)});
  }
}

class Check {
 public:
  Check(IndexBuilder& builder, const Program& program, const CheckedStatement& statement,
        std::span<const sym::Expr> sizes, const StatementRanges& ranges, const Condition& condition, GuardTable& guards,
        Budget& budget)
      : p_(program),
        s_(statement),
        ranges_(ranges),
        c_(condition),
        target_(numbers(condition.target)),
        use_(statement.accesses[condition.access]),
        budget_(budget) {
    for (const Guard& guard : use_.guards) {
      const auto [found, fresh] = guards.try_emplace(guard.condition);
      GuardFacts& facts = found->second;
      if (fresh) facts.condition = builder.condition(program, guard.condition, sizes);
      std::optional<GuardSide>& side = facts.sides.at(guard.taken ? 1 : 0);
      if (!side) split_condition(facts.condition, guard.taken, side.emplace().parts);
      guards_.push_back({facts.condition, &*side, guard.taken});
      for (const GuardSide::Part& part : side->parts)
        parts_.push_back({&part, std::ranges::includes(c_.variables.loops, part.loops)});
    }
  }

  AccessStatus run() {
    if (c_.variables.reads) return AccessStatus::DataDependent;
    if (discharged()) return AccessStatus::Guarded;
    std::vector<std::int64_t> point(ranges_.box.size(), 0);
    bool beyond = false;
    const Search without = search(Which::None, point);
    if (without == Search::None) return AccessStatus::Proved;
    if (without == Search::Found && !parts_.empty()) {
      // The conditions on the index's own variables often suffice, and need fewer points.
      if (search(Which::Own, point) == Search::None) return AccessStatus::Guarded;
      const Search within = search(Which::All, point);
      if (within == Search::None) return AccessStatus::Guarded;
      beyond = within == Search::TooMany;
    }
    report(without == Search::Found && !beyond ? &point : nullptr);
  }

 private:
  enum class Search { Found, None, TooMany };
  enum class Which { None, Own, All };  // which conditions to consider

  struct GuardUse {
    sym::Expr condition;
    GuardSide* side;
    bool taken;
  };
  struct PartUse {
    const GuardSide::Part* part;
    bool own;  // has only loops of the index
  };

  // Decides by arithmetic on linear conditions alone.
  bool discharged() const {
    if (guards_.empty() || !is_linear(c_.index)) return false;
    std::vector<const Constraint*> constraints;
    for (const GuardUse& guard : guards_) {
      auto& known = guard.side->constraints;
      if (!known) {
        std::vector<Constraint> found;
        linear_constraints(guard.condition, guard.taken, found);
        known = std::move(found);
      }
      for (const Constraint& constraint : *known) constraints.push_back(&constraint);
    }
    const Constraint under{c_.index, {Interval::kMinusInfinity, (Int(target_.lo) - 1).value()}};
    const Constraint over{c_.index, {(Int(target_.hi) + 1).value(), Interval::kInfinity}};
    return !feasible(constraints, under, ranges_.box) && !feasible(constraints, over, ranges_.box);
  }

  static bool counts(const PartUse& part, Which which) {
    return which == Which::All || (which == Which::Own && part.own);
  }

  // Do all conditions hold at the point? After a condition that does not hold, the others need no value.
  static bool taken(std::span<const std::int64_t> point, std::span<std::pair<IndexValues, bool>> conditions) {
    bool faulty = false;
    for (auto& [values, taken] : conditions) {
      const sym::Outcome found = values.outcome(point);
      if (found.is(taken ? 0 : 1)) return false;
      faulty = faulty || found.fault != sym::Outcome::Fault::none;
    }
    if (faulty) throw detail::ArithmeticOverflow();
    return true;
  }

  // Searches for a point at which the access is out of bounds although the conditions of `which` hold.
  Search search(Which which, std::vector<std::int64_t>& point) const {
    if (which == Which::None && is_linear(c_.index)) return extreme(point);
    std::vector<std::int32_t> variables = c_.variables.loops;
    std::vector<std::pair<IndexValues, bool>> conditions;
    for (const PartUse& use : parts_) {
      if (!counts(use, which)) continue;
      variables.insert(variables.end(), use.part->loops.begin(), use.part->loops.end());
      conditions.emplace_back(IndexValues(use.part->condition), use.part->taken);
    }
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    Int points = 1;
    for (const std::int32_t v : variables) {
      const Interval range = ranges_.box[static_cast<std::size_t>(v)];
      points *= extent(range);
      if (points > kMaxPoints) return Search::TooMany;
    }
    if (!budget_.take(points.value())) return Search::TooMany;
    for (std::size_t v = 0; v < point.size(); ++v) point[v] = ranges_.box[v].lo;
    IndexValues index(c_.index);
    for (std::int64_t k = 0; k < points.value(); ++k) {
      if (!target_.contains(index.at(point)) && taken(point, conditions)) return Search::Found;
      for (std::size_t d = variables.size(); d-- > 0;) {
        const auto v = static_cast<std::size_t>(variables[d]);
        if (++point[v] <= ranges_.box[v].hi) break;
        point[v] = ranges_.box[v].lo;
      }
    }
    return Search::None;
  }

  // Tests the points with the lowest and the highest value of a linear expression.
  Search extreme(std::vector<std::int64_t>& point) const {
    IndexValues index(c_.index);
    for (const bool low : {true, false}) {
      for (std::size_t v = 0; v < point.size(); ++v) {
        const std::int64_t c = Linear(c_.index).coefficient(static_cast<std::int32_t>(v));
        point[v] = (c > 0) == low || c == 0 ? ranges_.box[v].lo : ranges_.box[v].hi;
      }
      const std::int64_t at = index.at(point);
      if (low ? at < target_.lo : at > target_.hi) return Search::Found;
    }
    return Search::None;
  }

  [[noreturn]] void report(const std::vector<std::int64_t>* point) const {
    const Expr& access = p_.definition[use_.expr];
    std::string where;
    if (point != nullptr) {
      where = fmt::format(" is {}", IndexValues(c_.index).at(*point));
      std::string values;
      for (const std::int32_t v : c_.variables.loops) {
        const auto place = static_cast<std::size_t>(v);
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", s_.variables[place].name, (*point)[place]);
      }
      if (!values.empty()) where += " for " + values;
    } else {
      where = " cannot be shown to stay there";
    }
    std::vector<Note> notes;
    for (const std::int32_t v : c_.variables.loops) {
      const auto place = static_cast<std::size_t>(v);
      const std::int32_t lower = ranges_.lower_by[place];
      for (const std::int32_t by : {lower, ranges_.upper_by[place] == lower ? -1 : ranges_.upper_by[place]}) {
        if (by < 0) continue;
        const Interval range = ranges_.box[place];
        notes.push_back(
            {index_span(p_, s_, ranges_.conditions[static_cast<std::size_t>(by)]),
             fmt::format("{} <= {} < {} comes from here", range.lo, s_.variables[place].name, range.hi + 1)});
      }
    }
    fail(p_.source(), ErrorKind::PreconditionViolated, index_span(p_, s_, c_),
         fmt::format("dimension {} of '{}' has positions {} to {}, but this index{}", c_.dimension, access.name,
                     target_.lo, target_.hi, where),
         notes);
  }

  const Program& p_;
  const CheckedStatement& s_;
  const StatementRanges& ranges_;
  const Condition& c_;
  Interval target_;  // the tensor's coordinates
  const AccessUse& use_;
  Budget& budget_;
  std::vector<GuardUse> guards_;
  std::vector<PartUse> parts_;
};

}  // namespace

Span index_span(const Program& program, const CheckedStatement& statement, const Condition& condition) {
  const Expr& access = program.definition[statement.accesses[condition.access].expr];
  return program.definition[access.args[condition.dimension]].span;
}

void check_precondition(IndexBuilder& builder, const Program& program, const CheckedStatement& statement,
                        std::span<const sym::Expr> sizes, StatementRanges& ranges, std::size_t k, GuardTable& guards,
                        Budget& budget) {
  Condition& condition = ranges.conditions[k];
  condition.status = holds(numbers(condition.target), condition.range)
                         ? AccessStatus::Proved
                         : Check(builder, program, statement, sizes, ranges, condition, guards, budget).run();
}

}  // namespace oriel::lang
