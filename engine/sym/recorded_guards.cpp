#include "sym/environment.hpp"

#include <algorithm>

#include "sym/build.hpp"
#include "sym/program.hpp"

namespace oriel::sym {
namespace {

bool satisfies(Expr condition, const std::unordered_map<Expr, std::int64_t>& values) {
  Program program(condition);
  std::vector<std::int64_t> inputs;
  for (const Expr variable : program.variables()) {
    const auto found = values.find(variable);
    if (found == values.end()) return false;
    inputs.push_back(found->second);
  }
  return program.run(inputs)[0].is(1);
}

/// One form of an equation that can be written from both sides, and of its opposite.
Expr one_sided(Expr e) {
  if ((e->kind != Kind::eq && e->kind != Kind::ne) || compare(e->args[0], e->args[1]) <= 0) return e;
  return relation(e->kind, e->args[1], e->args[0]);
}

}  // namespace

void RecordedGuards::clear() {
  list_.clear();
  answers_.clear();
}

std::size_t RecordedGuards::count_of(Expr symbol) const {
  const auto names_it = [&](const Guard& guard) {
    const std::vector<Expr> variables = variables_of(guard.condition);
    return std::ranges::find(variables, symbol) != variables.end();
  };
  return static_cast<std::size_t>(std::ranges::count_if(list_, names_it));
}

// A guard with a witness (values that satisfy all others but not it) is not implied by the others.
void RecordedGuards::drop_implied(const std::function<Knowledge()>& stated) {
  const Expr newest = list_.back().condition;
  for (std::size_t k = 0; k + 1 < list_.size();) {
    Guard& guard = list_[k];
    if (!guard.witness.empty() && satisfies(newest, guard.witness)) {
      ++k;
      continue;
    }
    Knowledge others = stated();
    for (std::size_t other = 0; other < list_.size(); ++other) {
      if (other != k) others.learn(list_[other].condition);
    }
    guard.witness.clear();
    // A guard over a quotient also says that the divisor is not 0, for which another guard may have been dropped.
    if (others.decide(guard.condition, &guard.witness) && divisors_known(others, guard.condition)) {
      list_.erase(list_.begin() + std::ptrdiff_t(k));
    } else {
      ++k;
    }
  }
}

std::optional<bool> RecordedGuards::answer(Expr condition) const {
  if (condition->kind == Kind::truth) return condition->value != 0;
  const auto found = answers_.find(one_sided(condition));
  return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

void RecordedGuards::add_answer(Expr condition, bool holds, Site site) {
  const Expr opposite = logical_not(condition);
  list_.push_back({holds ? condition : opposite, site, {}});
  answers_[one_sided(condition)] = holds;
  answers_[one_sided(opposite)] = !holds;
}

}  // namespace oriel::sym
