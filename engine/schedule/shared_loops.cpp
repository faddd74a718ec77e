#include "schedule/shared_loops.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

SymInt points(const Ints& extents) { return numel(extents, "join"); }

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

// Along which of the first `count` loops does a factor change? `moved` brings its accesses to those loops.
template <class Moved>
std::vector<bool> changing_loops(const KernelLoops& loops, std::span<const std::int32_t> accesses, std::size_t count,
                                 const Moved& moved) {
  std::vector<bool> changing(count, false);
  for (const std::int32_t a : accesses) {
    const ShapeTracker& tracker = moved(loops.memory().accesses[static_cast<std::size_t>(a)].tracker);
    for (std::size_t d = 0; d < count; ++d) changing[d] = changing[d] || detail::changes_along(tracker, d);
  }
  return changing;
}

class RowFinder {
 public:
  RowFinder(std::span<const KernelLoops* const> kernels, std::span<const EntryId> between)
      : kernels_(kernels), between_(between) {}

  std::optional<SharedLoops> run() {
    if (kernels_.size() < 2) return std::nullopt;
    out_.units_of.resize(kernels_.size());
    if (!find_rows() || !cut_rows()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // The rows that every access to a value between two kernels walks.
  bool find_rows() {
    for (const KernelLoops* k : kernels_)
      for (const LoopArgument& a : k->memory().arguments)
        if (a.shares >= 0) return false;
    for (std::size_t p = 0; p + 1 < kernels_.size(); ++p) {
      const std::int32_t stored = kernels_[p]->memory().argument_of(between_[p], true);
      const std::int32_t loaded = kernels_[p + 1]->memory().argument_of(between_[p], false);
      if (stored < 0 || loaded < 0) return false;
      const SymInt elements = numel(kernels_[p]->arena()[between_[p]].shape());
      // A row is what the reader's parallel loops leave.
      std::optional<SymInt> rows;
      for (const LoopAccess& access : kernels_[p + 1]->memory().accesses) {
        if (access.argument != loaded) continue;
        const SymInt walked = walked_points(*kernels_[p + 1], access);
        if (!rows || walked > *rows) rows = walked;
      }
      if (!rows || *rows < 2 || elements % *rows != 0 || elements == *rows) return false;
      if (rows_ && *rows_ != *rows) return false;
      rows_ = rows;
      if (!read_units(p, stored, elements / *rows) || !read_units(p + 1, loaded, elements / *rows)) return false;
    }
    return true;
  }

  static SymInt walked_points(const KernelLoops& loops, const LoopAccess& access) {
    SymInt n = 1;
    for (std::size_t d = 0; d < loops.nest().outer.size(); ++d)
      if (detail::moves_along(access.tracker, d)) n *= loops.nest().outer[d];
    return n;
  }

  bool read_units(std::size_t part, std::int32_t argument, SymInt length) {
    const KernelLoops& loops = *kernels_[part];
    Ints& known = out_.units_of[part];
    for (const LoopAccess& access : loops.memory().accesses) {
      if (access.argument != argument) continue;
      std::optional<Ints> unit = detail::rows_per_step(access.tracker, loops.nest().outer.size(), length);
      if (!unit || (!known.empty() && known != *unit)) return false;
      known = std::move(*unit);
    }
    return !known.empty() || loops.nest().outer.empty();
  }

  // Loops over the rows with which all kernels can be written. Their extents are the digits of a row's number.
  bool cut_rows() {
    std::vector<SymInt> cuts{1};
    for (std::size_t p = 0; p < kernels_.size(); ++p) {
      std::vector<std::pair<SymInt, SymInt>> digits;
      for (std::size_t d = 0; d < out_.units_of[p].size(); ++d)
        if (!over_columns(out_.units_of[p][d])) digits.emplace_back(out_.units_of[p][d], kernels_[p]->nest().outer[d]);
      std::sort(digits.begin(), digits.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second < b.second;
      });
      SymInt next = 1;
      for (const auto& [unit, extent] : digits) {
        if (unit != next) return false;
        cuts.push_back(unit);
        next *= extent;
      }
      if (next != *rows_) return false;
    }
    std::sort(cuts.begin(), cuts.end(), [](SymInt a, SymInt b) { return a > b; });
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    SymInt above = *rows_;
    for (const SymInt cut : cuts) {
      if (above % cut != 0) return false;
      out_.extents.push_back(above / cut);
      out_.units.push_back(cut);
      above = cut;
    }
    return true;
  }

  std::span<const KernelLoops* const> kernels_;
  std::span<const EntryId> between_;
  std::optional<SymInt> rows_;
  SharedLoops out_;
};

std::size_t columns_of(const SharedLoops& shared, std::size_t part) {
  const Ints& units = shared.units_of[part];
  return static_cast<std::size_t>(std::count_if(units.begin(), units.end(), over_columns));
}

}  // namespace

std::optional<LoopProduct> find_product(const KernelLoops& loops) {
  const Kernel& kernel = loops.kernel();
  const std::vector<LoopStage>& stages = loops.nest().stages;
  if (loops.nest().form() != KernelForm::Reduction || kernel.reductions.size() != 1) return std::nullopt;
  const Entry& sum = loops.arena()[kernel.reductions[0].entry];
  if (sum.op != Op::Sum || is_half(sum.dtype) || sum.dtype == DType::bool_) return std::nullopt;
  LoopProduct out;
  out.stage = loops.nest().stage_of_reduction[0];
  out.dtype = sum.dtype;
  std::size_t n = 0;
  while (kernel.instances[n].role != Role::Reduce) ++n;
  out.value = loops.values().maker(loops.values().source(n));
  const Instance& product = kernel.instances[out.value];
  const Entry& e = loops.arena()[product.entry];
  if (product.role != Role::Compute || e.op != Op::Mul || e.dtype != sum.dtype) return std::nullopt;
  for (const int side : {0, 1}) {
    out.factors[side] = loops.values().operand(out.value, side);
    if (!collect_accesses(loops, out.factors[side], out.accesses[side])) return std::nullopt;
  }
  out.depth = points(stages[static_cast<std::size_t>(out.stage)].inner);
  return out;
}

std::optional<ProductSides> sides_of(const KernelLoops& loops, const LoopProduct& product) {
  std::vector<bool> changing[2];
  for (const int side : {0, 1})
    changing[side] = changing_loops(loops, product.accesses[side], loops.nest().outer.size(),
                                    [](const ShapeTracker& t) -> const ShapeTracker& { return t; });
  ProductSides sides;
  bool apart = false;
  for (std::size_t d = 0; d < loops.nest().outer.size(); ++d) {
    if (changing[0][d] == changing[1][d]) continue;
    apart = true;
    (changing[0][d] ? sides.rows : sides.columns) *= loops.nest().outer[d];
  }
  return apart ? std::optional(sides) : std::nullopt;
}

std::optional<SharedLoops> share_loops(std::span<const KernelLoops* const> kernels, std::span<const EntryId> between) {
  return RowFinder(kernels, between).run();
}

ShapeTracker over_shared(const SharedLoops& shared, std::size_t part, const Ints& outer, const ShapeTracker& access) {
  const Ints& unit = shared.units_of[part];
  Shape split;
  std::vector<std::size_t> row_axis(shared.extents.size());
  std::vector<std::size_t> columns;
  for (std::size_t d = 0; d < outer.size(); ++d) {
    if (over_columns(unit[d])) {
      columns.push_back(split.size());
      split.push_back(outer[d]);
      continue;
    }
    const SymInt end = unit[d] * outer[d];
    for (std::size_t k = 0; k < shared.units.size(); ++k) {
      if (shared.units[k] < unit[d] || shared.units[k] >= end) continue;
      row_axis[k] = split.size();
      split.push_back(shared.extents[k]);
    }
  }
  const std::size_t loops = split.size();
  Ints order;
  for (const std::size_t d : row_axis) order.push_back(SymInt(static_cast<std::int64_t>(d)));
  for (const std::size_t d : columns) order.push_back(SymInt(static_cast<std::int64_t>(d)));
  for (std::size_t d = outer.size(); d < access.shape().size(); ++d) {
    order.push_back(SymInt(static_cast<std::int64_t>(loops + d - outer.size())));
    split.push_back(access.shape()[d]);
  }
  return access.reshape(split).permute(order);
}

std::optional<SharedProducts> shared_products(std::span<const KernelLoops* const> kernels, const SharedLoops& shared) {
  const std::size_t outer = shared.extents.size();
  struct Factors {
    LoopProduct product;
    std::vector<bool> changing[2];
  };
  std::vector<std::optional<Factors>> found(kernels.size());
  std::size_t batches = 0;
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const std::size_t columns = columns_of(shared, p);
    if (columns == 0) continue;
    std::optional<LoopProduct> product = find_product(*kernels[p]);
    if (!product) return std::nullopt;
    Factors& f = found[p].emplace(Factors{std::move(*product), {}});
    for (const int side : {0, 1})
      f.changing[side] =
          changing_loops(*kernels[p], f.product.accesses[side], outer + columns,
                         [&](const ShapeTracker& t) { return over_shared(shared, p, kernels[p]->nest().outer, t); });
    for (std::size_t d = 0; d < outer + columns; ++d) {
      if (f.changing[0][d] != f.changing[1][d]) continue;
      if (d >= outer) return std::nullopt;
      batches = std::max(batches, d + 1);
    }
  }
  SharedProducts out;
  for (std::size_t d = batches; d < outer; ++d) out.rows *= shared.extents[d];
  if (batches == outer && std::any_of(found.begin(), found.end(), [](const auto& f) { return f.has_value(); }))
    return std::nullopt;
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    out.parts.emplace_back();
    if (!found[p]) continue;
    const Factors& f = *found[p];
    // One factor makes the rows, the other one the columns.
    const int left = f.changing[0][batches] ? 0 : 1;
    PartProduct& part = out.parts.back().emplace(PartProduct{f.product.dtype, out.rows, 1, f.product.depth});
    for (std::size_t d = batches; d < f.changing[0].size(); ++d)
      if (f.changing[left][d] != (d < outer)) return std::nullopt;
    for (std::size_t d = 0; d < kernels[p]->nest().outer.size(); ++d)
      if (over_columns(shared.units_of[p][d])) part.columns *= kernels[p]->nest().outer[d];
  }
  return out;
}

}  // namespace oriel::schedule
