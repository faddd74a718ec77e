#include "sym/environment.hpp"

#include <utility>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/print.hpp"

namespace oriel::sym {
namespace {

// The line that branched, or that of the operation under way.
Site site_of_guard(Site site) { return site.file != nullptr ? site : detail::CallSite::current(); }

}  // namespace

Environment::Environment(ShapeEnv::Options its_options) : options(its_options) { pool.owner = this; }

Expr Environment::declare(std::string_view name, std::string_view source, std::optional<std::int64_t> hint,
                          Interval bounds) {
  const Expr symbol = symbols.declare(pool, name, source, hint, bounds);
  knowledge.declare(symbol, hint);
  return symbol;
}

std::optional<bool> Environment::known(Expr condition) const {
  return options.mode == ShapeEnv::Mode::quick ? guards.answer(condition) : knowledge.decide(condition);
}

bool Environment::take_quickly(Expr condition, Site site) {
  if (const auto answer = guards.answer(condition)) return *answer;
  const bool holds = symbols.at_hints(condition, "branch") != 0;
  guards.add_answer(condition, holds, site_of_guard(site));
  return holds;
}

// Assumes that size-like symbols are at least 2. The general case, which this selects, is also correct for sizes 0 and
// 1.
std::optional<bool> Environment::known_size_oblivious(Expr condition) const {
  if (const auto answer = known(condition)) return answer;
  Knowledge assumed = knowledge;
  for (const Symbol& symbol : symbols.all()) {
    if (!symbol.size_like || assumed.range_of(symbol.expr).hi < 2) continue;
    assumed.learn(ge(symbol.expr, symbol.expr->pool->constant(2)));
  }
  return assumed.decide(condition);
}

bool Environment::truth(Expr condition, Site site) {
  if (condition->kind == Kind::truth) return condition->value != 0;
  if (options.mode == ShapeEnv::Mode::trace) {
    const bool holds = symbols.at_hints(condition, "branch") != 0;
    guards.add({holds ? condition : logical_not(condition), site, {}});
    return holds;
  }
  if (options.mode == ShapeEnv::Mode::quick) return take_quickly(condition, site);
  const Expr replaced = knowledge.replaced(condition);
  if (replaced->kind == Kind::truth) return replaced->value != 0;
  std::unordered_map<Expr, std::int64_t> witness;
  if (const auto answer = knowledge.decide(condition, &witness)) return *answer;
  const bool holds = symbols.at_hints(replaced, "branch") != 0;
  record(holds ? replaced : logical_not(replaced), site_of_guard(site), std::move(witness));
  return holds;
}

std::int64_t Environment::value(Expr number, Site site) {
  if (number->kind == Kind::constant) return number->value;
  if (options.mode == ShapeEnv::Mode::trace) {
    const std::int64_t value = symbols.at_hints(number, "value");
    guards.add({eq(number, pool.constant(value)), site, {}});
    return value;
  }
  if (options.mode == ShapeEnv::Mode::quick) {
    const std::int64_t value = symbols.at_hints(number, "value");
    static_cast<void>(take_quickly(eq(number, pool.constant(value)), site));
    return value;
  }
  const Expr simple = knowledge.simplify(number);
  if (simple->bounds.is_point()) return simple->bounds.lo;
  const Expr replaced = knowledge.replaced(number);
  if (replaced->kind == Kind::constant) return replaced->value;
  const std::int64_t value = symbols.at_hints(replaced, "value");
  const Expr guard = eq(replaced, pool.constant(value));
  std::unordered_map<Expr, std::int64_t> witness;
  if (knowledge.decide(guard, &witness)) return value;
  record(guard, site_of_guard(site), std::move(witness));
  return value;
}

void Environment::record(Expr guard, Site site, std::unordered_map<Expr, std::int64_t> witness) {
  if (before_guard && !exploring) before_guard();
  Guard made{guard, site, std::move(witness)};
  if (call_frames && site.file == nullptr && !exploring)
    made.frames = std::make_shared<const base::CallFrames>(base::CallFrames::here());
  guards.add(std::move(made));
  knowledge.learn(guard);
  if (exploring) return;
  guards.drop_implied([&] {
    Knowledge stated(pool);
    for (const Symbol& symbol : symbols.all()) stated.declare(symbol.expr, symbol.hint);
    // A deferred check proves no guard needless: a call that breaks both takes another trace, which may state less.
    for (const Expr constraint : constraints) stated.learn(constraint);
    return stated;
  });
  if (!before_guard) limit_guards(site);
}

// Source: symbol_guard_limit_before_specialize of PyTorch 2. Here guards count that are still held.
void Environment::limit_guards(Site site) {
  if (!guards_per_symbol) return;
  // By number: taking a guard may put back an earlier list.
  for (std::size_t k = 0; k < symbols.all().size(); ++k) {  // NOLINT(modernize-loop-convert)
    const Expr symbol = symbols.all()[k].expr;
    if (!symbols.all()[k].hint || knowledge.replaced(symbol)->is_constant()) continue;
    if (guards.count_of(symbol) <= *guards_per_symbol) continue;
    static_cast<void>(value(symbol, site));
  }
}

void Environment::expect(Expr condition, Site site, std::string_view operation) {
  const auto refuse = [&](Expr what) { throw ArgumentError(operation, "'" + to_string(what) + "' does not hold"); };
  if (condition->kind == Kind::truth) {
    if (condition->value == 0) refuse(condition);
    return;
  }
  const Expr replaced = knowledge.replaced(condition);
  if (const auto answer = knowledge.decide(condition)) {
    if (!*answer) refuse(condition);
    return;
  }
  if (!symbols.has_unbacked(replaced)) {
    if (symbols.at_hints(replaced, std::string(operation).c_str()) == 0) refuse(replaced);
    static_cast<void>(truth(condition, site));
    return;
  }
  Expr last = nullptr;  // by number: u10 after u9
  for (const Expr variable : variables_of(replaced)) {
    const Symbol* const symbol = symbols.find(variable);
    if (symbol != nullptr && !symbol->hint) last = variable;
  }
  knowledge.learn(replaced);
  deferred.push_back({replaced, last, site_of_guard(site), std::string(operation)});
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
  if (!symbols.has_unbacked(number) && number->kind != Kind::constant) {
    const std::int64_t value = symbols.at_hints(number, "constrain_range");
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

void Environment::state_divisor(Expr divisor, const char* operation, Site site) {
  const Expr holds = ne(divisor, pool.constant(0));
  const bool counted = symbols.has_unbacked(knowledge.replaced(divisor));
  if (counted && known(holds).value_or(true)) return expect(holds, site);
  if (!counted && truth(holds, site)) return;
  throw ArgumentError(operation, "a size by '" + to_string(divisor) + "', which is 0; the divisor must not be 0");
}

Environment& environment_of(Expr e) {
  if (e->pool == nullptr || e->pool->owner == nullptr) {
    throw ArgumentError("symbolic size", "'" + to_string(e) + "' belongs to no environment that could decide it");
  }
  return *static_cast<Environment*>(e->pool->owner);
}

namespace {

// Other threads read what a finished trace has recorded.
Environment& undecided_environment_of(Expr e) {
  Environment& environment = environment_of(e);
  if (environment.ended) {
    throw ArgumentError("symbolic size",
                        "'" + to_string(e) +
                            "' is a size of a captured function's trace, which has ended: it has no value outside of "
                            "it; return it from the function, which makes it a number of each call");
  }
  return environment;
}

}  // namespace

bool truth_of(Expr condition, Site site) {
  if (condition->kind == Kind::truth) return condition->value != 0;
  Environment& environment = undecided_environment_of(condition);
  if (environment.options.mode == ShapeEnv::Mode::trace) {
    // make_condition() gave this object a node of its own.
    bool& guarded = const_cast<Node*>(condition)->guarded;
    if (guarded) return environment.symbols.at_hints(condition, "branch") != 0;
    guarded = true;
  }
  return environment.truth(condition, site);
}

void state_divisor(Expr divisor, const char* operation, Site site) {
  if (divisor->pool->owner == nullptr || !divisor->bounds.contains(0)) return;
  // Inside an operation, and inside a procedure whose guards are weighed, the engine divides: it has looked at what may
  // be 0. The other modes record what is asked, and nothing else.
  const Environment& environment = environment_of(divisor);
  if (environment.options.mode != ShapeEnv::Mode::minimal || environment.exploring || environment.before_guard ||
      detail::CallSite::current().file != nullptr)
    return;
  undecided_environment_of(divisor).state_divisor(divisor, operation, site);
}

std::int64_t value_of(Expr number, Site site) {
  return number->kind == Kind::constant ? number->value : undecided_environment_of(number).value(number, site);
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
