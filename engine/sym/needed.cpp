#include "sym/needed.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_map>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/decide.hpp"
#include "sym/environment.hpp"

namespace oriel::sym {
namespace {

using Values = std::unordered_map<Expr, std::int64_t>;

constexpr std::size_t kMostGuards = 32;  // with more, the search for implied guards takes too long
constexpr int kMostRuns = 12;            // of the procedure, for each guard
constexpr int kMostRunsInAll = 48;

// The environment while a procedure is tried for other values; afterwards it is as it was.
class Exploration {
 public:
  explicit Exploration(Environment& environment)
      : environment_(environment), now_(environment), symbols_(environment.symbols.all()) {
    environment_.exploring = true;
  }
  Exploration(const Exploration&) = delete;
  Exploration& operator=(const Exploration&) = delete;
  ~Exploration() {
    environment_.exploring = false;
    environment_.symbols.restore(symbols_);
    now_.undo();
  }

 private:
  Environment& environment_;
  Checkpoint now_;
  std::vector<Environment::Symbol> symbols_;
};

}  // namespace

struct NeededGuards::State {
  Environment& environment;
  std::size_t deferred;
  std::optional<Checkpoint> before;              // as it was before the first guard
  std::vector<Environment::Guard> older;         // its guards
  std::vector<Environment::Symbol> symbols;      // with the hints of this trace
  const std::vector<SymInt>* numbers = nullptr;  // of the first result
  const std::function<bool()>* again = nullptr;
  int runs = 0;  // for this guard
  int runs_in_all = 0;

  std::vector<Expr> standing_facts() const;
  std::optional<Knowledge> knowledge_of(std::span<const Expr> facts, const Values& hints) const;
  Values hints() const;
  std::optional<Values> values_outside(const Knowledge& knowledge, Expr condition, bool& empty) const;
  bool same_at(std::vector<Expr> facts, const Values& hints);
  void keep_needed(const std::vector<SymInt>& its_numbers, const std::function<bool()>& its_again);
  bool same_without(const std::vector<Expr>& facts, Expr guard, const Values& hints);
};

NeededGuards::NeededGuards(const Node* n) {
  if (n == nullptr || n->pool == nullptr || n->pool->owner == nullptr) return;
  Environment& environment = environment_of(n);
  if (environment.options.mode != ShapeEnv::Mode::minimal || environment.before_guard) return;
  // NOLINTNEXTLINE(modernize-make-unique): an aggregate
  state_.reset(new State{environment, environment.deferred.size(), {}, {}, {}});
  environment.before_guard = [state = state_.get()] {
    if (state->before) return;
    state->before.emplace(state->environment);
    state->older = state->environment.guards.all();
  };
}

NeededGuards::~NeededGuards() {
  if (state_ != nullptr) state_->environment.before_guard = nullptr;
}

bool NeededGuards::recorded() const { return state_ != nullptr && state_->before.has_value(); }

// What holds besides the guards.
std::vector<Expr> NeededGuards::State::standing_facts() const {
  std::vector<Expr> facts = environment.constraints;
  for (const Environment::Deferred& check : environment.deferred) facts.push_back(check.condition);
  return facts;
}

Values NeededGuards::State::hints() const {
  Values values;
  for (const Environment::Symbol& symbol : symbols) {
    if (symbol.hint) values[symbol.expr] = *symbol.hint;
  }
  return values;
}

// The facts hold for the hints.
std::optional<Knowledge> NeededGuards::State::knowledge_of(std::span<const Expr> facts, const Values& hints) const {
  Knowledge knowledge(environment.pool);
  for (const Environment::Symbol& symbol : symbols) {
    const auto hint = hints.find(symbol.expr);
    knowledge.declare(symbol.expr, symbol.hint && hint != hints.end() ? std::optional(hint->second) : std::nullopt);
  }
  try {
    for (const Expr fact : facts) knowledge.learn(fact);
  } catch (const Error&) {
    return std::nullopt;
  }
  return knowledge;
}

// Values that satisfy what is known but not the condition; nullopt if none were found. Sets `empty` if there are none.
std::optional<Values> NeededGuards::State::values_outside(const Knowledge& knowledge, Expr condition,
                                                          bool& empty) const {
  Values outside;
  // Where a divisor may be 0, neither the condition nor its opposite holds.
  if (!divisors_known(knowledge, condition)) return std::nullopt;
  if (const auto answer = knowledge.decide(condition, &outside)) {
    empty = *answer;
    return std::nullopt;
  }
  return outside.empty() ? std::nullopt : std::optional(outside);
}

// True if the result is the first one for all values that satisfy the facts. `hints` are such values.
bool NeededGuards::State::same_at(std::vector<Expr> facts, const Values& hints) {
  if (++runs > kMostRuns || ++runs_in_all > kMostRunsInAll) return false;
  std::optional<Knowledge> knowledge = knowledge_of(facts, hints);
  if (!knowledge) return false;
  for (const SymInt n : *numbers) {
    if (n.is_symbolic() && !divisors_known(*knowledge, n.node())) return false;
  }
  environment.knowledge = std::move(*knowledge);
  environment.guards.clear();
  environment.symbols.set_hints(hints);
  bool same = false;
  try {
    same = (*again)() && environment.deferred.size() == deferred;
  } catch (const Error&) {
    same = false;
  }
  environment.deferred.erase(environment.deferred.begin() + std::ptrdiff_t(deferred), environment.deferred.end());
  if (!same) return false;
  std::vector<Expr> taken;
  for (const Environment::Guard& guard : environment.guards.all()) taken.push_back(guard.condition);
  for (const Expr guard : taken) {
    if (!same_without(facts, guard, hints)) return false;
    facts.push_back(guard);
  }
  return true;
}

// True if the result is the first one for all values that satisfy the facts but not the guard. Facts and guard hold for
// the hints.
bool NeededGuards::State::same_without(const std::vector<Expr>& facts, Expr guard, const Values& hints) {
  const std::optional<Knowledge> knowledge = knowledge_of(facts, hints);
  if (!knowledge) return false;
  bool empty = false;
  const std::optional<Values> outside = values_outside(*knowledge, guard, empty);
  if (!outside) return empty;
  std::vector<Expr> opposite = facts;
  opposite.push_back(logical_not(guard));
  return same_at(std::move(opposite), *outside);
}

void NeededGuards::take_back_others(const std::vector<SymInt>& numbers, const std::function<bool()>& again) {
  if (!recorded()) return;
  state_->keep_needed(numbers, again);
  Environment& environment = state_->environment;
  environment.before_guard = nullptr;
  const std::vector<Environment::Guard>& guards = environment.guards.all();
  if (!guards.empty()) environment.limit_guards(guards.back().site);
}

void NeededGuards::State::keep_needed(const std::vector<SymInt>& its_numbers, const std::function<bool()>& its_again) {
  if (environment.deferred.size() != deferred || environment.guards.all().size() > kMostGuards) return;
  symbols = environment.symbols.all();
  numbers = &its_numbers;
  again = &its_again;
  const auto is_older = [&](const Environment::Guard& guard) {
    return std::ranges::any_of(older, [&](const auto& earlier) { return earlier.condition == guard.condition; });
  };
  std::vector<Environment::Guard> kept;
  std::ranges::copy_if(environment.guards.all(), std::back_inserter(kept),
                       [&](const auto& guard) { return !is_older(guard); });
  const std::size_t taken = kept.size();
  for (std::size_t k = kept.size(); k-- > 0;) {
    std::vector<Expr> facts = standing_facts();
    for (const Environment::Guard& guard : older) facts.push_back(guard.condition);
    for (std::size_t other = 0; other < kept.size(); ++other) {
      if (other != k) facts.push_back(kept[other].condition);
    }
    const Exploration exploration(environment);
    runs = 0;
    if (same_without(facts, kept[k].condition, hints())) kept.erase(kept.begin() + std::ptrdiff_t(k));
  }
  if (kept.size() == taken) return;
  // Takes back all of them, because they may have made older guards look needless, and records those that are kept.
  before->undo();
  for (const Environment::Guard& guard : kept) {
    Values witness;
    if (!environment.knowledge.decide(guard.condition, &witness)) {
      environment.record(guard.condition, guard.site, std::move(witness));
    }
  }
}

}  // namespace oriel::sym
