#include "sym/knowledge.hpp"

#include <algorithm>
#include <unordered_set>

namespace oriel::sym {

void Knowledge::declare(Expr symbol, std::optional<std::int64_t> hint) {
  declared_.push_back(symbol);
  if (hint) hints_[symbol] = *hint;
  meaning_[symbol] = symbol;
  declared_of_[symbol] = symbol;
}

std::optional<std::vector<std::int64_t>> Knowledge::hints_of(std::span<const Expr> variables) const {
  std::vector<std::int64_t> values;
  for (const Expr variable : variables) {
    const auto found = hints_.find(variable);
    if (found == hints_.end()) return std::nullopt;
    values.push_back(found->second);
  }
  return values;
}

std::optional<bool> Knowledge::truth_at_hints(Expr condition) const {
  Program program(condition);
  const auto values = hints_of(program.variables());
  if (!values) return std::nullopt;
  const Outcome outcome = program.run(*values)[0];
  return outcome.fault == Outcome::Fault::none ? std::optional<bool>(outcome.value != 0) : std::nullopt;
}

// The facts that share a symbol with the condition, directly or through other facts.
std::vector<Expr> Knowledge::related(Expr condition) const {
  std::unordered_set<Expr> reached;
  for (const Expr variable : variables_of(condition)) reached.insert(variable);
  std::vector<Expr> found;
  std::vector<std::vector<Expr>> variables;
  for (const Fact& fact : facts_) variables.push_back(variables_of(fact.condition));
  std::vector<bool> taken(facts_.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < facts_.size(); ++k) {
      if (taken[k] || std::ranges::none_of(variables[k], [&](Expr v) { return reached.contains(v); })) continue;
      taken[k] = more = true;
      found.push_back(facts_[k].condition);
      reached.insert(variables[k].begin(), variables[k].end());
    }
  }
  return found;
}

void Knowledge::keep_witness(const Search& found, std::unordered_map<Expr, std::int64_t>& witness) const {
  std::unordered_map<Expr, std::int64_t> values = hints_;
  for (std::size_t k = 0; k < found.variables.size(); ++k) values[found.variables[k]] = found.values[k];
  for (const Expr symbol : declared_) {
    Program program(meaning_.at(symbol));
    std::vector<std::int64_t> inputs;
    for (const Expr variable : program.variables()) {
      const auto value = values.find(variable);
      if (value == values.end()) return witness.clear();
      inputs.push_back(value->second);
    }
    const Outcome outcome = program.run(inputs)[0];
    if (outcome.fault != Outcome::Fault::none) return witness.clear();
    witness[symbol] = outcome.value;
  }
}

std::optional<bool> Knowledge::decide(Expr condition, std::unordered_map<Expr, std::int64_t>* witness) const {
  const Expr asked = simplify(condition);
  if (asked->kind == Kind::truth) return asked->value != 0;
  std::vector<Expr> conditions = related(asked);
  for (const Expr fact : conditions) {
    if (fact == asked) return true;
    if (fact == logical_not(asked)) return false;
  }
  const std::optional<bool> at_hints = truth_at_hints(asked);
  // The facts can only imply the answer that the hints give.
  for (const bool answer : {true, false}) {
    if (at_hints && *at_hints != answer) continue;
    std::vector<Expr> counterexample{answer ? logical_not(asked) : asked};
    counterexample.insert(counterexample.end(), conditions.begin(), conditions.end());
    if (at_hints) {
      if (const auto start = hints_of(variables_of(counterexample))) {
        const Search near = search_near(counterexample, *start);
        if (near.verdict == Search::Verdict::found) {
          if (witness != nullptr) keep_witness(near, *witness);
          return std::nullopt;
        }
      }
    }
    if (contradicts(counterexample)) return answer;
    const Search boxes = search_boxes(counterexample);
    if (boxes.verdict == Search::Verdict::none) return answer;
    if (boxes.verdict == Search::Verdict::found && witness != nullptr && at_hints) keep_witness(boxes, *witness);
  }
  return std::nullopt;
}

}  // namespace oriel::sym
