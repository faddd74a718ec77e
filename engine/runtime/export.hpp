// Makes exports as C++ source of plans, and of tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/node.hpp"
#include "source/cpp/export/unit.hpp"

namespace oriel::runtime {

/// What an export says of a tensor. Its bytes are 0 if its sizes are symbols.
ExportedTensor exported_tensor(const graph::Node& node, std::string name);
/// The elements of a leaf. Throws DeviceError if they cannot be read.
std::vector<unsigned char> elements_of(const graph::Node& node, std::int64_t bytes);

/// Throws ArgumentError unless kernels can have tiles of at most `longest` elements.
void check_longest_tile(int longest);

/// Adds the outputs of these roots. `names`: one for each; none: out0, out1, ... `what`: the roots, in an error.
void name_outputs(source::cpp::ExportUnit& unit, std::span<const graph::NodePtr> roots,
                  const std::vector<std::string>& names, std::string_view what);

/// Adds a leaf to the unit for each of these nodes, which all have other memory.
using NameLeaves = std::function<void(std::span<const graph::Node* const>)>;
/// How an export is planned, and the words of errors.
struct PlanningOptions {
  /// Asks less of the sizes: each reduction that may have a form of its own has a kernel to itself, whether that pays
  /// or not.
  bool general = false;
  std::string works = "the results need work";
  std::string instead = "realise what is on the other one and copy it";
  std::string unplanned = {};  // the format of an error with the reason why symbolic sizes cannot be planned
};
/// Plans the roots for export, each of which is an output of the unit, and adds leaves, kernels and memory. The unit
/// has its names and symbols. No leaf is overwritten and nothing is realised.
void add_roots(source::cpp::ExportUnit& unit, std::span<const graph::NodePtr> roots, const NameLeaves& name_leaves,
               const PlanningOptions& sizes);

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
