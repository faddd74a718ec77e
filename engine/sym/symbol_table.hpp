// The symbols of an environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  /// Gives each symbol that has a hint another one.
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

}  // namespace oriel::sym
