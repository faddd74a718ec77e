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

// A variable whose remainder by a small number decides a division.
struct SmallDivision {
  Expr variable = nullptr;  // null if there is none
  Expr divisor = nullptr;
};

// Finds a division by a small number: one of a variable if there is one, else one of a polynomial, by its first
// variable. (For s*s + s, which is even, the cases s == 2*q and s == 2*q + 1 show that it is.)
SmallDivision small_division(std::span<const Expr> conditions) {
  SmallDivision found;
  visit(conditions, [&](Expr node) {
    if (node->kind != Kind::mod && node->kind != Kind::floor_div) return;
    const Expr dividend = node->args[0];
    const Expr divisor = node->args[1];
    if (divisor->kind != Kind::constant || divisor->value < 2 || divisor->value > kMaxDivisor) return;
    if (dividend->is_variable()) {
      found = {dividend, divisor};
    } else if (found.variable == nullptr) {
      bool polynomial = true;
      visit(dividend, [&](Expr part) {
        polynomial = polynomial && (part->is_variable() || part->kind == Kind::constant ||
                                    part->kind == Kind::product || part->kind == Kind::sum);
      });
      const std::vector<Expr> variables = variables_of(dividend);
      if (polynomial && !variables.empty()) found = {variables.front(), divisor};
    }
  });
  return found;
}

bool refuted(std::span<const Expr> conditions, int depth) {
  if (depth > kMaxDepth) return false;
  const auto [variable, divisor] = small_division(conditions);
  if (variable == nullptr) return false;
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
