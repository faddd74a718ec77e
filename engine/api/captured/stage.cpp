#include "api/captured/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/captured/loaded_graph.hpp"
#include "base/debug.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/observe.hpp"
#include "runtime/trace.hpp"
#include "schedule/estimate.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

using base::Debug;
using graph::Node;
using graph::NodePtr;

namespace {

// Bytes between kernels that a plan keeps. There may be thousands of plans.
constexpr std::int64_t kMostKept = 1 << 16;

std::uint64_t hash_of(std::span<const std::int64_t> values) noexcept {
  std::uint64_t hash = 0;
  for (const std::int64_t value : values) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

CapturedStage::CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                             const std::vector<std::size_t>& known, bool last)
    : graph_(graph), symbols_(symbols), computes_(std::move(computes)), last_(last) {
  using Kind = CapturedValue::Kind;
  const auto add = [&](Kind kind, const std::vector<TracedGraph::Input>& inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      leaves_.push_back({{kind, k}, inputs[k].placeholder.get(), &inputs[k].kind});
  };
  add(Kind::input, graph_.storages);
  add(Kind::number, graph_.numbers);
  for (std::size_t k = 0; k < graph_.late.size(); ++k)
    leaves_.push_back({{Kind::late, k}, graph_.late[k].positions.placeholder.get(), &graph_.late[k].positions.kind});
  for (const std::size_t value : known) leaves_.push_back({{Kind::output, value}, graph_.values[value].get(), nullptr});
  walk();
  for (const auto& movements : graph_.movements) {
    if (!last_) break;
    for (const NodePtr& movement : movements) {
      sizes_.add(*movement);
      sizes_.add(*movement->sources[0]);
    }
  }
  sizes_.compile();
  may_open_ = !computes_.empty();
  for (const sym::Expr variable : sizes_.variables()) facts_.push_back(symbols.fact_of(variable));
}

void CapturedStage::walk() {
  graph::Numbering leaves;
  for (const Leaf& leaf : leaves_) leaves.insert(leaf.node);
  graph::Numbering places;
  struct Frame {
    const Node* node;
    std::size_t next;
  };
  std::vector<Frame> path;
  const auto enter = [&](const Node* node) {
    if (places.find(node) < 0) path.push_back({node, 0});
  };
  for (const std::size_t value : computes_) {
    for (enter(graph_.values[value].get()); !path.empty();) {
      Frame& top = path.back();
      const Node* const node = top.node;
      const std::int32_t leaf = leaves.find(node);
      if (const bool below = leaf < 0 && !node->realized(); below && top.next < node->sources.size()) {
        enter(node->sources[top.next++].get());
        continue;
      }
      path.pop_back();
      if (!places.insert(node)) continue;
      TracedNode& step = order_.emplace_back(TracedNode{node, leaf, false, {}});
      if (leaf >= 0) {
        const Leaf& from = leaves_[static_cast<std::size_t>(leaf)];
        if (from.kind != nullptr) {
          sizes_.add(*from.kind);
        } else {  // the layout of the value may depend on all sizes below it
          for (const Node* below : graph::post_order({&graph_.values[from.from.index], 1})) sizes_.add(*below);
        }
        continue;
      }
      sizes_.add(*node);
      if (node->realized()) continue;
      for (const NodePtr& source : node->sources)
        step.sources.push_back(static_cast<std::uint32_t>(places.find(source.get())));
    }
    roots_.push_back(static_cast<std::uint32_t>(places.find(graph_.values[value].get())));
    order_[roots_.back()].root = true;
  }
}

CapturedStage::~CapturedStage() {
  for (std::atomic<Kept*>& bucket : kept_) {
    for (Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr;) delete std::exchange(kept, kept->next);
  }
  for (Open* open = open_.load(std::memory_order_acquire); open != nullptr;) delete std::exchange(open, open->next);
}

const CapturedStage::Kept* CapturedStage::find(std::span<const std::int64_t> values, const Kept* from) const noexcept {
  while (from != nullptr && !std::ranges::equal(from->values, values)) from = from->next;
  return from;
}

std::shared_ptr<const CapturedPlan> CapturedStage::plan(std::span<const std::int64_t> facts,
                                                        std::span<const NodePtr> done) const {
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(facts[fact]);
  const std::span<const std::int64_t> key(values.data(), values.size());
  std::atomic<Kept*>& bucket = kept_[hash_of(key) % kBuckets];
  if (const Kept* kept = find(key, bucket.load(std::memory_order_acquire))) return kept->plan;
  std::shared_ptr<const CapturedPlan> made = make(facts, key, done);
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

std::vector<NodePtr> CapturedStage::resized(const graph::Sizes::At& at, std::span<const NodePtr> stand_ins) const {
  std::vector<NodePtr> made;
  made.reserve(order_.size());
  std::vector<NodePtr> sources;
  for (const TracedNode& step : order_) {
    if (step.leaf >= 0) {
      made.push_back(stand_ins[static_cast<std::size_t>(step.leaf)]);
    } else if (step.node->realized()) {
      made.emplace_back(step.node);
    } else {
      sources.clear();
      for (const std::uint32_t source : step.sources) sources.push_back(made[source]);
      made.push_back(graph::resized(*step.node, at, sources));
      // A root is computed, even if a movement of what is in memory turns out to change nothing.
      if (step.root && made.back()->realized()) made.back() = graph::resized(*step.node, at, sources, true);
    }
  }
  std::vector<NodePtr> roots;
  for (const std::uint32_t root : roots_) roots.push_back(made[root]);
  return roots;
}

std::vector<NodePtr> CapturedStage::make_stand_ins(const graph::Sizes::At& at, std::span<const NodePtr> done) const {
  std::vector<NodePtr> stand_ins(leaves_.size());
  for (const TracedNode& step : order_) {
    if (step.leaf < 0) continue;
    const auto k = static_cast<std::size_t>(step.leaf);
    const Leaf& leaf = leaves_[k];
    graph::RealizedKind kind;
    if (leaf.kind != nullptr)
      kind = at(*leaf.kind);
    else if (done.empty())
      kind = {.dtype = leaf.node->dtype, .shape = at(leaf.node->shape)};
    else
      kind = realized_kind(*done[leaf.from.index]);
    const std::int64_t bytes =
        schedule::estimate_points(kind.shape, "function") * static_cast<std::int64_t>(itemsize(kind.dtype));
    stand_ins[k] = graph::realized_node(kind, runtime::memoryless(leaf.node->device, bytes));
  }
  return stand_ins;
}

CapturedStage::OpenGraph CapturedStage::open_graph(const PlanSymbols& symbols) const {
  const graph::Sizes::At at = sizes_.in(symbols.env(), symbols.of());
  std::vector<NodePtr> leaves = make_stand_ins(at, {});
  std::vector<NodePtr> roots = resized(at, leaves);
  // What is checked of symbolic sizes becomes guards.
  if (!graph_.trusted) check_loaded(roots);
  return {at, std::move(leaves), std::move(roots)};
}

NodePtr CapturedStage::leaf(const CapturedValue& value, const PlanSymbols& symbols, OpenGraph& graph) const {
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    if (leaves_[k].from.kind != value.kind || leaves_[k].from.index != value.index) continue;
    if (graph.leaves[k]) return graph.leaves[k];
    graph::RealizedKind kind = *leaves_[k].kind;  // no value reads it; a result is it, or a view of it
    for (SymInt& n : kind.shape)
      if (n.is_symbolic()) n = SymInt(sym::moved(n.node(), symbols.env().environment().pool, symbols.of()));
    return graph.leaves[k] = graph::realized_node(kind, runtime::memoryless(leaves_[k].node->device, 8));
  }
  throw InternalError("function", "a captured function's result names a leaf that its graph does not hold");
}

CapturedValue CapturedStage::leaf_of(const mem::BufferPtr& buffer, std::span<const NodePtr> stand_ins) const {
  for (std::size_t k = 0; k < stand_ins.size(); ++k)
    if (stand_ins[k] && stand_ins[k]->buffer == buffer) return leaves_[k].from;
  for (std::size_t k = 0; k < graph_.constants.size(); ++k)
    if (graph_.constants[k]->buffer == buffer) return {CapturedValue::Kind::constant, k};
  throw InternalError("function", "a leaf of a captured function is no input of it");
}

// The plan for these sizes: by a plan that serves many sizes if there is one, else by scheduling the traced graph with
// numbers for its sizes, over placeholders of these sizes.
std::shared_ptr<const CapturedPlan> CapturedStage::make(std::span<const std::int64_t> facts,
                                                        std::span<const std::int64_t> values,
                                                        std::span<const NodePtr> done) const {
  const bool row_major = reads_row_major(done);
  std::shared_ptr<CapturedPlan> open = row_major ? from_open_plan(facts) : nullptr;
  if (open == nullptr && row_major && try_open(facts)) {
    // The plan that is made for these sizes serves them too, so that one set of kernels is compiled, not two.
    open = from_open_plan(facts);
    if (open != nullptr) scheduled_.fetch_add(1, std::memory_order_relaxed);
  }
  if (open != nullptr) {
    if (last_) add_paths(values, *open);
    return open;
  }
  auto plan = std::make_shared<CapturedPlan>();
  const graph::Sizes::At at = sizes_.at(values);
  const std::vector<NodePtr> stand_ins = make_stand_ins(at, done);
  const std::vector<NodePtr> roots = resized(at, stand_ins);
  if (!graph_.trusted) check_loaded(roots);
  schedule_plan(
      roots, [&](const mem::BufferPtr& buffer) { return leaf_of(buffer, stand_ins); }, kMostKept, nullptr, *plan);
  scheduled_.fetch_add(1, std::memory_order_relaxed);
  if (last_) add_paths(values, *plan);
  return plan;
}

// Open plans take the values of earlier stages for row-major ones.
bool CapturedStage::reads_row_major(std::span<const NodePtr> done) const {
  return std::ranges::all_of(order_, [&](const TracedNode& step) {
    if (step.leaf < 0) return true;
    const Leaf& leaf = leaves_[static_cast<std::size_t>(step.leaf)];
    return leaf.kind != nullptr || done[leaf.from.index]->layout_class == graph::LayoutClass::RowMajor;
  });
}

void CapturedStage::add_paths(std::span<const std::int64_t> values, CapturedPlan& plan) const {
  plan.paths.resize(graph_.movements.size());
  if (std::ranges::all_of(graph_.movements, &std::vector<NodePtr>::empty)) return;
  const graph::Sizes::At at = sizes_.at(values);
  for (std::size_t r = 0; r < plan.paths.size(); ++r) {
    for (const NodePtr& movement : graph_.movements[r]) {
      const Node& source = *movement->sources[0];
      const graph::RealizedKind kind{.dtype = source.dtype, .shape = at(source.shape)};
      NodePtr below = graph::realized_node(kind, runtime::memoryless(source.device, 8));
      const NodePtr like = graph::resized(*movement, at, {&below, 1});
      if (like == below) continue;
      if (!graph_.trusted) check_loaded({&like, 1});
      plan.paths[r].emplace_back([like](NodePtr x) { return graph::movement_like(*like, std::move(x)); });
    }
  }
}

std::shared_ptr<CapturedPlan> CapturedStage::from_open_plan(std::span<const std::int64_t> facts) const {
  // A plan that is shown to people is scheduled by itself, so that its reasons name its own sizes.
  if (open_.load(std::memory_order_relaxed) == nullptr || runtime::plan_watched(context())) return nullptr;
  for (const Open* open = open_.load(std::memory_order_acquire); open != nullptr; open = open->next) {
    if (!open->plan->serves(facts)) continue;
    try {
      auto plan = std::make_shared<CapturedPlan>();
      open->plan->plan(facts, kMostKept, *plan);
      served_.fetch_add(1, std::memory_order_relaxed);
      return plan;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return nullptr;  // scheduling the graph for these sizes says what is wrong, if something is
    }
  }
  return nullptr;
}

namespace {

void say_plan(std::uint16_t context, const OpenCapturedPlan& plan) {
  const base::Watch watch = base::watch_of(context);
  if (!watch.debugging(Debug::Dynamic)) return;
  std::string text = fmt::format("a plan for many sizes, under {} guards\n", plan.guard_texts().size());
  if (watch.debugging(Debug::Dynamic, 2))
    for (const std::string& guard : plan.guard_texts()) text += "  guard " + guard + '\n';
  base::debug_say(context, Debug::Dynamic, text);
}

void say_no_plan(std::uint16_t context, std::string_view why) {
  if (base::watch_of(context).debugging(Debug::Dynamic))
    base::debug_say(context, Debug::Dynamic, fmt::format("no plan for many sizes: {}\n", why));
}

}  // namespace

bool CapturedStage::try_open(std::span<const std::int64_t> facts) const {
  // The first sizes may be the only ones. Plans that serve few sizes are not worth their time.
  constexpr std::uint32_t kFirstTries = 8;
  constexpr std::uint32_t kServedForOne = 5;  // among them the one that it was made for
  constexpr std::uint32_t kMostTries = 64;
  const std::uint32_t tries = tries_.load(std::memory_order_relaxed);
  if (!may_open_ || count_.load(std::memory_order_relaxed) == 0 || tries >= kMostTries ||
      runtime::plan_watched(context()) ||
      (tries >= kFirstTries && served_.load(std::memory_order_relaxed) < tries * kServedForOne))
    return false;
  if (opening_.test_and_set(std::memory_order_acquire)) return false;
  struct End {
    std::atomic_flag& flag;
    ~End() { flag.clear(std::memory_order_release); }
  } const end{opening_};
  tries_.fetch_add(1, std::memory_order_relaxed);
  try {
    PlanSymbols symbols(symbols_, facts, graph_.trusted);
    const OpenGraph graph = open_graph(symbols);
    auto made = std::make_unique<Open>();
    made->plan = std::make_unique<const OpenCapturedPlan>(
        std::move(symbols), graph.roots, [&](const mem::BufferPtr& buffer) { return leaf_of(buffer, graph.leaves); },
        facts);
    say_plan(context(), *made->plan);
    made->next = open_.load(std::memory_order_relaxed);
    open_.store(made.release(), std::memory_order_release);
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    say_no_plan(context(), error.what());  // each set of sizes is scheduled by itself
    return false;
  }
}

std::vector<std::vector<std::int64_t>> CapturedStage::met(std::size_t most) const {
  std::vector<std::vector<std::int64_t>> out;
  for (const std::atomic<Kept*>& bucket : kept_)
    for (const Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr; kept = kept->next)
      if (out.size() < most) out.push_back(kept->values);
  return out;
}

std::uint64_t CapturedStage::runs() const noexcept {
  std::uint64_t runs = other_runs_.load(std::memory_order_relaxed);
  for (const std::atomic<Kept*>& bucket : kept_)
    for (const Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr; kept = kept->next)
      runs += kept->plan->launches->runs();
  return runs;
}

const CapturedPlan* CapturedStage::any_plan() const noexcept {
  for (const std::atomic<Kept*>& bucket : kept_)
    if (const Kept* kept = bucket.load(std::memory_order_acquire)) return kept->plan.get();
  return nullptr;
}

}  // namespace oriel::api
