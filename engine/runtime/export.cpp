#include "runtime/export.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "graph/layout.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "runtime/compiled.hpp"
#include "runtime/key.hpp"
#include "runtime/symbolic_plan.hpp"
#include "schedule/shared_loops.hpp"
#include "source/cpp/contraction_source.hpp"
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
// Rows for which fused kernels run at a time: products then pack their factors seldom.
constexpr std::int64_t kFusedRows = 256;

/// The node whose memory holds the tensor, or of which the tensor is a view; null if there is no such node.
NodePtr memory_of(NodePtr node) {
  node = graph::below_movements(std::move(node));
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
    ExportLeaf leaf{ExportLeaf::Kind::input, exported_tensor(*nodes[i], names[i]), {}};
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

}  // namespace

ExportedTensor exported_tensor(const Node& node, std::string name) {
  const Ints* strides = graph::memory_strides(node);
  ExportedTensor t;
  t.name = std::move(name);
  t.dtype = node.dtype;
  t.shape = node.shape;
  t.strides = strides == nullptr ? contiguous_strides(node.shape) : *strides;
  const SymInt elements = numel(node.shape, kOperation);
  if (elements.is_symbolic()) return t;
  if (__builtin_mul_overflow(elements.value(), static_cast<std::int64_t>(itemsize(node.dtype)), &t.bytes)) {
    throw OverflowError(kOperation,
                        fmt::format("the bytes of {} {} do not fit a signed 64-bit integer; export a part of it",
                                    oriel::name(node.dtype), to_string(node.shape)));
  }
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

/// Adds a plan's kernels (equal ones once) and its memory to a unit that has names, symbols, leaves and outputs.
class PlanExporter {
 public:
  /// `outputs`: that of each root. `row_bytes`: the most that a row of a kernel keeps on the stack.
  PlanExporter(ExportUnit& unit, const SymbolicPlan& plan, std::span<const std::size_t> outputs, std::int64_t row_bytes)
      : unit_(unit), plan_(plan), row_bytes_(row_bytes) {
    for (const Key::SizeParameter& p : plan_.size_parameters_)
      sizes_.push_back({static_cast<std::int32_t>(p.parameter), p.size, p.dtype});
    output_of_.assign(plan_.plan_.outputs.size(), outputs.size());
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      std::size_t& first = output_of_[static_cast<std::size_t>(plan_.plan_.output_of_root[r])];
      if (first == outputs.size()) {
        first = outputs[r];
      } else {
        unit_.copies.push_back({{ExportMemory::Kind::output, first}, outputs[r]});
      }
    }
  }

  void add() {
    if (unit_.number_arguments) unit_.numbers = plan_.parameters_;
    for (std::size_t t = 0; t < plan_.plan_.lifetimes.size(); ++t) {
      const schedule::Lifetime& life = plan_.plan_.lifetimes[t];
      const schedule::Entry& entry = (*plan_.plan_.arena)[plan_.plan_.first_values[t]];
      unit_.values.push_back(
          {life.first, life.last, numel(entry.shape()) * static_cast<std::int64_t>(itemsize(entry.dtype))});
    }
    for (const SymbolicPlan::Program& program : plan_.programs_) add_kernel(program);
    for (const SymbolicPlan::Step& step : plan_.steps_) add_call(step);
    place_values();
  }

 private:
  /// What the calls of a kernel have in common. Its arguments are values of its program by their numbers, then memory
  /// of its own.
  struct Kernel {
    std::size_t number = 0;
    std::vector<std::int32_t> numbers;
    std::vector<std::size_t> values;
    std::vector<SymInt> local;     // by argument: bytes of one that no other kernel reads, else 0
    graph::HostFunctionPtr check;  // of positions, in place of a kernel
  };
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
  void settle_numbers(codegen::LoopProgram& program, std::vector<std::int32_t>& taken) const {
    for (codegen::Constant& c : program.constants) {
      if (c.parameter < 0 ||
          std::ranges::find(sizes_, c.parameter, &source::cpp::SizeNumber::parameter) != sizes_.end())
        continue;
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
  }

  void add_kernel(const SymbolicPlan::Program& from) {
    if (!from.runs) throw InternalError(kOperation, "a plan for one device copies between devices");
    Kernel& kernel = kernels_.emplace_back();
    std::vector<codegen::LoweredKernel> parts;
    for (const codegen::LoweredKernel& part : from.parts.kernels)
      settle_numbers(parts.emplace_back(codegen::complete_symbolic(part, row_bytes_)).program, kernel.numbers);
    if (parts.size() > 1) return add_fused(from, parts, kernel);
    for (const codegen::Binding& b : parts.front().bindings) kernel.values.push_back(static_cast<std::size_t>(b.entry));
    kernel.local.resize(kernel.values.size());
    codegen::LoopProgram& program = parts.front().program;
    if (program.hosting && graph::only_checks(*program.hosting->function)) {
      kernel.check = program.hosting->function;
      return;
    }
    const auto known = std::ranges::find_if(
        programs_, [&](const auto& other) { return !unit_.sized() && same_program(other.first, program); });
    kernel.number = known != programs_.end() ? known->second : unit_.kernels.size();
    if (known != programs_.end()) return;
    programs_.emplace_back(program, kernel.number);
    program.name = name_of(program.name);
    std::string source = render(program, kernel);
    unit_.kernels.push_back({program.name, std::move(source), numel(program.outer, kOperation)});
  }

  /// Kernels that are fused become one function, which runs each of them for some rows at a time. What they leave for
  /// each other is as large as these rows.
  void add_fused(const SymbolicPlan::Program& from, std::vector<codegen::LoweredKernel>& parts, Kernel& kernel) {
    const schedule::SharedLoops& loops = from.parts.fused.loops;
    const SymInt rows = numel(loops.extents, kOperation);
    bool whole = true;  // can all parts run for some rows?
    std::size_t values = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      whole = whole && takes_rows(parts[p].program, loops.units_of[p]);
      for (const codegen::Binding& b : parts[p].bindings)
        values = std::max(values, static_cast<std::size_t>(b.entry) + 1);
    }
    for (std::size_t v = 0; v < values; ++v) kernel.values.push_back(v);
    kernel.local.resize(values);
    std::vector<SymInt> row_bytes(values);
    const SymInt block = !whole || (!rows.is_symbolic() && rows < kFusedRows) ? rows : SymInt(kFusedRows);
    for (codegen::LoweredKernel& part : parts) {
      for (std::size_t a = 0; a < part.bindings.size(); ++a) {
        const codegen::Binding& b = part.bindings[a];
        codegen::Argument& argument = part.program.arguments[a];
        if (b.leaf || std::ranges::find(from.parts.fused.between, b.entry) == from.parts.fused.between.end()) continue;
        row_bytes[static_cast<std::size_t>(b.entry)] =
            argument.elements / rows * static_cast<std::int64_t>(itemsize(argument.dtype));
        // Large outputs bypass caches, which these do not.
        if (whole && !rows.is_symbolic()) argument.elements = argument.elements / rows * sym_min(rows, kFusedRows);
      }
    }
    for (std::size_t v = 0; v < values; ++v)  // whole registers may be written at the end
      if (!identical(row_bytes[v], SymInt(0))) kernel.local[v] = row_bytes[v] * block + 64;
    const std::string name = name_of(codegen::complete(codegen::at_hints(from.parts), row_bytes_).program.name);
    std::string source;
    std::vector<source::cpp::FusedPart> called;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      source::cpp::FusedPart& part = called.emplace_back(source::cpp::FusedPart{
          fmt::format("{}_part{}", name, p), numel(parts[p].program.outer, kOperation) / rows, {}});
      for (const codegen::Binding& b : parts[p].bindings) part.arguments.push_back(static_cast<std::size_t>(b.entry));
      parts[p].program.name = part.name;
      const std::size_t first = kernel.local.size();
      source += render(parts[p].program, kernel) + "\n";
      for (std::size_t a = first; a < kernel.local.size(); ++a) part.arguments.push_back(a);
    }
    row_bytes.resize(kernel.local.size());
    source += source::cpp::render_fused(name, called, row_bytes, block, unit_.sized() ? &unit_.table : nullptr,
                                        unit_.tiles_in_scratch);
    kernel.number = unit_.kernels.size();
    unit_.kernels.push_back({name, std::move(source), rows});
  }

  /// Are the points of some rows neighbours in the order of the part's loops, and does its source compute them alone?
  bool takes_rows(const codegen::LoopProgram& part, const Ints& units) const {
    const Ints& outer = part.outer;
    std::size_t columns = units.size();
    while (columns > 0 && schedule::over_columns(units[columns - 1])) --columns;
    SymInt unit = 1;
    for (std::size_t d = columns; d-- > 0; unit *= outer[d])
      if (!identical(units[d], unit) && !identical(outer[d], SymInt(1))) return false;
    return source::cpp::takes_whole_rows(part, unit_.sized(), columns);
  }

  /// The source of a program of one part. Adds the memory of rows that it keeps to the kernel's arguments.
  std::string render(const codegen::LoopProgram& program, Kernel& kernel) {
    const source::cpp::SymbolicSizes sizes{&unit_.table, sizes_};
    const auto rendered = [&](source::cpp::Keep keep) {
      return source::cpp::render_embedded(program, keep, unit_.longest_tile, unit_.sized() ? &sizes : nullptr);
    };
    source::cpp::LoopsSource made = rendered(source::cpp::Keep::Frame);
    unit_.tile_bytes = std::max(unit_.tile_bytes, made.bytes);
    unit_.needs_eigen = unit_.needs_eigen || made.eigen;
    if (!unit_.tiles_in_scratch) made = rendered(source::cpp::Keep::Stack);
    kernel.local.insert(kernel.local.end(), made.kept.begin(), made.kept.end());
    return std::move(made.source);
  }

  void add_call(const SymbolicPlan::Step& step) {
    const Kernel& kernel = kernels_[step.program];
    ExportUnit::Call& call = unit_.calls.emplace_back();
    call.kernel = kernel.number;
    call.numbers = kernel.numbers;
    if (kernel.check) call.check = graph::counts_from_end(*kernel.check) ? "least >= -extent" : "least >= 0";
    const auto& order = plan_.plan_.graph.order;
    const auto now = static_cast<std::int32_t>(std::ranges::find(order, step.kernel.id) - order.begin());
    for (std::size_t a = 0; a < kernel.local.size(); ++a) {
      if (!identical(kernel.local[a], SymInt(0))) {
        call.arguments.push_back({ExportMemory::Kind::value, unit_.values.size()});
        unit_.values.push_back({now, now, kernel.local[a]});
        continue;
      }
      const ArgumentSource from = step.kernel.arguments[kernel.values[a]];
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
  void place_values() {
    if (unit_.sized()) return;
    std::vector<schedule::Lifetime> lifetimes;
    for (const ExportUnit::Value& v : unit_.values) lifetimes.push_back({v.bytes.value(), v.first, v.last});
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
  const std::int64_t row_bytes_;
  std::vector<source::cpp::SizeNumber> sizes_;
  std::vector<std::size_t> output_of_;                                  // by output of the plan
  std::vector<Kernel> kernels_;                                         // by program of the plan
  std::vector<std::pair<codegen::LoopProgram, std::size_t>> programs_;  // of kernels that are not fused, by number
};

void name_outputs(ExportUnit& unit, std::span<const NodePtr> roots, const std::vector<std::string>& names,
                  std::string_view what) {
  if (!names.empty() && names.size() != roots.size())
    throw ArgumentError(
        kOperation, fmt::format("{} names for {} {}; give one for each, or none", names.size(), roots.size(), what));
  std::set<std::string> taken;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::string name = names.empty() ? fmt::format("out{}", i) : names[i];
    source::cpp::check_export_name(name, "an output");
    if (!taken.insert(name).second)
      throw ArgumentError(kOperation, fmt::format("two outputs are named {}; give each a name of its own", name));
    unit.outputs.push_back(exported_tensor(*roots[i], name));
  }
}

void add_roots(ExportUnit& unit, std::span<const NodePtr> roots, const NameLeaves& name_leaves,
               const PlanningOptions& sizes) {
  const Device device = roots.front()->device;
  // No pending write of another tensor is carried out, and no leaf is written: an output that would reuse the
  // memory of a leaf is copied instead.
  KeySnapshot looked(roots, BesideRoots::nothing);
  Key& key = looked.key;
  for (const NodePtr& r : roots) key.devices.push_back(r->device);
  for (const Device other : key.devices)
    if (other != device)
      throw DeviceError(kOperation, fmt::format("{} on {} and {}; an export is for one device: {}", sizes.works,
                                                device.str(), other.str(), sizes.instead));
  key.keep_leaves();
  std::vector<mem::BufferPtr> buffers = key.leaves;
  std::vector<const Node*> leaves(buffers.size(), nullptr);
  const auto leaf_of = [&](const Node& node) {
    const auto index = static_cast<std::size_t>(std::ranges::find(buffers, node.buffer) - buffers.begin());
    if (index == buffers.size()) {
      buffers.push_back(node.buffer);
      leaves.push_back(nullptr);
    }
    if (leaves[index] == nullptr) leaves[index] = &node;
    return index;
  };
  for (std::size_t i = 0; i < key.order.size(); ++i)
    if (key.order.in_memory(i)) leaf_of(key.order[i]);
  std::vector<std::size_t> pending;  // the output of each pending root
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i]->realized()) {
      unit.copies.push_back({{ExportMemory::Kind::leaf, leaf_of(*roots[i])}, i});
    } else {
      pending.push_back(i);
    }
  }
  name_leaves(leaves);
  if (pending.empty()) return;

  schedule::FusionLimits limits = limits_of(backend::backend_for(device));
  if (sizes.general) {
    limits.parts = 1;
    limits.asks = false;
    limits.patterns = {.product_work = 0, .product_side = 0, .product_depth = 0, .vector_work = 0, .window_work = 0};
  }
  // Rows of numbers are kept on the stack, which may be small on the target; those of symbols in scratch.
  const std::int64_t row_bytes = unit.sized()                       ? limits.row_bytes
                                 : unit.longest_tile < kLongestTile ? 0
                                                                    : kStackRowBytes;
  std::optional<SymbolicPlan> plan;
  try {
    plan.emplace(looked.pending, key, limits);
  } catch (const ArgumentError& error) {
    if (!unit.sized()) throw;
    throw ArgumentError(kOperation, fmt::format(fmt::runtime(sizes.unplanned), error.reason()));
  }
  PlanExporter(unit, *plan, pending, row_bytes).add();
}

ExportUnit export_unit(std::span<const NodePtr> roots, const ExportRequest& request) {
  source::cpp::check_export_namespace(request.name, "the export");
  check_longest_tile(request.longest_tile);
  if (roots.empty()) throw ArgumentError(kOperation, "no tensors were given; give at least one");
  ExportUnit unit;
  unit.name = unit.kernel_prefix = request.name;
  unit.longest_tile = request.longest_tile;
  unit.tiles_in_scratch = request.tiles_in_scratch;
  unit.number_arguments = request.number_arguments;
  const auto name_leaves = [&](std::span<const Node* const> nodes) {
    add_leaves(unit, request, nodes);
    name_outputs(unit, roots, request.outputs, "results");
  };
  add_roots(unit, roots, name_leaves, {});
  return unit;
}

}  // namespace oriel::runtime
