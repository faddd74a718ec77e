// The trace of a captured function: placeholders in, a schedule out.
#include <algorithm>
#include <utility>

#include "api/call.hpp"
#include "api/captured/constants.hpp"
#include "api/captured/entry.hpp"
#include "oriel/error.hpp"
#include "runtime/caches.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::Cell;
using detail::CellPtr;
using graph::NodePtr;

namespace {

/// What stands for the inputs of a call while the callable runs.
struct Placeholders {
  struct Storage {
    CellPtr cell;
    NodePtr node;  // before the callable ran
  };
  std::vector<Storage> storages;
  std::vector<Storage> numbers;
  std::vector<Tensor> tensors;         // by tensor of the call
  std::vector<Tensor> number_tensors;  // by number

  Placeholders(runtime::Trace& trace, const CapturedArguments& arguments, const CapturedInputs& inputs,
               Device number_device) {
    const auto add = [&](std::vector<Storage>& to, const graph::RealizedKind& kind, Device device) {
      const std::int64_t bytes = numel(kind.shape).value() * static_cast<std::int64_t>(itemsize(kind.dtype));
      NodePtr node = graph::realized_node(kind, trace.placeholder(device, bytes));
      to.push_back({Cell::storage(node), node});
    };
    for (const CapturedInputs::Storage& s : inputs.storages)
      add(storages, graph::realized_kind(*s.node), s.node->device);
    for (const CapturedArguments::Number& number : arguments.numbers) {
      add(numbers, {number.dtype, {}, graph::LayoutClass::RowMajor, std::nullopt, Site::unknown()}, number_device);
      number_tensors.push_back(Access::naming(numbers.back().cell));
    }
    for (std::size_t k = 0; k < arguments.tensors.size(); ++k)
      tensors.push_back(Access::naming(mirror(Access::cell(*arguments.tensors[k]), inputs.storage_of[k])));
  }

 private:
  // The same place in the placeholder's storage.
  CellPtr mirror(Cell& cell, std::int64_t storage) const {
    std::vector<const Cell*> places;
    for (const Cell* c = &cell; c->parent(); c = c->parent().get()) places.push_back(c);
    CellPtr made = storages[static_cast<std::size_t>(storage)].cell;
    for (std::size_t k = places.size(); k-- > 0;) made = Cell::place(std::move(made), places[k]->path());
    return made;
  }
};

/// Reads what the callable made off its result and its arguments.
class Reader {
 public:
  Reader(const Placeholders& placeholders, CapturedEntry& entry) : placeholders_(placeholders), entry_(entry) {}

  void read(std::span<const Tensor> results) {
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k) {
      const auto& [cell, before] = placeholders_.storages[k];
      if (NodePtr now = cell->node(); now != before) entry_.writes.push_back({k, value(std::move(now))});
    }
    for (const Tensor& tensor : results) {
      Access::cell(tensor).check_traced("function");
      cells_.push_back(&Access::cell(tensor));
    }
    for (Cell* cell : cells_) entry_.results.push_back(result(*cell));
  }
  std::vector<NodePtr>& roots() noexcept { return roots_; }

  /// Where the memory of a leaf comes from.
  CapturedValue leaf(const mem::BufferPtr& buffer) {
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k)
      if (placeholders_.storages[k].node->buffer == buffer) return {CapturedValue::Kind::input, k};
    for (std::size_t k = 0; k < placeholders_.numbers.size(); ++k)
      if (placeholders_.numbers[k].node->buffer == buffer) return {CapturedValue::Kind::number, k};
    if (runtime::is_placeholder(*buffer)) runtime::refuse_placeholder("function");
    return constant(graph::realized_node({DType::uint8, {static_cast<std::int64_t>(buffer->bytes())}}, buffer));
  }

 private:
  CapturedValue constant(NodePtr node) {
    entry_.constants.push_back(std::move(node));
    return {CapturedValue::Kind::constant, entry_.constants.size() - 1};
  }

  CapturedValue value(NodePtr node) {
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k)
      if (placeholders_.storages[k].node == node) return {CapturedValue::Kind::input, k};
    for (std::size_t k = 0; k < placeholders_.numbers.size(); ++k)
      if (placeholders_.numbers[k].node == node) return {CapturedValue::Kind::number, k};
    if (node->realized()) return constant(std::move(node));
    const auto known = std::find(roots_.begin(), roots_.end(), node);
    const auto index = static_cast<std::size_t>(known - roots_.begin());
    if (known == roots_.end()) roots_.push_back(std::move(node));
    return {CapturedValue::Kind::output, index};
  }

  CapturedResult result(Cell& cell) {
    CapturedResult out;
    for (Cell* c = &cell;; c = c->parent().get()) {
      for (std::size_t k = 0; k < placeholders_.tensors.size(); ++k)
        if (&Access::cell(placeholders_.tensors[k]) == c)
          return based(std::move(out), CapturedResult::Kind::argument, k);
      if (!c->parent()) break;
      out.paths.push_back(c->path());
    }
    Cell* storage = cell.storage();
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k)
      if (placeholders_.storages[k].cell.get() == storage) return based(std::move(out), CapturedResult::Kind::input, k);
    if (stands_alone(cell)) {
      storage = &cell;
      out.paths.clear();
    }
    const auto known = std::find(storages_.begin(), storages_.end(), storage);
    const auto index = static_cast<std::size_t>(known - storages_.begin());
    if (known == storages_.end()) {
      storages_.push_back(storage);
      entry_.fresh.push_back(value(storage->node()));
    }
    return based(std::move(out), CapturedResult::Kind::fresh, index);
  }

  /// Is it the only result that names its storage, which is still to be computed? Then nobody can tell whether the view
  /// is a part of it or a storage of its own, and it alone is computed, as outside of a captured function.
  bool stands_alone(Cell& cell) const {
    if (cell.storage()->node()->realized()) return false;
    return std::all_of(cells_.begin(), cells_.end(),
                       [&](Cell* other) { return other == &cell || other->storage() != cell.storage(); });
  }

  static CapturedResult based(CapturedResult result, CapturedResult::Kind kind, std::size_t index) {
    result.kind = kind;
    result.index = index;
    std::reverse(result.paths.begin(), result.paths.end());
    return result;
  }

  const Placeholders& placeholders_;
  CapturedEntry& entry_;
  std::vector<NodePtr> roots_;
  std::vector<Cell*> cells_;  // of the results
  std::vector<const Cell*> storages_;
};

/// Schedules the roots and makes the kernels ready. None of the leaves is overwritten: they are the caller's, or are
/// read again by the next call.
void schedule(Reader& reader, const Placeholders& placeholders, std::span<const Tensor> results, CapturedEntry& entry) {
  const std::vector<NodePtr>& roots = reader.roots();
  if (roots.empty()) {
    entry.launches = std::make_unique<runtime::LaunchList>(std::make_shared<runtime::CompiledSchedule>(),
                                                           std::vector<graph::Scalar>(), std::span<const Site>());
    return;
  }
  runtime::LookedAt looked(roots, runtime::Due::left);
  runtime::Key& key = looked.key;
  std::vector<Tensor> known(results.begin(), results.end());
  known.insert(known.end(), placeholders.tensors.begin(), placeholders.tensors.end());
  check_constants(key.order, known, entry.constants);
  key.leaf_dies.assign(key.leaves.size(), false);
  key.leaf_readers.assign(key.leaves.size(), runtime::Usage::Readers::elsewhere);
  runtime::Caches& caches = runtime::caches_of(roots.front()->device.context);
  const detail::CallSite call(roots.back()->site, detail::CallSite::Nesting::inner);
  auto compiled = runtime::compile_schedule(looked.pending, key, caches.kernels);
  caches.counts[static_cast<std::size_t>(looked.work->slot())].schedules_built.fetch_add(1, std::memory_order_relaxed);
  for (const mem::BufferPtr& leaf : key.leaves) entry.leaves.push_back(reader.leaf(leaf));
  std::vector<Site> sites;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    sites.push_back(roots[r]->site);
    entry.roots.push_back({static_cast<std::size_t>(compiled->output_of_root[r]), graph::realized_kind(*roots[r])});
  }
  entry.launches = std::make_unique<runtime::LaunchList>(std::move(compiled), key.parameter_values, sites);
}

}  // namespace

std::unique_ptr<CapturedEntry> trace(const CapturedArguments& arguments, const CapturedInputs& inputs,
                                     const Facts& facts, const detail::TracerBase& tracer, Site site) {
  auto entry = std::make_unique<CapturedEntry>();
  for (std::size_t i = 0; i < facts.size(); ++i) entry->guards.push_back({static_cast<std::int32_t>(i), facts[i]});
  entry->facts = facts.size();
  entry->number_device = inputs.storages.empty() ? default_device() : inputs.storages[0].node->device;
  runtime::Trace tracing(site);
  const Placeholders placeholders(tracing, arguments, inputs, entry->number_device);
  detail::CapturedResults results;
  entry->like = tracer.run(placeholders.tensors, placeholders.number_tensors, results);
  Reader reader(placeholders, *entry);
  const std::span<const Tensor> made(results.tensors.data(), results.tensors.size());
  reader.read(made);
  schedule(reader, placeholders, made, *entry);
  return entry;
}

}  // namespace oriel::api
