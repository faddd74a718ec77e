// Resolves names and types inside one statement.
#pragma once

#include <string>
#include <vector>

#include "lang/builtins.hpp"
#include "lang/statement_names.hpp"
#include "lang/syntax/program.hpp"

namespace oriel::lang {

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
  /// Adds the target at the left indices as a further access, because an update reads it.
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

  Program& p_;
  Definition& d_;
  std::int32_t s_;
  StatementNames names_;
  std::vector<ExprId> touched_;  // expressions that name a variable
  ExprId self_ = kNoExpr;
};

}  // namespace oriel::lang
