#include "sym/environment.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"

namespace oriel::sym {

Expr SymbolTable::declare(Pool& pool, std::string_view name, std::string_view source, std::optional<std::int64_t> hint,
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
  list_.push_back({symbol, std::string(source), hint});
  return symbol;
}

SymbolTable::Symbol* SymbolTable::find(std::string_view name) {
  const auto found = std::ranges::find_if(list_, [&](const Symbol& symbol) { return symbol.expr->name == name; });
  return found == list_.end() ? nullptr : &*found;
}

SymbolTable::Symbol* SymbolTable::find(Expr symbol) {
  const auto found = std::ranges::find(list_, symbol, &Symbol::expr);
  return found == list_.end() ? nullptr : &*found;
}

std::string SymbolTable::new_name(char prefix, std::int64_t& number) {
  std::string name;
  do {
    name = prefix + std::to_string(number++);
  } while (find(std::string_view(name)) != nullptr);
  return name;
}

Expr SymbolTable::shared_size(std::int64_t hint) const {
  const auto found = shared_sizes_.find(hint);
  return found == shared_sizes_.end() ? nullptr : found->second;
}

bool SymbolTable::has_unbacked(Expr e) const {
  const std::vector<Expr> variables = variables_of(e);
  return std::ranges::any_of(list_, [&](const Symbol& symbol) {
    return !symbol.hint && std::ranges::find(variables, symbol.expr) != variables.end();
  });
}

std::int64_t SymbolTable::at_hints(Expr e, const char* operation) const {
  std::unordered_map<Expr, std::int64_t> hints;
  for (const Symbol& symbol : list_) {
    if (symbol.hint) hints[symbol.expr] = *symbol.hint;
  }
  return evaluate(e, [&](Expr variable) -> std::optional<std::int64_t> {
    const auto found = hints.find(variable);
    if (found != hints.end()) return found->second;
    const auto symbol = std::ranges::find(list_, variable, &Symbol::expr);
    const std::string source = symbol != list_.end() && !symbol->source.empty() ? " (" + symbol->source + ")" : "";
    throw DataDependentError(operation,
                             "'" + to_string(e) + "' depends on " + std::string(variable->name) + source +
                                 ", which is known only when the work runs; state it with expect_true, bound it with "
                                 "constrain_range, or ask with or_false or or_true");
  });
}

void SymbolTable::set_hints(const std::unordered_map<Expr, std::int64_t>& hints) {
  for (Symbol& symbol : list_) {
    const auto known = hints.find(symbol.expr);
    if (symbol.hint && known != hints.end()) symbol.hint = known->second;
  }
}

}  // namespace oriel::sym
