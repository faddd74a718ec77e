// The names that occur in one statement and have no meaning outside it.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

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

}  // namespace oriel::lang
