// The contents of a ShapeEnv, and how conditions over its symbols become bools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/call_frames.hpp"
#include "oriel/shape_env.hpp"
#include "oriel/symint.hpp"
#include "sym/knowledge.hpp"
#include "sym/node.hpp"

namespace oriel::sym {

/// The symbols of an environment, in the order of their declaration. No two have the same name.
class SymbolTable {
 public:
  struct Symbol {
    Expr expr;
    std::string source;
    std::optional<std::int64_t> hint;
    bool size_like = false;
  };

  const std::vector<Symbol>& all() const noexcept { return list_; }
  /// A new symbol of the pool.
  Expr declare(Pool& pool, std::string_view name, std::string_view source, std::optional<std::int64_t> hint,
               Interval bounds);
  Symbol* find(std::string_view name);
  Symbol* find(Expr symbol);

  /// @{
  /// A name that no symbol has: "s0", "s1" and so on for sizes with a hint, "u0", "u1" and so on for numbers without.
  std::string new_size_name() { return new_name('s', sizes_); }
  std::string new_unbacked_name() { return new_name('u', unbacked_); }
  /// @}

  /// The symbol that stands for all shared sizes of this hint; null if there is none.
  Expr shared_size(std::int64_t hint) const;
  void share_size(std::int64_t hint, Expr symbol) { shared_sizes_[hint] = symbol; }

  /// Evaluates with the hints alone. Throws DataDependentError if a symbol has no hint.
  std::int64_t at_hints(Expr e, const char* operation) const;
  bool has_unbacked(Expr e) const;
  /// Gives these symbols other hints, if they have one.
  void set_hints(const std::unordered_map<Expr, std::int64_t>& hints);
  /// Puts back the symbols that all() gave earlier.
  void restore(const std::vector<Symbol>& symbols) { list_ = symbols; }

 private:
  std::string new_name(char prefix, std::int64_t& number);

  std::vector<Symbol> list_;
  std::unordered_map<std::int64_t, Expr> shared_sizes_;  // by hint
  std::int64_t sizes_ = 0;
  std::int64_t unbacked_ = 0;
};

/// The guards that an environment has recorded, in the order in which they were asked. In Mode::quick they answer the
/// conditions that were asked, and the opposites.
class RecordedGuards {
 public:
  struct Guard {
    Expr condition;
    Site site;
    /// Values of all symbols that satisfy every other guard but not this one; empty if none are known.
    std::unordered_map<Expr, std::int64_t> witness;
    std::shared_ptr<const base::CallFrames> frames = {};  // if call_frames is set and the line is unknown
  };

  const std::vector<Guard>& all() const noexcept { return list_; }
  void add(Guard guard) { list_.push_back(std::move(guard)); }
  void set_last_site(Site site) { list_.back().site = site; }
  void clear();

  /// The number of guards that name the symbol.
  std::size_t count_of(Expr symbol) const;
  /// Drops older guards that the newest one makes redundant. `stated` gives what is known without guards.
  void drop_implied(const std::function<Knowledge()>& stated);

  /// @{
  /// In Mode::quick.
  std::optional<bool> answer(Expr condition) const;
  /// Adds the guard that the condition holds, or does not.
  void add_answer(Expr condition, bool holds, Site site);
  /// @}

 private:
  std::vector<Guard> list_;
  std::unordered_map<Expr, bool> answers_;  // the conditions that guards decide
};

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
