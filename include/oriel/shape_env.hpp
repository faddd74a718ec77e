// Symbolic sizes: an environment that owns symbols and the guards of the decisions taken on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/site.hpp"
#include "oriel/symint.hpp"

namespace oriel::sym {
struct Environment;
}

namespace ORIEL_API oriel {

/// How the size of one dimension of an input becomes a SymInt.
enum class SizePolicy {
  fixed,     ///< a plain number; each other number is another program
  duck,      ///< a symbol, shared by all sizes that have the same hint
  dynamic,   ///< a symbol of its own
  unbacked,  ///< a symbol without a hint, at least 0
};

/// Bounds, both included; without a value there is none.
struct SymBounds {
  std::optional<std::int64_t> lo = {};  ///< the least value
  std::optional<std::int64_t> hi = {};  ///< the greatest value
};

/// Holds symbols, their hints (the values of this call), and what is known of them. Where a program turns a condition
/// over symbols into a bool, the environment
///   1. puts in what is known (s0 == 4 makes s0 the number 4) and folds constants,
///   2. answers where the symbols' ranges and the guards so far decide it for all values: nothing is recorded,
///   3. refuses conditions on unbacked symbols, which have no hint (DataDependentError),
///   4. else answers by the hints and records the condition, or its negation, as a guard,
///   5. and learns from it: equalities replace symbols, inequalities narrow ranges.
/// So the program takes the same way for all values that satisfy the guards. Guards that others imply are dropped.
///
///   oriel::ShapeEnv env;
///   oriel::SymInt s = env.symbol("s0", 12, {2, {}});
///   if (s % 4 == 0) ...        // true; env.guards() is {"s0 % 4 == 0"}
///   if (s % 2 == 0) ...        // true, for all values that pass the guard: nothing is added
///
/// The symbols and all expressions of them belong to the environment. Using one after its end is an ArgumentError.
/// Threads may each use an environment of their own; one environment serves one thread at a time.
class ShapeEnv {
 public:
  /// What is recorded.
  enum class Mode {
    minimal,  ///< as above
    trace,    ///< of steps 1 to 5 the fourth alone: every SymBool object records its condition once
    quick,    ///< decides what canonical form and the symbols' own ranges tell, learns nothing: guards may imply others
  };
  /// How an environment works.
  struct Options {
    Mode mode = Mode::minimal;        ///< which guards are recorded
    bool specialize_zero_one = true;  ///< sizes 0 and 1 become numbers, and symbols are at least 2
    bool duck_shape = true;           ///< SizePolicy::duck shares symbols
  };

  /// An environment without symbols.
  ShapeEnv();
  /// An environment without symbols, with options.
  explicit ShapeEnv(Options options);
  ~ShapeEnv();
  /// Symbols and expressions go along: they stay valid.
  ShapeEnv(ShapeEnv&&) noexcept;
  /// Symbols and expressions go along: they stay valid.
  ShapeEnv& operator=(ShapeEnv&&) noexcept;

  // Symbols. Names are identifiers, each once; `source` says in words where a value comes from.

  /// A symbol with a hint. Throws ArgumentError where the hint is outside of the bounds.
  SymInt symbol(std::string_view name, std::int64_t hint, SymBounds bounds = {}, std::string_view source = {});
  /// A symbol without a hint, such as a count that depends on data; named u0, u1, ... unless it is given.
  SymInt unbacked(std::string_view source = {}, std::string_view name = {});
  /// The size of one dimension of an input, named s0, s1, ...: symbols are at least 2 (0 without specialize_zero_one).
  /// Under specialize_zero_one a size 0 or 1 is that number. What the policy takes for granted is kept in
  /// entry_checks().
  SymInt size(std::int64_t hint, std::string_view source, SizePolicy policy = SizePolicy::duck);
  /// The same for a dimension that a user marked as dynamic between bounds: a number where they are equal. Throws
  /// ArgumentError where the hint is not between them, or is specialised.
  SymInt marked_size(std::int64_t hint, std::string_view source, SymBounds bounds);
  /// An integer argument that is no size: any value, never specialised.
  SymInt integer(std::int64_t hint, std::string_view source);

  // Deciding. `site` is the line that a guard names.

  /// What turning the condition into a bool does, naming the caller's line.
  bool guard(SymBool condition, Site site = Site::here());
  /// The value of `n` for the hints, guarded.
  std::int64_t guard(SymInt n, Site site = Site::here());
  /// The truth value if it is the same for all values in range that satisfy the guards; records nothing.
  std::optional<bool> known(SymBool condition) const;
  /// known(), or false where that has no answer.
  bool or_false(SymBool condition) const { return known(condition).value_or(false); }
  /// known(), or true where that has no answer.
  bool or_true(SymBool condition) const { return known(condition).value_or(true); }
  /// As guard(), but size-like unbacked symbols are taken to be at least 2 where that decides.
  bool guard_size_oblivious(SymBool condition, Site site = Site::here());

  // Unbacked symbols.

  /// States lo <= n <= hi (no bound where a value is missing), which is checked at run time; no guard. Throws
  /// ArgumentError for lo > hi, and for a plain number that is outside.
  void constrain_range(SymInt n, SymBounds bounds, Site site = Site::here());
  /// States that `n` is used as a size: at least 0.
  void constrain_size(SymInt n, Site site = Site::here());
  /// States a condition. One on symbols with hints becomes a guard; one on unbacked symbols is checked at run time,
  /// once they are known. Throws ArgumentError where it is known to be false.
  void expect_true(SymBool condition, Site site = Site::here());

  // What was recorded.

  /// A condition that the trace depends on.
  struct Guard {
    SymBool condition;  ///< over the symbols
    Site site;          ///< the line that branched; unknown where only a conversion to bool did
    /// The condition in infix.
    std::string str() const;
  };
  /// In the order in which they were taken.
  std::vector<Guard> guards() const;

  /// A statement that is checked when its symbols are known.
  struct DeferredCheck {
    SymBool condition;      ///< over the symbols
    std::string symbol;     ///< the unbacked symbol of the highest number: once it is known, all are
    Site site;              ///< the line that stated it
    std::string operation;  ///< what stated it: "expect_true", or the operation that needs it, such as "add"
  };
  /// In the order in which they were stated.
  std::vector<DeferredCheck> deferred_checks() const;

  /// What a policy took for granted of an input.
  struct EntryCheck {
    std::string source;       ///< of the value that is checked
    std::string same_as;      ///< another source that must have the same value; empty where `value` is meant
    std::int64_t value = 0;   ///< what it must be, unless same_as is given
    std::string str() const;  ///< "x.size(0) == x.size(1)", "x.size(0) == 1"
  };
  /// What the policies took for granted, in order.
  std::vector<EntryCheck> entry_checks() const;

  /// A symbol and what is known of it.
  struct Symbol {
    std::string name;                  ///< as it is printed
    std::string source;                ///< where its value comes from
    std::optional<std::int64_t> hint;  ///< none for unbacked ones
    SymBounds range;                   ///< narrowed by what was learnt
    std::string replacement;           ///< the expression that equals it, if one was learnt; else empty
    bool size_like;                    ///< stated to be used as a size
  };
  /// In the order in which they were made.
  std::vector<Symbol> symbols() const;

  /// `n` with what was learnt put in.
  SymInt simplify(SymInt n) const;
  /// The condition with what was learnt put in.
  SymBool simplify(SymBool condition) const;

  /// For the engine.
  sym::Environment& environment() const noexcept { return *environment_; }

 private:
  sym::Environment* environment_;  // its own; null in one that was moved from
};

/// ShapeEnv::expect_true in the environment of the condition's symbols, such as that of a captured function's trace. A
/// statement on a count that depends on data (nonzero(x).size(0) <= 100) is checked in each call, as soon as the count
/// is known. Throws ArgumentError for a condition that is false.
void expect_true(SymBool condition, Site site = Site::here());
/// ShapeEnv::constrain_range in the environment of the symbols of `n`. Throws ArgumentError for a number outside.
void constrain_range(SymInt n, SymBounds bounds, Site site = Site::here());

}  // namespace oriel
