#include "sym/knowledge.hpp"

#include <algorithm>
#include <unordered_set>

#include "oriel/error.hpp"
#include "sym/print.hpp"
#include "sym/visit.hpp"

namespace oriel::sym {
namespace {

std::optional<bool> truth_at_hints(const Meanings& meanings, Expr condition) {
  Program program(condition);
  const auto values = meanings.hints_of(program.variables());
  if (!values) return std::nullopt;
  const Outcome outcome = program.run(*values)[0];
  return outcome.fault == Outcome::Fault::none ? std::optional<bool>(outcome.value != 0) : std::nullopt;
}

}  // namespace

void Meanings::declare(Expr symbol, std::optional<std::int64_t> hint) {
  declared_.push_back(symbol);
  if (hint) hints_[symbol] = *hint;
  meaning_[symbol] = symbol;
  declared_of_[symbol] = symbol;
}

std::optional<std::int64_t> Meanings::hint_of(Expr variable) const {
  const auto found = hints_.find(variable);
  return found == hints_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<std::int64_t>> Meanings::hints_of(std::span<const Expr> variables) const {
  std::vector<std::int64_t> values;
  for (const Expr variable : variables) {
    const auto found = hints_.find(variable);
    if (found == hints_.end()) return std::nullopt;
    values.push_back(found->second);
  }
  return values;
}

void Meanings::keep_witness(const Search& found, std::unordered_map<Expr, std::int64_t>& witness) const {
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

void Meanings::add_version(Expr variable, Expr version) {
  if (const auto hint = hints_.find(variable); hint != hints_.end()) hints_[version] = hint->second;
  if (const auto symbol = declared_of_.find(variable); symbol != declared_of_.end())
    declared_of_[version] = symbol->second;
}

void Meanings::replace(const Replacements& replacement) {
  for (auto& [symbol, meaning] : meaning_) meaning = substitute(meaning, replacement);
}

void Meanings::update_replacements() {
  replacements_.clear();
  Replacements originals;
  for (const auto& [version, symbol] : declared_of_) originals[version] = symbol;
  for (const Expr symbol : declared_) {
    const Expr meaning = meaning_.at(symbol);
    if (meaning->is_variable()) {
      const auto original = declared_of_.find(meaning);
      if (original == declared_of_.end() || original->second == symbol) continue;
    }
    const std::vector<Expr> variables = variables_of(meaning);
    // Not a replacement, because it names a quotient: it is reported as a condition.
    if (std::ranges::any_of(variables, [&](Expr v) { return !declared_of_.contains(v); })) continue;
    replacements_[symbol] = substitute(meaning, originals);
  }
}

void Facts::throw_contradiction(Expr condition) {
  throw ArgumentError("symbolic size", "'" + to_string(condition) + "' contradicts what is known of its symbols");
}

std::vector<Expr> Facts::related(Expr condition) const {
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

void Facts::add(Expr condition) {
  if (condition->kind == Kind::truth) {
    if (condition->value == 0) throw_contradiction(condition);
    return;
  }
  if (condition->kind == Kind::logical_and) {
    for (const Expr part : condition->args) add(part);
    return;
  }
  if (std::ranges::find(facts_, condition, &Fact::condition) == facts_.end()) facts_.push_back({condition});
}

void Facts::add(const Facts& others, const Replacements& replacement) {
  for (const Fact& fact : others.facts_) {
    const Expr condition = substitute(fact.condition, replacement);
    if (condition->kind == Kind::truth && condition->value == 0) throw_contradiction(fact.condition);
    const bool kept = condition == fact.condition && fact.examined;
    const std::size_t count = facts_.size();
    add(condition);
    if (kept && facts_.size() > count) facts_.back().examined = true;
  }
}

std::optional<bool> Knowledge::decide(Expr condition, std::unordered_map<Expr, std::int64_t>* witness) const {
  const Expr asked = simplify(condition);
  if (asked->kind == Kind::truth) return asked->value != 0;
  std::vector<Expr> conditions = facts_.related(asked);
  for (const Expr fact : conditions) {
    if (fact == asked) return true;
    if (fact == logical_not(asked)) return false;
  }
  const std::optional<bool> at_hints = truth_at_hints(meanings_, asked);
  // The facts can only imply the answer that the hints give.
  for (const bool answer : {true, false}) {
    if (at_hints && *at_hints != answer) continue;
    std::vector<Expr> counterexample{answer ? logical_not(asked) : asked};
    counterexample.insert(counterexample.end(), conditions.begin(), conditions.end());
    if (at_hints) {
      if (const auto start = meanings_.hints_of(variables_of(counterexample))) {
        const Search near = search_near(counterexample, *start);
        if (near.verdict == Search::Verdict::found) {
          if (witness != nullptr) meanings_.keep_witness(near, *witness);
          return std::nullopt;
        }
      }
    }
    if (contradicts(counterexample)) return answer;
    const Search boxes = search_boxes(counterexample);
    if (boxes.verdict == Search::Verdict::none) return answer;
    if (boxes.verdict == Search::Verdict::found && witness != nullptr && at_hints)
      meanings_.keep_witness(boxes, *witness);
  }
  return std::nullopt;
}

bool divisors_known(const Knowledge& knowledge, Expr e) {
  bool known = true;
  visit(e, [&](Expr node) {
    if ((node->kind != Kind::floor_div && node->kind != Kind::mod) || !known) return;
    known = knowledge.decide(ne(node->args[1], node->pool->constant(0))).value_or(false);
  });
  return known;
}

}  // namespace oriel::sym
