#include "oriel/symint.hpp"

#include <algorithm>
#include <memory_resource>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/fork_lock.hpp"
#include "base/stable_list.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel {
namespace detail {

void throw_overflow(const char* operation, std::int64_t a, std::int64_t b) {
  throw OverflowError(operation, "the result for " + std::to_string(a) + " and " + std::to_string(b) +
                                     " does not fit a signed 64-bit integer");
}

void throw_too_large(std::uint64_t value) {
  throw OverflowError("convert", std::to_string(value) + " does not fit a signed 64-bit integer");
}

void throw_division_by_zero(const char* operation, std::int64_t a) {
  throw ArgumentError(operation, std::to_string(a) + " by zero; the divisor must not be 0");
}

bool symbolic_truth(const sym::Node* condition) { return sym::truth_of(condition, Site::unknown()); }

const sym::Node* symbolic_node(std::uint64_t reference) {
  if (const sym::Node* const node = sym::Pool::find(reference)) return node;
  throw ArgumentError("symbolic size",
                      "the environment of the size has ended: a ShapeEnv, or a captured function that was traced with "
                      "it; use it before, or return it from the function, which makes it a number");
}

}  // namespace detail

namespace {

// Plain numbers whose bits would read as a reference to an expression. No size that fits in memory is one of them, so
// their lock costs nothing in practice. Never destroyed: sizes may live longer.
struct BoxedNumbers {
  std::unordered_map<std::int64_t, std::uint32_t> indices;
  base::StableList<std::int64_t> list;
};
constinit BoxedNumbers* boxed_numbers = nullptr;

// Both operands as expressions of their common pool. At least one is symbolic.
struct Operands {
  sym::Expr a;
  sym::Expr b;
};

template <class T>
sym::Expr in_pool(T n, sym::Pool& pool) {
  return n.node() != nullptr ? n.node() : pool.constant(n.value());
}

Operands operands(SymInt a, SymInt b) {
  sym::Pool& pool = *(a.node() != nullptr ? a : b).node()->pool;
  return {in_pool(a, pool), in_pool(b, pool)};
}

sym::Expr condition_in(SymBool condition, sym::Pool& pool) {
  return condition.is_symbolic() ? condition.node() : pool.truth(static_cast<bool>(condition));
}

// A quotient or remainder that has lost its divisor has a value where the divisor is 0, which its operands have not.
SymInt with_divisor(const char* operation, sym::Expr made, sym::Expr divisor) {
  if (sym::lost_divisor(made, divisor)) sym::state_divisor(divisor, operation, Site::unknown());
  return SymInt(made);
}

bool both_plain(SymInt a, SymInt b) { return a.node() == nullptr && b.node() == nullptr; }

/// `symbolic` of expressions, or of numbers what `overflows` puts into its last argument unless it is true.
template <class Overflows>
SymInt combined(SymInt a, SymInt b, sym::Expr (*symbolic)(sym::Expr, sym::Expr), const char* operation,
                Overflows&& overflows) {
  if (!both_plain(a, b)) {
    const auto [x, y] = operands(a, b);
    return SymInt(symbolic(x, y));
  }
  std::int64_t r = 0;
  if (overflows(a.value(), b.value(), &r)) detail::throw_overflow(operation, a.value(), b.value());
  return r;
}

}  // namespace

SymBool::SymBool(const sym::Node* condition)
    : bits_(condition->kind == sym::Kind::truth ? static_cast<std::uint64_t>(condition->value)
                                                : sym::Pool::reference_to(condition)) {}

SymInt::SymInt(const sym::Node* expression)
    : bits_(expression->kind == sym::Kind::constant
                ? SymInt(expression->value).bits_
                : kLeast + static_cast<std::int64_t>(sym::Pool::reference_to(expression))) {}

std::int64_t SymInt::boxed(std::int64_t value) {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::numbers));
  if (boxed_numbers == nullptr) boxed_numbers = new BoxedNumbers();
  base::StableList<std::int64_t>& list = boxed_numbers->list;
  if (list.size() == 0) list.add(*std::pmr::new_delete_resource(), 0);  // kLeast itself stands for no number
  const auto [at, added] = boxed_numbers->indices.try_emplace(value, list.size());
  if (added) {
    if (list.size() == list.kMost) {
      boxed_numbers->indices.erase(at);
      throw OverflowError("convert", "there are too many different numbers below -2^63 + 2^48");
    }
    list.add(*std::pmr::new_delete_resource(), value);
  }
  return kLeast + at->second;
}

std::int64_t SymInt::symbolic_value(SymInt n) {
  if (const sym::Node* const node = n.node()) return sym::value_of(node, Site::unknown());
  return boxed_numbers->list[static_cast<std::uint32_t>(n.reference())];
}

SymInt SymInt::slow_add(SymInt a, SymInt b) {
  return combined(a, b, sym::add, "add", [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); });
}

SymInt SymInt::slow_subtract(SymInt a, SymInt b) {
  return combined(a, b, sym::sub, "subtract", [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); });
}

SymInt SymInt::slow_multiply(SymInt a, SymInt b) {
  return combined(a, b, sym::mul, "multiply", [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); });
}

SymInt SymInt::slow_divide(SymInt a, SymInt b) {
  if (!both_plain(a, b)) {
    const auto [x, y] = operands(a, b);
    return with_divisor("divide", sym::floor_div(x, y), y);
  }
  const std::int64_t n = a.value();
  const std::int64_t d = b.value();
  if (d == 0) detail::throw_division_by_zero("divide", n);
  if (d == -1) return SymInt(0) - a;
  const std::int64_t q = n / d;
  return q - (n % d != 0 && (n < 0) != (d < 0) ? 1 : 0);
}

SymInt SymInt::slow_remainder(SymInt a, SymInt b) {
  if (!both_plain(a, b)) {
    const auto [x, y] = operands(a, b);
    return with_divisor("remainder", sym::mod(x, y), y);
  }
  const std::int64_t n = a.value();
  const std::int64_t d = b.value();
  if (d == 0) detail::throw_division_by_zero("remainder", n);
  if (d == -1) return 0;
  const std::int64_t r = n % d;
  return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}

SymBool SymInt::compare(SymInt a, SymInt b, Comparison comparison) {
  const auto kind = static_cast<sym::Kind>(static_cast<int>(sym::Kind::eq) + static_cast<int>(comparison));
  if (!both_plain(a, b)) {
    const auto [x, y] = operands(a, b);
    return sym::make_condition(sym::relation(kind, x, y));
  }
  return sym::holds(kind, a.value(), b.value());
}

SymBool SymBool::symbolic_and(SymBool a, SymBool b) {
  sym::Pool& pool = *(a.is_symbolic() ? a : b).node()->pool;
  return sym::make_condition(sym::logical_and(condition_in(a, pool), condition_in(b, pool)));
}

SymBool SymBool::symbolic_or(SymBool a, SymBool b) {
  sym::Pool& pool = *(a.is_symbolic() ? a : b).node()->pool;
  return sym::make_condition(sym::logical_or(condition_in(a, pool), condition_in(b, pool)));
}

SymBool SymBool::symbolic_not(SymBool a) { return sym::make_condition(sym::logical_not(a.node())); }

SymInt sym_min(SymInt a, SymInt b) {
  if (both_plain(a, b)) return std::min(a.value(), b.value());
  const auto [x, y] = operands(a, b);
  return SymInt(sym::min(x, y));
}

SymInt sym_max(SymInt a, SymInt b) {
  if (both_plain(a, b)) return std::max(a.value(), b.value());
  const auto [x, y] = operands(a, b);
  return SymInt(sym::max(x, y));
}

SymInt sym_select(SymBool condition, SymInt a, SymInt b) {
  if (!condition.is_symbolic()) return condition ? a : b;
  sym::Pool& pool = *condition.node()->pool;
  return SymInt(sym::select(condition.node(), in_pool(a, pool), in_pool(b, pool)));
}

SymInt sym_pow(SymInt base, SymInt exponent) {
  if (exponent.is_symbolic())
    throw ArgumentError("pow", "the exponent must be a plain number, but " + to_string(exponent) + " came");
  if (base.is_symbolic()) return SymInt(sym::power(base.node(), exponent.value()));
  sym::Pool pool;
  return sym::power(pool.constant(base.value()), exponent.value())->value;
}

std::string to_string(SymInt n) { return n.is_symbolic() ? sym::to_string(n.node()) : std::to_string(n.value()); }

std::string to_string(SymBool condition) {
  if (condition.is_symbolic()) return sym::to_string(condition.node());
  return condition ? "true" : "false";
}

}  // namespace oriel

std::size_t std::hash<oriel::SymInt>::operator()(oriel::SymInt n) const {
  if (!n.is_symbolic()) return std::hash<std::int64_t>{}(n.value());
  const oriel::sym::Expr node =
      oriel::sym::Pool::find(static_cast<std::uint64_t>(n.representation()) - static_cast<std::uint64_t>(INT64_MIN));
  return node != nullptr ? static_cast<std::size_t>(node->hash) : 0;
}
