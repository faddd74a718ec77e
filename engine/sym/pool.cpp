#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "base/fork_lock.hpp"
#include "base/hash.hpp"
#include "oriel/error.hpp"
#include "sym/node.hpp"

namespace oriel::sym {
namespace {

std::uint64_t hash_of(const Node& node) noexcept {
  std::uint64_t h = base::mix(static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.value));
  for (const char c : node.name) h = base::mix(h, static_cast<unsigned char>(c));
  for (const Expr arg : node.args) h = base::mix(h, arg->hash);
  for (const std::int64_t c : node.coefficients) h = base::mix(h, static_cast<std::uint64_t>(c));
  if (node.is_variable()) {
    h = base::mix(h, static_cast<std::uint64_t>(node.bounds.lo));
    h = base::mix(h, static_cast<std::uint64_t>(node.bounds.hi));
  }
  return h;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The position where the digits at the end start. Leading zeros belong to the text before them.
std::size_t number_start(std::string_view name) noexcept {
  std::size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1])) --start;
  while (start + 1 < name.size() && name[start] == '0') ++start;
  return start;
}

int sign_of(std::int64_t a, std::int64_t b) noexcept { return a < b ? -1 : (a > b ? 1 : 0); }

// Compares two nodes without their arguments.
int compare_shallow(Expr a, Expr b) noexcept {
  if (a->kind != b->kind) return sign_of(static_cast<int>(a->kind), static_cast<int>(b->kind));
  if (const int names = compare_names(a->name, b->name)) return names;
  if (a->args.size() != b->args.size()) return sign_of(std::int64_t(a->args.size()), std::int64_t(b->args.size()));
  return 0;
}

int compare_rest(Expr a, Expr b) noexcept {
  if (a->value != b->value) return sign_of(a->value, b->value);
  for (std::size_t k = 0; k < a->coefficients.size(); ++k) {
    if (a->coefficients[k] != b->coefficients[k]) return sign_of(a->coefficients[k], b->coefficients[k]);
  }
  if (a->bounds.lo != b->bounds.lo) return sign_of(a->bounds.lo, b->bounds.lo);
  if (a->bounds.hi != b->bounds.hi) return sign_of(a->bounds.hi, b->bounds.hi);
  return sign_of(a->id, b->id);
}

}  // namespace

namespace {

/// Which pool has which number. Numbers are given in turn, so that a number means another pool only after 2^24 - 1
/// others. Pieces are made when they are needed and kept.
class PoolNumbers {
 public:
  static constexpr std::uint32_t kEnd = std::uint32_t{1} << 24;

  Pool* find(std::uint32_t number) const noexcept {
    const Piece* const piece = pieces_[number / kPiece].load(std::memory_order_acquire);
    return piece != nullptr ? (*piece)[number % kPiece].load(std::memory_order_acquire) : nullptr;
  }
  /// The caller holds the lock of numbers.
  std::uint32_t give(Pool* pool) {
    for (std::uint32_t tried = 1; tried < kEnd; ++tried) {
      last_ = last_ + 1 < kEnd ? last_ + 1 : 1;
      std::atomic<Piece*>& at = pieces_[last_ / kPiece];
      if (at.load(std::memory_order_relaxed) == nullptr) at.store(new Piece(), std::memory_order_release);
      std::atomic<Pool*>& entry = (*at.load(std::memory_order_relaxed))[last_ % kPiece];
      if (entry.load(std::memory_order_relaxed) != nullptr) continue;
      entry.store(pool, std::memory_order_release);
      return last_;
    }
    throw InternalError("symbolic size", "there are too many environments");
  }
  void take_back(std::uint32_t number) noexcept {
    (*pieces_[number / kPiece].load(std::memory_order_acquire))[number % kPiece].store(nullptr,
                                                                                       std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t kPiece = 4096;
  using Piece = std::array<std::atomic<Pool*>, kPiece>;
  std::array<std::atomic<Piece*>, kEnd / kPiece> pieces_{};
  std::uint32_t last_ = 0;
};

constinit PoolNumbers pool_numbers;  // never destroyed: sizes may live longer

constexpr int kNodeBits = 24;

}  // namespace

Pool::Pool() = default;
Pool::~Pool() {
  if (const std::uint32_t number = number_.load(std::memory_order_relaxed); number != 0) pool_numbers.take_back(number);
}

std::uint64_t Pool::reference_to(Expr node) {
  std::atomic<std::uint32_t>& number = node->pool->number_;
  if (number.load(std::memory_order_acquire) == 0) {
    const std::lock_guard lock(base::fork_mutex(base::ForkLock::numbers));
    if (number.load(std::memory_order_relaxed) == 0)
      number.store(pool_numbers.give(node->pool), std::memory_order_release);
  }
  return std::uint64_t{number.load(std::memory_order_relaxed)} << kNodeBits | node->id;
}

Expr Pool::find(std::uint64_t reference) noexcept {
  const Pool* const pool = pool_numbers.find(static_cast<std::uint32_t>(reference >> kNodeBits));
  const auto id = static_cast<std::uint32_t>(reference & ((std::uint64_t{1} << kNodeBits) - 1));
  return pool != nullptr && id < pool->by_id_.size() ? pool->by_id_[id] : nullptr;
}

bool Pool::Equal::operator()(Expr a, Expr b) const noexcept {
  return a->kind == b->kind && a->value == b->value && a->name == b->name && std::ranges::equal(a->args, b->args) &&
         std::ranges::equal(a->coefficients, b->coefficients) && (!a->is_variable() || a->bounds == b->bounds);
}

Expr Pool::intern(const Node& wanted) {
  Node probe = wanted;
  probe.hash = hash_of(probe);
  if (const auto found = nodes_.find(&probe); found != nodes_.end()) return *found;
  for (const Expr arg : probe.args) {
    if (arg->pool != this) throw ArgumentError("symbolic size", "expressions of two environments do not mix");
  }
  const auto keep = [&]<class T>(std::span<const T> list) {
    T* const kept = static_cast<T*>(memory_.allocate(list.size_bytes(), alignof(T)));
    std::ranges::copy(list, kept);
    return std::span<const T>(kept, list.size());
  };
  probe.args = keep(probe.args);
  probe.coefficients = keep(probe.coefficients);
  const std::span<const char> name = keep(std::span<const char>(probe.name.data(), probe.name.size()));
  probe.name = {name.data(), name.size()};
  probe.pool = this;
  const Expr made = copy(&probe);
  nodes_.insert(made);
  return made;
}

Node* Pool::copy(Expr node) {
  if (by_id_.size() == by_id_.kMost)
    throw OverflowError("symbolic size", "an environment holds no more than 2^24 expressions");
  Node* const made = new (memory_.allocate(sizeof(Node), alignof(Node))) Node(*node);
  made->id = by_id_.size();
  by_id_.add(memory_, made);
  return made;
}

Expr Pool::constant(std::int64_t value) {
  return intern({.kind = Kind::constant, .value = value, .bounds = Interval::point(value)});
}

Expr Pool::truth(bool value) {
  return intern({.kind = Kind::truth, .value = value ? 1 : 0, .bounds = Interval::point(value ? 1 : 0)});
}

Expr Pool::symbol(std::string_view name, Interval bounds, std::int64_t number) {
  if (bounds.empty()) throw ArgumentError("symbol", "the range of " + std::string(name) + " is empty");
  return intern({.kind = Kind::symbol, .degree = 1, .value = number, .bounds = bounds, .name = name});
}

Expr Pool::loop(std::string_view name, Interval bounds, std::int64_t number) {
  return intern({.kind = Kind::loop, .degree = 1, .value = number, .bounds = bounds, .name = name});
}

int compare_names(std::string_view a, std::string_view b) noexcept {
  const std::size_t number_a = number_start(a);
  const std::size_t number_b = number_start(b);
  if (const int text = a.substr(0, number_a).compare(b.substr(0, number_b))) return text;
  if (a.size() - number_a != b.size() - number_b) return a.size() - number_a < b.size() - number_b ? -1 : 1;
  return a.compare(b);
}

int compare(Expr a, Expr b) {
  // Different nodes differ somewhere, so the first differing pair of arguments decides.
  while (a != b) {
    if (const int shallow = compare_shallow(a, b)) return shallow;
    std::size_t k = 0;
    while (k < a->args.size() && a->args[k] == b->args[k]) ++k;
    if (k == a->args.size()) return compare_rest(a, b);
    const Expr next = a->args[k];
    b = b->args[k];
    a = next;
  }
  return 0;
}

int compare_terms(Expr a, Expr b) {
  if (a == b) return 0;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  const std::span<const Expr> of_a = factors(a);
  const std::span<const Expr> of_b = factors(b);
  for (std::size_t k = 0; k < of_a.size() && k < of_b.size(); ++k) {
    if (const int order = compare(of_a[k], of_b[k])) return order;
  }
  return of_a.size() < of_b.size() ? -1 : 1;
}

}  // namespace oriel::sym
