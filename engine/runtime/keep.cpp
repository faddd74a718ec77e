#include "runtime/keep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/build.hpp"
#include "runtime/memory_assignment.hpp"
#include "schedule/describe.hpp"
#include "schedule/rates.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::Op;

namespace {

// A value of positions and numbers alone that costs at most this many operations an element is computed again.
constexpr std::uint32_t kCheapOperations = 32;
// A product is kept at once if computing it takes this many times as long as storing it.
constexpr double kCostly = 32;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

bool was_evaluated(const Awaited& a, const Node& node) {
  return !a.cheap && node.evaluated.load(std::memory_order_relaxed) >= kStoredFrom;
}

double elements(const Node& node) { return static_cast<double>(numel(node.shape).value()); }

/// What computing a node again takes.
struct Effort {
  std::uint32_t operations = 0;  // for an element, from positions and numbers
  bool pointwise = true;         // are there only such operations, on positions and numbers?
  bool computes = false;         // is there more below than movements of memory or of numbers?
};

std::vector<Effort> efforts(const graph::Order& order) {
  std::vector<Effort> all(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    Effort& own = all[i];
    const Op op = order[i].op;
    const bool leaf = op == Op::Const || op == Op::Iota;
    own.pointwise = !order.in_memory(i) && (leaf || graph::is_elementwise(op) || graph::is_movement(op));
    if (order.in_memory(i)) continue;
    std::uint64_t operations = graph::row(op).cost;
    for (const std::int32_t s : order.sources(i)) {
      const Effort& source = all[at(s)];
      operations += source.operations;
      own.pointwise = own.pointwise && source.pointwise;
      own.computes = own.computes || source.computes;
    }
    own.operations = static_cast<std::uint32_t>(std::min<std::uint64_t>(operations, 1U << 20));
    own.computes = own.computes || !(leaf || graph::is_movement(op));
  }
  return all;
}

bool is_cheap(const Effort& effort) { return effort.pointwise && effort.operations <= kCheapOperations; }

// A sum of products: the factors below movements, both of more than numbers.
bool is_product(const graph::Order& order, std::size_t i) {
  if (order[i].op != Op::Sum || order.in_memory(i)) return false;
  std::int32_t below = order.sources(i)[0];
  while (!order.in_memory(below) && graph::is_movement(order[below].op)) below = order.sources(below)[0];
  return !order.in_memory(below) && order[below].op == Op::Mul && !order.movable(order.sources(below)[0]) &&
         !order.movable(order.sources(below)[1]);
}

// How many elements of each node the roots need, as an estimate. Reductions need parts of their sources, and what reads
// memory anywhere needs them whole; a slice needs as many elements as it has.
std::vector<double> needed_elements(const graph::Order& order) {
  std::vector<double> needed(order.size(), 0);
  for (const std::int32_t r : order.roots()) needed[at(r)] = elements(order[r]);
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node& node = order[i];
    const double own = elements(node);
    needed[i] = std::min(needed[i], own);
    if (order.in_memory(i) || (needed[i] == 0 && own > 0)) continue;
    const std::span<const std::int32_t> sources = order.sources(i);
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const double all = elements(order[sources[k]]);
      // What a value without elements is computed from is computed all the same.
      const bool anywhere =
          own == 0 || graph::runs_alone(node.op) || node.op == Op::Copy || (node.op == Op::Gather && k == 0);
      needed[at(sources[k])] += anywhere                    ? all
                                : graph::is_reduce(node.op) ? needed[i] / own * all
                                                            : std::min(needed[i], all);
    }
  }
  return needed;
}

/// Chooses the kept roots of one order.
class Chooser {
 public:
  Chooser(const graph::Order& order, const std::vector<Awaited>& awaited, std::int64_t bytes)
      : order_(order), awaited_(order.size(), nullptr), left_(bytes) {
    for (const Awaited& a : awaited) awaited_[at(a.number)] = &a;
    done_.assign(order.size(), false);
    for (const std::int32_t r : order.roots()) done_[at(r)] = true;
  }

  // Consumers first: `needed` marks what is needed by more than values that were computed before.
  void choose_repeated() {
    std::vector<bool> needed = done_;
    for (std::size_t i = order_.size(); i-- > 0;) {
      if (order_.in_memory(i)) continue;
      const Awaited* const own = awaited_[i];
      if (!needed[i] && (own == nullptr || !own->held)) continue;
      const Node& node = order_[i];
      const bool again = own != nullptr && was_evaluated(*own, node);
      // A movement of all elements is free: its source is kept.
      if (again && (!graph::is_movement(node.op) || reads_part(node.op)) && choose(i, RootReason::again)) continue;
      for (const std::int32_t s : order_.sources(i)) needed[at(s)] = true;
    }
  }

  // `above`: a root or kept value is computed from it element by element, or a product reads it. `time`: that of the
  // product below, if nothing between is kept. `largest`: the bytes of the largest tensor in memory below.
  void choose_costly() {
    const std::size_t n = order_.size();
    std::vector<bool> above = done_;
    for (std::size_t i = n; i-- > 0;) {
      if (order_.in_memory(i) || !(is_product(order_, i) || (above[i] && !graph::is_reduce(order_[i].op)))) continue;
      for (const std::int32_t s : order_.sources(i)) above[at(s)] = true;
    }
    std::vector<double> time(n, 0);
    std::vector<std::int64_t> largest(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const Node& node = order_[i];
      if (order_.in_memory(i)) {
        largest[i] = bytes_of(node.shape, node.dtype);
        continue;
      }
      for (const std::int32_t s : order_.sources(i)) {
        largest[i] = std::max(largest[i], largest[at(s)]);
        if (graph::is_elementwise(node.op) || graph::is_movement(node.op)) time[i] = std::max(time[i], time[at(s)]);
      }
      if (is_product(order_, i)) time[i] = schedule::kRates.blocked * elements(order_[order_.sources(i)[0]]);
      const Awaited* const own = awaited_[i];
      if (time[i] == 0 || own == nullptr || !own->held || own->share < kStoredFrom || above[i] || done_[i] ||
          !(graph::is_elementwise(node.op) || is_product(order_, i)))
        continue;
      if (time[i] >= kCostly * schedule::kRates.store * elements(node) &&
          bytes_of(node.shape, node.dtype) <= largest[i] && choose(i, RootReason::costly))
        time[i] = 0;
    }
  }

  std::vector<KeptRoot> take() { return std::move(chosen_); }

 private:
  bool choose(std::size_t i, RootReason reason) {
    const std::int64_t bytes = bytes_of(order_[i].shape, order_[i].dtype);
    if (bytes > left_) return false;
    left_ -= bytes;
    done_[i] = true;
    chosen_.push_back({static_cast<std::int32_t>(i), reason, awaited_[i]->held});
    return true;
  }

  const graph::Order& order_;
  std::vector<const Awaited*> awaited_;  // by node; null if it is not awaited
  std::vector<bool> done_;               // roots, asked for or kept
  std::int64_t left_;
  std::vector<KeptRoot> chosen_;
};

}  // namespace

void find_awaited(const graph::Order& order, const Usage& usage, std::uint64_t work, std::vector<Awaited>& awaited) {
  awaited.clear();
  const auto candidate = [&](std::size_t i) {
    return usage.waits(i) && !usage.root(i) && !order.in_memory(i) && !order.movable(i);
  };
  std::size_t i = 0;
  while (i < order.size() && !candidate(i)) ++i;
  if (i == order.size()) return;
  const std::vector<double> needed = needed_elements(order);
  std::vector<bool> held(order.size());  // it or a view of it
  for (std::size_t k = order.size(); k-- > i;) {
    held[k] = held[k] || usage.held(k);
    if (!held[k] || order.in_memory(k) || !graph::is_movement(order[k].op)) continue;
    for (const std::int32_t s : order.sources(k)) held[at(s)] = true;
  }
  const std::vector<Effort> effort = efforts(order);
  for (; i < order.size(); ++i) {
    const Node& node = order[i];
    const bool cheap = is_cheap(effort[i]);
    if (!candidate(i) || needed[i] == 0 || node.op == Op::Assign || !effort[i].computes || (cheap && !held[i]) ||
        node.claim.load(std::memory_order_relaxed) != work || numel(node.shape) == 0)
      continue;
    awaited.push_back({static_cast<std::int32_t>(i), held[i], static_cast<float>(needed[i] / elements(node)), cheap});
  }
}

std::vector<KeptRoot> find_kept_roots(const graph::Order& order, const std::vector<Awaited>& awaited,
                                      std::int64_t bytes) {
  if (awaited.empty()) return {};
  Chooser chooser(order, awaited, bytes == 0 ? std::numeric_limits<std::int64_t>::max() : bytes);
  if (std::ranges::any_of(awaited, [&](const Awaited& a) { return was_evaluated(a, order[a.number]); }))
    chooser.choose_repeated();
  chooser.choose_costly();
  return chooser.take();
}

std::string still_named(const Node& node, bool held) {
  const std::string line = schedule::site_text(node.site);
  return fmt::format("{}{} is still {}", graph::snake_name(node.op), line.empty() ? "" : " (" + line + ")",
                     held ? "named" : "needed by a named value");
}

std::string text_of(const AddedRoot& root, const Node& node) {
  switch (root.reason) {
    case RootReason::asked:
      break;
    case RootReason::early:
      return "a tensor still names it, and a write of this work overwrites elements that it reads";
    case RootReason::again:
      return fmt::format("it is kept: {} and was computed before", still_named(node, root.held));
    case RootReason::costly:
      return fmt::format("it is kept: {}, and computing it again would take longer", still_named(node, root.held));
  }
  return {};
}

}  // namespace oriel::runtime
