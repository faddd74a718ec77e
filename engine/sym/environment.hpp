// The contents of a ShapeEnv, and how conditions over its symbols become bools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/call_frames.hpp"
#include "oriel/shape_env.hpp"
#include "sym/knowledge.hpp"
#include "sym/node.hpp"

namespace oriel::sym {

struct Environment {
  struct Symbol {
    Expr expr;
    std::string source;
    std::optional<std::int64_t> hint;
    bool size_like = false;
  };
  struct Guard {
    Expr condition;
    Site site;
    /// Values of all symbols that satisfy every other guard but not this one; empty if none are known.
    std::unordered_map<Expr, std::int64_t> witness;
    std::shared_ptr<const base::CallFrames> frames = {};  // if call_frames is set and the line is unknown
  };
  struct Deferred {
    Expr condition;
    Expr symbol;
    Site site;
  };

  explicit Environment(ShapeEnv::Options its_options);

  ShapeEnv::Options options;
  Pool pool;
  Knowledge knowledge{pool};
  std::vector<Symbol> symbols;
  std::vector<Guard> guards;
  std::unordered_map<Expr, bool> taken;  // in Mode::quick: the conditions that guards decide
  std::vector<Deferred> deferred;
  std::vector<Expr> constraints;  ///< the ranges stated for symbols
  std::vector<ShapeEnv::EntryCheck> entry_checks;
  std::unordered_map<std::int64_t, Expr> shared_sizes;  // by hint
  std::int64_t sizes = 0;
  std::int64_t unbacked = 0;
  std::optional<std::size_t> guards_per_symbol;  // with one more a symbol is fixed to its hint; none: no limit
  std::function<void()> before_guard;            // called before each guard is recorded (sym/needed.hpp)
  bool call_frames = false;                      // guards of unknown lines keep the calls that led to them
  bool exploring = false;                        // a procedure is tried for other values: its guards are not kept

  Expr declare(std::string_view name, std::string_view source, std::optional<std::int64_t> hint, Interval bounds);
  Symbol* find(std::string_view name);
  Symbol* find(Expr symbol);

  bool truth(Expr condition, Site site);
  std::int64_t value(Expr number, Site site);
  std::optional<bool> known(Expr condition) const;
  /// @{
  /// In Mode::quick.
  std::optional<bool> known_quickly(Expr condition) const;
  bool take_quickly(Expr condition, Site site);
  /// @}
  std::optional<bool> known_size_oblivious(Expr condition) const;
  void expect(Expr condition, Site site);
  void constrain(Expr number, Interval bounds, Site site);

  /// Evaluates with the hints alone. Throws DataDependentError if a symbol has no hint.
  std::int64_t at_hints(Expr e, const char* operation) const;
  bool has_unbacked(Expr e) const;
  void record(Expr guard, Site site, std::unordered_map<Expr, std::int64_t> witness);
  void drop_implied_guards();
  /// Fixes each symbol that more than guards_per_symbol guards name. A guard at `site` was the last one.
  void limit_guards(Site site);
};

/// True if all divisors of the expression are known not to be 0.
bool divisors_known(const Knowledge& knowledge, Expr e);

/// The environment of a symbolic expression.
Environment& environment_of(Expr e);
/// Turns a condition into a bool and records what the environment's mode asks for.
bool truth_of(Expr condition, Site site);
std::int64_t value_of(Expr number, Site site);
/// The condition as a SymBool. In a trace each SymBool remembers whether it was asked.
SymBool make_condition(Expr condition);
/// The expression of `n` in the environment's pool. Throws ArgumentError if it belongs to another environment.
Expr expression_in(Environment& environment, SymInt n);
Expr expression_in(Environment& environment, SymBool condition);

}  // namespace oriel::sym
