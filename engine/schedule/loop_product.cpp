#include "schedule/loop_product.hpp"

#include <algorithm>
#include <set>

#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// The accesses that a value is made through; false where a reduction is below it.
bool collect_accesses(const KernelLoops& loops, std::size_t value, std::vector<std::int32_t>& accesses) {
  const std::vector<Instance>& list = loops.kernel().instances;
  std::vector<std::size_t> pending{value};
  std::set<std::size_t> met{value};
  const auto need = [&](std::size_t n) {
    if (met.insert(n).second) pending.push_back(n);
  };
  while (!pending.empty()) {
    const std::size_t n = pending.back();
    pending.pop_back();
    if (loops.values().access(n) >= 0) accesses.push_back(loops.values().access(n));
    switch (list[n].role) {
      case Role::Reduce:
        return false;
      case Role::Load:
      case Role::Leaf:
        break;
      case Role::Alias:
      case Role::Masked:
        need(loops.values().source(n));
        break;
      case Role::Compute:
        for (int k = loops.values().first_operand(n); k < loops.arena()[list[n].entry].arity; ++k)
          need(loops.values().operand(n, k));
    }
  }
  return true;
}

// `source` says whether the product is converted before it is summed.
std::optional<LoopProduct> product_of(const KernelLoops& loops, std::size_t reduction, ReductionSource& source) {
  source = ReductionSource::Values;
  const Kernel& kernel = loops.kernel();
  const Instance& reduce = kernel.instances[reduction];
  const auto entry = [&](std::size_t n) -> const Entry& { return loops.arena()[kernel.instances[n].entry]; };
  const auto computes = [&](std::size_t n, Op op) {
    return kernel.instances[n].role == Role::Compute && entry(n).op == op;
  };
  LoopProduct out;
  out.dtype = entry(reduction).dtype;
  if (entry(reduction).op != Op::Sum || out.dtype == DType::bool_) return std::nullopt;
  out.stage = loops.nest().stage_of_reduction[static_cast<std::size_t>(reduce.scope - kFirstReduction)];
  out.value = loops.values().maker(loops.values().source(reduction));
  bool converted = false;
  if (computes(out.value, Op::Cast)) {
    converted = true;
    out.value = loops.values().maker(loops.values().operand(out.value, 0));
  }
  if (!computes(out.value, Op::Mul)) return std::nullopt;
  converted = converted || is_half(entry(out.value).dtype);  // a product of halves is rounded
  for (const int side : {0, 1})
    if (!collect_accesses(loops, loops.values().operand(out.value, side), out.accesses[side])) return std::nullopt;
  out.depth = numel(loops.nest().stages[static_cast<std::size_t>(out.stage)].inner, "product");
  source = converted ? ReductionSource::ConvertedProduct : ReductionSource::Product;
  return out;
}

}  // namespace

std::optional<LoopProduct> only_product(const KernelLoops& loops) {
  const Kernel& kernel = loops.kernel();
  const std::vector<LoopStage>& stages = loops.nest().stages;
  if (kernel.reductions.size() != 1 ||
      std::count_if(stages.begin(), stages.end(), [](const LoopStage& s) { return s.loops(); }) != 1)
    return std::nullopt;
  std::size_t n = 0;
  while (kernel.instances[n].role != Role::Reduce) ++n;
  ReductionSource source{};
  std::optional<LoopProduct> product = product_of(loops, n, source);
  return source == ReductionSource::Product ? std::move(product) : std::nullopt;
}

ReductionSource source_of(const KernelLoops& loops, std::size_t reduction) {
  ReductionSource source{};
  product_of(loops, reduction, source);
  return source;
}

void AxisRoles::add(int side, const ShapeTracker& access) {
  for (std::size_t d = 0; d < size(); ++d) changes_[side][d] = changes_[side][d] || detail::changes_along(access, d);
}

std::optional<ProductSides> sides_of(const KernelLoops& loops, const LoopProduct& product) {
  const Ints& outer = loops.nest().outer;
  AxisRoles axes(outer.size());
  for (const int side : {0, 1})
    for (const std::int32_t a : product.accesses[side])
      axes.add(side, loops.memory().accesses[static_cast<std::size_t>(a)].tracker);
  ProductSides sides;
  bool apart = false;
  for (std::size_t d = 0; d < outer.size(); ++d) {
    if (axes[d] == AxisRole::Batch) continue;
    apart = true;
    (axes[d] == AxisRole::Left ? sides.rows : sides.columns) *= outer[d];
  }
  return apart ? std::optional(sides) : std::nullopt;
}

}  // namespace oriel::schedule
