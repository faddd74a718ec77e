// The work of some tensors as C++ source, for programs that embed no engine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oriel/dtype.hpp"
#include "oriel/shape.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

struct ExportOptions {
  /// The files' names and the C++ namespace: a letter, then letters, digits and _; no keyword, and nothing that the C
  /// library declares (exp, time, ...). The other names may not be keywords or macros (errno, NULL, ...). Throws
  /// ArgumentError.
  std::string name = "exported";
  /// Names for tensors in memory (or views of such) that the work reads. The others are in0, in1, ... in the order in
  /// which the graph meets them: sources before what reads them, a node's sources from left to right, results in order.
  std::vector<std::pair<std::string, Tensor>> inputs = {};
  /// A name for each result, or nothing: out0, out1, ...
  std::vector<std::string> outputs = {};
  /// Tensors in memory of up to so many bytes that `inputs` does not name (weights, say) are written into the source as
  /// constant arrays, and are no inputs.
  std::int64_t embed_bytes = 0;
  /// Numbers that only enter arithmetic (not 0, 1, -1, 2, 0.5, by which the work is rewritten) are arguments of the
  /// function, with the values they have here as defaults; equal ones may be one. Otherwise they are constants.
  bool number_arguments = false;
  /// Elements of a value that are worked on together at most: 16, 32, 64, 128 or 256. Smaller tiles need less stack (a
  /// sum over columns 34 KiB at 256, 3 KiB at 16; a large product of matrices 70 to 240 KiB of float32 and up to 350 of
  /// float64 at 256, 4 to 10 KiB at 16; from 128 down rows keep nothing between stages) and more time; the results are
  /// the same bits.
  int longest_tile = 256;
  /// Tiles, rows and sums lie in scratch as well, behind the values between kernels, and not on the stack: on that are
  /// then less than 2 KiB, whatever the kernels. Costs some time, as their variables are in memory.
  bool tiles_in_scratch = false;
};

/// An input or an output of the exported function.
struct ExportedTensor {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  Ints strides;  ///< in elements, as the caller's memory must be laid out: row-major unless the tensor is laid out else
  std::int64_t bytes = 0;
};

struct ExportedFiles {
  std::string header;  ///< paths
  std::string source;
  std::vector<ExportedTensor> inputs;   ///< in the order of struct Inputs
  std::vector<ExportedTensor> outputs;  ///< in the order of struct Outputs, one a tensor
  std::int64_t embedded_bytes = 0;      ///< of constant arrays
  std::int64_t scratch_bytes = 0;       ///< that the caller hands over for intermediate values
  /// The largest kernel's tiles, rows and sums: part of scratch_bytes with `tiles_in_scratch`, else about what the
  /// function needs of the stack.
  std::int64_t tile_bytes = 0;
  std::size_t kernels = 0;   ///< functions in the source; equal kernels are one
  bool needs_eigen = false;  ///< the source includes Eigen 3.4, which is headers alone
};

/// Writes NAME.hpp and NAME.cpp into the directory: C++17 for GCC and Clang, which needs neither Oriel nor, unless the
/// work holds functions such as exp, Eigen. It declares
///
///   namespace NAME {
///   struct Inputs { const float* in0; ... };   // one pointer a tensor in memory that the work reads
///   struct Outputs { float* out0; ... };       // one a result
///   Status run(const Inputs&, const Outputs&, void* scratch) noexcept;
///   }
///
/// and, as constants, each tensor's dtype, shape, strides and bytes, and the bytes of scratch and tiles. Halves are
/// std::uint16_t, bool is std::uint8_t (0 or 1). The function allocates nothing, throws nothing, starts no thread and
/// keeps no state. Outputs and scratch must not overlap anything else; that is checked, with null pointers and
/// alignment, before anything is written. Inputs are only read: a write in place (assign) is of a copy, given as an
/// output.
///
/// Nothing is computed and nothing is realised; what is in memory already is an input, and a result that is in memory
/// is copied. Built with the flags that the header names, at the same level of instructions, it gives the engine's
/// bits, but for a softmax between two products, which the engine forms block by block as one kernel, and for small
/// windows of products. At other levels arithmetic and reductions give them still, while functions such as exp and sums
/// of products differ in the last places. Products of matrices run on packed panels and blocks in registers.
///
/// The files appear whole or not at all; the same work gives the same bytes. Throws ArgumentError for no tensors, a bad
/// or doubled name, an `inputs` tensor that is not in memory or not read, another `longest_tile`; DeviceError for
/// work on several devices, and for embedding from a device whose memory cannot be read; IoError where the
/// directory cannot be written. Thread safety: any thread.
///   oriel::export_cpp({logits}, "firmware", {.name = "classifier", .inputs = {{"image", x}}, .embed_bytes = 1 << 20});
ExportedFiles export_cpp(std::span<const Tensor> tensors, const std::string& directory,
                         const ExportOptions& options = {});
ExportedFiles export_cpp(std::initializer_list<Tensor> tensors, const std::string& directory,
                         const ExportOptions& options = {});

}  // namespace oriel
