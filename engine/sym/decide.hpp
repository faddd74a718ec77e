// Decisions on several conditions at once, with as few guards as the answer needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "oriel/inline_vector.hpp"
#include "oriel/symint.hpp"

namespace oriel::sym {

struct Environment;

using Conditions = InlineVector<SymBool, 16>;

/// The truth value, if it is the same for all values in range that satisfy the guards. Records nothing.
std::optional<bool> known(SymBool condition);

/// The condition itself if all its symbols have hints. Otherwise a plain bool: true if the condition holds for all
/// values in range, false if it does not or is open. So a question that only chooses between two forms of one result
/// can be asked of sizes that depend on data. Records nothing.
SymBool or_false(SymBool condition);

bool required_symbolic(SymBool condition, std::string_view operation);

/// Does the condition hold, which `operation` needs? Of sizes with hints this is a branch. Of sizes that depend on data
/// the answer is true unless the condition is known to be false. It is then stated, so that it is checked when the work
/// runs (ShapeEnv::expect_true).
inline bool required(SymBool condition, std::string_view operation) {
  return condition.is_symbolic() ? required_symbolic(condition, operation) : static_cast<bool>(condition);
}

/// Does the value depend on data? Not if what is known gives it hints.
bool depends_on_data(SymInt n);

/// States that `extent` is a size, if its value depends on data: it is then at least 0, which is checked when the work
/// runs. Returns false for other numbers, which the caller has to test.
bool state_size(SymInt extent, std::string_view operation = "a shape");

/// @{
/// The value for the hints; nullopt if a symbol has none. Records nothing, so it may only choose what is tried: an
/// answer needs all_of or any_of.
std::optional<bool> hint(SymBool condition);
std::optional<std::int64_t> hint(SymInt n);
/// @}

/// The extent of two axes that are broadcast together; nullopt if they do not fit. A size without a hint is taken for a
/// general one: it is 1 only if that is known, and that it equals another size is stated for `operation`
/// (ShapeEnv::expect_true).
std::optional<SymInt> broadcast(SymInt a, SymInt b, std::string_view operation);
/// Is `extent` the same as `wanted`, or 1? Asks as broadcast() does.
bool grows_to(SymInt extent, SymInt wanted, std::string_view operation);

/// True if all conditions hold. A conjunction is false as soon as one part is, so a false answer rests on one part
/// alone: a part that is false for all values, which needs no guard, else the first that is false for the hints. A true
/// answer rests on all parts. A trace asks the parts in order, up to the first that is false.
bool all_of(std::span<const SymBool> conditions);
/// True if one of the conditions holds; the opposite of all_of on the opposite conditions.
bool any_of(std::span<const SymBool> conditions);

/// What an environment has recorded. If a decision turns out not to be used, `undo` removes the guards that it took and
/// what was learnt from them.
class Checkpoint {
 public:
  /// Of the environment of `n`; without effect if `n` is null.
  explicit Checkpoint(const Node* n);
  explicit Checkpoint(Environment& environment);
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();
  void undo();

 private:
  struct State;
  std::unique_ptr<State> state_;  // null without an environment
};

}  // namespace oriel::sym
