// The symbols of a trace, the guards that the trace took on them, and the sizes among its results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/call_key.hpp"
#include "oriel/shape_env.hpp"
#include "sym/environment.hpp"
#include "sym/program.hpp"

namespace oriel::api {

/// A fact that becomes a symbol in a trace, and its kind of symbol.
struct SizeChoice {
  std::size_t fact = 0;
  SizePolicy policy = SizePolicy::dynamic;
  bool marked = false;
  DynamicSize mark = {};
  bool place = false;             // where a slice starts: 0 and 1 are no special values
  Site origin = Site::unknown();  // the line that marked it, else the line that made the tensor
};

/// The symbols of a trace.
class SizeSymbols {
 public:
  /// Makes a symbol for each choice; sizes 0 and 1 stay numbers. Throws ArgumentError if a marked size violates its
  /// mark.
  SizeSymbols(const std::vector<SizeChoice>& choices, const std::vector<FactName>& names, const CallKey& key,
              std::optional<std::size_t> guards_per_size);

  /// The size in the trace: a symbol or the number.
  SymInt size(std::size_t fact, std::int64_t value) const;
  /// Is the fact a symbol?
  bool symbolic(std::size_t fact) const noexcept;
  bool any() const noexcept { return !symbols_.empty(); }
  /// Adds an unbacked symbol for a size of at most `most`. Its value is known only during the call and is appended to
  /// the facts of the arguments.
  SymInt add_count(const std::string& source, SymInt most);
  /// The same for an integer of any sign.
  SymInt add_element(const std::string& source);
  /// What the symbols among the words of a text are: "s0 = x.size(0) = 4 (made at main.cpp:8)". Those that the text
  /// explains already are left out.
  std::string legend(std::string_view text) const;
  /// A symbol in words: "s0 = x.size(0)" and " (made at main.cpp:8)". The second part is empty where the line is
  /// unknown or stands in the first.
  struct Described {
    std::string what;
    std::string origin;
  };
  Described described(sym::Expr symbol) const;
  /// The line that the symbol came from: "marked at main.cpp:12", "made at main.cpp:8"; empty if it is unknown.
  std::string origin_of(sym::Expr symbol) const;
  /// Throws ArgumentError if the trace has fixed a marked size to one value.
  void check_marks(const std::vector<FactName>& names) const;

  /// Facts that are equal may share a size.
  struct Symbol {
    std::size_t fact;
    SymInt size;
    bool marked;
    sym::Interval allowed;          // what was stated of the fact before the trace
    bool place = false;             // where a slice starts
    Site origin = Site::unknown();  // as in SizeChoice
  };
  const std::vector<Symbol>& symbols() const noexcept { return symbols_; }
  const std::vector<SymInt>& counts() const noexcept { return counts_; }
  /// The place of a symbol in the key of a call and the counts behind it. Throws InternalError if it has none.
  std::size_t fact_of(sym::Expr symbol) const;
  ShapeEnv& env() const noexcept { return *env_; }

 private:
  std::unique_ptr<ShapeEnv> env_ = std::make_unique<ShapeEnv>();
  std::vector<Symbol> symbols_;
  std::vector<SymInt> counts_;
  std::size_t facts_ = 0;  // number of facts of a call
  CallKey traced_;         // their values
};

/// Conditions over the key of a call.
class SizeGuards {
 public:
  /// `names` must outlive it.
  SizeGuards(const SizeSymbols& symbols, const std::vector<FactName>& names);

  bool hold(const std::int64_t* key) const;
  struct Miss {
    std::string guard;
    std::string value;
  };
  /// The first condition that does not hold, if any.
  std::optional<Miss> first_miss(const std::int64_t* key) const;
  /// Throws ArgumentError for the first statement on counts (oriel::expect_true, constrain_range, operations) that does
  /// not hold. `checked`: the number of facts that were known before, whose statements were checked then.
  void check_deferred(std::span<const std::int64_t> key, std::size_t checked) const;
  /// The conditions in the order in which they are checked: "x.size(0) >= 2", "x.size(0) % 4 == 0 (model.cpp:12)".
  std::vector<std::string> texts() const;
  /// Of those that the trace took: "x.size(0) % 4 == 0, decided at model.cpp:12; x.size(0) made at main.cpp:8".
  /// A plain branch passes no line: it has one if the program has debug information.
  std::vector<std::string> decisions() const;

 private:
  /// The condition lo <= key[fact] <= hi.
  struct Bound {
    std::size_t fact;
    std::int64_t lo;
    std::int64_t hi;
    std::string text;  // for a single value: the guard that fixed it
  };
  /// The condition key[a] == key[b].
  struct Same {
    std::size_t a;
    std::size_t b;
  };
  struct Term {
    std::size_t fact;
    std::int64_t coefficient;
  };
  /// Compares constant + the sum of the terms with 0.
  struct Linear {
    sym::Kind kind;
    std::int64_t constant;
    std::vector<Term> terms;
  };
  struct Condition {
    std::string text;
    std::vector<std::size_t> facts;  // those of its variables, in the order of sym::variables_of
    std::optional<Linear> linear;
    std::unique_ptr<const sym::Program> program;  // if it is not linear
  };
  static Condition condition(sym::Expr e, Site site, const SizeSymbols& symbols);
  static bool holds(const Condition& condition, const std::int64_t* key);
  std::string value_text(std::span<const std::size_t> facts, const std::int64_t* values) const;

  const std::vector<FactName>& names_;
  std::vector<Bound> bounds_;
  std::vector<Same> same_;
  std::vector<Condition> conditions_;
  struct Deferred {
    Condition condition;
    std::string text;                            // "u0 <= 4 does not hold, which expect_true at main.cpp:12 states"
    std::vector<SizeSymbols::Described> values;  // of the variables, in the order of the condition's facts
    std::size_t facts = 0;                       // number of facts that must be known
  };
  static Deferred deferred(const ShapeEnv::DeferredCheck& check, const SizeSymbols& symbols);
  std::vector<Deferred> deferred_;  // on counts
  struct Decision {
    std::string condition;
    std::string origins;  // of its sizes: "; x.size(0) made at main.cpp:8"
    Site site;
    std::shared_ptr<const base::CallFrames> frames;  // null if the site is known
  };
  static Decision decision(const sym::Environment::Guard& guard, const SizeSymbols& symbols);
  std::vector<Decision> decisions_;
};

/// SymInts and SymBools that the callable returned. Each call computes their numbers from its own sizes. Thread safety:
/// any thread.
class ResultSizes {
 public:
  ResultSizes() = default;
  /// `sizes`: over the symbols of a trace, which must live as long, or numbers.
  ResultSizes(std::span<const SymInt> sizes, const SizeSymbols& symbols);

  /// As they were returned.
  std::span<const SymInt> symbolic() const noexcept { return {sizes_.data(), sizes_.size()}; }
  /// Their numbers in a call. `key`: of the call, and all counts behind it. Throws OverflowError or ArgumentError
  /// if one has no number.
  InlineVector<SymInt, 4> at(std::span<const std::int64_t> key) const;

 private:
  InlineVector<SymInt, 4> sizes_;
  std::vector<std::size_t> computed_;            // places of those over symbols
  std::unique_ptr<const sym::Program> program_;  // of these; null if there are none
  std::vector<std::size_t> facts_;               // of the variables of program_
};

}  // namespace oriel::api
