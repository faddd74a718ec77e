// Exports a plan as C++ source that needs no engine: the contents of an export, and its two files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "graph/node.hpp"
#include "graph/scalar.hpp"
#include "memory/buffer.hpp"
#include "oriel/export.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// What an export says of a tensor, whose sizes may be symbols; without its bytes.
ExportedTensor open_tensor(const graph::Node& node, std::string name);

/// A leaf: an input of the function, or a constant array in its source.
struct ExportLeaf {
  ExportedTensor tensor;
  bool embedded = false;
  std::vector<unsigned char> data;  // of an embedded leaf
};

/// A schedule without its graph and devices, with names for its inputs and outputs. Callers fill in names, leaves and
/// outputs; add_plan fills in the rest.
struct ExportUnit {
  struct Call {
    std::int32_t kernel = -1;
    std::vector<ArgumentSource> arguments;  // Temporary: index into `blocks`
    std::vector<std::int32_t> numbers;      // what the kernel's parameters are
  };
  struct Copy {
    ArgumentSource from;  // a leaf or an output
    std::int32_t to = -1;
  };

  std::string name;
  std::vector<ExportLeaf> leaves;
  std::vector<ExportedTensor> outputs;
  int longest_tile = 256;
  bool tiles_in_scratch = false;
  bool number_arguments = false;
  std::vector<graph::Scalar> numbers;  // arguments, with their defaults

  std::vector<codegen::LoopProgram> kernels;  // with names that let several exports share one program
  std::vector<Call> calls;
  std::vector<Copy> copies;          // made after all steps
  std::vector<std::int64_t> blocks;  // the offset of each in scratch
  std::int64_t scratch_bytes = 0;
  std::int64_t tile_bytes = 0;  // needed by the largest kernel
  std::int64_t tiles_at = 0;    // their offset in scratch
  bool needs_eigen = false;     // does a kernel include Eigen?
};

inline constexpr std::int64_t kExportAlignment = 64;  // of scratch and of the blocks in it

/// Adds the plan's kernels (equal ones once) and its memory. Call it once for each unit. Output i of the plan becomes
/// output `output_of[i]` of the unit. `numbers` are the launch parameters.
void add_plan(ExportUnit& unit, const Plan& plan, std::span<const graph::Scalar> numbers,
              std::span<const std::int32_t> output_of);

/// The elements of a leaf. Throws DeviceError if they cannot be read.
std::vector<unsigned char> elements_of(const graph::Node& node, std::int64_t bytes);

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
ExportUnit export_unit(std::span<const graph::NodePtr> roots, const ExportRequest& request);

/// Throws ArgumentError unless `name` is a C++ identifier, and neither a keyword nor a macro of a header that the files
/// include. `what` names its role in the message.
void check_export_name(const std::string& name, const std::string& what);
/// The same for the outermost namespace, which may not have a name that the C library declares either.
void check_export_namespace(const std::string& name, const std::string& what);

// Deterministic: same unit, same bytes.
std::string export_header(const ExportUnit& unit);
std::string export_source(const ExportUnit& unit);

}  // namespace oriel::runtime
