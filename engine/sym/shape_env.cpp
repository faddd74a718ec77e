#include "oriel/shape_env.hpp"

#include <utility>

#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel {
namespace {

sym::Interval interval_of(const SymBounds& bounds) {
  return {bounds.lo.value_or(sym::Interval::kMinusInfinity), bounds.hi.value_or(sym::Interval::kInfinity)};
}

SymBounds bounds_of(sym::Interval interval) {
  SymBounds bounds;
  if (interval.has_lo()) bounds.lo = interval.lo;
  if (interval.has_hi()) bounds.hi = interval.hi;
  return bounds;
}

}  // namespace

ShapeEnv::ShapeEnv() : ShapeEnv(Options()) {}
ShapeEnv::ShapeEnv(Options options) : environment_(new sym::Environment(options)) {}
ShapeEnv::~ShapeEnv() { delete environment_; }
ShapeEnv::ShapeEnv(ShapeEnv&& other) noexcept : environment_(std::exchange(other.environment_, nullptr)) {}
ShapeEnv& ShapeEnv::operator=(ShapeEnv&& other) noexcept {
  if (this != &other) {
    delete environment_;
    environment_ = std::exchange(other.environment_, nullptr);
  }
  return *this;
}

SymInt ShapeEnv::symbol(std::string_view name, std::int64_t hint, SymBounds bounds, std::string_view source) {
  return SymInt(environment_->declare(name, source, hint, interval_of(bounds)));
}

SymInt ShapeEnv::unbacked(std::string_view source, std::string_view name) {
  const std::string chosen = name.empty() ? environment_->symbols.new_unbacked_name() : std::string(name);
  return SymInt(environment_->declare(chosen, source, std::nullopt, {}));
}

SymInt ShapeEnv::size(std::int64_t hint, std::string_view source, SizePolicy policy) {
  sym::Environment& env = *environment_;
  if (policy == SizePolicy::unbacked) {
    const SymInt made = unbacked(source);
    constrain_size(made);
    return made;
  }
  if (hint < 0) throw ArgumentError("size", "a size must be at least 0, but " + std::to_string(hint) + " came");
  const bool specialised = env.options.specialize_zero_one && hint < 2;
  if (policy == SizePolicy::fixed || specialised) {
    env.entry_checks.push_back({std::string(source), {}, hint});
    return hint;
  }
  const bool shared = policy == SizePolicy::duck && env.options.duck_shape;
  if (shared) {
    if (const sym::Expr found = env.symbols.shared_size(hint); found != nullptr) {
      env.entry_checks.push_back({std::string(source), env.symbols.find(found)->source, 0});
      return SymInt(found);
    }
  }
  const std::string name = env.symbols.new_size_name();
  const sym::Expr symbol =
      env.declare(name, source, hint, sym::Interval::at_least(env.options.specialize_zero_one ? 2 : 0));
  if (shared) env.symbols.share_size(hint, symbol);
  return SymInt(symbol);
}

SymInt ShapeEnv::marked_size(std::int64_t hint, std::string_view source, SymBounds bounds) {
  sym::Environment& env = *environment_;
  const sym::Interval range = interval_of(bounds);
  if (!range.contains(hint)) {
    throw ArgumentError("mark_dynamic",
                        std::string(source) + ": " + std::to_string(hint) + " not in range " + to_string(range));
  }
  if (range.is_point()) return size(hint, source, SizePolicy::fixed);
  if (env.options.specialize_zero_one && hint < 2) {
    if (!bounds.lo && !bounds.hi) return size(hint, source, SizePolicy::dynamic);
    throw ArgumentError("mark_dynamic", std::string(source) + " is marked with a range, but its size " +
                                            std::to_string(hint) +
                                            " is specialised; call first with a size of 2 or more");
  }
  const SymInt made = size(hint, source, SizePolicy::dynamic);
  env.constrain(made.node(), range, Site::unknown());
  return made;
}

SymInt ShapeEnv::integer(std::int64_t hint, std::string_view source) {
  const std::string name = environment_->symbols.new_size_name();
  return SymInt(environment_->declare(name, source, hint, {}));
}

bool ShapeEnv::guard(SymBool condition, Site site) {
  return condition.is_symbolic() ? sym::truth_of(condition.node(), site) : static_cast<bool>(condition);
}

std::int64_t ShapeEnv::guard(SymInt n, Site site) {
  return n.is_symbolic() ? sym::value_of(n.node(), site) : n.value();
}

std::optional<bool> ShapeEnv::known(SymBool condition) const {
  if (!condition.is_symbolic()) return static_cast<bool>(condition);
  return environment_->known(sym::expression_in(*environment_, condition));
}

bool ShapeEnv::guard_size_oblivious(SymBool condition, Site site) {
  if (!condition.is_symbolic()) return static_cast<bool>(condition);
  const auto answer = environment_->known_size_oblivious(sym::expression_in(*environment_, condition));
  return answer ? *answer : guard(condition, site);
}

void ShapeEnv::constrain_range(SymInt n, SymBounds bounds, Site site) {
  environment_->constrain(sym::expression_in(*environment_, n), interval_of(bounds), site);
}

void ShapeEnv::constrain_size(SymInt n, Site site) {
  constrain_range(n, {0, {}}, site);
  if (!n.is_symbolic()) return;
  if (auto* const symbol = environment_->symbols.find(n.node()); symbol != nullptr && !symbol->hint)
    symbol->size_like = true;
}

void ShapeEnv::expect_true(SymBool condition, Site site) {
  environment_->expect(sym::expression_in(*environment_, condition), site);
}

std::vector<ShapeEnv::Guard> ShapeEnv::guards() const {
  std::vector<Guard> list;
  for (const auto& guard : environment_->guards.all()) list.push_back({SymBool(guard.condition), guard.site});
  return list;
}

std::string ShapeEnv::Guard::str() const { return to_string(condition); }

std::vector<ShapeEnv::DeferredCheck> ShapeEnv::deferred_checks() const {
  std::vector<DeferredCheck> list;
  for (const auto& check : environment_->deferred) {
    list.push_back({SymBool(check.condition), std::string(check.symbol->name), check.site, check.operation});
  }
  return list;
}

std::string ShapeEnv::EntryCheck::str() const {
  return source + " == " + (same_as.empty() ? std::to_string(value) : same_as);
}

std::vector<ShapeEnv::EntryCheck> ShapeEnv::entry_checks() const { return environment_->entry_checks; }

std::vector<ShapeEnv::Symbol> ShapeEnv::symbols() const {
  std::vector<Symbol> list;
  for (const auto& symbol : environment_->symbols.all()) {
    const auto found = environment_->knowledge.replacements().find(symbol.expr);
    const bool is_replaced = found != environment_->knowledge.replacements().end();
    list.push_back({std::string(symbol.expr->name), symbol.source, symbol.hint,
                    bounds_of(environment_->knowledge.range_of(symbol.expr)),
                    is_replaced ? sym::to_string(found->second) : std::string(), symbol.size_like});
  }
  return list;
}

SymInt ShapeEnv::simplify(SymInt n) const {
  return n.is_symbolic() ? SymInt(environment_->knowledge.replaced(n.node())) : n;
}

SymBool ShapeEnv::simplify(SymBool condition) const {
  return condition.is_symbolic() ? SymBool(environment_->knowledge.replaced(condition.node())) : condition;
}

void expect_true(SymBool condition, Site site) {
  if (condition.is_symbolic()) return sym::environment_of(condition.node()).expect(condition.node(), site);
  if (!condition) throw ArgumentError("expect_true", "the condition does not hold");
}

void constrain_range(SymInt n, SymBounds bounds, Site site) {
  if (bounds.lo && bounds.hi && *bounds.lo > *bounds.hi)
    throw ArgumentError("constrain_range", "the range from " + std::to_string(*bounds.lo) + " to " +
                                               std::to_string(*bounds.hi) + " is empty; lo must not be above hi");
  const bool below = !n.is_symbolic() && bounds.lo && n < *bounds.lo;
  const bool above = !n.is_symbolic() && bounds.hi && n > *bounds.hi;
  if (below || above) throw ArgumentError("constrain_range", to_string(n) + " is outside of the range");
  if (!n.is_symbolic()) return;
  sym::Environment& env = sym::environment_of(n.node());
  const auto state = [&](SymBool condition) {
    env.expect(sym::expression_in(env, condition), site, "constrain_range");
  };
  if (bounds.lo) state(n >= *bounds.lo);
  if (bounds.hi) state(n <= *bounds.hi);
}

}  // namespace oriel
