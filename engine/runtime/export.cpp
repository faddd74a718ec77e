#include "runtime/export.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "codegen/keep.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "runtime/compiled.hpp"
#include "runtime/key.hpp"
#include "source/cpp/export/names.hpp"
#include "source/cpp/render.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;
using source::cpp::ExportLeaf;
using source::cpp::ExportMemory;
using source::cpp::ExportUnit;

namespace {

constexpr const char* kOperation = "export_cpp";

// Programs are named after shapes, and a shape may have any rank.
constexpr std::size_t kLongestName = 60;
constexpr int kLongestTile = 256;
// Bytes of the values that a row keeps between stages: as many as full tiles take.
constexpr std::int64_t kStackRowBytes = 16 * 1024;

ExportedTensor tensor_of(const Node& node, std::string name) {
  ExportedTensor t = exported_tensor(node, std::move(name));
  const auto size = static_cast<std::int64_t>(itemsize(node.dtype));
  if (__builtin_mul_overflow(numel(node.shape, kOperation).value(), size, &t.bytes)) {
    throw OverflowError(kOperation,
                        fmt::format("the bytes of {} {} do not fit a signed 64-bit integer; export a part of it",
                                    oriel::name(node.dtype), to_string(node.shape)));
  }
  return t;
}

/// The node whose memory holds the tensor, or of which the tensor is a view; null if there is no such node.
NodePtr memory_of(NodePtr node) {
  while (!node->realized() && graph::is_movement(node->op)) {
    Node::Sources sources = node->sources_to_look_at();
    if (sources.size() == 1) node = std::move(sources[0]);  // none: realised meanwhile
  }
  return node->realized() ? node : nullptr;
}

/// The leaves in the order of the graph, with their names. Small leaves without a name are embedded, and numbers.
void add_leaves(ExportUnit& unit, const ExportRequest& request, std::span<const Node* const> nodes) {
  std::vector<std::string> names(nodes.size());
  for (const auto& [name, node] : request.inputs) {
    source::cpp::check_export_name(name, "an input");
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
    ExportLeaf leaf{ExportLeaf::Kind::input, tensor_of(*nodes[i], names[i]), {}};
    const bool small = leaf.tensor.bytes <= request.embed_bytes && request.embed_bytes > 0;
    if (names[i].empty() && (small || nodes[i]->buffer->numbers())) {
      leaf.kind = ExportLeaf::Kind::embedded;
      leaf.tensor.name = fmt::format("constant{}", i);
      leaf.data = elements_of(*nodes[i], leaf.tensor.bytes);
    } else {
      if (names[i].empty()) leaf.tensor.name = fmt::format("in{}", inputs);
      ++inputs;
      if (!taken.insert(leaf.tensor.name).second)
        throw ArgumentError(kOperation,
                            fmt::format("two inputs are named {}; give each a name of its own", leaf.tensor.name));
      unit.order.push_back(i);
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
    source::cpp::check_export_name(name, "an output");
    if (!taken.insert(name).second)
      throw ArgumentError(kOperation, fmt::format("two outputs are named {}; give each a name of its own", name));
    unit.outputs.push_back(tensor_of(*roots[i], name));
  }
}

}  // namespace

ExportedTensor exported_tensor(const Node& node, std::string name) {
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

void check_longest_tile(int longest) {
  if (longest >= 16 && longest <= kLongestTile && (longest & (longest - 1)) == 0) return;
  throw ArgumentError(kOperation, fmt::format("tiles of {} elements; accepted are 16, 32, 64, 128 and 256", longest));
}

/// Reads what a plan holds.
class PlanExporter {
 public:
  PlanExporter(ExportUnit& unit, const SymbolicPlan& plan, std::span<const std::int64_t> hints)
      : unit_(unit), plan_(plan), at_(plan.sizes_.at(hints)) {}

  void add(std::span<const std::size_t> outputs) {
    if (unit_.number_arguments) unit_.numbers = plan_.parameters_;
    output_of_.assign(plan_.plan_.outputs.size(), outputs.size());
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      std::size_t& first = output_of_[static_cast<std::size_t>(plan_.plan_.output_of_root[r])];
      if (first == outputs.size()) {
        first = outputs[r];
      } else {
        unit_.copies.push_back({{ExportMemory::Kind::output, first}, outputs[r]});
      }
    }
    for (const SymbolicPlan::Program& program : plan_.programs_) add_kernel(program);
    for (const SymbolicPlan::Step& step : plan_.steps_) add_call(step);
    add_values();
  }

 private:
  // A symbolic program is named after its shape at the hints, so only the words before that are kept.
  std::string name_of(const std::string& program) const {
    std::string text = fmt::format("{}_k{:02}_", unit_.kernel_prefix, unit_.kernels.size());
    for (std::size_t k = 0; k < program.size() && k < kLongestName; ++k) {
      const auto c = static_cast<unsigned char>(program[k]);
      if (unit_.sized() && text.back() == '_' && std::isdigit(c) != 0) break;
      text += std::isalnum(c) != 0 ? program[k] : '_';
    }
    while (text.back() == '_') text.pop_back();
    return text;
  }

  /// Numbers become constants; those that are sizes stay parameters, which the source reads from the table. If the
  /// function takes numbers as arguments, they become the kernel's own parameters, counted from 0, so that kernels that
  /// differ only in their numbers are one kernel.
  std::vector<std::int32_t> settle_numbers(codegen::LoopProgram& program) const {
    std::vector<std::int32_t> taken;
    for (codegen::Constant& c : program.constants) {
      const auto is_it = [&](const Key::SizeParameter& p) {
        return static_cast<std::int32_t>(p.parameter) == c.parameter;
      };
      if (c.parameter < 0 || std::ranges::any_of(plan_.size_parameters_, is_it)) continue;
      const graph::Scalar& number = plan_.parameters_[static_cast<std::size_t>(c.parameter)];
      if (!unit_.number_arguments) {
        c = {number.cast(c.value.dtype), -1};
        continue;
      }
      if (number.dtype != c.value.dtype)
        throw InternalError(kOperation, "a number is used as another type than its own");
      const auto known = std::find(taken.begin(), taken.end(), c.parameter);
      const auto index = static_cast<std::int32_t>(known - taken.begin());
      if (known == taken.end()) taken.push_back(c.parameter);
      c.parameter = index;
    }
    return taken;
  }

  void add_kernel(const SymbolicPlan::Program& from) {
    if (!from.runs) throw InternalError(kOperation, "a plan for one device copies between devices");
    if (from.parts.kernels.size() != 1) throw InternalError(kOperation, "kernels of an export are fused");
    const codegen::LoopProgram& symbolic = from.parts.kernels.front().program;
    codegen::LoopProgram program = codegen::complete(codegen::at(from.parts, at_), from.row_bytes).program;
    numbers_.push_back(settle_numbers(program));
    const auto known = std::ranges::find_if(
        programs_, [&](const codegen::LoopProgram& other) { return !unit_.sized() && same_program(other, program); });
    kernels_.push_back(static_cast<std::size_t>(known - programs_.begin()));
    if (known != programs_.end()) return;
    programs_.push_back(program);
    program.name = name_of(program.name);
    const source::cpp::FramedKernel framed = render(symbolic, program, true);
    const source::cpp::FramedKernel kernel = unit_.tiles_in_scratch ? framed : render(symbolic, program, false);
    unit_.tile_bytes = std::max(unit_.tile_bytes, framed.bytes);
    unit_.needs_eigen = unit_.needs_eigen || framed.eigen;
    unit_.kernels.push_back({program.name, kernel.source, numel(symbolic.outer, kOperation)});
  }

  source::cpp::FramedKernel render(const codegen::LoopProgram& symbolic, const codegen::LoopProgram& program,
                                   bool framed) {
    if (!unit_.sized())
      return framed ? source::cpp::render_framed(program, unit_.longest_tile)
                    : source::cpp::FramedKernel{source::cpp::render_embedded(program, unit_.longest_tile)};
    if (!codegen::kept_values(program).empty()) throw InternalError(kOperation, "a symbolic kernel keeps rows");
    std::vector<source::cpp::SizeNumber> sizes;
    for (const Key::SizeParameter& p : plan_.size_parameters_)
      sizes.push_back({static_cast<std::int32_t>(p.parameter), p.size, p.dtype});
    return source::cpp::render_symbolic(symbolic, program, unit_.table, sizes, unit_.longest_tile, framed);
  }

  void add_call(const SymbolicPlan::Step& step) {
    ExportUnit::Call& call = unit_.calls.emplace_back();
    call.kernel = kernels_[step.program];
    call.numbers = numbers_[step.program];
    for (const codegen::Binding& b : plan_.programs_[step.program].parts.kernels.front().bindings) {
      const ArgumentSource from = step.kernel.arguments[static_cast<std::size_t>(b.entry)];
      const auto index = static_cast<std::size_t>(from.index);
      switch (from.kind) {
        case ArgumentSource::Kind::Leaf:
          call.arguments.push_back({ExportMemory::Kind::leaf, index});
          break;
        case ArgumentSource::Kind::Output:
          call.arguments.push_back({ExportMemory::Kind::output, output_of_[index]});
          break;
        case ArgumentSource::Kind::Temporary:
          call.arguments.push_back({ExportMemory::Kind::value, index});
          break;
      }
    }
  }

  // Of symbolic sizes the exported function places the values.
  void add_values() {
    std::vector<schedule::Lifetime> lifetimes = plan_.plan_.lifetimes;
    for (std::size_t t = 0; t < lifetimes.size(); ++t) {
      const schedule::Entry& entry = (*plan_.plan_.arena)[plan_.plan_.first_values[t]];
      const SymInt bytes = numel(entry.shape()) * static_cast<std::int64_t>(itemsize(entry.dtype));
      unit_.values.push_back({lifetimes[t].first, lifetimes[t].last, bytes});
    }
    if (unit_.sized()) return;
    const schedule::MemoryPlan memory = schedule::plan_memory(lifetimes);
    std::vector<std::int64_t> blocks;
    const auto grow = [&](std::int64_t bytes) {
      if (__builtin_add_overflow(unit_.scratch_bytes, bytes, &unit_.scratch_bytes))
        throw OverflowError(kOperation, "the bytes of scratch do not fit a signed 64-bit integer; export a part");
    };
    for (const std::int64_t bytes : memory.block_bytes) {
      blocks.push_back(unit_.scratch_bytes);
      grow(bytes);
      grow(source::cpp::kExportAlignment - 1);
      unit_.scratch_bytes = unit_.scratch_bytes / source::cpp::kExportAlignment * source::cpp::kExportAlignment;
    }
    for (std::size_t t = 0; t < unit_.values.size(); ++t)
      unit_.values[t].offset = blocks[static_cast<std::size_t>(memory.block_of[t])];
    if (unit_.tiles_in_scratch) grow(unit_.tile_bytes);
  }

  ExportUnit& unit_;
  const SymbolicPlan& plan_;
  const graph::Sizes::At at_;
  std::vector<std::size_t> output_of_;              // by output of the plan
  std::vector<std::size_t> kernels_;                // by program of the plan
  std::vector<std::vector<std::int32_t>> numbers_;  // by program of the plan
  std::vector<codegen::LoopProgram> programs_;      // of the unit's kernels
};

void add_plan(ExportUnit& unit, const SymbolicPlan& plan, std::span<const std::int64_t> hints,
              std::span<const std::size_t> outputs) {
  PlanExporter(unit, plan, hints).add(outputs);
}

ExportUnit export_unit(std::span<const NodePtr> roots, const ExportRequest& request) {
  source::cpp::check_export_namespace(request.name, "the export");
  check_longest_tile(request.longest_tile);
  if (roots.empty()) throw ArgumentError(kOperation, "no tensors were given; give at least one");
  const Device device = roots.front()->device;
  // No pending write of another tensor is carried out, and no leaf is written: an output that would reuse the
  // memory of a leaf is copied instead.
  KeySnapshot looked(roots, BesideRoots::nothing);
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
  key.checks = false;

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
    return index;
  };
  for (std::size_t i = 0; i < key.order.size(); ++i)
    if (key.order.in_memory(i)) leaf_of(key.order[i]);

  ExportUnit unit;
  unit.name = unit.kernel_prefix = request.name;
  unit.longest_tile = request.longest_tile;
  unit.tiles_in_scratch = request.tiles_in_scratch;
  unit.number_arguments = request.number_arguments;
  std::vector<std::size_t> pending_outputs;  // the output of each pending root
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i]->realized()) {
      unit.copies.push_back({{ExportMemory::Kind::leaf, leaf_of(*roots[i])}, i});
    } else {
      pending_outputs.push_back(i);
    }
  }
  add_leaves(unit, request, leaves);
  add_outputs(unit, request, roots);
  if (pending.empty()) return unit;

  // Rows are kept on the stack, which may be small on the target.
  schedule::FusionLimits limits = limits_of(backend::backend_for(device));
  limits.row_bytes = request.longest_tile < kLongestTile ? 0 : kStackRowBytes;
  limits.parts = 1;  // the layout of kept rows serves one function only
  add_plan(unit, SymbolicPlan(pending, key, limits), {}, pending_outputs);
  return unit;
}

}  // namespace oriel::runtime
