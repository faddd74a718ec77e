// A node of an integer expression, and the pool that owns nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/stable_list.hpp"
#include "sym/interval.hpp"

namespace oriel::sym {

/// The kind of a node. Kinds from `truth` on are conditions, the others integers.
enum class Kind : std::uint8_t {
  constant,
  symbol,     ///< a named size
  loop,       ///< the index of a loop
  floor_div,  ///< rounded towards minus infinity
  mod,        ///< with the divisor's sign
  min,
  max,
  select,   ///< args: condition, value if it holds, value if not
  product,  ///< of two or more factors, none a constant
  sum,      ///< value + the sum of coefficient times argument
  truth,    ///< value 0 or 1
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  predicate,      ///< a named function of integers; see Pool::predicate
  not_predicate,  ///< its negation
};

class Pool;
struct Node;

/// An expression: a node of a pool. Nodes are interned: within a pool equal expressions are the same pointer. They are
/// immutable and live as long as their pool. Expressions of two pools do not mix.
using Expr = const Node*;

/// Computes a predicate on the values of its arguments.
using PredicateFunction = bool (*)(std::span<const std::int64_t> arguments);
/// The value of a predicate if its arguments show it for all values of their variables.
using PredicateForm = std::optional<bool> (*)(std::span<const Expr> arguments);

struct Node {
  Kind kind;
  bool guarded = false;      ///< of a trace's own copies: has become a bool already (SymBool)
  std::uint32_t degree = 0;  ///< factors of a product, 1 for other integers that are no constants
  std::uint32_t id = 0;      ///< counts up within a pool; arguments have smaller ones
  std::int64_t value = 0;    ///< of constant and truth; the constant term of a sum; the number that variables differ by
  Interval bounds = {};      ///< encloses the value wherever each symbol and loop is within its own bounds
  std::uint64_t hash = 0;    ///< of the structure: the same in every pool and process
  Pool* pool = nullptr;
  std::span<const Expr> args = {};
  std::span<const std::int64_t> coefficients = {};  ///< of a sum, one for each argument, none 0
  std::string_view name = {};                       ///< of a symbol, loop or predicate
  PredicateFunction function = nullptr;
  PredicateForm form = nullptr;  ///< of a predicate; may be null

  bool is_condition() const noexcept { return kind >= Kind::truth; }
  bool is_comparison() const noexcept { return kind >= Kind::eq && kind <= Kind::ge; }
  bool is_constant() const noexcept { return kind == Kind::constant || kind == Kind::truth; }
  bool is_constant(std::int64_t number) const noexcept { return kind == Kind::constant && value == number; }
  bool is_variable() const noexcept { return kind == Kind::symbol || kind == Kind::loop; }
};

/// Owns and interns nodes. Each environment (ShapeEnv) and each compiled program has a pool, and one thread at a time
/// uses it. So no lock is needed, expressions are plain pointers, and all of them are freed with the pool. An owner of
/// expressions must keep their pool alive.
class Pool {
 public:
  Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  Expr constant(std::int64_t value);
  Expr truth(bool value);
  /// The symbol or loop `name` with values in `bounds`. Variables of one name with other bounds or another `number` are
  /// different.
  Expr symbol(std::string_view name, Interval bounds = {}, std::int64_t number = 0);
  Expr loop(std::string_view name, Interval bounds = {}, std::int64_t number = 0);

  /// The node that equals `wanted` (kind, value, name, arguments, coefficients), made if it is new. The caller must
  /// give the canonical form. Only the builders call this; everyone else calls the builders (build.hpp).
  Expr intern(const Node& wanted);
  /// A copy of `node` that equals no other node, itself included.
  Node* copy(Expr node);

  std::size_t size() const noexcept { return by_id_.size(); }

  /// A number that refers to the node in the whole process. Once the pool has ended, find() says so.
  static std::uint64_t reference_to(Expr node);
  /// The node; null if its pool has ended.
  static Expr find(std::uint64_t reference) noexcept;

  /// The owner of the pool (the state of a ShapeEnv).
  void* owner = nullptr;

 private:
  struct Hash {
    std::size_t operator()(Expr node) const noexcept { return static_cast<std::size_t>(node->hash); }
  };
  struct Equal {
    bool operator()(Expr a, Expr b) const noexcept;
  };

  std::pmr::monotonic_buffer_resource memory_;
  std::unordered_set<Expr, Hash, Equal> nodes_;
  base::StableList<Expr> by_id_;
  std::atomic<std::uint32_t> number_{0};  // of the pool; 0 as long as nothing refers to its nodes
};

/// The order of operands, also in texts: constants, symbols by name (s2 before s10), other expressions by their
/// structure. Negative, 0 or positive; 0 only for the same node.
int compare(Expr a, Expr b);
/// The order of names: digits at the end compare as a number.
int compare_names(std::string_view a, std::string_view b) noexcept;
/// The order of a sum's terms: products of more factors first, then by their factors.
int compare_terms(Expr a, Expr b);

/// The factors of a term: the factors of a product, or the term itself.
inline std::span<const Expr> factors(const Expr& term) noexcept {
  return term->kind == Kind::product ? term->args : std::span<const Expr>(&term, 1);
}

}  // namespace oriel::sym
