#include "capture/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "schedule/describe.hpp"
#include "sym/build.hpp"
#include "sym/decide.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel::api {

SizeSymbols::SizeSymbols(const std::vector<SizeChoice>& choices, const std::vector<FactName>& names, const CallKey& key,
                         std::optional<std::size_t> guards_per_size)
    : facts_(key.size()), traced_(key) {
  env_->environment().guards_per_symbol = guards_per_size;
  env_->environment().call_frames = true;
  struct Named {
    std::string name;
    SymInt size;
    std::int64_t value;
  };
  std::vector<Named> named;
  int places = 0;
  for (const SizeChoice& choice : choices) {
    const std::int64_t value = key[choice.fact];
    const std::string& source = names[choice.fact].subject;
    const SymBounds bounds{choice.mark.lo, choice.mark.hi};
    const auto known = std::ranges::find(named, choice.mark.name, &Named::name);
    SymInt size;
    if (known != named.end()) {
      if (known->value != value)
        throw ArgumentError("mark_dynamic", fmt::format("{} is {} and another size that is named '{}' is {}; sizes of "
                                                        "one name must be equal",
                                                        source, value, known->name, known->value));
      size = known->size;
      if (size.is_symbolic()) env_->constrain_range(size, bounds, Site::unknown());
    } else {
      size = choice.place ? env_->symbol("o" + std::to_string(places++), value, {0, {}}, source)
             : choice.marked && choice.policy != SizePolicy::unbacked ? env_->marked_size(value, source, bounds)
                                                                      : env_->size(value, source, choice.policy);
      if (!choice.marked && size.is_symbolic() && (bounds.lo || bounds.hi))  // a lenient mark
        env_->constrain_range(size, bounds, Site::unknown());
      if (!choice.mark.name.empty()) named.push_back({choice.mark.name, size, value});
    }
    if (!size.is_symbolic()) continue;
    // mark_dynamic has checked the tensor, whose sizes never change.
    if (choice.mark.multiple_of > 1) env_->guard(size % choice.mark.multiple_of == 0, Site::unknown());
    const sym::Interval stated{bounds.lo.value_or(sym::Interval::kMinusInfinity),
                               bounds.hi.value_or(sym::Interval::kInfinity)};
    symbols_.push_back(
        {choice.fact, size, choice.marked, sym::intersect(size.node()->bounds, stated), choice.place, choice.origin});
  }
}

SymInt SizeSymbols::add_element(const std::string& source) {
  // Two of one line are told apart.
  std::string unique = source;
  const auto taken = [&](const ShapeEnv::Symbol& symbol) { return symbol.source == unique; };
  const std::vector<ShapeEnv::Symbol> others = env_->symbols();
  for (int k = 2; std::ranges::any_of(others, taken); ++k) unique = fmt::format("{}, no. {}", source, k);
  counts_.push_back(env_->unbacked(unique));
  return counts_.back();
}

SymInt SizeSymbols::add_count(const std::string& source, SymInt most) {
  const SymInt count = add_element(source);
  env_->constrain_size(count, Site::unknown());
  env_->environment().assume(sym::expression_in(env_->environment(), count <= most));
  return count;
}

std::size_t SizeSymbols::fact_of(sym::Expr symbol) const {
  const auto known = std::ranges::find_if(symbols_, [&](const Symbol& s) { return s.size.node() == symbol; });
  if (known != symbols_.end()) return known->fact;
  const auto count = std::ranges::find_if(counts_, [&](SymInt n) { return n.node() == symbol; });
  if (count != counts_.end()) return facts_ + static_cast<std::size_t>(count - counts_.begin());
  throw InternalError("function", fmt::format("the size {} is no input's", sym::to_string(symbol)));
}

SymInt SizeSymbols::size(std::size_t fact, std::int64_t value) const {
  const auto found = std::ranges::find(symbols_, fact, &Symbol::fact);
  return found == symbols_.end() ? SymInt(value) : found->size;
}

std::string SizeSymbols::origin_of(sym::Expr symbol) const {
  const auto found = std::ranges::find_if(symbols_, [&](const Symbol& s) { return s.size.node() == symbol; });
  if (found == symbols_.end()) return {};
  const std::string line = schedule::site_text(found->origin);
  return line.empty() ? line : fmt::format("{} at {}", found->marked ? "marked" : "made", line);
}

SizeSymbols::Described SizeSymbols::described(sym::Expr symbol) const {
  const sym::Environment::Symbol& known = *env_->environment().symbols.find(symbol);
  const std::string origin = origin_of(symbol);
  return {known.source.empty() ? std::string(symbol->name) : fmt::format("{} = {}", symbol->name, known.source),
          origin.empty() ? origin : fmt::format(" ({})", origin)};
}

namespace {

/// Does the text contain the name as a word?
bool has_word(std::string_view text, std::string_view name) {
  const auto letter = [&](std::size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_');
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + name.size())) return true;
  return false;
}

}  // namespace

std::string SizeSymbols::legend(std::string_view text) const {
  std::string out;
  for (const sym::Environment::Symbol& symbol : env_->environment().symbols.all()) {
    const Described words = described(symbol.expr);
    const std::string sourced = fmt::format("{} ({})", symbol.expr->name, symbol.source);
    const auto says = [&](const std::string& what) { return text.find(what) != std::string_view::npos; };
    if (!has_word(text, symbol.expr->name) || says(words.what) || says(sourced)) continue;
    const std::size_t fact = fact_of(symbol.expr);
    const bool valued = symbol.hint && fact < traced_.size();
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", words.what,
                       valued ? fmt::format(" = {}", traced_[fact]) : std::string(), words.origin);
  }
  return out;
}

bool SizeSymbols::symbolic(std::size_t fact) const noexcept {
  return std::ranges::find(symbols_, fact, &Symbol::fact) != symbols_.end();
}

namespace {

/// The condition over the sources of the symbols: "x.size(0) + y.size(0) > 7".
std::string over_sources(sym::Expr condition, sym::Environment& env) {
  sym::Replacements sources;
  for (const sym::Environment::Symbol& symbol : env.symbols.all())
    if (!symbol.source.empty()) sources[symbol.expr] = env.pool.symbol(symbol.source, symbol.expr->bounds);
  return sym::to_string(sym::substitute(condition, sources));
}

std::string with_site(std::string text, Site site) {
  const std::string line = schedule::site_text(site);
  return line.empty() ? text : fmt::format("{} ({})", text, line);
}

}  // namespace

void SizeSymbols::check_marks(const std::vector<FactName>& names) const {
  sym::Environment& env = env_->environment();
  for (const Symbol& symbol : symbols_) {
    const SymInt left = env_->simplify(symbol.size);
    if (!symbol.marked || left.is_symbolic()) continue;
    std::string why;
    for (const sym::Environment::Guard& guard : env.guards.all()) {
      const std::vector<sym::Expr> named = sym::variables_of(guard.condition);
      if (std::ranges::find(named, symbol.size.node()) == named.end()) continue;
      const std::string line =
          schedule::site_text(guard.frames != nullptr ? base::user_line(*guard.frames) : guard.site);
      why += fmt::format("{}{}{}", why.empty() ? "" : ", ", over_sources(guard.condition, env),
                         line.empty() ? line : ", decided at " + line);
    }
    const std::string line = schedule::site_text(symbol.origin);
    throw ArgumentError(
        "mark_dynamic",
        fmt::format("{} is marked as dynamic{}, but the trace needs it to be {} (guards: {}); mark it static or "
                    "leniently (DynamicSize::lenient), or change what the function does with it",
                    names[symbol.fact].subject, line.empty() ? line : " at " + line, to_string(left), why));
  }
}

SizeGuards::SizeGuards(const SizeSymbols& symbols, const std::vector<FactName>& names) : names_(names) {
  sym::Environment& env = symbols.env().environment();
  for (const SizeSymbols::Symbol& symbol : symbols.symbols()) {
    if (const std::size_t first = symbols.fact_of(symbol.size.node()); first != symbol.fact) {
      same_.push_back({first, symbol.fact});
      Bound& bound = *std::ranges::find(bounds_, first, &Bound::fact);
      bound.lo = std::max(bound.lo, symbol.allowed.lo);
      bound.hi = std::min(bound.hi, symbol.allowed.hi);
      continue;
    }
    // What the trace has learnt beyond the statement follows from its guards.
    const sym::Interval learnt = env.knowledge.range_of(symbol.size.node());
    const sym::Interval range = learnt.is_point() ? learnt : symbol.allowed;
    bounds_.push_back({symbol.fact, range.lo, range.hi, {}});
  }
  const auto fixed = [&](sym::Expr variable) -> Bound* {
    const auto bound = std::ranges::find(bounds_, symbols.fact_of(variable), &Bound::fact);
    return bound->lo == bound->hi ? &*bound : nullptr;
  };
  for (const sym::Environment::Guard& guard : env.guards.all()) {
    const sym::Expr e = guard.condition;
    decisions_.push_back(decision(guard, symbols));
    Condition made = condition(e, guard.site, symbols);
    // The bounds say everything about sizes that have only one value left. The first guard on such a size names the
    // line that fixed it.
    const std::vector<sym::Expr> variables = sym::variables_of(e);
    if (std::ranges::all_of(variables, [&](sym::Expr v) { return fixed(v) != nullptr; })) {
      for (const sym::Expr v : variables)
        if (Bound& bound = *fixed(v); bound.text.empty())
          bound.text = with_site(fmt::format("{} == {}", names_[bound.fact].subject, bound.lo), guard.site);
      continue;
    }
    conditions_.push_back(std::move(made));
  }
  for (const ShapeEnv::DeferredCheck& check : symbols.env().deferred_checks()) {
    if (!check.condition.is_symbolic()) continue;
    deferred_.push_back(deferred(check, symbols));
  }
}

SizeGuards::Decision SizeGuards::decision(const sym::Environment::Guard& guard, const SizeSymbols& symbols) {
  sym::Environment& env = symbols.env().environment();
  Decision made{over_sources(guard.condition, env), {}, guard.site, guard.frames};
  for (const sym::Expr variable : sym::variables_of(guard.condition)) {
    const std::string origin = symbols.origin_of(variable);
    if (!origin.empty()) made.origins += fmt::format("; {} {}", env.symbols.find(variable)->source, origin);
  }
  return made;
}

std::vector<std::string> SizeGuards::decisions() const {
  std::vector<std::string> out;
  for (const Decision& d : decisions_) {
    const std::string line = schedule::site_text(d.frames != nullptr ? base::user_line(*d.frames) : d.site);
    out.push_back(d.condition + (line.empty() ? "" : ", decided at " + line) + d.origins);
  }
  return out;
}

SizeGuards::Condition SizeGuards::condition(sym::Expr e, Site site, const SizeSymbols& symbols) {
  Condition made;
  made.text = with_site(over_sources(e, symbols.env().environment()), site);
  for (const sym::Expr variable : sym::variables_of(e)) made.facts.push_back(symbols.fact_of(variable));
  if (e->is_comparison()) {
    const sym::Terms terms = sym::terms_of(sym::sub(e->args[0], e->args[1]));
    Linear linear{e->kind, terms.constant, {}};
    bool is_linear = true;
    for (const sym::Terms::Term& term : terms.terms) {
      is_linear = is_linear && term.term->is_variable();
      if (is_linear) linear.terms.push_back({symbols.fact_of(term.term), term.coefficient});
    }
    if (is_linear) made.linear = std::move(linear);
  }
  if (!made.linear) made.program = std::make_unique<const sym::Program>(e);
  return made;
}

SizeGuards::Deferred SizeGuards::deferred(const ShapeEnv::DeferredCheck& check, const SizeSymbols& symbols) {
  const sym::Expr e = check.condition.node();
  Deferred made{condition(e, check.site, symbols), {}, {}, 0};
  const bool by_user = check.operation == "expect_true" || check.operation == "constrain_range";
  const std::string line = schedule::site_text(check.site);
  made.text = fmt::format("{} does not hold, which {}{} {}", to_string(check.condition), check.operation,
                          line.empty() ? "" : " at " + line, by_user ? "states" : "needs");
  for (const sym::Expr variable : sym::variables_of(e)) {
    made.facts = std::max(made.facts, symbols.fact_of(variable) + 1);
    made.values.push_back(symbols.described(variable));
  }
  return made;
}

void SizeGuards::check_deferred(std::span<const std::int64_t> key, std::size_t checked) const {
  for (const Deferred& check : deferred_) {
    if (check.facts > key.size() || (checked != 0 && check.facts <= checked)) continue;
    if (holds(check.condition, key.data())) continue;
    std::string values;
    for (std::size_t k = 0; k < check.values.size(); ++k)
      values += fmt::format("{}{} = {}{}", k == 0 ? "" : ", ", check.values[k].what, key[check.condition.facts[k]],
                            check.values[k].origin);
    throw ArgumentError("function", fmt::format("{}: {}", check.text, values));
  }
}

bool SizeGuards::holds(const Condition& condition, const std::int64_t* key) {
  if (!condition.linear) {
    InlineVector<std::int64_t, 8> values;
    for (const std::size_t fact : condition.facts) values.push_back(key[fact]);
    InlineVector<sym::Outcome, 32> work(condition.program->steps());
    sym::Outcome out;
    condition.program->run({values.data(), values.size()}, {work.data(), work.size()}, {&out, 1});
    return out.is(1);
  }
  __extension__ __int128 sum = condition.linear->constant;
  for (const Term& term : condition.linear->terms) {
    __extension__ const __int128 product = static_cast<__int128>(term.coefficient) * key[term.fact];
    sum += product;
  }
  return sym::holds(condition.linear->kind, sum, decltype(sum){0});
}

bool SizeGuards::hold(const std::int64_t* key) const {
  for (const Bound& b : bounds_)
    if (key[b.fact] < b.lo || key[b.fact] > b.hi) return false;
  for (const Same& s : same_)
    if (key[s.a] != key[s.b]) return false;
  return std::ranges::all_of(conditions_, [&](const Condition& c) { return holds(c, key); });
}

std::string SizeGuards::value_text(std::span<const std::size_t> facts, const std::int64_t* values) const {
  if (facts.size() == 1) return fmt::format("{}", values[facts[0]]);
  std::string text;
  for (const std::size_t fact : facts)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", names_[fact].subject, values[fact]);
  return text;
}

std::optional<SizeGuards::Miss> SizeGuards::first_miss(const std::int64_t* key) const {
  for (const Bound& b : bounds_) {
    if (key[b.fact] < b.lo)
      return Miss{fmt::format("{} >= {}", names_[b.fact].subject, b.lo), value_text({&b.fact, 1}, key)};
    if (key[b.fact] > b.hi)
      return Miss{fmt::format("{} <= {}", names_[b.fact].subject, b.hi), value_text({&b.fact, 1}, key)};
  }
  for (const Same& s : same_) {
    if (key[s.a] == key[s.b]) continue;
    const std::array both{s.a, s.b};
    return Miss{fmt::format("{} == {}", names_[s.a].subject, names_[s.b].subject), value_text(both, key)};
  }
  for (const Condition& c : conditions_)
    if (!holds(c, key)) return Miss{c.text, value_text(c.facts, key)};
  return std::nullopt;
}

std::vector<std::string> SizeGuards::texts() const {
  std::vector<std::string> out;
  for (const Bound& b : bounds_) {
    if (b.lo == b.hi) {
      out.push_back(b.text.empty() ? fmt::format("{} == {}", names_[b.fact].subject, b.lo) : b.text);
      continue;
    }
    if (b.lo > 0) out.push_back(fmt::format("{} >= {}", names_[b.fact].subject, b.lo));
    if (b.hi != sym::Interval::kInfinity) out.push_back(fmt::format("{} <= {}", names_[b.fact].subject, b.hi));
  }
  for (const Same& s : same_) out.push_back(fmt::format("{} == {}", names_[s.a].subject, names_[s.b].subject));
  for (const Condition& c : conditions_) out.push_back(c.text);
  return out;
}

ResultSizes::ResultSizes(std::span<const SymInt> sizes, const SizeSymbols& symbols)
    : sizes_(sizes.begin(), sizes.end()) {
  std::vector<sym::Expr> expressions;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    // A size of another environment is a value from outside, and stays as it is.
    if (!sizes[k].is_symbolic() || sizes[k].node()->pool != &symbols.env().environment().pool) continue;
    expressions.push_back(sizes[k].node());
    computed_.push_back(k);
  }
  if (expressions.empty()) return;
  program_ = std::make_unique<const sym::Program>(expressions);
  for (const sym::Expr variable : program_->variables()) facts_.push_back(symbols.fact_of(variable));
}

InlineVector<SymInt, 4> ResultSizes::at(std::span<const std::int64_t> key) const {
  InlineVector<SymInt, 4> out = sizes_;
  if (program_ == nullptr) return out;
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(key[fact]);
  InlineVector<sym::Outcome, 32> work(program_->steps());
  InlineVector<sym::Outcome, 8> outcomes(computed_.size());
  program_->run({values.data(), values.size()}, {work.data(), work.size()}, {outcomes.data(), outcomes.size()});
  for (std::size_t k = 0; k < computed_.size(); ++k) {
    const std::size_t at = computed_[k];
    if (outcomes[k].fault == sym::Outcome::Fault::overflow)
      throw OverflowError(
          "function", "the size " + to_string(sizes_[at]) + " that it returns does not fit a signed 64-bit integer");
    if (outcomes[k].fault != sym::Outcome::Fault::none)
      throw ArgumentError("function", "the size " + to_string(sizes_[at]) + " that it returns divides by zero");
    out[at] = outcomes[k].value;
  }
  return out;
}

}  // namespace oriel::api
