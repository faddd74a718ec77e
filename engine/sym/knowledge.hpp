// The facts about the symbols of an environment, and their consequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sym/build.hpp"
#include "sym/node.hpp"
#include "sym/program.hpp"
#include "sym/refute.hpp"

namespace oriel::sym {

/// What the declared symbols of an environment stand for. A symbol stands for an expression over other symbols:
/// narrower versions of itself, and names for quotients that are exact (s for 4*(s // 4)). A meaning names only symbols
/// that nothing has replaced.
class Meanings {
 public:
  /// A symbol may have a hint.
  void declare(Expr symbol, std::optional<std::int64_t> hint);

  /// `e` over the remaining symbols; a constant if all its symbols are known.
  Expr simplify(Expr e) const { return substitute(e, meaning_); }
  /// `e` with solved symbols replaced by constants and expressions over other declared symbols.
  Expr replaced(Expr e) const { return substitute(e, replacements_); }
  const Replacements& replacements() const noexcept { return replacements_; }
  /// The bounds of what the declared symbol stands for.
  Interval range_of(Expr symbol) const { return meaning_.at(symbol)->bounds; }

  std::optional<std::int64_t> hint_of(Expr variable) const;
  /// nullopt if one of the variables has no hint.
  std::optional<std::vector<std::int64_t>> hints_of(std::span<const Expr> variables) const;
  void set_hint(Expr variable, std::int64_t hint) { hints_[variable] = hint; }
  /// `witness` receives the values that the declared symbols have for the values found. It becomes empty if a symbol
  /// has no value.
  void keep_witness(const Search& found, std::unordered_map<Expr, std::int64_t>& witness) const;

  /// Says that `version` is a narrower version of the variable.
  void add_version(Expr variable, Expr version);
  void replace(const Replacements& replacement);
  /// Brings replaced() up to date with the meanings.
  void update_replacements();

 private:
  std::vector<Expr> declared_;
  std::unordered_map<Expr, std::int64_t> hints_;  // of declared symbols and of the symbols that replace them
  Replacements meaning_;                          // of declared symbols
  Replacements replacements_;
  std::unordered_map<Expr, Expr> declared_of_;  // maps a version of a symbol to the symbol
};

/// A list of conditions that hold. No condition is added twice. A condition that is added is neither a conjunction nor
/// a truth value.
class Facts {
 public:
  struct Fact {
    Expr condition;
    bool examined = false;  // by the procedures that are too slow to run twice
  };

  std::size_t size() const noexcept { return facts_.size(); }
  Fact& operator[](std::size_t k) { return facts_[k]; }
  /// The facts that share a symbol with the condition, directly or through other facts.
  std::vector<Expr> related(Expr condition) const;

  void add(Expr condition);
  /// Adds the other facts after the replacement.
  void add(const Facts& others, const Replacements& replacement);
  [[noreturn]] static void throw_contradiction(Expr condition);

 private:
  std::vector<Fact> facts_;
};

/// Facts about symbols. Learning a fact replaces symbols that an equality solves, narrows ranges, and keeps the rest as
/// conditions over the remaining symbols.
class Knowledge {
 public:
  explicit Knowledge(Pool& pool) : pool_(&pool) {}

  /// A symbol may have a hint. Every fact about the symbol holds for its hint.
  void declare(Expr symbol, std::optional<std::int64_t> hint) { meanings_.declare(symbol, hint); }

  /// `e` over the remaining symbols; a constant if all its symbols are known.
  Expr simplify(Expr e) const { return meanings_.simplify(e); }
  /// `e` with solved symbols replaced by constants and expressions over other declared symbols.
  Expr replaced(Expr e) const { return meanings_.replaced(e); }
  const Replacements& replacements() const noexcept { return meanings_.replacements(); }
  /// An interval that contains every possible value of the declared symbol.
  Interval range_of(Expr symbol) const { return meanings_.range_of(symbol); }

  /// The truth value of the condition if the facts decide it. If they do not, `witness` (unless null) receives values
  /// of declared symbols that satisfy all facts and give the condition another value than the hints do. It stays empty
  /// if no such values were found.
  std::optional<bool> decide(Expr condition, std::unordered_map<Expr, std::int64_t>* witness = nullptr) const;

  /// Adds a fact. Throws ArgumentError if it contradicts the other facts; do not use the object after that.
  void learn(Expr condition);

 private:
  // Learning: each returns whether something was replaced.
  bool learn_from(const Facts::Fact& fact);
  bool learn_equality(Expr a, Expr b);
  bool learn_remainder(const Terms& terms);
  bool learn_inequality(Expr not_negative);
  bool learn_difference(Expr a, Expr b);
  bool examine(Facts::Fact& fact);
  bool narrow(Expr variable, Interval to);
  void replace(Expr variable, Expr by);

  Pool* pool_;
  Meanings meanings_;
  Facts facts_;
  std::int64_t quotients_ = 0;
};

/// True if all divisors of the expression are known not to be 0.
bool divisors_known(const Knowledge& knowledge, Expr e);

}  // namespace oriel::sym
