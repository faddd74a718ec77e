#include "api/captured/entry.hpp"

#include <cstring>
#include <new>

#include "api/call.hpp"
#include "backend/backend.hpp"
#include "oriel/error.hpp"
#include "runtime/caches.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::Cell;
using detail::CellPtr;
using graph::NodePtr;

namespace {

/// The numbers of a call, as elements in memory.
class Numbers {
 public:
  Numbers(const CapturedArguments& arguments, Device device) {
    bits_.resize(arguments.numbers.size());
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const CapturedArguments::Number& number = arguments.numbers[i];
      if (number.dtype == DType::float32) {
        const auto value = static_cast<float>(number.value);
        std::memcpy(&bits_[i], &value, sizeof value);
      } else {
        std::memcpy(&bits_[i], &number.value, sizeof number.value);
      }
      if (device.kind == DeviceKind::opencl) buffers_.push_back(copied(i, device, itemsize(number.dtype)));
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

FunctionMiss CapturedEntry::first_miss(const Facts& call, std::size_t number) const {
  for (const CapturedGuard& g : guards) {
    const auto i = static_cast<std::size_t>(g.fact);
    if (i < call.size() && call[i] == g.value) continue;
    return {number, names[i].guard(g.value), i < call.size() ? names[i].text(call[i]) : "nothing there"};
  }
  if (sizes && call.size() == facts)
    if (auto miss = sizes->guards().first_miss(call.data())) return {number, miss->guard, miss->value};
  return {number, "the number of facts", "more"};
}

std::vector<std::string> CapturedEntry::guard_texts() const {
  std::vector<std::string> out;
  for (const CapturedGuard& g : guards) out.push_back(names[static_cast<std::size_t>(g.fact)].guard(g.value));
  if (!sizes) return out;
  for (std::string& text : sizes->guards().texts()) out.push_back(std::move(text));
  return out;
}

const CapturedPlan& CapturedEntry::some_plan() const noexcept {
  const CapturedPlan* const made = sizes ? sizes->any_plan() : &fixed;
  return made != nullptr ? *made : fixed;
}

void CapturedEntry::run(const CapturedInputs& call, const Facts& call_facts, const CapturedArguments& arguments,
                        detail::CapturedResults& out) const {
  if (!sizes) return run(fixed, call, arguments, out);
  run(*sizes->plan(call_facts), call, arguments, out);
}

void CapturedEntry::run(const CapturedPlan& plan, const CapturedInputs& call, const CapturedArguments& arguments,
                        detail::CapturedResults& out) const {
  Numbers numbers(arguments, number_device);
  InlineVector<void*, 16> memory;
  for (const CapturedValue& leaf : plan.leaves) {
    memory.push_back(leaf.kind == CapturedValue::Kind::input    ? call.storages[leaf.index].node->buffer->data()
                     : leaf.kind == CapturedValue::Kind::number ? numbers.memory(leaf.index)
                                                                : constants[leaf.index]->buffer->data());
  }
  runtime::LaunchList::Buffers buffers;
  try {
    const base::Activity work;
    plan.launches->run(work, {memory.data(), memory.size()}, buffers);
  } catch (const std::bad_alloc&) {
    throw MemoryError("function", "there is no memory to run the captured function; what was computed before is kept");
  }
  // The work has ended here: releasing nodes may run a user's deleter, which may compute something.
  InlineVector<NodePtr, 4> nodes;
  for (const CapturedPlan::Root& root : plan.roots)
    nodes.push_back(graph::realized_node(root.kind, buffers[root.output]));
  const auto node_of = [&](const CapturedValue& value) {
    switch (value.kind) {
      case CapturedValue::Kind::input:
        return call.storages[value.index].node;
      case CapturedValue::Kind::number:
        return numbers.node(value.index, number_device, arguments.numbers[value.index].dtype);
      case CapturedValue::Kind::constant:
        return constants[value.index];
      case CapturedValue::Kind::output:
        break;
    }
    return nodes[value.index];
  };
  InlineVector<CellPtr, 4> storages;
  for (const CapturedValue& value : fresh) storages.push_back(Cell::storage(node_of(value)));
  for (const Write& write : writes) call.storages[write.storage].cell->set_contents(node_of(write.value));
  for (std::size_t r = 0; r < results.size(); ++r) {
    const CapturedResult& result = results[r];
    const std::vector<detail::Path>& paths = plan.paths[r];
    if (result.kind == CapturedResult::Kind::argument && paths.empty()) {
      out.tensors.push_back(*arguments.tensors[result.index]);
      continue;
    }
    CellPtr cell = result.kind == CapturedResult::Kind::fresh ? storages[result.index]
                   : result.kind == CapturedResult::Kind::input
                       ? CellPtr(call.storages[result.index].cell)
                       : CellPtr(&Access::cell(*arguments.tensors[result.index]));
    for (const detail::Path& path : paths) cell = Cell::place(std::move(cell), path);
    out.tensors.push_back(Access::naming(std::move(cell)));
  }
  out.like = like;
}

}  // namespace oriel::api
