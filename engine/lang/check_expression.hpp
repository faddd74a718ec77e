// Resolves names and types inside one statement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/builtins.hpp"
#include "lang/syntax/program.hpp"

namespace oriel::lang {

/// The names to which one statement gives a meaning: its variables, numbered in the order in which they come up, and
/// the values of where clauses.
class StatementNames {
 public:
  struct Let {
    Span span;
    ExprId body;
  };

  /// The number of the variable, or -1.
  std::int32_t find_variable(std::string_view name) const noexcept {
    const auto found = variable_ids_.find(name);
    return found == variable_ids_.end() ? -1 : found->second;
  }
  std::int32_t add_variable(std::string_view name, Span span, bool left) {
    Variable variable;
    variable.name = name;
    variable.span = span;
    variable.left = left;
    variables_.push_back(variable);
    return variable_ids_[name] = static_cast<std::int32_t>(variables_.size() - 1);
  }
  Variable& variable(std::int32_t id) { return variables_[static_cast<std::size_t>(id)]; }
  const std::vector<Variable>& variables() const noexcept { return variables_; }

  /// The value of that name, or null.
  const Let* find_let(std::string_view name) const noexcept {
    const auto found = lets_.find(name);
    return found == lets_.end() ? nullptr : &found->second;
  }
  void add_let(std::string_view name, Let let) { lets_.emplace(name, let); }

 private:
  std::vector<Variable> variables_;
  std::unordered_map<std::string_view, std::int32_t> variable_ids_;
  std::unordered_map<std::string_view, Let> lets_;
};

/// The size variable or tensor of that name, or -1.
std::int32_t find_size(const Program& program, std::string_view name) noexcept;
std::int32_t find_tensor(const Program& program, std::string_view name) noexcept;

/// Resolves and types the expressions of one statement, in place in the definition's pool, and collects its variables
/// and accesses. Names with no other meaning become variables.
class ExpressionChecker {
 public:
  ExpressionChecker(Program& program, std::int32_t statement) : p_(program), d_(program.definition), s_(statement) {}

  StatementNames& names() noexcept { return names_; }

  void clause(const Clause& clause, std::size_t position);
  void check(ExprId id);
  /// Checks what stands left of the operator, if positions do.
  void positions(const Statement& statement);
  /// Adds the target as a further access: an update reads it, and a position that is written must be one of its axis.
  void add_self(const Statement& statement, std::int32_t target);
  /// Orders the variables as loops, renumbers them in the expressions, and collects the accesses.
  void finish(const Statement& statement, CheckedStatement& out);

 private:
  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const;
  void range_clause(const Clause& clause, std::size_t position);
  void let_clause(const Clause& clause);
  void check_range_end(ExprId id);
  void check_name(ExprId id);
  void check_apply(ExprId id);
  void check_operation(ExprId id);
  void check_integral(ExprId id) const;

  Program& p_;
  Definition& d_;
  std::int32_t s_;
  StatementNames names_;
  std::vector<ExprId> touched_;  // expressions that name a variable
  ExprId self_ = kNoExpr;
};

}  // namespace oriel::lang
