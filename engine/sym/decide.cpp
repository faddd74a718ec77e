#include "sym/decide.hpp"

#include "sym/environment.hpp"

namespace oriel::sym {
namespace {

bool in_trace(SymBool condition) { return environment_of(condition.node()).options.mode == ShapeEnv::Mode::trace; }

/// If one part alone decides that the answer is `answer`, records that part's guard (if it needs one) and returns true.
/// Otherwise returns false.
bool decided_by_one(std::span<const SymBool> parts, bool answer) {
  for (const SymBool part : parts) {
    if (known(part) == std::optional(answer)) return true;
  }
  for (const SymBool part : parts) {
    if (hint(part) == std::optional(answer)) return static_cast<bool>(part) == answer;
  }
  return false;
}

/// The value of a conjunction (`stops` is false) or disjunction (`stops` is true).
bool combine(std::span<const SymBool> conditions, bool stops) {
  Conditions open;
  for (const SymBool condition : conditions) {
    if (condition.is_symbolic()) {
      open.push_back(condition);
    } else if (static_cast<bool>(condition) == stops) {
      return stops;
    }
  }
  if (open.empty()) return !stops;
  if (!in_trace(open.front()) && decided_by_one({open.data(), open.size()}, stops)) return stops;
  for (const SymBool condition : open) {
    if (static_cast<bool>(condition) == stops) return stops;
  }
  return !stops;
}

std::optional<std::int64_t> hint_of(Expr e) {
  const Environment& environment = environment_of(e);
  const Expr replaced = environment.knowledge.replaced(e);
  if (replaced->is_constant()) return replaced->value;
  if (environment.symbols.has_unbacked(replaced)) return std::nullopt;
  return environment.symbols.at_hints(replaced, "hint");
}

}  // namespace

std::optional<bool> known(SymBool condition) {
  if (!condition.is_symbolic()) return static_cast<bool>(condition);
  return environment_of(condition.node()).known(condition.node());
}

SymBool or_false(SymBool condition) {
  if (!condition.is_symbolic()) return condition;
  const Environment& environment = environment_of(condition.node());
  if (!environment.symbols.has_unbacked(environment.knowledge.replaced(condition.node()))) return condition;
  return environment.known(condition.node()).value_or(false);
}

bool required_symbolic(SymBool condition, std::string_view operation) {
  Environment& environment = environment_of(condition.node());
  if (!environment.symbols.has_unbacked(environment.knowledge.replaced(condition.node())))
    return static_cast<bool>(condition);
  if (const auto answer = environment.known(condition.node())) return *answer;
  environment.expect(condition.node(), Site::unknown(), operation);
  return true;
}

bool depends_on_data(SymInt n) {
  if (!n.is_symbolic()) return false;
  const Environment& environment = environment_of(n.node());
  return environment.symbols.has_unbacked(environment.knowledge.replaced(n.node()));
}

bool state_size(SymInt extent, std::string_view operation) {
  if (!depends_on_data(extent)) return false;
  Environment& environment = environment_of(extent.node());
  if (environment.known(expression_in(environment, extent >= 0)).value_or(false)) return true;
  environment.expect(expression_in(environment, extent >= 0), Site::unknown(), operation);
  if (auto* const symbol = environment.symbols.find(extent.node()); symbol != nullptr) symbol->size_like = true;
  return true;
}

std::optional<bool> hint(SymBool condition) {
  if (!condition.is_symbolic()) return static_cast<bool>(condition);
  const std::optional<std::int64_t> value = hint_of(condition.node());
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::optional<std::int64_t> hint(SymInt n) { return n.is_symbolic() ? hint_of(n.node()) : std::optional(n.value()); }

std::optional<SymInt> broadcast(SymInt a, SymInt b, std::string_view operation) {
  const SymBool same = a == b;
  if (!same.is_symbolic() || hint(a - b)) {
    if (same) return a;
    if (a == 1) return b;
    return b == 1 ? std::optional(a) : std::nullopt;
  }
  if (known(same).value_or(false)) return a;
  const auto is_one = [](SymInt n) { return known(n == 1).value_or(false); };
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (!required(same, operation)) return std::nullopt;
  return a;
}

bool grows_to(SymInt extent, SymInt wanted, std::string_view operation) {
  const SymBool same = extent == wanted;
  if (!same.is_symbolic() || hint(extent - wanted)) return same || extent == 1;
  if (known(extent == 1).value_or(false)) return true;
  return required(same, operation);
}

bool all_of(std::span<const SymBool> conditions) { return combine(conditions, false); }
bool any_of(std::span<const SymBool> conditions) { return combine(conditions, true); }

struct Checkpoint::State {
  Environment& environment;
  Knowledge knowledge;
  RecordedGuards guards;
};

Checkpoint::Checkpoint(Environment& environment)
    : state_(new State{environment, environment.knowledge, environment.guards}) {}

Checkpoint::Checkpoint(const Node* n) {
  if (n != nullptr) *this = Checkpoint(environment_of(n));
}

Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

void Checkpoint::undo() {
  if (state_ == nullptr) return;
  state_->environment.knowledge = state_->knowledge;
  state_->environment.guards = state_->guards;
}

}  // namespace oriel::sym
