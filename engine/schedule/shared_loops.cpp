#include "schedule/shared_loops.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "view/stacks/questions.hpp"

namespace oriel::schedule {

namespace {

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
    Ints& units = out_.units_of[part];
    for (const LoopAccess& access : loops.memory().accesses) {
      if (access.argument != argument) continue;
      std::optional<Ints> unit = detail::rows_per_step(access.tracker, loops.nest().outer.size(), length);
      if (!unit || (!units.empty() && units != *unit)) return false;
      units = std::move(*unit);
    }
    return !units.empty() || loops.nest().outer.empty();
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
  SharedProducts out;
  std::vector<AxisRoles> roles;  // of each product along the shared loops, then its columns
  std::size_t batches = 0;
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const KernelLoops& loops = *kernels[p];
    out.parts.emplace_back();
    const std::size_t columns = columns_of(shared, p);
    if (columns == 0) continue;
    const std::optional<LoopProduct> product = only_product(loops);
    if (!product) return std::nullopt;
    PartProduct& part = out.parts.back().emplace(PartProduct{product->dtype, 1, 1, product->depth});
    AxisRoles& axes = roles.emplace_back(outer + columns);
    for (const int side : {0, 1})
      for (const std::int32_t a : product->accesses[side])
        axes.add(side, over_shared(shared, p, loops.nest().outer,
                                   loops.memory().accesses[static_cast<std::size_t>(a)].tracker));
    for (std::size_t d = 0; d < axes.size(); ++d) {
      if (axes[d] != AxisRole::Batch) continue;
      if (d >= outer) return std::nullopt;
      batches = std::max(batches, d + 1);
    }
    for (std::size_t d = 0; d < loops.nest().outer.size(); ++d)
      if (over_columns(shared.units_of[p][d])) part.columns *= loops.nest().outer[d];
  }
  if (batches == outer && !roles.empty()) return std::nullopt;
  // One factor makes the rows, the other one the columns.
  for (const AxisRoles& axes : roles)
    for (std::size_t d = batches; d < axes.size(); ++d)
      if ((axes[d] == axes[batches]) != (d < outer)) return std::nullopt;
  for (std::size_t d = batches; d < outer; ++d) out.rows *= shared.extents[d];
  for (std::optional<PartProduct>& part : out.parts)
    if (part) part->rows = out.rows;
  return out;
}

}  // namespace oriel::schedule
