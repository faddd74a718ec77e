#include "lang/open_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sym/build.hpp"
#include "sym/print.hpp"

namespace oriel::lang {
namespace {

/// The most index expressions of a statement.
constexpr std::size_t kMaxOpenConditions = 512;

/// Inference inside one statement.
class OpenRounds {
 public:
  OpenRounds(OpenState& state, std::size_t number)
      : state_(state),
        p_(state.program),
        s_(state.program.statements[number]),
        builder_(*state.out.builder),
        facts_(state.facts),
        number_(number) {}

  OpenStatement run() {
    const std::size_t count = s_.variables.size();
    out_.ranges.resize(count);
    out_.rounds.assign(count, -1);
    out_.lower_by.assign(count, -1);
    out_.upper_by.assign(count, -1);
    where_ranges();
    conditions();
    for (int number = 1; round(number); ++number) {
    }
    check_resolved();
    for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
      if (used_[k] == 0) check(k);
    }
    return std::move(out_);
  }

 private:
  sym::Expr constant(std::int64_t n) const { return builder_.pool().constant(n); }
  std::span<const sym::Expr> sizes() const { return state_.out.sizes; }
  bool resolved(std::size_t v) const { return out_.rounds[v] >= 0; }
  Span span_of(const OpenCondition& condition) const {
    return p_.definition[access_of(condition).args[condition.dimension]].span;
  }
  const Expr& access_of(const OpenCondition& condition) const {
    return p_.definition[s_.accesses[condition.access].expr];
  }
  std::string text_of(const OpenCondition& condition) const {
    return text(p_.definition, s_.accesses[condition.access].expr);
  }

  void require(sym::Expr condition, Span span, std::string reason, ErrorKind kind, std::int32_t index = -1,
               bool exact = true) {
    state_.require({condition, number_, index, span, std::move(reason), exact}, kind);
  }
  // At least one value of the variable must be left.
  void require_values(std::size_t v, std::span<const sym::Expr> lows, std::span<const sym::Expr> ends, Span span) {
    std::vector<sym::Expr> needed;
    for (const sym::Expr lo : lows) {
      for (const sym::Expr end : ends) at_most(sym::add(lo, 1), end, needed);
    }
    for (const sym::Expr condition : needed) {
      require(condition, span,
              fmt::format("'{}' needs a value that keeps its accesses in bounds", s_.variables[v].name),
              ErrorKind::EmptyRange);
    }
  }

  void where_ranges() {
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (s_.variables[v].range < 0) continue;
      const Clause& clause = s_.syntax->clauses[static_cast<std::size_t>(s_.variables[v].range)];
      const sym::Expr begin = builder_.number(p_, clause.first, sizes());
      const sym::Expr end = builder_.number(p_, clause.second, sizes());
      require_values(v, std::span(&begin, 1), std::span(&end, 1), clause.span);
      out_.ranges[v] = {begin, end};
      out_.rounds[v] = 0;
    }
  }

  void conditions() {
    for (std::size_t k = 0; k < s_.accesses.size(); ++k) {
      const auto& access = p_.definition[s_.accesses[k].expr];
      const std::vector<OpenRange>& box = state_.out.boxes[static_cast<std::size_t>(access.id)];
      out_.first.push_back(out_.conditions.size());
      for (std::size_t d = 0; d < access.args.size(); ++d) {
        OpenCondition condition{k, d, builder_.number(p_, access.args[d], sizes()), {}, false, box[d]};
        for (const sym::Expr variable : sym::variables_of(condition.index)) {
          if (variable->kind == sym::Kind::loop) condition.loops.push_back(static_cast<std::int32_t>(variable->value));
          condition.reads = condition.reads || (variable->kind == sym::Kind::symbol && !is_open_size(variable));
        }
        out_.conditions.push_back(std::move(condition));
      }
    }
    out_.first.push_back(out_.conditions.size());
    used_.assign(out_.conditions.size(), 0);
    if (out_.conditions.size() > kMaxOpenConditions) {
      state_.fail(ErrorKind::OpenSizes, s_.syntax->span,
                  fmt::format("a statement with open sizes may have {} indices, but this one has {}; give all shapes",
                              kMaxOpenConditions, out_.conditions.size()));
    }
  }

  // Is `v` the only unresolved loop of the condition?
  bool ready(const OpenCondition& condition, std::size_t v) const {
    return !condition.reads && std::ranges::all_of(condition.loops, [&](std::int32_t loop) {
      return static_cast<std::size_t>(loop) == v || resolved(static_cast<std::size_t>(loop));
    }) && std::ranges::find(condition.loops, static_cast<std::int32_t>(v)) != condition.loops.end();
  }

  bool round(int number) {
    std::vector<std::size_t> solved;
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (!resolved(v) && solve(v)) solved.push_back(v);
    }
    for (const std::size_t v : solved) {
      for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
        if (!ready(out_.conditions[k], v)) continue;
        used_[k] = 1;
        out_.conditions[k].status = AccessStatus::Solving;
      }
    }
    for (const std::size_t v : solved) out_.rounds[v] = number;
    return !solved.empty();
  }

  struct End {
    sym::Expr at;
    std::int32_t by;
  };
  // Intersects: keeps the decisive ends only.
  sym::Expr join(const std::vector<End>& ends, bool greatest, std::int32_t& by) {
    sym::Expr out = ends[0].at;
    by = ends[0].by;
    for (std::size_t k = 1; k < ends.size(); ++k) {
      const sym::Expr next = greatest ? facts_.greater(out, ends[k].at) : facts_.smaller(out, ends[k].at);
      if (next == ends[k].at && next != out) by = ends[k].by;
      if (next != ends[k].at && next != out) by = -1;
      out = next;
    }
    return out;
  }

  bool solve(std::size_t v) {
    std::vector<End> lows;
    std::vector<End> ends;
    std::vector<std::pair<OpenPrecondition, ErrorKind>> needed;
    for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
      const OpenCondition& condition = out_.conditions[k];
      if (!ready(condition, v)) continue;
      OpenSolver solver(static_cast<std::int32_t>(v), out_.ranges, facts_);
      const auto by = static_cast<std::int32_t>(k);
      if (!solver.solve(condition.index, condition.target)) {
        state_.fail(ErrorKind::OpenSizes, span_of(condition),
                    fmt::format("the range of '{}' by {} has no formula for all sizes; give the shapes, or write where "
                                "{} in a:b",
                                s_.variables[v].name, text_of(condition), s_.variables[v].name));
      }
      for (const sym::Expr lo : solver.lows) lows.push_back({lo, by});
      for (const sym::Expr end : solver.ends) ends.push_back({end, by});
      for (const sym::Expr other : solver.required) {
        needed.emplace_back(
            OpenPrecondition{other, number_, by, span_of(condition), in_bounds(condition), solver.exact},
            ErrorKind::PreconditionViolated);
      }
    }
    if (lows.empty() || ends.empty()) return false;
    for (auto& [precondition, kind] : needed) state_.require(std::move(precondition), kind);
    std::vector<sym::Expr> each_low;
    std::vector<sym::Expr> each_end;
    each_low.reserve(lows.size());
    each_end.reserve(ends.size());
    for (const End& end : lows) each_low.push_back(end.at);
    for (const End& end : ends) each_end.push_back(end.at);
    require_values(v, each_low, each_end, s_.variables[v].span);
    out_.ranges[v].lo = join(lows, true, out_.lower_by[v]);
    out_.ranges[v].end = join(ends, false, out_.upper_by[v]);
    return true;
  }

  void check_resolved() const {
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (resolved(v)) continue;
      const auto names = [&](const OpenCondition& condition) {
        return std::ranges::find(condition.loops, static_cast<std::int32_t>(v)) != condition.loops.end();
      };
      const Variable& variable = s_.variables[v];
      if (std::ranges::none_of(out_.conditions, names) && variable.left) {
        state_.fail(ErrorKind::UnconstrainedOutputIndex, variable.span,
                    fmt::format("no access and no where clause gives '{}' a range; write where {} in a:b",
                                variable.name, variable.name));
      }
      std::vector<Note> notes;
      for (const OpenCondition& condition : out_.conditions) {
        if (names(condition) && notes.size() < 4)
          notes.push_back({span_of(condition), "this index does not bound it on both sides"});
      }
      state_.fail(
          ErrorKind::UnresolvedVariable, variable.span,
          fmt::format("no access bounds '{}' on both sides; write where {} in a:b", variable.name, variable.name),
          notes);
    }
  }

  std::string in_bounds(const OpenCondition& condition) const {
    return fmt::format("{} must stay in dimension {} of '{}'", text_of(condition), condition.dimension,
                       access_of(condition).name);
  }

  // Sets the status of an access from which no range was derived.
  void check(std::size_t k) {
    OpenCondition& condition = out_.conditions[k];
    const OpenBounds bounds = enclose(condition.index, out_.ranges, facts_);
    std::vector<sym::Expr> needed;
    bool known = true;
    if (bounds.lo != nullptr) at_most(condition.target.lo, bounds.lo, needed);
    if (bounds.hi != nullptr) at_most(sym::add(bounds.hi, 1), condition.target.end, needed);
    known = bounds.lo != nullptr && bounds.hi != nullptr;
    if (known && std::ranges::all_of(needed, [&](sym::Expr part) { return facts_.proves(part); })) return;
    if (condition.reads) {
      condition.status = AccessStatus::DataDependent;
      return;
    }
    if (guarded(condition)) {
      condition.status = AccessStatus::Guarded;
      return;
    }
    if (!known) {
      state_.fail(ErrorKind::OpenSizes, span_of(condition),
                  fmt::format("{}, which no formula shows for all sizes; give the shapes", in_bounds(condition)));
    }
    const bool exact = s_.accesses[condition.access].guards.empty() && is_exact(condition.index);
    for (const sym::Expr part : needed) {
      require(part, span_of(condition), in_bounds(condition), ErrorKind::PreconditionViolated,
              static_cast<std::int32_t>(k), exact);
    }
  }

  // Does enclose() find the extreme values? It does for sums in which each loop occurs once.
  static bool is_exact(sym::Expr e) {
    std::vector<sym::Expr> seen;
    const auto once = [&](sym::Expr term) {
      for (const sym::Expr factor : sym::factors(term)) {
        if (has_only_sizes(factor)) continue;
        const sym::Expr inner = factor->kind == sym::Kind::floor_div ? factor->args[0] : factor;
        if (!std::ranges::all_of(sym::terms_of(inner).terms, [](const auto& part) {
              return part.term->kind == sym::Kind::loop || has_only_sizes(part.term) ||
                     (part.term->kind == sym::Kind::product &&
                      std::ranges::all_of(part.term->args, [](sym::Expr f) { return f->is_variable(); }));
            })) {
          return false;
        }
        for (const sym::Expr variable : sym::variables_of(inner)) {
          if (is_open_size(variable)) continue;
          if (std::ranges::find(seen, variable) != seen.end()) return false;
          seen.push_back(variable);
        }
      }
      return true;
    };
    const sym::Terms terms = sym::terms_of(e);
    return std::ranges::all_of(terms.terms, [&](const auto& term) { return once(term.term); });
  }

  // Do the conditionals around the access exclude that it is out of bounds where it is used?
  bool guarded(const OpenCondition& condition) {
    const AccessUse& use = s_.accesses[condition.access];
    if (use.guards.empty()) return false;
    std::vector<sym::Expr> holds;
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      const sym::Expr loop = builder_.loop(v);
      holds.push_back(sym::ge(loop, out_.ranges[v].lo));
      holds.push_back(sym::lt(loop, out_.ranges[v].end));
    }
    for (const Guard& guard : use.guards) {
      const sym::Expr taken = builder_.condition(p_, guard.condition, sizes());
      holds.push_back(guard.taken ? taken : sym::logical_not(taken));
    }
    return facts_.proves(sym::ge(condition.index, condition.target.lo), holds) &&
           facts_.proves(sym::lt(condition.index, condition.target.end), holds);
  }

  OpenState& state_;
  const Program& p_;
  const CheckedStatement& s_;
  IndexBuilder& builder_;
  OpenFacts& facts_;
  std::size_t number_;
  OpenStatement out_;
  std::vector<char> used_;
};

}  // namespace

void OpenState::require(OpenPrecondition precondition, ErrorKind kind) {
  const sym::Expr condition = precondition.condition;
  if (facts.proves(condition)) return;
  if (facts.proves(sym::logical_not(condition))) {
    if (!precondition.exact) {
      fail(ErrorKind::OpenSizes, precondition.span,
           precondition.reason + ", which no formula shows for all sizes; give the shapes");
    }
    std::string message = precondition.reason + ", which no sizes satisfy";
    if (!condition->is_constant()) message += ": it needs " + sym::to_string(condition);
    fail(kind, precondition.span, message);
  }
  facts.assume(condition);
  out.preconditions.push_back(std::move(precondition));
}

OpenStatement infer_open_statement(OpenState& state, std::size_t number) { return OpenRounds(state, number).run(); }

}  // namespace oriel::lang
