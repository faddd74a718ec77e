// Exports entries of captured functions as C++ source whose sizes are arguments (Function::export_cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/captured.hpp"

namespace ORIEL_API oriel {

/// Options of Function::export_cpp.
struct FunctionExportOptions {
  /// The name of the files and of the C++ namespace, as ExportOptions::name.
  std::string name = "exported";
  /// The number of the entry (Function::entry_of, Function::entries). By default the only one with symbolic sizes.
  std::optional<std::size_t> entry = {};
  /// Sets of sizes that the export must serve, each in the order of FunctionEntry::symbols. A plan takes decisions that
  /// hold around the sizes for which it is made. So the export holds several: one for the traced call, and one for each
  /// set in `serve` that no earlier plan covers. Up to four general plans, which decide less, serve the others: of the
  /// traced sizes, and of sizes that are larger by one. Sizes that no plan serves are Status::guard.
  std::vector<std::vector<std::int64_t>> serve = {};
  /// Names for the sizes, in the order of FunctionEntry::symbols. If empty, they have the names of the symbols: s0, ...
  std::vector<std::string> sizes = {};
  /// A name for each tensor of the result, then for each argument that the function writes. If empty, they are out0,
  /// out1, ...
  std::vector<std::string> outputs = {};
  /// As in ExportOptions.
  int longest_tile = 256;
  /// If true, tiles, rows and sums are stored in scratch memory. Sizes and positions of values stay on the stack: 16
  /// bytes for each expression over sizes.
  bool tiles_in_scratch = false;
};

/// An input or an output of an exported entry.
struct ExportedArgument {
  std::string name;                ///< in struct Inputs or Outputs
  DType dtype = DType::float32;    ///< of its elements
  std::vector<std::string> shape;  ///< each size as text: "s0", "2*s0 + 1", "4"
};

/// The result of Function::export_cpp: the written files and what they declare.
struct ExportedFunction {
  std::string header;              ///< path of the written header
  std::string source;              ///< path of the written source
  std::size_t entry = 0;           ///< its number
  std::vector<std::string> sizes;  ///< the members of struct Sizes
  /// For each plan: what they must satisfy besides their ranges, "s0 % 4 == 0 (model.cpp:12)".
  std::vector<std::vector<std::string>> guards;
  std::vector<ExportedArgument> inputs;   ///< in the order of struct Inputs
  std::vector<ExportedArgument> outputs;  ///< in the order of struct Outputs
  std::vector<std::string> numbers;       ///< the members of struct Numbers
  std::int64_t tile_bytes = 0;            ///< as ExportedFiles::tile_bytes
  std::size_t kernels = 0;                ///< functions in the source; equal kernels share one
  bool needs_eigen = false;               ///< the source includes Eigen 3.4, a header-only library
};

namespace detail {

ExportedFunction export_captured(const Captured& captured, const std::string& directory,
                                 const FunctionExportOptions& options);
/// The number of the entry that serves these arguments.
std::optional<std::size_t> entry_of(const Captured& captured, const CapturedArguments& arguments);

}  // namespace detail

}  // namespace oriel
