// Makes exports as C++ source of plans, and of tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/node.hpp"
#include "runtime/symbolic_plan.hpp"
#include "source/cpp/export/unit.hpp"

namespace oriel::runtime {

/// What an export says of a tensor, whose sizes may be symbols; without its bytes.
ExportedTensor exported_tensor(const graph::Node& node, std::string name);
/// The elements of a leaf. Throws DeviceError if they cannot be read.
std::vector<unsigned char> elements_of(const graph::Node& node, std::int64_t bytes);

/// Throws ArgumentError unless kernels can have tiles of at most `longest` elements.
void check_longest_tile(int longest);

/// Adds the plan's kernels (equal ones once) and its memory to a unit that has names, symbols, leaves and outputs. Leaf
/// i of the plan is leaf i of the unit; root i is output outputs[i]. `hints`: sizes that speed is chosen for, one for
/// each of the plan's variables. Throws ArgumentError for a kernel that has no form for symbolic sizes.
void add_plan(source::cpp::ExportUnit& unit, const SymbolicPlan& plan, std::span<const std::int64_t> hints,
              std::span<const std::size_t> outputs);

struct ExportRequest {
  std::string name;
  std::vector<std::pair<std::string, graph::NodePtr>> inputs;  // realised
  std::vector<std::string> outputs;                            // one for each root
  std::int64_t embed_bytes = 0;
  bool number_arguments = false;
  int longest_tile = 256;
  bool tiles_in_scratch = false;
};
/// Plans the roots for export. No leaf is overwritten and nothing is realised. Throws what export_cpp throws.
source::cpp::ExportUnit export_unit(std::span<const graph::NodePtr> roots, const ExportRequest& request);

}  // namespace oriel::runtime
