#include "runtime/export.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "runtime/compiled.hpp"
#include "runtime/key.hpp"
#include "source/cpp/render.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;
using Kind = ArgumentSource::Kind;

namespace {

constexpr const char* kOperation = "export_cpp";

// Programs are named after shapes, and a shape may have any rank.
constexpr std::size_t kLongestName = 60;
constexpr int kLongestTile = 256;
// Bytes of the values that a row keeps between stages: as many as full tiles take.
constexpr std::int64_t kStackRowBytes = 16 * 1024;

ExportedTensor tensor_of(const Node& node, std::string name) {
  ExportedTensor t = open_tensor(node, std::move(name));
  const auto size = static_cast<std::int64_t>(itemsize(node.dtype));
  if (__builtin_mul_overflow(numel(node.shape, kOperation).value(), size, &t.bytes)) {
    throw OverflowError(kOperation,
                        fmt::format("the bytes of {} {} do not fit a signed 64-bit integer; export a part of it",
                                    oriel::name(node.dtype), to_string(node.shape)));
  }
  return t;
}

std::string kernel_name(const ExportUnit& unit, const std::string& program) {
  std::string text = fmt::format("{}_k{:02}_", unit.name, unit.kernels.size());
  for (const char c : program.substr(0, kLongestName))
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return text;
}

/// Launch parameters become constants. If the function takes numbers as arguments, they become the kernel's own
/// parameters, counted from 0, so that kernels that differ only in their numbers are one kernel.
std::vector<std::int32_t> settle_numbers(codegen::LoopProgram& program, std::span<const graph::Scalar> numbers,
                                         bool arguments) {
  std::vector<std::int32_t> taken;
  for (codegen::Constant& c : program.constants) {
    if (c.parameter < 0) continue;
    const graph::Scalar& number = numbers[static_cast<std::size_t>(c.parameter)];
    if (!arguments) {
      c = {number.cast(c.value.dtype), -1};
      continue;
    }
    if (number.dtype != c.value.dtype) throw InternalError(kOperation, "a number is used as another type than its own");
    const auto known = std::find(taken.begin(), taken.end(), c.parameter);
    const auto index = static_cast<std::int32_t>(known - taken.begin());
    if (known == taken.end()) taken.push_back(c.parameter);
    c.parameter = index;
  }
  return taken;
}

std::int32_t add_kernel(ExportUnit& unit, codegen::LoopProgram program) {
  for (std::size_t k = 0; k < unit.kernels.size(); ++k)
    if (same_program(unit.kernels[k], program)) return static_cast<std::int32_t>(k);
  program.name = kernel_name(unit, program.name);
  unit.kernels.push_back(std::move(program));
  return static_cast<std::int32_t>(unit.kernels.size() - 1);
}

/// The node whose memory holds the tensor, or of which the tensor is a view; null if there is no such node.
NodePtr memory_of(NodePtr node) {
  while (!node->realized() && graph::is_movement(node->op)) {
    Node::Sources sources = node->sources_to_look_at();
    if (sources.size() == 1) node = std::move(sources[0]);  // none: realised meanwhile
  }
  return node->realized() ? node : nullptr;
}

/// The leaves in the order of the graph, with their names. Small leaves without a name are embedded.
void add_leaves(ExportUnit& unit, const ExportRequest& request, std::span<const Node* const> nodes) {
  std::vector<std::string> names(nodes.size());
  for (const auto& [name, node] : request.inputs) {
    check_export_name(name, "an input");
    const NodePtr memory = memory_of(node);
    if (memory == nullptr) {
      throw ArgumentError(kOperation, fmt::format("input {} ({} {}) is not in memory; realise it first, or name the "
                                                  "tensors that it is computed from",
                                                  name, oriel::name(node->dtype), to_string(node->shape)));
    }
    const auto leaf =
        std::find_if(nodes.begin(), nodes.end(), [&](const Node* n) { return n->buffer == memory->buffer; });
    if (leaf == nodes.end()) {
      throw ArgumentError(kOperation, fmt::format("input {} ({} {}) is not read by these tensors; leave it out", name,
                                                  oriel::name(node->dtype), to_string(node->shape)));
    }
    std::string& place = names[static_cast<std::size_t>(leaf - nodes.begin())];
    if (!place.empty()) throw ArgumentError(kOperation, fmt::format("inputs {} and {} are one tensor", place, name));
    place = name;
  }
  std::set<std::string> taken;
  std::size_t inputs = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ExportLeaf leaf{tensor_of(*nodes[i], names[i]), false, {}};
    leaf.embedded = names[i].empty() && leaf.tensor.bytes <= request.embed_bytes && request.embed_bytes > 0;
    if (leaf.embedded) {
      leaf.tensor.name = fmt::format("constant{}", i);
      leaf.data = elements_of(*nodes[i], leaf.tensor.bytes);
    } else {
      if (names[i].empty()) leaf.tensor.name = fmt::format("in{}", inputs);
      ++inputs;
      if (!taken.insert(leaf.tensor.name).second)
        throw ArgumentError(kOperation,
                            fmt::format("two inputs are named {}; give each a name of its own", leaf.tensor.name));
    }
    unit.leaves.push_back(std::move(leaf));
  }
}

void add_outputs(ExportUnit& unit, const ExportRequest& request, std::span<const NodePtr> roots) {
  if (!request.outputs.empty() && request.outputs.size() != roots.size()) {
    throw ArgumentError(kOperation, fmt::format("{} names for {} results; give one for each, or none",
                                                request.outputs.size(), roots.size()));
  }
  std::set<std::string> taken;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::string name = request.outputs.empty() ? fmt::format("out{}", i) : request.outputs[i];
    check_export_name(name, "an output");
    if (!taken.insert(name).second)
      throw ArgumentError(kOperation, fmt::format("two outputs are named {}; give each a name of its own", name));
    unit.outputs.push_back(tensor_of(*roots[i], name));
  }
}

}  // namespace

ExportedTensor open_tensor(const Node& node, std::string name) {
  const Ints* strides = graph::memory_strides(node);
  ExportedTensor t;
  t.name = std::move(name);
  t.dtype = node.dtype;
  t.shape = node.shape;
  t.strides = strides == nullptr ? contiguous_strides(node.shape) : *strides;
  return t;
}

std::vector<unsigned char> elements_of(const Node& node, std::int64_t bytes) {
  std::vector<unsigned char> data(static_cast<std::size_t>(bytes));
  if (data.empty()) return data;
  if (node.buffer->allocator() == nullptr) {
    std::memcpy(data.data(), node.buffer->data(), data.size());
    return data;
  }
  try {
    node.buffer->allocator()->read(node.buffer->data(), data.data(), data.size());
  } catch (const DeviceError& e) {
    throw DeviceError(kOperation, fmt::format("a constant cannot be embedded; {}", e.message()));
  }
  return data;
}

void add_plan(ExportUnit& unit, const Plan& plan, std::span<const graph::Scalar> numbers,
              std::span<const std::int32_t> output_of) {
  if (unit.number_arguments) unit.numbers.assign(numbers.begin(), numbers.end());
  for (const std::int64_t bytes : plan.memory.block_bytes) {
    unit.blocks.push_back(unit.scratch_bytes);
    std::int64_t end = 0;
    if (__builtin_add_overflow(unit.scratch_bytes, bytes, &end) ||
        __builtin_add_overflow(end, kExportAlignment - 1, &end))
      throw OverflowError(kOperation, "the bytes of scratch do not fit a signed 64-bit integer; export a part");
    unit.scratch_bytes = end / kExportAlignment * kExportAlignment;
  }
  for (const PlannedKernel& planned : plan.kernels) {
    if (!planned.runs) continue;
    ExportUnit::Call call;
    codegen::LoopProgram program = planned.lowered.program;
    call.numbers = settle_numbers(program, numbers, unit.number_arguments);
    call.kernel = add_kernel(unit, std::move(program));
    for (ArgumentSource a : planned.arguments) {
      if (a.kind == Kind::Output) a.index = output_of[static_cast<std::size_t>(a.index)];
      if (a.kind == Kind::Temporary) a.index = plan.memory.block_of[static_cast<std::size_t>(a.index)];
      call.arguments.push_back(a);
    }
    unit.calls.push_back(std::move(call));
  }
  for (const codegen::LoopProgram& program : unit.kernels) {
    const source::cpp::FramedKernel kernel = source::cpp::render_framed(program, unit.longest_tile);
    unit.tile_bytes = std::max(unit.tile_bytes, kernel.bytes);
    unit.needs_eigen = unit.needs_eigen || kernel.eigen;
  }
  if (!unit.tiles_in_scratch) return;
  unit.tiles_at = unit.scratch_bytes;
  if (__builtin_add_overflow(unit.scratch_bytes, unit.tile_bytes, &unit.scratch_bytes))
    throw OverflowError(kOperation, "the bytes of scratch do not fit a signed 64-bit integer; export a part");
}

ExportUnit export_unit(std::span<const NodePtr> roots, const ExportRequest& request) {
  check_export_namespace(request.name, "the export");
  if (const int n = request.longest_tile; n < 16 || n > kLongestTile || (n & (n - 1)) != 0) {
    throw ArgumentError(kOperation, fmt::format("tiles of {} elements; accepted are 16, 32, 64, 128 and 256", n));
  }
  if (roots.empty()) throw ArgumentError(kOperation, "no tensors were given; give at least one");
  const Device device = roots.front()->device;
  // No pending write of another tensor is carried out, and no leaf is written: an output that would take over the
  // memory of a leaf is copied instead.
  LookedAt looked(roots, Due::left);
  const std::vector<NodePtr>& pending = looked.pending;
  Key& key = looked.key;
  for (const NodePtr& r : roots) key.devices.push_back(r->device);
  for (const Device other : key.devices) {
    if (other == device) continue;
    throw DeviceError(kOperation, "the results need work on " + device.str() + " and " + other.str() +
                                      "; an export is for one device: realise what is on the other one and copy it");
  }
  std::fill(key.leaf_readers.begin(), key.leaf_readers.end(), Usage::Readers::elsewhere);
  std::fill(key.leaf_dies.begin(), key.leaf_dies.end(), false);

  std::vector<const Node*> leaves(key.leaves.size(), nullptr);
  const auto leaf_of = [&](const Node& node) {
    const auto known = std::find(key.leaves.begin(), key.leaves.end(), node.buffer);
    const auto index = static_cast<std::size_t>(known - key.leaves.begin());
    if (known == key.leaves.end()) {
      key.leaves.push_back(node.buffer);
      key.leaf_readers.push_back(Usage::Readers::elsewhere);
      key.leaf_dies.push_back(false);
      leaves.push_back(nullptr);
    }
    if (leaves[index] == nullptr) leaves[index] = &node;
    return static_cast<std::int32_t>(index);
  };
  for (std::size_t i = 0; i < key.order.size(); ++i)
    if (key.order.in_memory(i)) leaf_of(key.order[i]);

  ExportUnit unit;
  unit.name = request.name;
  unit.longest_tile = request.longest_tile;
  unit.tiles_in_scratch = request.tiles_in_scratch;
  unit.number_arguments = request.number_arguments;
  std::vector<std::int32_t> pending_outputs;  // the output of each pending root
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto output = static_cast<std::int32_t>(i);
    if (roots[i]->realized()) {
      unit.copies.push_back({{Kind::Leaf, leaf_of(*roots[i])}, output});
    } else {
      pending_outputs.push_back(output);
    }
  }
  add_leaves(unit, request, leaves);
  add_outputs(unit, request, roots);
  if (pending.empty()) return unit;

  // Rows are kept on the stack, which may be small on the target.
  schedule::FusionLimits limits = limits_of(backend::backend_for(device));
  limits.row_bytes = request.longest_tile < kLongestTile ? 0 : kStackRowBytes;
  limits.parts = 1;  // the layout of kept rows serves one function only
  const Plan plan = make_plan(pending, key, limits);
  std::vector<std::int32_t> output_of(plan.outputs.size(), -1);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    std::int32_t& first = output_of[static_cast<std::size_t>(plan.output_of_root[i])];
    if (first < 0) {
      first = pending_outputs[i];
    } else {
      unit.copies.push_back({{Kind::Output, first}, pending_outputs[i]});
    }
  }
  add_plan(unit, plan, key.parameter_values, output_of);
  return unit;
}

}  // namespace oriel::runtime
