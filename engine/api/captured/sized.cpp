#include "api/captured/sized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/call.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "schedule/describe.hpp"
#include "sym/build.hpp"
#include "sym/decide.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;

SizeSymbols::SizeSymbols(const std::vector<SizeChoice>& choices, const std::vector<FactName>& names,
                         const Facts& facts) {
  std::vector<std::pair<std::string, SymInt>> named;
  for (const SizeChoice& choice : choices) {
    const std::int64_t value = facts[choice.fact];
    const std::string& source = names[choice.fact].subject;
    const auto known = std::ranges::find(named, choice.mark.name, &std::pair<std::string, SymInt>::first);
    SymInt size;
    if (!choice.mark.name.empty() && known != named.end()) {
      size = known->second;
      const std::optional<std::int64_t> other = size.is_symbolic() ? sym::hint(size) : size.value();
      if (other != value)
        throw ArgumentError("mark_dynamic", fmt::format("{} is {} and another size that is named '{}' is {}; sizes of "
                                                        "one name must be equal",
                                                        source, value, choice.mark.name, *other));
    } else if (choice.marked) {
      size = env->marked_size(value, source, {choice.mark.lo, choice.mark.hi});
      state(choice, size, names);
      if (!choice.mark.name.empty()) named.emplace_back(choice.mark.name, size);
    } else {
      size = env->size(value, source, choice.policy);
    }
    if (!size.is_symbolic()) continue;
    const sym::Interval mark{choice.mark.lo.value_or(sym::Interval::kMinusInfinity),
                             choice.mark.hi.value_or(sym::Interval::kInfinity)};
    symbols_.push_back({choice.fact, size, choice.marked, sym::intersect(size.node()->bounds, mark)});
  }
}

void SizeSymbols::state(const SizeChoice& choice, SymInt size, const std::vector<FactName>& names) {
  const std::int64_t m = choice.mark.multiple_of;
  if (m < 1) throw ArgumentError("mark_dynamic", fmt::format("a multiple of {}; give a number of at least 1", m));
  if (m == 1) return;
  if (!env->guard(size % m == 0, Site::unknown()))
    throw ArgumentError("mark_dynamic", fmt::format("{} is no multiple of {}", names[choice.fact].subject, m));
}

SymInt SizeSymbols::size(std::size_t fact, std::int64_t value) const {
  const auto found = std::ranges::find(symbols_, fact, &Symbol::fact);
  return found == symbols_.end() ? SymInt(value) : found->size;
}

bool SizeSymbols::symbolic(std::size_t fact) const noexcept {
  return std::ranges::find(symbols_, fact, &Symbol::fact) != symbols_.end();
}

void SizeSymbols::check_marks() const {
  const std::vector<ShapeEnv::Symbol> known = env->symbols();
  for (const Symbol& symbol : symbols_) {
    if (!symbol.marked || env->simplify(symbol.size).is_symbolic()) continue;
    const auto about = std::ranges::find(known, to_string(symbol.size), &ShapeEnv::Symbol::name);
    std::string why;
    for (const ShapeEnv::Guard& guard : env->guards()) why += (why.empty() ? "" : ", ") + guard.str();
    throw ArgumentError(
        "mark_dynamic",
        fmt::format("{} is marked as dynamic, but the trace needs it to be {} (guards: {}); mark it "
                    "static, or change what the function does with it",
                    about == known.end() ? "a size" : about->source, to_string(env->simplify(symbol.size)), why));
  }
}

namespace {

/// The condition over the sources of the symbols: "x.size(0) + y.size(0) > 7".
std::string over_sources(sym::Expr condition, sym::Environment& env) {
  sym::Replacements sources;
  for (const sym::Environment::Symbol& symbol : env.symbols)
    if (!symbol.source.empty()) sources[symbol.expr] = env.pool.symbol(symbol.source, symbol.expr->bounds);
  return sym::to_string(sym::substitute(condition, sources));
}

std::string with_site(std::string text, Site site) {
  const std::string line = schedule::site_text(site);
  return line.empty() ? text : fmt::format("{} ({})", text, line);
}

}  // namespace

SizeGuards::SizeGuards(const SizeSymbols& symbols, const std::vector<FactName>& names) : names_(names) {
  sym::Environment& env = symbols.env->environment();
  std::unordered_map<sym::Expr, std::size_t> fact_of;
  for (const SizeSymbols::Symbol& symbol : symbols.symbols_) {
    const auto [at, fresh] = fact_of.emplace(symbol.size.node(), symbol.fact);
    if (!fresh) {
      same_.push_back({at->second, symbol.fact});
      continue;
    }
    // What the trace has learnt beyond the statement follows from its guards.
    const sym::Interval learnt = env.knowledge.range_of(symbol.size.node());
    const sym::Interval range = learnt.is_point() ? learnt : symbol.allowed;
    bounds_.push_back({symbol.fact, range.lo, range.hi, {}});
  }
  const auto fixed = [&](sym::Expr variable) -> Bound* {
    const auto bound = std::ranges::find(bounds_, fact_of.at(variable), &Bound::fact);
    return bound->lo == bound->hi ? &*bound : nullptr;
  };
  for (const sym::Environment::Guard& guard : env.guards) {
    const sym::Expr e = guard.condition;
    Condition made;
    made.text = with_site(over_sources(e, env), guard.site);
    // The bounds say everything about sizes that have only one value left. The first guard on such a size names the
    // line that fixed it.
    const std::vector<sym::Expr> variables = sym::variables_of(e);
    if (std::ranges::all_of(variables, [&](sym::Expr v) { return fixed(v) != nullptr; })) {
      for (const sym::Expr v : variables)
        if (Bound& bound = *fixed(v); bound.text.empty())
          bound.text = with_site(fmt::format("{} == {}", names_[bound.fact].subject, bound.lo), guard.site);
      continue;
    }
    for (const sym::Expr variable : sym::variables_of(e)) made.facts.push_back(fact_of.at(variable));
    if (e->is_comparison()) {
      const sym::Terms terms = sym::terms_of(sym::sub(e->args[0], e->args[1]));
      Linear linear{e->kind, terms.constant, {}};
      bool is_linear = true;
      for (const sym::Terms::Term& term : terms.terms) {
        is_linear = is_linear && term.term->is_variable();
        if (is_linear) linear.terms.push_back({fact_of.at(term.term), term.coefficient});
      }
      if (is_linear) made.linear = std::move(linear);
    }
    if (!made.linear) {
      made.general.program = std::make_unique<const sym::Program>(e);
      for (const sym::Expr variable : made.general.program->variables())
        made.general.facts.push_back(fact_of.at(variable));
    }
    conditions_.push_back(std::move(made));
  }
}

bool SizeGuards::holds(const Condition& condition, const std::int64_t* facts) noexcept {
  if (!condition.linear) {
    boost::container::small_vector<std::int64_t, 8> values;
    for (const std::size_t fact : condition.general.facts) values.push_back(facts[fact]);
    std::vector<sym::Outcome> work;
    sym::Outcome out;
    condition.general.program->run({values.data(), values.size()}, work, {&out, 1});
    return out.is(1);
  }
  __extension__ __int128 sum = condition.linear->constant;
  for (const Term& term : condition.linear->terms) {
    __extension__ const __int128 product = static_cast<__int128>(term.coefficient) * facts[term.fact];
    sum += product;
  }
  switch (condition.linear->kind) {
    case sym::Kind::eq:
      return sum == 0;
    case sym::Kind::ne:
      return sum != 0;
    case sym::Kind::lt:
      return sum < 0;
    case sym::Kind::le:
      return sum <= 0;
    case sym::Kind::gt:
      return sum > 0;
    default:
      return sum >= 0;
  }
}

bool SizeGuards::hold(const std::int64_t* facts) const noexcept {
  for (const Bound& b : bounds_)
    if (facts[b.fact] < b.lo || facts[b.fact] > b.hi) return false;
  for (const Same& s : same_)
    if (facts[s.a] != facts[s.b]) return false;
  return std::ranges::all_of(conditions_, [&](const Condition& c) { return holds(c, facts); });
}

std::string SizeGuards::value_text(std::span<const std::size_t> facts, const std::int64_t* values) const {
  if (facts.size() == 1) return fmt::format("{}", values[facts[0]]);
  std::string text;
  for (const std::size_t fact : facts)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", names_[fact].subject, values[fact]);
  return text;
}

std::optional<SizeGuards::Miss> SizeGuards::first_miss(const std::int64_t* facts) const {
  for (const Bound& b : bounds_) {
    if (facts[b.fact] < b.lo)
      return Miss{fmt::format("{} >= {}", names_[b.fact].subject, b.lo), value_text({&b.fact, 1}, facts)};
    if (facts[b.fact] > b.hi)
      return Miss{fmt::format("{} <= {}", names_[b.fact].subject, b.hi), value_text({&b.fact, 1}, facts)};
  }
  for (const Same& s : same_) {
    if (facts[s.a] == facts[s.b]) continue;
    const std::array both{s.a, s.b};
    return Miss{fmt::format("{} == {}", names_[s.a].subject, names_[s.b].subject), value_text(both, facts)};
  }
  for (const Condition& c : conditions_)
    if (!holds(c, facts)) return Miss{c.text, value_text(c.facts, facts)};
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

CapturedSizes::CapturedSizes(SizeSymbols symbols, const std::vector<FactName>& names, Trace trace)
    : symbols_(std::move(symbols)), names_(names), guards_(symbols_, names_), trace_(std::move(trace)) {
  order_ = graph::post_order(trace_.roots);
  for (const Node* node : order_) sizes_.add(*node);
  for (const Trace::Input& input : trace_.storages) sizes_.add(input.kind);
  for (const auto& movements : trace_.movements)
    for (const NodePtr& movement : movements) sizes_.add(*movement);
  sizes_.compile();
  for (const sym::Expr variable : sizes_.variables()) {
    const auto found = std::ranges::find_if(
        symbols_.symbols_, [&](const SizeSymbols::Symbol& symbol) { return symbol.size.node() == variable; });
    if (found == symbols_.symbols_.end())
      throw InternalError("function", fmt::format("the size {} is no input's", sym::to_string(variable)));
    facts_.push_back(found->fact);
  }
}

CapturedSizes::~CapturedSizes() {
  for (std::atomic<Kept*>& bucket : kept_) {
    for (Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr;) delete std::exchange(kept, kept->next);
  }
}

const CapturedSizes::Kept* CapturedSizes::find(std::span<const std::int64_t> values, const Kept* from) const noexcept {
  while (from != nullptr && !std::ranges::equal(from->values, values)) from = from->next;
  return from;
}

std::shared_ptr<const CapturedPlan> CapturedSizes::plan(const Facts& facts) const {
  InlineVector<std::int64_t, 8> values;
  std::uint64_t hash = 0;
  for (const std::size_t fact : facts_) {
    values.push_back(facts[fact]);
    hash = (hash ^ static_cast<std::uint64_t>(facts[fact])) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
  }
  const std::span<const std::int64_t> key(values.data(), values.size());
  std::atomic<Kept*>& bucket = kept_[hash % kBuckets];
  if (const Kept* kept = find(key, bucket.load(std::memory_order_acquire))) return kept->plan;
  std::shared_ptr<const CapturedPlan> made = make(key);
  if (count_.load(std::memory_order_relaxed) >= kMostPlans) {
    other_runs_.fetch_add(1, std::memory_order_relaxed);
    return made;
  }
  auto fresh = std::make_unique<Kept>(Kept{{key.begin(), key.end()}, std::move(made), nullptr});
  Kept* head = bucket.load(std::memory_order_acquire);
  do {
    if (const Kept* kept = find(key, head)) return kept->plan;  // added by another thread meanwhile
    fresh->next = head;
  } while (!bucket.compare_exchange_weak(head, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  count_.fetch_add(1, std::memory_order_relaxed);
  return fresh.release()->plan;
}

// Schedules the traced graph with numbers for its sizes, over placeholders of these sizes.
std::shared_ptr<const CapturedPlan> CapturedSizes::make(std::span<const std::int64_t> values) const {
  const graph::Sizes::At at = sizes_.at(values);
  std::unordered_map<const Node*, NodePtr> made;
  std::vector<const mem::Buffer*> storages;
  std::vector<const mem::Buffer*> numbers;
  const auto stand_in = [&](const Trace::Input& input, std::vector<const mem::Buffer*>& buffers) {
    const graph::RealizedKind kind = at(input.kind);
    const auto bytes = static_cast<std::size_t>(numel(kind.shape, "function").value()) * itemsize(kind.dtype);
    NodePtr node = graph::realized_node(
        kind, std::make_shared<mem::Buffer>(input.placeholder->device, nullptr, bytes, std::function<void(void*)>()));
    buffers.push_back(node->buffer.get());
    made.emplace(input.placeholder.get(), std::move(node));
  };
  for (const Trace::Input& input : trace_.storages) stand_in(input, storages);
  for (const Trace::Input& input : trace_.numbers) stand_in(input, numbers);
  std::vector<NodePtr> sources;
  for (const Node* node : order_) {
    if (node->realized()) {
      made.emplace(node, NodePtr(node));  // placeholders of inputs stay
      continue;
    }
    sources.clear();
    for (const NodePtr& source : node->sources) sources.push_back(made.at(source.get()));
    const bool root = std::ranges::find(trace_.roots, node, &NodePtr::get) != trace_.roots.end();
    made.emplace(node, graph::resized(*node, at, sources, root));
  }
  auto plan = std::make_shared<CapturedPlan>();
  const auto leaf_of = [&](const mem::BufferPtr& buffer) -> CapturedValue {
    for (std::size_t k = 0; k < storages.size(); ++k)
      if (storages[k] == buffer.get()) return {CapturedValue::Kind::input, k};
    for (std::size_t k = 0; k < numbers.size(); ++k)
      if (numbers[k] == buffer.get()) return {CapturedValue::Kind::number, k};
    for (std::size_t k = 0; k < trace_.constants.size(); ++k)
      if (trace_.constants[k]->buffer == buffer) return {CapturedValue::Kind::constant, k};
    throw InternalError("function", "a leaf of a captured function is no input of it");
  };
  std::vector<NodePtr> roots;
  for (const NodePtr& root : trace_.roots) roots.push_back(made.at(root.get()));
  constexpr std::int64_t kMostKept = 1 << 16;  // there may be thousands of plans
  schedule_plan(roots, leaf_of, kMostKept, nullptr, *plan);
  for (const auto& movements : trace_.movements) {
    auto& paths = plan->paths.emplace_back();
    for (const NodePtr& movement : movements) {
      NodePtr below = graph::iota(at(movement->sources[0]->shape));
      const NodePtr like = graph::resized(*movement, at, {&below, 1});
      if (like == below) continue;
      paths.emplace_back([like](NodePtr x) { return graph::movement_like(*like, std::move(x)); });
    }
  }
  return plan;
}

std::vector<std::string> CapturedSizes::symbol_lines() const {
  std::vector<std::string> out;
  for (const ShapeEnv::Symbol& symbol : symbols_.env->symbols()) {
    std::string line = fmt::format("{} = {}", symbol.name, symbol.source);
    if (!symbol.replacement.empty()) line += fmt::format(", which is {}", symbol.replacement);
    if (symbol.range.lo) line += fmt::format(", at least {}", *symbol.range.lo);
    if (symbol.range.hi) line += fmt::format(", at most {}", *symbol.range.hi);
    out.push_back(std::move(line));
  }
  return out;
}

std::uint64_t CapturedSizes::runs() const noexcept {
  std::uint64_t runs = other_runs_.load(std::memory_order_relaxed);
  for (const std::atomic<Kept*>& bucket : kept_)
    for (const Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr; kept = kept->next)
      runs += kept->plan->launches->runs();
  return runs;
}

const CapturedPlan* CapturedSizes::any_plan() const noexcept {
  for (const std::atomic<Kept*>& bucket : kept_)
    if (const Kept* kept = bucket.load(std::memory_order_acquire)) return kept->plan.get();
  return nullptr;
}

}  // namespace oriel::api
