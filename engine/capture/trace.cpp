// Traces a captured function: runs the callable on placeholders and schedules what it computes.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/activity.hpp"
#include "base/error_legend.hpp"
#include "capture/constants.hpp"
#include "capture/entry.hpp"
#include "formula/call.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "schedule/describe.hpp"
#include "view/plain.hpp"
#include "view/stacks/injective.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::Cell;
using detail::CellPtr;
using graph::NodePtr;

namespace {

/// The shape of each storage of a call, with symbols for sizes.
std::vector<Shape> symbolic_shapes(const SizeSymbols& symbols, const CapturedInputs& inputs,
                                   const std::vector<FactName>& names, const CallKey& key) {
  std::vector<Shape> shapes;
  for (const CapturedInputs::Storage& s : inputs.storages) shapes.push_back(s.node->shape);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k].kind == FactName::Kind::size)
      shapes[static_cast<std::size_t>(inputs.storage_of[names[k].tensor])][names[k].axis] = symbols.size(k, key[k]);
  return shapes;
}

/// The placeholders for the inputs of a call while the callable runs.
struct Placeholders {
  struct Storage {
    CellPtr cell;
    NodePtr node;  // the node before the callable ran
  };
  std::vector<Storage> storages;
  std::vector<Storage> numbers;
  std::vector<Tensor> tensors;         // for each tensor of the call
  std::vector<Tensor> number_tensors;  // for each number of the call

  /// `shapes`: the shape of each storage, with symbols.
  Placeholders(runtime::Trace& trace, const CapturedArguments& arguments, const CapturedInputs& inputs,
               Device number_device, const SizeSymbols& symbols, const std::vector<Shape>& shapes) {
    const auto add = [&](std::vector<Storage>& to, const graph::RealizedKind& kind, Device device) {
      std::int64_t bytes = numel(kind.shape).value() * static_cast<std::int64_t>(itemsize(kind.dtype));
      graph::RealizedKind symbolic = kind;
      if (&to == &storages) symbolic.shape = shapes[storages.size()];
      // The memory of no bytes is not told from that of a tensor without elements, which other calls may not pass.
      if (numel(symbolic.shape).is_symbolic()) bytes = std::max<std::int64_t>(bytes, 1);
      NodePtr node = graph::realized_node(symbolic, trace.placeholder(device, bytes));
      to.push_back({Cell::make_storage(node), node});
    };
    for (const CapturedInputs::Storage& s : inputs.storages)
      add(storages, graph::realized_kind(*s.node), s.node->device);
    for (const CapturedArguments::Number& number : arguments.numbers) {
      add(numbers, {number.dtype, {}, graph::LayoutClass::RowMajor, std::nullopt, Site::unknown()}, number_device);
      number_tensors.push_back(Access::naming(numbers.back().cell));
    }
    std::vector<NodePtr> nodes;
    for (const Storage& storage : storages) nodes.push_back(storage.node);
    const auto views = symbolic_views(arguments, inputs, symbols, nodes);
    for (std::size_t k = 0; k < views.size(); ++k) {
      CellPtr cell = storages[static_cast<std::size_t>(inputs.storage_of[k])].cell;
      if (Access::cell(*arguments.tensors[k]).view_cell() != nullptr)
        cell = Cell::make_view(std::move(cell), moved_by(views[k]));
      tensors.push_back(Access::naming(std::move(cell)));
    }
  }
};

/// The positions and elements that a trace has asked for.
class UnbackedInputs final : public runtime::UnbackedValues {  // NOLINT(cppcoreguidelines-virtual-class-destructor)
 public:
  struct Asked {
    NodePtr value;  // the mask of positions; or the element
    NodePtr placeholder;
    std::optional<SymInt> element = {};
    NodePtr of;  // what the element is of
  };
  explicit UnbackedInputs(SizeSymbols& symbols) : symbols_(symbols) {}
  /// Call it before the callable runs.
  void set_trace(runtime::Trace& trace) noexcept { trace_ = &trace; }
  const std::vector<Asked>& asked() const noexcept { return asked_; }

  NodePtr positions(NodePtr mask, Site site) override {
    for (const Asked& earlier : asked_)
      if (earlier.value == mask) return earlier.placeholder;
    const std::string line = schedule::site_text(site);
    const SymInt count = symbols_.add_count(
        "the number of true elements" + (line.empty() ? std::string() : " at " + line), numel(mask->shape));
    return add(std::move(mask), {count}, {}, site);
  }

  SymInt element(const NodePtr& of, NodePtr value, Site site) override {
    for (const Asked& earlier : asked_)
      if (earlier.of == of) return *earlier.element;
    const std::string line = schedule::site_text(site);
    const SymInt element = symbols_.add_element("the element" + (line.empty() ? std::string() : " at " + line));
    add(std::move(value), {}, element, site);
    asked_.back().of = of;
    return element;
  }

 private:
  NodePtr add(NodePtr value, const Shape& shape, std::optional<SymInt> element, Site site) {
    const graph::RealizedKind kind{DType::int64, shape, graph::LayoutClass::RowMajor, std::nullopt, site};
    constexpr std::int64_t kBytes = 8;  // any number but 0
    NodePtr placeholder = graph::realized_node(kind, trace_->placeholder(value->device, kBytes));
    asked_.push_back({std::move(value), placeholder, element, nullptr});
    return placeholder;
  }

  SizeSymbols& symbols_;
  runtime::Trace* trace_ = nullptr;
  std::vector<Asked> asked_;
};

/// The movements of `paths`, from `base` to `view`, the first one first.
std::vector<NodePtr> movements_from(Cell& base, Cell& view, const std::vector<detail::Path>& paths) {
  if (paths.empty()) return {};
  Movements movements;
  if (find_movements(view.node(), base.node().get(), movements)) return {movements.rbegin(), movements.rend()};
  // The builders have joined a movement with those below the base.
  movements.clear();
  constexpr std::int64_t kBytes = 8;  // any number but 0
  const graph::RealizedKind kind{.dtype = base.dtype(), .shape = base.shape()};
  const NodePtr bottom = graph::realized_node(kind, runtime::memoryless(base.device(), kBytes));
  NodePtr node = bottom;
  for (const detail::Path& path : paths) node = path(std::move(node));
  if (!find_movements(std::move(node), bottom.get(), movements))
    throw InternalError("function", "a result's view does not lead to its storage");
  return {movements.rbegin(), movements.rend()};
}

/// Reads what the callable has computed from its result and its arguments.
class Reader {
 public:
  Reader(const Placeholders& placeholders, const UnbackedInputs& unbacked, CapturedEntry& entry)
      : placeholders_(placeholders), unbacked_(unbacked), entry_(entry) {}

  void read(std::span<const Tensor> results, std::span<const NodePtr> others) {
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k) {
      const auto& [cell, before] = placeholders_.storages[k];
      if (NodePtr now = cell->node(); now != before) entry_.writes.push_back({k, value(std::move(now))});
    }
    for (const Tensor& tensor : results) {
      Access::cell(tensor).check_traced("function");
      cells_.push_back(&Access::cell(tensor));
    }
    for (Cell* cell : cells_) entry_.results.push_back(result(*cell));
    for (const UnbackedInputs::Asked& asked : unbacked_.asked()) masks_.push_back(value(asked.value));
    for (const NodePtr& other : others) (void)value(other);
  }
  /// For each result: the movements that lead to it from its storage or argument, the first one first.
  const std::vector<std::vector<detail::Path>>& paths() const noexcept { return paths_; }
  Cell& fresh_cell(std::size_t index) const { return *storages_[index]; }
  Cell& result_cell(std::size_t index) const { return *cells_[index]; }
  std::vector<NodePtr>& roots() noexcept { return roots_; }
  /// Of the positions that were asked for.
  const std::vector<CapturedValue>& masks() const noexcept { return masks_; }

  /// Where the memory of a leaf comes from.
  CapturedValue leaf(const mem::BufferPtr& buffer) {
    if (const auto input = placeholder([&](const NodePtr& node) { return node->buffer == buffer; })) return *input;
    if (runtime::is_placeholder(*buffer)) runtime::refuse_placeholder("function");
    for (std::size_t k = 0; k < entry_.constants.size(); ++k)
      if (entry_.constants[k]->buffer == buffer) return {CapturedValue::Kind::constant, k};
    return constant(graph::realized_node({DType::uint8, {static_cast<std::int64_t>(buffer->bytes())}}, buffer));
  }

 private:
  CapturedValue constant(NodePtr node) {
    entry_.constants.push_back(std::move(node));
    return {CapturedValue::Kind::constant, entry_.constants.size() - 1};
  }

  /// The input, number or positions whose placeholder is the one.
  template <class Is>
  std::optional<CapturedValue> placeholder(const Is& is) const {
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k)
      if (is(placeholders_.storages[k].node)) return CapturedValue{CapturedValue::Kind::input, k};
    for (std::size_t k = 0; k < placeholders_.numbers.size(); ++k)
      if (is(placeholders_.numbers[k].node)) return CapturedValue{CapturedValue::Kind::number, k};
    for (std::size_t k = 0; k < unbacked_.asked().size(); ++k)
      if (is(unbacked_.asked()[k].placeholder)) return CapturedValue{CapturedValue::Kind::unbacked, k};
    return std::nullopt;
  }

  CapturedValue value(NodePtr node) {
    if (const auto input = placeholder([&](const NodePtr& other) { return other == node; })) return *input;
    if (node->realized()) return constant(std::move(node));
    const auto known = std::find(roots_.begin(), roots_.end(), node);
    const auto index = static_cast<std::size_t>(known - roots_.begin());
    if (known == roots_.end()) roots_.push_back(std::move(node));
    return {CapturedValue::Kind::output, index};
  }

  CapturedResult result(Cell& cell) {
    std::vector<detail::Path>& paths = paths_.emplace_back();
    for (Cell* c = &cell;;) {
      for (std::size_t k = 0; k < placeholders_.tensors.size(); ++k)
        if (&Access::cell(placeholders_.tensors[k]) == c) return based(CapturedResult::Kind::argument, k);
      detail::ViewCell* const view = c->view_cell();
      if (view == nullptr) break;
      paths.push_back(view->path());
      c = view->parent().get();
    }
    Cell* storage = cell.storage();
    for (std::size_t k = 0; k < placeholders_.storages.size(); ++k)
      if (placeholders_.storages[k].cell.get() == storage) return based(CapturedResult::Kind::input, k);
    if (stands_alone(cell, paths)) {
      storage = &cell;
      paths.clear();
    }
    const auto known = std::find(storages_.begin(), storages_.end(), storage);
    const auto index = static_cast<std::size_t>(known - storages_.begin());
    if (known == storages_.end()) {
      storages_.push_back(storage);
      entry_.fresh.push_back(value(storage->node()));
    }
    return based(CapturedResult::Kind::fresh, index);
  }

  /// Is it the only result that names its storage, which is still to be computed? Then nobody can tell whether the view
  /// is a part of a storage or a storage of its own. So only the view is computed, as without capture. A view that
  /// names an element twice cannot be written, which a storage of its own could.
  bool stands_alone(Cell& cell, const std::vector<detail::Path>& paths) const {
    if (cell.storage()->node()->realized()) return false;
    for (const NodePtr& movement : movements_from(*cell.storage(), cell, {paths.rbegin(), paths.rend()})) {
      if (graph::row(movement->op).elements == graph::Elements::Repeated) return false;
      if (movement->op != graph::Op::RawView) continue;
      const View& view = *std::get<std::shared_ptr<const View>>(movement->arg);
      if (detail::is_symbolic(view)) return false;
      if (detail::distinctness(ShapeTracker::from_views({&view, 1})).kind != detail::Distinctness::Kind::Distinct)
        return false;
    }
    return std::all_of(cells_.begin(), cells_.end(),
                       [&](Cell* other) { return other == &cell || other->storage() != cell.storage(); });
  }

  CapturedResult based(CapturedResult::Kind kind, std::size_t index) {
    std::reverse(paths_.back().begin(), paths_.back().end());
    return {kind, index};
  }

  const Placeholders& placeholders_;
  const UnbackedInputs& unbacked_;
  CapturedEntry& entry_;
  std::vector<NodePtr> roots_;
  std::vector<CapturedValue> masks_;
  std::vector<Cell*> cells_;  // the results' cells
  std::vector<Cell*> storages_;
  std::vector<std::vector<detail::Path>> paths_;
};

/// The callable has taken its derivatives: what marks hold for them is held by nothing outside.
void release_marks(std::span<const NodePtr> roots) {
  std::vector<NodePtr> dropped;
  for (const graph::Node* node : graph::post_order(roots))
    if (const auto* tag = std::get_if<graph::TagPtr>(&node->arg)) (*tag)->release(dropped);
}

/// Throws if the callable made something that a static variable keeps.
void check_roots(std::span<const NodePtr> roots, const Placeholders& placeholders, std::span<const Tensor> results,
                 const CapturedEntry& entry) {
  release_marks(roots);
  graph::Order order;
  const base::Activity work;
  for (std::uint64_t other = 0; (other = order.build(roots, work.number())) != 0;) base::Activity::wait_for_end(other);
  std::vector<Tensor> known(results.begin(), results.end());
  known.insert(known.end(), placeholders.tensors.begin(), placeholders.tensors.end());
  check_constants(order, known, entry.constants);
  order.clear();
}

/// The graph of the trace. Constants in it are kept by the entry.
TracedGraph graph_of(Reader& reader, const Placeholders& placeholders, const UnbackedInputs& unbacked,
                     const detail::TracerBase& tracer, CapturedEntry& entry) {
  TracedGraph trace;
  trace.trusted = tracer.trusted();
  const auto inputs = [](const std::vector<Placeholders::Storage>& from) {
    std::vector<TracedGraph::Input> out;
    out.reserve(from.size());
    for (const Placeholders::Storage& s : from) out.push_back({s.node, graph::realized_kind(*s.node)});
    return out;
  };
  trace.storages = inputs(placeholders.storages);
  trace.numbers = inputs(placeholders.numbers);
  for (std::size_t k = 0; k < unbacked.asked().size(); ++k) {
    const NodePtr& positions = unbacked.asked()[k].placeholder;
    trace.unbacked.push_back(
        {{positions, graph::realized_kind(*positions)}, reader.masks()[k], unbacked.asked()[k].element.has_value()});
  }
  trace.values = reader.roots();
  for (const graph::Node* node : graph::post_order(trace.values))
    if (node->realized()) (void)reader.leaf(node->buffer);  // a constant is kept by the entry
  trace.constants = entry.constants;
  for (std::size_t r = 0; r < entry.results.size(); ++r) {
    const CapturedResult& result = entry.results[r];
    Cell* base = nullptr;
    switch (result.kind) {
      case CapturedResult::Kind::argument:
        base = &Access::cell(placeholders.tensors[result.index]);
        break;
      case CapturedResult::Kind::input:
        base = placeholders.storages[result.index].cell.get();
        break;
      case CapturedResult::Kind::fresh:
        base = &reader.fresh_cell(result.index);
        break;
    }
    trace.movements.push_back(movements_from(*base, reader.result_cell(r), reader.paths()[r]));
  }
  return trace;
}

}  // namespace

std::unique_ptr<CapturedEntry> trace(const CapturedArguments& arguments, const CapturedInputs& inputs,
                                     const CallKey& key, std::vector<FactName> names,
                                     const std::vector<SizeChoice>& choices, const detail::TracerBase& tracer,
                                     Site site, std::optional<std::size_t> guards_per_size) {
  auto entry = std::make_unique<CapturedEntry>(SizeSymbols(choices, names, key, guards_per_size));
  SizeSymbols& symbols = entry->symbols;
  for (std::size_t i = 0; i < key.size(); ++i)
    if (!symbols.symbolic(i)) entry->guards.push_back({static_cast<std::int32_t>(i), key[i]});
  entry->names = std::move(names);
  entry->facts = key.size();
  entry->traced = key;
  entry->number_device = inputs.storages.empty() ? default_device() : inputs.storages[0].node->device;
  UnbackedInputs unbacked(symbols);
  std::optional<base::ErrorLegend> legend;
  legend.emplace([&](std::string_view message) { return symbols.legend(message); });
  runtime::Trace tracing(site, &unbacked);
  unbacked.set_trace(tracing);
  const Placeholders placeholders(tracing, arguments, inputs, entry->number_device, symbols,
                                  symbolic_shapes(symbols, inputs, entry->names, key));
  detail::CapturedResults results;
  entry->like = tracer.run(placeholders.tensors, placeholders.number_tensors, results);
  symbols.check_marks(entry->names);
  entry->result_sizes = ResultSizes({results.sizes.data(), results.sizes.size()}, symbols);
  Reader reader(placeholders, unbacked, *entry);
  const std::span<const Tensor> made(results.tensors.data(), results.tensors.size());
  reader.read(made, tracing.roots());
  if (symbols.any() || !unbacked.asked().empty())
    for (const Tensor& tensor : placeholders.tensors) entry->shapes.push_back(tensor.shape());
  check_roots(reader.roots(), placeholders, made, *entry);
  legend.reset();
  entry->take(graph_of(reader, placeholders, unbacked, tracer, *entry));
  entry->size_guards->check_deferred({key.data(), key.size()}, 0);
  // The entry is kept only if there is a plan.
  static_cast<void>(entry->stages.front().plan({key.data(), key.size()}, {}));
  // Sizes that the callable has kept elsewhere decide nothing any more.
  symbols.env().environment().ended = true;
  return entry;
}

}  // namespace oriel::api
