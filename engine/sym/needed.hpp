// Decisions whose result is computed: keeps only the guards on which the result rests.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "oriel/symint.hpp"

namespace oriel::sym {

struct Environment;

/// Collects the guards that a procedure records, and takes back those on which its result does not rest. A guard is
/// taken back if the procedure, run again for values that break this guard alone, gives the same result, and records
/// only guards outside of which (by the same test) the result is the same, too. So the result stays proved for all
/// values that satisfy the guards that remain.
///
/// Without effect for plain numbers, outside Mode::minimal, and inside another of its kind. It costs nothing unless a
/// guard was recorded.
class NeededGuards {
 public:
  /// Of the environment of `n`; without effect if `n` is null.
  explicit NeededGuards(const Node* n);
  NeededGuards(const NeededGuards&) = delete;
  NeededGuards& operator=(const NeededGuards&) = delete;
  ~NeededGuards();

  /// True if a guard was recorded since the start.
  bool recorded() const;
  /// `again` repeats the procedure and tells whether its result is the first one. `numbers` are the sizes in the first
  /// result: where one of them has no value, because it divides by 0, the result is not the same.
  void take_back_others(const std::vector<SymInt>& numbers, const std::function<bool()>& again);

 private:
  struct State;
  std::unique_ptr<State> state_;  // null if without effect
};

/// The result of `work`, with the guards on which it rests. `work` depends on sizes alone. `numbers` lists the sizes in
/// a result; `same` compares two results and may branch on sizes.
template <class Work, class Numbers, class Same>
auto with_needed_guards(const Node* n, const Work& work, const Numbers& numbers, const Same& same) {
  NeededGuards needed(n);
  auto result = work();
  if (needed.recorded()) {
    needed.take_back_others(numbers(result), [&] { return same(result, work()); });
  }
  return result;
}

/// The same for a procedure whose result is a bool.
template <class Work>
bool with_needed_guards(const Node* n, const Work& work) {
  return with_needed_guards(
      n, work, [](bool) { return std::vector<SymInt>(); }, [](bool a, bool b) { return a == b; });
}

}  // namespace oriel::sym
