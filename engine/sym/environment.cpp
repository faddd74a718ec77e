#include "sym/environment.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"
#include "sym/visit.hpp"

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

}  // namespace

Environment::Environment(ShapeEnv::Options its_options) : options(its_options) { pool.owner = this; }

Expr Environment::declare(std::string_view name, std::string_view source, std::optional<std::int64_t> hint,
                          Interval bounds) {
  if (!is_symbol_name(name)) {
    throw ArgumentError("symbol", "'" + std::string(name) + "' is no name; use letters, digits and underscores");
  }
  if (find(name) != nullptr) throw ArgumentError("symbol", "there is a symbol '" + std::string(name) + "' already");
  if (hint && !bounds.contains(*hint)) {
    throw ArgumentError("symbol", std::to_string(*hint) + " not in range " + to_string(bounds) + " of " +
                                      std::string(source.empty() ? name : source));
  }
  const Expr symbol = pool.symbol(name, bounds);
  symbols.push_back({symbol, std::string(source), hint});
  knowledge.declare(symbol, hint);
  return symbol;
}

Environment::Symbol* Environment::find(std::string_view name) {
  const auto found = std::ranges::find_if(symbols, [&](const Symbol& symbol) { return symbol.expr->name == name; });
  return found == symbols.end() ? nullptr : &*found;
}

Environment::Symbol* Environment::find(Expr symbol) {
  const auto found = std::ranges::find(symbols, symbol, &Symbol::expr);
  return found == symbols.end() ? nullptr : &*found;
}

bool Environment::has_unbacked(Expr e) const {
  const std::vector<Expr> variables = variables_of(e);
  return std::ranges::any_of(symbols, [&](const Symbol& symbol) {
    return !symbol.hint && std::ranges::find(variables, symbol.expr) != variables.end();
  });
}

std::int64_t Environment::at_hints(Expr e, const char* operation) const {
  std::unordered_map<Expr, std::int64_t> hints;
  for (const Symbol& symbol : symbols) {
    if (symbol.hint) hints[symbol.expr] = *symbol.hint;
  }
  return evaluate(e, [&](Expr variable) -> std::optional<std::int64_t> {
    const auto found = hints.find(variable);
    if (found != hints.end()) return found->second;
    const auto symbol = std::ranges::find(symbols, variable, &Symbol::expr);
    const std::string source = symbol != symbols.end() && !symbol->source.empty() ? " (" + symbol->source + ")" : "";
    throw DataDependentError(operation,
                             "'" + to_string(e) + "' depends on " + std::string(variable->name) + source +
                                 ", which is known only when the work runs; state it with expect_true, bound it with "
                                 "constrain_range, or ask with or_false or or_true");
  });
}

namespace {

// The line that branched, or that of the operation under way.
Site site_of_guard(Site site) { return site.file != nullptr ? site : detail::CallSite::current(); }

}  // namespace

std::optional<bool> Environment::known(Expr condition) const {
  return options.mode == ShapeEnv::Mode::quick ? known_quickly(condition) : knowledge.decide(condition);
}

std::optional<bool> Environment::known_quickly(Expr condition) const {
  if (condition->kind == Kind::truth) return condition->value != 0;
  const auto found = taken.find(condition);
  return found == taken.end() ? std::nullopt : std::optional(found->second);
}

bool Environment::take_quickly(Expr condition, Site site) {
  if (const auto answer = known_quickly(condition)) return *answer;
  const bool holds = at_hints(condition, "branch") != 0;
  const Expr opposite = logical_not(condition);
  guards.push_back({holds ? condition : opposite, site_of_guard(site), {}});
  taken[condition] = holds;
  taken[opposite] = !holds;
  return holds;
}

// Assumes that size-like symbols are at least 2. The general case, which this selects, is also correct for sizes 0 and
// 1.
std::optional<bool> Environment::known_size_oblivious(Expr condition) const {
  if (const auto answer = known(condition)) return answer;
  Knowledge assumed = knowledge;
  for (const Symbol& symbol : symbols) {
    if (!symbol.size_like || assumed.range_of(symbol.expr).hi < 2) continue;
    assumed.learn(ge(symbol.expr, symbol.expr->pool->constant(2)));
  }
  return assumed.decide(condition);
}

bool Environment::truth(Expr condition, Site site) {
  if (condition->kind == Kind::truth) return condition->value != 0;
  if (options.mode == ShapeEnv::Mode::trace) {
    const bool holds = at_hints(condition, "branch") != 0;
    guards.push_back({holds ? condition : logical_not(condition), site, {}});
    return holds;
  }
  if (options.mode == ShapeEnv::Mode::quick) return take_quickly(condition, site);
  const Expr replaced = knowledge.replaced(condition);
  if (replaced->kind == Kind::truth) return replaced->value != 0;
  std::unordered_map<Expr, std::int64_t> witness;
  if (const auto answer = knowledge.decide(condition, &witness)) return *answer;
  const bool holds = at_hints(replaced, "branch") != 0;
  record(holds ? replaced : logical_not(replaced), site_of_guard(site), std::move(witness));
  return holds;
}

std::int64_t Environment::value(Expr number, Site site) {
  if (number->kind == Kind::constant) return number->value;
  if (options.mode == ShapeEnv::Mode::trace) {
    const std::int64_t value = at_hints(number, "value");
    guards.push_back({eq(number, pool.constant(value)), site, {}});
    return value;
  }
  if (options.mode == ShapeEnv::Mode::quick) {
    const std::int64_t value = at_hints(number, "value");
    static_cast<void>(take_quickly(eq(number, pool.constant(value)), site));
    return value;
  }
  const Expr simple = knowledge.simplify(number);
  if (simple->bounds.is_point()) return simple->bounds.lo;
  const Expr replaced = knowledge.replaced(number);
  if (replaced->kind == Kind::constant) return replaced->value;
  const std::int64_t value = at_hints(replaced, "value");
  const Expr guard = eq(replaced, pool.constant(value));
  std::unordered_map<Expr, std::int64_t> witness;
  if (knowledge.decide(guard, &witness)) return value;
  record(guard, site_of_guard(site), std::move(witness));
  return value;
}

void Environment::record(Expr guard, Site site, std::unordered_map<Expr, std::int64_t> witness) {
  if (before_guard && !exploring) before_guard();
  guards.push_back({guard, site, std::move(witness)});
  if (call_frames && site.file == nullptr && !exploring)
    guards.back().frames = std::make_shared<const base::CallFrames>(base::CallFrames::here());
  knowledge.learn(guard);
  if (exploring) return;
  drop_implied_guards();
  if (!before_guard) limit_guards(site);
}

// Source: symbol_guard_limit_before_specialize of PyTorch 2. Here guards count that are still held.
void Environment::limit_guards(Site site) {
  if (!guards_per_symbol) return;
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    const Expr symbol = symbols[k].expr;
    const auto names_it = [&](const Guard& guard) {
      const std::vector<Expr> variables = variables_of(guard.condition);
      return std::ranges::find(variables, symbol) != variables.end();
    };
    if (!symbols[k].hint || knowledge.replaced(symbol)->is_constant()) continue;
    if (static_cast<std::size_t>(std::ranges::count_if(guards, names_it)) <= *guards_per_symbol) continue;
    static_cast<void>(value(symbol, site));
  }
}

bool divisors_known(const Knowledge& knowledge, Expr e) {
  bool known = true;
  visit(e, [&](Expr node) {
    if ((node->kind != Kind::floor_div && node->kind != Kind::mod) || !known) return;
    known = knowledge.decide(ne(node->args[1], node->pool->constant(0))).value_or(false);
  });
  return known;
}

// Drops older guards that the newest one makes redundant. A guard with a witness (values that satisfy all others but
// not it) is not implied by the others.
void Environment::drop_implied_guards() {
  const Expr newest = guards.back().condition;
  for (std::size_t k = 0; k + 1 < guards.size();) {
    Guard& guard = guards[k];
    if (!guard.witness.empty() && satisfies(newest, guard.witness)) {
      ++k;
      continue;
    }
    Knowledge others(pool);
    for (const Symbol& symbol : symbols) others.declare(symbol.expr, symbol.hint);
    for (const Expr constraint : constraints) others.learn(constraint);
    for (const Deferred& check : deferred) others.learn(check.condition);
    for (std::size_t other = 0; other < guards.size(); ++other) {
      if (other != k) others.learn(guards[other].condition);
    }
    guard.witness.clear();
    // A guard over a quotient also says that the divisor is not 0, for which another guard may have been dropped.
    if (others.decide(guard.condition, &guard.witness) && divisors_known(others, guard.condition)) {
      guards.erase(guards.begin() + std::ptrdiff_t(k));
    } else {
      ++k;
    }
  }
}

void Environment::expect(Expr condition, Site site) {
  const auto refuse = [&](Expr what) { throw ArgumentError("expect_true", "'" + to_string(what) + "' does not hold"); };
  if (condition->kind == Kind::truth) {
    if (condition->value == 0) refuse(condition);
    return;
  }
  const Expr replaced = knowledge.replaced(condition);
  if (const auto answer = knowledge.decide(condition)) {
    if (!*answer) refuse(condition);
    return;
  }
  if (!has_unbacked(replaced)) {
    if (at_hints(replaced, "expect_true") == 0) refuse(replaced);
    static_cast<void>(truth(condition, site));
    return;
  }
  Expr last = nullptr;  // by number: u10 after u9
  for (const Expr variable : variables_of(replaced)) {
    const Symbol* const symbol = find(variable);
    if (symbol != nullptr && !symbol->hint) last = variable;
  }
  knowledge.learn(replaced);
  deferred.push_back({replaced, last, site});
}

void Environment::constrain(Expr number, Interval bounds, Site) {
  if (bounds.empty()) {
    throw ArgumentError("constrain_range", "the range " + to_string(bounds) + " is empty; lo must not be above hi");
  }
  const Expr simple = knowledge.simplify(number);
  if (intersect(simple->bounds, bounds).empty()) {
    throw ArgumentError("constrain_range", to_string(number) + " is in " + to_string(simple->bounds) +
                                               ", not in range " + to_string(bounds));
  }
  if (!has_unbacked(number) && number->kind != Kind::constant) {
    const std::int64_t value = at_hints(number, "constrain_range");
    if (!bounds.contains(value)) {
      throw ArgumentError("constrain_range",
                          to_string(number) + " is " + std::to_string(value) + ", not in range " + to_string(bounds));
    }
  }
  Expr stated = pool.truth(true);
  if (bounds.has_lo()) stated = logical_and(stated, ge(number, pool.constant(bounds.lo)));
  if (bounds.has_hi()) stated = logical_and(stated, le(number, pool.constant(bounds.hi)));
  if (stated->kind == Kind::truth) return;
  knowledge.learn(stated);
  constraints.push_back(stated);
}

Environment& environment_of(Expr e) {
  if (e->pool == nullptr || e->pool->owner == nullptr) {
    throw ArgumentError("symbolic size", "'" + to_string(e) + "' belongs to no environment that could decide it");
  }
  return *static_cast<Environment*>(e->pool->owner);
}

bool truth_of(Expr condition, Site site) {
  if (condition->kind == Kind::truth) return condition->value != 0;
  Environment& environment = environment_of(condition);
  if (environment.options.mode == ShapeEnv::Mode::trace) {
    // make_condition() gave this object a node of its own.
    bool& guarded = const_cast<Node*>(condition)->guarded;
    if (guarded) return environment.at_hints(condition, "branch") != 0;
    guarded = true;
  }
  return environment.truth(condition, site);
}

std::int64_t value_of(Expr number, Site site) {
  return number->kind == Kind::constant ? number->value : environment_of(number).value(number, site);
}

SymBool make_condition(Expr condition) {
  if (condition->kind != Kind::truth && condition->pool->owner != nullptr &&
      environment_of(condition).options.mode == ShapeEnv::Mode::trace) {
    return SymBool(condition->pool->copy(condition));
  }
  return SymBool(condition);
}

Expr expression_in(Environment& environment, SymInt n) {
  if (n.node() == nullptr) return environment.pool.constant(n.value());
  if (n.node()->pool != &environment.pool) {
    throw ArgumentError("symbolic size", "'" + to_string(n) + "' belongs to another environment");
  }
  return n.node();
}

Expr expression_in(Environment& environment, SymBool condition) {
  if (!condition.is_symbolic()) return environment.pool.truth(static_cast<bool>(condition));
  if (condition.node()->pool != &environment.pool) {
    throw ArgumentError("symbolic size", "'" + to_string(condition) + "' belongs to another environment");
  }
  return condition.node();
}

}  // namespace oriel::sym
