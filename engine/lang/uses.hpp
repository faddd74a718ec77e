// The variables that a checked statement uses, and its accesses.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/syntax/program.hpp"

namespace oriel::lang {

/// The variables of a statement in the order of its loops, which is the order in which they are put or seen. Each
/// variable has one place.
class LoopOrder {
 public:
  LoopOrder(const Definition& definition, std::size_t variables) : d_(definition), place_(variables, -1) {}

  void put(std::int32_t variable);
  /// Puts the variables of an expression in order of their first use.
  void see(ExprId id);

  const std::vector<std::int32_t>& variables() const noexcept { return variables_; }
  /// The position of the variable in that order, or -1.
  std::int32_t place(std::size_t variable) const { return place_[variable]; }

 private:
  const Definition& d_;
  std::vector<std::int32_t> variables_;
  std::vector<std::int32_t> place_;
  std::unordered_set<ExprId> seen_bodies_;  // bodies of where clauses whose variables were collected already
};

/// Collects the accesses of a statement, each with the conditionals above it. An access in the body of a where clause
/// is collected once for each list of conditionals above uses of the clause.
class AccessCollector {
 public:
  AccessCollector(const Program& program, std::vector<AccessUse>& out) : p_(program), out_(out) {}

  /// The accesses of an expression; `exists`: it is below `where exists`. Throws ComprehensionError (parse) if the
  /// statement is too long.
  void collect(ExprId id, bool exists);

 private:
  const Program& p_;
  std::vector<AccessUse>& out_;
  std::vector<Guard> guards_;  // the conditionals above the expression that is visited
  std::unordered_map<ExprId, std::vector<std::vector<Guard>>> seen_lets_;  // the guards above each occurrence of a body
  std::size_t steps_ = 0;
};

}  // namespace oriel::lang
