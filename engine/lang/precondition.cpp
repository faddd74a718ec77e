#include "lang/precondition.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oriel::lang {
namespace {

using detail::Int;

/// The most points that are tried one by one if arithmetic does not decide.
constexpr std::int64_t kMaxPoints = std::int64_t{1} << 22;

// Collects constraints that follow from the condition. The list may be incomplete.
void linear_constraints(const IndexTree& tree, std::int32_t id, bool taken, std::vector<Constraint>& out) {
  const IndexNode& node = tree.at(id);
  switch (node.kind) {
    case IndexKind::Not:
      return linear_constraints(tree, node.left, !taken, out);
    case IndexKind::And:
    case IndexKind::Or:
      if ((node.kind == IndexKind::And) != taken) return;
      linear_constraints(tree, node.left, taken, out);
      linear_constraints(tree, node.right, taken, out);
      return;
    case IndexKind::Less:
    case IndexKind::Equal: {
      const IndexNode& a = tree.at(node.left);
      const IndexNode& b = tree.at(node.right);
      if (a.kind != IndexKind::Linear || b.kind != IndexKind::Linear) return;
      Constraint constraint{add(b.linear, a.linear, -1), Interval::all()};
      if (node.kind == IndexKind::Less) {
        (taken ? constraint.range.lo : constraint.range.hi) = 1;
      } else {
        if (!taken) return;
        constraint.range = {0, 1};
      }
      out.push_back(std::move(constraint));
      return;
    }
    default:
      return;
  }
}

// Narrows the box by each constraint until nothing changes. False if the box becomes empty.
bool propagate(const std::vector<const Constraint*>& constraints, std::vector<Interval>& box) {
  for (int pass = 0; pass < 64; ++pass) {
    bool changed = false;
    for (const Constraint* each : constraints) {
      const Constraint& constraint = *each;
      Int least = constraint.linear.constant;
      Int most = constraint.linear.constant;
      for (const auto& [v, c] : constraint.linear.terms) {
        const Interval range = box[static_cast<std::size_t>(v)];
        least += Int(c) * (c > 0 ? range.lo : range.hi - 1);
        most += Int(c) * (c > 0 ? range.hi - 1 : range.lo);
      }
      const bool low = constraint.range.lo != Interval::kLowest;
      const bool high = constraint.range.hi != Interval::kHighest;
      if ((low && most < constraint.range.lo) || (high && least >= constraint.range.hi)) return false;
      for (const auto& [v, c] : constraint.linear.terms) {
        Interval& range = box[static_cast<std::size_t>(v)];
        const Int own_least = Int(c) * (c > 0 ? range.lo : range.hi - 1);
        const Int own_most = Int(c) * (c > 0 ? range.hi - 1 : range.lo);
        Interval next = range;
        if (low) {  // c v >= bound
          const Int bound = Int(constraint.range.lo) - (most - own_most);
          if (c > 0) {
            next.lo = std::max(next.lo, ceil_div(bound, c).value());
          } else {
            next.hi = std::min(next.hi, (bound / c + 1).value());
          }
        }
        if (high) {  // c v <= bound
          const Int bound = Int(constraint.range.hi) - 1 - (least - own_least);
          if (c > 0) {
            next.hi = std::min(next.hi, (bound / c + 1).value());
          } else {
            next.lo = std::max(next.lo, ceil_div(bound, c).value());
          }
        }
        if (next.empty()) return false;
        if (next == range) continue;
        range = next;
        changed = true;
        break;  // the sums above are out of date
      }
    }
    if (!changed) break;
  }
  return true;
}

// True if two constraints on the same combination of variables exclude each other.
bool contradict(const Constraint& a, const Constraint& b) {
  const auto& mine = a.linear.terms;
  const auto& theirs = b.linear.terms;
  if (mine.empty() || mine.size() != theirs.size()) return false;
  for (const std::int64_t sign : {1, -1}) {
    bool same = true;
    for (std::size_t k = 0; k < mine.size() && same; ++k)
      same = mine[k].first == theirs[k].first && Int(theirs[k].second) * sign == mine[k].second;
    if (!same) continue;
    const std::int64_t rest = (Int(a.linear.constant) - Int(b.linear.constant) * sign).value();  // a = sign b + rest
    const auto end = [](std::int64_t x) { return x == Interval::kLowest || x == Interval::kHighest; };
    Interval moved = Interval::all();
    if (sign > 0) {
      if (!end(b.range.lo)) moved.lo = (Int(b.range.lo) + rest).value();
      if (!end(b.range.hi)) moved.hi = (Int(b.range.hi) + rest).value();
    } else {
      if (!end(b.range.hi)) moved.lo = (Int(rest) - b.range.hi + 1).value();
      if (!end(b.range.lo)) moved.hi = (Int(rest) - b.range.lo + 1).value();
    }
    return std::max(moved.lo, a.range.lo) >= std::min(moved.hi, a.range.hi);
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

bool reads_below(const IndexTree& tree, std::int32_t id) {
  if (!tree.reads || id < 0) return false;
  const IndexNode& node = tree.at(id);
  return node.kind == IndexKind::Read || reads_below(tree, node.condition) || reads_below(tree, node.left) ||
         reads_below(tree, node.right);
}

// Parts that read a tensor may have either value and are left out.
void split_condition(const IndexTree& tree, std::int32_t id, bool taken, std::vector<GuardSide::Part>& out) {
  const IndexNode& node = tree.at(id);
  if (node.kind == IndexKind::Not) return split_condition(tree, node.left, !taken, out);
  if ((node.kind == IndexKind::And && taken) || (node.kind == IndexKind::Or && !taken)) {
    split_condition(tree, node.left, taken, out);
    return split_condition(tree, node.right, taken, out);
  }
  if (!reads_below(tree, id)) out.push_back({id, taken, tree.variables(id)});
}

class Check {
 public:
  Check(const Program& program, const CheckedStatement& statement, std::span<const std::int64_t> sizes,
        const StatementRanges& ranges, const Condition& condition, GuardTable& guards, Budget& budget)
      : p_(program),
        s_(statement),
        ranges_(ranges),
        c_(condition),
        use_(statement.accesses[condition.access]),
        budget_(budget) {
    if (settled()) return;
    const std::vector<std::int32_t> mine = c_.tree.variables();
    for (const Guard& guard : use_.guards) {
      const auto [found, fresh] = guards.try_emplace(guard.condition);
      GuardFacts& facts = found->second;
      if (fresh) facts.tree = index_tree(program, guard.condition, sizes);
      std::optional<GuardSide>& side = facts.sides.at(guard.taken ? 1 : 0);
      if (!side) split_condition(facts.tree, facts.tree.root(), guard.taken, side.emplace().parts);
      guards_.push_back({&facts.tree, &*side, guard.taken});
      for (const GuardSide::Part& part : side->parts) {
        parts_.push_back({&facts.tree, &part,
                          std::includes(mine.begin(), mine.end(), part.variables.begin(), part.variables.end())});
      }
    }
  }

  AccessStatus run() {
    if (settled()) return AccessStatus::Proved;
    if (c_.tree.reads) return AccessStatus::DataDependent;
    if (discharged()) return AccessStatus::Guarded;
    std::vector<std::int64_t> point(ranges_.ranges.size(), 0);
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
  bool settled() const { return c_.target.holds(c_.tree.bounds(ranges_.ranges)); }

  enum class Search { Found, None, TooMany };
  enum class Which { None, Own, All };  // which conditions to consider

  struct GuardUse {
    const IndexTree* tree;
    GuardSide* side;
    bool taken;
  };
  struct PartUse {
    const IndexTree* tree;
    const GuardSide::Part* part;
    bool own;  // has only variables of the index
  };

  // Decides by arithmetic on linear conditions alone.
  bool discharged() const {
    if (guards_.empty() || !c_.tree.is_linear()) return false;
    std::vector<const Constraint*> constraints;
    for (const GuardUse& guard : guards_) {
      auto& known = guard.side->constraints;
      if (!known) {
        std::vector<Constraint> found;
        linear_constraints(*guard.tree, guard.tree->root(), guard.taken, found);
        known = std::move(found);
      }
      for (const Constraint& constraint : *known) constraints.push_back(&constraint);
    }
    const Constraint under{c_.tree.linear(), {Interval::kLowest, c_.target.lo}};
    const Constraint over{c_.tree.linear(), {c_.target.hi, Interval::kHighest}};
    return !feasible(constraints, under, ranges_.ranges) && !feasible(constraints, over, ranges_.ranges);
  }

  static bool counts(const PartUse& part, Which which) {
    return which == Which::All || (which == Which::Own && part.own);
  }

  bool taken(std::span<const std::int64_t> point, Which which) const {
    for (const PartUse& use : parts_) {
      if (counts(use, which) && (use.tree->evaluate(use.part->node, point) != 0) != use.part->taken) return false;
    }
    return true;
  }

  // Searches for a point at which the access is out of bounds although those conditions hold.
  Search search(Which which, std::vector<std::int64_t>& point) const {
    if (which == Which::None && c_.tree.is_linear()) return extreme(point);
    std::vector<std::int32_t> variables = c_.tree.variables();
    for (const PartUse& use : parts_) {
      if (counts(use, which)) variables.insert(variables.end(), use.part->variables.begin(), use.part->variables.end());
    }
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    Int points = 1;
    for (const std::int32_t v : variables) {
      const Interval range = ranges_.ranges[static_cast<std::size_t>(v)];
      points *= range.hi - range.lo;
      if (points > kMaxPoints) return Search::TooMany;
    }
    if (!budget_.take(points.value())) return Search::TooMany;
    for (std::size_t v = 0; v < point.size(); ++v) point[v] = ranges_.ranges[v].lo;
    for (std::int64_t k = 0; k < points.value(); ++k) {
      const std::int64_t at = c_.tree.evaluate(point);
      if ((at < c_.target.lo || at >= c_.target.hi) && taken(point, which)) return Search::Found;
      for (std::size_t d = variables.size(); d-- > 0;) {
        const auto v = static_cast<std::size_t>(variables[d]);
        if (++point[v] < ranges_.ranges[v].hi) break;
        point[v] = ranges_.ranges[v].lo;
      }
    }
    return Search::None;
  }

  // Tests the points with the lowest and the highest value of a linear expression.
  Search extreme(std::vector<std::int64_t>& point) const {
    for (const bool low : {true, false}) {
      for (std::size_t v = 0; v < point.size(); ++v) {
        const std::int64_t c = c_.tree.linear().coefficient(static_cast<std::int32_t>(v));
        point[v] = (c > 0) == low || c == 0 ? ranges_.ranges[v].lo : ranges_.ranges[v].hi - 1;
      }
      const std::int64_t at = c_.tree.evaluate(point);
      if (low ? at < c_.target.lo : at >= c_.target.hi) return Search::Found;
    }
    return Search::None;
  }

  [[noreturn]] void report(const std::vector<std::int64_t>* point) const {
    const Expr& access = p_.definition[use_.expr];
    std::string where;
    if (point != nullptr) {
      where = fmt::format(" is {}", c_.tree.evaluate(*point));
      std::string values;
      for (const std::int32_t v : c_.tree.variables()) {
        const auto place = static_cast<std::size_t>(v);
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", s_.variables[place].name, (*point)[place]);
      }
      if (!values.empty()) where += " for " + values;
    } else {
      where = " cannot be shown to stay there";
    }
    std::vector<Note> notes;
    for (const std::int32_t v : c_.tree.variables()) {
      const auto place = static_cast<std::size_t>(v);
      const std::int32_t lower = ranges_.lower_by[place];
      for (const std::int32_t by : {lower, ranges_.upper_by[place] == lower ? -1 : ranges_.upper_by[place]}) {
        if (by < 0) continue;
        const Interval range = ranges_.ranges[place];
        notes.push_back({index_span(p_, s_, ranges_.conditions[static_cast<std::size_t>(by)]),
                         fmt::format("{} <= {} < {} comes from here", range.lo, s_.variables[place].name, range.hi)});
      }
    }
    fail(p_.source(), ErrorKind::PreconditionViolated, index_span(p_, s_, c_),
         fmt::format("dimension {} of '{}' has positions {} to {}, but this index{}", c_.dimension, access.name,
                     c_.target.lo, c_.target.hi - 1, where),
         notes);
  }

  const Program& p_;
  const CheckedStatement& s_;
  const StatementRanges& ranges_;
  const Condition& c_;
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

void check_precondition(const Program& program, const CheckedStatement& statement, std::span<const std::int64_t> sizes,
                        StatementRanges& ranges, std::size_t k, GuardTable& guards, Budget& budget) {
  Condition& condition = ranges.conditions[k];
  condition.status = AccessStatus::Proved;
  for (const Interval range : ranges.ranges) {
    if (range.empty()) return;  // the statement has no points
  }
  condition.status = Check(program, statement, sizes, ranges, condition, guards, budget).run();
}

}  // namespace oriel::lang
