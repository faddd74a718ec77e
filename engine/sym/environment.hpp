// The contents of a ShapeEnv, and how conditions over its symbols become bools.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oriel/shape_env.hpp"
#include "sym/knowledge.hpp"
#include "sym/node.hpp"
#include "sym/recorded_guards.hpp"
#include "sym/symbol_table.hpp"

namespace oriel::sym {

struct Environment {
  using Symbol = SymbolTable::Symbol;
  using Guard = RecordedGuards::Guard;
  struct Deferred {
    Expr condition;
    Expr symbol;
    Site site;
    std::string operation;  // that stated it
  };

  explicit Environment(ShapeEnv::Options its_options);

  ShapeEnv::Options options;
  Pool pool;
  Knowledge knowledge{pool};
  SymbolTable symbols;
  RecordedGuards guards;
  std::vector<Deferred> deferred;
  std::vector<Expr> constraints;  ///< the ranges stated for symbols
  std::vector<ShapeEnv::EntryCheck> entry_checks;
  std::optional<std::size_t> guards_per_symbol;  // with one more a symbol is fixed to its hint; none: no limit
  std::function<void()> before_guard;            // called before each guard is recorded (sym/needed.hpp)
  bool call_frames = false;                      // guards of unknown lines keep the calls that led to them
  bool exploring = false;                        // a procedure is tried for other values: its guards are not kept
  bool ended = false;                            // of a trace that is over: decides nothing any more

  Expr declare(std::string_view name, std::string_view source, std::optional<std::int64_t> hint, Interval bounds);

  bool truth(Expr condition, Site site);
  std::int64_t value(Expr number, Site site);
  std::optional<bool> known(Expr condition) const;
  /// In Mode::quick.
  bool take_quickly(Expr condition, Site site);
  std::optional<bool> known_size_oblivious(Expr condition) const;
  void expect(Expr condition, Site site, std::string_view operation = "expect_true");
  /// Takes a condition for known that holds for all values which its symbols can have.
  void assume(Expr condition) { knowledge.learn(condition); }
  void constrain(Expr number, Interval bounds, Site site);
  void state_divisor(Expr divisor, const char* operation, Site site);

  void record(Expr guard, Site site, std::unordered_map<Expr, std::int64_t> witness);
  /// Fixes each symbol that more than guards_per_symbol guards name. A guard at `site` was the last one.
  void limit_guards(Site site);
};

/// The environment of a symbolic expression.
Environment& environment_of(Expr e);
/// Turns a condition into a bool and records what the environment's mode asks for.
bool truth_of(Expr condition, Site site);
std::int64_t value_of(Expr number, Site site);
/// The program has divided something by `divisor`, which then is not 0: a guard, or for symbols without a hint a
/// statement, unless it is known. Throws ArgumentError if it is 0. Without effect in a pool without an environment, in
/// the modes that learn nothing, and inside operations of the engine.
void state_divisor(Expr divisor, const char* operation, Site site);
/// The condition as a SymBool. In a trace each SymBool remembers whether it was asked.
SymBool make_condition(Expr condition);
/// The expression of `n` in the environment's pool. Throws ArgumentError if it belongs to another environment.
Expr expression_in(Environment& environment, SymInt n);
Expr expression_in(Environment& environment, SymBool condition);

}  // namespace oriel::sym
