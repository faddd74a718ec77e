// Conditions on remainders by small numbers: tries each remainder.
#include <algorithm>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/program.hpp"
#include "sym/refute.hpp"

namespace oriel::sym {
namespace {

constexpr std::int64_t kMaxDivisor = 8;
constexpr int kMaxDepth = 2;
constexpr int kBudget = 6;

// Finds a division of a variable by a small number; null if there is none.
Expr small_division(std::span<const Expr> conditions) {
  Expr found = nullptr;
  visit(conditions, [&](Expr node) {
    if (node->kind != Kind::mod && node->kind != Kind::floor_div) return;
    const Expr divisor = node->args[1];
    if (!node->args[0]->is_variable() || divisor->kind != Kind::constant) return;
    if (divisor->value >= 2 && divisor->value <= kMaxDivisor) found = node;
  });
  return found;
}

bool refuted(std::span<const Expr> conditions, int depth) {
  const Expr division = small_division(conditions);
  if (division == nullptr || depth > kMaxDepth) return false;
  const Expr variable = division->args[0];
  const Expr divisor = division->args[1];
  Pool& pool = *variable->pool;
  for (std::int64_t residue = 0; residue < divisor->value; ++residue) {
    // variable == divisor*quotient + residue; the quotient's range follows from the variable's bounds.
    const Interval from = variable->bounds - Interval::point(residue);
    const Interval bounds{(-floor_div(-Interval{from.lo, from.lo}, divisor->bounds)).lo,
                          floor_div(from, divisor->bounds).hi};
    const Interval within = from.has_lo() ? bounds : Interval{Interval::kMinusInfinity, bounds.hi};
    if (within.empty()) continue;
    const Expr quotient =
        within.is_point()
            ? pool.constant(within.lo)
            : pool.symbol("(" + std::string(variable->name) + " // " + std::to_string(divisor->value) + ")", within,
                          variable->value);
    std::vector<Expr> cases;
    bool impossible = false;
    for (const Expr condition : conditions) {
      cases.push_back(substitute(condition, {{variable, add(mul(quotient, divisor), residue)}}));
      impossible |= cases.back()->kind == Kind::truth && cases.back()->value == 0;
    }
    if (!impossible && !contradicts(cases, kBudget) && !refuted(cases, depth + 1)) return false;
  }
  return true;
}

}  // namespace

bool contradicts_by_residues(std::span<const Expr> conditions) try {
  return refuted(conditions, 1);
} catch (const UserError&) {
  return false;  // an overflow, or a divisor that is 0 for some residue
}

}  // namespace oriel::sym
