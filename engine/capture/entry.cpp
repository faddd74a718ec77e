#include "capture/entry.hpp"

#include <cstring>
#include <new>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "formula/call.hpp"
#include "functions/compaction.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "runtime/caches.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::Cell;
using detail::CellPtr;
using graph::NodePtr;

namespace {

/// The movements from a cell's storage to the cell, over a stand-in for the storage, so that no elements are kept.
std::vector<NodePtr> movements_from(Cell& cell, const CapturedOrigin::Storage& storage) {
  const std::int64_t bytes =
      numel(storage.kind.shape).value() * static_cast<std::int64_t>(itemsize(storage.kind.dtype));
  const NodePtr stand_in = graph::realized_node(storage.kind, runtime::memoryless(storage.device, bytes));
  const detail::ViewCell* const view = cell.view_cell();
  Movements movements;
  if (!find_movements(view != nullptr ? view->over(stand_in) : stand_in, stand_in.get(), movements))
    throw InternalError("function", "a view does not lead to its storage");
  return {movements.rbegin(), movements.rend()};
}

/// The numbers of a call, as elements in memory.
class Numbers {
 public:
  Numbers(const CapturedArguments& arguments, Device device) {
    bits_.resize(arguments.numbers.size());
    const bool copies = !bits_.empty() && !backend::backend_for(device).capabilities().host_numbers;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const CapturedArguments::Number& number = arguments.numbers[i];
      if (number.dtype == DType::float32) {
        const auto value = static_cast<float>(number.value);
        std::memcpy(&bits_[i], &value, sizeof value);
      } else {
        std::memcpy(&bits_[i], &number.value, sizeof number.value);
      }
      if (copies) buffers_.push_back(copied(i, device, itemsize(number.dtype)));
    }
  }
  /// The memory that the device's kernels read.
  void* memory(std::size_t i) { return buffers_.empty() ? &bits_[i] : buffers_[i]->data(); }
  /// The number as the elements of a tensor.
  NodePtr node(std::size_t i, Device device, DType dtype) const {
    return graph::realized_node({dtype, {}, graph::LayoutClass::RowMajor, std::nullopt, Site::unknown()},
                                copied(i, device, itemsize(dtype)));
  }

 private:
  mem::BufferPtr copied(std::size_t i, Device device, std::size_t bytes) const {
    const auto allocator = backend::backend_for(device).allocator();
    auto buffer = std::make_shared<mem::Buffer>(allocator, bytes);
    allocator->write(buffer->data(), &bits_[i], bytes);
    return buffer;
  }
  InlineVector<std::uint64_t, 4> bits_;
  InlineVector<mem::BufferPtr, 4> buffers_;  // for devices that do not read the host's memory
};

}  // namespace

std::unique_ptr<CapturedOrigin> record_origin(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                              const detail::CapturedNames& names,
                                              const std::vector<SizeChoice>& choices, detail::CapturedForm form) {
  auto origin = std::make_unique<CapturedOrigin>();
  for (const CapturedInputs::Storage& s : inputs.storages)
    origin->storages.push_back({graph::realized_kind(*s.node), s.node->device});
  for (std::size_t k = 0; k < arguments.tensors.size(); ++k) {
    const auto storage = static_cast<std::size_t>(inputs.storage_of[k]);
    Cell& cell = Access::cell(*arguments.tensors[k]);
    origin->tensors.push_back({storage, movements_from(cell, origin->storages[storage]), cell.view_cell() != nullptr});
  }
  origin->numbers.assign(arguments.numbers.begin(), arguments.numbers.end());
  origin->values.assign(arguments.values.begin(), arguments.values.end());
  origin->names = names;
  origin->choices = choices;
  origin->form = std::move(form);
  origin->bounds = default_bounds();
  return origin;
}

detail::Path moved_by(std::vector<NodePtr> movements) {
  return [movements = std::move(movements)](NodePtr x) {
    for (const NodePtr& movement : movements) x = graph::movement_like(*movement, std::move(x));
    return x;
  };
}

OriginCall::OriginCall(const CapturedOrigin& origin, const void* signature) {
  for (const CapturedOrigin::Storage& s : origin.storages) {
    const SymInt bytes = numel(s.kind.shape) * static_cast<std::int64_t>(itemsize(s.kind.dtype));
    storages_.push_back(Cell::make_storage(graph::realized_node(s.kind, runtime::memoryless(s.device, bytes.value()))));
  }
  for (const CapturedOrigin::Argument& tensor : origin.tensors) {
    const CellPtr& storage = storages_[tensor.storage];
    tensors_.push_back(Access::naming(tensor.is_view ? Cell::make_view(storage, moved_by(tensor.movements)) : storage));
  }
  arguments.signature = signature;
  for (const Tensor& tensor : tensors_) arguments.tensors.push_back(&tensor);
  arguments.numbers.assign(origin.numbers.begin(), origin.numbers.end());
  arguments.values.assign(origin.values.begin(), origin.values.end());
  gather(arguments, inputs, key);
  key[kBoundsFact] = static_cast<std::int64_t>(origin.bounds);
}

void CapturedEntry::take(TracedGraph traced_graph) {
  size_guards.emplace(symbols, names);
  graph = std::move(traced_graph);
  std::vector<std::size_t> computed_before;
  std::vector<std::vector<std::size_t>> divided = divide_into_stages(graph);
  for (std::size_t s = 0; s < divided.size(); ++s) {
    const CapturedStage& stage =
        stages.emplace_back(graph, symbols, std::move(divided[s]), computed_before, s + 1 == divided.size());
    const std::vector<std::size_t>& computes = stage.graph().computes();
    computed_before.insert(computed_before.end(), computes.begin(), computes.end());
  }
}

FunctionMiss CapturedEntry::first_miss(const CallKey& call, std::size_t number) const {
  for (const CapturedGuard& g : guards) {
    const auto i = static_cast<std::size_t>(g.fact);
    if (i < call.size() && call[i] == g.value) continue;
    return {number, names[i].guard(g.value), i < call.size() ? names[i].text(call[i]) : "nothing there"};
  }
  if (call.size() == facts)
    if (auto miss = size_guards->first_miss(call.data())) return {number, miss->guard, miss->value};
  return {number, "the number of facts", "more"};
}

std::vector<std::string> CapturedEntry::guard_texts() const {
  std::vector<std::string> out;
  for (const CapturedGuard& g : guards) {
    std::string text = names[static_cast<std::size_t>(g.fact)].guard(g.value);
    if (out.empty() || out.back() != text) out.push_back(std::move(text));  // a movement is many facts
  }
  for (std::string& text : size_guards->texts()) out.push_back(std::move(text));
  return out;
}

bool CapturedEntry::ended() const noexcept { return base::find_context(number_device.context) == nullptr; }

std::vector<const CapturedPlan*> CapturedEntry::some_plans() const {
  std::vector<const CapturedPlan*> plans;
  for (const CapturedStage& stage : stages)
    if (const CapturedPlan* plan = stage.plans().any()) plans.push_back(plan);
  return plans;
}

/// What a call has and has computed so far.
class CapturedEntry::Call {
 public:
  Call(const CapturedEntry& entry, const CapturedInputs& its_inputs, const CapturedArguments& its_arguments)
      : given(its_inputs), arguments(its_arguments), entry_(entry), numbers_(arguments, entry.number_device) {}

  const CapturedInputs& given;
  const CapturedArguments& arguments;
  InlineVector<NodePtr, 4> values;  // by number; null before they are computed
  InlineVector<NodePtr, 4> unbacked;

  /// Runs the kernels of a plan. `computes`: the number of the value of each of its roots.
  void run(const CapturedPlan& plan, const std::vector<std::size_t>& computes) {
    InlineVector<void*, 16> memory;
    for (const CapturedValue& leaf : plan.leaves) memory.push_back(memory_of(leaf));
    runtime::LaunchList::Buffers buffers;
    try {
      const base::Activity work;
      const std::span<const std::uint32_t> keepable = plan.launches->keepable();
      if (keepable.empty()) {
        plan.launches->run(work, {memory.data(), memory.size()}, buffers);
      } else {
        InlineVector<const mem::BufferPtr*, 8> stable;
        for (const std::uint32_t leaf : keepable) stable.push_back(stable_memory(plan.leaves[leaf]));
        const runtime::LaunchList::KeptLeaves kept{entry_.kept, {stable.data(), stable.size()}};
        plan.launches->run(work, {memory.data(), memory.size()}, buffers, &kept);
      }
    } catch (const std::bad_alloc&) {
      throw MemoryError("function",
                        "there is no memory to run the captured function; what was computed before is kept");
    }
    // The work has ended here: releasing nodes may run a user's deleter, which may compute something.
    for (std::size_t r = 0; r < plan.roots.size(); ++r)
      values[computes[r]] = graph::realized_node(plan.roots[r].kind, buffers[plan.roots[r].output]);
  }

  NodePtr node(const CapturedValue& value) const {
    switch (value.kind) {
      case CapturedValue::Kind::input:
        return given.storages[value.index].node;
      case CapturedValue::Kind::number:
        return numbers_.node(value.index, entry_.number_device, arguments.numbers[value.index].dtype);
      case CapturedValue::Kind::constant:
        return entry_.constants[value.index];
      case CapturedValue::Kind::unbacked:
        return unbacked[value.index];
      case CapturedValue::Kind::output:
        break;
    }
    return values[value.index];
  }

 private:
  /// The memory of a leaf that a later call may bring again, unchanged; else null.
  const mem::BufferPtr* stable_memory(const CapturedValue& leaf) const {
    if (leaf.kind == CapturedValue::Kind::input) return &given.storages[leaf.index].node->buffer;
    if (leaf.kind == CapturedValue::Kind::constant) return &entry_.constants[leaf.index]->buffer;
    return nullptr;
  }

  void* memory_of(const CapturedValue& leaf) {
    switch (leaf.kind) {
      case CapturedValue::Kind::input:
        return given.storages[leaf.index].node->buffer->data();
      case CapturedValue::Kind::number:
        return numbers_.memory(leaf.index);
      case CapturedValue::Kind::constant:
        return entry_.constants[leaf.index]->buffer->data();
      case CapturedValue::Kind::unbacked:
        return unbacked[leaf.index]->buffer->data();
      case CapturedValue::Kind::output:
        break;
    }
    return values[leaf.index]->buffer->data();
  }

  const CapturedEntry& entry_;
  Numbers numbers_;
};

void CapturedEntry::run(const CapturedInputs& given, const CallKey& call_key, const CapturedArguments& arguments,
                        detail::CapturedResults& out) const {
  Call call(*this, given, arguments);
  call.values.resize(graph.values.size());
  CallKey counted;  // the key, and the counts that earlier stages computed
  const CallKey* key = &call_key;
  for (std::size_t k = 0;; ++k) {
    size_guards->check_deferred({key->data(), key->size()}, k == 0 ? 0 : key->size() - 1);
    if (k == graph.unbacked.size()) out.sizes = result_sizes.at({key->data(), key->size()});
    const std::shared_ptr<const CapturedPlan> plan =
        stages[k].plan({key->data(), key->size()}, {call.values.data(), call.values.size()});
    call.run(*plan, stages[k].graph().computes());
    if (k == graph.unbacked.size()) return finish(call, *plan, out);
    if (k == 0) key = &(counted = call_key);
    const NodePtr value = call.node(graph.unbacked[k].mask);
    const bool element = graph.unbacked[k].element;
    call.unbacked.push_back(element ? value : true_positions(value, Site::unknown()));
    counted.push_back(element ? only_element(value) : call.unbacked.back()->shape[0].value());
  }
}

void CapturedEntry::finish(Call& call, const CapturedPlan& last, detail::CapturedResults& out) const {
  InlineVector<CellPtr, 4> storages;
  for (const CapturedValue& value : fresh) storages.push_back(Cell::make_storage(call.node(value)));
  for (const Write& write : writes)
    call.given.storages[write.storage].cell->storage()->set_contents(call.node(write.value));
  for (std::size_t r = 0; r < results.size(); ++r) {
    const CapturedResult& result = results[r];
    const std::vector<detail::Path>& paths = last.paths[r];
    if (result.kind == CapturedResult::Kind::argument && paths.empty()) {
      out.tensors.push_back(*call.arguments.tensors[result.index]);
      continue;
    }
    CellPtr cell = result.kind == CapturedResult::Kind::fresh ? storages[result.index]
                   : result.kind == CapturedResult::Kind::input
                       ? CellPtr(call.given.storages[result.index].cell)
                       : CellPtr(&Access::cell(*call.arguments.tensors[result.index]));
    for (const detail::Path& path : paths) cell = Cell::make_view(std::move(cell), path);
    out.tensors.push_back(Access::naming(std::move(cell)));
  }
  out.like = like;
}

}  // namespace oriel::api
