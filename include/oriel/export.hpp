// Exports the computation of some tensors as C++ source, for programs that do not link Oriel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/dtype.hpp"
#include "oriel/list.hpp"
#include "oriel/shape.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Options of export_cpp.
struct ExportOptions {
  /// The name of the files and of the C++ namespace: a letter, then letters, digits and _. It must not be a keyword or
  /// a name that the C library declares (exp, time, ...). The other names must not be keywords or macros (errno, NULL,
  /// ...). export_cpp throws ArgumentError for keywords and for well-known names of both kinds; the compiler of the
  /// files refuses the others.
  std::string name = "exported";
  /// Names for inputs: tensors in memory, or views of them, that the computation reads. Inputs without a name are
  /// called in0, in1, ... in the order of a depth-first walk of the graph: results in their order, a node's sources
  /// from left to right, sources before the node.
  std::vector<std::pair<std::string, Tensor>> inputs = {};
  /// A name for each result. If empty, they are out0, out1, ...
  std::vector<std::string> outputs = {};
  /// Tensors in memory (e.g. weights) of at most this many bytes that `inputs` does not name are written into the
  /// source as constant arrays; they are not inputs.
  std::int64_t embed_bytes = 0;
  /// If true, numbers that only enter arithmetic become arguments of the function, with their present values as
  /// defaults. Equal numbers may share one argument. 0, 1, -1, 2 and 0.5 stay constants, because rewrite rules depend
  /// on them. If false, all numbers are constants.
  bool number_arguments = false;
  /// The most elements in a tile: 16, 32, 64, 128 or 256. Smaller tiles need less stack and more time; the results are
  /// the same to the bit. A sum over columns needs 34 KiB at 256 and 3 KiB at 16. A large matrix product needs 70 to
  /// 240 KiB for float32 and up to 350 KiB for float64 at 256, and 4 to 10 KiB at 16. At 128 and below, a row's values
  /// are not kept between stages.
  int longest_tile = 256;
  /// If true, tiles, rows and sums are stored in scratch memory, after the values between kernels, and not on the
  /// stack. The function then needs less than 2 KiB of stack, whatever the kernels. It runs somewhat slower.
  bool tiles_in_scratch = false;
};

/// An input or an output of the exported function.
struct ExportedTensor {
  std::string name;              ///< in struct Inputs or Outputs
  DType dtype = DType::float32;  ///< of its elements
  Shape shape;                   ///< the extents
  /// In elements. The caller's memory must have this layout: row-major unless the tensor has another one.
  Ints strides;
  std::int64_t bytes = 0;  ///< of its elements
};

/// The result of export_cpp: the written files and what they declare.
struct ExportedFiles {
  std::string header;                   ///< path of the written header
  std::string source;                   ///< path of the written source
  std::vector<ExportedTensor> inputs;   ///< in the order of struct Inputs
  std::vector<ExportedTensor> outputs;  ///< in the order of struct Outputs, one per tensor
  std::int64_t embedded_bytes = 0;      ///< of constant arrays
  std::int64_t scratch_bytes = 0;       ///< that the caller provides for intermediate values
  /// The bytes of the largest kernel's tiles, rows and sums. With `tiles_in_scratch` they are part of scratch_bytes;
  /// otherwise they are about the stack that the function needs.
  std::int64_t tile_bytes = 0;
  std::size_t kernels = 0;   ///< functions in the source; equal kernels share one
  bool needs_eigen = false;  ///< the source includes Eigen 3.4, a header-only library
};

/// Writes NAME.hpp and NAME.cpp into the directory. They are C++17 for GCC and Clang. They do not need Oriel, and need
/// Eigen only if the computation holds functions such as exp. The header declares
///
///   namespace NAME {
///   struct Inputs { const float* in0; ... };   // one pointer a tensor in memory that the work reads
///   struct Outputs { float* out0; ... };       // one a result
///   Status run(const Inputs&, const Outputs&, void* scratch) noexcept;
///   }
///
/// and, as constants, each tensor's dtype, shape, strides and bytes, and the bytes of scratch and tiles. Halves are
/// std::uint16_t, bool is std::uint8_t (0 or 1). The function allocates nothing, throws nothing, starts no thread and
/// keeps no state. Outputs and scratch must not overlap anything else. The function checks this, null pointers and
/// alignment before it writes anything. Inputs are only read: a write in place (assign) changes a copy, which is an
/// output.
///
/// Positions that the work checks (Bounds::checked) the function checks too: it returns Status::position if one lies
/// outside its axis. Positions that were known when the program was built (an input of at most 4096 elements) were
/// checked then, and not again; a captured function's export checks those of all arguments. With Bounds::zero nothing
/// is checked: a read outside gives 0, and a write is left out.
///
/// Export computes and realises nothing. A tensor that is already in memory is an input, and a result that is already
/// in memory is copied. The exported function gives the engine's results to the bit if it is built with the flags that
/// the header names and for the same instruction set. There are two exceptions: a softmax between two products, which
/// the engine computes block by block as one kernel, and small windows of products. On another instruction set
/// arithmetic and reductions still agree to the bit, while functions such as exp and sums of products differ in the
/// last places. Matrix products run on packed panels and register blocks.
///
/// A file is either written completely or not at all. The same computation gives the same bytes. Throws ArgumentError
/// if there are no tensors, a name is bad or used twice, an `inputs` tensor is not in memory or not read, or
/// `longest_tile` has another value; DeviceError for work on several devices, and for embedding from a device whose
/// memory cannot be read; IoError if the directory cannot be written. Thread safety: any thread.
///   oriel::export_cpp({logits}, "firmware", {.name = "classifier", .inputs = {{"image", x}}, .embed_bytes = 1 << 20});
ExportedFiles export_cpp(ListOf<Tensor> tensors, const std::string& directory, const ExportOptions& options = {});

}  // namespace oriel
