#include "schedule/fused_kernels.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "schedule/shared_loops.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// Pairs of values that are compared, at most.
constexpr std::size_t kMostPairs = 256;

class SoftmaxMatcher {
 public:
  SoftmaxMatcher(const KernelLoops& weights, const KernelLoops& products)
      : w_(weights), kernel_(weights.kernel()), products_(products) {}

  bool run(EntryId scores, EntryId stored) {
    return find_stages() && find_weights() && knows_scores_alone() && one_a_column(scores, stored) && feeds(stored);
  }

 private:
  const Entry& entry(std::size_t n) const { return w_.arena()[kernel_.instances[n].entry]; }
  bool is(std::size_t n, Op op) const {
    return kernel_.instances[n].role == Role::Compute && entry(n).op == op && entry(n).dtype == dtype_;
  }
  bool is_reduction(std::size_t n, std::size_t reduction) const {
    return kernel_.instances[n].role == Role::Reduce &&
           kernel_.instances[n].scope == kFirstReduction + static_cast<ScopeId>(reduction);
  }
  std::size_t operand(std::size_t n, int k) const { return w_.values().number(w_.values().operand(n, k)); }
  std::size_t source(std::size_t n) const { return w_.values().number(w_.values().source(n)); }

  // A maximum, a sum, and a stage that stores; all over the same columns.
  bool find_stages() {
    if (kernel_.reductions.size() != 2 || w_.memory().stores.size() != 1) return false;
    max_ = w_.arena()[kernel_.reductions[0].entry].op == Op::ReduceMax ? 0 : 1;
    sum_ = 1 - max_;
    const Entry& most = w_.arena()[kernel_.reductions[max_].entry];
    const Entry& sum = w_.arena()[kernel_.reductions[sum_].entry];
    dtype_ = sum.dtype;
    if (most.op != Op::ReduceMax || sum.op != Op::Sum || most.dtype != dtype_ || is_half(dtype_)) return false;
    const auto& stages = w_.nest().stages;
    const auto works = [](const LoopStage& s) { return s.has_body || !s.reductions.empty(); };
    const auto first = static_cast<std::size_t>(w_.nest().stage_of_reduction[max_]);
    const auto second = static_cast<std::size_t>(w_.nest().stage_of_reduction[sum_]);
    const StageSlot store = w_.memory().stores[0].slot;
    if (std::count_if(stages.begin(), stages.end(), works) != 3 || first >= second || second + 1 >= stages.size() ||
        !store.body || static_cast<std::size_t>(store.stage) + 1 != stages.size())
      return false;
    const Ints& columns = stages.back().inner;
    if (columns.size() != 1 || stages[first].inner != columns || stages[second].inner != columns) return false;
    columns_ = columns[0];
    return true;
  }

  // What is stored is exp(y - most) / sum, perhaps converted to a half.
  bool find_weights() {
    std::size_t quotient = w_.values().number(w_.memory().stores[0].instance);
    if (kernel_.instances[quotient].role == Role::Compute && entry(quotient).op == Op::Cast &&
        is_half(entry(quotient).dtype))
      quotient = operand(quotient, 0);
    if (!is(quotient, Op::Div) || !is_reduction(operand(quotient, 1), sum_)) return false;
    std::size_t n = 0;
    while (!is_reduction(n, sum_)) ++n;
    const std::size_t power = source(n);
    if (!is(power, Op::Exp) || !w_.values().slot(power).body || !same(operand(quotient, 0), power)) return false;
    const std::size_t shift = operand(power, 0);
    if (!is(shift, Op::Sub) || !is_reduction(operand(shift, 1), max_)) return false;
    shifted_ = operand(shift, 0);
    return true;
  }

  // The same value, at the same place of its stage's loops?
  bool same(std::size_t a, std::size_t b) const {
    std::set<std::pair<std::size_t, std::size_t>> met;
    std::vector<std::pair<std::size_t, std::size_t>> pending{{a, b}};
    while (!pending.empty()) {
      const auto [x, y] = pending.back();
      pending.pop_back();
      if (x == y || !met.emplace(x, y).second) continue;
      if (met.size() > kMostPairs) return false;
      const Instance& i = kernel_.instances[x];
      const Instance& j = kernel_.instances[y];
      const std::int32_t c = w_.values().access(x), d = w_.values().access(y);
      if (i.entry != j.entry || i.role != j.role || (c < 0) != (d < 0)) return false;
      if (c >= 0 && w_.memory().accesses[static_cast<std::size_t>(c)].tracker !=
                        w_.memory().accesses[static_cast<std::size_t>(d)].tracker)
        return false;
      if (i.role == Role::Masked) pending.emplace_back(source(x), source(y));
      if (i.role != Role::Compute) continue;
      for (int k = w_.values().first_operand(x); k < entry(x).arity; ++k)
        pending.emplace_back(operand(x, k), operand(y, k));
    }
    return true;
  }

  // Neither y nor any value that is computed once per row depends on the maximum or the sum.
  bool knows_scores_alone() const {
    const auto reads_reduction = [&](std::size_t n) {
      const Instance& i = kernel_.instances[n];
      if (i.role == Role::Masked) return kernel_.instances[source(n)].role == Role::Reduce;
      if (i.role != Role::Compute) return false;
      for (int k = w_.values().first_operand(n); k < entry(n).arity; ++k)
        if (kernel_.instances[operand(n, k)].role == Role::Reduce) return true;
      return false;
    };
    for (std::size_t n = 0; n < kernel_.instances.size(); ++n)
      if (!w_.values().slot(n).body && reads_reduction(n)) return false;
    if (kernel_.instances[shifted_].role == Role::Reduce) return false;
    std::vector<std::size_t> pending{shifted_};
    std::set<std::size_t> met{shifted_};
    while (!pending.empty()) {
      const std::size_t n = pending.back();
      pending.pop_back();
      if (reads_reduction(n)) return false;
      const Instance& i = kernel_.instances[n];
      const auto need = [&](std::size_t below) {
        if (met.insert(below).second) pending.push_back(below);
      };
      if (i.role == Role::Masked) need(source(n));
      if (i.role != Role::Compute) continue;
      for (int k = w_.values().first_operand(n); k < entry(n).arity; ++k) need(operand(n, k));
    }
    return true;
  }

  // Each column reads its own score and stores its own weight.
  bool one_a_column(EntryId scores, EntryId stored) const {
    const std::int32_t read = w_.memory().argument_of(scores, false);
    for (const LoopAccess& a : w_.memory().accesses) {
      if (a.argument < 0 || (a.argument != read && !a.store)) continue;
      if (!a.in_order || !walks_row(w_, a, a.store ? stored : scores)) return false;
    }
    return read >= 0;
  }

  // Does the access walk a row of `columns_` elements, one after the other, in the inner loop?
  bool walks_row(const KernelLoops& loops, const LoopAccess& a, EntryId value) const {
    if (a.stage == kOuterOnly || !detail::walks_runs(a.tracker)) return false;
    const SymInt elements = numel(loops.arena()[value].shape());
    return a.tracker.shape().back() == columns_ && elements == numel(w_.nest().outer) * columns_;
  }

  // The weights are a factor of the product, as they are, and nothing else reads them.
  bool feeds(EntryId weights) const {
    const std::optional<LoopProduct> product = only_product(products_);
    if (!product || product->dtype != dtype_ || product->depth != columns_) return false;
    const std::int32_t argument = products_.memory().argument_of(weights, false);
    int accesses = 0;
    for (const LoopAccess& a : products_.memory().accesses) {
      if (a.argument != argument) continue;
      if (++accesses > 1 || !a.in_order || a.stage != product->stage || !walks_row(products_, a, weights)) return false;
    }
    if (accesses != 1) return false;
    const Kernel& k = products_.kernel();
    int readers = 0;
    for (std::size_t n = 0; n < k.instances.size(); ++n) {
      const Instance& i = k.instances[n];
      if (i.role == Role::Masked && is_load(products_.values().number(products_.values().source(n)), weights))
        return false;
      if (i.role != Role::Compute || products_.values().number(n) != n) continue;
      for (int o = products_.values().first_operand(n); o < products_.arena()[i.entry].arity; ++o) {
        if (!is_load(products_.values().number(products_.values().operand(n, o)), weights)) continue;
        if (n != product->value || ++readers > 1) return false;
      }
    }
    return readers == 1;
  }

  bool is_load(std::size_t n, EntryId value) const {
    const Instance& i = products_.kernel().instances[n];
    return i.role == Role::Load && i.entry == value;
  }

  const KernelLoops& w_;
  const Kernel& kernel_;
  const KernelLoops& products_;
  DType dtype_ = DType::float32;
  std::size_t max_ = 0;  // of Kernel::reductions
  std::size_t sum_ = 0;
  std::size_t shifted_ = 0;  // y, in the sum's stage
  SymInt columns_ = 1;
};

}  // namespace

bool runs_online(const KernelLoops& weights, EntryId scores, EntryId stored, const KernelLoops& products) {
  return SoftmaxMatcher(weights, products).run(scores, stored);
}

}  // namespace oriel::schedule
