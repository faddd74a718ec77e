// Resolves names and types inside one statement.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/builtins.hpp"
#include "lang/program.hpp"

namespace oriel::lang {

/// The size variable or tensor of that name, or -1.
std::int32_t find_size(const Program& program, std::string_view name) noexcept;
std::int32_t find_tensor(const Program& program, std::string_view name) noexcept;

/// Resolves and types the expressions of one statement, in place in the definition's pool, and collects its variables
/// and accesses. Names with no other meaning become variables.
class ExpressionChecker {
 public:
  ExpressionChecker(Program& program, std::int32_t statement) : p_(program), d_(program.definition), s_(statement) {}

  std::int32_t find_variable(std::string_view name) const noexcept;
  std::int32_t add_variable(std::string_view name, Span span, bool left);

  void clause(const Clause& clause, std::size_t position);
  void check_value(ExprId id) { check(id); }
  /// Adds the target at the left indices as a further access, because an update reads it.
  void add_self(const Statement& statement, std::int32_t target);
  /// Orders the variables as loops, renumbers them in the expressions, and collects the accesses.
  void finish(const Statement& statement, CheckedStatement& out);

 private:
  struct Let {
    Span span;
    ExprId body;
  };

  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const;
  const Let* find_let(std::string_view name) const noexcept;
  void range_clause(const Clause& clause, std::size_t position);
  void let_clause(const Clause& clause);
  void check_range_end(ExprId id);
  void check(ExprId id);
  void check_name(ExprId id);
  void check_apply(ExprId id);
  void check_operation(ExprId id);
  void see(ExprId id, std::vector<std::int32_t>& order);
  void put(std::int32_t variable, std::vector<std::int32_t>& order);
  void collect(ExprId id, std::vector<Guard>& guards, bool exists, std::vector<AccessUse>& out);

  Program& p_;
  Definition& d_;
  std::int32_t s_;
  std::vector<Variable> variables_;
  std::unordered_map<std::string_view, std::int32_t> variable_ids_;
  std::unordered_map<std::string_view, Let> lets_;
  std::vector<ExprId> touched_;  // expressions that name a variable
  ExprId self_ = kNoExpr;
  std::unordered_map<ExprId, std::vector<std::vector<Guard>>> seen_lets_;  // the guards above each occurrence of a body
  std::unordered_set<ExprId> seen_bodies_;  // bodies of where clauses whose variables were collected already
  std::vector<std::int32_t> place_;         // the position of each variable in that order, or -1
  std::size_t steps_ = 0;
};

}  // namespace oriel::lang
