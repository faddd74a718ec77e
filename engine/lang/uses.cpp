#include "lang/uses.hpp"

#include <algorithm>

#include "lang/syntax/diagnostic.hpp"

namespace oriel::lang {
namespace {

/// The most steps of a check. Names of where clauses are replaced by their values, so a short text can expand to a very
/// long one.
constexpr std::size_t kMaxSubexpressions = 100000;
constexpr std::size_t kMaxAccesses = 4096;

}  // namespace

void LoopOrder::see(ExprId id) {
  const Expr& expr = d_[id];
  if (expr.kind == ExprKind::Let) {
    if (!seen_bodies_.insert(expr.args[0]).second) return;
  }
  if (expr.kind == ExprKind::Index) return put(expr.id);
  for (const ExprId argument : expr.args) see(argument);
}

void LoopOrder::put(std::int32_t variable) {
  std::int32_t& place = place_[static_cast<std::size_t>(variable)];
  if (place >= 0) return;
  place = static_cast<std::int32_t>(variables_.size());
  variables_.push_back(variable);
}

void AccessCollector::collect(ExprId id, bool exists) {
  const Expr& expr = p_.definition[id];
  if (++steps_ > kMaxSubexpressions || out_.size() > kMaxAccesses) {
    fail(p_.source(), ErrorKind::Parse, expr.span,
         "with the names of where clauses put in place, the statement is too long");
  }
  if (expr.kind == ExprKind::Let) {
    std::vector<std::vector<Guard>>& seen = seen_lets_[expr.args[0]];
    if (std::find(seen.begin(), seen.end(), guards_) != seen.end()) return;
    seen.push_back(guards_);
    return collect(expr.args[0], exists);
  }
  if (expr.kind == ExprKind::Apply) out_.push_back({id, guards_, exists, false});
  if (expr.kind == ExprKind::Select) {
    collect(expr.args[0], exists);
    for (const bool taken : {true, false}) {
      guards_.push_back({expr.args[0], taken});
      collect(expr.args[taken ? 1 : 2], exists);
      guards_.pop_back();
    }
    return;
  }
  for (const ExprId argument : expr.args) collect(argument, exists);
}

}  // namespace oriel::lang
